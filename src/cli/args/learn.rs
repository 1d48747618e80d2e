//! The arguments of the commands that learn, try learning out, and decide on trust and the gate.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{OfTenant, On};

#[derive(Debug, Args)]
pub(crate) struct BootstrapArgs {
    #[command(flatten)]
    pub(crate) on: On,
    /// Sessions that ended within this time: 30d, 12h, 2w
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    pub(crate) since: Option<jiff::SignedDuration>,
    /// At most this many, the oldest first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max: Option<u64>,
    /// Leave out the transcripts of subagents
    #[arg(long)]
    pub(crate) skip_subagents: bool,
    /// Agree to the estimate without being asked
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReflectArgs {
    /// The session's JSONL file
    pub(crate) transcript: PathBuf,
    /// Learn from it: change the playbook. Each part of a transcript counts once
    #[arg(long)]
    pub(crate) apply: bool,
    /// Print the reflector's prompt, and ask no model
    #[arg(long, conflicts_with_all = ["apply", "json"])]
    pub(crate) print_prompt: bool,
    /// Judge with this template, in place of templates/reflector.txt
    #[arg(long, value_name = "FILE", conflicts_with = "apply")]
    pub(crate) template: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// Remember the result, so that it is found again
    #[arg(long)]
    pub(crate) store: bool,
    #[command(flatten)]
    pub(crate) whose: OfTenant,
    /// The project, where the trace names none [default: the one of this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// The settings [default: yours]; the backend is `fixtures` where they say so, else `rules`
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

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
        /// The new text
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
        /// The outcome of a turn that does not pass
        #[arg(long, value_enum, default_value = "tell")]
        mode: Mode,
    },
    /// Look at none: takes the hook out again
    Off,
}

#[derive(Debug, Args)]
pub(crate) struct GuardArgs {
    /// Add its hook to Claude Code's settings, or take it out
    pub(crate) switch: Option<Switch>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// A guarded command is turned back once a session, before it runs
    On,
    /// All commands run
    Off,
}

/// The outcome of a turn that does not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// The turn ends, and you read why
    Tell,
    /// It goes on with what is amiss
    Block,
}
