//! Passwords as arguments of functions that do not name them: `new PDO(dsn, user, "…")`.

use std::ops::Range;

use super::named;
use super::value::is_placeholder;
use crate::clip::tail;

/// How long a call may be.
const MAX_CALL: usize = 400;
/// A shorter argument is no secret.
const MIN_SECRET: usize = 6;

/// Functions, and which of their arguments is a secret, counted from 0; of names that begin
/// as many words do the end.
const CALLS: &[(&str, usize)] = &[
    (".login(", 1),
    ("algoliasearch(", 1),
    ("auth=(", 1),
    ("BasicAuth(", 1),
    ("BraintreeGateway(", 3),
    ("DBI->connect(", 2),
    ("twilio')(", 1),
    ("twilio\")(", 1),
    ("basic_auth(", 1),
    ("Credentials(", 1),
    ("ftp_login(", 2),
    ("tConnection(", 2),
    ("p_open(", 2),
    ("ldap_bind(", 2),
    ("mysqli(", 2),
    ("mysqli_connect(", 2),
    ("kCredential(", 1),
    ("PasswordAuthentication(", 1),
    ("PDO(", 2),
    ("nAuth(", 2),
    ("_bind_s(", 1),
];

/// The functions alone.
pub(super) const NAMES: &[&str] = &{
    let mut names = [""; CALLS.len()];
    let mut at = 0;
    while at < CALLS.len() {
        names[at] = CALLS[at].0;
        at += 1;
    }
    names
};

/// Looks at the name of a function.
pub(super) fn look(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let name = &text[at.clone()];
    let call = CALLS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name));
    if let Some((_, index)) = call
        && let Some(argument) = argument(text, at.end, *index)
    {
        let value = &text[argument.clone()];
        let is_secret = value.len() >= MIN_SECRET
            && !value.contains(' ')
            && value.bytes().any(|b| b.is_ascii_digit())
            && !is_placeholder(value);
        if is_secret {
            found(argument);
        }
    }
}

/// Looks at the `VALUES (` that follows the names of columns.
pub(super) fn look_values(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    // The keyword is the end of `values`.
    let before =
        tail(&text[..at.start], MAX_CALL).trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let before = before.trim_end();
    let columns = before
        .strip_suffix(')')
        .and_then(|b| Some(&b[b.rfind('(')? + 1..]));
    for (index, column) in columns.unwrap_or_default().split(',').enumerate() {
        if named::is_secret_name(column.trim())
            && let Some(argument) = argument(text, at.end, index)
            && !is_placeholder(&text[argument.clone()])
        {
            found(argument);
        }
    }
}

/// Finds what stands in quotes in an argument of a call.
fn argument(text: &str, start: usize, index: usize) -> Option<Range<usize>> {
    let bytes = &text.as_bytes()[..text.len().min(start + MAX_CALL)];
    let (mut at, mut depth, mut commas) = (start, 0_usize, 0);
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'"' | b'\'') => {
                let from = at + 1;
                let length = bytes[from..].iter().position(|b| *b == quote)?;
                if commas == index && depth <= 1 {
                    // In JSON the quote that closes is escaped.
                    let value = &bytes[from..from + length];
                    let value = value.strip_suffix(b"\\").unwrap_or(value);
                    return Some(from..from + value.len());
                }
                at = from + length;
            }
            b'(' => depth += 1,
            b')' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => commas += 1,
            b'\n' | b';' if depth == 0 && commas == 0 => return None,
            _ => {}
        }
        at += 1;
    }
    None
}
