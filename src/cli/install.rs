//! `playbook install`: registers the hooks in the client's settings.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use similar::TextDiff;

use super::args::{self, SettingsScope};
use super::output::{self, Hinted, one_line, plain, say};
use super::session::NamedSession;
use super::{answer, merge, session, trust};
use crate::env::Env;
use crate::hook::HookEvent;
use crate::paths::{Paths, playbook_file};
use crate::setup::templates::{self, Laid};
use crate::setup::{ClientSettings, Earlier, Hooks, SettingsPlan, Spelling};
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
    let mut plan = settings.plan_install(Earlier::Keep)?;
    let replaced = !plan.earlier.is_empty() && (args.replace_earlier || agrees(args, &plan)?);
    if replaced {
        plan = settings.plan_install(Earlier::Replace)?;
    }
    match (args.dry_run, args.json) {
        (true, true) => return output::json(&diff_of(&settings, &plan)),
        (true, false) => return show_diff(&settings, &plan),
        (false, _) => {}
    }
    let backup = settings.carry_out(&plan)?;
    let laid = match args.scope {
        SettingsScope::User => templates::lay_out(&paths)?,
        SettingsScope::Project | SettingsScope::Local => Vec::new(),
    };
    let commands = plan.earlier.iter().map(|(_, told)| &told.command);
    let mut told = json!({
        "file": settings.file(),
        "changed": plan.is_change(),
        "hooks": HookEvent::ALL.map(HookEvent::client_name),
        "backup": backup,
        "earlier": commands.collect::<Vec<_>>(),
        "earlier_replaced": replaced,
        "templates": laid.iter().map(|(file, _)| file).collect::<Vec<_>>(),
    });
    if let Ok(session) = NamedSession::look(args.project.as_deref()) {
        let (account, sent) = (session.account_to_look_at(), session.sent());
        told["pays"] = sent.pays(&account).into();
        told["sends"] = sent.sends(&account, &session.config).into();
    }
    if !args.json {
        let earlier = plan.earlier.iter().filter(|_| !replaced);
        let earlier = earlier.map(|(line, told)| json!([line, told.command]));
        told["earlier_kept"] = earlier.collect();
        let kept = laid.iter().filter(|(_, how)| *how == Laid::Beside);
        told["templates_kept"] = kept.map(|(file, _)| json!(file)).collect();
        told["untrusted"] = untrusted(&paths).into();
    }
    answer::give(args.json, include_str!("screens/install.txt"), told)
}

fn untrusted(paths: &Paths) -> usize {
    let is_waiting = |project: &PathBuf| {
        let standing = TrustStanding::of(paths, project);
        matches!(standing, TrustStanding::Foreign | TrustStanding::Replaced)
            && playbook_file(project).exists()
    };
    trust::known(paths).into_iter().filter(is_waiting).count()
}

pub(super) fn settings<'a>(
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

/// The hooks that are installed; where none is, as after `cargo install`, this program answers.
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

/// Hooks that are not there would fail at every session.
fn look_for_hooks(hooks: &Hooks, scope: SettingsScope) -> anyhow::Result<()> {
    if hooks.stand_in().is_some() && scope != SettingsScope::Project {
        return Ok(());
    }
    let missing = HookEvent::ALL
        .into_iter()
        .map(|event| hooks.bin().join(event.name()))
        .find(|hook| !hook.is_file());
    let Some(hook) = missing else {
        return Ok(());
    };
    Err(Hinted::error(
        format!(
            "could not register the hooks: {}: not there",
            hook.display()
        ),
        "`./install.sh` in Playbook's folder builds and installs them",
    ))
}

/// Asks whether the hooks of the earlier version are to leave; without a terminal they stay.
fn agrees(args: &args::InstallArgs, plan: &SettingsPlan) -> anyhow::Result<bool> {
    if args.dry_run || args.json || !io::stderr().is_terminal() {
        return Ok(false);
    }
    let mut question = "Hooks of the earlier Python version are registered:\n".to_owned();
    for (_, told) in &plan.earlier {
        let (event, command) = (plain(&told.event), plain(&told.command));
        // Writing to a string cannot fail.
        _ = writeln!(question, "  {event}: {command}");
    }
    Ok(output::confirm(&(question + "Replace them?"))?.unwrap_or_default())
}

pub(super) fn diff_of(settings: &ClientSettings<'_>, plan: &SettingsPlan) -> Value {
    json!({"file": settings.file(), "changed": plan.is_change(), "diff": changes(settings, plan)})
}

pub(super) fn show_diff(settings: &ClientSettings<'_>, plan: &SettingsPlan) -> anyhow::Result<()> {
    let diff = changes(settings, plan);
    if diff.is_empty() {
        let file = one_line(&settings.file().to_string_lossy());
        say!("{file} stays as it is");
    }
    for line in diff.lines() {
        let words: Vec<_> = line.split('\t').map(one_line).collect();
        // A patch is whole, also on a narrow screen.
        output::whole(format_args!("{}", words.join("\t")))?;
    }
    Ok(())
}

fn changes(settings: &ClientSettings<'_>, plan: &SettingsPlan) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (before, after) = (text(&plan.before), text(&plan.after));
    let name = settings.file().to_string_lossy();
    let changes = TextDiff::from_lines(&before, &after);
    changes.unified_diff().header(&name, &name).to_string()
}
