//! Checks what we keep, its folders and its disk.

use std::io;
use std::os::unix::fs::PermissionsExt as _;

use jiff::SignedDuration;
use rustix::fs::{Access, access};

use super::super::output::counted;
use super::super::{config, worker};
use super::Checks;
use crate::cli::prelude::*;
use crate::fsx::lock::{lock_path, try_lock_surely};
use crate::queue::outcome::in_words;
use crate::queue::{progress, spool, worker_lock};
use crate::setup::templates::TEMPLATES;
use crate::state_guard::Breach;
use crate::trust::TrustStanding;

/// The free space below which jobs may fail to be written.
const FULL_BYTES: u64 = 16 << 20;
/// The free space below which that is close.
const NEARLY_FULL_BYTES: u64 = 256 << 20;
const LONG: SignedDuration = SignedDuration::from_hours(24);
/// The number of sessions that are summed up, and of jobs that are searched for them.
const LAST: usize = 20;
const LOOKED_AT: u64 = 200;

/// Checks everything that is kept; skips the state folder after a breach of its guard.
pub(super) fn examine(session: &NamedSession, breach: Option<&Breach>, checks: &mut Checks) {
    for (name, what) in [
        (name::DISABLE, "hooks do nothing"),
        (name::NO_WORKER, "hooks start no worker"),
    ] {
        if session.env.is_on(name) {
            let todo = "unset it where Claude Code is started, unless you mean it";
            checks.note("environment", format!("{name} is set: {what}"), todo);
        }
    }
    for note in config::notes(session) {
        checks.note(
            "settings",
            note,
            "nothing; it can be removed from the settings",
        );
    }
    disk(session, checks);
    templates(session, checks);
    if let Some(breach) = breach {
        return checks.bad("folders", breach.to_string(), breach.hint);
    }
    queue(session, checks);
    folders(session, checks);
    locks(session, checks);
    playbook(session, checks);
    if let Err(error) = sessions(session, checks) {
        broken(checks, "sessions", &error);
    }
    shared(session, checks);
}

fn broken(checks: &mut Checks, topic: &str, error: &anyhow::Error) {
    let todo = output::hint(error).unwrap_or("mend it by hand, or move it away".into());
    checks.bad(topic, error.to_string(), &todo);
}

