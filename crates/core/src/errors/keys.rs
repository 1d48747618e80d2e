//! The keys by which `playbook seen` recognizes an error.
//!
//! The exact text is one key. The others are hashes of its lines and of the words on them. Two
//! texts report the same error if they have a line in common, and among the words of the lines
//! that differ not *both* have one that the other lacks.

use std::collections::BTreeSet;

use super::normal::{is_marked, parts, reports};
use super::{Signature, shown};

/// The type by which spec/5 hashes an error without a tool.
const ANY_ERROR: &str = "error";
/// The number of lines at either end of a text that have keys.
const MAX_LINES: usize = 24;
/// The number of words of a line that have keys.
const MAX_WORDS: usize = 40;
/// A shorter end of a line is too vague to find an error by.
const MIN_WORDS: usize = 3;
/// The bits of a key that say its kind. Only the hash of a whole text has others there.
const KIND: u64 = 0xffff;
/// A word of a line; a line whose words do not count; a line without names, or the end of one.
const WORD: u64 = 0x5ee1;
const LINE: u64 = 0x5ee2;
const FIND: u64 = 0x5ee3;

/// Returns the keys of an error; the first is spec/5's hash of the exact text. A stored error with
/// any of them [may be the same](same_error).
pub fn error_keys(text: &str) -> Vec<Signature> {
    let Some(text) = shown(text) else {
        return Vec::new();
    };
    let exact = Signature::of_error(ANY_ERROR, &text);
    let keys = line_keys(&text).into_iter().map(Signature::from_bits);
    [exact].into_iter().chain(keys).collect()
}

/// Returns a test of stored keys: `true` for those of the error that this text reports.
pub fn same_error(text: &str) -> impl Fn(&[Signature]) -> bool + use<> {
    let text = shown(text).unwrap_or_default();
    let exact = Signature::of_error(ANY_ERROR, &text);
    let asked = line_keys(&text);
    move |keys| {
        let stored = keys.iter().map(|key| key.to_bits()).collect();
        let [left, right] = [rest(&asked, &stored), rest(&stored, &asked)];
        let is_found = asked
            .iter()
            .any(|key| key & KIND == FIND && stored.contains(key));
        keys.contains(&exact) || is_found && (left.is_subset(&right) || right.is_subset(&left))
    }
}

/// Returns the words on lines that the other text lacks.
fn rest(one: &BTreeSet<u64>, other: &BTreeSet<u64>) -> BTreeSet<u64> {
    let line = |key: &u64| key >> 32;
    let shared: BTreeSet<u64> = other
        .iter()
        .filter(|it| *it & KIND != FIND)
        .map(line)
        .collect();
    let words = one.iter().filter(|key| *key & KIND == WORD);
    let others = words.filter(|key| !shared.contains(&line(key)));
    others.map(|key| key & 0xffff_0000).collect()
}

fn line_keys(text: &str) -> BTreeSet<u64> {
    let hash = |text: &str| Signature::of("line", text).to_bits();
    let mut lines = reports(text);
    let middle = MAX_LINES..lines.len().saturating_sub(MAX_LINES).max(MAX_LINES);
    lines.drain(middle.start.min(lines.len())..middle.end.min(lines.len()));
    // Before the line that names the error and what explains it, other lines do not count.
    let named = lines
        .iter()
        .position(|line| is_marked(line) && is_particular(line));
    let named = named.filter(|at| at + 1 < lines.len()).unwrap_or(0);
    let mut keys = BTreeSet::new();
    for (at, line) in lines.iter().enumerate() {
        let mut parts = parts(line);
        keys.extend(ends(&parts).map(|end| hash(&end) & !KIND | FIND));
        parts.sort_unstable();
        let line_hash = hash(&parts.join(": ")) & !0xffff_ffff;
        if at < named && !is_marked(line) {
            keys.insert(line_hash | LINE);
            continue;
        }
        let words = parts
            .iter()
            .flat_map(|part| part.split(' '))
            .take(MAX_WORDS);
        keys.extend(words.map(|word| line_hash | hash(word) & 0xffff_0000 | WORD));
    }
    keys
}

/// Returns the plain words from each part of a line to its end; a name alone is one.
fn ends(parts: &[String]) -> impl Iterator<Item = String> {
    let is_plain = |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase());
    (0..parts.len()).filter_map(move |from| {
        let plain = parts[from..]
            .iter()
            .map(|part| part.split(' ').filter(is_plain));
        let mut plain: Vec<String> = plain
            .map(|words| words.collect::<Vec<_>>().join(" "))
            .collect();
        plain.retain(|part| !part.is_empty());
        plain.sort_unstable();
        let count: usize = plain.iter().map(|part| part.split(' ').count()).sum();
        match from {
            0 if count == 0 => Some(parts.join(" ")),
            _ => (from == 0 || count >= MIN_WORDS).then(|| plain.join(": ")),
        }
    })
}

/// Returns `true` for a line that quotes something, or has a name as code writes them.
fn is_particular(line: &str) -> bool {
    let is_code = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let inner = word.get(1..).unwrap_or_default();
        let is_shouted = word.len() > 3 && word.chars().all(|c| c.is_ascii_uppercase());
        let is_joined = inner.contains(|c: char| "_.:/\\@=".contains(c) || c.is_ascii_digit());
        let is_camel = inner.contains(char::is_uppercase) && word.contains(char::is_lowercase);
        let is_number = word.chars().all(|c| c.is_ascii_digit());
        !is_number && (is_joined || is_camel || is_shouted)
    };
    line.contains(['\'', '"', '`', '‘', '“']) || line.split_whitespace().skip(1).any(is_code)
}
