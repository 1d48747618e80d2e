//! The client's settings of the user and of the project, read for what is ours in them.
//!
//! They are looked at and never followed: a project's may have come from anywhere.

use std::path::PathBuf;

use serde_json::Value;

use super::super::args::SettingsScope;
use super::super::install;
use super::super::session::NamedSession;
use super::DoctorCheck;
use crate::fsx;
use crate::hook::HookEvent;
use crate::setup::{Hooks, is_gate, registered};

const MAX_SETTINGS: u64 = 4 << 20;
const PLUGIN: &str = "playbook@";
const ALL_PASS: [&str; 3] = ["", "*", ".*"];

pub(super) struct SettingsFile {
    pub(super) path: PathBuf,
    pub(super) ours: Vec<(HookEvent, String)>,
    pub(super) gate: Option<String>,
    pub(super) earlier: usize,
    pub(super) json: Value,
}

/// The files, the user's first; a later one wins over those before it.
pub(super) struct Files {
    pub(super) all: Vec<SettingsFile>,
    pub(super) unreadable: Vec<DoctorCheck>,
}

pub(super) fn read(session: &NamedSession, hooks: &Hooks) -> Files {
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
        DoctorCheck::bad(super::hooks::HOOKS, text, todo)
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
    pub(super) fn of_user(&self, session: &NamedSession) -> Option<&SettingsFile> {
        let user = session.paths.client_settings();
        self.all.iter().find(|file| file.path == user)
    }

    /// The plugin, by the client's name for it, where the last word on it is that it is on.
    pub(super) fn plugin(&self) -> Option<String> {
        let plugins = |file: &'_ SettingsFile| file.json["enabledPlugins"].as_object().cloned();
        let said: serde_json::Map<_, _> = self.all.iter().filter_map(plugins).flatten().collect();
        said.into_iter()
            .find(|(name, on)| name.starts_with(PLUGIN) && *on == Value::Bool(true))
            .map(|(name, _)| name)
    }

    /// The file that switches all hooks off, where the last word on it is that they are.
    pub(super) fn off_by(&self) -> Option<&SettingsFile> {
        let mut said = self.all.iter().rev();
        said.find(|file| file.json["disableAllHooks"].is_boolean())
            .filter(|file| file.json["disableAllHooks"] == true)
    }
}

impl SettingsFile {
    /// The matcher that keeps our hook of an event from being called whenever it happens.
    pub(super) fn matcher(&self, hooks: &Hooks, event: HookEvent) -> Option<String> {
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
