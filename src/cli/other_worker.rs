//! Another worker that is at it while a command waits.

use std::time::{Duration, Instant};

use super::output;
use crate::paths::Paths;
use crate::queue::context::WorkerContext;
use crate::queue::worker_lock;

/// So long nothing is said of waiting.
const UNTOLD: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(200);

/// The worker that is at it, where that is another process.
pub(super) fn other_worker(paths: &Paths) -> Option<i32> {
    let holder = worker_lock::holder(&paths.worker_lock())?;
    let own = i32::try_from(std::process::id()).ok();
    Some(holder.process.pid).filter(|pid| Some(*pid) != own)
}

/// Ends when one and the same other process has been at it for `patience`; says before
/// that who, or what, is waited for.
pub(super) async fn hangs(context: &WorkerContext, patience: Duration) {
    let mut held = None;
    let mut is_told = false;
    loop {
        tokio::time::sleep(LOOK).await;
        if !is_told && context.has_unsaved_answers() {
            output::note(
                "the model's answer cannot be stored now: trying again; Ctrl-C gives it up",
            );
            is_told = true;
        }
        let pid = other_worker(context.paths());
        let (_, since) = *held.insert(
            held.filter(|(known, _)| *known == pid)
                .unwrap_or((pid, Instant::now())),
        );
        let Some(pid) = pid else { continue };
        if !is_told && since.elapsed() >= UNTOLD {
            output::note(&format!("waiting for the worker (process {pid})"));
            is_told = true;
        }
        if since.elapsed() >= patience {
            return;
        }
    }
}
