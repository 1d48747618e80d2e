//! What is wrong with a playbook file, and where.

use crate::redact;

/// Why a file is no playbook, with the place of the fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct Defect {
    /// `line 2, column 1`, or `OTHERS, entry 3`.
    place: String,
    reason: String,
    is_of_text: bool,
}

impl Defect {
    /// A defect at `place`, in words such as "point 3 of OTHERS".
    pub fn at(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            place: masked(&place.into()),
            reason: masked(&reason.into()),
            is_of_text: false,
        }
    }

    /// Tells whether the text is no JSON, rather than JSON of another shape.
    pub fn is_of_text(&self) -> bool {
        self.is_of_text
    }

    /// Says where `bytes` stop being text.
    pub fn not_utf8(error: &std::str::Utf8Error, bytes: &[u8]) -> Self {
        let good = &bytes[..error.valid_up_to().min(bytes.len())];
        let line_start = good
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |at| at + 1);
        let line = 1 + memchr::memchr_iter(b'\n', good).count();
        Self::of_text(line, good.len() - line_start + 1, "not UTF-8")
    }

    /// Keeps the line and column of a JSON error, and its reason without them.
    pub fn from_json(error: &serde_json::Error) -> Self {
        let message = error.to_string();
        let reason = match message.rfind(" at line ") {
            Some(end) => message[..end].to_owned(),
            None => message,
        };
        Self::of_text(error.line(), error.column(), &reason)
    }

    fn of_text(line: usize, column: usize, reason: &str) -> Self {
        Self {
            place: format!("line {line}, column {column}"),
            reason: masked(reason),
            is_of_text: true,
        }
    }
}

/// A flaw may quote the file, and is told and stored.
fn masked(text: &str) -> String {
    redact::mask(text).into_owned()
}
