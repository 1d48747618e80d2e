//! Do the hooks answer, and does the worker live on after them?

use std::time::{Duration, Instant};

use super::super::sandbox::{Sandbox, TrialHooks};
use super::DoctorCheck;
use crate::hook::HookEvent;

const ANSWER: &str = "answer";
const WORKER: &str = "worker";
/// How long the worker may take for its job of milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);

const MEND: &str = "run it by hand: `echo '{}' | PROGRAM`; or ./install.sh again";

pub(super) fn examine(hooks: Option<TrialHooks>) -> Vec<DoctorCheck> {
    let Some(hooks) = hooks else {
        return Vec::new();
    };
    let sandbox = match Sandbox::set(hooks) {
        Ok(sandbox) => sandbox,
        Err(error) => {
            let text = format!("could not be tried: {error:#}");
            let todo = "look whether the folder for temporary files can be written to";
            return vec![DoctorCheck::bad(ANSWER, text, todo)];
        }
    };
    let begun = Instant::now();
    let start = sandbox.start("trial");
    let ms = begun.elapsed().as_millis();
    let worker = match end(&sandbox) {
        Ok(()) => DoctorCheck::good(WORKER, "starts, outlives its hook, and works"),
        Err(error) => DoctorCheck::bad(
            WORKER,
            format!("did not do a job of its hook: {error:#}"),
            "session-end must end well, and `playbook` stand beside the hooks: run ./install.sh again",
        ),
    };
    // Last, as they leave jobs behind.
    let others = HookEvent::ALL
        .into_iter()
        .filter(|event| !matches!(event, HookEvent::SessionStart | HookEvent::SessionEnd));
    let others = others.map(|event| (event, sandbox.ask(event, "trial").map(drop)));
    let mut checks: Vec<_> = [(HookEvent::SessionStart, start.map(drop))]
        .into_iter()
        .chain(others)
        .filter_map(|(event, done)| {
            let text = format!("{} did not answer: {:#}", event.name(), done.err()?);
            Some(DoctorCheck::bad(ANSWER, text, MEND))
        })
        .collect();
    if checks.is_empty() {
        let text = format!("session-start gave its context in {ms} ms; the others end well");
        checks.push(DoctorCheck::good(ANSWER, text));
    }
    checks.push(worker);
    checks
}

/// Ends the session and waits until its worker has counted a key point.
fn end(sandbox: &Sandbox) -> anyhow::Result<()> {
    sandbox.end("trial")?;
    sandbox.wait(PATIENCE)?;
    let learned = sandbox.learned()?;
    let counted = learned.points().any(|point| point.helpful == 1);
    anyhow::ensure!(counted, "nothing was counted");
    Ok(())
}
