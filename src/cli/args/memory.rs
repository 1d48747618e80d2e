//! The arguments of the commands that ask the memory.

use std::path::PathBuf;

use clap::builder::{StringValueParser, TypedValueParser as _};
use clap::{Args, Subcommand};

use super::{On, share};
use crate::tenant::Tenant;

/// The owner of a memory.
#[derive(Debug, Args)]
pub(crate) struct OfTenant {
    /// The tenant, of those that `playbook generate` keeps apart [default: you]
    #[arg(long, value_name = "NAME", value_parser = StringValueParser::new().map(|name| Tenant::named(&name)))]
    pub(crate) tenant: Option<Tenant>,
}

/// The memory, and the form of the output.
#[derive(Debug, Args)]
pub(crate) struct Of {
    /// The project, by its folder or by the name it was learned under [default: the one of
    /// this folder]
    #[arg(long, value_name = "PROJECT", conflicts_with = "all")]
    pub(crate) project: Option<PathBuf>,
    /// All projects
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) whose: OfTenant,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RecallArgs {
    /// Words to look for, or an id such as les-0123456789ab [default: the best of all]
    #[arg(allow_hyphen_values = true)]
    query: Option<String>,
    #[arg(hide = true)]
    more: Vec<String>,
    /// Show at most this many
    #[arg(
        short = 'k', long, value_name = "N", default_value_t = 5,
        value_parser = clap::value_parser!(u64).range(1..=1000)
    )]
    pub(crate) limit: u64,
    /// A kind to search; may be given more than once
    #[arg(
        long, value_name = "KIND",
        value_parser = ["reflection", "strategy", "lesson", "error"]
    )]
    pub(crate) kind: Vec<String>,
    /// At least this important, from 0 to 1
    #[arg(long, value_name = "I", default_value_t = 0.0, value_parser = share)]
    pub(crate) min_importance: f64,
    /// With this tag; given more than once, with all of them
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// The ending of the sessions
    #[arg(
        long, value_name = "OUTCOME",
        value_parser = ["success", "failure", "partial", "timeout", "error"]
    )]
    pub(crate) outcome: Option<String>,
    /// Learned or shown within this time: 30d, 12h, 2w
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    pub(crate) since: Option<jiff::SignedDuration>,
    /// Last learned or shown before this time: 30d, 12h, 2w
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    pub(crate) until: Option<jiff::SignedDuration>,
    #[command(flatten)]
    pub(crate) of: Of,
}

#[derive(Debug, Args)]
pub(crate) struct SeenArgs {
    /// The error's text, or its signature [default: what comes on stdin]
    #[arg(allow_hyphen_values = true)]
    error: Option<String>,
    #[arg(hide = true)]
    more: Vec<String>,
    /// The program or tool that reported it, such as `git` or `Read` [default: any]
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    #[command(flatten)]
    pub(crate) of: Of,
}

impl RecallArgs {
    /// Joins the words of a query that came without quotes.
    pub(crate) fn query(&self) -> Option<String> {
        in_one(self.query.as_ref(), &self.more)
    }
}

impl SeenArgs {
    /// The error, also where its words came without quotes.
    pub(crate) fn error(&self) -> Option<String> {
        in_one(self.error.as_ref(), &self.more)
    }
}

/// Words in one text. The first may begin with a hyphen; behind it, options are options.
fn in_one(first: Option<&String>, more: &[String]) -> Option<String> {
    let words: Vec<&str> = first.into_iter().chain(more).map(String::as_str).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
pub(crate) struct ForgetArgs {
    /// The id of a memory, such as les-0123456789ab
    #[arg(group = "what", conflicts_with_all = ["project", "older_than", "all"])]
    pub(crate) id: Option<String>,
    /// The notes, lessons and errors of a project, by its folder or by the name it was learned
    /// under, or of this folder's, whose key points stay; its sessions can be learned again. With
    /// --older-than, of that only what is old
    #[arg(long, group = "what", value_name = "PROJECT", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "given, and given with a folder")]
    pub(crate) project: Option<Option<PathBuf>>,
    /// The time before which it was last learned or shown: 90d, 12w, 6mo, 1y, or a date such as 2026-01-31
    #[arg(long, group = "what", value_name = "TIME")]
    pub(crate) older_than: Option<String>,
    /// Forget it in all projects
    #[arg(long, requires = "older_than", conflicts_with = "project")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) whose: OfTenant,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LessonAction {
    /// Remember a mistake and what is right
    Add(LessonAddArgs),
    /// Say whether a lesson helped you
    Outcome(LessonOutcomeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LessonAddArgs {
    /// The kind of task, in a word or two
    #[arg(long, value_name = "TYPE")]
    pub(crate) task: String,
    /// The mistake
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) mistake: String,
    /// The correction
    #[arg(long, value_name = "TEXT")]
    pub(crate) correction: String,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("worth").required(true))]
pub(crate) struct LessonOutcomeArgs {
    /// The lesson, as `playbook recall` names it
    pub(crate) id: String,
    /// It did
    #[arg(long, group = "worth")]
    pub(crate) helped: bool,
    /// It did not
    #[arg(long, group = "worth")]
    pub(crate) did_not: bool,
    #[command(flatten)]
    pub(crate) on: On,
}
