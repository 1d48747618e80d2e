//! Which key points each session was shown, and so which of its verdicts are votes.
//!
//! session-start keeps one small file for each session. The worker reads it once for a job
//! and stores what it found with the job. A fork, whose own start shows nothing, has what the
//! session had that it was copied from. Of a session without a file the transcript tells, in
//! which the client notes what hooks gave; where that says nothing either, only cited points
//! get votes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::claim::lane_of;
use super::progress::Job;
use super::shop::Shop;
use crate::digest::name_of;
use crate::fsx::{self, FsError};
use crate::playbook::shown::ShownPoints;
use crate::playbook::tags::BulletTag;
use crate::playbook::votes::{Known, Votes, votes};
use crate::playbook::{Id, Playbook};
use crate::transcript::{self, Facts, Lane, is_disowned};

const VERSION: u32 = 1;
const MAX_FILE: u64 = 4 << 20;
/// How many sessions are asked: forks of forks of forks.
const MAX_SESSIONS: usize = 8;
/// The longest session id that may name a transcript.
const MAX_ID: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    v: u32,
    /// The session's transcript; the record is kept as long as that.
    transcript: PathBuf,
    /// Whether it goes back to the session's first start, so that nothing was shown before.
    is_whole: bool,
    points: ShownPoints,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// Its first: nothing was said before.
    New,
    /// A later one, or one of an unknown kind.
    Later,
}

/// Adds to the record of a session, in the project's `folder`, what `text` shows it.
pub(crate) fn add(
    folder: &Path,
    session: &str,
    transcript: &Path,
    start: Start,
    text: &str,
) -> Result<(), FsError> {
    let file = file(folder, session);
    let mut record = read(&file).unwrap_or_else(|| Record {
        v: VERSION,
        transcript: transcript.to_owned(),
        is_whole: start == Start::New,
        points: ShownPoints::default(),
    });
    record.points.add(ShownPoints::in_text(text));
    let bytes = serde_json::to_vec(&record).map_err(|e| FsError {
        action: "write".to_owned(),
        path: file.clone(),
        source: e.into(),
    })?;
    fsx::ensure_dir(folder)?;
    fsx::quick(&file, &bytes)
}

/// Tells whether the transcript of a record's session is still there.
pub(super) fn has_transcript(file: &Path) -> bool {
    read(file).is_some_and(|record| record.transcript.exists())
}

/// Stores with a job what its session was shown, unless it is stored already.
pub(super) fn remember(shop: &Shop, job: &mut Job, facts: &Facts) {
    if job.progress.shown.is_none() {
        let mut shown = of(shop, job);
        // A subagent has a context of its own, without what its session was shown.
        if lane_of(job.ticket.event, &job.ticket.transcript) == Lane::Subagent {
            shown.keep(|name| facts.citations.iter().any(|id| id.as_str() == name));
        }
        job.progress.shown = Some(shown);
    }
}

/// Takes from the playbook what a subagent did not cite: it has a context of its own, without
/// what its session was shown, and is not judged by that.
pub(super) fn only_cited(job: &Job, facts: &Facts, playbook: &mut Playbook) {
    if lane_of(job.ticket.event, &job.ticket.transcript) == Lane::Subagent {
        playbook.keep(|point| facts.citations.iter().any(|id| id.as_str() == point.name));
    }
}

pub(super) fn votes_of(job: &Job, facts: &Facts, tags: &[BulletTag], playbook: &Playbook) -> Votes {
    let nothing = ShownPoints::default();
    let known = Known {
        shown: job.progress.shown.as_ref().unwrap_or(&nothing),
        cited: &facts.citations,
        is_disowned: &|id: &Id| is_disowned(facts, id),
    };
    votes(tags, &known, playbook)
}

/// Gathers what the session of a job was shown, and the sessions that it was forked from.
fn of(shop: &Shop, job: &Job) -> ShownPoints {
    let folder = shop.paths.shown_points(&job.ticket.project);
    let mut shown = ShownPoints::default();
    let mut asked = BTreeSet::new();
    let end = job.progress.claim.as_ref().map_or(u64::MAX, |c| c.end);
    let mut sessions = vec![(
        job.ticket.session.clone(),
        job.ticket.transcript.clone(),
        end,
    )];
    while let Some((session, transcript, end)) = sessions.pop() {
        if asked.len() >= MAX_SESSIONS || !asked.insert(session.clone()) {
            continue;
        }
        if let Some(record) = read(&file(&folder, &session)) {
            shown.add(record.points);
            if record.is_whole {
                continue;
            }
        }
        let beginnings = match transcript::beginnings(&transcript, end) {
            Ok(beginnings) => beginnings,
            // The client keeps transcripts for a month, so an origin's may be gone.
            Err(error) if error.is_missing() => continue,
            Err(error) => {
                shop.log(job.ticket.id.as_str(), &error.to_string());
                continue;
            }
        };
        for text in &beginnings.given {
            shown.add(ShownPoints::in_text(text));
        }
        let origins = beginnings.origins.into_iter().filter(|id| is_plain(id));
        sessions.extend(origins.map(|id| {
            let transcript = transcript.with_file_name(format!("{id}.jsonl"));
            (id, transcript, u64::MAX)
        }));
    }
    shown
}

/// Tells whether an id from a transcript can be nothing but the stem of a file name.
fn is_plain(id: &str) -> bool {
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn file(folder: &Path, session: &str) -> PathBuf {
    folder.join(format!("{}.json", name_of(session.as_bytes())))
}

fn read(file: &Path) -> Option<Record> {
    let bytes = fsx::read_if_there(file, MAX_FILE).ok()??;
    let record: Record = serde_json::from_slice(&bytes).ok()?;
    (record.v == VERSION).then_some(record)
}
