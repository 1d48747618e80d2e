//! Which key points each session was shown, and so which of its verdicts are votes.
//!
//! session-start keeps one small file for each session. The worker reads it once for a job
//! and stores what it found with the job. A fork, whose own start shows nothing, has what the
//! session had that it was copied from. Of a session without a file the transcript tells, in
//! which the client notes what hooks gave; where that says nothing either, only cited points
//! get votes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::claim::lane_of;
use super::context::WorkerContext;
use super::progress::JobInProgress;
use crate::paths::Paths;
use crate::playbook::render::in_text;
use crate::playbook::votes::BulletTag;
use crate::playbook::votes::{Votes, votes};
use crate::playbook::{Id, Playbook, is_own_name};
use crate::shown_record::{self, ShownPoints};
use crate::transcript::{Facts, Lane};
use crate::transcript_file;

/// The number of sessions that are asked: forks of forks of forks.
const MAX_SESSIONS: usize = 8;
/// The longest session id that may name a transcript.
const MAX_ID: usize = 64;

/// Stores with a job what its session was shown, unless it is stored already.
pub(super) fn remember(context: &WorkerContext, job: &mut JobInProgress, facts: &Facts) {
    if job.progress.shown.is_some() {
        return;
    }
    let end = job.progress.claim.as_ref().map_or(u64::MAX, |c| c.end);
    let ticket = &job.ticket;
    let log = |error: &str| context.log(ticket.id.as_str(), error);
    let first = (ticket.session.clone(), ticket.transcript.clone(), end);
    let given = of(context.paths(), &ticket.project, first, log);
    let mut shown = given.shown;
    // A subagent has a context of its own, without what its session was shown: what it was
    // given itself stands in its transcript.
    if is_of_subagent(job) {
        shown.keep(|name| facts.citations.iter().any(|id| id.as_str() == name));
        let own = transcript_file::beginnings(&ticket.transcript, 0, end);
        let own = own.inspect_err(|error| log(&error.to_string()));
        for text in own.unwrap_or_default().given {
            shown.add(in_text(&text));
        }
    }
    job.progress.root = Some(given.root).filter(|root| *root != ticket.session);
    // What a start of ours showed stands in the playbook, wherever its file is now.
    job.progress.has_seen_points |= given.is_of_here;
    job.progress.shown = Some(shown);
}

/// Takes from the playbook what a subagent was neither given nor cited: it has a context of its
/// own, without what its session was shown, and is not judged by that.
pub(super) fn only_its_own(job: &JobInProgress, facts: &Facts, playbook: &mut Playbook) {
    if is_of_subagent(job) {
        let shown = job.progress.shown.as_ref();
        playbook.keep(|point| {
            let is_shown = shown.is_some_and(|shown| shown.has(point.name));
            is_shown || facts.citations.iter().any(|id| id.as_str() == point.name)
        });
    }
}

pub(super) fn is_of_subagent(job: &JobInProgress) -> bool {
    lane_of(job.ticket.event, &job.ticket.transcript) == Lane::Subagent
}

pub(super) fn votes_of(
    job: &JobInProgress,
    facts: &Facts,
    tags: &[BulletTag],
    playbook: &Playbook,
) -> Votes {
    let nothing = ShownPoints::default();
    let shown = job.progress.shown.as_ref().unwrap_or(&nothing);
    votes(tags, shown, &facts.citations, playbook)
}

/// The points of a playbook that the session of a job was given or cited, as they stand now.
pub(super) fn given(job: &JobInProgress, facts: &Facts, playbook: &Playbook) -> Vec<Id> {
    ids(&votes_of(job, facts, &[], playbook))
}

/// Returns what the session of a transcript that the user names was shown: as a job of its whole
/// would find it.
pub(crate) fn by_hand(paths: &Paths, project: &Path, transcript: &Path) -> ShownPoints {
    let session = transcript.file_stem().unwrap_or_default().to_string_lossy();
    let first = (session.into_owned(), transcript.to_owned(), u64::MAX);
    of(paths, project, first, |_| ()).shown
}

pub(crate) fn ids(votes: &Votes) -> Vec<Id> {
    let seen = votes.seen.iter();
    seen.filter_map(|point| Id::parse(&point.name)).collect()
}

struct GivenPoints {
    shown: ShownPoints,
    /// The session that it goes back to.
    root: String,
    /// Whether starts in this project showed points, as they noted; a transcript's own notes may
    /// be of another machine.
    is_of_here: bool,
}

/// Gathers what the session of a job was shown, and the sessions that it was forked from.
fn of(
    paths: &Paths,
    project: &Path,
    first: (String, PathBuf, u64),
    log: impl Fn(&str),
) -> GivenPoints {
    let folder = paths.shown_points(project);
    let mut shown = ShownPoints::default();
    let mut is_of_here = false;
    let mut asked = BTreeSet::new();
    let mut root = first.0.clone();
    let mut sessions = vec![first];
    while let Some((session, transcript, end)) = sessions.pop() {
        if asked.len() >= MAX_SESSIONS || !asked.insert(session.clone()) {
            continue;
        }
        root.clone_from(&session);
        if let Some(record) = shown_record::read(&folder, &session) {
            // The user's own points are shown where no playbook is, too.
            is_of_here |= record.points.each().any(|(name, _)| !is_own_name(name));
            shown.add(record.points);
            if record.is_whole {
                continue;
            }
        }
        let beginnings = match transcript_file::beginnings(&transcript, 0, end) {
            Ok(beginnings) => beginnings,
            // The client keeps transcripts for a month, so an origin's may be gone.
            Err(error) if error.is_missing() => continue,
            Err(error) => {
                log(&error.to_string());
                continue;
            }
        };
        for text in &beginnings.given {
            shown.add(in_text(text));
        }
        let origins = beginnings.origins.into_iter().filter(|id| is_plain(id));
        sessions.extend(origins.map(|id| {
            let transcript = transcript.with_file_name(format!("{id}.jsonl"));
            (id, transcript, u64::MAX)
        }));
    }
    GivenPoints {
        shown,
        root,
        is_of_here,
    }
}

/// Returns `true` if an id from a transcript can be nothing but the stem of a file name.
fn is_plain(id: &str) -> bool {
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}
