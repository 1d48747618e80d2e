//! Applies a session's votes, a curator's operations or a user's edit to the playbook as it is now:
//! under the lock, one atomic replace.

use std::borrow::Cow;
use std::collections::HashSet;

use jiff::Timestamp;
use serde_json::Value;

use super::context::Worker;
use super::curate::protection;
use super::job::JobId;
use super::outcome::{Outcome, Step};
use super::progress::{Job, SessionEvidence};
use super::screening::{self, ASKED};
use super::spool::job_file;
use super::{LOCK_WAIT, ask, record, transcripts};
use crate::account::Need;
use crate::backend::BackendName;
use crate::config::{Approval, Config, VotesIn};
use crate::memory::{Memory, MemoryError};
use crate::playbook::change::{Applied, end_guard};
use crate::playbook::change::{diff, undo};
use crate::playbook::clean::clean_text;
use crate::playbook::ops::{Lesson, enforce, learn};
use crate::playbook::ops::{RefusedEdit, apply_operations, written_text};
use crate::playbook::votes::{LocalVotes, PointInSession, Votes};
use crate::playbook::{Playbook, PointChange};
use crate::reflect::curator::{CuratorMaterial, Ground, NoteUpdate, note_updates};
use crate::reflect::gates::{Gates, Proposal, Verdict, refused};
use crate::reflect::reply::Curation;
use crate::reflect::rules;
use crate::store::{Loaded, Locked, MAX_FILE_BYTES, Snapshots, Store, StoreError, votes};
use crate::transcript::Facts;
use crate::trust::TrustStanding;
use crate::{fsx, screen};

