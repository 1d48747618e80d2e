//! Applies a job to the playbook as it is now: under the lock, one atomic replace.

use std::collections::HashSet;

use jiff::Timestamp;
use serde_json::Value;

use super::context::WorkerContext;
use super::curate::protection;
use super::edit::{self, EditError, PlaybookEdit, Sources, caps};
use super::evidence::SessionEvidence;
use super::found::{FoundPlaybook, note_hand_edit, read};
use super::progress::JobInProgress;
use super::screening::{self, ASKED};
use super::stop::Stop;
use super::{LOCK_WAIT, ask, record, shown, trust_record};
use crate::backend::BackendName;
use crate::config::{Approval, Config, VotesIn};
use crate::playbook::Playbook;
use crate::playbook::change::{Applied, PointChange};
use crate::playbook::clean::clean_text;
use crate::playbook::learn::{Lesson, learn};
use crate::playbook::ops::{apply_operations, written_text};
use crate::playbook::votes::PointInSession;
use crate::playbook::votes::Votes;
use crate::reflect::curator::{CuratorMaterial, Ground, NoteUpdate, note_updates};
use crate::reflect::gates::{Gates, Proposal, Verdict, refused};
use crate::reflect::reply::Curation;
use crate::reflect::rules;
use crate::screen;
use crate::store::{Locked, Snapshots};
use crate::transcript::Facts;

