//! `playbook` and `playbook status`: an overview of a project, and its costs.
//!
//! It always answers: what cannot be read is named with the command that helps.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::Serialize;

use super::doctor::{hooks_lack, off_by};
use super::jobs::{self, JobState};
use super::prelude::*;
use super::report::Sum;
use super::session;
use crate::config;
use crate::memory::{BudgetKind, MemoryError};
use crate::paths::NoFolders;
use crate::playbook::Section;
use crate::prepare;
use crate::queue::backoff::{Backoff, own_pause};
use crate::queue::budget::Day;
use crate::queue::outcome::in_words;
use crate::queue::transcripts::{self, PastTranscript};
use crate::setup::templates;
use crate::store::{Store, StoreError, votes};
use crate::trust::{TrustStanding, outside};

/// The number of last jobs that are searched for one that changed something.
const LAST_JOBS: u64 = 50;

const TIMES: [i64; 3] = [1, 7, 30];

/// The number of recorded jobs that are searched for a session.
const PAST_JOBS: u64 = 5_000;

const DOCTOR: (&str, &str) = ("playbook doctor", "looks closer");

pub(super) fn run(args: &args::StatusArgs) -> anyhow::Result<()> {
    let project = args.on.project.as_deref();
    if args.cost {
        return cost(&NamedSession::look(project)?, args.on.json);
    }
    let env = Env::from_process();
    let glance = Glance::at(project)?;
    if args.on.json {
        return output::json(&glance);
    }
    let mut answer = json!(glance);
    answer["width"] = output::of_screen(&env).into();
    let text = answer::laid_out(include_str!("screens/status.txt"), answer)?;
    for line in text.trim_end().lines() {
        say!("{}", line.trim_end());
    }
    Ok(())
}

fn cost(session: &NamedSession, as_json: bool) -> anyhow::Result<()> {
    let day = Day::of(session.env.clock().now());
    let budgets = &session.config.budgets;
    let mut projects: BTreeMap<_, [Sum; TIMES.len()]> = BTreeMap::new();
    let mut totals = [Sum::default(); TIMES.len()];
    if let Some(memory) = session.memory()? {
        for (time, days) in TIMES.iter().enumerate() {
            for row in memory.spending(None, day.back(days - 1), day.end)? {
                totals[time].add(&row);
                let who = (row.project.clone(), row.backend.clone(), row.model.clone());
                projects.entry(who).or_default()[time].add(&row);
            }
        }
    }
    let projects = projects
        .iter()
        .map(|((project, backend, model), [today, week, month])| {
            json!({
                "project": project, "backend": backend, "model": model,
                "today": today, "days_7": week, "days_30": month,
            })
        });
    let answer = json!({
        "day_began": day.start,
        "day_ends": day.end,
        "limits": {
            "calls_per_day": budgets.calls_per_day.get(),
            "tokens_per_day": budgets.tokens_per_day.get(),
        },
        "today": totals[0], "days_7": totals[1], "days_30": totals[2],
        "projects": projects.collect::<Vec<_>>(),
    });
    answer::give(as_json, include_str!("screens/cost.txt"), answer)
}

/// The overview of a project; its fields are the object of `--json`.
#[derive(Debug, Default, Serialize)]
struct Glance {
    project: PathBuf,
    playbook: PathBuf,
    key_points: u64,
    /// The number of key points for which a start has no room.
    without_room: usize,
    sections: Vec<Value>,
    /// The last job that changed the key points and was not undone.
    last: Option<Value>,
    /// The number of jobs by state: this project's, and `elsewhere`; `None` if they cannot be read.
    jobs: Option<Value>,
    /// Today's spending; `None` if it cannot be read.
    today: Option<Value>,
    pays: Option<String>,
    sends: Option<String>,
    /// The notes that wait for the curator, and the user's rules that no key point states yet.
    notes: Value,
    held: u64,
    shared: Option<Value>,
    problems: Vec<String>,
    next: Vec<Value>,
}

impl Glance {
    fn at(chosen: Option<&Path>) -> anyhow::Result<Self> {
        match NamedSession::look(chosen) {
            Ok(session) => Ok(Self::of(&session)),
            Err(error) if matches!(error.downcast_ref(), Some(NoFolders::Home)) => {
                Self::without_home(chosen, &error)
            }
            Err(error) => Err(error),
        }
    }

    fn of(session: &NamedSession) -> Self {
        let mut glance = Self::of_playbook(&session.project, Some(&session.paths));
        glance.look_at_settings(session);
        glance.look_at_trust(session);
        let memory = session.memory();
        let looked = memory.and_then(|memory| glance.look_into(memory.as_ref(), session));
        if let Err(error) = looked {
            glance.problem(&error, DOCTOR);
        }
        glance.look_at_account(session);
        match jobs::rows(session, session.env.clock().now()) {
            Ok(rows) => {
                glance.jobs = Some(totals(&rows, &session.project));
                glance.look_at_jobs(&rows);
            }
            Err(error) => glance.problem(&error, DOCTOR),
        }
        glance.ask(session);
        glance
    }

