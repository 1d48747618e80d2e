//! Claims a job's own part of a transcript: every byte and every record once.
//!
//! A claim starts at the highest end ever claimed for its transcript, by a recorded or failed job
//! (the cursor) or by one still in the spool. Records that another job claimed before are copies,
//! as a fork or a resume makes them, and do not count.

use std::collections::{HashMap, HashSet};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::context::Worker;
use super::job::{JobEvent, JobId};
use super::progress::{Job, JobClaim};
use super::spool::job_file;
use super::{QueueError, Result, open_session};
use crate::fsx::{self, FsContext as _, FsError};
use crate::memory::{JobOutcome, Memory, MemoryError, RecordMark};
use crate::redact::{self, Secrecy};
use crate::store::Snapshots;
use crate::transcript::{Digest, Lane, Range, ReadOptions, RecordHash};
use crate::{telemetry, transcript_file};

/// The number of bytes that distinguish a first record from another.
const FIRST_RECORD_BYTES: u64 = 64 << 10;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ClaimError {
    #[error(transparent)]
    Transcript(FsError),
    #[error(transparent)]
    Passing(#[from] QueueError),
    #[error("a job of a newer version comes first: {}", .0.display())]
    Closed(PathBuf),
}

impl From<MemoryError> for ClaimError {
    fn from(error: MemoryError) -> Self {
        Self::Passing(error.into())
    }
}

/// Finds and reads the job's own part of the transcript; `None` if nothing is new. The caller makes
/// sure that no other job of the project or transcript is claimed or recorded meanwhile.
pub(crate) fn claim(
    job: &Job,
    context: &Worker,
    secrecy: Secrecy,
) -> Result<Option<(JobClaim, Digest)>, ClaimError> {
    let path = &job.ticket.transcript;
    if context.claims().is_closed(path) {
        return Err(ClaimError::Closed(path.clone()));
    }
    let (first_record, length) = beginning(path).map_err(ClaimError::Transcript)?;
    // A connection of its own: a long read must not hold up the other jobs.
    let mut memory = context.memory().another()?;
    notice_loss(context, &mut memory, &job.ticket.project)?;
    let recorded = memory.cursor(&path.to_string_lossy())?;
    let recorded = recorded.map(|cursor| Reached {
        generation: cursor.generation,
        end: cursor.end,
        first_record: cursor.first_record,
    });
    let reached = recorded.max(context.claims().furthest(path, &job.ticket.id));
    let (generation, start) = begin(reached, first_record, length);
    let end = transcript_file::complete_end(path, start).map_err(ClaimError::Transcript)?;
    if end <= start {
        return Ok(None);
    }
    // What was there before we were is old: only its hash tells whether it is known.
    let is_wanted = matches!(job.ticket.event, JobEvent::Reflect | JobEvent::Bootstrap);
    let takes_old_records = is_wanted && reached.is_none();
    let counted = counted_until(context, &memory, job)?;
    let mut known = memory.known_records(&job.ticket.project.to_string_lossy())?;
    known.lost_at_most(counted);
    let mut broken = None;
    let mut records = Vec::new();
    let mut is_copy = |hash: RecordHash, time: Option<Timestamp>| {
        let mark = RecordMark { hash: hash.0, time };
        let recorded = if takes_old_records {
            known.is_known(mark)
        } else {
            known.is_copy(mark)
        };
        let copy = recorded.unwrap_or_else(|error| {
            broken.get_or_insert(error);
            true
        }) || context
            .claims()
            .is_owned(&job.ticket.project, hash.0, &job.ticket.id);
        if !copy {
            // As precise as its file has it.
            let time = time.map(Timestamp::as_millisecond);
            let time = time.and_then(|ms| Timestamp::from_millisecond(ms).ok());
            records.push(RecordMark { time, ..mark });
        }
        copy
    };
    let digest = transcript_file::scan(
        path,
        Range { start, end },
        &options(job, context, secrecy),
        &mut is_copy,
    )
    .map_err(ClaimError::Transcript)?;
    if let Some(error) = broken {
        return Err(error.into());
    }
    let claim = JobClaim {
        generation,
        start,
        end,
        first_record,
        records,
    };
    // Copies and bookkeeping alone are nothing, as in a fork that was left at once.
    Ok((digest.stats.read > 0).then_some((claim, digest)))
}

/// Reads a part again that was claimed before: exactly the records it claimed.
pub(crate) fn read_again(
    job: &Job,
    claim: &JobClaim,
    context: &Worker,
    secrecy: Secrecy,
) -> Result<Digest, FsError> {
    let own: HashSet<u64> = claim.records.iter().map(|record| record.hash).collect();
    let range = Range {
        start: claim.start,
        end: claim.end,
    };
    transcript_file::scan(
        &job.ticket.transcript,
        range,
        &options(job, context, secrecy),
        &mut |hash, _| !own.contains(&hash.0),
    )
}

fn options(job: &Job, context: &Worker, secrecy: Secrecy) -> ReadOptions {
    let home = context.paths().home().and_then(Path::to_str);
    ReadOptions {
        lane: lane_of(job.ticket.event, &job.ticket.transcript),
        home: home.map(str::to_owned),
        secrecy,
        attended: job.ticket.attended,
        ..ReadOptions::default()
    }
}

/// Returns the lane of a transcript's messages; a subagent's own file has them as side talk.
pub(crate) fn lane_of(event: JobEvent, transcript: &Path) -> Lane {
    let is_subagents = transcript.parent().and_then(Path::file_name) == Some("subagents".as_ref());
    if event == JobEvent::SubagentStop || is_subagents {
        Lane::Subagent
    } else {
        Lane::Session
    }
}

/// Returns where the claim begins: after what was reached, or at 0 in a file that was replaced.
fn begin(reached: Option<Reached>, first_record: Option<u64>, length: u64) -> (u64, u64) {
    let Some(reached) = reached else {
        return (0, 0);
    };
    let are_known = reached.first_record.is_some() && first_record.is_some();
    if are_known && reached.first_record != first_record || length < reached.end {
        (reached.generation + 1, 0)
    } else {
        (reached.generation, reached.end)
    }
}

/// Returns the hash of the first record, if it is complete, and the length.
fn beginning(path: &Path) -> Result<(Option<u64>, u64), FsError> {
    let mut bytes = Vec::new();
    let mut read = || {
        let file = fsx::open_regular(path)?;
        let length = file.metadata()?.len();
        file.take(FIRST_RECORD_BYTES).read_to_end(&mut bytes)?;
        Ok(length)
    };
    let length = read().context("read transcript", path)?;
    let end = memchr::memchr(b'\n', &bytes);
    let is_cut = bytes.len() as u64 == FIRST_RECORD_BYTES;
    let end = end.or(is_cut.then_some(bytes.len()));
    let hash = end.map(|end| Sha256::digest(&bytes[..end]));
    let first = hash.and_then(|hash| hash.first_chunk().copied());
    Ok((first.map(u64::from_be_bytes), length))
}

/// The claims of the jobs in the spool; the database holds those of jobs in `failed/`.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    ends: HashMap<PathBuf, Vec<(JobId, Reached)>>,
    owners: HashMap<PathBuf, HashMap<u64, JobId>>,
    closed: HashSet<PathBuf>,
}