pub(super) enum Work<'a> {
    Session(&'a SessionEvidence),
    Curation(&'a CuratorMaterial, &'a Curation),
    Edit(&'a PlaybookEdit),
}

/// How often a job begins anew because somebody else wrote the file meanwhile.
const MAX_TRIES: usize = 10;

/// Applies a job.
///
/// The list of changes is stored with the job before the file is replaced; the file then
/// holds the job's id. After a restart the id tells whether that happened. What an editor or
/// git writes between our read and our write is not replaced: we begin anew.
pub(super) fn apply(
    context: &WorkerContext,
    job: &mut JobInProgress,
    work: &Work<'_>,
    config: &Config,
) -> Result<(), Stop> {
    let store = job.store(context.paths());
    let locked = match work {
        Work::Edit(PlaybookEdit::Restore { .. }) => store.lock_also_away(LOCK_WAIT)?,
        _ => store.lock(LOCK_WAIT)?,
    };
    let skipped_before = job.progress.skipped;
    for _ in 0..MAX_TRIES {
        job.progress.skipped = skipped_before;
        if attempt(context, job, work, config, &locked)? == ApplyAttempt::Done {
            return Ok(());
        }
    }
    let path = store.path().display();
    Err(Stop::waits(&format!(
        "could not update playbook: {path}: it was modified {MAX_TRIES} times during the update"
    )))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ApplyAttempt {
    Done,
    /// The file was written by somebody else since we read it.
    Overtaken,
}

fn attempt(
    context: &WorkerContext,
    job: &mut JobInProgress,
    work: &Work<'_>,
    config: &Config,
    locked: &Locked<'_>,
) -> Result<ApplyAttempt, Stop> {
    let id = job.ticket.id.as_str().to_owned();
    let snapshots = Snapshots::new(&context.paths().project(&job.ticket.project));
    let found = read(context, job, work, &snapshots, config)?;
    if found.is_readable && found.file.is_applied(&id) {
        keep_if_missing(&snapshots, &id, &found.file)?;
        trust_record::after_job(context, job, &found.file)?;
        return Ok(ApplyAttempt::Done);
    }
    job.progress.has_seen_points |= !found.file.is_empty();
    note_hand_edit(context, job, &found, &snapshots)?;
    let FoundPlaybook {
        playbook: mut after,
        file: mut before,
        votes,
        bytes: seen,
        original,
        is_readable,
        held_secrets,
        unused,
    } = found;
    let project = job.ticket.project.to_string_lossy();
    let numbers = context.memory().highest_numbers(&project)?;
    before.never_below(&numbers);
    after.never_below(&numbers);
    let applied = change(
        context,
        job,
        work,
        (&mut after, &unused),
        &snapshots,
        config,
    )?;
    for held in &job.progress.held {
        let line = format!("operation {} held back: {}", held.seq, held.reasons);
        context.log(&id, &line);
    }
    for skipped in applied.skipped.iter().chain(&job.progress.refused) {
        context.log(
            &id,
            &format!("{} skipped: {}", skipped.what, skipped.reason),
        );
    }
    let is_local = config.playbook.votes == VotesIn::Local;
    let (mut after, votes) = after.parted(&before, &votes, is_local);
    let is_changed = !is_readable || held_secrets || after.to_bytes() != before.to_bytes();
    if is_changed {
        after.mark_applied_to(&before, &id);
        after.set_last_updated(context.now());
    }
    job.progress.skipped += (applied.skipped.len() + job.progress.refused.len()) as u64;
    job.progress.changes = Some(applied.changes);
    job.progress.numbers = after.highest_numbers();
    job.progress.votes = votes;
    context.save(job)?;
    if is_changed {
        if let Some(original) = &original {
            snapshots.keep_original(&id, original)?;
        }
        if seen.is_none() {
            trust_record::birth(&context.surroundings, &job.ticket.project)?;
        }
        if !locked.save(seen.as_deref(), &after)? {
            return Ok(ApplyAttempt::Overtaken);
        }
    }
    // With the first snapshot a change of the user's in the file is found, too.
    let is_first = !job.progress.votes.is_empty() && snapshots.last()?.is_none();
    if is_changed || is_first {
        snapshots.keep(&id, &after.to_bytes())?;
    }
    trust_record::after_job(context, job, &after)?;
    Ok(ApplyAttempt::Done)
}

/// Makes up for a stop between file and snapshot.
pub(super) fn keep_if_missing(
    snapshots: &Snapshots,
    id: &str,
    playbook: &Playbook,
) -> Result<(), Stop> {
    let last = snapshots.last_playbook()?;
    if last.is_none_or(|last| !last.is_applied(id)) {
        snapshots.keep(id, &playbook.to_bytes())?;
    }
    Ok(())
}

/// Computes what a job would change, and changes nothing: no lock, no file.
pub(super) fn rehearse(
    context: &WorkerContext,
    job: &mut JobInProgress,
    session: &SessionEvidence,
    config: &Config,
) -> Result<Applied, Stop> {
    let snapshots = Snapshots::new(&context.paths().project(&job.ticket.project));
    let work = Work::Session(session);
    let found = read(context, job, &work, &snapshots, config)?;
    let mut playbook = found.playbook;
    let project = job.ticket.project.to_string_lossy();
    playbook.never_below(&context.memory().highest_numbers(&project)?);
    let points = (&mut playbook, &found.unused);
    change(context, job, &work, points, &snapshots, config)
}

fn change(
    context: &WorkerContext,
    job: &mut JobInProgress,
    work: &Work<'_>,
    (playbook, unused): (&mut Playbook, &HashSet<String>),
    snapshots: &Snapshots,
    config: &Config,
) -> Result<Applied, Stop> {
    let now = record::happened(job, context.now());
    match work {
        Work::Edit(edit) => {
            let memory = context.memory();
            let sources = Sources {
                project: &job.ticket.project.to_string_lossy(),
                memory: &memory,
                snapshots,
                caps: caps(config),
            };
            edit::apply(edit, playbook, sources, now).map_err(|error| match error {
                EditError::Refused(why) => Stop::Skips(why.to_string()),
                EditError::Nothing(why) => Stop::Skips(why),
                EditError::Memory(error) => error.into(),
                EditError::Snapshot(error) => error.into(),
            })
        }
        Work::Session(session) => {
            let tags = job.progress.reflection.as_ref();
            let tags = tags.map_or(&[][..], |said| &said.bullet_tags);
            let votes = shown::votes_of(job, &session.facts, tags, playbook);
            let is_by_rules = ask::need_of(context, job).backend == BackendName::Rules;
            let session = TaughtSession {
                facts: &session.facts,
                votes,
                is_by_rules,
            };
            let taught = session.teach(playbook, unused, config, now);
            job.progress.points = taught.points;
            job.progress.held = screening::held(&taught.proposals, playbook);
            job.progress.refused = refused(&taught.proposals);
            Ok(taught.applied)
        }
        Work::Curation(material, curation) => {
            let usage = context
                .memory()
                .usage(&job.ticket.project.to_string_lossy())?;
            let gates = Gates {
                playbook,
                material,
                protection: &|point| protection(&usage, point),
                is_usable: &|point| !unused.contains(point.name),
                asks_always: config.curator.approval == Approval::Ask,
                max_operations: config.budgets.ops,
            };
            let mut proposals = gates.judge(&curation.operations, &curation.reasoning);
            refuse_what_fails(&mut proposals, playbook, now);
            job.progress.held = screening::held(&proposals, playbook);
            job.progress.refused = refused(&proposals);
            let lesson = Lesson {
                operations: &accepted(&proposals),
                reasoning: &curation.reasoning,
                ..Lesson::default()
            };
            let applied = learn(playbook, lesson, caps(config), now);
            let updates = note_updates(material, curation, &proposals);
            job.progress.note_updates = with_points(updates, &proposals, &applied.changes);
            Ok(applied)
        }
    }
}

/// Adds to each note the key point that an operation made of it or changed by it.
fn with_points(
    mut updates: Vec<NoteUpdate>,
    proposals: &[Proposal],
    changes: &[PointChange],
) -> Vec<NoteUpdate> {
    for proposal in proposals {
        let reason = clean_text(proposal.operation["reason"].as_str().unwrap_or_default());
        let is_its = |change: &&PointChange| change.after.is_some() && change.reason == reason;
        let Some(change) = changes.iter().find(is_its) else {
            continue;
        };
        let grounds = &proposal.grounds;
        let is_named = |update: &&mut NoteUpdate| grounds.contains(&Ground::Note(update.id));
        for update in updates.iter_mut().filter(is_named) {
            update.point = Some(change.id.clone());
        }
    }
    updates
}

/// A session, and what it says of the playbook.
pub(crate) struct TaughtSession<'a> {
    pub(crate) facts: &'a Facts,
    pub(crate) votes: Votes,
    /// Without a model, what the user stated outright is added at once.
    pub(crate) is_by_rules: bool,
}

/// The effect of a session on the playbook.
pub(crate) struct TaughtPoints {
    pub(crate) applied: Applied,
    pub(crate) points: Vec<PointInSession>,
    pub(crate) proposals: Vec<Proposal>,
}

impl TaughtSession<'_> {
    /// Counts the votes of a session and, by the rules, adds what the user stated.
    ///
    /// The points in `unused` look like an attack: they get no votes.
    pub(crate) fn teach(
        self,
        playbook: &mut Playbook,
        unused: &HashSet<String>,
        config: &Config,
        now: Timestamp,
    ) -> TaughtPoints {
        let mut votes = self.votes;
        let is_used = |name: &str| {
            let point = playbook.named(name);
            point.is_none_or(|point| !unused.contains(point.name))
        };
        votes.seen.retain(|point| is_used(&point.name));
        votes.tags.retain(|tag| is_used(&tag.name));
        votes.cited.retain(|id| is_used(id.as_str()));
        let operations = if self.is_by_rules {
            rules::operations(self.facts, playbook)
        } else {
            Vec::new()
        };
        let judge = |(at, operation): (usize, Value)| {
            let verdict = if at >= config.budgets.ops {
                Verdict::Refuse(format!("more than `budgets.ops`: {}", config.budgets.ops))
            } else if let Some(why) = screen::objection(written_text(&operation)) {
                Verdict::Quarantine(why)
            } else if config.curator.approval == Approval::Ask {
                Verdict::Hold(ASKED.to_owned())
            } else {
                Verdict::Apply
            };
            Proposal {
                operation,
                verdict,
                grounds: Vec::new(),
            }
        };
        let proposals: Vec<Proposal> = operations.into_iter().enumerate().map(judge).collect();
        let lesson = Lesson {
            tags: &votes.tags,
            operations: &accepted(&proposals),
            reasoning: "",
            cited: &votes.cited,
        };
        let mut applied = learn(playbook, lesson, caps(config), now);
        applied.skipped.extend(votes.dropped);
        TaughtPoints {
            applied,
            points: votes.seen,
            proposals,
        }
    }
}

fn accepted(proposals: &[Proposal]) -> Vec<Value> {
    let accepted = proposals.iter().filter(|one| one.verdict == Verdict::Apply);
    accepted.map(|one| one.operation.clone()).collect()
}

/// Refuses the operations that could not be applied one after the other: their notes are not
/// settled by them. A text that is there already counts as applied.
fn refuse_what_fails(proposals: &mut [Proposal], playbook: &Playbook, now: Timestamp) {
    let mut trial = playbook.clone();
    for one in proposals
        .iter_mut()
        .filter(|one| one.verdict == Verdict::Apply)
    {
        let text = clean_text(written_text(&one.operation));
        let is_there = trial.points().any(|point| clean_text(point.text) == text);
        let tried = apply_operations(&mut trial, std::slice::from_ref(&one.operation), "", now);
        if let Some(skipped) = tried.skipped.into_iter().next().filter(|_| !is_there) {
            one.verdict = Verdict::Refuse(skipped.reason);
        }
    }
}
