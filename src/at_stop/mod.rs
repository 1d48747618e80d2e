//! What becomes of a turn that ends: the hook for Stop asks the gate.
//!
//! What is found and how much it weighs is [`crate::gate`]'s; here is what the settings allow,
//! what was said already, and that nothing is said that could not be written down before: so
//! nothing is said for ever.

mod record;
mod step;

use std::path::Path;

use crate::config::{self, Config, GateMode};
use crate::fsx::FsError;
use crate::gate::{self, Turn};
use crate::hook::context::Context;
use crate::hook::stop::{Stop, Verdict};
use crate::screen;
use crate::transcript::{self, EventKind, Options, Via, Words};

use record::{Record, Spoken};

pub(crate) use record::Figures;

/// What the gate found, and how many checks had run by then.
struct Judged {
    verdict: gate::Verdict,
    runs: usize,
}

/// What becomes of a turn that ends; `None` where the gate has nothing to say, whatever the
/// reason: what went wrong stands in the log.
pub(crate) fn verdict(context: &Context<'_>, stop: &Stop<'_>) -> Option<Verdict> {
    let Ok(config) = config::unless_switched_off(&context.paths, &context.project)? else {
        return None;
    };
    let say: fn(&Judged) -> Verdict = match config.gate.mode {
        GateMode::Off => return None,
        GateMode::Tell => |judged| Verdict::Tell(judged.told()),
        GateMode::Block => |judged| Verdict::Block(judged.verdict.guidance.clone()),
    };
    let judged = judge(context, stop, &config)?;
    let (paths, project) = (&context.paths, &context.project);
    let log = |error: &FsError| context.log(&error.to_string());
    let mut record = Record::read(paths, project, stop.session)
        .inspect_err(log)
        .ok()?;
    let (score, threshold) = (judged.verdict.quality_score.get(), config.gate.threshold);
    record.count(stop.prompt, score, threshold);
    let found = judged.keys(stop.prompt);
    let speaks = score < threshold && record.may_say(stop.prompt, &found, config.gate.per_step);
    let speaks = speaks && is_harmless(context, &judged.told());
    let verdict = speaks.then(|| say(&judged));
    if let Some(verdict) = &verdict {
        record.add(Spoken {
            at: context.now,
            prompt: stop.prompt.to_owned(),
            score,
            findings: found,
            said: verdict.text().to_owned(),
            should_retry: matches!(verdict, Verdict::Block(_)),
            improved: None,
        });
    }
    let written = record.write(paths, project, stop.session);
    written.inspect_err(log).ok().and(verdict)
}

/// The client hands guidance over as a word of the user's, and it quotes what a tool wrote: an
/// attack in that goes no further.
fn is_harmless(context: &Context<'_>, quoted: &str) -> bool {
    let objection = screen::objection(quoted);
    if let Some(why) = &objection {
        context.log(&format!("held back what the gate would say: it {why}"));
    }
    objection.is_none()
}

/// What the turn is worth; `None` where its prompt is not found, or no person's.
fn judge(context: &Context<'_>, stop: &Stop<'_>, config: &Config) -> Option<Judged> {
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
    let (mut turn, mut runs, mut has_prompt) = (Turn::default(), 0, false);
    let see = &mut |event: &transcript::Event<'_>| {
        match &event.kind {
            EventKind::Prompt(prompt) => {
                has_prompt |= matches!(prompt.via, Via::Typed | Via::Command(_));
            }
            EventKind::Check { .. } => runs += 1,
            _ => {}
        }
        turn.see(event);
    };
    transcript::each_event(&records[..], 0, &options, see)
        .inspect_err(|error| log(error))
        .ok()?;
    // All that is found needs a check that ran, and to read the message costs milliseconds.
    let mut verdict = match runs {
        0 => gate::Verdict::default(),
        _ => turn.verdict(stop.message, &[]),
    };
    let masker = &options.secrecy.masker;
    verdict.guidance = masker.mask(&verdict.guidance).into_owned();
    for line in verdict
        .findings
        .iter_mut()
        .flat_map(|found| &mut found.evidence)
    {
        *line = masker.mask(line).into_owned();
    }
    has_prompt.then_some(Judged { verdict, runs })
}

impl Judged {
    /// Tells each finding from all others of the session: it is another one only when a check
    /// has run since.
    fn keys(&self, prompt: &str) -> Vec<String> {
        let found = self.verdict.findings.iter();
        let key = |issue: &str| format!("{prompt}/{}/{issue}", self.runs);
        found.map(|finding| key(&finding.issue)).collect()
    }

    /// The findings for the user, who knows what the agent said: that is the first evidence.
    fn told(&self) -> String {
        let lines = self.verdict.findings.iter().flat_map(|found| {
            let evidence = found.evidence.iter().skip(1).map(String::as_str);
            [found.issue.as_str()].into_iter().chain(evidence)
        });
        lines.collect::<Vec<_>>().join("\n  ")
    }
}
