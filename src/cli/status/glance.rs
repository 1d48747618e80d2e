//! What is known of a project at a glance, read in one place.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::account;
use crate::cli::doctor::off_by;
use crate::cli::jobs::{self, State};
use crate::cli::output;
use crate::cli::session::{self, Session};
use crate::cli::tell;
use crate::config;
use crate::env::Env;
use crate::memory::{Entry, JobRow, Memory, MemoryError, Purse};
use crate::paths::{NoFolders, Paths, playbook_file};
use crate::playbook::{Playbook, Section};
use crate::queue::budget::Day;
use crate::queue::parking::Parking;
use crate::report::Sum;
use crate::store::{Store, StoreError};
use crate::trust::{Standing, outside};

/// So many of the last jobs are looked at for one that changed something.
const LAST_JOBS: u64 = 50;

/// What helps where nothing more particular does.
const DOCTOR: (&str, &str) = ("playbook doctor", "looks closer");

/// A project at a glance; its fields are the object of `--json`.
#[derive(Debug, Default, Serialize)]
pub(super) struct Glance {
    pub(super) project: PathBuf,
    /// The file of the key points, which need not exist.
    pub(super) playbook: PathBuf,
    pub(super) key_points: u64,
    pub(super) sections: Vec<Sums>,
    /// What changed the key points last, unless it was undone.
    pub(super) last: Option<Last>,
    /// None where they cannot be told.
    pub(super) jobs: Option<Jobs>,
    /// None where it cannot be told.
    pub(super) today: Option<Today>,
    /// How much is held back until the user has looked at it.
    pub(super) held: u64,
    /// What keeps this from being all there is to see.
    pub(super) problems: Vec<String>,
    /// What to do next, the most urgent first.
    pub(super) next: Vec<Step>,
}