    /// Shows only the key points, because our folders are not known.
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
            notes: json!({"waiting": 0, "said": []}),
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
            Ok(playbook) => {
                let votes = paths.map(|paths| votes::read(paths, project, &playbook));
                let votes = votes.and_then(Result::ok).unwrap_or_default();
                glance.sum_up(&playbook.with_votes(&votes));
            }
            Err(error @ (StoreError::Away { .. } | StoreError::Corrupt { .. })) => {
                let restore = ("playbook undo --to", "brings the last good one back");
                glance.problem(&error.into(), restore);
            }
            Err(error) => glance.problem(&error.into(), DOCTOR),
        }
        glance
    }

    fn sum_up(&mut self, playbook: &Playbook) {
        for section in Section::ALL {
            let (mut key_points, mut helpful, mut harmful) = (0, 0_u64, 0_u64);
            for point in playbook.points().filter(|p| p.section == section) {
                key_points += 1;
                helpful = helpful.saturating_add(point.helpful);
                harmful = harmful.saturating_add(point.harmful);
            }
            self.key_points += key_points;
            self.sections.push(json!({
                "section": section, "key_points": key_points,
                "helpful": helpful, "harmful": harmful,
            }));
        }
    }

    fn look_at_settings(&mut self, session: &NamedSession) {
        if let Err(error) = config::for_project(&session.paths, &session.project) {
            let check = ("playbook config check", "names each mistake");
            self.problem(&error.into(), check);
        }
        let by = off_by(session).map(|by| format!("switched off by {by}"));
        self.problems.extend(by);
        self.problems.extend(templates::unfit(&session.paths));
    }

    fn look_at_jobs(&mut self, rows: &[jobs::Row]) {
        let mut reasons = BTreeSet::new();
        for row in rows {
            let is_stuck = row
                .job
                .as_ref()
                .is_some_and(|job| job.ticket.project == self.project && own_pause(job).is_some());
            if row.state == JobState::Unreadable || row.state == JobState::Waiting && is_stuck {
                reasons.insert(in_words(&row.reason));
            }
        }
        for reason in reasons {
            let retry = ("playbook jobs retry --all", "tries what waits at once");
            self.problem(&anyhow::anyhow!("a job waits: {reason}"), retry);
        }
    }

    /// Reports an account that cannot answer, since nothing is learned without one.
    fn look_at_account(&mut self, session: &NamedSession) {
        let account = session.account_to_look_at();
        if let Some(lack) = account.lack() {
            self.problem(&anyhow::Error::msg(lack), DOCTOR);
        }
        let sent = session.sent();
        self.pays = Some(sent.pays(&account));
        self.sends = Some(sent.sends(&account, &session.config));
        let backoff = Backoff::read(&session.paths);
        let (account, now) = (account.need.account(), session.env.clock().now());
        let parked = backoff.parked(&account, now);
        if let Some(parked) = parked.filter(|parked| parked.is_budget) {
            let reason = in_words(&parked.reason);
            let error = anyhow::anyhow!("sessions wait until tomorrow: {reason}");
            self.problem(&error, ("playbook --cost", "shows what was spent"));
        }
        if let Some(last) = backoff.last(&account)
            && let Some((command, why)) = &last.remedy
        {
            let reason = in_words(&last.reason);
            let refused = format!("nothing is learned until it works: {reason}");
            self.problem(&anyhow::Error::msg(refused), (command, why));
        }
    }

    fn look_at_trust(&mut self, session: &NamedSession) {
        let standing = TrustStanding::of(&session.paths, &session.project);
        if let TrustStanding::Unreadable(error) = standing {
            self.problem(&error.into(), DOCTOR);
        } else if self.key_points > 0 && !standing.is_trusted() {
            let why = "sessions are given no key point until then";
            self.step("playbook trust", why);
        } else {
            let (paths, project) = (&session.paths, &session.project);
            let next = prepare::given_next(paths, project, &session.config);
            self.without_room = next.map_or(0, |(_, left_out)| left_out);
        }
    }

    fn look_into(&mut self, memory: Option<&Memory>, session: &NamedSession) -> anyhow::Result<()> {
        self.today = Some(spent_today(memory, session)?);
        let Some(memory) = memory else {
            return Ok(());
        };
        let project = session.project_name();
        self.held = memory.quarantine(&project)?.len() as u64;
        let said = memory.unsettled_quotes(&project)?.into_iter();
        self.notes = json!({
            "waiting": memory.waiting_notes(&project)?.ids.len(),
            "said": said.map(|said| said.quote).collect::<Vec<_>>(),
        });
        for row in memory.last_done(&project, LAST_JOBS)? {
            let changes = memory.changes_of(&row.job.id)?;
            if row.undone_by.is_none() && !changes.is_empty() {
                let job = &row.job;
                self.last = Some(json!({
                    "job": job.id,
                    "time": job.finished,
                    "event": job.event,
                    "session": job.session,
                    "backend": job.backend,
                    "changes": change_text::all_in_json(&changes),
                }));
                break;
            }
        }
        if sharing::is_wanted(&session.env, &session.config) {
            let (waiting, last) = (memory.unsent()?, sharing::LastSending::of(&session.paths));
            if waiting > 0 && last.problem.is_some() {
                let worker = ("playbook worker", "tries it again; nothing is lost");
                self.problem(&anyhow::Error::msg(last.told(waiting)), worker);
            }
            self.shared = Some(json!({
                "waiting": waiting, "last": last.succeeded,
                "problem": last.problem.filter(|_| waiting > 0),
            }));
        }
        Ok(())
    }

    fn ask(&mut self, session: &NamedSession) {
        if self.held > 0 {
            let why = format!("{} held back until you have looked at it", self.held);
            self.step("playbook review", why);
        }
        if self.jobs.as_ref().is_some_and(|jobs| jobs["failed"] != 0) {
            self.step("playbook jobs", "says why they failed");
        }
        if let Some(lack) = hooks_lack(session) {
            let install = ("playbook install", "registers the hooks");
            self.problem(&anyhow::Error::msg(lack), install);
        }
        let is_new = self.key_points == 0 && self.last.is_none();
        if is_new && self.next.is_empty() && self.problems.is_empty() {
            let why = "checks that sessions will be learned from";
            self.step("playbook doctor", why);
            self.look_at_past(session);
        }
    }

    /// Suggests `bootstrap` for sessions without a job, else `log`.
    fn look_at_past(&mut self, session: &NamedSession) {
        let with_job = match sessions_with_job(session) {
            Ok(sessions) => sessions,
            Err(error) => return self.problem(&error, DOCTOR),
        };
        let is_new =
            |past: &PastTranscript| !past.is_subagents && !with_job.contains(&past.session);
        let kept = transcripts::of_project(&session.paths, &session.project);
        if kept.iter().any(is_new) {
            self.step("playbook bootstrap", "learns from sessions that are over");
        } else if !with_job.is_empty() {
            self.step("playbook log", "says what became of the sessions so far");
        }
    }

    fn problem(&mut self, error: &anyhow::Error, (command, why): (&str, &str)) {
        self.problems.push(output::told(error).join(": "));
        self.step(command, why);
    }

    fn step(&mut self, command: &str, why: impl Into<String>) {
        if self.next.iter().all(|step| step["command"] != command) {
            self.next
                .push(json!({"command": command, "why": why.into()}));
        }
    }
}

