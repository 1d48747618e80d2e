//! What the user typed. No I/O and nothing of the crate: help, completions and man pages
//! come from here.

mod backtest;
mod gate;
mod learn;
mod memory;
mod points;
mod run;
mod show;
mod trust;

use clap::{Parser, Subcommand};

pub(crate) use backtest::{Backtest, Listed};
pub(crate) use gate::{Gate, GateAction, Mode};
pub(crate) use learn::{
    Bench, Bootstrap, Dream, FixturesAction, FixturesArgs, Generate, Record, Reflect,
};
pub(crate) use memory::{
    Forget, LessonAction, LessonAdd, LessonArgs, LessonOutcome, Of, Recall, Seen,
};
pub(crate) use points::{Add, Dedup, Diff, Edit, Merge, Pin, Promote, Remove, Restore, Undo};
pub(crate) use run::{
    Completions, ConfigAction, ConfigArgs, Doctor, Install, Jobs, JobsAction, Man, MergeFiles,
    Retry, Scope, Shell, Uninstall, Worker,
};
pub(crate) use show::{AsJson, Evidence, Export, Log, On, Report, Show};
pub(crate) use trust::{Redact, Review, ReviewAction, Trust};

/// Makes Claude Code learn from every session.
#[derive(Debug, Parser)]
#[command(
    name = "playbook",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  playbook
  playbook demo
  playbook show
  playbook doctor

Without a command: `playbook status`. `playbook COMMAND --help` shows the options and
examples of a command."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// What `playbook status` takes, which is what runs without a command.
    #[command(flatten)]
    pub(crate) status: On,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Answer one of the client's hook events, with its JSON on stdin
    #[command(after_help = "Examples:
  playbook hook session-end < event.json
  playbook hook --list")]
    Hook {
        /// session-start, session-end, pre-compact, subagent-stop, post-tool-use-failure,
        /// user-prompt-submit or stop
        #[arg(required_unless_present = "list")]
        event: Option<String>,
        /// Do the work before the hook ends
        #[arg(long)]
        wait: bool,
        /// Print the names of all hooks, one a line
        #[arg(long)]
        list: bool,
    },
    /// Show this project on one screen: key points, what was learned last, jobs, cost
    #[command(after_help = "Examples:
  playbook
  playbook status --json")]
    Status(On),
    /// Write all that is known of this project as a page to look at
    Report(Report),
    /// Watch a session teach the next one: offline, in a folder of its own
    #[command(after_help = "Example:
  playbook demo")]
    Demo(AsJson),
    /// Learn from the sessions that are already there, oldest first
    Bootstrap(Bootstrap),
    /// Replay past sessions: what would have been said, and was it right?
    Backtest(Backtest),
    /// Judge a transcript and show how its key points would be tagged, or learn from it
    Reflect(Reflect),
    /// Show what would be sent of a session, and what was left out
    Evidence(Evidence),
    /// Show what the quality gate says of each stop in a session, or switch it on or off
    Gate(Gate),
    /// Reflect on any agent's trace: JSON on stdin, JSON on stdout
    Generate(Generate),
    /// Look for the pattern behind what was learned lately, and remember it
    #[command(after_help = "Examples:
  playbook dream
  playbook dream -k 20")]
    Dream(Dream),
    /// Show the key points of this project
    #[command(after_help = "Examples:
  playbook show
  playbook show tests")]
    Show(Show),
    /// Show what happened to the playbook, to one key point, or what one job did
    Log(Log),
    /// Show in words what changed in the key points since a commit, or between two
    Diff(Diff),
    /// Take back what a job did
    #[command(after_help = "Example:
  playbook undo 20261121T221951-3f9a2c1b")]
    Undo(Undo),
    /// Bring back an earlier playbook, or mend one that cannot be read
    Restore(Restore),
    /// Add a key point
    Add(Add),
    /// Change a key point's text or section
    #[command(after_help = "Examples:
  playbook edit pat-001 --text \"run `just test` before each push\"
  playbook edit pat-001 --section mistakes")]
    Edit(Edit),
    /// Remove a key point
    #[command(after_help = "Example:
  playbook remove pat-001 --reason \"we use just now\"")]
    Remove(Remove),
    /// Make one key point of several; it gets their votes
    Merge(Merge),
    /// Merge two playbook files that grew from one, as git's merge driver does
    MergeFiles(MergeFiles),
    /// Keep a key point: only you change or remove it
    #[command(after_help = "Example:
  playbook pin pat-001")]
    Pin(Pin),
    /// Let a pinned key point be like any other again
    #[command(after_help = "Example:
  playbook unpin pat-001")]
    Unpin(Pin),
    /// Make a key point one of your own, which go along into every project
    #[command(
        long_about = "Make a key point one of your own, which go along into every project

