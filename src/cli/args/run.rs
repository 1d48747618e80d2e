//! The arguments of the commands that run and set up.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::On;

#[derive(Debug, Args)]
pub(crate) struct JobsArgs {
    #[command(subcommand)]
    pub(crate) action: Option<JobsAction>,
    /// Print one JSON object
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JobsAction {
    /// Try again now, with the key, base URL and backend of this shell
    Retry(RetryArgs),
    /// Give a job up: its part of the session is never learned from
    Drop {
        /// The job, as `playbook jobs` names it
        id: String,
    },
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct RetryArgs {
    /// The job, as `playbook jobs` names it
    pub(crate) id: Option<String>,
    /// All jobs that wait or have failed, also those of other projects and accounts
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Do this many jobs at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) jobs: Option<u16>,
    #[arg(long, hide = true)]
    pub(crate) detach: bool,
    #[arg(long, value_name = "ID", hide = true)]
    pub(crate) job: Option<String>,
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) project: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) action: ConfigAction,
    /// The project whose own settings count too [default: the one of this folder]
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) project: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// List all keys with their values and who set them
    List,
    /// Show the value of one key
    Get {
        /// For example `retry.attempts`
        key: String,
    },
    /// Set a key in your settings; comments and order stay
    Set {
        /// For example `retry.attempts`
        key: String,
        /// The value; quotes around a text may be left out
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a key from your settings, which gives it its default
    Unset {
        /// For example `retry.attempts`; one that is gone or misspelt leaves, too
        key: String,
    },
    /// Say where your settings are
    Path,
    /// Look for mistakes in your settings and the project's
    Check,
    /// Print the reference of all keys, as in docs/configuration.md
    #[command(hide = true)]
    Reference,
}

/// One of Claude Code's settings files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SettingsScope {
    /// For all your projects: ~/.claude/settings.json
    User,
    /// For everyone in one project: .claude/settings.json there
    Project,
    /// For you in one project: .claude/settings.local.json there
    Local,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct InstallArgs {
    /// The settings to register in
    #[arg(long, value_enum, default_value = "user")]
    pub(crate) scope: SettingsScope,
    /// The project, for its scopes [default: the one of this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Show the change and make none
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[arg(long, hide = true, requires = "dry_run")]
    pub(crate) hooks_to_come: bool,
    /// Merge playbooks in this git repository without conflicts; registers no hooks
    #[arg(long, conflicts_with = "scope")]
    pub(crate) merge_driver: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct UninstallArgs {
    /// Take out the hooks registered there alone [default: everywhere]
    #[arg(long, value_enum, conflicts_with = "purge")]
    pub(crate) scope: Option<SettingsScope>,
    /// The project, for its scopes [default: the one of this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Take out the merge driver of this git repository alone
    #[arg(long, conflicts_with_all = ["scope", "purge"])]
    pub(crate) merge_driver: bool,
    /// Remove settings, templates, jobs, history and logs as well; playbooks stay in their
    /// projects
    #[arg(long)]
    pub(crate) purge: bool,
    /// Show what would go and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MergeFilesArgs {
    /// The common ancestor; an empty or missing file where it is not known
    pub(crate) base: PathBuf,
    /// One of the two
    pub(crate) ours: PathBuf,
    /// The other
    pub(crate) theirs: PathBuf,
    /// The file to write, which may be one of them
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Ask the backend one tiny question, which costs a few tokens
    #[arg(long)]
    pub(crate) online: bool,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(group = "what")]
    pub(crate) shell: Option<clap_complete::Shell>,
    /// Write a manual page for each command into this folder
    #[arg(long, group = "what", value_name = "DIR")]
    pub(crate) man: Option<PathBuf>,
    #[arg(long, group = "what", hide = true)]
    pub(crate) markdown: bool,
}
