//! Knows the names of secrets by their words.

use std::collections::HashSet;
use std::ops::Range;

use serde::Deserialize;

use super::table::TABLE;

/// A longer name is no name.
const MAX_NAME_BYTES: usize = 96;
/// The words of the longest name.
const MAX_WORDS: usize = 12;

/// The words that make the name of a secret. Read from `data/secrets.toml`, all in lower case.
#[derive(Debug, Default, Deserialize)]
pub(super) struct NameWords {
    /// Where one of these is found, a name is read.
    pub(super) seeds: Vec<String>,
    /// The last word of a secret's name, one of these or one that ends with one of `endings`.
    secret: HashSet<String>,
    endings: Vec<String>,
    /// The words before `key` that make it secret; with a weak one only what looks random is a value.
    key: HashSet<String>,
    weak_key: HashSet<String>,
    /// The words, behind those of a secret, that change nothing.
    qualifiers: HashSet<String>,
    /// The words that make a name harmless wherever they are in it.
    harmless: HashSet<String>,
    /// The headers whose whole value is a secret.
    pub(super) headers: Vec<String>,
    /// The words that follow an option which is only spoken of.
    pub(super) stops: HashSet<String>,
    /// The ends of the names of functions that are given a name and its value.
    pub(super) setters: Vec<String>,
    /// Functions whose first argument is a secret, and those of which the second is one.
    wrappers: HashSet<String>,
    readers: HashSet<String>,
}

impl NameWords {
    /// Returns true if the function that a text ends with wraps a value, and if it reads one that has
    /// a fallback.
    pub(super) fn function(&self, callee: &str) -> (bool, bool) {
        let name = callee
            .trim_end_matches('!')
            .rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .next();
        let name = name.unwrap_or_default();
        (
            self.wrappers.contains(name) || name.is_empty(),
            self.readers.contains(name),
        )
    }
}

/// The kind of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Password,
    /// A token, a key, or a secret.
    Secret,
    /// The same, where only a value counts that looks random.
    Weak,
    Authorization,
    Cookie,
}

/// The name of a secret in a text.
#[derive(Debug, Clone)]
pub(super) struct Name {
    pub(super) range: Range<usize>,
    pub(super) kind: Kind,
    pub(super) is_plural: bool,
    pub(super) is_upper: bool,
    /// Set where another word says what it is a secret of: `client_secret`, `access token`.
    pub(super) is_compound: bool,
}

impl Name {
    /// Reads the name around a place; None where it is harmless.
    pub(super) fn around(text: &str, at: usize) -> Option<Self> {
        let bytes = text.as_bytes();
        let is_part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        let before = bytes[..at].iter().rev().take(MAX_NAME_BYTES);
        let mut start = at - before.take_while(is_part).count();
        let behind = bytes[at..].iter().take(MAX_NAME_BYTES);
        let end = at + behind.take_while(is_part).count();
        if start > 1 && bytes[start - 1] == b'\\' && matches!(bytes[start], b'n' | b'r' | b't') {
            start += 1;
        }
        while start < end && bytes[start] == b'-' {
            start += 1;
        }
        if end - start > MAX_NAME_BYTES || end <= start {
            return None;
        }
        if text[..start].ends_with("[masked ") {
            return None;
        }
        let (kind, is_plural) = kind(text, start..end)?;
        let outer = word_before(text, start).to_ascii_lowercase();
        let names = &TABLE.names;
        if kind == Kind::Secret
            && matches!(
                &*outer,
                "unexpected" | "expected" | "invalid" | "next" | "bad" | "unknown"
            )
        {
            return None;
        }
        let is_word = |b: u8| b.is_ascii_lowercase();
        let is_compound = names.key.contains(&outer)
            || outer == "client"
            || !text[start..end].bytes().skip(1).all(is_word);
        let is_upper = !text[start..end].contains(|c: char| c.is_ascii_lowercase());
        Some(Self {
            range: start..end,
            kind,
            is_plural,
            is_upper,
            is_compound,
        })
    }
}

