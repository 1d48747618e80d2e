//! `playbook install` registers the hooks in the client's settings; `playbook uninstall` reverses
//! that and install.sh.

use similar::TextDiff;

use super::args::SettingsScope;
use super::output::one_line;
use super::prelude::*;
use super::{merge, session, trust};
use crate::hook::HookEvent;
use crate::queue::worker_lock::{self, Holder, LockError};
use crate::redact::Masker;
use crate::setup::{
    ClientSettings, Hooks, Installed, SettingsPlan, SettingsRecord, Spelling, purge, recorded,
    templates,
};
use crate::trust::TrustStanding;

pub(super) fn run(args: &args::InstallArgs) -> anyhow::Result<()> {
    let env = Env::from_process();
    if args.merge_driver {
        return merge::install(&env, args);
    }
    let paths = Paths::resolve(&env)?;
    let mut hooks = hooks(&paths, args.scope);
    if args.hooks_to_come {
        hooks = installed_hooks(&paths, args.scope);
    }
    let place = (args.scope, args.project.as_deref());
    let settings = settings(&env, &paths, place, hooks.clone())?;
    if !args.dry_run {
        look_for_hooks(&hooks, args.scope)?;
    }
    let plan = settings.plan_install()?;
    if args.dry_run {
        return if args.json {
            output::json(&diff_of(&settings, &plan))
        } else {
            show_diff(&settings, &plan)
        };
    }
    let backup = settings.carry_out(&plan)?;
    let (laid, kept) = match args.scope {
        SettingsScope::User => templates::lay_out(&paths)?,
        SettingsScope::Project | SettingsScope::Local => Default::default(),
    };
    let commands = plan.earlier.iter().map(|(_, hook)| &hook.command);
    let mut answer = json!({
        "file": settings.file(),
        "changed": plan.is_change(),
        "hooks": HookEvent::REGISTERED.map(HookEvent::client_name),
        "backup": backup,
        "earlier": commands.collect::<Vec<_>>(),
        "templates": laid,
    });
    if let Ok(session) = NamedSession::look(args.project.as_deref()) {
        let (account, sent) = (session.account_to_look_at(), session.sent());
        answer["pays"] = sent.pays(&account).into();
        answer["sends"] = sent.sends(&account, &session.config).into();
    }
    if !args.json {
        let earlier = plan.earlier.iter();
        let earlier = earlier.map(|(line, hook)| json!([line, hook.command]));
        answer["earlier_kept"] = earlier.collect();
        answer["templates_kept"] = json!(kept);
        answer["untrusted"] = untrusted(&paths).into();
    }
    answer::give(args.json, include_str!("screens/install.txt"), answer)
}

fn untrusted(paths: &Paths) -> usize {
    let is_waiting = |project: &PathBuf| {
        let standing = TrustStanding::of(paths, project);
        matches!(standing, TrustStanding::Foreign | TrustStanding::Replaced)
            && playbook_file(project).exists()
    };
    trust::known(paths).into_iter().filter(is_waiting).count()
}

fn settings<'a>(
    env: &Env,
    paths: &'a Paths,
    (scope, project): (SettingsScope, Option<&Path>),
    hooks: Hooks,
) -> anyhow::Result<ClientSettings<'a>> {
    let file = match scope {
        SettingsScope::User => paths.client_settings(),
        SettingsScope::Project | SettingsScope::Local => {
            project_settings(&session::project(env, project)?, scope)
        }
    };
    Ok(ClientSettings::new(paths, file, hooks))
}

pub(super) fn project_settings(project: &Path, scope: SettingsScope) -> PathBuf {
    project.join(".claude").join(match scope {
        SettingsScope::Local => "settings.local.json",
        SettingsScope::User | SettingsScope::Project => "settings.json",
    })
}

/// Returns the installed hooks. Without any, as after `cargo install`, this program answers.
pub(super) fn hooks(paths: &Paths, scope: SettingsScope) -> Hooks {
    let hooks = installed_hooks(paths, scope);
    let is_there = |event: HookEvent| hooks.bin().join(event.name()).is_file();
    match std::env::current_exe() {
        Ok(playbook) if !HookEvent::ALL.into_iter().any(is_there) => hooks.answered_by(playbook),
        _ => hooks,
    }
}

fn installed_hooks(paths: &Paths, scope: SettingsScope) -> Hooks {
    let spelling = match scope {
        SettingsScope::Project => Spelling::Portable,
        SettingsScope::User | SettingsScope::Local => Spelling::Path,
    };
    Hooks::of_client(paths.client(), paths.home(), spelling)
}