pub(super) enum Work<'a> {
    Session(&'a SessionEvidence),
    Curation(&'a CuratorMaterial, &'a Curation),
    Edit(&'a PlaybookEdit),
}

/// The number of times that a job begins again because another program wrote the file meanwhile.
const MAX_TRIES: usize = 10;

/// The list of changes is stored with the job before the file is replaced; the file then holds the
/// job's id. After a restart the id shows whether that happened. What an editor or git writes
/// between our read and our write is not replaced: the job begins again.
pub(super) fn apply(context: &Worker, job: &mut Job, work: &Work<'_>, config: &Config) -> Step {
    let store = job.store(context.paths());
    let locked = match work {
        Work::Edit(PlaybookEdit::Restore { .. }) => store.lock_also_away(LOCK_WAIT)?,
        _ => store.lock(LOCK_WAIT)?,
    };
    let skipped_before = job.progress.skipped;
    for _ in 0..MAX_TRIES {
        job.progress.skipped = skipped_before;
        if attempt(context, job, work, config, &locked)? {
            return Ok(());
        }
    }
    let path = store.path().display();
    Err(Outcome::wait(&format!(
        "could not update playbook: {path}: it was modified {MAX_TRIES} times during the update"
    )))
}

/// Tries once; `false` where the file was written by somebody else since we read it.
fn attempt(
    context: &Worker,
    job: &mut Job,
    work: &Work<'_>,
    config: &Config,
    locked: &Locked<'_>,
) -> Step<bool> {
    let id = job.ticket.id.as_str().to_owned();
    let snapshots = Snapshots::new(&context.paths().project(&job.ticket.project));
    let mut found = read(context, job, work, &snapshots, config)?;
    if found.is_readable && found.file.is_applied(&id) {
        keep_if_missing(&snapshots, &id, &found.file)?;
        screening::after_job(context, job, &found.file)?;
        return Ok(true);
    }
    job.progress.has_seen_points |= !found.file.is_empty();
    note_hand_edit(context, job, &found, &snapshots)?;
    let project = job.ticket.project.to_string_lossy();
    let numbers = context.memory().highest_numbers(&project)?;
    found.file.never_below(&numbers);
    found.playbook.never_below(&numbers);
    let points = (&mut found.playbook, &found.unused);
    let applied = change(context, job, work, points, &snapshots, config)?;
    for held in &job.progress.held {
        let line = format!("operation {} held back: {}", held.seq, held.reasons);
        context.log(&id, &line);
    }
    let left_out = applied.skipped.iter().chain(&job.progress.refused);
    context.log_skipped(&id, "skipped", left_out);
    let is_local = config.playbook.votes == VotesIn::Local;
    let before = &found.file;
    let (mut after, votes) = found.playbook.parted(before, &found.votes, is_local);
    let must_write = !found.is_readable || found.held_secrets;
    let is_changed = must_write || after.to_bytes() != before.to_bytes();
    if is_changed {
        after.mark_applied_to(before, &id);
        after.set_last_updated(context.now());
    }
    job.progress.skipped += (applied.skipped.len() + job.progress.refused.len()) as u64;
    job.progress.changes = Some(applied.changes);
    job.progress.numbers = after.highest_numbers();
    job.progress.votes = votes;
    context.save(job)?;
    if is_changed {
        if let Some(original) = &found.original {
            snapshots.keep_original(&id, original)?;
        }
        if found.bytes.is_none() {
            screening::birth(context, &job.ticket.project)?;
        }
        if !locked.save(found.bytes.as_deref(), &after)? {
            return Ok(false);
        }
    }
    // With the first snapshot a change of the user's in the file is found, too.
    let is_first = !job.progress.votes.is_empty() && snapshots.last()?.is_none();
    if is_changed || is_first {
        snapshots.keep(&id, &after.to_bytes())?;
    }
    screening::after_job(context, job, &after)?;
    Ok(true)
}

/// Makes up for a stop between file and snapshot.
pub(super) fn keep_if_missing(snapshots: &Snapshots, id: &str, playbook: &Playbook) -> Step {
    let last = snapshots.last_playbook()?;
    if last.is_none_or(|last| !last.is_applied(id)) {
        snapshots.keep(id, &playbook.to_bytes())?;
    }
    Ok(())
}

fn change(
    context: &Worker,
    job: &mut Job,
    work: &Work<'_>,
    (playbook, unused): (&mut Playbook, &HashSet<String>),
    snapshots: &Snapshots,
    config: &Config,
) -> Step<Applied> {
    let now = context.now();
    match work {
        Work::Edit(edit) => {
            let memory = context.memory();
            let sources = Sources {
                project: &job.ticket.project.to_string_lossy(),
                memory: &memory,
                snapshots,
                max_points: config.playbook.max_points,
            };
            apply_edit(edit, playbook, sources, now).map_err(|error| match error {
                EditError::Refused(why) => Outcome::skip(why.to_string()),
                EditError::Nothing(why) => Outcome::skip(why),
                EditError::Memory(error) => error.into(),
                EditError::Snapshot(error) => error.into(),
            })
        }
        Work::Session(session) => {
            let tags = job.progress.reflection.as_ref();
            let tags = tags.map_or(&[][..], |said| &said.bullet_tags);
            let votes = transcripts::votes_of(job, &session.facts, tags, playbook);
            let is_by_rules = ask::need_of(context, job).backend == BackendName::Rules;
            let lesson = TaughtSession {
                facts: &session.facts,
                votes,
                is_by_rules,
            };
            let taught = lesson.teach(playbook, unused, config, (record::happened(job, now), now));
            job.progress.points = taught.points;
            job.progress.held = screening::held(&taught.proposals, playbook);
            job.progress.refused = refused(&taught.proposals);
            let mut applied = taught.applied;
            applied
                .changes
                .extend(end_wrong_guards(context, job, &session.facts, playbook)?);
            Ok(applied)
        }
        Work::Curation(material, curation) => {
            let project = job.ticket.project.to_string_lossy();
            let usage = context.memory().usage(&project)?;
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
            let applied = learn(playbook, lesson, config.playbook.max_points, now);
            let updates = note_updates(material, curation, &proposals);
            job.progress.note_updates = with_points(updates, &proposals, &applied.changes);
            Ok(applied)
        }
    }
}

const WRONG_SESSIONS: u64 = 2;
const WRONG: &str = "its guard was wrong in two sessions: the command was run again, and it worked";

/// Ends the guards that the curator gave and that were wrong in this session and an earlier one.
fn end_wrong_guards(
    context: &Worker,
    job: &Job,
    facts: &Facts,
    playbook: &mut Playbook,
) -> Step<Vec<PointChange>> {
    let mut changes = Vec::new();
    if facts.guards.is_empty() {
        return Ok(changes);
    }
    let project = job.ticket.project.to_string_lossy();
    let usage = context
        .memory()
        .usage_without(&project, &record::root_of(job))?;
    for verdict in facts.guards.iter().filter(|verdict| verdict.is_wrong) {
        let Some(point) = playbook.named(&verdict.point) else {
            continue;
        };
        let is_users =
            usage.cued_by_hand.contains(point.name) || protection(&usage, &point).is_some();
        if !is_users && usage.of(&verdict.point).guard_wrong + 1 >= WRONG_SESSIONS {
            let name = point.name.to_owned();
            changes.extend(end_guard(playbook, &name, WRONG, context.now()));
        }
    }
    Ok(changes)
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

pub(crate) struct TaughtSession<'a> {
    pub(crate) facts: &'a Facts,
    pub(crate) votes: Votes,
    /// Without a model, what the user stated outright is added at once.
    pub(crate) is_by_rules: bool,
}

pub(crate) struct TaughtPoints {
    pub(crate) applied: Applied,
    pub(crate) points: Vec<PointInSession>,
    pub(crate) proposals: Vec<Proposal>,
}

impl TaughtSession<'_> {
    /// Counts a session's votes and, by the rules, adds what the user stated. The points in
    /// `unused` look like an attack: they get no votes.
    pub(crate) fn teach(
        self,
        playbook: &mut Playbook,
        unused: &HashSet<String>,
        config: &Config,
        (happened, now): (Timestamp, Timestamp),
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
                objection: None,
            }
        };
        let proposals: Vec<Proposal> = operations.into_iter().enumerate().map(judge).collect();
        let lesson = Lesson {
            tags: &votes.tags,
            operations: &accepted(&proposals),
            reasoning: "",
            cited: &votes.cited,
            session: Some(happened),
        };
        let mut applied = learn(playbook, lesson, config.playbook.max_points, now);
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

