//! The order of jobs: the worker's view of the spool, in memory. Each job file is read once.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;

use jiff::Timestamp;

use super::backoff::own_pause;
use super::job::{JobEvent, JobId};
use super::progress::Job;

#[derive(Debug, Default)]
pub(super) struct Schedule {
    known: HashMap<JobId, ScheduledJob>,
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum QueuePlace {
    Ready,
    /// Running, or left alone.
    Taken,
    Later(Timestamp),
    /// Another account is to answer it; a worker of that account may begin then.
    Foreign(String, Timestamp),
}

/// The order of ready jobs: the lower goes first in each field, then the lower id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Order {
    rank: QueueRank,
    stage: Stage,
    born: i64,
    /// Empty for bootstrap, whose ids are in the order of its sessions.
    transcript: OsString,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum QueueRank {
    /// The playbook may hold its changes, and remembers only so many jobs.
    InDoubt,
    ByHand,
    /// Failed tries: a session that a firewall stops lets the others of its account go first.
    Ordinary(u32),
}

/// The stage of a job; those of a later stage wait. A curator's run costs the same for the notes of
/// one session or of ten, and a bootstrap continues after all new sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Session,
    Curator,
    Bootstrap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Any,
    ByHand,
    NotByHand,
}

impl ScheduledJob {
    pub(super) fn of(job: &Job) -> Self {
        let (ticket, waiting) = (&job.ticket, job.progress.waiting.as_ref());
        let is_bootstrap = ticket.event == JobEvent::Bootstrap;
        let order = Order {
            rank: match waiting {
                _ if job.is_in_doubt() => QueueRank::InDoubt,
                _ if job.edit.is_some() => QueueRank::ByHand,
                waiting => QueueRank::Ordinary(waiting.map_or(0, |waiting| waiting.tries)),
            },
            stage: match &job.curate {
                _ if is_bootstrap => Stage::Bootstrap,
                Some(_) => Stage::Curator,
                None => Stage::Session,
            },
            born: ticket.at.as_second(),
            transcript: if is_bootstrap {
                OsString::new()
            } else {
                ticket.transcript.clone().into_os_string()
            },
        };
        Self {
            order,
            is_ended_session: ticket.event == JobEvent::SessionEnd,
            is_stuck: own_pause(job).is_some(),
            reason: waiting.map(|waiting| waiting.reason.clone()),
            ..Self::left_alone(job.kept_since())
        }
    }

    /// An entry for a file that is no job of this version.
    pub(super) fn left_alone(since: Timestamp) -> Self {
        Self {
            order: Order {
                rank: QueueRank::Ordinary(0),
                stage: Stage::Session,
                born: 0,
                transcript: OsString::new(),
            },
            place: QueuePlace::Taken,
            since,
            is_ended_session: false,
            is_stuck: false,
            reason: None,
        }
    }

    fn is_ready(&self, now: Timestamp) -> bool {
        match self.place {
            QueuePlace::Ready => true,
            QueuePlace::Later(due) => due <= now,
            QueuePlace::Taken | QueuePlace::Foreign(..) => false,
        }
    }
}

impl Schedule {
    pub(super) fn knows(&self, id: &JobId) -> bool {
        self.known.contains_key(id)
    }

    pub(super) fn add(&mut self, id: JobId, entry: ScheduledJob, place: QueuePlace) {
        self.known.insert(id, ScheduledJob { place, ..entry });
    }

    /// Returns when the jobs of each account become due that are left to other workers.
    pub(super) fn due_elsewhere(&self) -> BTreeMap<&str, Timestamp> {
        let mut first: BTreeMap<&str, Timestamp> = BTreeMap::new();
        for entry in self.known.values() {
            if let QueuePlace::Foreign(account, due) = &entry.place {
                let known = first.entry(account).or_insert(*due);
                *known = (*known).min(*due);
            }
        }
        first
    }

    /// The first job that is due, of those that are `wanted`; it is running from now on.
    pub(super) fn next(&mut self, now: Timestamp, wanted: Wanted) -> Option<JobId> {
        let is_wanted = |entry: &ScheduledJob| match wanted {
            Wanted::Any => true,
            Wanted::ByHand => entry.order.rank == QueueRank::ByHand,
            Wanted::NotByHand => entry.order.rank != QueueRank::ByHand,
        };
        let ready = self.known.iter_mut();
        let ready = ready.filter(|(_, entry)| entry.is_ready(now) && is_wanted(entry));
        let (id, entry) = ready.min_by(|(a, one), (b, other)| {
            let by_order = one.order.cmp(&other.order);
            by_order.then_with(|| a.cmp(b))
        })?;
        entry.place = QueuePlace::Taken;
        Some(id.clone())
    }

    /// A job is gone from the spool, or its file has changed and is to be looked at again.
    pub(super) fn forget(&mut self, id: &JobId) {
        self.known.remove(id);
    }

