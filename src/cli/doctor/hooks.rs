//! Checks that the hooks are registered once and without a matcher, and that their programs work.
//!
//! The client's settings of the user and the project are read but never followed, because a
//! project's may have come from anywhere. Programs are run only from known places, never from one
//! that a settings file names.

use std::process::Command;

use super::super::args::SettingsScope;
use super::super::gate::program;
use super::super::guard::{self, GUARD};
use super::super::install;
use super::super::output::counted;
use super::super::sandbox::{self, TrialHooks};
use super::Checks;
use crate::backend::child::Followers;
use crate::cli::prelude::*;
use crate::config::GateMode;
use crate::hook::HookEvent;
use crate::setup::{Hooks, is_of_stand_in, registered};

const UNREGISTERED: &str = "not registered with Claude Code: nothing is learned";
const MAX_SETTINGS: u64 = 4 << 20;
const PLUGIN: &str = "playbook@";
const ALL_PASS: [&str; 3] = ["", "*", ".*"];
const LIMIT: Duration = Duration::from_secs(5);

/// Returns why Claude Code calls none of our hooks. `None` if it does, or if a file that may
/// register them cannot be read.
pub(in crate::cli) fn lack(session: &NamedSession) -> Option<String> {
    let hooks = install::hooks(&session.paths, SettingsScope::User);
    let mut unreadable = Checks::default();
    let files = read(session, &hooks, &mut unreadable);
    let is_ours = !unreadable.0.is_empty()
        || plugin(&files).is_some()
        || files.iter().any(|file| !file.ours.is_empty());
    (!is_ours).then(|| format!("the hooks are {UNREGISTERED}"))
}

pub(super) fn examine(session: &NamedSession, checks: &mut Checks) -> Option<TrialHooks> {
    let hooks = install::hooks(&session.paths, SettingsScope::User);
    let files = read(session, &hooks, checks);
    let are_all_read = checks.0.is_empty();
    let plugin = plugin(&files);
    let with_ours = files.iter().filter(|file| !file.ours.is_empty());
    let with_ours: Vec<&SettingsFile> = with_ours.collect();
    let mut commands = with_ours.iter().flat_map(|file| &file.ours);
    let has_stand_in = commands.any(|(event, command)| is_of_stand_in(*event, command));
    let stand_in = hooks.stand_in().filter(|_| has_stand_in);
    if let Some(playbook) = stand_in {
        let playbook = playbook.display();
        let text = format!("{playbook} answers in the place of the hooks");
        checks.good("programs", text);
    } else {
        installed(&hooks, with_ours.is_empty(), checks);
    }
    for file in &with_ours {
        registered_in(file, &hooks, checks);
    }
    if let Some(plugin) = &plugin {
        checks.good("hooks", format!("registered by the plugin {plugin}"));
    }
    let plugin_named = plugin.iter().map(|name| format!("the plugin {name}"));
    let places = with_ours.iter().map(|file| file.place());
    let places: Vec<String> = places.chain(plugin_named).collect();
    if places.is_empty() && are_all_read {
        let todo = "`playbook install` registers them; `--dry-run` shows the change first";
        checks.bad("hooks", UNREGISTERED, todo);
    } else if places.len() > 1 {
        let (times, places) = (places.len(), places.join(", "));
        let text = format!(
            "registered {times} times: {places}; each session still counts once, but Claude Code starts each hook {times} times"
        );
        let todo = "keep one: `playbook uninstall --scope user` (or project, local), or remove \
                    the plugin with /plugin";
        checks.note("hooks", text, todo);
    }
    gate(session, &files, checks);
    guard(session, &files, checks);
    // The last file that has the key wins.
    let mut said = files.iter().rev();
    let off = said.find(|file| file.json["disableAllHooks"].is_boolean());
    if let Some(file) = off.filter(|file| file.json["disableAllHooks"] == true) {
        let text = format!("switched off by `disableAllHooks` in {}", file.place());
        checks.bad("hooks", text, "set it to false, or remove it");
    }
    for file in files.iter().filter(|file| file.earlier > 0) {
        let (number, place) = (file.earlier, file.place());
        let text = format!("{number} hooks of the earlier Python version in {place}: both learn");
        let todo = "take them out of that file";
        checks.note("hooks", text, todo);
    }
    match plugin {
        _ if stand_in.is_some() => Some(TrialHooks::Ours),
        _ if !with_ours.is_empty() => Some(TrialHooks::In(hooks.bin().to_owned())),
        Some(plugin) => of_plugin(session, &files, &plugin, &hooks, checks),
        None => None,
    }
}

fn gate(session: &NamedSession, files: &[SettingsFile], checks: &mut Checks) {
    let mode = session.config.gate.mode;
    let hook = of_user(session, files).and_then(|file| file.switched[1].as_ref());
    let again = "`playbook gate on` registers it anew, `playbook gate off` takes it out";
    match (mode, hook) {
        (GateMode::Off, None) => {}
        (GateMode::Off, Some(_)) => {
            let text = "off, and its hook is registered, which costs Claude Code time";
            checks.note("gate", text, "`playbook gate off` takes it out");
        }
        (_, None) => checks.note("gate", "on, and its hook is not registered", again),
        (_, Some(command)) => match program(session) {
            Ok(program) if *command != Hooks::switch_command(&program, HookEvent::Stop) => {
                let text = "its hook leads to another program than this one";
                checks.note("gate", text, again);
            }
            _ => checks.good("gate", format!("on: {}", mode.word())),
        },
    }
}

