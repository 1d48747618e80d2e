//! The errors of a session, each counted once, and what made the failed commands work.

use serde::{Deserialize, Serialize};

use super::category::ErrorCategory;
use super::event::{Call, CallFailure, Fix};
use super::sanitizer::Sanitizer;
use crate::hint::Signature;

/// How many different errors are kept.
const MAX_ERRORS: usize = 50;
/// How many ways out of one error are kept.
const MAX_WAYS: usize = 3;
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
    /// What made it good.
    #[serde(default, rename = "fixes", skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<Way>,
}

/// A way from a failed command to one that worked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    pub failed: String,
    /// The command that worked; it may be the same one, run again.
    pub worked: String,
    /// The commands that set something up in between.
    pub steps: Vec<String>,
    /// How often it was found without a hint of ours.
    pub times: u64,
}

impl Way {
    /// Tells whether another command worked in place of the failed one, and nothing else had
    /// to be done for it.
    pub fn is_another_command(&self) -> bool {
        self.steps.is_empty() && self.failed != self.worked
    }
}

impl std::fmt::Display for Way {
    /// Says what to do, in the order in which it was done.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for step in &self.steps {
            write!(f, "`{step}`, then ")?;
        }
        if self.failed == self.worked {
            write!(f, "`{}` again", self.worked)
        } else {
            write!(f, "`{}` instead of `{}`", self.worked, self.failed)
        }
    }
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
            ways: Vec::new(),
        });
    }
}

/// Takes note of what made an error good; the same way is kept once, and counted.
pub(crate) fn resolve(errors: &mut [RecurringError], fix: &Fix, sanitizer: &Sanitizer) {
    let Some(error) = errors.iter_mut().find(|error| error.signature == fix.error) else {
        return;
    };
    let kept = |command: &String| sanitizer.line(command, MAX_LINE);
    let way = Way {
        failed: kept(&fix.way.failed),
        worked: kept(&fix.way.worked),
        steps: fix.way.steps.iter().map(kept).collect(),
        times: u64::from(!fix.was_told),
    };
    let has_room = error.ways.len() < MAX_WAYS;
    match error
        .ways
        .iter_mut()
        .find(|w| w.to_string() == way.to_string())
    {
        Some(known) => known.times += way.times,
        None if has_room => error.ways.push(way),
        None => {}
    }
}
