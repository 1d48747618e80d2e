//! Which job is next: the worker's view of the spool, in memory.
//!
//! Each job file is read once. What is put off comes back at its time, so that a job
//! costs the same with one or ten thousand others waiting.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use jiff::Timestamp;

use super::backoff::own_pause;
use super::job::{JobEvent, JobId};
use super::progress::Job;

#[derive(Debug, Default)]
pub(super) struct Schedule {
    known: HashMap<JobId, ScheduledJob>,
    ready: BTreeSet<(Order, JobId)>,
    later: BTreeSet<(Timestamp, JobId)>,
}

#[derive(Debug, Clone)]
pub(super) struct ScheduledJob {
    order: Order,
    place: QueuePlace,
    pub(super) since: Timestamp,
    pub(super) is_ended_session: bool,
    /// Something that the user can change keeps it waiting, not its account.
    pub(super) is_stuck: bool,
    pub(super) reason: Option<String>,
}

#[derive(Debug, Clone)]
enum QueuePlace {
    /// Ready or running; or left alone.
    Here,
    Later(Timestamp),
    /// Another account is to answer it; a worker of that account may begin then.
    Foreign {
        account: String,
        due: Timestamp,
    },
}

/// Which of two ready jobs goes first: the earlier one in each field, then the lower id.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Order {
    rank: QueueRank,
    stage: Stage,
    /// In seconds, as ids count.
    born: i64,
    /// Empty for bootstrap, whose ids are in the order of its sessions.
    transcript: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum QueueRank {
    /// The playbook may hold its changes, and remembers only so many jobs.
    InDoubt,
    /// The user waits for it.
    ByHand,
    /// How often it was tried in vain: of those that wait for one account another one tries
    /// next, so that a session that a firewall stops does not stop all.
    Ordinary(u32),
}

/// What is ready of a later stage waits for the earlier ones: a curator's run costs the same for
/// the notes of one session or of ten, and a bootstrap goes on after all that is new.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    #[default]
    Session,
    Curator,
    Bootstrap,
}

/// Which jobs there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Any,
    /// What the user made by hand.
    ByHand,
    NotByHand,
}

impl Default for QueueRank {
    fn default() -> Self {
        Self::Ordinary(0)
    }
}

impl Order {
    fn of(job: &Job) -> Self {
        let ticket = &job.ticket;
        let is_bootstrap = ticket.event == JobEvent::Bootstrap;
        Self {
            rank: if job.is_in_doubt() {
                QueueRank::InDoubt
            } else if job.edit.is_some() {
                QueueRank::ByHand
            } else {
                QueueRank::Ordinary(job.progress.waiting.as_ref().map_or(0, |w| w.tries))
            },
            stage: if is_bootstrap {
                Stage::Bootstrap
            } else if job.curate.is_some() {
                Stage::Curator
            } else {
                Stage::Session
            },
            born: ticket.at.as_second(),
            transcript: if is_bootstrap {
                PathBuf::new()
            } else {
                ticket.transcript.clone()
            },
        }
    }
}

impl ScheduledJob {
    pub(super) fn of(job: &Job) -> Self {
        Self {
            order: Order::of(job),
            is_ended_session: job.ticket.event == JobEvent::SessionEnd,
            is_stuck: own_pause(job).is_some(),
            reason: job.progress.waiting.as_ref().map(|w| w.reason.clone()),
            ..Self::since(job.kept_since())
        }
    }

    fn since(since: Timestamp) -> Self {
        Self {
            order: Order::default(),
            place: QueuePlace::Here,
            since,
            is_ended_session: false,
            is_stuck: false,
            reason: None,
        }
    }
}

impl Schedule {
    pub(super) fn knows(&self, id: &JobId) -> bool {
        self.known.contains_key(id)
    }

    pub(super) fn add(&mut self, id: JobId, entry: ScheduledJob, due: Option<Timestamp>) {
        self.known.insert(id.clone(), entry);
        match due {
            Some(due) => self.put_off(id, due, None),
            None => self.make_ready(id),
        }
    }

    /// Adds a job that is left to a worker of its own account, which may begin when it is `due`.
    pub(super) fn add_foreign(
        &mut self,
        id: JobId,
        entry: ScheduledJob,
        account: String,
        due: Timestamp,
    ) {
        let place = QueuePlace::Foreign { account, due };
        self.known.insert(id, ScheduledJob { place, ..entry });
    }

    /// Returns when the jobs of each account become due that are left to other workers.
    pub(super) fn due_elsewhere(&self) -> BTreeMap<&str, Timestamp> {
        let mut first: BTreeMap<&str, Timestamp> = BTreeMap::new();
        for entry in self.known.values() {
            if let QueuePlace::Foreign { account, due } = &entry.place {
                let known = first.entry(account).or_insert(*due);
                *known = (*known).min(*due);
            }
        }
        first
    }

    /// Adds a file that is no job of this version: it is left alone.
    pub(super) fn pass_over(&mut self, id: JobId, since: Timestamp) {
        self.known.insert(id, ScheduledJob::since(since));
    }

    /// The first job that is due, of those that are `wanted`; it is running from now on.
    pub(super) fn next(&mut self, now: Timestamp, wanted: Wanted) -> Option<JobId> {
        self.wake_due(now);
        let is_wanted = |order: &Order| match wanted {
            Wanted::Any => true,
            Wanted::ByHand => order.rank == QueueRank::ByHand,
            Wanted::NotByHand => order.rank != QueueRank::ByHand,
        };
        let mut ready = self.ready.iter();
        let found = ready.find(|(order, _)| is_wanted(order))?.clone();
        self.ready.remove(&found);
        Some(found.1)
    }

