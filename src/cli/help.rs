//! `playbook --help`: the commands grouped by purpose; the rarer ones with `--all`.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::error::{ContextKind, ContextValue};
use clap::{Command, CommandFactory as _, FromArgMatches as _};

use super::args::Cli;
use super::output;
use crate::env::Env;

/// A title, usual commands, rarer ones. A test names any command that is missing.
pub(super) const GROUPS: [(&str, &str, &str); 6] = [
    ("Start", "demo install bootstrap", ""),
    ("Look", "status show log report recall stats", "evidence"),
    (
        "Change",
        "add edit remove pin undo review",
        "promote forget",
    ),
    ("Learn", "trust reflect gate guard", "lesson dream"),
    ("Keep working", "doctor jobs config uninstall", "worker"),
    (
        "For scripts",
        "seen export redact",
        "hook mcp server generate bench completions",
    ),
];

/// The texts below the help of each command: examples and further notes.
const TEXTS: &str = include_str!("help.txt");

pub(super) fn command() -> Command {
    with_texts(Cli::command(), "playbook")
}

fn with_texts(command: Command, name: &str) -> Command {
    let mut blocks = TEXTS
        .split("## ")
        .filter_map(|block| block.split_once('\n'));
    let text = blocks.find(|(title, _)| *title == name);
    let command = command.mut_subcommands(|sub| {
        let name = format!("{name} {}", sub.get_name());
        with_texts(sub, &name)
    });
    match text {
        Some((_, text)) => command.after_help(text.trim_end()),
        None => command,
    }
}

pub(super) fn parse() -> Result<Cli, clap::Error> {
    let mut args: Vec<OsString> = std::env::args_os().collect();
    if args.get(1).is_some_and(|first| first == "help") {
        args.remove(1);
        args.push("--help".into());
    }
    // Parsing stops at `--help`, so a later `--all` is searched for here.
    let is_all = args.iter().any(|arg| arg == "--all");
    let mut command = with_groups(command(), is_all);
    let matches = command.try_get_matches_from_mut(args);
    let matches = matches.map_err(|mut error| {
        let text = |text: &str| ContextValue::String(text.to_owned());
        // From the spelling alone clap would suggest `uninstall`.
        if error.get(ContextKind::InvalidSubcommand) == Some(&text("unpin")) {
            error.insert(ContextKind::SuggestedSubcommand, text("pin ID --off"));
        }
        error
    })?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

pub(super) fn print_all() -> std::io::Result<()> {
    with_groups(command(), true).print_help()
}

fn with_groups(command: Command, is_all: bool) -> Command {
    let heading = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let screen = output::of_screen(&Env::from_process());
    let mut text = String::new();
    for (title, usual, rarer) in GROUPS {
        // Writing to a string cannot fail.
        _ = writeln!(text, "\n{heading}{title}:{heading:#}");
        let rarer = if is_all { rarer } else { "" };
        for name in usual.split(' ').chain(rarer.split_terminator(' ')) {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let line = format!("  {literal}{name:<11}{literal:#}  {about}");
            _ = writeln!(text, "{}", output::hang(&line, screen));
        }
    }
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n{text}\n\
         {heading}Options:{heading:#}\n{{options}}{{after-help}}\n"
    );
    command.help_template(template)
}
