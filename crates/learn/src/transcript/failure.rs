//! How a tool call failed, read from its answer.

use super::category::categorize;
use super::cut;
use super::errors::{NamedError, stored_keys, unwrapped};
use super::event::{Call, CallFailure};

/// The part of an answer that is kept from either end, in bytes.
const LOOKED_AT: usize = 3_000;
/// How long the line that says what went wrong may be, in bytes.
const MAX_MESSAGE: usize = 240;

pub(crate) fn read(call: &Call, whole: &str) -> CallFailure {
    let named = NamedError::of(&call.tool, &call.input, whole);
    let text = cut::middle(unwrapped(whole), 2 * LOOKED_AT);
    let exit_code = exit_code(&text);
    let message = named.as_ref().map_or(&*text, |error| &error.message);
    CallFailure {
        exit_code,
        category: categorize(&text, exit_code),
        message: cut::one_line(message, MAX_MESSAGE),
        error: named.as_ref().map(|error| error.signature),
        keys: stored_keys(whole),
        subject: named.map(|error| error.subject).unwrap_or_default(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::error_signature;

    fn bash(command: &str) -> Call {
        Call {
            tool: "Bash".to_owned(),
            input: command.to_owned(),
            ..Call::default()
        }
    }

    const FLAG: &str = "Error: unknown flag: --stat";

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
