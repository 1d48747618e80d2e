//! Masks secrets in texts before they are stored, logged, sent or shown.
//!
//! One table of rules (`rules`), one pass: `phrases` finds the keywords of all
//! rules, and only where one stands its rule is tried. What is a secret becomes
//! `[masked RULE]`; a text without any is borrowed, not copied. No engine for regular
//! expressions is needed, so hooks mask too; only a user's own patterns ([`Masker`]) bring
//! one along. Linear in the length of the text, whatever it holds.

mod beside;
mod call;
mod command;
mod jwk;
mod masker;
mod named;
mod pattern;
mod pem;
mod private;
mod rule;
mod rules;
mod said;
mod secrecy;
mod sk;
mod spans;
mod stream;
mod unread;
mod value;
mod web;
mod words;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use masker::{Counts, Masker, PatternError};
pub use secrecy::Secrecy;
pub use stream::{StreamError, filter};
pub use unread::NeverRead;

/// Returns `text` with every secret that a built-in rule knows replaced by a note of its kind.
pub fn mask(text: &str) -> Cow<'_, str> {
    spans::settled(text, |text| {
        spans::masked(text, &spans::of(text, private::Unclosed::ToEnd), |_| {})
    })
}

/// The names of all built-in rules, each once, sorted.
pub fn rule_ids() -> Vec<&'static str> {
    let mut ids: Vec<_> = rules::all().map(|rule| rule.id).collect();
    ids.push(spans::PRIVATE);
    ids.sort_unstable();
    ids.dedup();
    ids
}
