//! How a tool call failed, read from its answer.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::category::categorize;
use super::cut;
use super::event::{Call, Failure};
use crate::memory::{Normalised, Signature};
use crate::phrases::{LazyPhrases, Phrases};

/// How much of an answer is looked at from either end, in bytes.
const LOOKED_AT: usize = 3_000;
/// How long the line that says what went wrong may be, in bytes.
const MAX_MESSAGE: usize = 240;
/// Phrases, in lower case, that name an error.
static NAME_ERRORS: LazyPhrases = LazyPhrases::new(|| {
    Phrases::new(&[
        "error:",
        "error[",
        "error ts",
        "fatal:",
        "exception:",
        "panicked at",
        "denied",
    ])
});
/// Phrases, in lower case, that speak of failing.
static SPEAK_OF_FAILING: LazyPhrases = LazyPhrases::new(|| {
    Phrases::new(&[
        "error",
        "failed",
        "exception",
        "not found",
        "no such",
        "cannot",
        "could not",
        "unable to",
        "invalid",
    ])
});
/// Returns the error that a call of `tool` met, as hooks know it by the whole text.
pub(crate) fn error(tool: &str, text: &str) -> Signature {
    Signature::of(tool, unwrapped(text))
}

/// The text of an error without the client's tags around it.
fn unwrapped(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_prefix("<tool_use_error>").unwrap_or(text);
    text.strip_suffix("</tool_use_error>")
        .unwrap_or(text)
        .trim()
}

/// Reads how a call failed from its answer.
pub(crate) fn read(call: &Call, text: &str) -> Failure {
    let text = unwrapped(text);
    let normalised = Normalised::of(text);
    let text = cut::middle(text, 2 * LOOKED_AT);
    let exit_code = exit_code(&text);
    let message = cut::one_line(message(&text), MAX_MESSAGE);
    let error = Signature::of_normalised(&call.tool, &normalised);
    Failure {
        exit_code,
        category: categorize(&text, exit_code),
        signature: signature(call, error, &normalised.names, &message, exit_code),
        error,
        names: normalised.names,
        message,
        text: text.into_owned(),
    }
}

/// Returns a number that is the same for failures that are shown as one: the same error of
/// the same things. Of one that says nothing but its exit code the call must be the same.
fn signature(
    call: &Call,
    error: Signature,
    names: &[String],
    message: &str,
    exit_code: Option<i32>,
) -> u64 {
    let mut hasher = DefaultHasher::new();
    (error, exit_code).hash(&mut hasher);
    for name in names {
        without_place(name).hash(&mut hasher);
    }
    if self::exit_code(message).is_some() {
        call.input.hash(&mut hasher);
    }
    hasher.finish()
}

/// `a.c:3:5` is `a.c`.
fn without_place(mut name: &str) -> &str {
    while let Some((before, number)) = name.rsplit_once(':')
        && number.bytes().all(|b| b.is_ascii_digit())
    {
        name = before;
    }
    name
}

fn exit_code(text: &str) -> Option<i32> {
    let line = text.lines().next()?;
    let rest = line
        .strip_prefix("Error: ")
        .unwrap_or(line)
        .strip_prefix("Exit code ")?;
    rest.trim().parse().ok()
}

/// Returns the line that says what went wrong: the first that names an error plainly,
/// else that points at a place, else that speaks of failing, else the first.
fn message(text: &str) -> &str {
    let lower = text.to_ascii_lowercase();
    let first_of = |words: &Phrases| words.find(&lower).map(|at| line_at(text, at));
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("Exit code "));
    let first = lines.clone().next().unwrap_or_else(|| text.trim());
    first_of(&NAME_ERRORS)
        .or_else(|| lines.find(|line| points_at_a_place(line)))
        .or_else(|| first_of(&SPEAK_OF_FAILING))
        .unwrap_or(first)
}

/// Returns the line around a place.
fn line_at(text: &str, at: usize) -> &str {
    let bytes = text.as_bytes();
    let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |i| i + 1);
    let end = memchr::memchr(b'\n', &bytes[at..]).map_or(text.len(), |i| at + i);
    text[start..end].trim()
}

/// Tells whether a line begins as `path/to/file.ext:12:` does.
fn points_at_a_place(line: &str) -> bool {
    let Some((path, rest)) = line.split_once(':') else {
        return false;
    };
    path.contains('.')
        && !path.contains(' ')
        && rest
            .split(':')
            .next()
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn bash(command: &str) -> Call {
        Call {
            tool: "Bash".to_owned(),
            input: command.to_owned(),
        }
    }

    const NO_MODULE: &str = "ModuleNotFoundError: No module named";

    #[rstest]
    #[case::lines_apart("a", "a.c:3: error: x", "a", "a.c:9: error: x", true)]
    #[case::same_again("d", "Exit code 1", "d", "Exit code 1", true)]
    #[case::silent("d", "Exit code 1", "e", "Exit code 1", false)]
    #[case::other_code("d", "Exit code 1\nno", "d", "Exit code 2\nno", false)]
    #[case::other_status(
        "curl a",
        "curl: (22) The requested URL returned error: 404",
        "curl a",
        "curl: (22) The requested URL returned error: 500",
        false
    )]
    #[case::other_module("a", &format!("{NO_MODULE} 'yaml'"), "a", &format!("{NO_MODULE} 'toml'"), false)]
    #[case::other_error("a", "error[E0382]: x", "a", "error[E0308]: x", false)]
    fn failures_that_say_the_same_are_one(
        #[case] command: &str,
        #[case] text: &str,
        #[case] later_command: &str,
        #[case] later_text: &str,
        #[case] same: bool,
    ) {
        let signature = |command: &str, text: &str| read(&bash(command), text).signature;
        let (first, later) = (
            signature(command, text),
            signature(later_command, later_text),
        );
        assert_eq!(first == later, same);
    }

    #[rstest]
    #[case::plainly(
        "running\nerror: linking failed\nerror: aborting",
        "error: linking failed"
    )]
    #[case::place(
        "[lint] ERROR task failed\ncmd/config.go:239:15: error returned (wrapcheck)",
        "cmd/config.go:239:15: error returned (wrapcheck)"
    )]
    #[case::failing("one\ntwo failed", "two failed")]
    #[case::first("one\ntwo", "one")]
    #[case::code_only("Exit code 1", "Exit code 1")]
    fn the_telling_line_of_an_error_is_found(#[case] text: &str, #[case] want: &str) {
        assert_eq!(read(&bash("x"), text).message, want);
    }

    #[test]
    fn a_failure_names_its_exit_code_and_its_telling_line() {
        let failure = read(
            &bash("x"),
            "Exit code 3\n[lint] run\nmain.go:3: error returned\n",
        );
        assert_eq!(failure.exit_code, Some(3));
        assert_eq!(failure.message, "main.go:3: error returned");
    }
}
