//! `playbook gate on` and `playbook gate off`: the gate's setting and its hook, both or neither.

use std::path::PathBuf;

use serde_json::json;

use super::args::{self, Scope};
use super::install::{hinted, hooks};
use super::output::Hinted;
use super::session::Session;
use super::{agent, answer};
use crate::config::{self, GateMode};
use crate::prepare;
use crate::setup::{Hooks, Settings, SettingsPlan};
use crate::state_guard;

const MODE: &str = "gate.mode";

/// Registers the hook and says what it does.
pub(super) fn on(mode: args::Mode, as_json: bool) -> anyhow::Result<()> {
    let mode = match mode {
        args::Mode::Tell => GateMode::Tell,
        args::Mode::Block => GateMode::Block,
    };
    let place = place()?;
    let settings = settings(&place);
    let command = Hooks::gate_command(&program(&place)?);
    let plan = settings.plan_gate(&command).map_err(hinted)?;
    switch(&place, mode)?;
    tell(&place, mode, Some((&settings, &plan)), as_json)
}

pub(super) fn off(as_json: bool) -> anyhow::Result<()> {
    let place = place()?;
    let settings = settings(&place);
    let plan = settings.plan_no_gate().map_err(hinted)?;
    switch(&place, GateMode::Off)?;
    let plan = plan.as_ref().map(|plan| (&settings, plan));
    tell(&place, GateMode::Off, plan, as_json)
}

/// Carries the plan out, and tells what holds now.
fn tell(
    place: &Session,
    mode: GateMode,
    plan: Option<(&Settings<'_>, &SettingsPlan)>,
    as_json: bool,
) -> anyhow::Result<()> {
    let mut backup = None;
    if let Some((settings, plan)) = plan {
        backup = settings.carry_out(plan).map_err(hinted)?;
    }
    let told = json!({
        "mode": mode.word(),
        "file": place.paths.client_settings(),
        "changed": plan.is_some_and(|(_, plan)| plan.is_change()),
        "backup": backup,
    });
    answer::give(as_json, include_str!("screens/gate_switch.txt"), told)
}

/// The surroundings, where it is the user who decides.
fn place() -> anyhow::Result<Session> {
    let (place, _) = Session::examine(None)?;
    agent::refuse(&place.env, "what becomes of a turn")?;
    state_guard::check_settings(&place.paths)?;
    Ok(place)
}

fn settings(place: &Session) -> Settings<'_> {
    let file = place.paths.client_settings();
    Settings::new(&place.paths, file, hooks(&place.paths, Scope::User))
}

/// The program that answers the hook: the installed one, else this one, which may be the plugin's.
pub(super) fn program(place: &Session) -> anyhow::Result<PathBuf> {
    let installed = hooks(&place.paths, Scope::User).bin().join("playbook");
    if installed.is_file() {
        return Ok(installed);
    }
    let own = std::env::current_exe();
    Ok(own.map_err(|error| Hinted {
        what: format!("could not find this program: {error}"),
        hint: "`./install.sh` in Playbook's folder installs it where it can be found",
    })?)
}

/// Sets the mode; a file in which it holds already stays as it is.
fn switch(place: &Session, mode: GateMode) -> anyhow::Result<()> {
    let file = place.paths.config_file();
    if config::load(&file)?.gate.mode == mode {
        return Ok(());
    }
    let key = config::find_key(MODE).map_err(anyhow::Error::msg)?;
    config::set(&file, key, mode.word())?;
    prepare::ready(&place.paths, &place.project, place.env.clock().now());
    Ok(())
}
