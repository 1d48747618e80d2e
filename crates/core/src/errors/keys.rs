//! The keys by which `playbook seen` recognizes an error.
//!
//! The exact text is one key. The others are hashes of its lines and of the words on them. Two
//! texts report the same error if they have a line in common, and among the words of the lines
//! that differ not *both* have one that the other lacks.

use std::collections::BTreeSet;

use super::normal::{is_marked, is_quote, parts, reports};
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

/// Returns the first of the keys, without computing the others.
pub fn exact_key(text: &str) -> Option<Signature> {
    shown(text).map(|text| Signature::of_error(ANY_ERROR, &text))
}

/// Returns `true` for the key of a whole text.
pub fn is_exact(key: Signature) -> bool {
    ![WORD, LINE, FIND].contains(&(key.to_bits() & KIND))
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
    let is_message = |line: &&str| is_marked(line) && line.contains(is_quote);
    let named = lines.iter().position(is_message);
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

/// Returns the plain words from each part of a line to its end; all words of a line with few.
fn ends(parts: &[String]) -> impl Iterator<Item = String> {
    let is_plain = |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase());
    (0..parts.len()).filter_map(move |from| {
        let mut parts = parts[from..].to_vec();
        parts.sort_unstable();
        let words = parts.iter().flat_map(|part| part.split(' '));
        let plain: Vec<&str> = words.filter(is_plain).collect();
        let is_vague = plain.len() < MIN_WORDS;
        let end = if is_vague {
            parts.join(" ")
        } else {
            plain.join(" ")
        };
        (from == 0 || !is_vague).then_some(end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two texts a row; `¶` is a line break.
    const SAME: &str = "\
        bash: acme: command not found | zsh:1: command not found: acme
        sh: 1: acme: not found | (eval):1: bash: line 2: acme: command not found
        EACCES: no permission, mkdir '/a/b' | npm ERR! EACCES: no permission, mkdir '/c/b'
        npm ERR! code E1¶npm ERR! E1 no tree | npm error code E1¶npm error E1 no tree¶npm error log
        fatal: no such ref: main | Fetching origin¶fatal: no such ref: main
        'main' panicked at a.rs:3:5:¶nothing | 'main' (7) panicked at src/a.rs:4:5:¶nothing
        Permission denied (publickey). | git@github.com: Permission denied (publickey).
        error TS2322: Type 'a' is wrong. | src/a.ts(3,4): error TS2322: Type 'a' is wrong.
        E   TypeError: no x | Traceback:¶  File \"/a.py\", line 3, in f¶    x()¶TypeError: no x
        ERROR: no numpy==1.2 in v18.2.1 | ERROR: no numpy==3.4.1 in v20.1
        2026-11-27T10:00:01Z ERROR: disk is full | Fri Nov 27 12:30:01 ERROR: disk is full
        connect ECONNREFUSED 127.0.0.1:5432 after 3 ms | connect ECONNREFUSED 10.0.0.1:80 after 1.2 sec
        error: no rule for ‘all’ | error: no rule for \"all\"
        no access for user 'anna' at anna@db.io | no access for user 'ben' at ben@db.io
        no image in C:\\Users\\anna\\a.png | no image in /srv/web/static/a.png
        TypeError: no x¶    at f (/a/b.js:1:2) | TypeError: no x¶    at g (/a/c.js:3:4)
        error: no x | a.c:1:2: warning: unused y¶    int y;¶error: no x
        INFO: as ben¶error: no 'x' in¶status: up | INFO: as tom¶error: no 'x' in¶status: up
        a.c:3: no x¶ 3 | x(); | a.c:4: no x¶  x(1);¶  ^¶2 errors generated";
    const OTHER: &str = "\
        No module named 'yaml' | No module named 'toml'
        error[E0382]: borrow of value | error[E0502]: borrow of value
        error: ORA-00942 | error: ORA-01017
        error: unknown option: --a | error: unknown option: --b
        no operand for +: 'int' | no operand for -: 'int'
        cat: a.txt: No such file | cat: b.txt: No such file
        cat: a.txt: No such file | psql: a.txt: No such file
        cannot reach https://a.io/x | cannot reach https://b.io/x
        'main' panicked at a.rs:3:5:¶index is out | 'main' panicked at a.rs:3:5:¶nothing there
        npm ERR! code E404¶npm ERR! 404 Not Found | npm ERR! code E1¶npm ERR! no tree
        test a failed¶error: rerun with `--lib` | test b failed¶error: rerun with `--lib`
        fatal error: zlib.h: No such file | fatal error: curl/curl.h: No such file
        error: at 'x'¶Locator: 'a' | error: at 'x'¶Locator: 'b'
        bash: ./a: Permission denied | Permission denied (publickey).";

    fn are_same(one: &str, other: &str) -> bool {
        let keys = error_keys(one);
        let is_found = error_keys(other).iter().any(|key| keys.contains(key));
        is_found && same_error(other)(&keys)
    }

    #[test]
    fn an_error_is_known_elsewhere_and_different_ones_are_kept_apart() {
        for (table, want) in [(SAME, true), (OTHER, false)] {
            let rows = table.lines().map(|row| row.trim().replace('¶', "\n"));
            let wrong = rows.filter(|row| {
                let (one, other) = row.rsplit_once(" | ").expect("two texts");
                are_same(one, other) != want || are_same(other, one) != want
            });
            assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
        }
    }

    proptest::proptest! {
        #[test]
        fn the_exact_text_is_always_known(text in "(error: |fatal: |'|\"|\\PC|\n){0,200}") {
            proptest::prop_assert!(text.trim().is_empty() || are_same(&text, &text));
        }
    }
}
