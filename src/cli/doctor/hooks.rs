//! Are the hooks there, and are they registered, once?

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::super::args::Scope;
use super::super::install;
use super::super::session::Session;
use super::super::stage;
use super::check::Check;
use crate::env::name;
use crate::fsx;
use crate::hook::HookEvent;
use crate::paths::Paths;
use crate::setup::{Hooks, registered};

const PROGRAMS: &str = "programs";
const HOOKS: &str = "hooks";
/// The client's settings are small.
const MAX_SETTINGS: u64 = 4 << 20;
/// How the client names our plugin.
const PLUGIN: &str = "playbook@";

/// What was found.
pub(super) struct Found {
    pub(super) checks: Vec<Check>,
    /// The registered commands, to be tried.
    pub(super) trial: Option<stage::Hooks>,
}

/// One file of settings.
struct File {
    path: PathBuf,
    /// The events with a hook of ours, and the command.
    ours: Vec<(HookEvent, String)>,
    /// How many hooks of the earlier Python version.
    earlier: usize,
    json: Value,
}

/// Looks at programs and registrations.
pub(super) fn examine(session: &Session) -> Found {
    let paths = &session.paths;
    let hooks = install::hooks(paths, Scope::User);
    let mut checks = Vec::new();
    let files = files(session, &hooks, &mut checks);
    let plugin = plugin(&files);
    let with_ours: Vec<&File> = files.iter().filter(|file| !file.ours.is_empty()).collect();
    checks.extend(programs(paths, &hooks, with_ours.is_empty()));
    for file in &with_ours {
        checks.push(complete(file));
    }
    if let Some(plugin) = &plugin {
        checks.push(Check::good(
            HOOKS,
            format!("registered by the plugin {plugin}"),
        ));
    }
    if with_ours.is_empty() && plugin.is_none() {
        checks.push(Check::bad(
            HOOKS,
            "not registered with Claude Code: nothing is learned",
            "`playbook install` registers them; `--dry-run` shows the change first",
        ));
    }
    checks.extend(twice(&with_ours, plugin.as_deref()));
    for file in files
        .iter()
        .filter(|file| file.json["disableAllHooks"] == true)
    {
        checks.push(Check::bad(
            HOOKS,
            format!(
                "switched off by `disableAllHooks` in {}",
                file.path.display()
            ),
            "set it to false, or remove it",
        ));
    }
    for file in files.iter().filter(|file| file.earlier > 0) {
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
    let trial = match with_ours.first() {
        Some(file) => Some(trial(session, file)),
        None if plugin.is_some() => of_plugin(&files, &hooks, &mut checks),
        None => None,
    };
    Found { checks, trial }
}

/// Reads the client's settings of the user and of the project.
fn files(session: &Session, hooks: &Hooks, checks: &mut Vec<Check>) -> Vec<File> {
    let project = |scope| install::project_settings(&session.project, scope);
    let user = session.paths.client_settings();
    let mut files = Vec::new();
    for path in [user, project(Scope::Project), project(Scope::Local)] {
        if files.iter().any(|file: &File| file.path == path) {
            continue;
        }
        match read(path.clone(), hooks) {
            Ok(Some(file)) => files.push(file),
            Ok(None) => {}
            Err(why) => checks.push(Check::bad(
                HOOKS,
                format!("could not read settings: {}: {why}", path.display()),
                "mend that line; Claude Code cannot read it either",
            )),
        }
    }
    files
}

fn read(path: PathBuf, hooks: &Hooks) -> Result<Option<File>, String> {
    let bytes = match fsx::read_if_there(&path, MAX_SETTINGS) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        Err(error) => return Err(error.source.to_string()),
    };
    let all = registered(&bytes).map_err(|flaw| flaw.to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    let json = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    let ours = all.iter().filter_map(|told| {
        let event = hooks.named_in(&told.command)?;
        (event.client_name() == told.event).then(|| (event, told.command.clone()))
    });
    Ok(Some(File {
        path,
        ours: ours.collect(),
        earlier: all.iter().filter(|told| told.is_earlier()).count(),
        json,
    }))
}

/// The plugin, by the client's name for it, where it is switched on.
fn plugin(files: &[File]) -> Option<String> {
    let enabled = |file: &File| {
        let plugins = file.json["enabledPlugins"].as_object()?;
        let (name, _) = plugins
            .iter()
            .find(|(name, on)| name.starts_with(PLUGIN) && *on == &Value::Bool(true))?;
        Some(name.clone())
    };
    files.iter().find_map(enabled)
}

/// Says whether the programs that the hooks need are there, and of one version.
fn programs(paths: &Paths, hooks: &Hooks, may_be_missing: bool) -> Option<Check> {
    let missing: Vec<_> = HookEvent::ALL
        .into_iter()
        .filter(|event| !is_program(&hooks.bin().join(event.name())))
        .map(HookEvent::name)
        .collect();
    let place = hooks.bin().display();
    if missing.len() == HookEvent::ALL.len() && may_be_missing {
        return None;
    }
    if !missing.is_empty() {
        return Some(Check::bad(
            PROGRAMS,
            format!("not in {place}: {}", missing.join(", ")),
            "run ./install.sh again",
        ));
    }
    let playbook = hooks.bin().join("playbook");
    let own = env!("CARGO_PKG_VERSION");
    Some(match version_of(&playbook) {
        None => Check::bad(
            PROGRAMS,
            format!("{} does not run", playbook.display()),
            "run ./install.sh again",
        ),
        Some(other) if other != own => Check::note(
            PROGRAMS,
            format!("the hooks in {place} are version {other}, this is {own}"),
            "run ./install.sh again",
        ),
        Some(_) => Check::good(
            PROGRAMS,
            format!(
                "version {own}, {} hooks in {}",
                HookEvent::ALL.len(),
                client(paths)
            ),
        ),
    })
}

fn client(paths: &Paths) -> String {
    paths.client().join("playbook/bin").display().to_string()
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

fn version_of(playbook: &Path) -> Option<String> {
    let done = Command::new(playbook).arg("--version").output().ok()?;
    let said = String::from_utf8(done.stdout).ok()?;
    Some(said.trim().strip_prefix("playbook ")?.to_owned())
}

/// Says whether a file registers every hook.
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

/// Says whether hooks are registered in more than one place.
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

/// The registered commands with what they need to find their programs.
fn trial(session: &Session, file: &File) -> stage::Hooks {
    let command = |event: HookEvent| {
        let found = file.ours.iter().find(|(ours, _)| *ours == event);
        found.map_or_else(String::new, |(_, command)| command.clone())
    };
    let home = session.paths.home().map(Path::to_owned);
    let mut vars = vec![(name::CLAUDE_CONFIG_DIR, session.paths.client().to_owned())];
    vars.extend(home.map(|home| (name::HOME, home)));
    stage::Hooks::Registered {
        start: command(HookEvent::SessionStart),
        end: command(HookEvent::SessionEnd),
        vars,
    }
}

/// The hooks that the plugin runs: its own, else the installed ones.
fn of_plugin(files: &[File], hooks: &Hooks, checks: &mut Vec<Check>) -> Option<stage::Hooks> {
    let sources = files
        .iter()
        .filter_map(|file| file.json["extraKnownMarketplaces"].as_object())
        .flat_map(serde_json::Map::values)
        .filter_map(|market| market["source"]["path"].as_str())
        .map(|path| Path::new(path).join("bin"));
    let bin = sources
        .chain([hooks.bin().to_owned()])
        .find(|bin| is_program(&bin.join(HookEvent::SessionStart.name())));
    let Some(bin) = bin else {
        checks.push(Check::bad(
            PROGRAMS,
            "neither the plugin nor the client's folder has the programs of the hooks",
            "in the plugin's folder: ./install.sh --plugin; or ./install.sh",
        ));
        return None;
    };
    let command = |event: HookEvent| format!("\"$PLUGIN_BIN/{}\"", event.name());
    Some(stage::Hooks::Registered {
        start: command(HookEvent::SessionStart),
        end: command(HookEvent::SessionEnd),
        vars: vec![("PLUGIN_BIN", bin)],
    })
}
