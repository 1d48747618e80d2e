//! Names of errors and commands, by which hooks and the worker recognize a failed call.
//!
//! [`shell`] parses command lines, [`destructive`] lists those that cannot be undone; [`words`]
//! holds the tables of programs.

pub mod destructive;
mod keys;
mod normal;
pub mod shell;
mod signature;
pub mod words;

use std::borrow::Cow;

use crate::clip::{head, tail};
use crate::shown::without_controls;
use normal::{is_marked, parts};
use shell::{Program, SimpleCommand, is_check, runs_commands};
pub use signature::{Signature, first_eight};
use words::TASK_RUNNERS;

pub use keys::{error_keys, exact_key, is_exact, same_error};

/// The part of a tool's input that is kept, in bytes.
pub const MAX_INPUT: usize = 400;
/// The bytes at a text's beginning and at its end that decide its name.
const HEAD: usize = 8 * 1024;
const TAIL: usize = 16 * 1024;
/// A longer line is data, not a message.
const MAX_MESSAGE: usize = 400;
/// Commands that only set where and how the others run.
const SETTINGS: &[&str] = &["cd", "pushd", "set", "export", "source", "."];

/// An error with a name that is the same wherever it occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedError {
    /// The program with its subcommand that failed, or the tool.
    pub subject: String,
    /// The line that names the error, else the first line of the output.
    pub message: String,
    /// The hash of spec/5 over the subject and the normalised text.
    pub signature: Signature,
}

impl NamedError {
    /// Names the error of a call from the whole text and the beginning of the input; `None` for an
    /// empty text.
    ///
    /// The message names it where only one program can have written it. A check or a task runner
    /// prints findings about the project, and in a line of several programs any may have failed.
    /// The whole output names these errors.
    pub fn of(tool: &str, input: &str, text: &str) -> Option<Self> {
        let text = &shown(text)?;
        let found = message(text);
        let message = found.unwrap_or_else(|| text.lines().next().unwrap_or_default().trim());
        let (subject, name) = if !runs_commands(tool) {
            (tool.to_owned(), message)
        } else if let Some(subject) = subject(head(input, MAX_INPUT).trim(), message) {
            let (program, subcommand) = subject.split_once(' ').unwrap_or((&subject, ""));
            let runs_tasks = TASK_RUNNERS.has(program) || TASK_RUNNERS.has(&subject);
            let is_work = runs_tasks || is_check(program, subcommand);
            let name = found.filter(|_| !is_work);
            (subject, name.unwrap_or(text))
        } else {
            (tool.to_owned(), &**text)
        };
        Some(Self {
            signature: Signature::of_error(&subject, &normalized(name)),
            message: message.to_owned(),
            subject,
        })
    }
}

pub fn error_signature(tool: &str, input: &str, text: &str) -> Option<Signature> {
    NamedError::of(tool, input, text).map(|error| error.signature)
}

/// Returns the text of an error without the client's tags around it.
pub fn unwrapped(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_prefix("<tool_use_error>").unwrap_or(text);
    text.strip_suffix("</tool_use_error>")
        .unwrap_or(text)
        .trim()
}

/// Returns the part of an error's text that names it, without what the client adds; `None` if
/// nothing is left.
fn shown(text: &str) -> Option<String> {
    let text = unwrapped(text);
    let text = text
        .strip_prefix("Error: ")
        .filter(|rest| rest.starts_with("Exit code "))
        .unwrap_or(text);
    let text = match text.strip_prefix("Exit code ") {
        Some(said) => said.split_once('\n').map_or("", |(_, said)| said),
        None => text,
    };
    let ends: Cow<'_, str> = if text.len() <= HEAD + TAIL {
        text.into()
    } else {
        format!("{}\n{}", head(text, HEAD), tail(text, TAIL)).into()
    };
    let text = without_controls(&ends).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Returns the program with its subcommand that failed: the only relevant one of the line, else the