/// Returns an error if a hook's program is missing, because it would fail at every session.
fn look_for_hooks(hooks: &Hooks, scope: SettingsScope) -> anyhow::Result<()> {
    if hooks.stand_in().is_some() && scope != SettingsScope::Project {
        return Ok(());
    }
    let mut all = HookEvent::REGISTERED
        .into_iter()
        .map(|event| hooks.bin().join(event.name()));
    all.find(|hook| !hook.is_file()).map_or(Ok(()), |hook| {
        let hook = hook.display();
        Err(Hinted::error(
            format!("could not register the hooks: {hook}: not there"),
            "`./install.sh` in Playbook's folder builds and installs them",
        ))
    })
}

fn diff_of(settings: &ClientSettings<'_>, plan: &SettingsPlan) -> Value {
    json!({"file": settings.file(), "changed": plan.is_change(), "diff": changes(settings, plan)})
}

fn show_diff(settings: &ClientSettings<'_>, plan: &SettingsPlan) -> anyhow::Result<()> {
    let diff = changes(settings, plan);
    if diff.is_empty() {
        let file = one_line(&settings.file().to_string_lossy());
        say!("{file} stays as it is");
    }
    for line in diff.lines() {
        let words: Vec<_> = line.split('\t').map(one_line).collect();
        // A patch is never wrapped, not even on a narrow screen.
        output::whole(format_args!("{}", words.join("\t")))?;
    }
    Ok(())
}

fn changes(settings: &ClientSettings<'_>, plan: &SettingsPlan) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (before, after) = (text(&plan.before), text(&plan.after));
    let name = settings.file().to_string_lossy();
    let changes = TextDiff::from_lines(&before, &after);
    let diff = changes.unified_diff().header(&name, &name).to_string();
    // The lines around ours may hold the user's keys.
    Masker::default().mask(&diff).into_owned()
}

/// The time in which a running worker must end before its files are removed.
const PATIENCE: Duration = Duration::from_secs(10);

/// Removes the hooks from the settings; without a scope, also everything else.
pub(super) fn uninstall(args: &args::UninstallArgs) -> anyhow::Result<()> {
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
    // If any settings cannot be edited, nothing is done: hooks without their programs would fail at
    // every session.
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
        return preview(&plans, &installed.files, args);
    }
    // The folders that were created for us outside our own, the innermost first.
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
    // Only now can all of them be empty.
    for folder in &made {
        fsx::remove_dir_if_empty(folder)?;
    }
    if args.purge {
        remove_above(&env, &paths)?;
    }
    if args.scope.is_none() {
        installed.remove()?;
    }
    tell_uninstalled(&paths, args, &plans, &installed.files, &backups, &kept)
}

/// Removes the standard folders above ours if empty; their record may be gone with the hooks.
fn remove_above(env: &Env, paths: &Paths) -> anyhow::Result<()> {
    let config = paths.config_file();
    for (variable, ours) in [
        (name::STATE_DIR, Some(paths.state())),
        (name::CONFIG_DIR, config.parent()),
    ] {
        // Folders that the user chose belong to the user.
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

fn tell_uninstalled(
    paths: &Paths,
    args: &args::UninstallArgs,
    plans: &[(ClientSettings<'_>, SettingsPlan)],
    removed: &[PathBuf],
    backups: &[PathBuf],
    kept: &[PathBuf],
) -> anyhow::Result<()> {
    let changed = plans.iter().filter(|(_, plan)| plan.is_change());
    let files: Vec<_> = changed.map(|(target, _)| target.file()).collect();
    let mut answer = json!({
        "settings": files,
        "removed": removed,
        "backups": backups,
        "kept": kept,
        "purged": args.purge,
    });
    if !args.json {
        answer["has_scope"] = args.scope.is_some().into();
        let others = of_client(paths)
            .into_iter()
            .filter(|_| args.scope.is_some());
        answer["elsewhere"] = others.map(|record| json!(record.file)).collect();
        // The program that could purge them may be removed by now.
        let config = paths.config_file();
        let folders = config.parent().into_iter().chain([paths.state()]);
        let mut folders: Vec<&Path> = folders.filter(|folder| folder.is_dir()).collect();
        folders.dedup();
        folders.retain(|_| !args.purge);
        answer["data"] = json!(folders);
    }
    answer::give(args.json, include_str!("screens/uninstall.txt"), answer)
}

fn of_client(paths: &Paths) -> Vec<SettingsRecord> {
    let mut records = recorded(paths);
    records.retain(|record| record.client == paths.client());
    records
}

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
