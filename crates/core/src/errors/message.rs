//! The line of an output that names the error, where there is one.
//!
//! A line is recognised by its form alone: it says `error:` or an exception's name before
//! its message, or one of its parts between colons begins with a known phrase. What the
//! tests, the compiler or the linter say of the project's own code is work, not a tool's
//! error, so an output that shows a red run has no message. Where nothing is recognised the
//! error has no message: a guess would make two errors one.

use super::words::{CLIENT, EXTENSIONS, MISSING, NO_MESSAGE, USAGE};
use crate::clip::{head, tail};
use crate::shown::without_controls;

/// How much of an output's beginning is looked at, in bytes.
const HEAD: usize = 8 * 1024;
/// How much of its end.
const TAIL: usize = 16 * 1024;
/// A longer line is data, not a message.
const MAX_LINE: usize = 400;
/// How many words of a message tell it from others.
const MAX_WORDS: usize = 30;
/// How many parts of a line may stand before its message: `a.c:3:5: fatal error: …`.
const MAX_BEFORE: usize = 3;

/// Words after which, and a colon, a message begins.
const MARKS: &[&str] = &["error", "fatal", "fatal error", "err!", "e"];
/// What programs put before a message without a colon.
const PREFIXES: &[&str] = &["npm error ", "npm ERR! ", "mise ERROR ", "pnpm ERR! "];
/// What an output shows whose tests, build or lint was red.
const RED_RUNS: &[&str] = &[
    "--- FAIL",
    "\nFAIL\t",
    "[build failed]",
    "test result: FAILED",
    "short test summary",
    "Test Suites:",
    "Failing tests:",
    "FAILURES!",
    "AssertionError",
    "issues:\n",
];

/// The line of a failed call's text that names its error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorMessage {
    pub line: String,
    /// The line without what depends on the place, in lower case.
    pub text: String,
}

impl ErrorMessage {
    /// Finds the message of an error's text: the first line that names an error, of a
    /// Python traceback the exception.
    pub fn find(text: &str) -> Option<Self> {
        let ends = ends(text);
        let text = without_controls(&ends);
        let is_red = || RED_RUNS.iter().any(|sign| text.contains(sign));
        let mut in_traceback = false;
        for line in text.lines() {
            let is_indented = line.starts_with([' ', '\t']);
            let line = line.trim();
            in_traceback |= line.starts_with("Traceback (most recent call last)");
            if in_traceback && is_indented {
                continue;
            }
            if is_message(line) {
                // A red run may name a package that is not there, and nothing else that is sure.
                let counts = line.contains("o module named") || !is_red();
                return counts.then(|| Self {
                    text: normal(line),
                    line: line.to_owned(),
                });
            }
        }
        None
    }

    /// The parts of the line between its colons.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        parts(&self.line)
    }
}

/// Tells whether an output explains how a command is used: `Usage: gh pr diff [flags]`.
pub fn shows_usage(output: &str, subject: &str) -> bool {
    let lines = output.lines().map(str::trim);
    let mut used = lines.filter_map(|line| line.strip_prefix(['U', 'u'])?.strip_prefix("sage: "));
    used.any(|used| used.starts_with(subject))
}

fn ends(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= HEAD + TAIL {
        return text.into();
    }
    format!("{}\n{}", head(text, HEAD), tail(text, TAIL)).into()
}

fn parts(line: &str) -> impl Iterator<Item = &str> {
    line.split(": ")
        .map(|part| part.trim().trim_end_matches(':'))
}

/// Returns `true` for a line that names an error.
fn is_message(line: &str) -> bool {
    if line.is_empty() || line.len() > MAX_LINE {
        return false;
    }
    let prefix = PREFIXES.iter().find(|prefix| line.starts_with(**prefix));
    let said = prefix.map_or(line, |prefix| &line[prefix.len()..]);
    let lower = said.to_lowercase();
    names_error(&lower, prefix.is_some())
        && !NO_MESSAGE.words().iter().any(|part| lower.contains(part))
}

/// Returns `true` where a part of a line, in lower case, names an error; `marked` is a line that
/// begins as one.
fn names_error(lower: &str, mut marked: bool) -> bool {
    let all: Vec<&str> = parts(lower).collect();
    for (at, part) in all.iter().enumerate() {
        let part = part.trim_start_matches("*** ");
        // `curl: (6) Could not resolve host`
        let part = match part.split_once(") ") {
            Some((code, rest)) if code.starts_with('(') => rest,
            _ => part,
        };
        let goes_on = all.get(at + 1).is_some_and(|next| !next.is_empty());
        let is_named = [&MISSING, &USAGE, &CLIENT]
            .iter()
            .any(|list| list.begins(part));
        if is_named || (part == "not found" && at > 0) {
            return true;
        }
        marked |= at < MAX_BEFORE && goes_on && is_mark(part);
    }
    marked
}

