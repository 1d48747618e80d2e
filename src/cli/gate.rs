//! `playbook gate`: shows what the gate would say at each stop in a transcript. `gate on` and `gate
//! off` switch its setting and its hook together.

use super::args::{GateAction, Mode, SettingsScope};
use super::install::hooks;
use super::prelude::*;
use super::reflect;
use crate::config::{self, GateMode};
use crate::gate::{QUALITY_THRESHOLD, Stops};
use crate::hook::HookEvent;
use crate::setup::{ClientSettings, Hooks};
use crate::{prepare, transcript_file};

const MODE: &str = "gate.mode";

pub(super) fn run(args: &args::GateArgs) -> anyhow::Result<()> {
    match (&args.action, &args.transcript) {
        (Some(GateAction::On { mode: Mode::Tell }), _) => switch(GateMode::Tell, args.json),
        (Some(GateAction::On { mode: Mode::Block }), _) => switch(GateMode::Block, args.json),
        (Some(GateAction::Off), _) => switch(GateMode::Off, args.json),
        (None, Some(transcript)) => show(&NamedSession::open(None)?, transcript, args.json),
        // Not reached: clap requires an action or a transcript.
        (None, None) => Ok(()),
    }
}

fn show(session: &NamedSession, transcript: &Path, as_json: bool) -> anyhow::Result<()> {
    let transcript = std::path::absolute(transcript)?;
    let options = reflect::options(session, &transcript)?;
    let mut stops = Stops::default();
    transcript_file::each_event(&transcript, &options, &mut |event| stops.see(event))?;
    let stops = stops.finish();
    let stops = stops.iter().map(|stop| {
        let mut value = json!(stop);
        value["passes"] = stop.verdict.passes().into();
        value
    });
    let answer = json!({"threshold": QUALITY_THRESHOLD, "stops": stops.collect::<Vec<_>>()});
    answer::give(as_json, include_str!("screens/gate.txt"), answer)
}

fn switch(mode: GateMode, as_json: bool) -> anyhow::Result<()> {
    let (place, _) = NamedSession::examine(None)?;
    agent::refuse(&place.env, "what becomes of a turn")?;
    state_guard::check_settings(&place.paths)?;
    let file = place.paths.client_settings();
    let hooks = hooks(&place.paths, SettingsScope::User);
    let settings = ClientSettings::new(&place.paths, file, hooks);
    let plan = if mode == GateMode::Off {
        settings.plan_off(HookEvent::Stop)?
    } else {
        let command = Hooks::switch_command(&program(&place)?, HookEvent::Stop);
        Some(settings.plan_on(HookEvent::Stop, &command)?)
    };
    set(&place, mode)?;
    let backup = plan.as_ref().map(|plan| settings.carry_out(plan));
    let answer = json!({
        "mode": mode.word(),
        "file": settings.file(),
        "changed": plan.is_some_and(|plan| plan.is_change()),
        "backup": backup.transpose()?.flatten(),
    });
    answer::give(as_json, include_str!("screens/gate_switch.txt"), answer)
}

/// Returns the installed program, else this one, which may be the plugin's.
pub(super) fn program(place: &NamedSession) -> anyhow::Result<PathBuf> {
    let installed = hooks(&place.paths, SettingsScope::User)
        .bin()
        .join("playbook");
    if installed.is_file() {
        return Ok(installed);
    }
    let own = std::env::current_exe();
    Ok(own.map_err(|error| Hinted {
        what: format!("could not find this program: {error}"),
        hint: "`./install.sh` in Playbook's folder installs it where it can be found",
    })?)
}

fn set(place: &NamedSession, mode: GateMode) -> anyhow::Result<()> {
    let file = place.paths.config_file();
    if config::load(&file)?.gate.mode == mode {
        return Ok(());
    }
    let key = config::find_key(MODE).map_err(anyhow::Error::msg)?;
    config::set(&file, key, mode.word())?;
    prepare::ready(&place.paths, &place.project, place.env.clock().now());
    Ok(())
}
