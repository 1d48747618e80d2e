//! The way of a session's job: claim, record, reflect, apply, save. A curator's job has its own
//! ([`curate`]).
//!
//! The result of each step is with the job on disk before the next begins, so a
//! restart goes on after the last one, and a model's answer is never paid for twice.

use std::sync::Arc;
use std::time::Instant;

use jiff::SignedDuration;
use tokio::task::block_in_place;

use super::apply::{self, PlaybookEdit, Work};
use super::backoff::Pause;
use super::budget::Hold;
use super::context::Worker;
use super::job::JobEvent;
use super::outcome::{self, Outcome, Step, leave, of_transcript};
use super::progress::{self, Job, SessionEvidence};
use super::{ask, claim, curate, record, screening, transcripts};
use crate::backend::question::Answered;
use crate::backend::{BackendFailure, FailureKind};
use crate::config::{Config, Trigger};
use crate::fsx::FsError;
use crate::transcript::Facts;

const LESS: u64 = 4;

/// The reason of a job whose part of the transcript other jobs have claimed.
pub(crate) const NOTHING_NEW: &str = "nothing new";

/// The reason for ignoring that folder: what is learned there would be given to every project.
const NO_PROJECT: &str = "the folder of the settings is no project to learn from";

pub(super) async fn work(context: &Arc<Worker>, mut job: Job) -> Outcome {
    job.begun = Some(Instant::now());
    let result = stages(context, &mut job).await;
    block_in_place(|| leave(context, &mut job, result))
}

fn before_all(context: &Worker, job: &Job) -> Step {
    // It was stopped on its way to `failed/`.
    if let Some(reason) = &job.progress.failed {
        return Err(Outcome::Fail(reason.clone()));
    }
    // One that can be tried is, however old: the clock may be wrong.
    if context.is_too_old(job) && (!context.serves(job) || context.due(job).is_some()) {
        let reason = job.progress.waiting.as_ref().map(|w| w.reason.as_str());
        return Err(Outcome::Fail(Worker::too_long(reason)));
    }
    let project = &job.ticket.project;
    if !job.is_in_doubt() && !project.is_dir() {
        // It may be on a drive that is not mounted now.
        let why = format!("could not find project: {}", project.display());
        return Err(Outcome::wait(&why));
    }
    Ok(())
}

async fn stages(context: &Arc<Worker>, job: &mut Job) -> Step {
    before_all(context, job)?;
    let project = context.alone(&job.ticket.project);
    let transcript = context.alone(&job.ticket.transcript);
    let config = context.config_for(&job.ticket.project)?;
    screening::may_follow(context, &job.ticket.project)?;
    if let Some(edit) = job.edit.clone() {
        let _alone = project.lock().await;
        return block_in_place(|| {
            if let PlaybookEdit::Undo { .. } = edit {
                record::unrecorded(context, job, &config)?;
            }
            finish(context, job, &Work::Edit(&edit), &config)
        });
    }
    if let Some(order) = job.curate.clone() {
        return curate::run(context, job, &order, &config).await;
    }
    if !config.reflection.enabled {
        return Err(Outcome::skip(Hold::SwitchedOff.to_string()));
    }
    if job.ticket.project == context.paths().own() {
        return Err(Outcome::skip(NO_PROJECT));
    }
    let evidence = {
        let _alone = project.lock().await;
        let _alone = transcript.lock().await;
        block_in_place(|| {
            let evidence = claim_and_record(context, job, &config)?;
            // Stored with the next answer, before which nothing depends on it.
            transcripts::keep_shown(context, job, &evidence.facts);
            Ok::<_, Outcome>(evidence)
        })?
    };
    reflect(context, job, &evidence, &config).await?;
    let _alone = project.lock().await;
    block_in_place(|| finish(context, job, &Work::Session(&evidence), &config))
}

pub(super) fn finish(context: &Worker, job: &mut Job, work: &Work<'_>, config: &Config) -> Step {
    if !job.progress.is_applied {
        apply::apply(context, job, work, config)?;
        job.progress.is_applied = true;
        context.save(job)?;
    }
    let session = match work {
        Work::Session(session) => Some(*session),
        Work::Curation(..) | Work::Edit(_) => None,
    };
    record::applied(context, job, session, config)
}

