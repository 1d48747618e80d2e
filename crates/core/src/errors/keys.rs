//! The keys by which `playbook seen` recognizes an error.
//!
//! The exact text is one key. Elsewhere the *message* counts: the line that names the error,
//! without what differs between machines. A text is known if its message is a line, or the end of a
//! line, of a stored text, or vice versa.

use super::Signature;
use super::{is_mark, message, normalized, shown, without_shell};

/// The type by which spec/5 hashes an error without a tool.
const ANY_ERROR: &str = "error";
/// The number of lines from either end of a text that are compared with messages.
const MAX_LINES: usize = 12;
/// A shorter line, or end of a line, is too vague to be a message by itself.
const MIN_WORDS: usize = 3;
/// Prefixes that tools put before each line of a report.
const REPORTERS: &[&str] = &["npm err! ", "npm error ", "err! ", "e  "];
/// Abbreviations of months, days and time zones, ignored in a line with a time.
const DATE_WORDS: &[&str] = &[
    "mon", "tue", "wed", "thu", "fri", "sat", "sun", "jan", "feb", "mar", "apr", "jun", "jul",
    "aug", "sep", "oct", "nov", "dec", "utc", "gmt",
];

/// Returns the keys that an error is stored with; the first is spec/5's hash of the exact text.
pub fn stored_keys(text: &str) -> Vec<Signature> {
    keys(text, ["message", "line"])
}

/// Returns the keys to look up for a text; a stored error with any of them is the same error.
pub fn asked_keys(text: &str) -> Vec<Signature> {
    keys(text, ["line", "message"])
}

fn keys(text: &str, [message_key, line_key]: [&str; 2]) -> Vec<Signature> {
    let Some(text) = shown(text) else {
        return Vec::new();
    };
    let mut keys = vec![Signature::of_error(ANY_ERROR, &text)];
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let named = named_parts(&lines);
    let mut add = |key: &str, parts: &[String]| {
        let key = Signature::of(key, &in_order(parts));
        if !keys.contains(&key) {
            keys.push(key);
        }
    };
    if !named.is_empty() {
        add(message_key, &named);
        add(line_key, &named);
    }
    // The cause at the end of `a: b: cause of it: cause`.
    if let [_, .., one, other] = &named[..]
        && [one, other].iter().all(|part| part.contains(' '))
        && words(&named[named.len() - 2..]) > MIN_WORDS
    {
        add("cause", &named[named.len() - 2..]);
    }
    let last = lines.len().saturating_sub(MAX_LINES).max(MAX_LINES);
    let ends = lines.iter().take(MAX_LINES).chain(lines.iter().skip(last));
    for parts in ends.map(|line| parts(line)).chain([named.clone()]) {
        for from in 0..parts.len() {
            if words(&parts[from..]) >= MIN_WORDS {
                add(line_key, &parts[from..]);
            }
        }
    }
    keys
}

/// Returns the parts of the line that names the error, together with the next line where it only
/// announces that one.
fn named_parts(lines: &[&str]) -> Vec<String> {
    let is_named = |line: &&&str| message(line).is_some() && !is_of_tests(line);
    let marked = lines.iter().position(|line| is_named(&line));
    let at = marked.unwrap_or_default();
    let Some(line) = lines.get(at) else {
        return Vec::new();
    };
    let mut named = parts(line);
    let announces = line.trim_end().ends_with(':') || words(&named) < MIN_WORDS;
    if named.is_empty() || (marked.is_none() && announces) {
        named.extend(
            lines
                .get(at + 1)
                .map(|next| parts(next))
                .unwrap_or_default(),
        );
    }
    named
}

/// Returns `true` for a line that only reports failed tests.
fn is_of_tests(line: &str) -> bool {
    let parts = parts(line);
    let is_plain = !line
        .split(": ")
        .take(3)
        .any(|part| is_mark(part) && normalized(part) != "error");
    is_plain
        && parts.iter().any(|part| {
            part.split(' ')
                .any(|word| word == "test" || word == "tests")
        })
}

/// Returns the meaningful parts of a line between colons.
fn parts(line: &str) -> Vec<String> {
    let mut line = line.trim();
    for reporter in REPORTERS {
        if line
            .get(..reporter.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(reporter))
        {
            line = line[reporter.len()..].trim_start();
        }
    }
    let has_time = line.contains(|c: char| c.is_ascii_digit());
    let parts = without_shell(line).split(": ").map(|part| {
        let part = normalized(part);
        let is_kept = |word: &&str| !has_time || !DATE_WORDS.contains(word);
        part.split(' ')
            .filter(is_kept)
            .collect::<Vec<_>>()
            .join(" ")
    });
    let says_nothing = ["", "error", "fatal", "fatal error", "line"];
    let mut parts: Vec<String> = parts
        .filter(|part| !says_nothing.contains(&&**part))
        .collect();
    // The wording of dash.
    if let [_, last] = &mut parts[..]
        && last == "not found"
    {
        "command not found".clone_into(last);
    }
    parts
}

