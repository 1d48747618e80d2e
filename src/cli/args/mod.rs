//! The arguments of all commands: help, completions and man pages are made from them. This module
//! does no I/O and uses nothing else of the crate.

mod learn;
mod memory;
mod points;
mod run;
mod show;

use clap::{Parser, Subcommand};

pub(crate) use self::{learn::*, memory::*, points::*, run::*, show::*};

/// Makes Claude Code learn from every session.
#[derive(Debug, Parser)]
#[command(
    name = "playbook",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// The arguments of `playbook status`, which also runs without a command.
    #[command(flatten)]
    pub(crate) status: StatusArgs,
    /// With --help: list the rarer commands too
    #[arg(long, exclusive = true)]
    pub(crate) all: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Do what one of Claude Code's hooks does, with its JSON on stdin
    Hook {
        /// session-start, session-end, pre-compact, subagent-start, subagent-stop,
        /// post-tool-use-failure, user-prompt-submit, pre-tool-use or stop
        #[arg(required_unless_present = "list")]
        event: Option<String>,
        /// Do the work before the hook ends
        #[arg(long)]
        wait: bool,
        /// Print the names of the hooks that have a program, one a line
        #[arg(long)]
        list: bool,
    },
    /// Show this project on one screen
    Status(StatusArgs),
    /// Write a page with everything known about this project
    Report(ReportArgs),
    /// Watch a session teach the next one, offline
    Demo {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Learn from the sessions you had before
    Bootstrap(BootstrapArgs),
    /// Try out what a session would teach, or learn from it now
    Reflect(ReflectArgs),
    /// Show what a model would be sent of a session
    Evidence(EvidenceArgs),
    /// Check turns that end with "done": switch that on, or try it
    Gate(GateArgs),
    /// Turn commands back that a key point warns of: switch that on, list them
    Guard(GuardArgs),
    /// Judge the trace of any agent: JSON in, JSON out
    Generate(GenerateArgs),
    /// Look once more at what was learned lately
    Dream {
        /// The number of recent notes to look at where none waits, most important first
        #[arg(
            short = 'k', long, value_name = "N", default_value_t = crate::queue::curate::DREAM_LINES as u64,
            value_parser = clap::value_parser!(u64).range(3..=100)
        )]
        sources: u64,
        #[command(flatten)]
        on: On,
    },
    /// Show the key points of this project
    Show(ShowArgs),
    /// Show what was learned when, and why
    Log(LogArgs),
    /// Take back a change, bring back an earlier playbook, or repair a broken one
    Undo(UndoArgs),
    /// Add a key point
    Add(AddArgs),
    /// Change a key point's text, section or cue
    Edit(EditArgs),
    /// Remove a key point
    Remove {
        /// The key point, such as pat-001
        id: String,
        /// The reason, kept in the history
        #[arg(long)]
        reason: Option<String>,
        #[command(flatten)]
        on: On,
    },
    /// Merge two versions of a playbook file, as git would
    #[command(hide = true)]
    MergeFiles(MergeFilesArgs),
    /// Protect a key point: only you can change or remove it
    Pin(PinArgs),
    /// Use a key point of this project in all your projects
    #[command(long_about = "Use a key point of this project in all your projects

Its text is given to Claude in each of your projects from then on, after the
project's own key points.")]
    Promote(PromoteArgs),
    /// Print all that was learned as a Markdown document
    Export {
        /// Markdown, the default
        #[arg(long, conflicts_with = "json")]
        markdown: bool,
        #[command(flatten)]
        on: On,
    },
    /// Copy stdin to stdout with all secrets masked, and without colours
    Redact(RedactArgs),
    /// Allow a playbook that came with a clone to be used
    Trust(TrustArgs),
    /// Decide on what waits for your word: likely attacks, and what was proposed
    Review(ReviewArgs),
    /// Show what waits or has failed; try again, or give up
    Jobs(JobsArgs),
    /// Search lessons and errors
    Recall(RecallArgs),
    /// Ask whether an error came up before, and what was learned about it
    #[command(
        long_about = "Ask whether an error came up before, and what was learned about it

Status 0: it did. 1: it did not. 2 and more: that could not be told."
    )]
    Seen(SeenArgs),
    /// Show how much was learned, and how well it helps
    Stats(Of),
    /// Teach a lesson by hand, or say what helped
    #[command(subcommand)]
    Lesson(LessonAction),
    /// Forget lessons and errors
    Forget(ForgetArgs),
    /// Show or change the settings
    Config(ConfigArgs),
    /// Check that everything works; if not, say what to do
    Doctor(DoctorArgs),
    /// Start learning: add our hooks to Claude Code's settings
    Install(InstallArgs),
    /// Stop learning: take the hooks and programs off this machine
    Uninstall(UninstallArgs),
    /// Time the judging of a fixed session
    Bench(BenchArgs),
    /// Do what waits now (hooks start this by themselves)
    Worker(WorkerArgs),
    /// Answer an MCP client, such as Claude Code, on stdin and stdout
    Mcp,
    /// Serve what was learned to other programs and machines
    Server {
        /// The arguments of `playbook-server`: init, tenant, token, serve
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<std::ffi::OsString>,
    },
    /// Print completions for your shell, or write the manual pages
    Completions(CompletionsArgs),
}

/// Reads a time such as `30d`.
fn time(text: &str) -> Result<jiff::SignedDuration, String> {
    let units = [("h", 1), ("d", 24), ("w", 7 * 24)];
    units
        .iter()
        .find_map(|(unit, hours)| {
            let number: u32 = text.strip_suffix(unit)?.trim().parse().ok()?;
            let hours = i64::from(number) * hours;
            (hours > 0).then(|| jiff::SignedDuration::from_hours(hours))
        })
        .ok_or_else(|| "expected hours, days or weeks, such as 12h, 30d or 2w".to_owned())
}

/// Reads a number from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|n| (0.0..=1.0).contains(n));
    number.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}
