//! `playbook --help`: the commands by what they are for; the rarer ones with `--all`.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::error::{ContextKind, ContextValue};
use clap::{Command, CommandFactory as _, FromArgMatches as _};

use super::args::Cli;
use super::width;
use crate::env::Env;

pub(super) struct Group {
    pub(super) title: &'static str,
    pub(super) usual: &'static [&'static str],
    pub(super) rarer: &'static [&'static str],
}

/// Each command is in one of them; the tests name one that is missing.
pub(super) const GROUPS: [Group; 6] = [
    Group {
        title: "Start",
        usual: &["demo", "install", "bootstrap"],
        rarer: &[],
    },
    Group {
        title: "Look",
        usual: &["status", "show", "log", "report", "recall", "stats"],
        rarer: &["evidence"],
    },
    Group {
        title: "Change",
        usual: &["add", "edit", "remove", "pin", "undo", "review"],
        rarer: &["promote", "forget"],
    },
    Group {
        title: "Learn",
        usual: &["trust", "reflect", "gate"],
        rarer: &["lesson", "dream"],
    },
    Group {
        title: "Keep working",
        usual: &["doctor", "jobs", "config", "uninstall"],
        rarer: &["worker"],
    },
    Group {
        title: "For scripts",
        usual: &["seen", "export", "redact"],
        rarer: &[
            "hook",
            "mcp",
            "sync",
            "server",
            "generate",
            "bench",
            "completions",
        ],
    },
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListedCommand {
    Usual,
    All,
}

pub(super) fn parse() -> Result<Cli, clap::Error> {
    let mut args: Vec<OsString> = std::env::args_os().collect();
    if args.get(1).is_some_and(|first| first == "help") {
        args.remove(1);
        args.push("--help".into());
    }
    // `--help` ends the parsing, so `--all` behind it is looked for here.
    let listed = if args.iter().any(|arg| arg == "--all") {
        ListedCommand::All
    } else {
        ListedCommand::Usual
    };
    let mut command = with_groups(Cli::command(), listed);
    let matches = command.try_get_matches_from_mut(args);
    let matches = matches.map_err(|mut error| {
        let text = |text: &str| ContextValue::String(text.to_owned());
        // By the letters alone clap suggests `uninstall`.
        if error.get(ContextKind::InvalidSubcommand) == Some(&text("unpin")) {
            error.insert(ContextKind::SuggestedSubcommand, text("pin ID --off"));
        }
        error
    })?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

pub(super) fn print_all() -> std::io::Result<()> {
    with_groups(Cli::command(), ListedCommand::All).print_help()
}

fn with_groups(command: Command, listed: ListedCommand) -> Command {
    let heading = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let screen = width::of_screen(&Env::from_process());
    let mut text = String::new();
    for group in &GROUPS {
        // Writing to a string cannot fail.
        _ = writeln!(text, "\n{heading}{}:{heading:#}", group.title);
        let rarer = match listed {
            ListedCommand::Usual => &[],
            ListedCommand::All => group.rarer,
        };
        for name in group.usual.iter().chain(rarer) {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let line = format!("  {literal}{name:<11}{literal:#}  {about}");
            _ = writeln!(text, "{}", width::hang(&line, screen));
        }
    }
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n{text}\n\
         {heading}Options:{heading:#}\n{{options}}{{after-help}}\n"
    );
    command.help_template(template)
}
