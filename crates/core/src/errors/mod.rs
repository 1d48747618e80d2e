//! Names of errors and commands, by which hooks and the worker recognize a failed call.
//!
//! [`shell`] parses command lines, [`destructive`] lists those that cannot be undone; [`words`]
//! holds the tables of programs.

pub mod destructive;
mod keys;
pub mod shell;
mod signature;
pub mod words;

use std::borrow::Cow;

use crate::clip::{head, tail};
use crate::shown::without_controls;
use shell::{Program, SHELLS, SimpleCommand, base_name, is_check, runs_commands};
pub use signature::{Signature, first_eight};
use words::{EXTENSIONS, TASK_RUNNERS};

pub use keys::{asked_keys, stored_keys};

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
        let message = message(text).unwrap_or_else(|| first_line(text));
        let (subject, signature) = if !runs_commands(tool) {
            (tool.to_owned(), signature(tool, message))
        } else if let Some(subject) = subject(head(input, MAX_INPUT).trim(), message) {
            let signature = by_message(&subject, text);
            (subject, signature)
        } else {
            (tool.to_owned(), signature(tool, text))
        };
        Some(Self {
            subject,
            message: message.to_owned(),
            signature,
        })
    }
}

pub fn error_signature(tool: &str, input: &str, text: &str) -> Option<Signature> {
    NamedError::of(tool, input, text).map(|error| error.signature)
}

/// Like [`error_signature`], for the output of `subject` alone.
pub fn error_of_subject(subject: &str, text: &str) -> Option<Signature> {
    shown(text).map(|text| by_message(subject, &text))
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

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim()
}

fn by_message(subject: &str, text: &str) -> Signature {
    let (program, subcommand) = subject.split_once(' ').unwrap_or((subject, ""));
    let runs_task = [program, subject].iter().any(|name| TASK_RUNNERS.has(name));
    let is_work = runs_task || is_check(program, subcommand);
    let said = message(text).filter(|_| !is_work);
    signature(subject, said.unwrap_or(text))
}

fn signature(subject: &str, text: &str) -> Signature {
    Signature::of_error(subject, &normalized(text))
}

/// Returns the first line that names an error by its form: `error: …`, `fatal: …`, an exception
/// before its message.
fn message(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| {
        let parts: Vec<&str> = line.split(": ").collect();
        let before = parts.len().min(4) - 1;
        line.len() <= MAX_MESSAGE && parts[..before].iter().any(|part| is_mark(part))
    })
}

/// Returns `true` for `error`, `fatal error`, `error[E0382]`, `E   ModuleNotFoundError`.
fn is_mark(part: &str) -> bool {
    let lower = part.to_lowercase();
    let names = ["error", "fatal", "exception"];
    if !names.iter().any(|name| lower.contains(name)) {
        return false;
    }
    let part = normalized(part);
    let words: Vec<&str> = part.split(' ').collect();
    let names_error = |word: &str| {
        let is_name = word
            .chars()
            .all(|c| c.is_alphanumeric() || "._".contains(c));
        word == "fatal" || (is_name && (word.ends_with("error") || word.ends_with("exception")))
    };
    match words[..] {
        [first, ref others @ ..] if others.len() < 2 => {
            names_error(first) || others.iter().any(|word| names_error(word))
        }
        _ => false,
    }
}

/// Reduces a text to what is the same everywhere, in lower case: without numbers, paths, addresses,
/// times, versions, quote marks, and the reporting shell.
fn normalized(text: &str) -> String {
    let mut words = String::new();
    for line in text.lines() {
        // `error[E0382]` names a code.
        for token in without_shell(line).split(|c: char| c == '[' || c.is_whitespace()) {
            let token = token.trim_matches(is_quote);
            let is_lower = token
                .bytes()
                .all(|b| b.is_ascii() && !b.is_ascii_uppercase());
            let lower = (!is_lower).then(|| token.to_lowercase());
            let word = without_place(lower.as_deref().unwrap_or(token)).trim_matches(is_quote);
            if !words.is_empty() && !word.is_empty() {
                words.push(' ');
            }
            words.push_str(word);
        }
    }
    words
}

