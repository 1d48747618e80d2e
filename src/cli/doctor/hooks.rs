//! The hooks: registered, once, and for every time; and the programs that they start.
//!
//! The client's settings of the user and of the project are looked at and never followed: a
//! project's may have come from anywhere. Programs are run from places that are known, never from
//! one that a settings file names.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::super::args::SettingsScope;
use super::super::gate::program;
use super::super::install;
use super::super::sandbox::{self, TrialHooks};
use super::super::session::NamedSession;
use super::DoctorCheck;
use crate::backend::child::Followers;
use crate::config::GateMode;
use crate::fsx;
use crate::hook::HookEvent;
use crate::setup::{Hooks, is_gate, is_of_stand_in, registered};

const HOOKS: &str = "hooks";
const GATE: &str = "gate";
const UNREGISTERED: &str = "not registered with Claude Code: nothing is learned";
const MAX_SETTINGS: u64 = 4 << 20;
const PLUGIN: &str = "playbook@";
const ALL_PASS: [&str; 3] = ["", "*", ".*"];
const PROGRAMS: &str = "programs";
/// How long a program may take to say its version.
const LIMIT: Duration = Duration::from_secs(5);

/// Why Claude Code calls none of our hooks; `None` where it does, or where that cannot be told.
pub(in crate::cli) fn lack(session: &NamedSession) -> Option<String> {
    let hooks = install::hooks(&session.paths, SettingsScope::User);
    let files = read(session, &hooks);
    let is_ours = !files.unreadable.is_empty()
        || files.plugin().is_some()
        || files.all.iter().any(|file| !file.ours.is_empty());
    (!is_ours).then(|| format!("the hooks are {UNREGISTERED}"))
}

