//! The quality gate at the end of a turn: is done what the agent says is done?
//!
//! The hook for Stop asks here. What is found and how much it weighs is
//! [`playbook_learn::gate`]'s; here is what the settings allow, what was said already, and that
//! nothing is said that could not be written down before: so nothing is said for ever.

mod record;
mod step;

use std::path::Path;

use playbook_learn::gate::{self, Judgement};

use crate::config::{self, Config, GateMode};
use crate::fsx::FsError;
use crate::hook::context::Context;
use crate::hook::stop::{Stop, Verdict};
use crate::transcript::{Options, Words};

use record::{Record, Spoken};

pub(crate) use record::Figures;

/// What becomes of a turn that ends; `None` where the gate has nothing to say, whatever the
/// reason: what went wrong stands in the log.
pub(crate) fn at_stop(context: &Context<'_>, stop: &Stop<'_>) -> Option<Verdict> {
    let Ok(config) = config::unless_switched_off(&context.paths, &context.project)? else {
        return None;
    };
    let say: fn(&Judgement) -> Verdict = match config.gate.mode {
        GateMode::Off => return None,
        GateMode::Tell => |judgement| Verdict::Tell(judgement.told()),
        GateMode::Block => |judgement| Verdict::Block(judgement.guidance()),
    };
    let judgement = judge(context, stop, &config)?;
    let (paths, project) = (&context.paths, &context.project);
    let log = |error: &FsError| context.log(&error.to_string());
    let mut record = Record::read(paths, project, stop.session)
        .inspect_err(log)
        .ok()?;
    let (score, threshold) = (judgement.quality_score, config.gate.threshold);
    record.count(stop.prompt, score, threshold);
    let found = judgement.findings.iter();
    let found: Vec<String> = found.map(|finding| finding.key(stop.prompt)).collect();
    let speaks = score < threshold && record.may_say(stop.prompt, &found, config.gate.per_step);
    let verdict = speaks.then(|| say(&judgement));
    if let Some(verdict) = &verdict {
        let (said, should_retry) = match verdict {
            Verdict::Tell(text) => (text, false),
            Verdict::Block(text) => (text, true),
        };
        record.add(Spoken {
            at: context.now,
            prompt: stop.prompt.to_owned(),
            score,
            findings: found,
            said: said.clone(),
            should_retry,
            improved: None,
        });
    }
    let written = record.write(paths, project, stop.session);
    written.inspect_err(log).ok().and(verdict)
}

/// What the turn is worth; `None` where that cannot be told for certain.
fn judge(context: &Context<'_>, stop: &Stop<'_>, config: &Config) -> Option<Judgement> {
    let log = |error: &dyn std::fmt::Display| context.log(&error.to_string());
    let records = step::read(stop.transcript, stop.prompt).inspect_err(|error| log(error));
    let records = records.ok()??;
    let secrecy = config
        .secrets
        .secrecy()
        .inspect_err(|error| log(error))
        .ok()?;
    let home = context.paths.home().and_then(Path::to_str);
    let options = Options {
        words: Words::Heard,
        home: home.map(str::to_owned),
        secrecy,
        ..Options::default()
    };
    gate::judge(&records, stop.message, &options)
}
