//! `playbook gate`: what the gate would say of each stop in a transcript; `gate on` and `gate off`:
//! its setting and its hook, both or neither.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::args::{self, GateAction, Scope};
use super::install::hooks;
use super::output::Hinted;
use super::session::Session;
use super::{agent, answer, evidence};
use crate::config::{self, GateMode};
use crate::gate::{Stop, Stops};
use crate::prepare;
use crate::setup::{Hooks, Settings, SettingsPlan};
use crate::state_guard;
use crate::transcript_file;

const MODE: &str = "gate.mode";

pub(super) fn run(args: &args::Gate) -> anyhow::Result<()> {
    match (&args.action, &args.transcript) {
        (Some(GateAction::On { mode }), _) => on(*mode, args.json),
        (Some(GateAction::Off), _) => off(args.json),
        (None, Some(transcript)) => show(&Session::open(None)?, transcript, args.json),
        // The command line asks for it.
        (None, None) => Ok(()),
    }
}

fn show(session: &Session, transcript: &Path, as_json: bool) -> anyhow::Result<()> {
    let threshold = session.config.gate.threshold;
    let stops = stops(session, &std::path::absolute(transcript)?)?;
    let stops = stops.iter().map(|stop| told(stop, threshold));
    let told = json!({
        "threshold": threshold,
        "stops": stops.collect::<Result<Vec<_>, _>>()?,
    });
    answer::give(as_json, include_str!("screens/gate.txt"), told)
}

/// What the gate finds at each stop of a transcript, by its rules.
pub(super) fn stops(session: &Session, transcript: &Path) -> anyhow::Result<Vec<Stop>> {
    let mut stops = Stops::default();
    let options = evidence::options(session, transcript)?;
    transcript_file::each_event(transcript, &options, &mut |event| stops.see(event))?;
    Ok(stops.finish())
}

fn told(stop: &Stop, threshold: f64) -> serde_json::Result<Value> {
    let mut told = serde_json::to_value(stop)?;
    told["passes"] = stop.verdict.passes(threshold).into();
    Ok(told)
}

fn on(mode: args::Mode, as_json: bool) -> anyhow::Result<()> {
    let mode = match mode {
        args::Mode::Tell => GateMode::Tell,
        args::Mode::Block => GateMode::Block,
    };
    let place = place()?;
    let settings = settings(&place);
    let command = Hooks::gate_command(&program(&place)?);
    let plan = settings.plan_gate(&command)?;
    switch(&place, mode)?;
    tell(&place, mode, Some((&settings, &plan)), as_json)
}

fn off(as_json: bool) -> anyhow::Result<()> {
    let place = place()?;
    let settings = settings(&place);
    let plan = settings.plan_no_gate()?;
    switch(&place, GateMode::Off)?;
    let plan = plan.as_ref().map(|plan| (&settings, plan));
    tell(&place, GateMode::Off, plan, as_json)
}

fn tell(
    place: &Session,
    mode: GateMode,
    plan: Option<(&Settings<'_>, &SettingsPlan)>,
    as_json: bool,
) -> anyhow::Result<()> {
    let mut backup = None;
    if let Some((settings, plan)) = plan {
        backup = settings.carry_out(plan)?;
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