/// Refuses the operations that could not be applied in turn; a text that is there counts as such.
fn refuse_what_fails(proposals: &mut [Proposal], playbook: &Playbook, now: Timestamp) {
    let mut trial = playbook.clone();
    let is_accepted = |one: &&mut Proposal| one.verdict == Verdict::Apply;
    for one in proposals.iter_mut().filter(is_accepted) {
        let text = clean_text(written_text(&one.operation));
        let is_there = trial.points().any(|point| clean_text(point.text) == text);
        let tried = apply_operations(&mut trial, std::slice::from_ref(&one.operation), "", now);
        if let Some(skipped) = tried.skipped.into_iter().next().filter(|_| !is_there) {
            one.verdict = Verdict::Refuse(skipped.reason);
        }
    }
}

const REASON: &str = "edited in the file";

pub(super) struct FoundPlaybook {
    pub(super) playbook: Playbook,
    /// The playbook in the file, without `votes`.
    pub(super) file: Playbook,
    pub(super) votes: LocalVotes,
    pub(super) bytes: Option<Vec<u8>>,
    /// The same without secrets, when it is worth keeping.
    pub(super) original: Option<Vec<u8>>,
    pub(super) is_readable: bool,
    /// The file held secrets, which are masked here and leave it with the next write.
    pub(super) held_secrets: bool,
    /// The names of points that play no part when a session is judged.
    pub(super) unused: HashSet<String>,
}