/// one that the message names.
fn subject(line: &str, message: &str) -> Option<String> {
    let commands = shell::read(line);
    let programs = || commands.iter().filter_map(SimpleCommand::program);
    let mut subjects: Vec<String> = programs()
        .filter(|it| !it.only_reads() && !it.prepares())
        .map(|it| it.subject())
        .collect();
    if subjects.is_empty() {
        let others = programs().filter(|it| !SETTINGS.contains(&it.name));
        subjects = others.map(|it| it.subject()).collect();
    }
    subjects.dedup();
    let is_named = |it: &Program<'_>| message.split(": ").take(2).any(|part| part == it.name);
    match &subjects[..] {
        [only] => Some(only.clone()),
        _ => programs().find(is_named).map(|it| it.subject()),
    }
}

/// Returns the first line that names an error by its form: `error: …`, `fatal: …`, an exception
/// before its message.
fn message(text: &str) -> Option<&str> {
    let is_message = |line: &&str| line.len() <= MAX_MESSAGE && is_marked(line);
    text.lines().map(str::trim).find(is_message)
}

fn normalized(text: &str) -> String {
    let lines = text.lines().map(|line| parts(line).join(" "));
    lines.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const NO_YAML: &str = "ModuleNotFoundError: No module named 'yaml'";

    #[rstest]
    #[case::option("Usage: x [OPTIONS]\n\nError: No such option: --event", 2)]
    #[case::python(&format!("Traceback:\n  File \"/a/b.py\", line 3\n    raise X('error: x')\n{NO_YAML}"), 3)]
    #[case::pytest(&format!("a.py F\nE   {NO_YAML}"), 1)]
    #[case::rustc("warning: x\nerror[E0382]: borrow of moved value: `a`", 1)]
    #[case::prose("A word\nThe word error: is no mark in a sentence", 0)]
    fn the_line_that_names_the_error_is_its_message(#[case] text: &str, #[case] want: usize) {
        let error = NamedError::of("Bash", "./run.sh", &format!("Exit code 1\n{text}")).unwrap();
        assert_eq!(Some(&*error.message), text.lines().nth(want));
    }

    #[rstest]
    #[case::below("error: no --a\nUsage: x", "Try x\nerror: no --a", true)]
    #[case::path("cat: /a/b.txt: No such file", "cat: c/b.txt: No such file", true)]
    #[case::file("cat: /a/b.txt: No such file", "cat: /a/c.txt: No such file", false)]
    #[case::no_message("linking\nfailed: a", "linking\nfailed: b", false)]
    fn an_error_is_the_same_elsewhere(#[case] one: &str, #[case] other: &str, #[case] want: bool) {
        let name = |text| error_signature("Bash", "tool x", text).unwrap();
        assert_eq!(name(one) == name(other), want);
    }

    #[rstest]
    #[case::subcommand("cd x && gh pr diff 1 --x", "Error: bad flag: --x", "gh pr diff")]
    #[case::named("git add a && go build; ./b", "go: error: no module x", "go build")]
    #[case::one_of_two("cargo build && ./b", "error: x", "Bash")]
    #[case::starter_is_missing("python run.py", "bash: python: command not found", "python")]
    #[case::only_read("cat x | head", "cat: error: x", "cat")]
    fn an_error_is_of_its_program(#[case] line: &str, #[case] text: &str, #[case] want: &str) {
        assert_eq!(NamedError::of("Bash", line, text).unwrap().subject, want);
        assert_eq!(NamedError::of("Read", line, text).unwrap().subject, "Read");
    }

    #[test]
    fn a_text_that_says_nothing_names_no_error() {
        assert_eq!(NamedError::of("Bash", "make", "Exit code 2"), None);
        assert_eq!(NamedError::of("Bash", "make", " "), None);
    }

    /// Findings of a check are the same error only if the whole output is.
    #[rstest]
    #[case::check("cargo test")]
    #[case::task("npm run deploy")]
    #[case::own_program("cargo run --bin x")]
    #[case::several("git push && ./b")]
    fn an_output_of_many_is_the_same_as_a_whole(#[case] line: &str) {
        let name = |text: &str| error_signature("Bash", line, text);
        let (one, other) = ("a failed 1.2s\nerror: x", "b failed 1.2s\nerror: x");
        assert_ne!(name(one), name(other));
        assert_eq!(name(one), name(&one.replace("1.2", "3.4")));
    }
}
