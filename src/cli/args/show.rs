//! The arguments of the commands that show things.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Show what was spent instead, by day and project
    #[arg(long)]
    pub(crate) cost: bool,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The file to write [default: a file in the state folder, which is named; `-` for stdout]
    #[arg(short, long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) out: Option<PathBuf>,
    /// Open it in the browser
    #[arg(long, conflicts_with = "json")]
    pub(crate) open: bool,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Words that the id, section or text of a key point contains
    pub(crate) query: Vec<String>,
    #[command(flatten)]
    pub(crate) on: On,
}

/// The arguments of all commands on one playbook.
#[derive(Debug, Args)]
pub(crate) struct On {
    /// The project [default: the one of this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// A key point, or a job [default: all jobs of the project]
    pub(crate) id: Option<String>,
    /// Show at most this many, the newest [default: 20 jobs; the whole story of a key point]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,
    /// Also the notes and operations that were not accepted, and why
    #[arg(long)]
    pub(crate) all: bool,
    /// Show what changed in the key points since a commit, branch or tag, or between two of
    /// them: FROM..TO [default: HEAD]
    #[arg(
        long, value_name = "REVISION", num_args = 0..=1, default_missing_value = "HEAD",
        conflicts_with_all = ["id", "limit", "all"]
    )]
    pub(crate) diff: Option<String>,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
pub(crate) struct EvidenceArgs {
    /// The session's JSONL file
    pub(crate) transcript: PathBuf,
    /// The budget in tokens [default: the setting `evidence.tokens`]
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
