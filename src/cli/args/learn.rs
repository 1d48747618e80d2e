//! What learns, and what tries it.

use std::path::PathBuf;

use clap::Args;

use super::{OfTenant, On};

#[derive(Debug, Args)]
pub(crate) struct BootstrapArgs {
    #[command(flatten)]
    pub(crate) on: On,
    /// Only sessions that ended within this time: 30d, 12h, 2w
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
    /// Print what the reflector would be asked, and ask nobody
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
