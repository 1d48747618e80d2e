//! `playbook gate`: what the gate would say of each stop in a transcript.

use serde_json::{Value, json};

use super::session::Session;
use super::{answer, args, evidence};
use crate::gate::{Stop, Stops, THRESHOLD};
use crate::transcript_file;

pub(super) fn run(session: &Session, args: &args::Gate) -> anyhow::Result<()> {
    let path = std::path::absolute(&args.transcript)?;
    let mut stops = Stops::default();
    let options = evidence::options(session, &path)?;
    transcript_file::each_event(&path, &options, &mut |event| stops.see(event))?;
    let stops = stops.finish();
    let told = json!({
        "threshold": THRESHOLD,
        "stops": stops.iter().map(told).collect::<Result<Vec<_>, _>>()?,
    });
    answer::give(args.json, include_str!("screens/gate.txt"), told)
}

fn told(stop: &Stop) -> serde_json::Result<Value> {
    let mut told = serde_json::to_value(stop)?;
    told["passes"] = stop.verdict.passes(THRESHOLD).into();
    Ok(told)
}