pub(super) fn read(
    context: &Worker,
    job: &Job,
    work: &Work<'_>,
    snapshots: &Snapshots,
    config: &Config,
) -> Step<FoundPlaybook> {
    let masker = config.secrets.secrecy()?.masker;
    let project = &job.ticket.project;
    let paths = context.paths();
    let store = job.store(paths);
    let (loaded, is_readable) = read_as_is(&store, work, snapshots)?;
    let Loaded {
        playbook: mut file,
        bytes,
        is_of_another_age,
    } = loaded;
    let votes = votes::of(paths, project, &file, &mut context.memory())?;
    let standing = TrustStanding::of(paths, project);
    let points = file.points();
    let unused = points.filter(|point| !screening::may_be_used(&standing, point));
    let unused = unused.map(|it| masker.mask(it.name).into_owned()).collect();
    let original = bytes.as_ref().filter(|_| is_of_another_age || !is_readable);
    let original = original.map(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        match masker.mask_json(&text) {
            Cow::Owned(clean) => clean.into_bytes(),
            Cow::Borrowed(_) => bytes.clone(),
        }
    });
    let held_secrets = file.mask_secrets(&masker);
    Ok(FoundPlaybook {
        playbook: file.clone().with_votes(&votes),
        file,
        votes,
        held_secrets,
        bytes,
        original,
        is_readable,
        unused,
    })
}

/// Returns the playbook; for a restore of a file that cannot be read, our last copy and `false`.
fn read_as_is(store: &Store, work: &Work<'_>, snapshots: &Snapshots) -> Step<(Loaded, bool)> {
    let is_restore = matches!(work, Work::Edit(PlaybookEdit::Restore { .. }));
    match store.read() {
        Err(StoreError::Corrupt { .. } | StoreError::Away { .. }) if is_restore => {
            let last = snapshots.last_playbook()?;
            let last = last.unwrap_or_else(Playbook::empty);
            let loaded = Loaded {
                playbook: last,
                bytes: fsx::read_if_there(store.path(), MAX_FILE_BYTES)?,
                is_of_another_age: false,
            };
            Ok((loaded, false))
        }
        loaded => Ok((loaded?, true)),
    }
}

/// Records the user's own changes in the file since the last job as a job of its own, before `job`
/// changes more. The result becomes a snapshot, so that it is found once. Its name is stored with
/// `job` first, so that a restart records it once.
pub(super) fn note_hand_edit(
    context: &Worker,
    job: &mut Job,
    found: &FoundPlaybook,
    snapshots: &Snapshots,
) -> Step {
    let changes = since_last_time(context, found, snapshots)?;
    if changes.is_empty() {
        return Ok(());
    }
    let earlier = match job.progress.hand_edit.take() {
        Some(id) if snapshots.read(id.as_str())?.is_none() => Some(id),
        _ => None,
    };
    let id = earlier.unwrap_or_else(|| JobId::new(context.now(), rand::random()));
    job.progress.hand_edit = Some(id.clone());
    context.save(job)?;
    record::hand_edit(context, job, &id, &found.file, &changes)?;
    snapshots.keep(id.as_str(), &found.file.to_bytes())?;
    Ok(())
}

fn since_last_time(
    context: &Worker,
    found: &FoundPlaybook,
    snapshots: &Snapshots,
) -> Step<Vec<PointChange>> {
    let Some(last) = snapshots.last_playbook()? else {
        return Ok(Vec::new());
    };
    // A job that was stopped between file and snapshot was not the user. One that is not
    // in the spool came with the file: from a colleague, by a checkout.
    let spool = context.paths().spool();
    let mut since = found.file.applied().filter(|job| !last.is_applied(job));
    if since.any(|job| JobId::parse(job).is_some_and(|job| job_file(&spool, &job).exists())) {
        return Ok(Vec::new());
    }
    let last = last.with_votes(&found.votes);
    Ok(diff(&last, &found.playbook, REASON, context.now()))
}