/// Returns `true` for a sign around words that says nothing of them.
fn is_quote(c: char) -> bool {
    !c.is_ascii_alphanumeric() && "'\"`()[]{}<>,;:.!?*|’‘“”".contains(c)
}

/// Removes the prefix of the reporting shell: `bash: line 1: `, `zsh:1: `.
fn without_shell(mut line: &str) -> &str {
    while let Some((part, rest)) = line.split_once(": ") {
        let name = part.trim_end_matches(|c: char| c.is_ascii_digit() || " :".contains(c));
        let is_shell = SHELLS.contains(&base_name(name)) || ["line", "(eval)", ""].contains(&name);
        if !is_shell {
            break;
        }
        line = rest;
    }
    line
}

/// Returns the part of a lower-case word that every machine writes alike.
fn without_place(word: &str) -> &str {
    if word.starts_with('-') {
        return word.split_once('=').map_or(word, |(option, _)| option);
    }
    // `react@18.2.0`, `numpy>=1.2`
    let word = match word.find(|c: char| "@=<>~^".contains(c)) {
        Some(at) if word[at..].contains(|c: char| c.is_ascii_digit()) => &word[..at],
        _ => word,
    };
    // `.text+0x4c`
    let word = word.find("0x").map_or(word, |at| &word[..at]);
    // `a.py:3`
    let extension = word.rsplit_once('.').map(|(_, end)| end);
    let extension = extension.and_then(|end| end.split([':', '(']).next());
    if is_path(word) || extension.is_some_and(|end| EXTENSIONS.has(end)) {
        return header(word);
    }
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    if digits == 0 {
        return word;
    }
    let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_short = letters != "v" && (1..=2).contains(&letters.len());
    let is_dashed = letters.ends_with('-') && (3..=6).contains(&letters.len());
    let is_code = (is_short || is_dashed) && letters.len() + digits == word.len();
    let is_status = word.len() == 3 && digits == 3 && word.starts_with(['4', '5']);
    let is_hash = word.len() > 5 && word.bytes().all(|b| b.is_ascii_hexdigit());
    // `python3.11`, `localhost:5432`
    let name = word.trim_end_matches(|c: char| c.is_ascii_digit() || ".:-_#".contains(c));
    match () {
        () if is_hash || name == "v" => "",
        () if is_code || is_status => word,
        () if name
            .bytes()
            .all(|b| b.is_ascii_alphabetic() || b".:-_\\".contains(&b)) =>
        {
            name
        }
        () if digits < 3 && word.starts_with(char::is_alphabetic) => word,
        () => "",
    }
}

/// Returns `true` for a word that is a place on a machine. `rate/2`, `A\B::c` and
/// `github.com/a/b` are names.
fn is_path(word: &str) -> bool {
    let (first, rest) = word.split_once('/').unwrap_or((word, ""));
    let is_arity = !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
    let is_module = first.contains('.') && first.starts_with(char::is_alphabetic);
    let is_unix = word.contains('/') && !is_arity && !is_module;
    let is_windows = word.contains(":\\") || word.starts_with(['\\', '.']) && word.contains('\\');
    is_unix || is_windows || word.starts_with('~')
}

