//! What we keep: jobs, memory, playbook, templates, and how the last sessions went.

use std::path::PathBuf;

use jiff::SignedDuration;

use super::super::change_text;
use super::super::config;
use super::super::output::{self, counted};
use super::super::server;
use super::super::session::NamedSession;
use super::DoctorCheck;
use super::places;
use crate::env::name;
use crate::memory::JobOutcome;
use crate::queue::job::JobId;
use crate::queue::outcome::in_words;
use crate::queue::{files, spool, worker_lock};
use crate::setup::templates::TEMPLATES;
use crate::sharing;
use crate::state_guard::Breach;
use crate::trust::TrustStanding;

/// Jobs that wait longer than this are worth a word.
const LONG: SignedDuration = SignedDuration::from_hours(24);
/// So many sessions are looked at, among so many jobs.
const LAST: usize = 20;
const LOOKED_AT: u64 = 200;

/// Looks at everything that is kept; not into the state folder where the guard of it is
/// breached.
pub(super) fn examine(session: &NamedSession, breach: Option<&Breach>) -> Vec<DoctorCheck> {
    let mut checks = switched_off(session);
    let gone = config::notes(session).into_iter();
    checks.extend(gone.map(|note| {
        let todo = "nothing; it can be removed from the settings";
        DoctorCheck::note("settings", note, todo)
    }));
    checks.extend(places::disk(session));
    checks.extend(templates(session));
    if let Some(breach) = breach {
        let text = breach.to_string();
        checks.push(DoctorCheck::bad(places::FOLDERS, text, breach.hint));
        return checks;
    }
    checks.push(queue(session));
    checks.extend(places::folders(session));
    checks.extend(places::locks(session));
    checks.push(playbook(session));
    checks.extend(sessions(session));
    checks.extend(shared(session));
    checks
}

fn queue(session: &NamedSession) -> DoctorCheck {
    const TOPIC: &str = "jobs";
    let paths = &session.paths;
    let folders = [paths.spool(), paths.failed()];
    let [waiting, failed] = match folders.each_ref().map(|folder| spool::list(folder)) {
        [Ok(waiting), Ok(failed)] => [waiting, failed],
        [Err(error), _] | [_, Err(error)] => {
            let todo = "make the folder yours and readable again";
            return DoctorCheck::bad(TOPIC, error.to_string(), todo);
        }
    };
    let at_work = match worker_lock::holder(&paths.worker_lock()) {
        Some(holder) => format!("a worker (process {}) is at work", holder.process.pid),
        None => "no worker is at work".to_owned(),
    };
    let text = format!("{} wait, {} failed; {at_work}", waiting.len(), failed.len());
    let unreadable =
        |id: &&_| files::read(&paths.spool(), id).is_err_and(|error| !error.is_missing());
    if let Some(id) = waiting.iter().find(unreadable) {
        let todo = "`playbook jobs` says why; a newer Playbook may have written it";
        return DoctorCheck::bad(
            TOPIC,
            format!("{text}; the file of {id} cannot be read"),
            todo,
        );
    }
    let first_stray = |folder: &PathBuf| {
        let stray = spool::strays(folder).ok()?.into_iter().next()?;
        Some(folder.join(stray))
    };
    if let Some(file) = folders.iter().find_map(first_stray) {
        let text = format!("{text}; {} is no job, and is passed over", file.display());
        return DoctorCheck::note(
            TOPIC,
            text,
            "look what it is; if it is of no use, remove it",
        );
    }
    let now = session.env.clock().now();
    let is_old = |at: jiff::Timestamp| now.duration_since(at) > LONG;
    if waiting.first().and_then(JobId::time).is_some_and(is_old) {
        let todo = "`playbook jobs` says what they wait for; `playbook jobs retry --all` tries now";
        return DoctorCheck::note(
            TOPIC,
            format!("{text}; the oldest for more than a day"),
            todo,
        );
    }
    if failed.is_empty() {
        DoctorCheck::good(TOPIC, text)
    } else {
        let todo = "`playbook jobs` says why; `playbook jobs retry --all` tries them again";
        DoctorCheck::note(TOPIC, text, todo)
    }
}

fn switched_off(session: &NamedSession) -> Vec<DoctorCheck> {
    let told = [
        (name::DISABLE, "hooks do nothing"),
        (name::NO_WORKER, "hooks start no worker"),
    ];
    told.into_iter()
        .filter(|(name, _)| session.env.is_on(name))
        .map(|(name, what)| {
            let todo = "unset it where Claude Code is started, unless you mean it";
            DoctorCheck::note("environment", format!("{name} is set: {what}"), todo)
        })
        .collect()
}