/// Checks that guarded key points and the hook that turns commands back go together.
fn guard(session: &NamedSession, files: &[SettingsFile], checks: &mut Checks) {
    // A playbook that cannot be read is reported elsewhere.
    let count = guard::guarded(session).map_or(0, |points| points.len());
    let points = format!("{} with a guard", counted(count, "key point"));
    let hook = of_user(session, files).and_then(|file| file.switched[0].as_ref());
    let again = "`playbook guard on` registers it";
    match hook {
        None if count == 0 => {}
        None => {
            let text = format!("{points}, and its hook is not registered");
            checks.note("guard", text, again);
        }
        Some(command) if guard::command(session).is_ok_and(|ours| ours != *command) => {
            let text = "its hook leads to another program than this one";
            checks.note("guard", text, again);
        }
        Some(_) => checks.good("guard", format!("on: {points}")),
    }
}

/// Checks that a file registers all our hooks, without matchers and other commands.
fn registered_in(file: &SettingsFile, hooks: &Hooks, checks: &mut Checks) {
    let place = file.place();
    let names = |events: &[HookEvent]| {
        let names = events.iter().map(|event| event.client_name());
        names.collect::<Vec<_>>().join(", ")
    };
    let has = |event: &HookEvent| file.ours.iter().any(|(ours, _)| ours == event);
    let missing = HookEvent::REGISTERED
        .into_iter()
        .filter(|event| !has(event));
    let missing: Vec<_> = missing.collect();
    if missing.is_empty() {
        checks.good("hooks", format!("registered in {place}"));
    } else {
        let text = format!("not all registered in {place}: no {}", names(&missing));
        checks.bad("hooks", text, "`playbook install` adds what is missing");
    }
    for event in HookEvent::REGISTERED {
        if let Some(matcher) = file.matcher(hooks, event) {
            let name = event.client_name();
            let text = format!("{name} in {place} is called for `{matcher}` only");
            checks.note("hooks", text, "remove its `matcher`, unless you mean it");
        }
    }
    let more = file.ours.iter();
    let more = more.filter(|(event, command)| !hooks.is_bare(*event, command));
    let more: Vec<_> = more.map(|(event, _)| *event).collect();
    if !more.is_empty() {
        let text = format!(
            "the command in {place} does more than run the hook, or runs it in another way: {}",
            names(&more)
        );
        let todo = "look at that line; only the program of the hook is tried here";
        checks.note("hooks", text, todo);
    }
}

struct SettingsFile {
    path: PathBuf,
    ours: Vec<(HookEvent, String)>,
    /// The commands of the hooks in [`HookEvent::SWITCHED`].
    switched: [Option<String>; 2],
    earlier: usize,
    json: Value,
}

/// Reads the settings files, the user's first; later files override earlier ones.
fn read(session: &NamedSession, hooks: &Hooks, checks: &mut Checks) -> Vec<SettingsFile> {
    let project = |scope| install::project_settings(&session.project, scope);
    let shared = project(SettingsScope::Project);
    let local = project(SettingsScope::Local);
    let mut paths = vec![session.paths.client_settings(), shared, local];
    paths.dedup();
    let mut files = Vec::new();
    for path in paths {
        let mut bad = |why: String, todo| {
            let text = format!("could not read settings: {}: {why}", path.display());
            checks.bad("hooks", text, todo);
        };
        let bytes = match fsx::read_if_there(&path, MAX_SETTINGS) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => continue,
            Err(error) => {
                let todo = "make it a file of yours that can be read, or remove it";
                bad(error.source.to_string(), todo);
                continue;
            }
        };
        let all = match registered(&bytes) {
            Ok(all) => all,
            Err(flaw) => {
                bad(
                    flaw.to_string(),
                    "mend that line; Claude Code cannot read it either",
                );
                continue;
            }
        };
        let text = String::from_utf8_lossy(&bytes);
        let json = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
        let ours = all.iter().filter_map(|hook| {
            let event = hooks.named_in(&hook.command)?;
            let is_its = event.client_name() == hook.event && event != GUARD;
            is_its.then(|| (event, hook.command.clone()))
        });
        let switched = HookEvent::SWITCHED.map(|event| {
            let hook = all.iter().find(|hook| hook.is_of_switch(event))?;
            Some(hook.command.clone())
        });
        files.push(SettingsFile {
            switched,
            ours: ours.collect(),
            earlier: all.iter().filter(|hook| hook.is_earlier()).count(),
            path,
            json,
        });
    }
    files
}

/// Returns the user's own file, which cannot have come with a project.
fn of_user<'f>(session: &NamedSession, files: &'f [SettingsFile]) -> Option<&'f SettingsFile> {
    let user = session.paths.client_settings();
    files.iter().find(|file| file.path == user)
}

