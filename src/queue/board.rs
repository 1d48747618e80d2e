//! Which job is next: the worker's view of the spool, in memory.
//!
//! Each job file is read once. What is put off comes back at its time, so that a job
//! costs the same with ten or ten thousand others waiting.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use jiff::Timestamp;

use super::job::JobId;

/// Jobs that are known, by what they wait for.
#[derive(Debug, Default)]
pub(super) struct Board {
    known: HashSet<JobId>,
    ready: BTreeSet<JobId>,
    later: BTreeSet<(Timestamp, JobId)>,
    /// Jobs of other accounts, when each is due; not ours to do.
    foreign: BTreeMap<JobId, (String, Timestamp)>,
    running: HashSet<JobId>,
}

impl Board {
    /// Tells whether a job has been seen.
    pub(super) fn knows(&self, id: &JobId) -> bool {
        self.known.contains(id)
    }

    /// Adds a job that is due at `due`, or at once.
    pub(super) fn add(&mut self, id: JobId, due: Option<Timestamp>) {
        self.known.insert(id.clone());
        match due {
            Some(due) => _ = self.later.insert((due, id)),
            None => _ = self.ready.insert(id),
        }
    }

    /// Adds a job that another account is to answer.
    pub(super) fn add_foreign(&mut self, id: JobId, account: String, due: Timestamp) {
        self.known.insert(id.clone());
        self.foreign.insert(id, (account, due));
    }

    /// Adds a file that is no job of this version: it is left alone.
    pub(super) fn pass_over(&mut self, id: JobId) {
        self.known.insert(id);
    }

    /// The oldest job that is due; it is running from now on.
    pub(super) fn next(&mut self, now: Timestamp) -> Option<JobId> {
        while let Some((due, _)) = self.later.first()
            && *due <= now
        {
            let (_, id) = self.later.pop_first()?;
            self.ready.insert(id);
        }
        let id = self.ready.pop_first()?;
        self.running.insert(id.clone());
        Some(id)
    }

    /// A running job is gone from the spool.
    pub(super) fn done(&mut self, id: &JobId) {
        self.running.remove(id);
        self.known.remove(id);
    }

    /// A job cannot be read any more; it is not looked at again.
    pub(super) fn lose(&mut self, id: &JobId) {
        self.running.remove(id);
    }

    /// Drops all other jobs from the board.
    pub(super) fn keep_only(&mut self, wanted: &JobId) {
        self.ready.retain(|id| id == wanted);
        self.later.clear();
        if self.known.contains(wanted) {
            self.ready.insert(wanted.clone());
        }
    }

    /// How many jobs wait.
    pub(super) fn waiting(&self) -> usize {
        self.later.len() + self.foreign.len()
    }

    /// A running job waits until `due`.
    pub(super) fn put_off(&mut self, id: JobId, due: Timestamp) {
        self.running.remove(&id);
        self.later.insert((due, id));
    }

    /// Tells whether a job could be started without looking at the spool.
    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// When the next of our own waiting jobs is due.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.later.first().map(|(due, _)| *due)
    }

    /// When the next job of each other account is due.
    pub(super) fn foreign_due(&self) -> BTreeMap<String, Timestamp> {
        let mut due = BTreeMap::new();
        for (account, at) in self.foreign.values() {
            let earliest = due.entry(account.clone()).or_insert(*at);
            *earliest = (*earliest).min(*at);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn id(n: i64) -> JobId {
        JobId::new(at(n), 0)
    }

    #[test]
    fn the_oldest_due_job_is_next_and_what_waits_holds_up_no_other() {
        let mut board = Board::default();
        board.add(id(3), None);
        board.add(id(1), Some(at(100)));
        board.add(id(2), None);
        assert_eq!(board.next(at(50)), Some(id(2)));
        assert_eq!(board.next(at(50)), Some(id(3)));
        assert_eq!(board.next(at(50)), None);
        board.put_off(id(2), at(200));
        assert_eq!(board.next_due(), Some(at(100)));
        assert_eq!(board.next(at(100)), Some(id(1)));
        board.done(&id(1));
        assert!(!board.knows(&id(1)));
        assert_eq!(board.next(at(200)), Some(id(2)));
    }

    #[test]
    fn a_job_of_another_account_is_known_but_never_next() {
        let mut board = Board::default();
        board.add_foreign(id(1), "x".into(), at(9));
        board.add_foreign(id(2), "x".into(), at(5));
        assert!(board.knows(&id(1)));
        assert_eq!(board.next(at(1000)), None);
        assert_eq!(
            board.foreign_due(),
            BTreeMap::from([("x".to_owned(), at(5))])
        );
    }
}
