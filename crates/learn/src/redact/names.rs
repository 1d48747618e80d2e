//! Knows the names of secrets by their words.

use std::collections::HashSet;
use std::ops::Range;

use serde::Deserialize;

use super::table::TABLE;

/// A longer name is no name.
const MAX_NAME_BYTES: usize = 96;
/// The most changes between digits and others in a name; an id at random has more.
const MAX_CHANGES: usize = 6;
/// The most words of a name that are looked at.
const MAX_WORDS: usize = 12;

/// The words that make the name of a secret. Read from `data/secrets.toml`, all in lower case.
#[derive(Debug, Default, Deserialize)]
pub(super) struct NameWords {
    /// The parts of a word at which a name is read.
    pub(super) seeds: Vec<String>,
    /// The last word of a secret's name: one of these, or one that ends with one of `endings`.
    secret: HashSet<String>,
    endings: Vec<String>,
    /// The words before `key` that make it secret; with a weak one only what looks random is a value.
    key: HashSet<String>,
    weak_key: HashSet<String>,
    /// The words, behind those of a secret, that change nothing; before `pass` they make it a password.
    qualifiers: HashSet<String>,
    /// The same, also behind a dot or a blank: `db.password.prod`, "the api key new".
    versions: HashSet<String>,
    /// The first words of a question or an action: `has_token`.
    asks: HashSet<String>,
    /// The words directly before the last one that say it is no secret: `public key`.
    states: HashSet<String>,
    /// The same before `token`, which may be counted or parsed.
    counts: HashSet<String>,
}

/// The kind of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
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
        if end - start > MAX_NAME_BYTES || text[..start].ends_with("[masked ") {
            return None;
        }
        let name = &text[start..end];
        let pairs = name.as_bytes().windows(2);
        let changes = pairs.filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit());
        if changes.count() > MAX_CHANGES {
            return None;
        }
        let outer = word_before(text, start).to_ascii_lowercase();
        let mut buffer = [0; MAX_NAME_BYTES];
        let mut words: Vec<&str> = Vec::with_capacity(MAX_WORDS);
        split(name, &mut buffer, &mut words);
        let is_upper = !name.contains(|c: char| c.is_ascii_lowercase());
        let (kind, is_plural, is_compound) = TABLE.names.kind(&words, &outer, is_upper)?;
        Some(Self {
            range: start..end + TABLE.names.version(&text[end..]),
            kind,
            is_plural,
            is_upper,
            is_compound,
        })
    }
}

impl NameWords {
    /// Returns the length of the version that is behind a name, with the sign before it.
    fn version(&self, rest: &str) -> usize {
        let is_end = |c: char| !c.is_ascii_alphanumeric();
        let Some(word) = rest.strip_prefix(['.', ' ']) else {
            return 0;
        };
        let length = word.find(is_end).unwrap_or(word.len());
        let (word, behind) = word.split_at(length);
        let is_number = length == 1 && word.bytes().all(|b| b.is_ascii_digit());
        let is_before = behind.starts_with(['=', ':', ' ', '"', '\'', '`', '*', ']']);
        if is_before && (is_number || self.versions.contains(&*word.to_ascii_lowercase())) {
            length + 1
        } else {
            0
        }
    }

    /// Returns the kind of a name, true if it names several, and true if it says a secret of what.
    fn kind(&self, mut words: &[&str], outer: &str, is_upper: bool) -> Option<(Kind, bool, bool)> {
        let first = *words.first()?;
        let mut is_plural = false;
        while let [rest @ .., last] = words
            && !rest.is_empty()
        {
            let is_known = |word| self.qualifiers.contains(word) || self.versions.contains(word);
            let one = last.strip_suffix('s').unwrap_or(last);
            if !is_known(*last) && !is_known(one) {
                break;
            }
            is_plural |= !is_known(*last);
            words = rest;
        }
        if words.ends_with(&["access", "key", "id"]) {
            return Some((Kind::Weak, is_plural, true));
        }
        let (last, rest) = words.split_last()?;
        let plain = |kind| Some((kind, false, false));
        match *last {
            "authorization" if matches!(rest, [] | ["proxy"]) => return plain(Kind::Authorization),
            "cookie" if matches!(rest, [] | ["set"]) => return plain(Kind::Cookie),
            _ => {}
        }
        let one = match last.strip_suffix('s') {
            Some(one) if !self.secret.contains(*last) && !one.ends_with('s') => one,
            _ => last,
        };
        is_plural |= one.len() < last.len();
        let before = rest.last().copied().unwrap_or(outer);
        let is_inner = self.states.contains(before)
            || one.ends_with("token") && self.counts.contains(before) && !is_upper
            || one == "secret" && before == "password"
            || !rest.is_empty() && self.asks.contains(first) && !is_upper;
        if is_inner {
            return None;
        }
        let ends_with_key = |before: &str| {
            let mut words = self.key.iter().filter(|word| word.len() > 2);
            self.key.contains(before) || words.any(|word| before.ends_with(&**word))
        };
        match one {
            "key" | "salt" | "seed" | "auth" | "phrase" => {
                let is_secret = ends_with_key(before) || before == "seed" && one == "phrase";
                let is_secret = is_secret && (one != "auth" || !rest.is_empty());
                let kind = if is_secret { Kind::Secret } else { Kind::Weak };
                let is_known = is_secret || self.weak_key.contains(before);
                return is_known.then_some((kind, is_plural, true));
            }
            "credential" | "cred" if rest.is_empty() => {
                return Some((Kind::Weak, is_plural, false));
            }
            _ => {}
        }
        let is_joined = |end: &str, is_known: &dyn Fn(&str) -> bool| {
            let before = one.strip_suffix(end);
            before.is_some_and(|before| !before.is_empty() && is_known(before))
        };
        let is_service = |before: &str| {
            let mut words = self.qualifiers.iter().filter(|word| word.len() > 1);
            words.any(|word| before.ends_with(&**word))
        };
        let is_secret = self.secret.contains(one)
            || self.endings.iter().any(|end| one.ends_with(&**end))
            || is_joined("key", &ends_with_key)
            || is_joined("pass", &is_service)
            || is_joined("pw", &is_service);
        // `tokens` are mostly counted or parsed; `access_tokens` are not.
        if !is_secret || matches!(one, "token" | "secret") && is_plural && rest.is_empty() {
            return None;
        }
        let mut passwords = ["pass", "pwd", "pw", "psk"].iter();
        let is_password = passwords.any(|word| one.contains(word));
        let kind = if is_password {
            Kind::Password
        } else {
            Kind::Secret
        };
        let is_compound = one.len() > "secret".len()
            || !rest.is_empty()
            || self.key.contains(outer)
            || self.weak_key.contains(outer);
        Some((kind, is_plural, is_compound))
    }
}

/// Returns the word before a name, with one sign or blank between.
fn word_before(text: &str, at: usize) -> &str {
    let bytes = text.as_bytes();
    let sign = at.checked_sub(1).map(|end| (end, bytes[end]));
    let Some((end, b' ' | b'.' | b':')) = sign else {
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
    let is_lower = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_lowercase);
    let mut start = 0;
    for at in 0..=bytes.len() {
        let byte = bytes.get(at).copied().unwrap_or_default();
        let begins =
            at > start && byte.is_ascii_uppercase() && (is_lower(at - 1) || is_lower(at + 1));
        if begins || !byte.is_ascii_alphabetic() {
            if at > start && words.len() < MAX_WORDS {
                words.push(&lower[start..at]);
            }
            start = if begins { at } else { at + 1 };
        }
    }
}
