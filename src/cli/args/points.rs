//! The arguments of the commands that change the playbook by hand.

use clap::Args;

use super::On;

#[derive(Debug, Args)]
#[command(
    group = clap::ArgGroup::new("what").required(true),
    after_help = "Examples:
  playbook undo 20261121T221951-3f9a2c1b
  playbook undo --to
  playbook undo --to 20261121T221951-3f9a2c1b"
)]
pub(crate) struct UndoArgs {
    /// The job to take back, as `playbook log` names it
    #[arg(group = "what")]
    pub(crate) job: Option<String>,
    /// Bring back the playbook of the end of this job; without one, repair a playbook that
    /// cannot be read with the last good one, or list the jobs
    #[arg(long, group = "what", value_name = "JOB", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "given, and given with a job")]
    pub(crate) to: Option<Option<String>>,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  playbook add 'run `just test` before each commit' --section patterns")]
pub(crate) struct AddArgs {
    /// The text of the key point
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
#[command(
    group = clap::ArgGroup::new("what").required(true).multiple(true),
    override_usage = "playbook edit [OPTIONS] ID",
    after_help = "Examples:
  playbook edit pat-001 --text 'run `just test` before each commit'
  playbook edit pat-001 --when-command 'make proto' --when-file '*.proto'"
)]
pub(crate) struct EditArgs {
    /// The key point, such as pat-001
    pub(crate) id: String,
    /// The new text
    #[arg(long, group = "what")]
    pub(crate) text: Option<String>,
    /// The new section: patterns, mistakes, preferences, context or others
    #[arg(long, group = "what")]
    pub(crate) section: Option<String>,
    /// Give it when a call with this command fails, such as "make proto"
    #[arg(long, group = "what", value_name = "COMMAND")]
    pub(crate) when_command: Option<String>,
    /// Give it when a prompt or a failed call names such a file: a glob
    #[arg(long, group = "what", value_name = "GLOB")]
    pub(crate) when_file: Option<String>,
    /// Give it with a prompt that has these words
    #[arg(long, group = "what", value_name = "WORDS")]
    pub(crate) when_words: Option<String>,
    /// Turn the command back once a session before it runs; needs `playbook guard on`
    #[arg(long, group = "what")]
    pub(crate) guard: bool,
    /// Take its cue and its guard away
    #[arg(long, group = "what", conflicts_with_all = ["when_command", "when_file", "when_words", "guard"])]
    pub(crate) no_when: bool,
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
    /// Use one of your own, such as my-001, in this project only
    #[arg(long)]
    pub(crate) off: bool,
    #[command(flatten)]
    pub(crate) on: On,
}