pub(crate) use crate::playbook::ops::PlaybookEdit;

/// The account of an edit: any worker may do it.
pub(crate) const NOBODY: Need = Need::bare(BackendName::Rules);

#[derive(Debug, thiserror::Error)]
pub(crate) enum EditError {
    #[error(transparent)]
    Refused(#[from] RefusedEdit),
    #[error("{0}")]
    Nothing(String),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Snapshot(#[from] crate::fsx::FsError),
}

#[derive(Clone, Copy)]
pub(crate) struct Sources<'a> {
    pub(crate) project: &'a str,
    pub(crate) memory: &'a Memory,
    pub(crate) snapshots: &'a Snapshots,
    pub(crate) max_points: usize,
}

pub(crate) fn apply_edit(
    edit: &PlaybookEdit,
    playbook: &mut Playbook,
    sources: Sources<'_>,
    now: Timestamp,
) -> Result<Applied, EditError> {
    let before = playbook.clone();
    let mut changes = match edit {
        PlaybookEdit::Undo { job } => return take_back(playbook, job, sources, now),
        PlaybookEdit::Restore { snapshot } => restore(playbook, snapshot, sources, now)?,
        of_points => of_points.by_hand(playbook, now)?,
    };
    // Only what the user brings in is held to the caps, not what comes back.
    if edit.text().is_some() || matches!(edit, PlaybookEdit::Change { .. }) {
        changes.extend(enforce(playbook, &before, sources.max_points, now));
    }
    Ok(Applied {
        changes,
        skipped: Vec::new(),
    })
}

/// Undoes a job; one that was undone already is left as it is.
fn take_back(
    playbook: &mut Playbook,
    job: &JobId,
    sources: Sources<'_>,
    now: Timestamp,
) -> Result<Applied, EditError> {
    let refused = |why: String| EditError::from(RefusedEdit::Told(why));
    let row = sources.memory.job(job.as_str())?;
    let row = row.ok_or_else(|| refused(format!("no job {job} in the history")))?;
    if row.job.project != sources.project {
        let other = row.job.project;
        return Err(refused(format!("job {job} is of another project: {other}")));
    }
    if let Some(by) = row.undone_by {
        let why = format!("job {job} was undone already, by {by}");
        return Err(EditError::Nothing(why));
    }
    let entries = sources.memory.changes_of(job.as_str())?;
    let counts = row.job.counts;
    let is_cut = match entries.first() {
        Some(first) => first.seq > 0,
        None => counts.tags + counts.operations > 0,
    };
    if is_cut {
        let why = format!("what job {job} did is no longer in the history");
        return Err(refused(why));
    }
    if entries.is_empty() {
        return Err(EditError::Nothing(format!("job {job} changed nothing")));
    }
    let changes: Vec<PointChange> = entries.into_iter().map(|entry| entry.change).collect();
    Ok(undo(playbook, &changes, &format!("undo of {job}"), now))
}

/// Makes the playbook what a snapshot holds, but for the numbers, names and jobs it knows.
fn restore(
    playbook: &mut Playbook,
    snapshot: &str,
    sources: Sources<'_>,
    now: Timestamp,
) -> Result<Vec<PointChange>, EditError> {
    let unknown = || RefusedEdit::Told(format!("no snapshot {snapshot}"));
    let bytes = sources.snapshots.read(snapshot)?.ok_or_else(unknown)?;
    let old = Playbook::parse(&bytes)
        .map_err(|flaw| RefusedEdit::Told(format!("snapshot {snapshot} cannot be read: {flaw}")))?;
    let old = old.with_votes(&sources.memory.votes(sources.project)?);
    let changes = diff(playbook, &old, &format!("restored {snapshot}"), now);
    playbook.take_sections(old);
    Ok(changes)
}