/// A place reached in a transcript; greater is further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reached {
    pub(super) generation: u64,
    pub(super) end: u64,
    pub(super) first_record: Option<u64>,
}

impl Claims {
    pub(crate) fn add(&mut self, job: &Job) {
        let Some(claim) = &job.progress.claim else {
            return;
        };
        let reached = Reached {
            generation: claim.generation,
            end: claim.end,
            first_record: claim.first_record,
        };
        let id = &job.ticket.id;
        let ends = self.ends.entry(job.ticket.transcript.clone()).or_default();
        ends.retain(|(owner, _)| owner != id);
        ends.push((id.clone(), reached));
        let owners = self.owners.entry(job.ticket.project.clone()).or_default();
        for record in &claim.records {
            owners.entry(record.hash).or_insert_with(|| id.clone());
        }
    }

    pub(crate) fn remove(&mut self, job: &Job) {
        let id = &job.ticket.id;
        if let Some(ends) = self.ends.get_mut(&job.ticket.transcript) {
            ends.retain(|(owner, _)| owner != id);
        }
        if let (Some(owners), Some(claim)) = (
            self.owners.get_mut(&job.ticket.project),
            &job.progress.claim,
        ) {
            for record in &claim.records {
                if owners.get(&record.hash) == Some(id) {
                    owners.remove(&record.hash);
                }
            }
        }
    }

    pub(crate) fn close(&mut self, transcript: PathBuf) {
        self.closed.insert(transcript);
    }

    pub(super) fn is_closed(&self, transcript: &Path) -> bool {
        self.closed.contains(transcript)
    }

    pub(super) fn has(&self, id: &JobId) -> bool {
        self.ends.values().flatten().any(|(owner, _)| owner == id)
    }

    pub(super) fn furthest(&self, transcript: &Path, own: &JobId) -> Option<Reached> {
        let ends = self.ends.get(transcript)?.iter();
        let of_others = ends.filter(|(owner, _)| owner != own);
        of_others.map(|(_, reached)| *reached).max()
    }

    pub(super) fn is_owned(&self, project: &Path, hash: u64, own: &JobId) -> bool {
        let owners = self.owners.get(project);
        owners.is_some_and(|owners| owners.get(&hash).is_some_and(|owner| owner != own))
    }
}

/// The outcomes of jobs whose part of a transcript counts as done.
const COVERS: [JobOutcome; 3] = [JobOutcome::Applied, JobOutcome::Failed, JobOutcome::Dropped];