/// Returns the name of a C header, which is no place; empty for any other file.
fn header(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    match name.rsplit_once('.') {
        Some((_, "h" | "hpp")) => name,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const FLAG: &str = "Error: unknown flag: --stat";

    #[rstest]
    #[case::option(
        "Usage: x [OPTIONS]\n\nError: No such option: --event",
        "Error: No such option: --event"
    )]
    #[case::python(
        "Traceback (most recent call last):\n  File \"/a/b.py\", line 3, in <module>\n    raise ValueError('error: x')\nModuleNotFoundError: No module named 'yaml'",
        "ModuleNotFoundError: No module named 'yaml'"
    )]
    #[case::pytest(
        "a.py F\nE   ModuleNotFoundError: No module named 'yaml'",
        "E   ModuleNotFoundError: No module named 'yaml'"
    )]
    #[case::rustc(
        "warning: x\nerror[E0382]: borrow of moved value: `a`",
        "error[E0382]: borrow of moved value: `a`"
    )]
    #[case::prose(
        "The word error: is no mark in a sentence",
        "The word error: is no mark in a sentence"
    )]
    fn the_line_that_names_the_error_is_its_message(#[case] text: &str, #[case] want: &str) {
        let text = format!("Exit code 1\n{text}");
        let error = NamedError::of("Bash", "./run.sh", &text).unwrap();
        assert_eq!(error.message, want);
    }

    #[rstest]
    #[case::path(
        "cat: /a/b.txt: No such file or directory",
        "cat: c/d.md: No such file or directory",
        true
    )]
    #[case::shell(
        "zsh:1: command not found: tsc",
        "(eval):1: command not found: tsc",
        true
    )]
    #[case::line(
        "bash: line 3: tsc: command not found",
        "/bin/sh: 1: tsc: command not found",
        true
    )]
    #[case::quotes("error: no rule for ‘all’", "error: no rule for 'all'", true)]
    #[case::number("fatal: bad object 0a1b2c3d", "fatal: bad object 99ffee11", true)]
    #[case::below(
        "error: no such option: --a\nUsage: x y",
        "Try help\nerror: no such option: --a",
        true
    )]
    #[case::option("error: unknown option: --a", "error: unknown option: --b", false)]
    #[case::module("No module named 'yaml'", "No module named 'toml'", false)]
    #[case::status("error: HTTP 404", "error: HTTP 503", false)]
    #[case::no_message("linking\nfailed: a", "linking\nfailed: b", false)]
    fn an_error_is_the_same_elsewhere(#[case] one: &str, #[case] other: &str, #[case] want: bool) {
        let name = |text| error_signature("Bash", "tool x", text).unwrap();
        assert_eq!(name(one) == name(other), want);
    }

    #[rstest]
    #[case::subcommand("cd x && gh pr diff 12 --stat", FLAG, "gh pr diff")]
    #[case::named("git add a && go build; ./b", "go: error: no module x", "go build")]
    #[case::one_of_two("cargo build && ./b", "error: x", "Bash")]
    #[case::starter_is_missing("python run.py", "bash: python: command not found", "python")]
    #[case::only_read("cat x | head", "cat: error: x", "cat")]
    fn an_error_is_of_the_program_that_met_it(
        #[case] line: &str,
        #[case] text: &str,
        #[case] want: &str,
    ) {
        assert_eq!(NamedError::of("Bash", line, text).unwrap().subject, want);
        assert_eq!(NamedError::of("Read", line, text).unwrap().subject, "Read");
    }

    #[rstest]
    #[case::exit_code("make", "Exit code 2")]
    #[case::nothing("make", " ")]
    fn a_text_that_says_nothing_names_no_error(#[case] line: &str, #[case] text: &str) {
        assert_eq!(NamedError::of("Bash", line, text), None);
    }

    /// Findings of a check are the same error only if the whole output is.
    #[rstest]
    #[case::check("cargo test")]
    #[case::task("npm run deploy")]
    #[case::own_program("cargo run --bin x")]
    #[case::several("git push && ./b")]
    fn an_output_of_many_is_the_same_as_a_whole(#[case] line: &str) {
        let name = |text: &str| error_signature("Bash", line, text);
        let (one, other) = (
            "a failed 1.2s\nerror: test failed",
            "b failed 1.2s\nerror: test failed",
        );
        assert_ne!(name(one), name(other));
        assert_eq!(name(one), name(&one.replace("1.2", "3.4")));
    }
}