#[derive(Debug, Serialize)]
pub(super) struct Sums {
    pub(super) section: Section,
    pub(super) key_points: u64,
    pub(super) helpful: u64,
    pub(super) harmful: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Last {
    pub(super) job: String,
    pub(super) time: Timestamp,
    pub(super) event: String,
    pub(super) session: String,
    pub(super) backend: String,
    pub(super) changes: Vec<Value>,
}

/// How many jobs there are; all but the last are of this project.
#[derive(Debug, Default, Serialize)]
pub(super) struct Jobs {
    pub(super) ready: u64,
    pub(super) waiting: u64,
    pub(super) failed: u64,
    /// Of other projects, or of none that can be read.
    pub(super) elsewhere: u64,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Today {
    pub(super) project: Sum,
    pub(super) all_projects: Sum,
    /// What a day may take; null where nothing limits it.
    pub(super) calls_per_day: Option<u64>,
    pub(super) tokens_per_day: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Step {
    pub(super) command: String,
    pub(super) why: String,
}

impl Glance {
    /// Looks at a project; `chosen` is the user's choice, else it is this folder's.
    pub(super) fn at(chosen: Option<&Path>) -> anyhow::Result<Self> {
        match Session::look(chosen) {
            Ok(session) => Ok(Self::of(&session)),
            Err(error) if matches!(error.downcast_ref(), Some(NoFolders::Home)) => {
                Self::without_home(chosen, &error)
            }
            Err(error) => Err(error),
        }
    }

    fn of(session: &Session) -> Self {
        let mut glance = Self::of_playbook(&session.project, Some(&session.paths));
        glance.look_at_settings(session);
        glance.look_at_trust(session);
        match session.memory() {
            Ok(Some(memory)) => {
                if let Err(error) = glance.look_into(&memory, session) {
                    glance.problem(&error.into(), DOCTOR);
                }
            }
            Ok(None) => glance.today = Some(Today::of(session)),
            Err(error) => glance.problem(&error, DOCTOR),
        }
        glance.look_at_account(session);
        match jobs::rows(session, session.env.clock().now()) {
            Ok(rows) => glance.jobs = Some(Jobs::of(&rows, &session.project)),
            Err(error) => glance.problem(&error, DOCTOR),
        }
        glance.ask();
        glance
    }

    /// What can be said without folders of ours: the key points.
    fn without_home(chosen: Option<&Path>, error: &anyhow::Error) -> anyhow::Result<Self> {
        let project = session::project(&Env::from_process(), chosen)?;
        let mut glance = Self::of_playbook(&project, None);
        glance.problem(error, ("export HOME=DIR", "then the rest can be told"));
        Ok(glance)
    }

    fn of_playbook(project: &Path, paths: Option<&Paths>) -> Self {
        let file = playbook_file(project);
        let mut glance = Self {
            project: project.to_owned(),
            playbook: file,
            ..Self::default()
        };
        if let Some(why) = outside::refused(paths, project) {
            let trust = (
                "playbook trust",
                "the link is followed then; look where it leads",
            );
            glance.problem(&anyhow::Error::msg(why), trust);
            return glance;
        }
        let store = match paths {
            Some(paths) => Store::of(paths, project),
            None => Store::new(&glance.playbook),
        };
        match store.load() {
            Ok(playbook) => glance.sum_up(&playbook),
            Err(error @ StoreError::Away { .. }) => {
                let restore = ("playbook restore", "brings its last version back");
                glance.problem(&error.into(), restore);
            }
            Err(error @ StoreError::Corrupt { .. }) => {
                let restore = ("playbook restore", "brings the last good one back");
                glance.problem(&error.into(), restore);
            }
            Err(error) => glance.problem(&error.into(), DOCTOR),
        }
        glance
    }

    fn sum_up(&mut self, playbook: &Playbook) {
        self.sections = Section::ALL
            .map(|section| Sums::of(playbook, section))
            .into();
        self.key_points = self.sections.iter().map(|sums| sums.key_points).sum();
    }

    fn look_at_settings(&mut self, session: &Session) {
        if let Err(error) = config::for_project(&session.paths, &session.project) {
            let check = ("playbook config check", "names each mistake");
            self.problem(&error.into(), check);
        }
        let by = off_by(session).map(|by| format!("switched off by {by}"));
        self.problems.extend(by);
    }

    /// Without an account that answers, nothing is learned.
    fn look_at_account(&mut self, session: &Session) {
        let account = account::to_look_at(&session.env, &session.config, &session.paths);
        if let Some(lack) = account.lack() {
            self.problem(&anyhow::Error::msg(lack), DOCTOR);
        }
        let parking = Parking::read(&session.paths);
        if let Some((command, why)) = parking.of_refused(&account.need.account()) {
            let refused = "what was asked was refused: nothing is learned until it works";
            self.problem(&anyhow::Error::msg(refused), (command, why));
        }
    }

    fn look_at_trust(&mut self, session: &Session) {
        let standing = Standing::of(&session.paths, &session.project);
        if let Standing::Unreadable(error) = standing {
            self.problem(&error.into(), DOCTOR);
        } else if self.key_points > 0 && !standing.is_trusted() {
            let why = "sessions are given no key point until then";
            self.step("playbook trust", why);
        }
    }

    fn look_into(&mut self, memory: &Memory, session: &Session) -> Result<(), MemoryError> {
        let project = session.project_name();
        let day = Day::of(session.env.clock().now());
        let mut today = Today::of(session);
        // What was agreed to beyond the day's limits does not count against them.
        for row in memory.spending_of(Purse::Day, day.start, day.end)? {
            today.all_projects.add(&row);
        }
        for row in memory.spending(day.start, day.end)? {
            if row.project == project {
                today.project.add(&row);
            }
        }
        self.today = Some(today);
        self.held = memory.quarantine(&project)?.len() as u64;
        for row in memory.last_done(&project, LAST_JOBS)? {
            let changes = memory.changes_of(&row.job.id)?;
            if row.undone_by.is_none() && !changes.is_empty() {
                self.last = Some(Last::of(row, &changes));
                break;
            }
        }
        Ok(())
    }

    /// Asks for what only the user can do.
    fn ask(&mut self) {
        if self.held > 0 {
            let why = format!("{} held back as a likely attack", self.held);
            self.step("playbook review", why);
        }
        if self.jobs.as_ref().is_some_and(|jobs| jobs.failed > 0) {
            self.step("playbook jobs", "says why they failed");
        }
        if self.key_points == 0 && self.last.is_none() && self.next.is_empty() {
            let why = "checks that sessions will be learned from";
            self.step("playbook doctor", why);
            self.step("playbook bootstrap", "learns from sessions that are over");
        }
    }

    /// Notes what went wrong, and the command that helps with what it does.
    fn problem(&mut self, error: &anyhow::Error, (command, why): (&str, &str)) {
        self.problems.push(output::told(error).join(": "));
        self.step(command, why);
    }

    fn step(&mut self, command: &str, why: impl Into<String>) {
        let (command, why) = (command.to_owned(), why.into());
        if self.next.iter().all(|step| step.command != command) {
            self.next.push(Step { command, why });
        }
    }
}

impl Sums {
    fn of(playbook: &Playbook, section: Section) -> Self {
        let mut sums = Self {
            section,
            key_points: 0,
            helpful: 0,
            harmful: 0,
        };
        for point in playbook.points().filter(|p| p.section == section) {
            sums.key_points += 1;
            sums.helpful = sums.helpful.saturating_add(point.helpful);
            sums.harmful = sums.harmful.saturating_add(point.harmful);
        }
        sums
    }
}

impl Jobs {
    fn of(rows: &[jobs::Row], project: &Path) -> Self {
        let mut jobs = Self::default();
        for row in rows {
            let ticket = row.job.as_ref().map(|job| &job.ticket);
            let is_here = ticket.is_some_and(|ticket| ticket.project == project);
            *match row.state {
                _ if !is_here => &mut jobs.elsewhere,
                State::Ready => &mut jobs.ready,
                State::Waiting => &mut jobs.waiting,
                State::Failed | State::Unreadable => &mut jobs.failed,
            } += 1;
        }
        jobs
    }
}

impl Today {
    fn of(session: &Session) -> Self {
        let budgets = &session.config.budgets;
        Self {
            calls_per_day: budgets.calls_per_day.get(),
            tokens_per_day: budgets.tokens_per_day.get(),
            ..Self::default()
        }
    }
}

impl Last {
    fn of(row: JobRow, changes: &[Entry]) -> Self {
        let job = row.job;
        Self {
            job: job.id,
            time: job.finished,
            event: job.event,
            session: job.session,
            backend: job.backend,
            changes: changes.iter().map(|e| tell::in_json(&e.change)).collect(),
        }
    }
}
