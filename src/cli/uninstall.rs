//! `playbook uninstall`: the inverse of `playbook install` and of install.sh.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::args::{self, SettingsScope};
use super::install::{diff_of, hooks, settings, show_diff};
use super::output::{self, Hinted, one_line, say};
use super::{answer, merge};
use crate::env::{Env, name};
use crate::fsx;
use crate::paths::Paths;
use crate::queue::worker_lock::{self, Holder, LockError};
use crate::setup::{
    ClientSettings, Installed, SettingsPlan, SettingsRecord, purge, recorded, templates,
};

/// The time that a worker has to end before what it works on is removed.
const PATIENCE: Duration = Duration::from_secs(10);

/// Takes the hooks out of the settings; without a scope everything else goes as well.
pub(super) fn run(args: &args::UninstallArgs) -> anyhow::Result<()> {
    let env = Env::from_process();
    if args.merge_driver {
        return merge::uninstall(&env, args);
    }
    let paths = Paths::resolve(&env)?;
    let records = of_client(&paths);
    let targets = match args.scope {
        Some(scope) => {
            let place = (scope, args.project.as_deref());
            vec![settings(&env, &paths, place, hooks(&paths, scope))?]
        }
        None => everywhere(&paths, &records),
    };
    // Settings that cannot be edited stop it all: hooks without their programs would fail
    // at every session.
    let mut plans = Vec::new();
    for target in targets {
        if let Some(plan) = target.plan_uninstall()? {
            plans.push((target, plan));
        }
    }
    let installed = match args.scope {
        Some(_) => Installed::default(),
        None => Installed::read(paths.client())?,
    };
    if args.dry_run {
        return preview(&plans, installed.files(), args);
    }
    // The folders that were made for us outside of our own, the innermost of each first.
    let mut made = templates::made_folders(&paths);
    for record in &records {
        made.extend(record.made_above_state.clone());
    }
    let mut backups = Vec::new();
    for (target, plan) in &plans {
        backups.extend(target.carry_out(plan)?);
    }
    let mut kept = match args.scope {
        Some(_) => Vec::new(),
        None => templates::take_away(&paths)?,
    };
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
    if args.purge {
        remove_above(&env, &paths)?;
    }
    if args.scope.is_none() {
        installed.remove()?;
    }
    tell(&paths, args, &plans, installed.files(), &backups, &kept)
}

/// Removes the standard folders above ours where nothing is left in them: whether we made
/// them was written down with the hooks, which may have left long ago.
fn remove_above(env: &Env, paths: &Paths) -> anyhow::Result<()> {
    let config = paths.config_file();
    for (variable, ours) in [
        (name::STATE_DIR, Some(paths.state())),
        (name::CONFIG_DIR, config.parent()),
    ] {
        // Where the user said where, the folders are the user's.
        let ours = ours.filter(|_| env.path(variable).is_none());
        let above = ours.into_iter().flat_map(|ours| ours.ancestors().skip(1));
        let is_below = |folder: &&Path| {
            let home = paths.home().filter(|home| folder != home);
            home.is_some_and(|home| folder.starts_with(home))
        };
        for folder in above.take_while(is_below) {
            fsx::remove_dir_if_empty(folder)?;
        }
    }
    Ok(())
}

fn tell(
    paths: &Paths,
    args: &args::UninstallArgs,
    plans: &[(ClientSettings<'_>, SettingsPlan)],
    removed: &[PathBuf],
    backups: &[PathBuf],
    kept: &[PathBuf],
) -> anyhow::Result<()> {
    let changed = plans.iter().filter(|(_, plan)| plan.is_change());
    let files: Vec<_> = changed.map(|(target, _)| target.file()).collect();
    let mut told = json!({
        "settings": files,
        "removed": removed,
        "backups": backups,
        "kept": kept,
        "purged": args.purge,
    });
    if !args.json {
        told["has_scope"] = args.scope.is_some().into();
        let others = of_client(paths)
            .into_iter()
            .filter(|_| args.scope.is_some());
        told["elsewhere"] = others.map(|record| json!(record.file)).collect();
        // The program that could purge them may be gone by now.
        let config = paths.config_file();
        let folders = config.parent().into_iter().chain([paths.state()]);
        let mut folders: Vec<&Path> = folders.filter(|folder| folder.is_dir()).collect();
        folders.dedup();
        folders.retain(|_| !args.purge);
        told["data"] = json!(folders);
    }
    answer::give(args.json, include_str!("screens/uninstall.txt"), told)
}

fn of_client(paths: &Paths) -> Vec<SettingsRecord> {
    let mut records = recorded(paths);
    records.retain(|record| record.client == paths.client());
    records
}

/// The user's settings, and all others that something was registered in.
fn everywhere<'a>(paths: &'a Paths, records: &[SettingsRecord]) -> Vec<ClientSettings<'a>> {
    let user = paths.client_settings();
    let others = records.iter().filter(|record| !record.is_of(&user));
    let others = others.map(|record| record.file.clone());
    let files = std::iter::once(user.clone()).chain(others);
    let hooks = hooks(paths, SettingsScope::User);
    files
        .map(|file| ClientSettings::new(paths, file, hooks.clone()))
        .collect()
}

fn preview(
    plans: &[(ClientSettings<'_>, SettingsPlan)],
    files: &[PathBuf],
    args: &args::UninstallArgs,
) -> anyhow::Result<()> {
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
    let is_registered = plans.iter().any(|(_, plan)| plan.is_change());
    if !is_registered && files.is_empty() && !args.purge {
        say!("no hooks of ours are registered, and nothing is installed");
    }
    Ok(())
}
