//! `playbook completions`: shell completions, manual pages, and the reference `docs/commands.md`.
//! The sources are the definitions of `--help` and the shapes of the `--json` output.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use super::args::CompletionsArgs;
use super::help::{GROUPS, command};
use anyhow::Context as _;
use clap::{Arg, Command};
use clap_complete::{Shell, generate};

const NAME: &str = "playbook";
const INTRODUCTION: &str = include_str!("commands_head.md");

/// The shapes of the `--json` output: a command line, and its object below.
const SHAPES: &str = include_str!("json_shapes.txt");

pub(super) fn run(args: &CompletionsArgs) -> anyhow::Result<()> {
    if args.markdown {
        return print(reference().as_bytes());
    }
    if let Some(folder) = &args.man {
        return pages(folder).with_context(|| format!("could not write {}", folder.display()));
    }
    // clap requires a shell here.
    let shell = args.shell.unwrap_or(Shell::Bash);
    let mut script = Vec::new();
    generate(shell, &mut command(), NAME, &mut script);
    print(&script)
}

#[expect(clippy::disallowed_methods, reason = "others may read the pages")]
fn pages(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(command(), folder)
}

fn print(bytes: &[u8]) -> anyhow::Result<()> {
    io::stdout().lock().write_all(bytes)?;
    Ok(())
}

fn reference() -> String {
    let mut cli = command();
    cli.build();
    let mut text = format!("{INTRODUCTION}\n{}", by_use());
    for command in cli.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        describe(&mut text, command, "##");
    }
    text
}

fn by_use() -> String {
    let rows = GROUPS.map(|(title, usual, rarer)| {
        let names = usual.split(' ').chain(rarer.split_terminator(' '));
        let names = names.map(|name| format!("[{name}](#playbook-{name})"));
        let names = names.collect::<Vec<_>>().join(", ");
        format!("| {title} | {names} |\n")
    });
    let rows = rows.concat();
    format!("## By use\n\n| to | commands |\n|---|---|\n{rows}")
}

fn describe(text: &mut String, command: &Command, level: &str) {
    // Writing to a string cannot fail.
    let name = command.get_bin_name().unwrap_or_default();
    let about = command.get_long_about().or_else(|| command.get_about());
    let about = about.map(ToString::to_string).unwrap_or_default();
    _ = write!(text, "\n{level} {name}\n\n{}\n", sentence(&about));
    let mut command = command.clone();
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    _ = write!(text, "\n```text\n{usage}\n```\n");
    let is_help = |arg: &Arg| matches!(arg.get_id().as_str(), "help" | "version");
    let shown = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !is_help(arg));
    let rows: String = shown.map(row).collect();
    if !rows.is_empty() {
        _ = write!(text, "\n| option | what |\n|---|---|\n{rows}");
    }
    let after = command.get_after_long_help();
    if let Some(after) = after.or_else(|| command.get_after_help()) {
        _ = write!(text, "\n```text\n{after}\n```\n");
    }
    let shapes = SHAPES
        .split("\n\n")
        .filter_map(|text| text.split_once('\n'));
    for (what, shape) in shapes.filter(|(what, _)| is_of(what, name)) {
        _ = write!(text, "\n`{what}`:\n\n```json\n{}\n```\n", shape.trim());
    }
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        describe(text, sub, "###");
    }
}

/// Returns `true` if a command line is one of the command `name` and not of a subcommand.
fn is_of(line: &str, name: &str) -> bool {
    let words = line
        .split(' ')
        .take_while(|word| word.bytes().all(|b| b.is_ascii_lowercase()));
    words.eq(name.split(' '))
}

fn row(arg: &Arg) -> String {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let shown = arg.to_string();
    let mut cell = help;
    if arg.get_action().takes_values() {
        let possible = arg.get_possible_values().into_iter();
        let possible = possible.map(|value| format!("`{}`", value.get_name()));
        let possible = possible.collect::<Vec<_>>().join(", ");
        if !possible.is_empty() {
            cell = format!("{cell}: {possible}");
        }
        if !arg.is_hide_default_value_set()
            && let Some(default) = arg.get_default_values().first()
        {
            cell = format!("{cell} (default `{}`)", default.display());
        }
    }
    let short = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(_)) => format!("`-{short}`, "),
        _ => String::new(),
    };
    let cell = cell.replace('|', "\\|").replace('\n', " ");
    format!("| {short}`{shown}` | {cell} |\n")
}

fn sentence(about: &str) -> String {
    let (first, rest) = about.split_at(about.find('\n').unwrap_or(about.len()));
    let end = if first.ends_with('?') { "" } else { "." };
    format!("{first}{end}{rest}")
}
