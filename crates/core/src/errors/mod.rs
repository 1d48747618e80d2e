//! Which error a failed call met: what hooks and the worker know it by.
//!
//! - [`shell`], [`attempt`]: what a call tries to do.
//! - [`deed`]: what one command does, and to what.
//! - [`message`]: the line of an output that names the error.
//! - [`words`]: the lists of words that all of these go by.

pub mod attempt;
pub mod call;
pub mod deed;
pub mod message;
pub mod shell;
pub mod words;

use call::MAX_INPUT;
use message::ErrorMessage;

use crate::clip::head;
use crate::hint::Signature;

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
    ErrorMessage::find(unwrapped(text)).map(|said| Signature::of(subject, &said.text))
}

/// The subject that met an error, and the message: what a signature is made of.
pub fn known(tool: &str, input: &str, text: &str) -> Option<(String, ErrorMessage)> {
    let text = unwrapped(text);
    let said = ErrorMessage::find(text)?;
    let subject = attempt::subject(tool, head(input, MAX_INPUT).trim(), &said, text)?;
    Some((subject, said))
}

/// The text of an error without the client's tags around it.
pub fn unwrapped(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_prefix("<tool_use_error>").unwrap_or(text);
    text.strip_suffix("</tool_use_error>")
        .unwrap_or(text)
        .trim()
}
