//! Are the hooks registered, once, and for every time?

use super::super::args::SettingsScope;
use super::super::gate::program;
use super::super::install;
use super::super::sandbox;
use super::super::session::NamedSession;
use super::DoctorCheck;
use super::programs;
use super::settings::{self, Files, SettingsFile};
use crate::config::GateMode;
use crate::hook::HookEvent;
use crate::setup::{Hooks, is_of_stand_in};

pub(super) const HOOKS: &str = "hooks";
const GATE: &str = "gate";
const UNREGISTERED: &str = "not registered with Claude Code: nothing is learned";

pub(super) struct HookFindings {
    pub(super) checks: Vec<DoctorCheck>,
    pub(super) trial: Option<sandbox::TrialHooks>,
}

/// Why Claude Code calls none of our hooks; `None` where it does, or where that cannot be told.
pub(in crate::cli) fn lack(session: &NamedSession) -> Option<String> {
    let hooks = install::hooks(&session.paths, SettingsScope::User);
    let files = settings::read(session, &hooks);
    let is_ours = !files.unreadable.is_empty()
        || files.plugin().is_some()
        || files.all.iter().any(|file| !file.ours.is_empty());
    (!is_ours).then(|| format!("the hooks are {UNREGISTERED}"))
}

pub(super) fn examine(session: &NamedSession) -> HookFindings {
    let hooks = install::hooks(&session.paths, SettingsScope::User);
    let mut files = settings::read(session, &hooks);
    let mut checks = std::mem::take(&mut files.unreadable);
    let are_all_read = checks.is_empty();
    let plugin = files.plugin();
    let with_ours = files.all.iter().filter(|file| !file.ours.is_empty());
    let with_ours: Vec<&SettingsFile> = with_ours.collect();
    let mut commands = with_ours.iter().flat_map(|file| &file.ours);
    let has_stand_in = commands.any(|(event, command)| is_of_stand_in(*event, command));
    let stand_in = hooks.stand_in().filter(|_| has_stand_in);
    checks.extend(match stand_in {
        Some(playbook) => Some(programs::standing_in(playbook)),
        None => programs::installed(&hooks, with_ours.is_empty()),
    });
    for file in &with_ours {
        checks.push(complete(file));
        checks.extend(matched(file, &hooks));
        checks.extend(more(file, &hooks));
    }
    if let Some(plugin) = &plugin {
        let text = format!("registered by the plugin {plugin}");
        checks.push(DoctorCheck::good(HOOKS, text));
    }
    if with_ours.is_empty() && plugin.is_none() && are_all_read {
        let text = UNREGISTERED;
        let todo = "`playbook install` registers them; `--dry-run` shows the change first";
        checks.push(DoctorCheck::bad(HOOKS, text, todo));
    }
    checks.extend(twice(&with_ours, plugin.as_deref()));
    checks.extend(gate(session, &files));
    if let Some(file) = files.off_by() {
        let text = format!(
            "switched off by `disableAllHooks` in {}",
            file.path.display()
        );
        checks.push(DoctorCheck::bad(
            HOOKS,
            text,
            "set it to false, or remove it",
        ));
    }
    for file in files.all.iter().filter(|file| file.earlier > 0) {
        let (number, place) = (file.earlier, file.path.display());
        let text = format!("{number} hooks of the earlier Python version in {place}: both learn");
        let todo = "`playbook install --replace-earlier` replaces them";
        checks.push(DoctorCheck::note(HOOKS, text, todo));
    }
    let trial = match plugin {
        _ if stand_in.is_some() => Some(sandbox::TrialHooks::Ours),
        _ if !with_ours.is_empty() => Some(sandbox::TrialHooks::In(hooks.bin().to_owned())),
        Some(plugin) => programs::of_plugin(session, &files, &plugin, &hooks)
            .map_err(|check| checks.push(check))
            .ok(),
        None => None,
    };
    HookFindings { checks, trial }
}

/// Says whether setting and hook go together; nothing where there is neither.
fn gate(session: &NamedSession, files: &Files) -> Option<DoctorCheck> {
    let mode = session.config.gate.mode;
    let hook = files.of_user(session).and_then(|file| file.gate.as_ref());
    let anew = "`playbook gate on` registers it anew, `playbook gate off` takes it out";
    Some(match (mode, hook) {
        (GateMode::Off, None) => return None,
        (GateMode::Off, Some(_)) => {
            let text = "off, and its hook is registered, which costs Claude Code time";
            DoctorCheck::note(GATE, text, "`playbook gate off` takes it out")
        }
        (_, None) => DoctorCheck::note(GATE, "on, and its hook is not registered", anew),
        (_, Some(command)) => match program(session) {
            Ok(program) if *command != Hooks::gate_command(&program) => DoctorCheck::note(
                GATE,
                "its hook leads to another program than this one",
                anew,
            ),
            _ => DoctorCheck::good(GATE, format!("on: {}", mode.word())),
        },
    })
}

fn complete(file: &SettingsFile) -> DoctorCheck {
    let place = file.path.display();
    let has = |event: &HookEvent| file.ours.iter().any(|(ours, _)| ours == event);
    let missing = HookEvent::ALL.into_iter().filter(|event| !has(event));
    match names(missing) {
        None => DoctorCheck::good(HOOKS, format!("registered in {place}")),
        Some(missing) => {
            let text = format!("not all registered in {place}: no {missing}");
            DoctorCheck::bad(HOOKS, text, "`playbook install` adds what is missing")
        }
    }
}

fn names(events: impl Iterator<Item = HookEvent>) -> Option<String> {
    let names: Vec<_> = events.map(HookEvent::client_name).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn twice(files: &[&SettingsFile], plugin: Option<&str>) -> Option<DoctorCheck> {
    let places = files.iter().map(|file| file.path.display().to_string());
    let plugin = plugin.map(|name| format!("the plugin {name}"));
    let places: Vec<String> = places.chain(plugin).collect();
    (places.len() > 1).then(|| {
        let (times, places) = (places.len(), places.join(", "));
        let text = format!(
            "registered {times} times: {places}; each session still counts once, but Claude Code starts each hook {times} times"
        );
        let todo = "keep one: `playbook uninstall --scope user` (or project, local), or remove \
                    the plugin with /plugin";
        DoctorCheck::note(HOOKS, text, todo)
    })
}

fn matched(file: &SettingsFile, hooks: &Hooks) -> Vec<DoctorCheck> {
    let limited = HookEvent::ALL.into_iter().filter_map(|event| {
        let matcher = file.matcher(hooks, event)?;
        let (place, name) = (file.path.display(), event.client_name());
        let text = format!("{name} in {place} is called for `{matcher}` only");
        let todo = "remove its `matcher`, unless you mean it";
        Some(DoctorCheck::note(HOOKS, text, todo))
    });
    limited.collect()
}

/// Says which commands do more than run a hook: the trial runs the hook alone.
fn more(file: &SettingsFile, hooks: &Hooks) -> Option<DoctorCheck> {
    let more = file.ours.iter();
    let more = more.filter(|(event, command)| !hooks.is_bare(*event, command));
    let names = names(more.map(|(event, _)| *event))?;
    let place = file.path.display();
    let text = format!(
        "the command in {place} does more than run the hook, or runs it in another way: {names}"
    );
    let todo = "look at that line; only the program of the hook is tried here";
    Some(DoctorCheck::note(HOOKS, text, todo))
}
