//! A command may be the user's, or one that the agent runs in a session.
//!
//! A page that the agent reads can ask it to run a command. What only the user's word can
//! allow is not taken from there.

use std::io::{self, IsTerminal as _};

use super::output::Hinted;
use crate::env::{Env, name};

/// Returns `true` if the client's agent runs this command: the client says so, and nobody sits
/// at a terminal.
pub(super) fn is_at_it(env: &Env) -> bool {
    env.get(name::CLAUDECODE).is_some() && !io::stdin().is_terminal()
}

pub(super) fn refuse(env: &Env, what: &str) -> anyhow::Result<()> {
    if !is_at_it(env) {
        return Ok(());
    }
    Err(Hinted::error(
        format!("{what} is for the user to decide, not for the agent"),
        "run it in a terminal of your own, outside of Claude Code",
    ))
}
