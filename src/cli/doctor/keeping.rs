//! What we keep: jobs, memory, playbook, templates, how the last sessions went, and the folders and
//! the disk that all that is on.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use rustix::fs::{Access, access};

use super::super::output::{self, counted};
use super::super::session::NamedSession;
use super::super::{change_text, config, server};
use super::DoctorCheck;
use crate::env::name;
use crate::fsx::lock::{lock_path, try_lock_surely};
use crate::memory::JobOutcome;
use crate::paths::playbook_file;
use crate::queue::job::JobId;
use crate::queue::outcome::in_words;
use crate::queue::{files, spool, worker_lock};
use crate::setup::templates::TEMPLATES;
use crate::sharing;
use crate::state_guard::Breach;
use crate::trust::TrustStanding;

const FOLDERS: &str = "folders";
/// With less free space than this, jobs may not be written ...
const FULL: u64 = 16 << 20;
/// ... and with less than this it is about to come to that.
const NEARLY_FULL: u64 = 256 << 20;
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
    checks.extend(disk(session));
    checks.extend(templates(session));
    if let Some(breach) = breach {
        let text = breach.to_string();
        checks.push(DoctorCheck::bad(FOLDERS, text, breach.hint));
        return checks;
    }
    checks.push(queue(session));
    checks.extend(folders(session));
    checks.extend(locks(session));
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
        let text = format!("{text}; the file of {id} cannot be read");
        return DoctorCheck::bad(TOPIC, text, todo);
    }
    let first_stray = |folder: &PathBuf| {
        let stray = spool::strays(folder).ok()?.into_iter().next()?;
        Some(folder.join(stray))
    };
    if let Some(file) = folders.iter().find_map(first_stray) {
        let text = format!("{text}; {} is no job, and is passed over", file.display());
        let todo = "look what it is; if it is of no use, remove it";
        return DoctorCheck::note(TOPIC, text, todo);
    }
    let now = session.env.clock().now();
    let is_old = |at: jiff::Timestamp| now.duration_since(at) > LONG;
    if waiting.first().and_then(JobId::time).is_some_and(is_old) {
        let todo = "`playbook jobs` says what they wait for; `playbook jobs retry --all` tries now";
        let text = format!("{text}; the oldest for more than a day");
        return DoctorCheck::note(TOPIC, text, todo);
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

fn folders(session: &NamedSession) -> Vec<DoctorCheck> {
    let paths = &session.paths;
    let config = paths.config_file();
    let mut checks = Vec::new();
    for folder in [Some(paths.state()), config.parent()].into_iter().flatten() {
        let there = existing(folder);
        let shown = there.display();
        if !is_writable(there) {
            let todo =
                "make it yours and writable, or set PLAYBOOK_STATE_DIR and PLAYBOOK_CONFIG_DIR";
            let text = format!("{shown} cannot be written");
            checks.push(DoctorCheck::bad(FOLDERS, text, todo));
        } else if there == folder && is_open(folder, 0o022) {
            let todo = "`chmod -R go-rwx` that folder, unless you are alone in the group";
            let text = format!("a group can write {shown}: settings and templates");
            checks.push(DoctorCheck::note(FOLDERS, text, todo));
        } else if there == folder && is_open(folder, 0o077) {
            let text = format!("others can read {shown}");
            checks.push(DoctorCheck::note(FOLDERS, text, "`chmod 700` that folder"));
        }
    }
    let file = playbook_file(&session.project);
    if file.exists() && !file.parent().is_some_and(is_writable) {
        let todo = "make its folder writable; until then jobs wait";
        let text = format!("{} cannot be replaced", file.display());
        checks.push(DoctorCheck::bad(FOLDERS, text, todo));
    }
    let lock = lock_path(&file);
    if lock.exists() && access(&lock, Access::READ_OK).is_err() {
        checks.push(DoctorCheck::bad(
            FOLDERS,
            format!("{} cannot be read", lock.display()),
            "have its owner `chmod a+r` it, or remove it while nothing runs; until then jobs wait",
        ));
    }
    if checks.is_empty() {
        checks.push(DoctorCheck::good(FOLDERS, "yours alone, and writable"));
    }
    checks
}

/// Names the file systems of ours on which no file can be locked.
fn locks(session: &NamedSession) -> Vec<DoctorCheck> {
    let playbook = playbook_file(&session.project);
    let folders = [Some(session.paths.state()), playbook.parent()];
    let checks = folders.into_iter().flatten().filter_map(|folder| {
        let folder = existing(folder);
        // It has no name, or loses it at once.
        let file = tempfile::tempfile_in(folder).ok()?;
        without_locks(folder, try_lock_surely(&file))
    });
    checks.collect()
}

fn without_locks(folder: &Path, tried: io::Result<bool>) -> Option<DoctorCheck> {
    let error = tried.err()?;
    let text = format!("no file can be locked in {}: {error}", folder.display());
    let todo = "mount it with locks, or move it; until then sessions wait";
    Some(DoctorCheck::note(FOLDERS, text, todo))
}

/// The nearest folder that exists: the others are made where it is.
fn existing(folder: &Path) -> &Path {
    let mut folders = folder.ancestors();
    folders.find(|folder| folder.exists()).unwrap_or(folder)
}

fn is_writable(folder: &Path) -> bool {
    access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

fn is_open(folder: &Path, to: u32) -> bool {
    std::fs::metadata(folder).is_ok_and(|m| m.permissions().mode() & to != 0)
}

fn disk(session: &NamedSession) -> Option<DoctorCheck> {
    const TOPIC: &str = "disk";
    let folder = existing(session.paths.state());
    let disk = rustix::fs::statvfs(folder).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let text = format!("{} MiB free for {}", free >> 20, folder.display());
    let todo = "make room: a session that begins and ends while the disk is full can be lost";
    Some(match free {
        free if free < FULL => DoctorCheck::bad(TOPIC, text, todo),
        free if free < NEARLY_FULL => DoctorCheck::note(TOPIC, text, todo),
        _ => DoctorCheck::good(TOPIC, text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_locks_is_named() {
        let folder = Path::new("/mnt/share");
        let unsupported = rustix::io::Errno::NOTSUP.into();
        let check = without_locks(folder, Err(unsupported)).map(|check| format!("{check:?}"));
        assert!(check.is_some_and(|told| told.contains("/mnt/share")));
        let file = tempfile::tempfile().unwrap();
        assert_eq!(without_locks(folder, try_lock_surely(&file)), None);
    }
}
