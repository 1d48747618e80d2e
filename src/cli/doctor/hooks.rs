//! Are the hooks registered, once, and for every time?

use super::super::args::Scope;
use super::super::install;
use super::super::session::Session;
use super::super::stage;
use super::check::Check;
use super::programs;
use super::settings::{self, File};
use crate::hook::HookEvent;
use crate::setup::Hooks;

pub(super) const HOOKS: &str = "hooks";

pub(super) struct Found {
    pub(super) checks: Vec<Check>,
    pub(super) trial: Option<stage::Hooks>,
}

pub(super) fn examine(session: &Session) -> Found {
    let hooks = install::hooks(&session.paths, Scope::User);
    let mut files = settings::read(session, &hooks);
    let mut checks = std::mem::take(&mut files.unreadable);
    let are_all_read = checks.is_empty();
    let plugin = files.plugin();
    let with_ours: Vec<&File> = files
        .all
        .iter()
        .filter(|file| !file.ours.is_empty())
        .collect();
    checks.extend(programs::installed(&hooks, with_ours.is_empty()));
    for file in &with_ours {
        checks.push(complete(file));
        checks.extend(matched(file, &hooks));
        checks.extend(more(file, &hooks));
    }
    if let Some(plugin) = &plugin {
        checks.push(Check::good(
            HOOKS,
            format!("registered by the plugin {plugin}"),
        ));
    }
    if with_ours.is_empty() && plugin.is_none() && are_all_read {
        checks.push(Check::bad(
            HOOKS,
            "not registered with Claude Code: nothing is learned",
            "`playbook install` registers them; `--dry-run` shows the change first",
        ));
    }
    checks.extend(twice(&with_ours, plugin.as_deref()));
    if let Some(file) = files.off_by() {
        checks.push(Check::bad(
            HOOKS,
            format!(
                "switched off by `disableAllHooks` in {}",
                file.path.display()
            ),
            "set it to false, or remove it",
        ));
    }
    for file in files.all.iter().filter(|file| file.earlier > 0) {
        checks.push(Check::note(
            HOOKS,
            format!(
                "{} hooks of the earlier Python version in {}: both learn",
                file.earlier,
                file.path.display()
            ),
            "`playbook install --replace-earlier` replaces them",
        ));
    }
    let trial = match plugin {
        _ if !with_ours.is_empty() => Some(stage::Hooks::In(hooks.bin().to_owned())),
        Some(plugin) => match programs::of_plugin(session, &files, &plugin, &hooks) {
            Ok(found) => Some(found),
            Err(check) => {
                checks.push(check);
                None
            }
        },
        None => None,
    };
    Found { checks, trial }
}

fn complete(file: &File) -> Check {
    let place = file.path.display();
    let has = |event: &HookEvent| file.ours.iter().any(|(ours, _)| ours == event);
    let missing: Vec<_> = HookEvent::ALL
        .into_iter()
        .filter(|event| !has(event))
        .map(HookEvent::client_name)
        .collect();
    if missing.is_empty() {
        Check::good(HOOKS, format!("registered in {place}"))
    } else {
        Check::bad(
            HOOKS,
            format!("not all registered in {place}: no {}", missing.join(", ")),
            "`playbook install` adds what is missing",
        )
    }
}

fn twice(files: &[&File], plugin: Option<&str>) -> Option<Check> {
    let places: Vec<String> = files
        .iter()
        .map(|file| file.path.display().to_string())
        .chain(plugin.map(|name| format!("the plugin {name}")))
        .collect();
    (places.len() > 1).then(|| {
        Check::note(
            HOOKS,
            format!(
                "registered {} times: {}; they count as one, and cost the client time",
                places.len(),
                places.join(", ")
            ),
            "keep one: `playbook uninstall --scope user` (or project, local), or remove the plugin with /plugin",
        )
    })
}

/// Says which hooks are called at some times only.
fn matched(file: &File, hooks: &Hooks) -> Vec<Check> {
    let limited = HookEvent::ALL.into_iter().filter_map(|event| {
        let matcher = file.matcher(hooks, event)?;
        let (place, name) = (file.path.display(), event.client_name());
        let text = format!("{name} in {place} is called for `{matcher}` only");
        Some(Check::note(
            HOOKS,
            text,
            "remove its `matcher`, unless you mean it",
        ))
    });
    limited.collect()
}

/// Says which commands do more than run a hook: the trial runs the hook alone.
fn more(file: &File, hooks: &Hooks) -> Option<Check> {
    let names: Vec<_> = file
        .with_more(hooks)
        .into_iter()
        .map(HookEvent::client_name)
        .collect();
    (!names.is_empty()).then(|| {
        let (place, names) = (file.path.display(), names.join(", "));
        Check::note(
            HOOKS,
            format!("the command in {place} does more than run the hook, or runs it in another way: {names}"),
            "look at that line; only the program of the hook is tried here",
        )
    })
}
