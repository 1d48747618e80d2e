//! The quality gate.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  playbook gate SESSION.jsonl
  playbook gate on
  playbook gate on --mode block
  playbook gate off"
)]
pub(crate) struct GateArgs {
    #[command(subcommand)]
    pub(crate) action: Option<GateAction>,
    /// The session's JSONL file: what the gate would say of each stop in it
    #[arg(required = true)]
    pub(crate) transcript: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GateAction {
    /// Look at each turn that ends: a hook that takes Claude Code 20 ms a turn
    On {
        /// What becomes of a turn that does not pass
        #[arg(long, value_enum, default_value = "tell")]
        mode: Mode,
    },
    /// Look at none: takes the hook out again
    Off,
}

/// What becomes of a turn that does not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// It ends, and you are told
    Tell,
    /// It goes on with what is amiss
    Block,
}