    /// A job is taken in hand by someone else: it stays known, and is not next.
    pub(super) fn set_aside(&mut self, id: &JobId) {
        if let Some(entry) = self.known.get_mut(id) {
            entry.place = QueuePlace::Taken;
        }
    }

    pub(super) fn wake(&mut self) {
        for entry in self.known.values_mut() {
            if matches!(entry.place, QueuePlace::Later(_)) {
                entry.place = QueuePlace::Ready;
            }
        }
    }

    /// Leaves only `wanted` to be done, at once.
    pub(super) fn keep_only(&mut self, wanted: Option<&JobId>) {
        self.wake();
        for (id, entry) in &mut self.known {
            if entry.place == QueuePlace::Ready && Some(id) != wanted {
                entry.place = QueuePlace::Taken;
            }
        }
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = &ScheduledJob> {
        let waits =
            |place: &QueuePlace| matches!(place, QueuePlace::Later(_) | QueuePlace::Foreign(..));
        self.known.values().filter(move |entry| waits(&entry.place))
    }

    pub(super) fn tried(&mut self, id: &JobId, due: Timestamp, reason: String, is_stuck: bool) {
        if let Some(entry) = self.known.get_mut(id) {
            if let QueueRank::Ordinary(tries) = &mut entry.order.rank {
                *tries += 1;
            }
            entry.is_stuck |= is_stuck;
        }
        self.put_off(id, due, Some(reason));
    }

    pub(super) fn put_off(&mut self, id: &JobId, due: Timestamp, reason: Option<String>) {
        if let Some(entry) = self.known.get_mut(id) {
            entry.place = QueuePlace::Later(due);
            entry.reason = reason.or(entry.reason.take());
        }
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        let due = self.known.values().filter_map(|entry| match entry.place {
            QueuePlace::Later(due) => Some(due),
            _ => None,
        });
        due.min()
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

    fn add(schedule: &mut Schedule, n: u32, place: QueuePlace) {
        schedule.add(id(n), ScheduledJob::left_alone(at(0)), place);
    }

    #[test]
    fn what_is_in_doubt_goes_first_then_the_oldest_and_what_waits_holds_up_no_other() {
        let mut schedule = Schedule::default();
        add(&mut schedule, 3, QueuePlace::Ready);
        add(&mut schedule, 1, QueuePlace::Later(at(100)));
        add(&mut schedule, 2, QueuePlace::Ready);
        let mut doubtful = ScheduledJob::left_alone(at(0));
        doubtful.order.rank = QueueRank::InDoubt;
        schedule.add(id(4), doubtful, QueuePlace::Later(at(50)));
        let next = [0, 50, 50, 50].map(|now| schedule.next(at(now), Wanted::Any));
        assert_eq!(next, [Some(id(2)), Some(id(4)), Some(id(3)), None]);
        schedule.put_off(&id(2), at(200), Some("busy".to_owned()));
        let waits: Vec<_> = schedule
            .waiting()
            .map(|entry| entry.reason.as_deref())
            .collect();
        assert!(waits.len() == 2 && waits.contains(&Some("busy")));
        assert_eq!(schedule.next_due(), Some(at(100)));
        let next = [99, 100].map(|now| schedule.next(at(now), Wanted::Any));
        assert_eq!(next, [None, Some(id(1))]);
        schedule.forget(&id(2));
        assert!(!schedule.knows(&id(2)) && schedule.waiting().next().is_none());
        assert_eq!(schedule.next(at(200), Wanted::Any), None);
    }

    #[test]
    fn what_failed_lets_the_others_go_first() {
        let mut schedule = Schedule::default();
        add(&mut schedule, 1, QueuePlace::Ready);
        add(&mut schedule, 2, QueuePlace::Later(at(9)));
        let first = schedule.next(at(0), Wanted::Any).unwrap();
        schedule.tried(&first, at(9), "busy".to_owned(), false);
        let next = [9, 9].map(|now| schedule.next(at(now), Wanted::Any));
        assert_eq!(next, [Some(id(2)), Some(id(1))]);
    }

    #[test]
    fn one_job_alone_goes_before_its_time_and_never_one_of_another_account() {
        let mut schedule = Schedule::default();
        for (job, due) in [(9, 20), (8, 10)] {
            add(
                &mut schedule,
                job,
                QueuePlace::Foreign("other".to_owned(), at(due)),
            );
        }
        let elsewhere = schedule.due_elsewhere();
        assert_eq!(elsewhere, BTreeMap::from([("other", at(10))]));
        add(&mut schedule, 1, QueuePlace::Ready);
        add(&mut schedule, 3, QueuePlace::Later(at(100)));
        schedule.keep_only(Some(&id(3)));
        let next = [0, 1000].map(|now| schedule.next(at(now), Wanted::Any));
        assert_eq!(next, [Some(id(3)), None]);
    }
}