fn in_order(parts: &[String]) -> String {
    let mut parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    parts.sort_unstable();
    parts.join(": ")
}

fn words(parts: &[String]) -> usize {
    parts.iter().map(|part| part.split(' ').count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn is_known(stored: &str, asked: &str) -> bool {
        let stored = stored_keys(stored);
        asked_keys(asked).iter().any(|key| stored.contains(key))
    }

    #[rstest]
    #[case::shell("bash: acme: command not found", "zsh: command not found: acme")]
    #[case::dash("sh: 1: acme: not found", "bash: line 2: acme: command not found")]
    #[case::reporter(
        "EACCES: permission denied, mkdir '/a/b'",
        "npm ERR! EACCES: permission denied, mkdir '/c/b'"
    )]
    #[case::more_lines(
        "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE could not resolve",
        "npm error code ERESOLVE\nnpm error ERESOLVE could not resolve\nnpm error A log: /b"
    )]
    #[case::before(
        "fatal: no such ref: main",
        "Fetching origin\nfatal: no such ref: main"
    )]
    #[case::header(
        "thread 'main' panicked at a.rs:3:5:\nindex is out",
        "thread 'main' (7) panicked at b.rs:4:5:\nindex is out"
    )]
    #[case::bare(
        "Permission denied (publickey).",
        "git@github.com: Permission denied (publickey)."
    )]
    #[case::cause(
        "error: could not start: bind for 0.0.0.0:80 failed: port is allocated",
        "error: could not start x (ab12cd): bind for 0.0.0.0:99 failed: port is allocated"
    )]
    #[case::located(
        "error TS2322: Type 'a' is not 'b'.",
        "src/a.ts(3,4): error TS2322: Type 'a' is not 'b'."
    )]
    #[case::versions(
        "ERROR: no match for numpy==1.2 in v18.2.1",
        "ERROR: no match for numpy==3.4.1 in v20.1"
    )]
    #[case::times(
        "2026-11-27T10:00:01Z ERROR: disk is full",
        "Fri Nov 27 2026 12:30 ERROR: disk is full"
    )]
    #[case::port(
        "connect ECONNREFUSED 127.0.0.1:5432",
        "connect ECONNREFUSED 127.0.0.1:6543"
    )]
    fn an_error_is_known_elsewhere(#[case] one: &str, #[case] other: &str) {
        assert!(is_known(one, other) && is_known(other, one));
    }

    #[rstest]
    #[case::name("No module named 'yaml'", "No module named 'toml'")]
    #[case::code(
        "error[E0382]: borrow of moved value",
        "error[E0502]: borrow of moved value"
    )]
    #[case::panics(
        "thread 'main' panicked at a.rs:3:5:\nindex is out",
        "thread 'main' panicked at a.rs:3:5:\nnothing there"
    )]
    #[case::programs(
        "cat: a.txt: No such file or directory",
        "psql: a.txt: No such file or directory"
    )]
    #[case::npm(
        "npm ERR! code E404\nnpm ERR! 404 Not Found",
        "npm ERR! code ERESOLVE\nnpm ERR! no tree"
    )]
    #[case::tests(
        "test a failed\nerror: test failed, to rerun pass `--lib`",
        "test b failed\nerror: test failed, to rerun pass `--lib`"
    )]
    #[case::header(
        "fatal error: zlib.h: No such file",
        "fatal error: curl/curl.h: No such file"
    )]
    #[case::package(
        "no required module provides a.com/b/c",
        "no required module provides a.com/b/d"
    )]
    #[case::denied("bash: ./a: Permission denied", "Permission denied (publickey).")]
    fn different_errors_are_kept_apart(#[case] one: &str, #[case] other: &str) {
        assert!(!is_known(one, other) && !is_known(other, one));
    }

    proptest::proptest! {
        #[test]
        fn the_exact_text_is_always_known(text in "(error: |fatal: |'|\"|\\PC|\n){0,200}") {
            proptest::prop_assert!(stored_keys(&text).first() == asked_keys(&text).first());
        }
    }
}