/// Returns the kind of a name, and true if it names several.
fn kind(text: &str, range: Range<usize>) -> Option<(Kind, bool)> {
    let names = &TABLE.names;
    let mut buffer = [0; MAX_NAME_BYTES];
    let mut words: Vec<&str> = Vec::with_capacity(MAX_WORDS);
    split(&text[range.clone()], &mut buffer, &mut words);
    if words.iter().any(|word| names.harmless.contains(*word)) {
        return None;
    }
    while words.len() > 1
        && words
            .last()
            .is_some_and(|word| names.qualifiers.contains(*word))
    {
        words.pop();
    }
    let last = *words.last()?;
    match last {
        "authorization" if words.len() == 1 || words == ["proxy", "authorization"] => {
            return Some((Kind::Authorization, false));
        }
        "credential" | "credentials" | "creds" => return Some((Kind::Weak, false)),
        "cookie" if words.len() == 1 || words == ["set", "cookie"] => {
            return Some((Kind::Cookie, false));
        }
        _ => {}
    }
    let (one, is_plural) = match last.strip_suffix('s') {
        Some(one) if !names.secret.contains(last) => (one, true),
        _ => (last, false),
    };
    let before = words.len().checked_sub(2).map(|i| words[i]);
    if matches!(one, "key" | "salt" | "seed" | "auth") {
        let outer = word_before(text, range.start).to_ascii_lowercase();
        let before = before.unwrap_or(&outer);
        let kind = if names.key.contains(before) || before.ends_with("api") {
            Kind::Secret
        } else if names.weak_key.contains(before) {
            Kind::Weak
        } else {
            return None;
        };
        return Some((kind, is_plural));
    }
    let is_secret =
        names.secret.contains(one) || names.endings.iter().any(|end| one.ends_with(&**end));
    // `tokens` are mostly counted or parsed; `access_tokens` are not.
    if !is_secret
        || (one == "token" && is_plural && !before.is_some_and(|word| names.key.contains(word)))
    {
        return None;
    }
    let is_password = ["pass", "pwd", "pw", "psk"]
        .iter()
        .any(|word| one.contains(word));
    Some((
        if is_password {
            Kind::Password
        } else {
            Kind::Secret
        },
        is_plural,
    ))
}

/// Returns the word before a name, with one sign or blank between.
fn word_before(text: &str, at: usize) -> &str {
    let bytes = text.as_bytes();
    let Some(end) = at
        .checked_sub(1)
        .filter(|end| matches!(bytes[*end], b' ' | b'.' | b':'))
    else {
        return "";
    };
    let before = bytes[..end].iter().rev().take(20);
    let start = end - before.take_while(|b| b.is_ascii_alphanumeric()).count();
    &text[start..end]
}

/// Splits a name into its words, in lower case: at signs, digits and where capitals begin.
fn split<'b>(name: &str, buffer: &'b mut [u8; MAX_NAME_BYTES], words: &mut Vec<&'b str>) {
    let bytes = name.as_bytes();
    buffer[..bytes.len()].copy_from_slice(bytes);
    buffer.make_ascii_lowercase();
    let lower = std::str::from_utf8(&buffer[..bytes.len()]).unwrap_or_default();
    let mut start = 0;
    for at in 0..=bytes.len() {
        let sort = |i: usize| {
            bytes.get(i).map_or(b' ', |b| match b {
                b'A'..=b'Z' => b'A',
                b'a'..=b'z' => b'a',
                _ => b' ',
            })
        };
        let is_capital =
            at > start && sort(at) == b'A' && (sort(at - 1) == b'a' || (sort(at + 1) == b'a'));
        if sort(at) == b' ' || is_capital {
            if at > start && words.len() < MAX_WORDS {
                words.push(&lower[start..at]);
            }
            start = if is_capital { at } else { at + 1 };
        }
    }
}
