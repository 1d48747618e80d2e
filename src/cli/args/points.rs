//! What changes the playbook by hand.

use clap::Args;

use super::On;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  playbook diff
  playbook diff main
  playbook diff v1.2..HEAD")]
pub(crate) struct DiffArgs {
    /// A commit, branch or tag to compare the file with, or two of them: FROM..TO
    /// [default: HEAD]
    #[arg(value_name = "REVISION")]
    pub(crate) revisions: Option<String>,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  playbook restore
  playbook restore 20261121T221951-3f9a2c1b")]
pub(crate) struct RestoreArgs {
    /// The job after which the playbook was as you want it [default: mend a playbook that
    /// cannot be read with the last good one; else list them]
    pub(crate) snapshot: Option<String>,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  playbook add 'run `just test` before each commit' --section patterns")]
pub(crate) struct AddArgs {
    /// What the key point says
    pub(crate) text: String,
    /// patterns, mistakes, preferences, context or others
    #[arg(long, value_name = "SECTION", default_value = "others")]
    pub(crate) section: String,
    /// Leave it for `playbook review`, where you decide
    #[arg(long)]
    pub(crate) propose: bool,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
pub(crate) struct EditArgs {
    /// The key point, such as pat-001
    pub(crate) id: String,
    /// What it says from now on
    #[arg(long, group = "what")]
    pub(crate) text: Option<String>,
    /// Where it stands from now on: patterns, mistakes, preferences, context or others
    #[arg(long, group = "what")]
    pub(crate) section: Option<String>,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  playbook merge pat-001 pat-004 --text \"run the tests, then the linter\"")]
pub(crate) struct MergeArgs {
    /// The key points
    #[arg(required = true, num_args = 2.., value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// What the new one says
    #[arg(long)]
    pub(crate) text: String,
    /// Where it stands [default: the section of the first]
    #[arg(long)]
    pub(crate) section: Option<String>,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
pub(crate) struct PinArgs {
    /// The key point, such as pat-001
    pub(crate) id: String,
    /// Take the protection away again
    #[arg(long)]
    pub(crate) off: bool,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
pub(crate) struct PromoteArgs {
    /// The key point, such as pref-001
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) on: On,
}