Its text is given to the model in each of your projects from then on, before the project's own
key points.",
        after_help = "Example:
  playbook promote pref-001"
    )]
    Promote(Promote),
    /// Bring a key point of your own back into this project
    #[command(after_help = "Example:
  playbook demote my-001")]
    Demote(Promote),
    /// Show key points that say the same, and join them with --apply
    #[command(after_help = "Examples:
  playbook dedup
  playbook dedup --threshold 0.9 --apply")]
    Dedup(Dedup),
    /// Print the key points, and what is remembered beyond them, as a document
    #[command(after_help = "Example:
  playbook export > PLAYBOOK.md")]
    Export(Export),
    /// Copy stdin to stdout with all secrets masked
    Redact(Redact),
    /// Screen this project's playbook and let sessions use it
    #[command(after_help = "Examples:
  playbook trust
  playbook trust --all-known")]
    Trust(Trust),
    /// Give sessions in this project no playbook
    #[command(after_help = "Example:
  playbook untrust")]
    Untrust(On),
    /// Show what was held back as a likely attack; accept, edit or drop it
    Review(Review),
    /// Show the jobs that wait or have failed; try them again, or drop them
    Jobs(Jobs),
    /// Find what was learned beyond the key points
    Recall(Recall),
    /// Ask whether an error struck before, and what fixed it
    #[command(long_about = "Ask whether an error struck before, and what fixed it

Status 0: it did. 1: it did not. 2 and more: that could not be told.")]
    Seen(Seen),
    /// Show figures about what was learned
    #[command(after_help = "Examples:
  playbook stats
  playbook stats --all --json")]
    Stats(Of),
    /// Teach a lesson by hand, or say whether one helped
    #[command(after_help = "Example:
  playbook recall --kind lesson
  playbook lesson outcome les-5afdf4450011 --helped")]
    Lesson(LessonArgs),
    /// Forget what was learned beyond the key points
    Forget(Forget),
    /// Show or change the settings
    Config(ConfigArgs),
    /// Show what was spent, by day and by project
    #[command(after_help = "Example:
  playbook cost")]
    Cost(AsJson),
    /// Check that everything works, and say what to do where it does not
    Doctor(Doctor),
    /// Register the hooks in Claude Code's settings
    Install(Install),
    /// Take the hooks out of the settings, and what install.sh installed off the machine
    Uninstall(Uninstall),
    /// Make recorded replies, for runs without a network
    #[command(after_help = "Example:
  playbook fixtures record SESSION.jsonl")]
    Fixtures(FixturesArgs),
    /// Time one reflection of a fixed session; always one JSON object
    Bench(Bench),
    /// Work through the jobs; hooks start this by themselves
    #[command(after_help = "Examples:
  playbook worker
  playbook worker --jobs 1")]
    Worker(Worker),
    /// Print what makes a shell complete our commands
    Completions(Completions),
    /// Print the manual page, or write all of them into a folder
    Man(Man),
}

/// Reads a number from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|n| (0.0..=1.0).contains(n));
    number.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}
