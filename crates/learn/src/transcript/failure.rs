//! How a tool call failed, read from its answer.

use super::attempt;
use super::category::categorize;
use super::cut;
use super::event::{Call, Failure};
use super::message::Message;
use super::tools::MAX_INPUT;
use crate::clip::head;
use crate::hint::Signature;

/// How much of an answer is kept from either end, in bytes.
const LOOKED_AT: usize = 3_000;
/// How long the line that says what went wrong may be, in bytes.
const MAX_MESSAGE: usize = 240;

/// Returns the error that a call met: what it was of, and what it said. `None` when no
/// message is recognised, or it is not certain which program met it; such an error is never
/// the same as another.
///
/// Hooks and the worker read it alike, from the whole text and the beginning of the input.
pub fn error_signature(tool: &str, input: &str, text: &str) -> Option<Signature> {
    known(tool, input, text).map(|(subject, said)| Signature::of(&subject, &said.text))
}

/// As [`error_signature`], of what `subject` said, as the memory names it.
pub fn error_of_subject(subject: &str, text: &str) -> Option<Signature> {
    Message::find(unwrapped(text)).map(|said| Signature::of(subject, &said.text))
}

fn known(tool: &str, input: &str, text: &str) -> Option<(String, Message)> {
    let text = unwrapped(text);
    let said = Message::find(text)?;
    let subject = attempt::subject(tool, head(input, MAX_INPUT).trim(), &said, text)?;
    Some((subject, said))
}

/// The text of an error without the client's tags around it.
fn unwrapped(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_prefix("<tool_use_error>").unwrap_or(text);
    text.strip_suffix("</tool_use_error>")
        .unwrap_or(text)
        .trim()
}

pub(crate) fn read(call: &Call, text: &str) -> Failure {
    let known = known(&call.tool, &call.input, text);
    let text = cut::middle(unwrapped(text), 2 * LOOKED_AT);
    let exit_code = exit_code(&text);
    let error = known
        .as_ref()
        .map(|(subject, said)| Signature::of(subject, &said.text));
    let (subject, said) = known.unzip();
    let line = said
        .as_ref()
        .map_or_else(|| first_line(&text), |said| &said.line);
    Failure {
        exit_code,
        category: categorize(&text, exit_code),
        message: cut::one_line(line, MAX_MESSAGE),
        error,
        subject: subject.unwrap_or_default(),
        said,
        text: text.into_owned(),
    }
}

fn exit_code(text: &str) -> Option<i32> {
    let line = text.lines().next()?;
    let rest = line
        .strip_prefix("Error: ")
        .unwrap_or(line)
        .strip_prefix("Exit code ")?;
    rest.trim().parse().ok()
}

/// The first line of an answer that says more than its exit code.
fn first_line(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim);
    let told = lines.find(|line| !line.is_empty() && !line.starts_with("Exit code "));
    told.unwrap_or_else(|| text.trim())
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

    const FLAG: &str = "Error: unknown flag: --stat";

    #[rstest]
    #[case::no_message("d", "Exit code 1", "d", "Exit code 1", false)]
    #[case::other_object("gh pr diff 1 --stat", FLAG, "gh pr diff 2 --stat", FLAG, true)]
    #[case::other_part("gh pr diff --stat", FLAG, "gh pr view --stat", FLAG, false)]
    fn errors_of_one_signature_are_the_same(
        #[case] command: &str,
        #[case] text: &str,
        #[case] later_command: &str,
        #[case] later_text: &str,
        #[case] same: bool,
    ) {
        let first = read(&bash(command), text).error;
        let later = read(&bash(later_command), later_text).error;
        assert_eq!(first.is_some() && first == later, same);
    }

    #[rstest]
    #[case::plainly(
        "running\nerror: linking failed\nerror: aborting",
        "error: linking failed"
    )]
    #[case::code_only("Exit code 1", "Exit code 1")]
    fn the_telling_line_of_an_error_is_found(#[case] text: &str, #[case] want: &str) {
        assert_eq!(read(&bash("x"), text).message, want);
    }

    #[test]
    fn a_hook_and_the_worker_know_an_error_by_the_same_name() {
        let command = format!("gh pr diff 12 --stat {}", "x".repeat(1_000));
        let kept = bash(&command[..400]);
        let error = error_signature("Bash", &command, FLAG);
        assert_eq!(read(&kept, FLAG).error, error);
        assert!(error.is_some());
        assert_eq!(error_signature("Bash", "make", "Exit code 1"), None);
    }

    #[test]
    fn a_failure_names_its_exit_code() {
        assert_eq!(read(&bash("x"), "Exit code 3\nbad").exit_code, Some(3));
    }
}