/// Looks at registrations and programs; returns also which hooks are to be tried.
pub(super) fn examine(session: &NamedSession) -> (Vec<DoctorCheck>, Option<TrialHooks>) {
    let hooks = install::hooks(&session.paths, SettingsScope::User);
    let mut files = read(session, &hooks);
    let mut checks = std::mem::take(&mut files.unreadable);
    let are_all_read = checks.is_empty();
    let plugin = files.plugin();
    let with_ours = files.all.iter().filter(|file| !file.ours.is_empty());
    let with_ours: Vec<&SettingsFile> = with_ours.collect();
    let mut commands = with_ours.iter().flat_map(|file| &file.ours);
    let has_stand_in = commands.any(|(event, command)| is_of_stand_in(*event, command));
    let stand_in = hooks.stand_in().filter(|_| has_stand_in);
    checks.extend(match stand_in {
        Some(playbook) => {
            let text = format!("{} answers in the place of the hooks", playbook.display());
            Some(DoctorCheck::good(PROGRAMS, text))
        }
        None => installed(&hooks, with_ours.is_empty()),
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
        let todo = "`playbook install` registers them; `--dry-run` shows the change first";
        checks.push(DoctorCheck::bad(HOOKS, UNREGISTERED, todo));
    }
    checks.extend(twice(&with_ours, plugin.as_deref()));
    checks.extend(gate(session, &files));
    if let Some(file) = files.off_by() {
        let place = file.path.display();
        let text = format!("switched off by `disableAllHooks` in {place}");
        let todo = "set it to false, or remove it";
        checks.push(DoctorCheck::bad(HOOKS, text, todo));
    }
    for file in files.all.iter().filter(|file| file.earlier > 0) {
        let (number, place) = (file.earlier, file.path.display());
        let text = format!("{number} hooks of the earlier Python version in {place}: both learn");
        let todo = "`playbook install --replace-earlier` replaces them";
        checks.push(DoctorCheck::note(HOOKS, text, todo));
    }
    let trial = match plugin {
        _ if stand_in.is_some() => Some(TrialHooks::Ours),
        _ if !with_ours.is_empty() => Some(TrialHooks::In(hooks.bin().to_owned())),
        Some(plugin) => of_plugin(session, &files, &plugin, &hooks)
            .map_err(|check| checks.push(check))
            .ok(),
        None => None,
    };
    (checks, trial)
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

struct SettingsFile {
    path: PathBuf,
    ours: Vec<(HookEvent, String)>,
    gate: Option<String>,
    earlier: usize,
    json: Value,
}

/// The files, the user's first; a later one wins over those before it.
struct Files {
    all: Vec<SettingsFile>,
    unreadable: Vec<DoctorCheck>,
}

fn read(session: &NamedSession, hooks: &Hooks) -> Files {
    let project = |scope| install::project_settings(&session.project, scope);
    let user = session.paths.client_settings();
    let mut files = Files {
        all: Vec::new(),
        unreadable: Vec::new(),
    };
    let mut paths = vec![
        user,
        project(SettingsScope::Project),
        project(SettingsScope::Local),
    ];
    paths.dedup();
    for path in paths {
        match read_one(path, hooks) {
            Ok(file) => files.all.extend(file),
            Err(check) => files.unreadable.push(check),
        }
    }
    files
}

fn read_one(path: PathBuf, hooks: &Hooks) -> Result<Option<SettingsFile>, DoctorCheck> {
    let bad = |why: String, todo| {
        let text = format!("could not read settings: {}: {why}", path.display());
        DoctorCheck::bad(HOOKS, text, todo)
    };
    let bytes = match fsx::read_if_there(&path, MAX_SETTINGS) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        Err(error) => {
            let todo = "make it a file of yours that can be read, or remove it";
            return Err(bad(error.source.to_string(), todo));
        }
    };
    let all = registered(&bytes).map_err(|flaw| {
        let todo = "mend that line; Claude Code cannot read it either";
        bad(flaw.to_string(), todo)
    })?;
    let text = String::from_utf8_lossy(&bytes);
    let json = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    let ours = all.iter().filter_map(|told| {
        let event = hooks.named_in(&told.command)?;
        (event.client_name() == told.event).then(|| (event, told.command.clone()))
    });
    let gate = all
        .iter()
        .find(|told| told.event == HookEvent::Stop.client_name() && is_gate(&told.command));
    Ok(Some(SettingsFile {
        gate: gate.map(|told| told.command.clone()),
        ours: ours.collect(),
        earlier: all.iter().filter(|told| told.is_earlier()).count(),
        path,
        json,
    }))
}

impl Files {
    /// The user's own file: nobody else can have brought it.
    fn of_user(&self, session: &NamedSession) -> Option<&SettingsFile> {
        let user = session.paths.client_settings();
        self.all.iter().find(|file| file.path == user)
    }

    /// The plugin, by the client's name for it, where the last word on it is that it is on.
    fn plugin(&self) -> Option<String> {
        let plugins = |file: &'_ SettingsFile| file.json["enabledPlugins"].as_object().cloned();
        let said: serde_json::Map<_, _> = self.all.iter().filter_map(plugins).flatten().collect();
        said.into_iter()
            .find(|(name, on)| name.starts_with(PLUGIN) && *on == Value::Bool(true))
            .map(|(name, _)| name)
    }

    /// The file that switches all hooks off, where the last word on it is that they are.
    fn off_by(&self) -> Option<&SettingsFile> {
        let mut said = self.all.iter().rev();
        said.find(|file| file.json["disableAllHooks"].is_boolean())
            .filter(|file| file.json["disableAllHooks"] == true)
    }
}

impl SettingsFile {
    /// The matcher that keeps our hook of an event from being called whenever it happens.
    fn matcher(&self, hooks: &Hooks, event: HookEvent) -> Option<String> {
        let entries = self.json["hooks"][event.client_name()].as_array()?.iter();
        let ours = entries.filter(|entry| {
            let commands = entry["hooks"].as_array().into_iter().flatten();
            commands
                .filter_map(|hook| hook["command"].as_str())
                .any(|command| hooks.named_in(command) == Some(event))
        });
        let mut matchers = ours.map(|entry| entry["matcher"].as_str().unwrap_or_default());
        let first = matchers.next()?;
        let is_limited = |matcher: &str| !ALL_PASS.contains(&matcher);
        (is_limited(first) && matchers.all(is_limited)).then(|| first.to_owned())
    }
}

fn installed(hooks: &Hooks, may_be_missing: bool) -> Option<DoctorCheck> {
    const MEND: &str = "run ./install.sh again";
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
        let text = format!("not in {place}: {}", missing.join(", "));
        return Some(DoctorCheck::bad(PROGRAMS, text, MEND));
    }
    let playbook = hooks.bin().join("playbook");
    let own = env!("CARGO_PKG_VERSION");
    let version = version_of(&playbook);
    Some(match version.as_deref() {
        None => DoctorCheck::bad(
            PROGRAMS,
            format!("{} does not run", playbook.display()),
            MEND,
        ),
        Some(version) if version == own => {
            let text = format!("version {own}, {} hooks in {place}", HookEvent::ALL.len());
            DoctorCheck::good(PROGRAMS, text)
        }
        Some(other) => {
            let text = format!("the hooks in {place} are version {other}, this is {own}");
            DoctorCheck::note(PROGRAMS, text, MEND)
        }
    })
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

fn has_hooks(bin: &Path) -> bool {
    is_program(&bin.join(HookEvent::SessionStart.name()))
}

fn version_of(playbook: &Path) -> Option<String> {
    let mut command = Command::new(playbook);
    command.arg("--version");
    let done = sandbox::run_with_time_limit(command, b"", LIMIT, Followers::Killed).ok()?;
    let said = String::from_utf8(done.stdout).ok()?;
    Some(said.trim().strip_prefix("playbook ")?.to_owned())
}

/// The hooks that the plugin runs: its own, where it is known where they are, else the
/// installed ones.
fn of_plugin(
    session: &NamedSession,
    files: &Files,
    plugin: &str,
    hooks: &Hooks,
) -> Result<TrialHooks, DoctorCheck> {
    let (_, market) = plugin.split_once('@').unwrap_or_default();
    let bin = own_plugin()
        .into_iter()
        .chain(cached(session.paths.client(), market))
        .chain([hooks.bin().to_owned()])
        .find(|bin| has_hooks(bin));
    if let Some(bin) = bin {
        return Ok(TrialHooks::In(bin));
    }
    let named = files.of_user(session).and_then(|file| {
        let market = &file.json["extraKnownMarketplaces"][market];
        Some(Path::new(market["source"]["path"].as_str()?).join("bin"))
    });
    Err(match named.filter(|bin| has_hooks(bin)) {
        Some(bin) => {
            let text = format!("those of the plugin, in {}, were not tried", bin.display());
            let todo = format!("{} doctor tries them", bin.join("playbook").display());
            DoctorCheck::note(PROGRAMS, text, &todo)
        }
        None => DoctorCheck::bad(
            PROGRAMS,
            "neither the plugin nor Claude Code's folder has the programs of the hooks",
            "in the plugin's folder: ./install.sh --plugin; or ./install.sh",
        ),
    })
}

fn own_plugin() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let bin = own.parent()?;
    let is_plugin = bin.parent()?.join(".claude-plugin/plugin.json").is_file();
    is_plugin.then(|| bin.to_owned())
}

/// The folders in which the client keeps what it installed of a marketplace, the last first.
fn cached(client: &Path, market: &str) -> Vec<PathBuf> {
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    // A name that is found there leads nowhere else.
    let markets = list(&client.join("plugins").join("cache")).into_iter();
    let own = markets.filter(|path| path.file_name().is_some_and(|name| name == market));
    let mut versions: Vec<_> = own.flat_map(|path| list(&path.join("playbook"))).collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    versions.into_iter().map(|path| path.join("bin")).collect()
}