/// Tells whether a part, in lower case, is what stands before a message.
fn is_mark(part: &str) -> bool {
    let is_exception = !part.contains(' ')
        && (part.ends_with("error") || part.ends_with("exception"))
        && part
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '.' | '_'));
    is_exception
        || MARKS.contains(&part)
        || part.starts_with("error[")
        || part.starts_with("error ts")
        || matches!(part, "eisdir" | "enoent" | "eacces" | "eperm" | "eexist")
}

/// Reduces a line to what is the same in every place.
fn normal(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut quote: Option<char> = None;
    let mut names_number = false;
    // `error[E0382]` names a code.
    let line = line.replace('[', " [");
    for token in line.split_whitespace() {
        let opens = token.chars().next().filter(|c| "'\"`".contains(*c));
        let is_inside = quote.is_some();
        quote = match (quote, opens) {
            (None, Some(open)) if !token[1..].contains(open) => Some(open),
            (Some(open), _) if token.contains(open) => None,
            (quote, _) => quote,
        };
        if is_inside || quote.is_some() {
            // A quotation of several words is told of once.
            if words.last().is_none_or(|last| last != "<text>") {
                words.push("<text>".to_owned());
            }
            continue;
        }
        let word = token.trim_matches(|c: char| "'\"`()[]{}<>,;:.!?*".contains(c));
        let word = word.to_lowercase();
        if !word.is_empty() {
            words.push(without_place(&word, names_number).to_owned());
        }
        names_number = ["errno", "code", "status", "signal", "http"].contains(&word.as_str());
        if words.len() == MAX_WORDS {
            break;
        }
    }
    words.join(" ")
}

/// A word in lower case, or what it stands for when another place has another one.
fn without_place(word: &str, is_named: bool) -> &str {
    if word.starts_with('-') {
        return word.split_once('=').map_or(word, |(option, _)| option);
    }
    if word.contains("://") {
        return "<url>";
    }
    if is_path(word) {
        return "<path>";
    }
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_code = word.len() == digits + 1 && word.starts_with(['e', 'c', 'f', 'w'])
        || word.starts_with("ts")
        || (word.len() == 3 && word.starts_with(['4', '5']));
    match digits {
        0 => word,
        _ if is_code || is_named => word,
        1 | 2 if word.starts_with(|c: char| c.is_alphabetic()) => word,
        _ => "<n>",
    }
}

/// Tells whether a word looks like a path, by a slash, a tilde or a known extension.
fn is_path(word: &str) -> bool {
    let extension = word.rsplit_once('.').map(|(_, end)| end);
    // `a.py:3`
    let extension = extension.map(|end| end.split(':').next().unwrap_or(end));
    word.contains('/') || word.starts_with('~') || extension.is_some_and(|e| EXTENSIONS.has(e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::option(
        "Usage: x [OPTIONS]\n\nError: No such option: --event",
        "error no such option --event"
    )]
    #[case::shell("zsh:1: command not found: tsc", "zsh:1 command not found tsc")]
    #[case::python(
        "Traceback (most recent call last):\n  File \"/a/b.py\", line 3, in <module>\n    raise ValueError('error: x')\nModuleNotFoundError: No module named 'yaml'",
        "modulenotfounderror no module named yaml"
    )]
    #[case::rustc(
        "error[E0382]: borrow of moved value: `a`",
        "error e0382 borrow of moved value a"
    )]
    fn the_line_that_names_the_error_is_read(#[case] text: &str, #[case] want: &str) {
        let found = ErrorMessage::find(text).map(|m| m.text);
        assert_eq!(found.as_deref(), Some(want));
    }

    #[rstest]
    #[case::code_only("Exit code 1")]
    #[case::go_test("=== RUN TestA\n    a_test.go:3: Error: bad\n--- FAIL: TestA (0.0s)\nFAIL")]
    #[case::lint("[lint] $ golangci-lint run\na.go:1:2: error: bad (x)\n1 issues:\n* x: 1")]
    #[case::conflict("error: could not apply a4f7a52... x")]
    #[case::assertion("AssertionError: 1 != 2")]
    #[case::prose(
        "The word error: is said nowhere else than here, in a sentence with not found in it"
    )]
    fn what_names_no_error_has_no_message(#[case] text: &str) {
        assert_eq!(ErrorMessage::find(text), None);
    }

    #[test]
    fn only_what_is_the_same_everywhere_is_kept() {
        let text = |line| ErrorMessage::find(line).map(|m| m.text);
        assert_eq!(
            text("cat: /a/b.txt: No such file or directory"),
            text("cat: c/d.md: No such file or directory")
        );
        assert_ne!(
            text("error: unknown option: --a"),
            text("error: unknown option: --b")
        );
        assert_ne!(
            text("ModuleNotFoundError: No module named 'yaml'"),
            text("ModuleNotFoundError: No module named 'toml'")
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "(error: |fatal: |'|\"|\\PC|\n){0,200}") {
            if let Some(message) = ErrorMessage::find(&text) {
                proptest::prop_assert!(message.text.len() <= 2 * MAX_LINE + MAX_WORDS * 8);
            }
        }
    }
}
