//! The errors of a session, each counted once.

use serde::{Deserialize, Serialize};

use super::category::ErrorCategory;
use super::event::{Call, CallFailure};
use super::sanitizer::Sanitizer;
use crate::hint::Signature;

/// How many different errors are kept.
const MAX_ERRORS: usize = 50;
/// How much of an error's text is kept, in bytes.
const MAX_EXAMPLE: usize = 600;
/// How much of a call or a message is kept, in bytes.
const MAX_LINE: usize = 240;

/// An error with a message that struck, wherever in the session. Texts are masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecurringError {
    /// The error, as hooks and memory know it.
    pub signature: Signature,
    pub tool: String,
    /// What met it: a program with its subcommand, or the tool.
    #[serde(default)]
    pub subject: String,
    /// What the tool said the first time.
    pub example: String,
    /// The line of it that says what went wrong.
    pub message: String,
    pub category: ErrorCategory,
    /// How often it struck.
    pub occurrences: u64,
}

/// Takes note of an error that has a message; of more than are kept only those that are
/// known are counted.
pub(crate) fn note(
    errors: &mut Vec<RecurringError>,
    call: &Call,
    failure: &CallFailure,
    sanitizer: &Sanitizer,
) {
    let Some(signature) = failure.error else {
        return;
    };
    let example = match failure.message.as_str() {
        "" => &failure.text,
        message => message,
    };
    if let Some(known) = errors.iter_mut().find(|error| error.signature == signature) {
        known.occurrences += 1;
    } else if errors.len() < MAX_ERRORS {
        errors.push(RecurringError {
            signature,
            tool: call.tool.clone(),
            subject: sanitizer.line(&failure.subject, MAX_LINE),
            // Around the line that says what went wrong, anything may stand.
            example: sanitizer.text(example, MAX_EXAMPLE),
            message: sanitizer.line(&failure.message, MAX_LINE),
            category: failure.category,
            occurrences: 1,
        });
    }
}
