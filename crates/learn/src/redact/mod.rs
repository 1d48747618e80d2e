//! Masks secrets in texts before they are stored, logged, sent or shown.
//!
//! The rules are data, `data/secrets.toml` (`table`). The keywords of all of them are found
//! in one pass (`keywords`); only where one stands its rule's pattern is compiled and tried
//! (`rule`). What all rules found is united, so that no match hides another, and becomes
//! `[masked RULE]` (`united`); a text without secrets is borrowed, not copied. Linear in the
//! length of the text, whatever it holds. A stream is masked in windows (`stream`), without a
//! terminal's colours (`colours`).

mod colours;
mod keywords;
mod masker;
mod private;
mod rule;
mod secrecy;
mod stream;
mod table;
mod united;
mod unread;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::LazyLock;

pub use masker::{Counts, Masker, PatternError};
pub use secrecy::Secrecy;
pub use stream::{StreamError, filter};
pub use unread::NeverRead;

/// Returns `text` with every secret that a built-in rule knows replaced by a note of its kind.
pub fn mask(text: &str) -> Cow<'_, str> {
    static BUILT_IN: LazyLock<Masker> = LazyLock::new(Masker::default);
    BUILT_IN.mask(text)
}

/// The names of all built-in rules, each once, sorted.
pub fn rule_ids() -> Vec<&'static str> {
    table::ids()
}
