//! `playbook uninstall`: the inverse of `playbook install` and of install.sh.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::args::{self, Scope};
use super::install::{diff_of, hinted, hooks, settings, show_diff};
use super::output::{self, DIM, GOOD, Hinted, one_line, say};
use crate::env::Env;
use crate::fsx;
use crate::paths::Paths;
use crate::queue::worker_lock::{self, Holder, LockError};
use crate::setup::{Installed, Plan, Record, Settings, purge, recorded, templates};

/// How long a worker may take to end before what it works on is removed.
const PATIENCE: Duration = Duration::from_secs(10);

/// Takes the hooks out of the settings; without a scope everything else goes as well.
pub(super) fn run(args: &args::Uninstall) -> anyhow::Result<()> {
    let env = Env::from_process();
    let paths = Paths::resolve(&env)?;
    let records = of_client(&paths);
    let targets = match args.scope {
        Some(scope) => vec![settings(&env, &paths, scope, args.project.as_deref())?],
        None => everywhere(&paths, &records),
    };
    // Settings that cannot be edited stop it all: hooks without their programs would fail
    // at every session.
    let mut plans = Vec::new();
    for target in targets {
        if let Some(plan) = target.plan_uninstall().map_err(hinted)? {
            plans.push((target, plan));
        }
    }
    let installed = match args.scope {
        Some(_) => None,
        None => Installed::read(paths.client())?,
    };
    if args.dry_run {
        return preview(&plans, installed.as_ref(), args);
    }
    // The folders that were made for us outside of our own, the innermost of each first.
    let mut made = templates::made_folders(&paths);
    made.extend(
        records
            .iter()
            .flat_map(|record| record.made_above_state.clone()),
    );
    let mut backups = Vec::new();
    for (target, plan) in &plans {
        backups.extend(target.carry_out(plan).map_err(hinted)?);
    }
    let mut kept = Vec::new();
    if args.scope.is_none() {
        kept = templates::take_away(&paths)?;
    }
    if args.purge {
        let lock = worker_lock::take(&paths, &Holder::of_nobody(), Some(PATIENCE));
        let lock = lock.map_err(|error| match error {
            LockError::File(error) => anyhow::Error::new(error),
            busy => Hinted::error(
                format!("could not remove the data: {busy}"),
                "wait until `playbook jobs` shows no more jobs, then try again",
            ),
        })?;
        purge(&paths)?;
        drop(lock);
        kept.clear();
        backups.clear();
    }
    // Only now all that they held may have left them.
    for folder in &made {
        fsx::remove_dir_if_empty(folder)?;
    }
    if let Some(installed) = &installed {
        installed.remove()?;
    }
    let removed = installed.as_ref().map_or(&[][..], Installed::files);
    tell(&paths, args, &plans, removed, &backups, &kept)
}

fn tell(
    paths: &Paths,
    args: &args::Uninstall,
    plans: &[(Settings<'_>, Plan)],
    removed: &[PathBuf],
    backups: &[PathBuf],
    kept: &[PathBuf],
) -> anyhow::Result<()> {
    let changed = plans.iter().filter(|(_, plan)| plan.is_change());
    let files: Vec<_> = changed.map(|(target, _)| target.file()).collect();
    if args.json {
        return output::json(&json!({
            "settings": files,
            "removed": removed,
            "backups": backups,
            "kept": kept,
            "purged": args.purge,
        }));
    }
    for file in &files {
        let file = one_line(&file.to_string_lossy());
        say!("{GOOD}took the hooks out of{GOOD:#} {file}");
    }
    for backup in backups {
        let backup = backup.display();
        say!("  {DIM}other things were changed there since; as it was: {backup}{DIM:#}");
    }
    if !removed.is_empty() {
        say!("{GOOD}removed{GOOD:#} {} installed files", removed.len());
    }
    match args.scope {
        Some(_) if files.is_empty() => say!("no hooks of ours are registered there"),
        None if files.is_empty() && removed.is_empty() => {
            say!("no hooks of ours are registered, and nothing is installed");
        }
        _ => {}
    }
    if args.scope.is_some() {
        for record in of_client(paths) {
            say!(
                "still registered in {}",
                one_line(&record.file.to_string_lossy())
            );
        }
    }
    for file in kept {
        say!("kept {}: you edited it", file.display());
    }
    if args.purge {
        say!("{GOOD}removed{GOOD:#} settings, jobs, history and logs");
        say!("{DIM}Playbooks stay in their projects: .claude/playbook.json{DIM:#}");
    } else if args.scope.is_none() {
        say!("{DIM}Playbooks stay in their projects: .claude/playbook.json{DIM:#}");
        tell_data(paths)?;
    }
    Ok(())
}

/// Names the folders of data: the program that could purge them may be gone by now.
fn tell_data(paths: &Paths) -> anyhow::Result<()> {
    let config = paths.config_file();
    let folders = config.parent().into_iter().chain([paths.state()]);
    let mut folders: Vec<&Path> = folders.filter(|folder| folder.is_dir()).collect();
    folders.dedup();
    for folder in &folders {
        let folder = one_line(&folder.to_string_lossy());
        say!("{DIM}Settings and history stay: {folder}{DIM:#}");
    }
    if !folders.is_empty() {
        say!("{DIM}`./install.sh --uninstall --purge` in Playbook's folder removes them.{DIM:#}");
    }
    Ok(())
}

fn of_client(paths: &Paths) -> Vec<Record> {
    let mut records = recorded(paths);
    records.retain(|record| record.client == paths.client());
    records
}

/// The user's settings, and all others that something was registered in.
fn everywhere<'a>(paths: &'a Paths, records: &[Record]) -> Vec<Settings<'a>> {
    let user = paths.client_settings();
    let others = records.iter().filter(|record| !record.is_of(&user));
    let files = std::iter::once(user.clone()).chain(others.map(|record| record.file.clone()));
    let settings = files.map(|file| Settings::new(paths, file, hooks(paths, Scope::User)));
    settings.collect()
}

fn preview(
    plans: &[(Settings<'_>, Plan)],
    installed: Option<&Installed>,
    args: &args::Uninstall,
) -> anyhow::Result<()> {
    let files = installed.map_or(&[][..], Installed::files);
    if args.json {
        let diffs = plans.iter().map(|(target, plan)| diff_of(target, plan));
        return output::json(&json!({
            "settings": diffs.collect::<Vec<_>>(),
            "removed": files,
            "purged": args.purge,
            "dry_run": true,
        }));
    }
    for (target, plan) in plans {
        show_diff(target, plan)?;
    }
    for file in files {
        say!("would remove {}", one_line(&file.to_string_lossy()));
    }
    if args.purge {
        say!("would remove settings, jobs, history and logs");
    }
    Ok(())
}
