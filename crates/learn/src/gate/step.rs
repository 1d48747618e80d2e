//! What of a turn bears on whether its checks pass.

use std::sync::Arc;

use crate::transcript::words::REWRITES;
use crate::transcript::{AGENT_TOOLS, Call, CheckResult, deed, shell};

/// Programs that run no check of the files at hand, beside those that only look.
const HARMLESS: &[&str] = &["git", "gh", "cd", "mkdir"];

#[derive(Debug)]
pub(super) enum TurnStep {
    /// A check ran.
    Run(Run),
    /// A file was changed that checks look at.
    Edit(String),
    /// Something that may have run a check, or changed files, unseen.
    Unseen(Arc<Call>),
}

impl TurnStep {
    /// Tells whether files may differ after it.
    pub(super) fn changes(&self) -> bool {
        !matches!(self, Self::Run(_))
    }
}

/// A check that ran.
#[derive(Debug)]
pub(super) struct Run {
    pub command: String,
    pub check: CheckResult,
}

/// Tells whether a call may run a check, or change files, that is not seen.
pub(super) fn may_check(call: &Call) -> bool {
    let is_foreign = call.tool.starts_with("mcp__") || AGENT_TOOLS.contains(&call.tool.as_str());
    let is_harmless = || deed::only_looks(&call.input, HARMLESS) && !rewrites(&call.input);
    is_foreign || (shell::runs_commands(&call.tool) && !is_harmless())
}

/// Tells whether a command may have git change the files at hand.
fn rewrites(command: &str) -> bool {
    let mut words = command.split_whitespace();
    words.clone().any(|word| word == "git") && words.any(|word| REWRITES.has(word))
}
