//! What replays past sessions.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::On;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  playbook backtest
  playbook backtest --list points
  playbook backtest --dir ~/old-transcripts --json

The sessions are replayed oldest first in a temporary folder. Before each is
learned from, its errors are put to the hook that gives hints, and its start
asks for the playbook, as Claude Code would. A hint is right when the session
itself later found what the hint said. Nothing of yours is changed, and without
--model nothing is sent.")]
pub(crate) struct BacktestArgs {
    /// Replay all transcripts in this folder instead of the project's
    #[arg(long, value_name = "FOLDER")]
    pub(crate) dir: Option<PathBuf>,
    /// Show each item with its place, to be read
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) list: Option<Listed>,
    /// Ask the configured model instead of the rules; it first says what that takes at most
    #[arg(long)]
    pub(crate) model: bool,
    /// Agree to what the model takes without being asked
    #[arg(long, requires = "model")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) on: On,
}

/// What `--list` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listed {
    /// What was told when an error struck
    Hints,
    /// The key points that were learned
    Points,
    /// What one session alone taught: lessons until another one does
    Waiting,
    /// The key points that each session was given at its start
    Starts,
    /// The texts that were held back
    Held,
    /// The secrets that were masked, by their first characters
    Masks,
    /// What the quality gate would have said, and what the user said next
    Gate,
}