    fn wake_due(&mut self, now: Timestamp) {
        while let Some((due, _)) = self.later.first()
            && *due <= now
        {
            if let Some((_, id)) = self.later.pop_first() {
                self.make_ready(id);
            }
        }
    }

    fn make_ready(&mut self, id: JobId) {
        if let Some(entry) = self.known.get_mut(&id) {
            entry.place = QueuePlace::Here;
            self.ready.insert((entry.order.clone(), id));
        }
    }

    /// A running job is gone from the spool.
    pub(super) fn done(&mut self, id: &JobId) {
        self.known.remove(id);
    }

    /// A job that does not run is to be looked at anew: its file has changed.
    pub(super) fn forget(&mut self, id: &JobId) {
        self.set_aside(id);
        self.known.remove(id);
    }

    /// A job is taken in hand by someone else: it stays known, and is not next.
    pub(super) fn set_aside(&mut self, id: &JobId) {
        if let Some(entry) = self.known.get_mut(id) {
            self.ready.remove(&(entry.order.clone(), id.clone()));
            if let QueuePlace::Later(due) = entry.place {
                self.later.remove(&(due, id.clone()));
            }
            entry.place = QueuePlace::Here;
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
        self.wake();
        self.ready.retain(|(_, id)| Some(id) == wanted);
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = &ScheduledJob> {
        let entries = self.known.values();
        entries.filter(|entry| !matches!(entry.place, QueuePlace::Here))
    }

    /// A job has been tried in vain, and is put off.
    pub(super) fn tried(&mut self, id: JobId, due: Timestamp, reason: String) {
        if let Some(entry) = self.known.get_mut(&id)
            && let QueueRank::Ordinary(tries) = &mut entry.order.rank
        {
            *tries += 1;
        }
        self.put_off(id, due, Some(reason));
    }

    /// Notes that a job waits for something that the user can change.
    pub(super) fn is_stuck(&mut self, id: &JobId) {
        if let Some(entry) = self.known.get_mut(id) {
            entry.is_stuck = true;
        }
    }

    pub(super) fn put_off(&mut self, id: JobId, due: Timestamp, reason: Option<String>) {
        if let Some(entry) = self.known.get_mut(&id) {
            entry.place = QueuePlace::Later(due);
            entry.reason = reason.or(entry.reason.take());
            self.later.insert((due, id));
        }
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.later.first().map(|(due, _)| *due)
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

    fn add(schedule: &mut Schedule, n: u32, due: Option<i64>) {
        schedule.add(id(n), ScheduledJob::since(at(0)), due.map(at));
    }

    #[test]
    fn what_is_in_doubt_goes_first_then_the_oldest_and_what_waits_holds_up_no_other() {
        let mut schedule = Schedule::default();
        add(&mut schedule, 3, None);
        add(&mut schedule, 1, Some(100));
        add(&mut schedule, 2, None);
        let mut doubtful = ScheduledJob::since(at(0));
        doubtful.order.rank = QueueRank::InDoubt;
        schedule.add(id(4), doubtful, Some(at(50)));
        let next = [0, 50, 50, 50].map(|now| schedule.next(at(now), Wanted::Any));
        assert_eq!(next, [Some(id(2)), Some(id(4)), Some(id(3)), None]);
        schedule.put_off(id(2), at(200), Some("busy".to_owned()));
        let waits: Vec<_> = schedule
            .waiting()
            .map(|entry| entry.reason.clone())
            .collect();
        assert!(waits.len() == 2 && waits.contains(&Some("busy".to_owned())));
        assert_eq!(
            (schedule.next_due(), schedule.next(at(99), Wanted::Any)),
            (Some(at(100)), None)
        );
        assert_eq!(schedule.next(at(100), Wanted::Any), Some(id(1)));
        schedule.done(&id(1));
        assert!(!schedule.knows(&id(1)));
        schedule.forget(&id(2));
        assert!(!schedule.knows(&id(2)) && schedule.waiting().next().is_none());
        assert_eq!(schedule.next(at(200), Wanted::Any), None);
    }

    #[test]
    fn what_was_tried_in_vain_lets_the_others_go_first() {
        let mut schedule = Schedule::default();
        add(&mut schedule, 1, None);
        add(&mut schedule, 2, Some(9));
        let first = schedule.next(at(0), Wanted::Any).unwrap();
        schedule.tried(first, at(9), "busy".to_owned());
        let next = [9, 9].map(|now| schedule.next(at(now), Wanted::Any));
        assert_eq!(next, [Some(id(2)), Some(id(1))]);
    }

    #[test]
    fn one_job_alone_goes_before_its_time_and_never_one_of_another_account() {
        let mut schedule = Schedule::default();
        for (job, due) in [(9, 20), (8, 10)] {
            let entry = ScheduledJob::since(at(0));
            schedule.add_foreign(id(job), entry, "other".to_owned(), at(due));
        }
        assert_eq!(
            schedule.due_elsewhere(),
            BTreeMap::from([("other", at(10))])
        );
        add(&mut schedule, 1, None);
        add(&mut schedule, 3, Some(100));
        schedule.keep_only(Some(&id(3)));
        assert_eq!(
            [
                schedule.next(at(0), Wanted::Any),
                schedule.next(at(1000), Wanted::Any)
            ],
            [Some(id(3)), None]
        );
    }
}