/// Has the session reflected on and its notes checked, unless that is done.
async fn reflect(
    context: &Worker,
    job: &mut Job,
    evidence: &SessionEvidence,
    config: &Config,
) -> Step {
    if job.progress.reflection.is_some() {
        return Ok(());
    }
    can_keep_an_answer(context, job)?;
    let asked = ask::reflector(context, job, evidence, config).await?;
    if let Some(cause) = &asked.cause {
        ask_less_next(job, cause, config);
        return Err(useless(context, job, cause, outcome::REFLECT));
    }
    count(context, job, &asked);
    let mut reflection = asked.result;
    let checked = evidence.check(&mut reflection);
    context.log_skipped(job.ticket.id.as_str(), "dropped", &checked.dropped);
    job.progress.notes = checked.notes;
    job.progress.outdated = checked.outdated;
    job.progress.dropped = checked.dropped;
    job.progress.reflection = Some(reflection);
    block_in_place(|| context.save(job))?;
    Ok(())
}

/// Has smaller evidence made for the next try, once, after a question that was not let through.
fn ask_less_next(job: &mut Job, cause: &BackendFailure, config: &Config) {
    if cause.kind == FailureKind::BadQuestion && job.progress.evidence_tokens.is_none() {
        job.progress.evidence_tokens = Some(config.evidence.tokens / LESS);
        job.progress.has_evidence = false;
    }
}

/// Makes sure that an answer can be kept before it is paid for: the disk may have been full.
pub(super) fn can_keep_an_answer(context: &Worker, job: &Job) -> Result<(), FsError> {
    match job.progress.waiting {
        Some(_) => block_in_place(|| context.save(job)),
        None => Ok(()),
    }
}

/// Counts what was dropped from its reply; the backend is well.
pub(super) fn count<T>(context: &Worker, job: &mut Job, asked: &Answered<T>) {
    job.progress.skipped += asked.skipped.len() as u64;
    job.progress.waiting = None;
    context.release_account(job);
    context.log_skipped(job.ticket.id.as_str(), "skipped", &asked.skipped);
}

/// Reads the claim and the record from disk if they are there.
fn claim_and_record(context: &Worker, job: &mut Job, config: &Config) -> Step<SessionEvidence> {
    let id = job.ticket.id.clone();
    let secrecy = config.secrets.secrecy()?;
    if job.progress.has_evidence {
        match progress::read_evidence(context.paths(), &id) {
            Ok(evidence) => return Ok(evidence),
            // It can be made again, as long as the transcript is there.
            Err(error) => context.log(id.as_str(), &error.to_string()),
        }
    }
    let digest = if let Some(claim) = &job.progress.claim {
        let read = claim::read_again(job, claim, context, secrecy);
        read.map_err(of_transcript)?
    } else {
        let part = claim::claim(job, context, secrecy)?;
        let (claim, digest) = part.ok_or_else(|| Outcome::skip(NOTHING_NEW))?;
        job.progress.trigger = Some(worth(context, job, &digest.facts, config)?.to_owned());
        job.progress.claim = Some(claim);
        // First for the others in this worker: a write that fails may have been done.
        context.claims().add(job);
        context.save(job)?;
        digest
    };
    let masked = digest.stats.masked.iter();
    let masked: Vec<String> = masked.map(|(rule, n)| format!("{rule} {n}")).collect();
    if !masked.is_empty() {
        context.log(id.as_str(), &format!("masked: {}", masked.join(", ")));
    }
    let tokens = job.progress.evidence_tokens;
    let evidence = SessionEvidence::of(digest, tokens.unwrap_or(config.evidence.tokens));
    progress::save_evidence(context.paths(), &id, &evidence)?;
    job.progress.has_evidence = true;
    context.save(job)?;
    Ok(evidence)
}

/// Returns what a useless answer means for its job. The cost is kept, whatever follows.
pub(super) fn useless(context: &Worker, job: &Job, cause: &BackendFailure, step: &str) -> Outcome {
    if let Err(error) = block_in_place(|| context.save(job)) {
        return error.into();
    }
    let reason = format!("{step}:{}: {}", cause.kind.word(), cause.message);
    if !cause.kind.may_pass() {
        // A smaller question is made at once.
        let has_next = job.progress.claim.is_some() && !job.progress.has_evidence;
        if !has_next {
            return Outcome::Fail(reason);
        }
        return Outcome::Wait {
            reason,
            until: Some(context.now()),
            for_account: false,
        };
    }
    let told = cause.retry_after.map(SignedDuration::try_from);
    let pause = match told {
        _ if cause.kind.is_of_the_key() => Pause::Refused,
        Some(Ok(told)) => Pause::Told(told),
        _ => Pause::Doubling,
    };
    let waits = context.park_account(job, reason, pause);
    context.note_remedy(job, cause.kind);
    waits
}

