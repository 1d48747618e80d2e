//! Values that a name gives away: `DB_PASSWORD=…`, `"token": "…"`, `--api-key …`.
//!
//! The same in shell, `.env`, JSON (also within JSON), YAML, TOML, code, XML, SQL, URLs and
//! headers. [`name`] tells what a name promises, [`lead`] and [`apart`] where its value
//! stands, [`extent`] where it ends, and [`judge`] whether it is one: a quoted or assigned
//! text is at a glance, a bare word after a colon may as well be a type or a sentence.

mod apart;
mod extent;
mod judge;
mod lead;
mod name;

use std::ops::Range;

use super::pattern::goes_on_before;
use super::spans;
use name::Kind;

/// How far a name reaches to either side of its telling word, in bytes.
const MAX_NAME: usize = 80;
/// How far a bare value is looked for the sign that ends it, in bytes.
const MAX_VALUE: usize = 600;
/// How far before a bare `key` an account is looked for, in bytes.
const MAX_BESIDE: usize = 120;
/// What names an account, beside which a bare `key` is its secret.
const ACCOUNTS: &[&str] = &["user", "email", "login", "[api]", "[client."];

/// Looks at the name that a telling word is part of, and at its value.
pub(super) fn look(text: &str, keyword: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let sign = |b: &&u8| !b.is_ascii_alphanumeric();
    let signs = bytes[keyword.clone()].iter().rev().take_while(sign).count();
    let name = name_around(bytes, &(keyword.start..keyword.end - signs));
    let is_note = text[..name.start].ends_with(spans::NOTE);
    if is_note || goes_on_before(bytes, name.start) {
        return;
    }
    // Most words are followed by no value, which is told sooner than what a name means.
    let Some(lead) = lead::after(text, &name) else {
        return;
    };
    let Some(kind) = kind_at(text, &name) else {
        return;
    };
    if is_resource(text, &name) {
        return;
    }
    if let Some(value) = extent::value(text, &name, lead)
        && judge::is_secret(value.looked_at(text), kind, value.style)
    {
        found(value.start..value.end(text));
    }
}

/// Tells whether a name promises a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    matches!(name::kind_of(name), Some(Kind::Password | Kind::Token))
}

/// Tells what a name promises where it stands: `Unseal Key` and a `key` beside a user do.
fn kind_at(text: &str, name: &Range<usize>) -> Option<Kind> {
    let known = name::kind_of(&text[name.clone()]);
    let word = &text[name.clone()];
    if known.is_some() || !word.eq_ignore_ascii_case("key") {
        let is_id = word == "Secret" && text[name.end..].starts_with(" ID");
        return if is_id { Some(Kind::Id) } else { known };
    }
    let bytes = text.as_bytes();
    let start = name.start.saturating_sub(MAX_BESIDE);
    let before = &bytes[start..name.start];
    if before.ends_with(b" ") || before.ends_with(b":") {
        let letters = before[..before.len() - 1].iter().rev();
        let length = letters.take_while(|b| b.is_ascii_alphabetic()).count();
        let both = name.start - 1 - length..name.end;
        let kind = (length > 0).then(|| name::kind_of(&text[both])).flatten();
        return kind.filter(|kind| *kind == Kind::Token);
    }
    let before = before.to_ascii_lowercase();
    let beside = |account: &&str| memchr::memmem::find(&before, account.as_bytes()).is_some();
    ACCOUNTS.iter().any(beside).then_some(Kind::Beside)
}

/// Tells whether a name is a part of an `arn:`, in which a secret is only named.
fn is_resource(text: &str, name: &Range<usize>) -> bool {
    let bytes = text.as_bytes();
    let part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b':' | b'-' | b'/' | b'_');
    let run = bytes[..name.start].iter().rev().take(MAX_NAME);
    let start = name.start - run.take_while(part).count();
    text[start..].starts_with("arn:") && bytes[name.start - 1] == b':'
}

/// Returns where the name around a word begins and ends.
fn name_around(bytes: &[u8], word: &Range<usize>) -> Range<usize> {
    let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let back = bytes[..word.start].iter().rev().take(MAX_NAME);
    let mut start = word.start - back.take_while(|b| part(b)).count();
    // The `n` of an escaped newline is no part of a name.
    if start > 0 && bytes[start - 1] == b'\\' && start < word.start {
        start += 1;
    }
    while start < word.start && matches!(bytes[start], b'-' | b'.') {
        start += 1;
    }
    let on = bytes[word.end..].iter().take(MAX_NAME);
    let mut end = word.end + on.take_while(|b| part(b)).count();
    while end > word.end && matches!(bytes[end - 1], b'-' | b'.') {
        end -= 1;
    }
    start..end
}
