//! What the user typed. No I/O and nothing of the crate: help, completions and man pages
//! come from here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Makes Claude Code learn from every session.
#[derive(Debug, Parser)]
#[command(
    name = "playbook",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = true,
    after_help = "Without a command: `playbook status`.

Examples:
  playbook demo
  playbook show
  playbook doctor

`playbook COMMAND --help` shows the options and examples of a command."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// What `playbook status` takes, which is what runs without a command.
    #[command(flatten)]
    pub(crate) status: Status,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Answer one of the client's hook events, with its JSON on stdin
    #[command(after_help = "Examples:
  playbook hook session-end < event.json
  playbook hook --list")]
    Hook {
        /// session-start, session-end, pre-compact, subagent-stop, post-tool-use-failure or
        /// user-prompt-submit
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
    Status(Status),
    /// Write all that is known of this project as a page to look at
    Report(Report),
    /// Watch a session teach the next one: offline, in a folder of its own
    #[command(after_help = "Example:
  playbook demo")]
    Demo(Demo),
    /// Learn from the sessions that are already there, oldest first
    Bootstrap(Bootstrap),
    /// Judge a transcript and show what would change
    Reflect(Reflect),
    /// Show what would be sent of a session, and what was left out
    Evidence(Evidence),
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
    /// Keep a key point: only you change or remove it
    #[command(after_help = "Example:
  playbook pin pat-001")]
    Pin(Pin),
    /// Let a pinned key point be like any other again
    #[command(after_help = "Example:
  playbook unpin pat-001")]
    Unpin(Pin),
    /// Show key points that say the same, and join them with --apply
    #[command(after_help = "Examples:
  playbook dedup
  playbook dedup --threshold 0.9 --apply")]
    Dedup(Dedup),
    /// Print the key points as a document
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
    Untrust(Untrust),
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
    Stats(Stats),
    /// Forget what was learned beyond the key points
    Forget(Forget),
    /// Show or change the settings
    Config(ConfigArgs),
    /// Show what was spent, by day and by project
    #[command(after_help = "Example:
  playbook cost")]
    Cost(Cost),
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

#[derive(Debug, Args)]
pub(crate) struct Status {
    /// The project [default: the one of this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  playbook report --open
  playbook report --out report.html
  playbook report --json")]
pub(crate) struct Report {
    /// Where to [default: a file in the state folder, which is named; `-` for stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Open it in the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// The project [default: the one of this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Print what the page shows as one JSON object, and write no page
    #[arg(long, conflicts_with_all = ["out", "open"])]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:
  playbook bootstrap
  playbook bootstrap --since 30d --max 20
  playbook bootstrap --yes --skip-subagents",
    after_long_help = "Examples:
  playbook bootstrap
  playbook bootstrap --since 30d --max 20
  playbook bootstrap --yes --skip-subagents

It first says how many calls and tokens it will take at most, and asks. What you agree to is
its own allowance: the limits of the day do not hold it back. Ctrl-C stops it without loss;
run it again to go on. What was learned once is not learned again.

Status 0: all done, or nothing to do. 1: something waits or has failed. 130: stopped."
)]
pub(crate) struct Bootstrap {
    /// The project [default: the one of this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Only sessions that were still written to within this time: 30d, 12h, 2w
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) since: Option<jiff::SignedDuration>,
    /// At most so many, the oldest that are new
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max: Option<u64>,
    /// Leave out the transcripts of subagents
    #[arg(long)]
    pub(crate) skip_subagents: bool,
    /// Agree to the estimate without being asked
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print one JSON object; without --yes the estimate alone
    #[arg(long)]
    pub(crate) json: bool,
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
        .ok_or_else(|| "expected a time such as 30d, 12h or 2w".to_owned())
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  playbook reflect ~/.claude/projects/-home-me-app/0b1c.jsonl
  playbook reflect SESSION.jsonl --template draft.txt
  playbook reflect SESSION.jsonl --apply")]
pub(crate) struct Reflect {
    /// The session's JSONL file
    pub(crate) transcript: PathBuf,
    /// Change the playbook; each part of a transcript counts once, so a second run finds nothing
    #[arg(long)]
    pub(crate) apply: bool,
    /// Try this reflector template in place of yours
    #[arg(long, value_name = "FILE", conflicts_with = "apply")]
    pub(crate) template: Option<PathBuf>,
    /// The project whose playbook it is [default: the one of this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  playbook evidence SESSION.jsonl
  playbook evidence SESSION.jsonl --stats")]
pub(crate) struct Evidence {
    /// The session's JSONL file
    pub(crate) transcript: PathBuf,
    /// The budget in tokens [default: the setting `evidence.tokens`]
    #[arg(long, value_name = "TOKENS", conflicts_with = "stats")]
    pub(crate) budget: Option<u64>,
    /// Count the records: by type, read or passed over and why
    #[arg(long)]
    pub(crate) stats: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  playbook redact < build.log > shareable.log
  playbook redact --rules")]
pub(crate) struct Redact {
    /// Say on stderr how often each rule masked something
    #[arg(long, conflicts_with = "rules")]
    pub(crate) count: bool,
    /// List the names of the built-in rules instead
    #[arg(long)]
    pub(crate) rules: bool,
    /// Print the list as JSON
    #[arg(long, requires = "rules")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  playbook generate --store < trace.json

The trace: {\"events\": [{\"event_type\": \"tool_call\", \"content\": \"...\"}, ...],
\"outcome\": \"failure\", \"error\": {\"error_category\": \"timeout_error\",
\"error_message\": \"...\"}, \"task_description\": \"...\"}; docs/memory.md has all fields.")]
pub(crate) struct Generate {
    /// Remember the result, so that it is found again
    #[arg(long)]
    pub(crate) store: bool,
    /// The project, where the trace names none [default: the one of this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Dream {
    /// How many of the most important recent reflections to look at
    #[arg(short = 'k', long = "sources", value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(crate) sources: Option<u64>,
    /// The project [default: the one of this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Only the key points whose id, section or text contains these words
    pub(crate) query: Vec<String>,
    /// The project [default: the one of this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// What all commands on one playbook take.
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
#[command(after_help = "Examples:
  playbook log
  playbook log pat-001
  playbook log 20261121T221951-3f9a2c1b")]
pub(crate) struct Log {
    /// A key point, or a job [default: all jobs of the project]
    pub(crate) id: Option<String>,
    /// Show at most so many, the newest [default: 20 jobs; the whole story of a key point]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
pub(crate) struct Undo {
    /// The job, as `playbook log` names it
    pub(crate) job: String,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  playbook restore
  playbook restore 20261121T221951-3f9a2c1b")]
pub(crate) struct Restore {
    /// The job after which the playbook was as you want it [default: mend a playbook that
    /// cannot be read with the last good one; else list them]
    pub(crate) snapshot: Option<String>,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  playbook add \"run `just test` before each commit\" --section patterns")]
pub(crate) struct Add {
    /// What the key point says
    pub(crate) text: String,
    /// patterns, mistakes, preferences, context or others
    #[arg(long, value_name = "SECTION", default_value = "others")]
    pub(crate) section: String,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
pub(crate) struct Edit {
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
pub(crate) struct Remove {
    /// The key point, such as pat-001
    pub(crate) id: String,
    /// Why; stands in the history
    #[arg(long)]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  playbook merge pat-001 pat-004 --text \"run the tests, then the linter\"")]
pub(crate) struct Merge {
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
pub(crate) struct Pin {
    /// The key point, such as pat-001
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
pub(crate) struct Dedup {
    /// Join them
    #[arg(long)]
    pub(crate) apply: bool,
    /// How similar two texts are that count as one, from 0 to 1 [default: the setting]
    #[arg(long, value_name = "T", value_parser = share)]
    pub(crate) threshold: Option<f64>,
    #[command(flatten)]
    pub(crate) on: On,
}

/// Reads a number from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|n| (0.0..=1.0).contains(n));
    number.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// As Markdown, the default
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// All projects that the client has transcripts of
    #[arg(long, conflicts_with = "project")]
    pub(crate) all_known: bool,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
pub(crate) struct Untrust {
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  playbook review
  playbook review accept 3
  playbook review edit 3 --text \"run `just test` before each commit\"
  playbook review drop 3")]
pub(crate) struct Review {
    #[command(subcommand)]
    pub(crate) action: Option<ReviewAction>,
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
        /// What it says from now on
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
#[command(after_help = "Examples:
  playbook jobs
  playbook jobs retry --all
  playbook jobs drop 20261121T221951-3f9a2c1b")]
pub(crate) struct Jobs {
    #[command(subcommand)]
    pub(crate) action: Option<JobsAction>,
    /// Print one JSON object
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JobsAction {
    /// Try again now, with the backend, base URL and key of this shell
    Retry(Retry),
    /// Give a job up: its part of the session counts as done and does not come back
    Drop {
        /// The job, as `playbook jobs` names it
        id: String,
    },
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Retry {
    /// The job, as `playbook jobs` names it
    pub(crate) id: Option<String>,
    /// All jobs that wait or have failed, also those of other projects and accounts
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  playbook completions bash > ~/.local/share/bash-completion/completions/playbook
  playbook completions zsh > ~/.zfunc/_playbook
  playbook completions fish > ~/.config/fish/completions/playbook.fish

install.sh does this.")]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: Shell,
}

/// A shell that we have completions for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// With the package bash-completion
    Bash,
    /// In a folder of `$fpath`
    Zsh,
    /// As it is
    Fish,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  playbook man | man -l -
  playbook man --dir ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Write a page for each command into this folder, and print their names
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Print the reference of all commands, as in docs/commands.md
    #[arg(long, hide = true, conflicts_with = "dir")]
    pub(crate) markdown: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Worker {
    /// How many jobs to work on at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) jobs: Option<u16>,
    /// Go on in the background, on its own
    #[arg(long, hide = true)]
    pub(crate) detach: bool,
    /// Do this job alone
    #[arg(long, value_name = "ID", hide = true)]
    pub(crate) job: Option<String>,
    /// The project the worker is started from
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) project: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  playbook config list
  playbook config set budgets.calls_per_day 50
  playbook config get backend")]
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
    /// Say where your settings are
    Path,
    /// Look for mistakes in your settings and the project's
    Check,
    /// Print the reference of all keys, as in docs/configuration.md
    #[command(hide = true)]
    Reference,
}

#[derive(Debug, Args)]
pub(crate) struct FixturesArgs {
    #[command(subcommand)]
    pub(crate) action: FixturesAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FixturesAction {
    /// Ask a real backend about a transcript and keep its replies
    Record(Record),
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  playbook fixtures record SESSION.jsonl --file replies.jsonl --backend anthropic")]
pub(crate) struct Record {
    /// The session's JSONL file
    pub(crate) transcript: PathBuf,
    /// The file the replies are added to [default: `fixtures.path`]
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// What is asked [default: as the settings say, `auto` where they say fixtures]
    #[arg(long, value_name = "NAME", value_parser = ["auto", "anthropic", "claude-cli", "rules"])]
    pub(crate) backend: Option<String>,
    /// The project whose playbook it is [default: the one of this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Whose memory it is.
#[derive(Debug, Args)]
pub(crate) struct Of {
    /// The project [default: the one of this folder]
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    pub(crate) project: Option<PathBuf>,
    /// All projects
    #[arg(long)]
    pub(crate) all: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  playbook recall \"slow join on the orders table\"
  playbook recall timeout --kind lesson --kind strategy --min-importance 0.7
  playbook recall --tag sql --outcome failure")]
pub(crate) struct Recall {
    /// Words to look for, or an id such as les-0123456789ab [default: the best of all]
    #[arg(allow_hyphen_values = true)]
    pub(crate) query: Option<String>,
    /// Show at most so many
    #[arg(
        short = 'k', long, value_name = "N", default_value_t = 5,
        value_parser = clap::value_parser!(u64).range(1..=1000)
    )]
    pub(crate) limit: u64,
    /// Only of this kind; may be given more than once
    #[arg(
        long, value_name = "KIND",
        value_parser = ["reflection", "strategy", "lesson", "error"]
    )]
    pub(crate) kind: Vec<String>,
    /// At least so important, from 0 to 1
    #[arg(long, value_name = "I", default_value_t = 0.0, value_parser = share)]
    pub(crate) min_importance: f64,
    /// With this tag; given more than once, with all of them
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Of sessions that ended so
    #[arg(
        long, value_name = "OUTCOME",
        value_parser = ["success", "failure", "partial", "timeout", "error"]
    )]
    pub(crate) outcome: Option<String>,
    #[command(flatten)]
    pub(crate) of: Of,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  cargo test 2>&1 | playbook seen
  playbook seen \"ModuleNotFoundError: No module named 'yaml'\"")]
pub(crate) struct Seen {
    /// The error's text, or its signature [default: what stands on stdin]
    #[arg(allow_hyphen_values = true)]
    pub(crate) error: Option<String>,
    /// The tool that reported it, such as Bash [default: any]
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    #[command(flatten)]
    pub(crate) of: Of,
}

#[derive(Debug, Args)]
pub(crate) struct Stats {
    #[command(flatten)]
    pub(crate) of: Of,
}

#[derive(Debug, Args)]
#[command(
    group = clap::ArgGroup::new("what").required(true).multiple(true),
    after_help = "Examples:
  playbook forget les-0123456789ab
  playbook forget --project
  playbook forget --older-than 90d"
)]
pub(crate) struct Forget {
    /// What to forget, such as les-0123456789ab
    #[arg(group = "what", conflicts_with_all = ["project", "older_than", "all"])]
    pub(crate) id: Option<String>,
    /// All that was learned in a project, of DIR or of this folder; with --older-than, of
    /// that only what is old
    #[arg(long, group = "what", value_name = "DIR", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "given, and given with a folder")]
    pub(crate) project: Option<Option<PathBuf>>,
    /// What was last learned or shown before: 90d, 12w, 6mo, 1y, or a date such as 2026-01-31
    #[arg(long, group = "what", value_name = "TIME")]
    pub(crate) older_than: Option<String>,
    /// Of all projects
    #[arg(long, requires = "older_than", conflicts_with = "project")]
    pub(crate) all: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Cost {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which of the client's files of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// For all your projects: ~/.claude/settings.json
    User,
    /// For everyone in one project: .claude/settings.json there
    Project,
    /// For you in one project: .claude/settings.local.json there
    Local,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  playbook install --dry-run
  playbook install
  playbook install --scope local --project ~/work/app")]
pub(crate) struct Install {
    /// Where to register
    #[arg(long, value_enum, default_value = "user")]
    pub(crate) scope: Scope,
    /// The project, for its scopes [default: the one of this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Show the change and make none
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Replace the hooks of the earlier Python version [default: ask; without a terminal
    /// keep them]
    #[arg(long)]
    pub(crate) replace_earlier: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  playbook uninstall --dry-run
  playbook uninstall
  playbook uninstall --purge")]
pub(crate) struct Uninstall {
    /// Only the hooks registered there; all else stays [default: everywhere]
    #[arg(long, value_enum, conflicts_with = "purge")]
    pub(crate) scope: Option<Scope>,
    /// The project, for its scopes [default: the one of this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
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
#[command(after_help = "Exit status: 0 all is well, 1 something is broken.

Examples:
  playbook doctor
  playbook doctor --online")]
pub(crate) struct Doctor {
    /// The project [default: the one of this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Ask the backend one tiny question, which costs a few tokens
    #[arg(long)]
    pub(crate) online: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  playbook bench
  playbook bench -c examples/config/fixtures.toml")]
pub(crate) struct Bench {
    /// The settings [default: yours]; the backend is `fixtures` where they say so, else `rules`
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Keep the rules' answers as the recorded replies of these settings first
    #[arg(long, hide = true)]
    pub(crate) record: bool,
}