fn playbook(session: &NamedSession) -> DoctorCheck {
    const TOPIC: &str = "playbook";
    let store = session.store();
    let standing = match TrustStanding::of(&session.paths, &session.project) {
        TrustStanding::Unreadable(error) => return broken(TOPIC, &error.into()),
        standing => standing,
    };
    let file = store.path().display();
    match store.load() {
        Ok(_) if !store.path().exists() => {
            let todo = "nothing; it comes with the first session that teaches something";
            DoctorCheck::note(TOPIC, format!("none yet: {file}"), todo)
        }
        Ok(_) if !standing.is_trusted() => {
            let text = format!("{file} is not trusted: sessions are given nothing of it");
            let todo = "look at it with `playbook show`, then `playbook trust`";
            DoctorCheck::note(TOPIC, text, todo)
        }
        Ok(playbook) => {
            if let Some(odd) = playbook.odd_entries() {
                let todo = "give each a `name` and a `text`, or take it out";
                return DoctorCheck::note(TOPIC, format!("{file}: {odd}"), todo);
            }
            let points = counted(playbook.points().count(), "key point");
            DoctorCheck::good(TOPIC, format!("{points} in {file}"))
        }
        Err(error) => broken(TOPIC, &error.into()),
    }
}

fn broken(topic: &'static str, error: &anyhow::Error) -> DoctorCheck {
    let todo = output::hint(error).unwrap_or("mend it by hand, or move it away".into());
    DoctorCheck::bad(topic, error.to_string(), &todo)
}

fn templates(session: &NamedSession) -> Vec<DoctorCheck> {
    const TOPIC: &str = "templates";
    let problems = TEMPLATES
        .iter()
        .filter_map(|template| template.problem(&session.paths))
        .map(|problem| {
            let todo = "mend it, or remove the file: the built-in one serves then";
            DoctorCheck::bad(TOPIC, problem, todo)
        });
    let mut checks: Vec<_> = problems.collect();
    let lacks = TEMPLATES.iter().filter_map(|t| t.lack(&session.paths));
    checks.extend(lacks.map(|lack| {
        let todo = "take it over from the built-in text, which `playbook install` lays beside";
        DoctorCheck::note(TOPIC, lack, todo)
    }));
    if checks.is_empty() {
        checks.push(DoctorCheck::good(TOPIC, "all placeholders are known"));
    }
    checks
}

fn sessions(session: &NamedSession) -> Option<DoctorCheck> {
    const TOPIC: &str = "sessions";
    let memory = match session.memory() {
        Ok(memory) => memory?,
        Err(error) => return Some(broken(TOPIC, &error)),
    };
    let name = session.project_name();
    let mut jobs = match memory.last_jobs(Some(&name), LOOKED_AT) {
        Ok(jobs) => jobs,
        Err(error) => return Some(broken(TOPIC, &error.into())),
    };
    jobs.retain(|row| !row.job.session.is_empty());
    jobs.truncate(LAST);
    let count = |outcome| jobs.iter().filter(|row| row.job.outcome == outcome).count();
    let text = format!(
        "of the last {}: {} learned from, {} skipped, {} failed",
        jobs.len(),
        count(JobOutcome::Applied),
        count(JobOutcome::Skipped),
        count(JobOutcome::Failed)
    );
    let why = |outcome| {
        let last = jobs.iter().find(|row| row.job.outcome == outcome);
        last.map(|row| in_words(&row.job.reason))
            .filter(|why| !why.is_empty())
    };
    Some(match (why(JobOutcome::Failed), why(JobOutcome::Skipped)) {
        (Some(why), _) => {
            let todo = "`playbook jobs` lists what failed; `playbook jobs retry --all` tries again";
            DoctorCheck::note(TOPIC, format!("{text}; the last failure: {why}"), todo)
        }
        (None, Some(why)) => DoctorCheck::good(TOPIC, format!("{text}; last skipped: {why}")),
        (None, None) => DoctorCheck::good(TOPIC, text),
    })
}

/// Whether what is learned reaches the others that it is shared with; nothing where nothing is
/// shared.
fn shared(session: &NamedSession) -> Option<DoctorCheck> {
    const TOPIC: &str = "sharing";
    if !sharing::is_wanted(&session.env, &session.config) {
        return None;
    }
    if !server::is_there(&session.env) {
        let text = "memory.url is set, and `playbook-server` is not installed";
        return Some(DoctorCheck::bad(TOPIC, text, "`./install.sh --server`"));
    }
    let last = sharing::LastExchange::of(&session.paths);
    let at = last.succeeded.map(change_text::time);
    Some(match (last.problem, at) {
        (Some(problem), _) => {
            DoctorCheck::bad(TOPIC, problem, "then `playbook sync`; nothing is lost")
        }
        (None, Some(at)) => DoctorCheck::good(TOPIC, format!("exchanged with the others {at}")),
        (None, None) => DoctorCheck::note(TOPIC, "not yet exchanged", "`playbook sync`"),
    })
}
