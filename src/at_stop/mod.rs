//! The Stop hook: asks the gate about a turn that ends.
//!
//! [`crate::gate`] finds and weighs. This module applies the settings and drops repetitions. It
//! says nothing that it could not record first, so no message repeats forever.

mod model;
mod part;
mod record;
mod step;

use crate::config::{self, GateMode};
use crate::fsx::FsError;
use crate::gate;
use crate::hook::context::HookContext;
use crate::hook::stop::{EndedTurn, TurnVerdict};
use crate::redact::Masker;
use crate::screen;

use part::TurnPart;
use record::{Spoken, StopRecord};

pub(crate) use record::Figures;

/// The gate's verdict and the number of checks that had run by then.
struct JudgedStop {
    verdict: gate::GateVerdict,
    runs: usize,
}

/// Returns the gate's verdict on a turn that ends; `None` if it has nothing to say. Errors are
/// logged and also give `None`.
pub(crate) fn verdict(context: &HookContext<'_>, stop: &EndedTurn<'_>) -> Option<TurnVerdict> {
    let Ok(config) = config::unless_switched_off(&context.paths, &context.project)? else {
        return None;
    };
    let say: fn(&JudgedStop) -> TurnVerdict = match config.gate.mode {
        GateMode::Off => return None,
        GateMode::Tell => |judged| TurnVerdict::Tell(judged.text_for_user()),
        GateMode::Block => |judged| TurnVerdict::Block(judged.verdict.guidance.clone()),
    };
    let log = |error: &FsError| context.log(&error.to_string());
    let part = TurnPart::read(context, stop, &config)?;
    let (turn, runs) = part.turn(context, stop)?;
    let mut judged = JudgedStop {
        verdict: turn.verdict(stop.message),
        runs,
    };
    let (paths, project) = (&context.paths, &context.project);
    let mut record = StopRecord::read(paths, project, stop.session)
        .inspect_err(log)
        .ok()?;
    let threshold = config.gate.threshold;
    let may_ask = config.gate.model && judged.verdict.passes(threshold) && turn.has_ended();
    if may_ask && record.may_ask(&part.prompt, config.gate.per_step) {
        // Recorded first, so that a crash or a useless answer is not paid for twice.
        record.asks(&part.prompt);
        record
            .write(paths, project, stop.session)
            .inspect_err(log)
            .ok()?;
        let by_model = part.judgement(context, stop, &config);
        judged.verdict = by_model.unwrap_or(judged.verdict);
    }
    // The client passes guidance on as the user's feedback, so an attack in it is left out.
    judged
        .verdict
        .screen(|text| screen::objection(text).is_some());
    judged.mask(part.masker());
    let score = judged.verdict.quality_score.get();
    record.count(&part.prompt, score, threshold);
    let found = judged.keys(&part.prompt);
    let speaks = score < threshold && record.may_say(&part.prompt, &found, config.gate.per_step);
    let verdict = speaks.then(|| say(&judged));
    if let Some(verdict) = &verdict {
        record.add(Spoken {
            at: context.now,
            prompt: part.prompt.clone(),
            score,
            findings: found,
            said: verdict.text().to_owned(),
            should_retry: matches!(verdict, TurnVerdict::Block(_)),
            improved: None,
        });
    }
    let written = record.write(paths, project, stop.session);
    written.inspect_err(log).ok().and(verdict)
}

impl JudgedStop {
    /// Returns a key for each finding. The same finding counts as new only after another check ran.
    fn keys(&self, prompt: &str) -> Vec<String> {
        let found = self.verdict.findings.iter();
        let key = |issue: &str| format!("{prompt}/{}/{issue}", self.runs);
        found.map(|finding| key(&finding.issue)).collect()
    }

    fn mask(&mut self, masker: &Masker) {
        let verdict = &mut self.verdict;
        verdict.guidance = masker.mask(&verdict.guidance).into_owned();
        for found in &mut verdict.findings {
            for line in found.evidence.iter_mut().chain([&mut found.issue]) {
                *line = masker.mask(line).into_owned();
            }
        }
    }

    /// Returns the findings for the user. The first evidence, the agent's message, is left out: the
    /// user has just read it.
    fn text_for_user(&self) -> String {
        let lines = self.verdict.findings.iter().flat_map(|found| {
            let evidence = found.evidence.iter().skip(1).map(String::as_str);
            [found.issue.as_str()].into_iter().chain(evidence)
        });
        lines.collect::<Vec<_>>().join("\n  ")
    }
}
