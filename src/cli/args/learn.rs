//! What learns, and what tries it.

use std::path::PathBuf;

use clap::Args;

use super::{OfTenant, On};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  playbook bootstrap
  playbook bootstrap --since 30d --max 20
  playbook bootstrap --yes --skip-subagents

It first says how many calls and tokens it will take at most, and asks. What
you agree to may be spent, whatever the limits of the day are: each session has
its share. A request without an answer does not count.

A worker does it, oldest session first. On a terminal, and with --json, this
command waits for it; else it returns at once. --json prints its object at the
end; without --yes it has the estimate alone. Ctrl-C withdraws the sessions
that have not begun; run it again to go on. No session is learned from twice.

Exit status: 0 all done, or nothing to do; 1 something waits or has failed;
130 stopped.")]
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
#[command(after_help = "Examples:
  playbook reflect ~/.claude/projects/-home-me-app/0b1c.jsonl
  playbook reflect SESSION.jsonl --template draft.txt
  playbook reflect SESSION.jsonl --print-prompt
  playbook reflect SESSION.jsonl --apply")]
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
#[command(after_help = "Example:
  playbook generate --store < trace.json

The trace: {\"events\": [{\"event_type\": \"tool_call\", \"content\": \"...\"}, ...],
\"outcome\": \"failure\", \"error\": {\"error_category\": \"timeout_error\",
\"error_message\": \"...\"}, \"task_description\": \"...\"}
docs/memory.md has all fields.")]
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
#[command(after_help = "Examples:
  playbook bench
  playbook bench -c examples/config/fixtures.toml")]
pub(crate) struct BenchArgs {
    /// The settings [default: yours]; the backend is `fixtures` where they say so, else `rules`
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}
