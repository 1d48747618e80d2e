//! Recognises commands that the agent runs in a session rather than the user.
//!
//! A page that the agent reads can ask it to run a command. Changes that need the user's own
//! decision are therefore refused to the agent.

use std::io::{self, IsTerminal as _};

use super::output::Hinted;
use crate::env::{Env, name};

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
