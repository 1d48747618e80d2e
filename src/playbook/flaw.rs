//! What is wrong with a playbook file, and where.

use std::fmt;

use crate::redact;

/// Why a file is no playbook, with the place of the fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct Flaw {
    place: Place,
    reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Text {
        line: usize,
        column: usize,
    },
    /// Where the JSON stops being a playbook: `OTHERS, entry 3`.
    Value(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { line, column } => write!(f, "line {line}, column {column}"),
            Self::Value(place) => f.write_str(place),
        }
    }
}

impl Flaw {
    pub(crate) fn at(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            place: Place::Value(masked(&place.into())),
            reason: masked(&reason.into()),
        }
    }

    /// Tells whether the text is no JSON, rather than JSON of another shape.
    pub(crate) fn is_of_text(&self) -> bool {
        matches!(self.place, Place::Text { .. })
    }

    /// Says where `bytes` stop being text.
    pub(crate) fn not_utf8(error: &std::str::Utf8Error, bytes: &[u8]) -> Self {
        let good = &bytes[..error.valid_up_to().min(bytes.len())];
        let line_start = good
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |at| at + 1);
        Self {
            place: Place::Text {
                line: 1 + memchr::memchr_iter(b'\n', good).count(),
                column: good.len() - line_start + 1,
            },
            reason: "not UTF-8".to_owned(),
        }
    }

    /// Keeps the line and column of a JSON error, and its reason without them.
    pub(crate) fn from_json(error: &serde_json::Error) -> Self {
        let message = error.to_string();
        let reason = match message.rfind(" at line ") {
            Some(end) => message[..end].to_owned(),
            None => message,
        };
        Self {
            place: Place::Text {
                line: error.line(),
                column: error.column(),
            },
            reason: masked(&reason),
        }
    }
}

/// A flaw may quote the file, and is told and stored.
fn masked(text: &str) -> String {
    redact::mask(text).into_owned()
}
