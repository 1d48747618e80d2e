//! What the jobs in the spool have claimed of transcripts, so that no other claims it.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::job::JobId;
use super::progress::JobInProgress;

/// What the jobs in the spool have claimed.
///
/// What those in `failed/` have claimed stands in the database: a job that goes there
/// takes its place and its records with it.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    ends: HashMap<PathBuf, Vec<(JobId, Reached)>>,
    owners: HashMap<PathBuf, HashMap<u64, JobId>>,
    /// Transcripts that a job of a newer version may have claimed.
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
    pub(crate) fn add(&mut self, job: &JobInProgress) {
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

    pub(crate) fn remove(&mut self, job: &JobInProgress) {
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

    /// Leaves a transcript to a newer version, whose job for it cannot be read.
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
        self.ends
            .get(transcript)?
            .iter()
            .filter(|(owner, _)| owner != own)
            .map(|(_, reached)| *reached)
            .max()
    }

    pub(super) fn is_owned(&self, project: &Path, hash: u64, own: &JobId) -> bool {
        let owner = self
            .owners
            .get(project)
            .and_then(|owners| owners.get(&hash));
        owner.is_some_and(|owner| owner != own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    /// As when it could not be saved, and the job is read from its file as it was before.
    #[test]
    fn what_a_job_has_claimed_itself_is_not_claimed_by_another() {
        let (own, other) = (
            JobId::new(Timestamp::UNIX_EPOCH, 1),
            JobId::new(Timestamp::UNIX_EPOCH, 2),
        );
        let (transcript, project) = (Path::new("/t"), Path::new("/p"));
        let reached = Reached {
            generation: 2,
            end: 100,
            first_record: Some(7),
        };
        let mut claims = Claims::default();
        claims
            .ends
            .insert(transcript.to_owned(), vec![(own.clone(), reached)]);
        claims
            .owners
            .insert(project.to_owned(), HashMap::from([(7, own.clone())]));
        assert_eq!(claims.furthest(transcript, &own), None);
        assert_eq!(claims.furthest(transcript, &other), Some(reached));
        assert!(!claims.is_owned(project, 7, &own) && claims.is_owned(project, 7, &other));
    }
}
