//! Applies a job to the playbook as it is now: under the lock, one atomic replace.

use std::collections::HashSet;

use serde_json::Value;

use super::context::WorkerContext;
use super::edit::{EditError, PlaybookEdit, Sources, caps};
use super::evidence::SessionEvidence;
use super::found::{FoundPlaybook, note_hand_edit, read};
use super::progress::{JobInProgress, RestOn};
use super::stop::Stop;
use super::{LOCK_WAIT, known, record, recurrence, screening, shown, trust_record};
use crate::config::{Approval, Config, VotesIn};
use crate::freshness;
use crate::playbook::change::Applied;
use crate::playbook::learn::{Lesson, learn};
use crate::playbook::ops::named_points;
use crate::playbook::{Playbook, Point, Skipped};
use crate::reflect::accepted::{unmarked, with_grounds};
use crate::reflect::grounds::Grounds;
use crate::store::{Locked, Snapshots};

pub(super) enum Work<'a> {
    Lesson(&'a SessionEvidence),
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
        "the playbook does not hold still: {path}"
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
    for skipped in &applied.skipped {
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
    job.progress.skipped += applied.skipped.len() as u64;
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
    let work = Work::Lesson(session);
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
    let caps = caps(config);
    let evidence = match work {
        Work::Lesson(evidence) => evidence,
        Work::Edit(edit) => {
            let memory = context.memory();
            let sources = Sources {
                project: &job.ticket.project.to_string_lossy(),
                memory: &memory,
                snapshots,
                caps,
            };
            return edit
                .apply(playbook, sources, now)
                .map_err(|error| match error {
                    EditError::Refused(why) => Stop::Skips(why.to_string()),
                    EditError::Nothing(why) => Stop::Skips(why),
                    EditError::Memory(error) => error.into(),
                    EditError::Snapshot(error) => error.into(),
                });
        }
    };
    let reflection = job.progress.reflection.as_ref();
    let curation = job.progress.curation.as_ref();
    let operations = curation.map_or(&[][..], |c| &c.operations);
    let (operations, surplus) = operations.split_at(operations.len().min(config.budgets.ops));
    let (operations, mut held) = screening::part(operations);
    // What looks like an attack gets no votes, and no session decides about it.
    let is_used = |name: &str| {
        let point = playbook.named(name);
        point.is_none_or(|point| !unused.contains(point.name))
    };
    let (mut operations, kept_off): (Vec<Value>, Vec<Value>) = operations
        .into_iter()
        .partition(|operation| named_points(operation).all(is_used));
    for reason in operations.iter_mut().filter_map(|o| o.get_mut("reason")) {
        *reason = reason.as_str().map(unmarked).into();
    }
    let reasoning = &curation.map_or(String::new(), |c| unmarked(&c.reasoning));
    let grounds = Grounds::of(&evidence.evidence);
    let grounds = grounds
        .filter(|_| job.progress.operations_rest != RestOn::Anything)
        .map(|grounds| grounds.knowing(known::texts(playbook, &job.progress.known_lessons)));
    let (operations, groundless, waiting) = match grounds {
        Some(grounds) => {
            let record = freshness::record(context.paths(), &job.ticket.project);
            let why_stale = |point: &Point<'_>| record.gone(point);
            let lessons = &job.progress.known_lessons;
            let (operations, groundless) = with_grounds(
                operations, playbook, &grounds, lessons, why_stale, reasoning,
            );
            let (operations, waiting) =
                recurrence::part(context, job, playbook, &grounds, operations)?;
            (operations, groundless, waiting)
        }
        None => (operations, Vec::new(), Vec::new()),
    };
    let operations = match config.curator.approval {
        Approval::Auto => operations,
        Approval::Ask => {
            held.extend(screening::asked(operations, playbook));
            Vec::new()
        }
    };
    let tags = reflection.map_or(&[][..], |r| &r.bullet_tags);
    let mut votes = shown::votes_of(job, &evidence.facts, tags, playbook);
    votes.seen.retain(|point| is_used(&point.name));
    votes.tags.retain(|tag| is_used(&tag.name));
    votes.cited.retain(|id| is_used(id.as_str()));
    let lesson = Lesson {
        tags: &votes.tags,
        operations: &operations,
        reasoning,
        cited: &votes.cited,
    };
    let mut applied = learn(playbook, lesson, caps, now);
    job.progress.points = votes.seen;
    job.progress.held = held;
    let not_made: Vec<Skipped> = groundless
        .into_iter()
        .chain(recurrence::told_of(&waiting))
        .collect();
    job.progress.waiting_points = waiting;
    applied.skipped.extend(not_made.iter().cloned());
    job.progress.dropped_operations = not_made;
    applied.skipped.extend(votes.dropped);
    applied.skipped.extend(kept_off.iter().map(|_| Skipped {
        what: "operation".to_owned(),
        reason: "about a key point that is held back".to_owned(),
    }));
    applied.skipped.extend(surplus.iter().map(|_| Skipped {
        what: "operation".to_owned(),
        reason: format!("more than `budgets.ops`: {}", config.budgets.ops),
    }));
    Ok(applied)
}
