//! Whether a job is worth a reflection, asked before anything is claimed.

use super::budget::Hold;
use super::context::WorkerContext;
use super::job::Event;
use super::progress::Job;
use super::stop::Stop;
use super::trigger_table::should_reflect;
use crate::config::Config;
use crate::transcript::Facts;

const TOO_LITTLE: &str = "too little happened";
const ASKED: &str = "asked";

pub(super) fn enabled(config: &Config) -> Result<(), Stop> {
    if config.reflection.enabled {
        Ok(())
    } else {
        Err(Stop::Skips(Hold::SwitchedOff.to_string()))
    }
}

/// Returns why the job's part of the session is worth a reflection, or ends the job.
///
/// The caller holds the project and has saved no claim yet: the next job of the transcript
/// covers the part of a job that ends here.
pub(super) fn worth(
    context: &WorkerContext,
    job: &Job,
    facts: &Facts,
    config: &Config,
) -> Result<&'static str, Stop> {
    if job.ticket.event == Event::Reflect {
        return Ok(ASKED);
    }
    let transcript = job.ticket.transcript.to_string_lossy();
    let confidence = context.memory().confidence_of(&transcript)?;
    should_reflect(facts, confidence, &config.triggers)
        .ok_or_else(|| Stop::Skips(TOO_LITTLE.to_owned()))
}
