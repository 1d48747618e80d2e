//! `playbook demo`: a session teaches the next one, through the real hooks and worker.
//!
//! Everything happens in a temporary folder with a cleared environment, so it works
//! offline, inside a session of the client, and whatever the user has set.

use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::sandbox::{Sandbox, TrialHooks};
use super::{answer, args};
use crate::playbook::Playbook;

const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn run(args: &args::AsJson) -> anyhow::Result<()> {
    let sandbox = Sandbox::set(TrialHooks::Ours).context("could not set up the demo")?;
    let given_before = sandbox.start("first")?;
    let before = sandbox.learned()?;
    sandbox.end("first")?;
    sandbox.wait(PATIENCE)?;
    let after = sandbox.learned()?;
    let given_after = sandbox.start("second")?;
    let learned = after.points().find(|now| before.named(now.name).is_none());
    let learned = learned.context("the session taught nothing")?.name;
    let mut told = json!({
        "before": points(&before),
        "after": points(&after),
        "given_before": given_before,
        "given_after": given_after,
    });
    if args.json {
        let story = sandbox.playbook(&["log", learned, "--json"])?;
        told["story"] = serde_json::from_str(&story)?;
    } else {
        told["story"] = sandbox.playbook(&["log", learned])?.into();
        told["learned"] = learned.into();
    }
    answer::give(args.json, include_str!("screens/demo.txt"), told)
}

fn points(playbook: &Playbook) -> Vec<Value> {
    let points = playbook.points().map(
        |p| json!({"name": p.name, "text": p.text, "helpful": p.helpful, "harmful": p.harmful}),
    );
    points.collect()
}
