//! What decides whom and what to trust, what stays secret, and which turns pass.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::On;

#[derive(Debug, Args)]
pub(crate) struct RedactArgs {
    /// Say on stderr how often each rule masked something
    #[arg(long, conflicts_with = "rules")]
    pub(crate) count: bool,
    /// List the names of the built-in rules instead
    #[arg(long)]
    pub(crate) rules: bool,
    /// Print the list as one JSON object
    #[arg(long, requires = "rules")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// All projects that Claude Code has kept sessions of
    #[arg(long, conflicts_with = "project")]
    pub(crate) all_known: bool,
    /// Do not use this project's playbook any more
    #[arg(long, conflicts_with = "all_known")]
    pub(crate) off: bool,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
pub(crate) struct ReviewArgs {
    #[command(subcommand)]
    pub(crate) action: Option<ReviewAction>,
    /// Have the curator look at the notes that wait, now
    #[arg(long)]
    pub(crate) now: bool,
    /// The project [default: the one of this folder]
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) project: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReviewAction {
    /// It is harmless: use it
    Accept {
        /// Its number, as `playbook review` shows it
        id: u64,
    },
    /// Use it in other words
    Edit {
        /// Its number, as `playbook review` shows it
        id: u64,
        /// What it says from now on
        #[arg(long)]
        text: String,
    },
    /// Do not use it, and never ask again
    Drop {
        /// Its number, as `playbook review` shows it
        id: u64,
    },
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
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
