//! What is about the quality gate.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  playbook gate SESSION.jsonl
  playbook gate SESSION.jsonl --json")]
pub(crate) struct Gate {
    /// The session's JSONL file
    pub(crate) transcript: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