/// Returns the plugin's name in the client, if the last file that mentions it enables it.
fn plugin(files: &[SettingsFile]) -> Option<String> {
    let plugins = |file: &'_ SettingsFile| file.json["enabledPlugins"].as_object().cloned();
    let said: serde_json::Map<_, _> = files.iter().filter_map(plugins).flatten().collect();
    said.into_iter()
        .find(|(name, on)| name.starts_with(PLUGIN) && *on == Value::Bool(true))
        .map(|(name, _)| name)
}

impl SettingsFile {
    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn matcher(&self, hooks: &Hooks, event: HookEvent) -> Option<&str> {
        let entries = self.json["hooks"][event.client_name()].as_array()?.iter();
        let ours = entries.filter(|entry| {
            let commands = entry["hooks"].as_array().into_iter().flatten();
            let mut commands = commands.filter_map(|hook| hook["command"].as_str());
            commands.any(|command| hooks.named_in(command) == Some(event))
        });
        let mut matchers = ours.map(|entry| entry["matcher"].as_str().unwrap_or_default());
        let first = matchers.next()?;
        let is_limited = |matcher: &str| !ALL_PASS.contains(&matcher);
        (is_limited(first) && matchers.all(is_limited)).then_some(first)
    }
}

fn installed(hooks: &Hooks, may_be_missing: bool, checks: &mut Checks) {
    const MEND: &str = "run ./install.sh again";
    let is_missing = |event: &HookEvent| !is_program(&hooks.bin().join(event.name()));
    let missing = HookEvent::ALL.into_iter().filter(is_missing);
    let missing: Vec<_> = missing.map(HookEvent::name).collect();
    let place = hooks.bin().display();
    if missing.len() == HookEvent::ALL.len() && may_be_missing {
        return;
    }
    if !missing.is_empty() {
        let text = format!("not in {place}: {}", missing.join(", "));
        return checks.bad("programs", text, MEND);
    }
    let playbook = hooks.bin().join("playbook");
    let own = env!("CARGO_PKG_VERSION");
    match version_of(&playbook).as_deref() {
        None => {
            let text = format!("{} does not run", playbook.display());
            checks.bad("programs", text, MEND);
        }
        Some(version) if version == own => {
            let number = HookEvent::ALL.len();
            let text = format!("version {own}, {number} hooks in {place}");
            checks.good("programs", text);
        }
        Some(other) => {
            let text = format!("the hooks in {place} are version {other}, this is {own}");
            checks.note("programs", text, MEND);
        }
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

fn version_of(playbook: &Path) -> Option<String> {
    let mut command = Command::new(playbook);
    command.arg("--version");
    let done = sandbox::run_with_time_limit(command, b"", LIMIT, Followers::Killed).ok()?;
    let said = String::from_utf8(done.stdout).ok()?;
    Some(said.trim().strip_prefix("playbook ")?.to_owned())
}

/// Returns the plugin's own hooks if their folder is known, else the installed ones.
fn of_plugin(
    session: &NamedSession,
    files: &[SettingsFile],
    plugin: &str,
    hooks: &Hooks,
    checks: &mut Checks,
) -> Option<TrialHooks> {
    let has_hooks = |bin: &PathBuf| is_program(&bin.join(HookEvent::SessionStart.name()));
    let (_, market) = plugin.split_once('@').unwrap_or_default();
    let cached = cached(session.paths.client(), market).into_iter();
    let known = own_plugin().into_iter().chain(cached);
    let mut known = known.chain([hooks.bin().to_owned()]);
    if let Some(bin) = known.find(has_hooks) {
        return Some(TrialHooks::In(bin));
    }
    let named = of_user(session, files).and_then(|file| {
        let market = &file.json["extraKnownMarketplaces"][market];
        Some(Path::new(market["source"]["path"].as_str()?).join("bin"))
    });
    if let Some(bin) = named.filter(has_hooks) {
        let text = format!("those of the plugin, in {}, were not tried", bin.display());
        let todo = format!("{} doctor tries them", bin.join("playbook").display());
        checks.note("programs", text, &todo);
    } else {
        let text = "neither the plugin nor Claude Code's folder has the programs of the hooks";
        let todo = "in the plugin's folder: ./install.sh --plugin; or ./install.sh";
        checks.bad("programs", text, todo);
    }
    None
}

fn own_plugin() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let bin = own.parent()?;
    let is_plugin = bin.parent()?.join(".claude-plugin/plugin.json").is_file();
    is_plugin.then(|| bin.to_owned())
}

/// Returns the folders in which the client keeps a marketplace's plugins, the latest version first.
fn cached(client: &Path, market: &str) -> Vec<PathBuf> {
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    // Only names that are listed there are used, so a path cannot lead elsewhere.
    let markets = list(&client.join("plugins").join("cache")).into_iter();
    let own = markets.filter(|path| path.file_name().is_some_and(|name| name == market));
    let mut versions: Vec<_> = own.flat_map(|path| list(&path.join("playbook"))).collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    versions.into_iter().map(|path| path.join("bin")).collect()
}
