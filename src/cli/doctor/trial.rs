//! Do the registered hooks answer, and does the worker live on after them?

use std::time::{Duration, Instant};

use super::super::stage::{Hooks, Stage};
use super::check::Check;

const ANSWER: &str = "answer";
const WORKER: &str = "worker";
/// How long the worker may take for its job of milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// Plays a session through the registered commands, in a folder of its own.
pub(super) fn examine(hooks: Option<Hooks>) -> Vec<Check> {
    let Some(hooks) = hooks else {
        return Vec::new();
    };
    let stage = match Stage::set(hooks) {
        Ok(stage) => stage,
        Err(error) => {
            let text = format!("could not be tried: {error:#}");
            let todo = "look whether the folder for temporary files can be written to";
            return vec![Check::bad(ANSWER, text, todo)];
        }
    };
    let begun = Instant::now();
    let mut checks = Vec::new();
    checks.push(match stage.start("trial") {
        Ok(_) => {
            let ms = begun.elapsed().as_millis();
            Check::good(ANSWER, format!("session-start gave its context in {ms} ms"))
        }
        Err(error) => Check::bad(
            ANSWER,
            format!("session-start did not answer: {error:#}"),
            "run the registered command by hand: `echo '{}' | sh -c COMMAND`; or ./install.sh again",
        ),
    });
    checks.push(match end(&stage) {
        Ok(()) => Check::good(WORKER, "starts, outlives its hook, and works"),
        Err(error) => Check::bad(
            WORKER,
            format!("did not do a job of its hook: {error:#}"),
            "`playbook` must stand beside the hooks, or on the client's PATH: run ./install.sh again",
        ),
    });
    checks
}

/// Ends the session and waits until its worker has counted a key point.
fn end(stage: &Stage) -> anyhow::Result<()> {
    stage.end("trial")?;
    stage.wait(PATIENCE)?;
    let learned = stage.learned()?;
    let counted = learned.points().any(|point| point.helpful == 1);
    anyhow::ensure!(counted, "nothing was counted");
    Ok(())
}
