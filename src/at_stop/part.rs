//! The part of a transcript that is one turn.

use std::path::Path;

use super::model;
use super::step::{self, is_of_person};
use crate::config::Config;
use crate::digest::name_of;
use crate::gate::{self, Turn};
use crate::hook::context::HookContext;
use crate::hook::stop::EndedTurn;
use crate::queue::files::SessionEvidence;
use crate::redact::Masker;
use crate::transcript::{self, EventKind, ReadOptions};

pub(super) struct TurnPart {
    /// The id of its prompt, or the hash of the prompt's record.
    pub(super) prompt: String,
    records: Vec<u8>,
    options: ReadOptions,
}

impl TurnPart {
    /// Reads the records that belong to the stop's prompt; `None` if they are not found.
    pub(super) fn read(
        context: &HookContext<'_>,
        stop: &EndedTurn<'_>,
        config: &Config,
    ) -> Option<Self> {
        let log = |error: &dyn std::fmt::Display| context.log(&error.to_string());
        let records = step::read(stop.transcript, stop.prompt).inspect_err(|error| log(error));
        let secrecy = config
            .secrets
            .secrecy()
            .inspect_err(|error| log(error))
            .ok()?;
        let home = context.paths.home().and_then(Path::to_str);
        let records = records.ok()??;
        let prompt = || {
            name_of(
                records
                    .split(|byte| *byte == b'\n')
                    .next()
                    .unwrap_or_default(),
            )
        };
        Some(Self {
            prompt: stop.prompt.map_or_else(prompt, str::to_owned),
            records,
            options: ReadOptions {
                home: home.map(str::to_owned),
                secrecy,
                ..ReadOptions::default()
            },
        })
    }

    /// Returns the turn's events and how many checks ran; `None` if no person wrote its prompt.
    ///
    /// Without a prompt id, the last prompt in the file may belong to an earlier turn. Its records
    /// then end with another message.
    pub(super) fn turn(
        &self,
        context: &HookContext<'_>,
        stop: &EndedTurn<'_>,
    ) -> Option<(Turn, usize)> {
        let (mut turn, mut runs, mut has_prompt) = (Turn::default(), 0, false);
        let see = &mut |event: &transcript::Event<'_>| {
            match &event.kind {
                EventKind::Prompt(prompt) => {
                    has_prompt |= is_of_person(prompt.via);
                }
                EventKind::Check { .. } => runs += 1,
                _ => {}
            }
            turn.see(event);
        };
        transcript::each_event(&self.records[..], &self.options, see)
            .inspect_err(|error| context.log(&error.to_string()))
            .ok()?;
        let is_of_stop = |written: &str| written.ends_with(stop.message.trim());
        let is_it = stop.prompt.is_some() || turn.message().is_none_or(is_of_stop);
        (has_prompt && is_it).then_some((turn, runs))
    }

    pub(super) fn judgement(
        &self,
        context: &HookContext<'_>,
        stop: &EndedTurn<'_>,
        config: &Config,
    ) -> Option<gate::GateVerdict> {
        let digest =
            transcript::scan_reader(&self.records[..], 0, &self.options, &mut |_, _| false)
                .inspect_err(|error| context.log(&error.to_string()))
                .ok()?;
        let turn = SessionEvidence::of(digest, model::EVIDENCE);
        let message = self.masker().mask(stop.message);
        let judged = model::judge(context, config, &turn, &message);
        judged.map(gate::GateVerdict::judged)
    }

    pub(super) fn masker(&self) -> &Masker {
        &self.options.secrecy.masker
    }
}