fn sessions_with_job(session: &NamedSession) -> anyhow::Result<HashSet<String>> {
    let waiting = jobs::rows(session, session.env.clock().now())?;
    let waiting = waiting.into_iter().filter_map(|row| row.job);
    let mut sessions: HashSet<String> = waiting
        .filter(|job| job.ticket.project == session.project)
        .map(|job| job.ticket.session)
        .collect();
    if let Some(memory) = session.memory()? {
        let done = memory.last_jobs(Some(&session.project_name()), PAST_JOBS)?;
        sessions.extend(done.into_iter().map(|row| row.job.session));
    }
    sessions.remove("");
    Ok(sessions)
}

fn totals(rows: &[jobs::Row], project: &Path) -> Value {
    let (here, elsewhere): (Vec<_>, Vec<_>) = rows.iter().partition(|row| {
        let ticket = row.job.as_ref().map(|job| &job.ticket);
        ticket.is_some_and(|ticket| ticket.project == project)
    });
    let count = |state| here.iter().filter(|row| row.state == state).count();
    json!({
        "ready": count(JobState::Ready),
        "waiting": count(JobState::Waiting),
        "failed": count(JobState::Failed) + count(JobState::Unreadable),
        // Jobs of other projects, and unreadable jobs.
        "elsewhere": elsewhere.len(),
    })
}

/// Sums up today's spending, with the limits of a day; a missing limit is null.
fn spent_today(memory: Option<&Memory>, session: &NamedSession) -> Result<Value, MemoryError> {
    let day = Day::of(session.env.clock().now());
    let [mut here, mut all, mut limited] = [Sum::default(); 3];
    if let Some(memory) = memory {
        let project = session.project_name();
        for row in memory.spending(None, day.start, day.end)? {
            all.add(&row);
            if row.project == project {
                here.add(&row);
            }
        }
        // Spending that the user agreed to separately does not count against the limits.
        for row in memory.spending(BudgetKind::Day, day.start, day.end)? {
            limited.add(&row);
        }
    }
    let budgets = &session.config.budgets;
    Ok(json!({
        "project": here,
        "all_projects": all,
        "limited": limited,
        "calls_per_day": budgets.calls_per_day.get(),
        "tokens_per_day": budgets.tokens_per_day.get(),
    }))
}
