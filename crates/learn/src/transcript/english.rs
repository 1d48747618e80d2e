//! Patterns of English.

use regex::Regex;

/// What of a pattern counts only letters and digits of ASCII.
const ASCII: [(&str, &str); 4] = [
    (r"\b", r"(?-u:\b)"),
    (r"\w", r"[0-9A-Za-z_]"),
    (r"\W", r"[^0-9A-Za-z_]"),
    (r"\d", r"[0-9]"),
];

/// Compiles a pattern in which words are those of English. It is a tenth of the size, and its
/// search stays a quick one in a text that has signs of other scripts.
pub(crate) fn pattern(pattern: &str) -> Option<Regex> {
    let ascii = ASCII
        .iter()
        .fold(pattern.to_owned(), |pattern, (of_all, of_ascii)| {
            pattern.replace(of_all, of_ascii)
        });
    Regex::new(&ascii).ok()
}
