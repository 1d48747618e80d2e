//! Runs a program for what it says, for a limited time: whoever looks what is broken must
//! not wait for it for ever.

use std::process::Command;
use std::time::Duration;

use super::session::runtime;
use crate::backend::child::{self, Broken, Followers, Output};

const MAX_SAID: usize = 8 << 20;

/// Runs `command` with `input` on stdin; it is killed when it has not ended within `limit`.
pub(super) fn run(
    command: Command,
    input: &[u8],
    limit: Duration,
    followers: Followers,
) -> anyhow::Result<Output> {
    let command = command.into();
    let run = async { child::run(command, input, limit, MAX_SAID, followers, |_| {}).await };
    runtime()?.block_on(run).map_err(|broken| match broken {
        Broken::NotStarted(error) => anyhow::Error::new(error).context("could not be started"),
        Broken::Timeout => anyhow::anyhow!("no answer within {} s", limit.as_secs()),
        Broken::TooLarge => anyhow::anyhow!("it said more than {MAX_SAID} bytes"),
    })
}
