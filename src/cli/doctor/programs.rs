//! Are the programs of the hooks there, and where?
//!
//! Programs are run from places that are known, never from one that a settings file names.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::super::sandbox;
use super::super::session::NamedSession;
use super::DoctorCheck;
use super::settings::Files;
use crate::backend::child::Followers;
use crate::hook::HookEvent;
use crate::setup::Hooks;

const PROGRAMS: &str = "programs";
/// How long a program may take to say its version.
const LIMIT: Duration = Duration::from_secs(5);

pub(super) fn standing_in(playbook: &Path) -> DoctorCheck {
    let text = format!("{} answers in the place of the hooks", playbook.display());
    DoctorCheck::good(PROGRAMS, text)
}

pub(super) fn installed(hooks: &Hooks, may_be_missing: bool) -> Option<DoctorCheck> {
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
pub(super) fn of_plugin(
    session: &NamedSession,
    files: &Files,
    plugin: &str,
    hooks: &Hooks,
) -> Result<sandbox::TrialHooks, DoctorCheck> {
    let (_, market) = plugin.split_once('@').unwrap_or_default();
    let bin = own_plugin()
        .into_iter()
        .chain(cached(session.paths.client(), market))
        .chain([hooks.bin().to_owned()])
        .find(|bin| has_hooks(bin));
    if let Some(bin) = bin {
        return Ok(sandbox::TrialHooks::In(bin));
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