/// Notes until when all of a project has counted, if a snapshot names a job that is not known.
pub(super) fn notice_loss(context: &Worker, memory: &mut Memory, project: &Path) -> Result {
    let name = project.to_string_lossy();
    if let Some(until) = lost_until(context, memory, project)?
        && memory.begin_anew(&name, until, &open_in(context, project)?, context.now())?
    {
        let what = format!("the memory of {name} is new: what sessions said until {until} counted");
        context.log("worker", &what);
    }
    Ok(())
}

/// Returns until when a session has counted by a memory that is gone. Of one that waited or was
/// open then, only what earlier jobs took has counted; the log of reflections names those.
pub(super) fn counted_until(
    context: &Worker,
    memory: &Memory,
    job: &Job,
) -> Result<Timestamp, ClaimError> {
    let ticket = &job.ticket;
    let born = ticket.at.checked_sub(SignedDuration::from_millis(1));
    let name = ticket.project.to_string_lossy();
    let lost_since = memory.begun_anew(born.unwrap_or(Timestamp::MIN))?;
    let has_waited = lost_since.iter().any(|(project, _)| *project == name);
    if !has_waited && !memory.was_open_then(&name, &ticket.session)? {
        return Ok(Timestamp::MAX);
    }
    let beginnings = transcript_file::beginnings(&ticket.transcript, 0, u64::MAX);
    let origins = beginnings.map_err(ClaimError::Transcript)?.origins;
    let sessions = std::iter::once(&ticket.session).chain(&origins);
    let sessions: Vec<String> = sessions.map(|id| redact::mask(id).into_owned()).collect();
    let last = telemetry::reflections(context.paths())
        .filter(|line| sessions.iter().any(|id| line["turn"] == id.as_str()))
        .filter(|line| COVERS.iter().any(|end| line["outcome"] == end.word()))
        .filter_map(|line| JobId::parse(line["job"].as_str()?)?.time())
        .max();
    // The name of a job has its second.
    let last = last.and_then(|time| time.checked_add(SignedDuration::from_secs(1)).ok());
    Ok(last.unwrap_or(Timestamp::MIN))
}

fn open_in(context: &Worker, project: &Path) -> Result<Vec<String>, FsError> {
    let marks = open_session::all(context.paths())?.into_iter();
    let ours = marks.filter(|mark| mark.project == project);
    Ok(ours.map(|mark| mark.session).collect())
}

/// Returns the time of the newest snapshot whose job is neither known nor in progress.
fn lost_until(context: &Worker, memory: &Memory, project: &Path) -> Result<Option<Timestamp>> {
    let snapshots = Snapshots::new(&context.paths().project(project));
    let list = match snapshots.list() {
        // What is no folder holds none.
        Err(error) if error.source.kind() == ErrorKind::NotADirectory => return Ok(None),
        list => list?,
    };
    for job in list.iter().rev().map(|snapshot| &snapshot.job) {
        let id = JobId::parse(job);
        let is_under_way = id.is_some_and(|id| job_file(&context.paths().spool(), &id).exists());
        if is_under_way || memory.job(job)?.is_some() {
            continue;
        }
        let bytes = snapshots.read(job)?.unwrap_or_default();
        let playbook: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let written = playbook["last_updated"].as_str();
        if let Some(written) = written.and_then(|time| time.parse::<Timestamp>().ok()) {
            return Ok(Some(written.min(context.now())));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const REACHED: Reached = Reached {
        generation: 2,
        end: 100,
        first_record: Some(7),
    };

    #[rstest]
    #[case::first_time(None, Some(7), 50, (0, 0))]
    #[case::grown(Some(REACHED), Some(7), 150, (2, 100))]
    #[case::unchanged(Some(REACHED), Some(7), 100, (2, 100))]
    #[case::shrunk(Some(REACHED), Some(7), 99, (3, 0))]
    #[case::replaced(Some(REACHED), Some(8), 150, (3, 0))]
    #[case::first_record_not_known(Some(REACHED), None, 150, (2, 100))]
    fn a_claim_begins_where_the_last_ended_or_anew(
        #[case] reached: Option<Reached>,
        #[case] first: Option<u64>,
        #[case] length: u64,
        #[case] begins: (u64, u64),
    ) {
        assert_eq!(begin(reached, first, length), begins);
    }

    /// The job is read from its file as it was before, as if it could not be saved.
    #[test]
    fn what_a_job_has_claimed_itself_is_not_claimed_by_another() {
        let (own, other) = (
            JobId::new(Timestamp::UNIX_EPOCH, 1),
            JobId::new(Timestamp::UNIX_EPOCH, 2),
        );
        let (transcript, project) = (Path::new("/t"), Path::new("/p"));
        let mut claims = Claims::default();
        claims
            .ends
            .insert(transcript.to_owned(), vec![(own.clone(), REACHED)]);
        claims
            .owners
            .insert(project.to_owned(), HashMap::from([(7, own.clone())]));
        assert_eq!(claims.furthest(transcript, &own), None);
        assert_eq!(claims.furthest(transcript, &other), Some(REACHED));
        assert!(!claims.is_owned(project, 7, &own) && claims.is_owned(project, 7, &other));
    }
}