fn disk(session: &NamedSession, checks: &mut Checks) {
    let folder = existing(session.paths.state());
    let Ok(disk) = rustix::fs::statvfs(folder) else {
        return;
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let text = format!("{} MiB free for {}", free >> 20, folder.display());
    let todo = "make room: a session that begins and ends while the disk is full can be lost";
    match free {
        _ if free < FULL_BYTES => checks.bad("disk", text, todo),
        _ if free < NEARLY_FULL_BYTES => checks.note("disk", text, todo),
        _ => checks.good("disk", text),
    }
}

fn templates(session: &NamedSession, checks: &mut Checks) {
    let before = checks.0.len();
    for template in TEMPLATES {
        if let Some(problem) = template.problem(&session.paths) {
            let todo = "mend it, or remove the file: the built-in one serves then";
            checks.bad("templates", problem, todo);
        }
        if let Some(lack) = template.lack(&session.paths) {
            let todo = "take it over from the built-in text, which `playbook install` lays beside";
            checks.note("templates", lack, todo);
        }
    }
    if checks.0.len() == before {
        checks.good("templates", "all placeholders are known");
    }
}

fn queue(session: &NamedSession, checks: &mut Checks) {
    let paths = &session.paths;
    let folders = [paths.spool(), paths.failed()];
    let [waiting, failed] = match folders.each_ref().map(|folder| spool::list(folder)) {
        [Ok(waiting), Ok(failed)] => [waiting, failed],
        [Err(error), _] | [_, Err(error)] => {
            let todo = "make the folder yours and readable again";
            return checks.bad("jobs", error.to_string(), todo);
        }
    };
    let at_work = match worker_lock::holder(&paths.worker_lock()) {
        Some(holder) => format!("a worker (process {}) is at work", holder.process.pid),
        None => "no worker is at work".to_owned(),
    };
    let text = format!("{} wait, {} failed; {at_work}", waiting.len(), failed.len());
    let is_unreadable =
        |id: &&_| progress::read(&paths.spool(), id).is_err_and(|error| !error.is_missing());
    let first_stray = |folder: &PathBuf| {
        let stray = spool::strays(folder).ok()?.into_iter().next()?;
        Some(folder.join(stray))
    };
    let now = session.env.clock().now();
    let is_old = |at: Timestamp| now.duration_since(at) > LONG;
    if let Some(id) = waiting.iter().find(is_unreadable) {
        let todo = "`playbook jobs` says why; a newer Playbook may have written it";
        checks.bad(
            "jobs",
            format!("{text}; the file of {id} cannot be read"),
            todo,
        );
    } else if let Some(file) = folders.iter().find_map(first_stray) {
        let text = format!("{text}; {} is no job, and is passed over", file.display());
        checks.note(
            "jobs",
            text,
            "look what it is; if it is of no use, remove it",
        );
    } else if waiting.first().and_then(JobId::time).is_some_and(is_old) {
        let todo = "`playbook jobs` says what they wait for; `playbook jobs retry --all` tries now";
        checks.note(
            "jobs",
            format!("{text}; the oldest for more than a day"),
            todo,
        );
    } else if failed.is_empty() {
        checks.good("jobs", text);
    } else {
        let todo = "`playbook jobs` says why; `playbook jobs retry --all` tries them again";
        checks.note("jobs", text, todo);
    }
}

fn folders(session: &NamedSession, checks: &mut Checks) {
    let before = checks.0.len();
    let config = session.paths.config_file();
    for folder in [Some(session.paths.state()), config.parent()]
        .into_iter()
        .flatten()
    {
        let there = existing(folder);
        let mode = std::fs::metadata(folder).map_or(0, |about| about.permissions().mode());
        let shown = there.display();
        if !is_writable(there) {
            let todo =
                "make it yours and writable, or set PLAYBOOK_STATE_DIR and PLAYBOOK_CONFIG_DIR";
            checks.bad("folders", format!("{shown} cannot be written"), todo);
        } else if mode & 0o022 != 0 {
            let todo = "`chmod -R go-rwx` that folder, unless you are alone in the group";
            let text = format!("a group can write {shown}: settings and templates");
            checks.note("folders", text, todo);
        } else if mode & 0o077 != 0 {
            let text = format!("others can read {shown}");
            checks.note("folders", text, "`chmod 700` that folder");
        }
    }
    let file = playbook_file(&session.project);
    if file.exists() && !file.parent().is_some_and(is_writable) {
        let todo = "make its folder writable; until then jobs wait";
        let text = format!("{} cannot be replaced", file.display());
        checks.bad("folders", text, todo);
    }
    let lock = lock_path(&file);
    if lock.exists() && access(&lock, Access::READ_OK).is_err() {
        let todo =
            "have its owner `chmod a+r` it, or remove it while nothing runs; until then jobs wait";
        let text = format!("{} cannot be read", lock.display());
        checks.bad("folders", text, todo);
    }
    if checks.0.len() == before {
        checks.good("folders", "yours alone, and writable");
    }
}

fn locks(session: &NamedSession, checks: &mut Checks) {
    let playbook = playbook_file(&session.project);
    for folder in [Some(session.paths.state()), playbook.parent()]
        .into_iter()
        .flatten()
    {
        let folder = existing(folder);
        // The file has no name or is unlinked at once.
        if let Ok(file) = tempfile::tempfile_in(folder) {
            tell_locks(folder, try_lock_surely(&file), checks);
        }
    }
}

fn tell_locks(folder: &Path, tried: io::Result<bool>, checks: &mut Checks) {
    if let Err(error) = tried {
        let text = format!("no file can be locked in {}: {error}", folder.display());
        let todo = "mount it with locks, or move it; until then sessions wait";
        checks.note("folders", text, todo);
    }
}

/// Returns the nearest existing folder, on whose file system the missing ones would be created.
fn existing(folder: &Path) -> &Path {
    let mut folders = folder.ancestors();
    folders.find(|folder| folder.exists()).unwrap_or(folder)
}

fn is_writable(folder: &Path) -> bool {
    access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

fn playbook(session: &NamedSession, checks: &mut Checks) {
    let store = session.store();
    let file = store.path().display();
    let standing = match TrustStanding::of(&session.paths, &session.project) {
        TrustStanding::Unreadable(error) => return broken(checks, "playbook", &error.into()),
        standing => standing,
    };
    match store.load() {
        Err(error) => broken(checks, "playbook", &error.into()),
        Ok(_) if !store.path().exists() => {
            let todo = "nothing; it comes with the first session that teaches something";
            checks.note("playbook", format!("none yet: {file}"), todo);
        }
        Ok(_) if !standing.is_trusted() => {
            let text = format!("{file} is not trusted: sessions are given nothing of it");
            let todo = "look at it with `playbook show`, then `playbook trust`";
            checks.note("playbook", text, todo);
        }
        Ok(playbook) => {
            if let Some(odd) = playbook.odd_entries() {
                let todo = "give each a `name` and a `text`, or take it out";
                return checks.note("playbook", format!("{file}: {odd}"), todo);
            }
            let points = counted(playbook.points().count(), "key point");
            checks.good("playbook", format!("{points} in {file}"));
        }
    }
}

fn sessions(session: &NamedSession, checks: &mut Checks) -> anyhow::Result<()> {
    let Some(memory) = session.memory()? else {
        return Ok(());
    };
    let mut jobs = memory.last_jobs(Some(&session.project_name()), LOOKED_AT)?;
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
    if let Some(why) = why(JobOutcome::Failed) {
        let todo = "`playbook jobs` lists what failed; `playbook jobs retry --all` tries again";
        checks.note("sessions", format!("{text}; the last failure: {why}"), todo);
    } else if let Some(why) = why(JobOutcome::Skipped) {
        checks.good("sessions", format!("{text}; last skipped: {why}"));
    } else {
        checks.good("sessions", text);
    }
    Ok(())
}

fn shared(session: &NamedSession, checks: &mut Checks) {
    if !sharing::is_wanted(&session.env, &session.config) {
        return;
    }
    if !worker::has_server(&session.env) {
        let text = "memory.url is set, and `playbook-server` is not installed";
        return checks.bad("database", text, "`./install.sh --server`");
    }
    let memory = session.memory().ok().flatten();
    let waiting = memory.and_then(|memory| memory.unsent().ok());
    match waiting.unwrap_or(0) {
        0 => checks.good("database", "all that was learned here is there".to_owned()),
        waiting => {
            let text = sharing::LastSending::of(&session.paths).told(waiting);
            let todo = "`playbook worker` tries again; nothing is lost";
            checks.note("database", text, todo);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_locks_is_named() {
        let mut checks = Checks::default();
        tell_locks(Path::new("/mnt"), Ok(true), &mut checks);
        assert!(checks.0.is_empty());
        let unsupported = rustix::io::Errno::NOTSUP.into();
        tell_locks(Path::new("/mnt/share"), Err(unsupported), &mut checks);
        assert!(checks.0[0]["text"].to_string().contains("/mnt/share"));
    }
}