const TOO_LITTLE: &str = "too little happened";
const ASKED: &str = "asked";

/// Returns why the session's part is worth a reflection, or ends the job. The caller holds the
/// project and has saved no claim: the next job covers a part that ends here.
pub(super) fn worth(
    context: &Worker,
    job: &Job,
    facts: &Facts,
    config: &Config,
) -> Step<&'static str> {
    if job.ticket.event == JobEvent::Reflect {
        return Ok(ASKED);
    }
    let transcript = job.ticket.transcript.to_string_lossy();
    let confidence = context.memory().confidence_of(&transcript)?;
    should_reflect(facts, confidence, &config.triggers.off).ok_or_else(|| Outcome::skip(TOO_LITTLE))
}

/// The confidence below which a session is reflected on once more.
const UNSURE: f64 = 0.5;
/// The share of new words in the last prompt above which it changes the goal.
const DRIFT: f64 = 0.9;
const PERIODIC_CALLS: u64 = 5;
const ACTIVE_PROMPTS: u64 = 2;

/// Returns the trigger of spec/4; `docs/specifications.md` lists them.
pub(crate) fn should_reflect(
    facts: &Facts,
    last_confidence: Option<f64>,
    off: &[Trigger],
) -> Option<&'static str> {
    let stakes = &facts.stakes;
    let is_unsure = last_confidence.is_some_and(|confidence| confidence < UNSURE);
    let spoken = facts.user_turns + facts.commands;
    let table = [
        (Trigger::ToolFailure, facts.tool_errors > facts.rejections),
        (Trigger::LowConfidence, is_unsure),
        (Trigger::HighRisk, stakes.destructive > 0),
        (Trigger::GoalDrift, stakes.drift > DRIFT),
        (Trigger::FinalStep, stakes.commits + facts.checks_passed > 0),
        (Trigger::UserCritical, stakes.critical > 0),
        (Trigger::Periodic, facts.tool_calls >= PERIODIC_CALLS),
        (Trigger::Citations, !facts.citations.is_empty()),
        (Trigger::Rejections, facts.rejections + facts.interrupts > 0),
        (Trigger::Activity, spoken >= ACTIVE_PROMPTS),
    ];
    let mut fired = table.iter().filter(|(_, fires)| *fires);
    let (trigger, _) = fired.find(|(trigger, _)| !off.contains(trigger))?;
    Some(trigger.word())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::Id;
    use crate::transcript::Stakes;
    use rstest::rstest;

    /// One prompt, a glance or two, one answer.
    fn little() -> Facts {
        Facts {
            user_turns: 1,
            assistant_texts: 1,
            tool_calls: 4,
            tool_results: 4,
            ..Facts::default()
        }
    }

    fn at_stake(stakes: Stakes) -> Facts {
        Facts { stakes, ..little() }
    }

    #[rstest]
    #[case::tool_failure(Facts { tool_errors: 1, ..little() }, "tool_failure")]
    #[case::high_risk(at_stake(Stakes { destructive: 1, ..Stakes::default() }), "high_risk")]
    #[case::goal_drift(at_stake(Stakes { drift: 0.91, ..Stakes::default() }), "goal_drift")]
    #[case::commit(at_stake(Stakes { commits: 1, ..Stakes::default() }), "final_step")]
    #[case::critical(at_stake(Stakes { critical: 1, ..Stakes::default() }), "user_critical")]
    #[case::periodic(Facts { tool_calls: 5, ..little() }, "periodic")]
    #[case::citation(Facts { citations: vec![Id::parse("pat-001").unwrap()], ..little() }, "citations")]
    #[case::rejection(Facts { rejections: 1, tool_errors: 1, ..little() }, "rejections")]
    #[case::prompt_and_command(Facts { commands: 1, ..little() }, "activity")]
    fn one_reason_is_enough(#[case] facts: Facts, #[case] trigger: &str) {
        assert_eq!(should_reflect(&facts, None, &[]), Some(trigger));
        let off = Trigger::from_word(trigger).unwrap();
        assert_eq!(should_reflect(&facts, None, &[off]), None);
    }

    #[test]
    fn a_session_that_was_judged_without_confidence_is_judged_again() {
        let judged = |confidence| should_reflect(&little(), confidence, &[]);
        assert_eq!(judged(Some(0.49)), Some("low_confidence"));
        assert_eq!((judged(Some(0.5)), judged(None)), (None, None));
    }
}
