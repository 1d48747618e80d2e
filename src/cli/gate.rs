//! `playbook gate`: what the gate would say of each stop in a transcript.

use std::path::Path;

use serde_json::{Value, json};

use super::args::GateAction;
use super::session::Session;
use super::{answer, args, evidence, gate_switch};
use crate::gate::{Stop, Stops};
use crate::transcript_file;

pub(super) fn run(args: &args::Gate) -> anyhow::Result<()> {
    match (&args.action, &args.transcript) {
        (Some(GateAction::On { mode }), _) => gate_switch::on(*mode, args.json),
        (Some(GateAction::Off), _) => gate_switch::off(args.json),
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
