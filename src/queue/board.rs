//! Which job is next: the worker's view of the spool, in memory.
//!
//! Each job file is read once. What is put off comes back at its time, so that a job
//! costs the same with one or ten thousand others waiting.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;

use super::job::{Event, JobId};
use super::progress::Job;

#[derive(Debug, Default)]
pub(super) struct Board {
    known: HashMap<JobId, Entry>,
    ready: BTreeSet<(Rank, JobId)>,
    later: BTreeSet<(Timestamp, JobId)>,
    /// Jobs of other accounts, when each is due; not ours to do.
    foreign: BTreeMap<JobId, (String, Timestamp)>,
    /// Jobs whose account is being tried by another one.
    held: Vec<JobId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    rank: Rank,
    due: Option<Timestamp>,
    pub(super) since: Timestamp,
    pub(super) is_ended_session: bool,
    pub(super) reason: Option<String>,
}

impl Entry {
    pub(super) fn of(job: &Job) -> Self {
        Self {
            rank: if job.is_in_doubt() {
                Rank::InDoubt
            } else {
                Rank::Ordinary
            },
            due: None,
            since: job.kept_since(),
            is_ended_session: job.ticket.event == Event::SessionEnd,
            reason: job.progress.waiting.as_ref().map(|w| w.reason.clone()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The playbook may hold its changes, and remembers only so many jobs.
    InDoubt,
    Ordinary,
}

impl Board {
    pub(super) fn knows(&self, id: &JobId) -> bool {
        self.known.contains_key(id)
    }

    pub(super) fn add(&mut self, id: JobId, entry: Entry, due: Option<Timestamp>) {
        let rank = entry.rank;
        self.known.insert(id.clone(), Entry { due, ..entry });
        match due {
            Some(due) => _ = self.later.insert((due, id)),
            None => _ = self.ready.insert((rank, id)),
        }
    }

    pub(super) fn add_foreign(&mut self, id: JobId, entry: Entry, account: String, due: Timestamp) {
        self.known.insert(id.clone(), entry);
        self.foreign.insert(id, (account, due));
    }

    /// Adds a file that is no job of this version: it is left alone.
    pub(super) fn pass_over(&mut self, id: JobId, since: Timestamp) {
        let entry = Entry {
            rank: Rank::Ordinary,
            due: None,
            since,
            is_ended_session: false,
            reason: None,
        };
        self.known.insert(id, entry);
    }

    /// The first job that is due; it is running from now on.
    pub(super) fn next(&mut self, now: Timestamp) -> Option<JobId> {
        while let Some((due, _)) = self.later.first()
            && *due <= now
        {
            let (_, id) = self.later.pop_first()?;
            self.make_ready(id);
        }
        self.ready.pop_first().map(|(_, id)| id)
    }

    fn make_ready(&mut self, id: JobId) {
        let rank = self.known.get(&id).map_or(Rank::Ordinary, |e| e.rank);
        self.ready.insert((rank, id));
    }

    /// A running job is gone from the spool.
    pub(super) fn done(&mut self, id: &JobId) {
        self.known.remove(id);
    }

    /// A job that does not run is to be looked at anew: its file has changed.
    pub(super) fn forget(&mut self, id: &JobId) {
        if let Some(entry) = self.known.remove(id) {
            self.ready.remove(&(entry.rank, id.clone()));
            if let Some(due) = entry.due {
                self.later.remove(&(due, id.clone()));
            }
            self.foreign.remove(id);
        }
    }

    /// A job is taken in hand by someone else: it stays known, and is not next.
    pub(super) fn set_aside(&mut self, id: &JobId) {
        let known = self.known.get(id).cloned();
        self.forget(id);
        if let Some(entry) = known {
            self.known.insert(id.clone(), Entry { due: None, ..entry });
        }
    }

    pub(super) fn wake(&mut self) {
        for (_, id) in std::mem::take(&mut self.later) {
            self.make_ready(id);
        }
    }

    /// Drops all jobs but `wanted` from what is to be done; that one is tried now, if it
    /// is ours.
    pub(super) fn keep_only(&mut self, wanted: Option<&JobId>) {
        let later = std::mem::take(&mut self.later);
        let ready = std::mem::take(&mut self.ready);
        let ours = later
            .into_iter()
            .chain(ready.into_iter().map(|(_, id)| (Timestamp::MIN, id)));
        for (_, id) in ours.filter(|(_, id)| Some(id) == wanted) {
            self.make_ready(id);
        }
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = &Entry> {
        let later = self.later.iter().map(|(_, id)| id);
        later
            .chain(self.foreign.keys())
            .filter_map(|id| self.known.get(id))
    }

    pub(super) fn put_off(&mut self, id: JobId, due: Timestamp, reason: Option<String>) {
        if let Some(entry) = self.known.get_mut(&id) {
            entry.due = Some(due);
            entry.reason = reason.or(entry.reason.take());
        }
        self.later.insert((due, id));
    }

    /// A job waits until the one that tries its account has ended.
    pub(super) fn hold(&mut self, id: JobId) {
        self.held.push(id);
    }

    /// A job has ended: what was held may try.
    pub(super) fn release_held(&mut self) {
        for id in std::mem::take(&mut self.held) {
            self.make_ready(id);
        }
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.later.first().map(|(due, _)| *due)
    }

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

    fn id(n: u32) -> JobId {
        JobId::new(at(0), n)
    }

    fn entry() -> Entry {
        Entry {
            rank: Rank::Ordinary,
            due: None,
            since: at(0),
            is_ended_session: true,
            reason: None,
        }
    }

    fn add(board: &mut Board, n: u32, due: Option<i64>) {
        board.add(id(n), entry(), due.map(at));
    }

    #[test]
    fn the_oldest_due_job_is_next_and_what_waits_holds_up_no_other() {
        let mut board = Board::default();
        add(&mut board, 3, None);
        add(&mut board, 1, Some(100));
        add(&mut board, 2, None);
        assert_eq!(board.next(at(50)), Some(id(2)));
        assert_eq!(board.next(at(50)), Some(id(3)));
        assert_eq!(board.next(at(50)), None);
        board.put_off(id(2), at(200), None);
        assert_eq!(board.next_due(), Some(at(100)));
        assert_eq!(board.next(at(100)), Some(id(1)));
        board.done(&id(1));
        assert!(!board.knows(&id(1)));
        assert_eq!(board.next(at(200)), Some(id(2)));
    }

    #[test]
    fn a_job_of_another_account_is_known_but_never_next() {
        let mut board = Board::default();
        board.add_foreign(id(1), entry(), "x".into(), at(9));
        board.add_foreign(id(2), entry(), "x".into(), at(5));
        assert!(board.knows(&id(1)));
        board.keep_only(Some(&id(1)));
        board.wake();
        assert_eq!(board.next(at(1000)), None);
        assert_eq!(
            board.foreign_due(),
            BTreeMap::from([("x".to_owned(), at(5))])
        );
    }

    #[test]
    fn what_the_playbook_may_hold_goes_first_and_one_job_alone_before_its_time() {
        let mut board = Board::default();
        add(&mut board, 1, None);
        let rank = Rank::InDoubt;
        board.add(id(2), Entry { rank, ..entry() }, None);
        assert_eq!(board.next(at(0)), Some(id(2)));
        add(&mut board, 3, Some(100));
        board.keep_only(Some(&id(3)));
        assert_eq!(board.next(at(0)), Some(id(3)));
        assert_eq!(board.next(at(1000)), None);
    }

    #[test]
    fn a_forgotten_job_is_news_and_a_held_one_waits_for_the_trial() {
        let mut board = Board::default();
        add(&mut board, 1, Some(5));
        board.forget(&id(1));
        assert!(!board.knows(&id(1)) && board.next(at(9)).is_none());
        add(&mut board, 2, None);
        let two = board.next(at(0)).unwrap();
        board.hold(two);
        assert_eq!(board.next(at(9)), None);
        board.release_held();
        assert_eq!(board.next(at(0)), Some(id(2)));
        board.put_off(id(2), at(9), Some("busy".to_owned()));
        assert_eq!(
            board.waiting().next().unwrap().reason.as_deref(),
            Some("busy")
        );
        board.wake();
        assert_eq!(board.next(at(0)), Some(id(2)));
    }
}
