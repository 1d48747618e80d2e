//! Is the gate what its setting says?

use super::super::gate_switch;
use super::super::session::Session;
use super::check::Check;
use super::settings::Files;
use crate::config::GateMode;
use crate::setup::Hooks;

const GATE: &str = "gate";

/// Says whether setting and hook go together; nothing where there is neither.
pub(super) fn examine(session: &Session, files: &Files) -> Option<Check> {
    let mode = session.config.gate.mode;
    let hook = files.of_user(session).and_then(|file| file.gate.as_ref());
    let anew = "`playbook gate on` registers it anew, `playbook gate off` takes it out";
    Some(match (mode, hook) {
        (GateMode::Off, None) => return None,
        (GateMode::Off, Some(_)) => {
            let text = "off, and its hook is registered, which costs Claude Code time";
            Check::note(GATE, text, "`playbook gate off` takes it out")
        }
        (_, None) => Check::note(GATE, "on, and its hook is not registered", anew),
        (_, Some(command)) => match gate_switch::program(session) {
            Ok(program) if *command != Hooks::gate_command(&program) => Check::note(
                GATE,
                "its hook leads to another program than this one",
                anew,
            ),
            _ => Check::good(GATE, format!("on: {}", mode.word())),
        },
    })
}
