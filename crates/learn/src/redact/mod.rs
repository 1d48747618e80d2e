//! Masks secrets in texts before they are stored, logged, sent or shown.
//!
//! The rules are in `data/secrets.toml` (`table`). One pass finds the keywords of all rules
//! (`keywords`), and a rule's pattern is compiled and tried only near its keywords (`rule`).
//! Matches that overlap are joined, so that none hides another, and become `[masked RULE]`
//! (`masker`). A text without secrets is borrowed, not copied. The time is linear in the length
//! of any text. A stream is masked in windows (`stream`), without a terminal's
//! colours.

/// Patterns for short texts, compiled on first use.
macro_rules! patterns {
    ($($name:ident = $pattern:expr;)*) => {
        $(static $name: LazyLock<Option<Regex>> = LazyLock::new(|| short(&[$pattern]));)*
    };
}

mod keywords;
mod masker;
mod names;
mod place;
mod private;
mod rule;
mod setting;
mod stream;
mod table;
mod unread;
mod value;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::LazyLock;

pub use masker::{Counts, Masker, PatternError};
pub use stream::{StreamError, filter};
pub use unread::NeverRead;

/// The masks and the files that are never read. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Secrecy {
    pub masker: Masker,
    pub never_read: NeverRead,
}

/// Returns `text` with every secret that a built-in rule knows replaced by a note of its kind.
pub fn mask(text: &str) -> Cow<'_, str> {
    static BUILT_IN: LazyLock<Masker> = LazyLock::new(Masker::default);
    BUILT_IN.mask(text)
}

/// Returns the names of all built-in rules, each once, sorted.
pub fn rule_ids() -> Vec<&'static str> {
    table::ids()
}
