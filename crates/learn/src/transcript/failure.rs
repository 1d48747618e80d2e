//! How a tool call failed, read from its answer.

use super::call::Call;
use super::category::categorize;
use super::cut;
use super::errors::{known, unwrapped};
use super::event::CallFailure;
use crate::hint::Signature;

/// How much of an answer is kept from either end, in bytes.
const LOOKED_AT: usize = 3_000;
/// How long the line that says what went wrong may be, in bytes.
const MAX_MESSAGE: usize = 240;

pub(crate) fn read(call: &Call, text: &str) -> CallFailure {
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
    CallFailure {
        exit_code,
        category: categorize(&text, exit_code),
        message: cut::one_line(line, MAX_MESSAGE),
        error,
        subject: subject.unwrap_or_default(),
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
    use crate::transcript::error_signature;
    use rstest::rstest;

    fn bash(command: &str) -> Call {
        Call {
            tool: "Bash".to_owned(),
            input: command.to_owned(),
            ..Call::default()
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
}
