//! Passwords on command lines whose flags do not name them: `mysql -psecret`,
//! `curl -u user:password`, `echo secret | sudo -S …`.

mod pipe;
mod programs;
mod words;

use std::ops::Range;

use super::pattern::goes_on_before;
use super::value::{is_opaque, is_placeholder, is_random};
use crate::clip::{head, tail};
pub(super) use pipe::{RECEIVERS, look as look_pipe};
pub(super) use programs::NAMES;
use programs::{FLAGS, Takes};
use words::{Word, word_at};

/// How far behind a program its flags are looked for.
const MAX_LINE: usize = 600;
/// A shorter password is not told from a number or a path.
const MIN_SECRET: usize = 4;
/// How far before a flag that may take a password a user is looked for.
const MAX_BEFORE: usize = 200;
/// Flags that take a user.
const USERS: [&str; 6] = [
    " -u ",
    " -U ",
    " -D ",
    " --user",
    " -username ",
    " --login ",
];

/// Looks at the name of a program.
pub(super) fn look(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let begins_word = text.as_bytes()[at.start].is_ascii_alphanumeric();
    if begins_word && goes_on_before(text.as_bytes(), at.start) {
        return;
    }
    // `http` begins an address more often than a command.
    if text.as_bytes().get(at.end) == Some(&b':') || text[at.end..].starts_with("s:") {
        return;
    }
    let program = &text[at.clone()];
    let line = before_again(line(text, at.end), program);
    let known = FLAGS
        .iter()
        .filter(|(known, ..)| known.eq_ignore_ascii_case(program));
    for (_, flag, takes) in known {
        if let Some(secret) = password(line, flag, *takes)
            && !is_placeholder(&line[secret.clone()])
        {
            found(at.end + secret.start..at.end + secret.end);
        }
    }
}

/// Looks at a flag that takes a password of many programs: beside a user it does.
pub(super) fn look_flag(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let before = tail(&text[..at.start], MAX_BEFORE);
    let before = &before[before.rfind(['\n', '|', ';', '&']).map_or(0, |i| i + 1)..];
    let rest = line(text, at.end);
    let word = word_at(rest.as_bytes(), 0);
    let value = &rest[word.range.clone()];
    let is_secret = if word.is_quoted {
        value.len() > MIN_SECRET
            && value.bytes().any(|b| b.is_ascii_digit())
            && !value.contains(' ')
    } else {
        is_opaque(value)
    };
    let has_user = |text: &str| USERS.iter().any(|user| text.contains(user));
    if is_secret && !is_placeholder(value) && (has_user(before) || has_user(rest)) {
        found(at.end + word.range.start..at.end + word.range.end);
    }
}

/// Returns what follows on the same command line.
fn line(text: &str, at: usize) -> &str {
    let rest = &text.as_bytes()[at..];
    let rest = &rest[..rest.len().min(MAX_LINE)];
    let rest = &rest[..memchr::memchr2(b'|', b';', rest).unwrap_or(rest.len())];
    let ends = |i: &usize| match rest[*i] {
        b'\n' => *i == 0 || rest[i - 1] != b'\\',
        _ => rest.get(i + 1) == Some(&b'&'),
    };
    let end = memchr::memchr2_iter(b'\n', b'&', rest).find(ends);
    head(&text[at..], end.unwrap_or(rest.len()))
}

/// Returns the part of a program's line before the same program stands there again, which is
/// looked at by itself.
fn before_again<'t>(line: &'t str, program: &str) -> &'t str {
    let bytes = line.as_bytes();
    let Some(first) = program.bytes().next() else {
        return line;
    };
    let mut places = memchr::memchr_iter(first, bytes);
    let again = places.find(|at| {
        let after = bytes[*at..].strip_prefix(program.as_bytes());
        // The name of a file, as `.htpasswd`, is no program.
        let is_file = *at > 0 && matches!(bytes[at - 1], b'.' | b'/' | b'-');
        let is_word = after.is_some_and(|after| after.starts_with(b" "));
        is_word && !is_file && !goes_on_before(bytes, *at)
    });
    &line[..again.unwrap_or(line.len())]
}

/// Finds the password of a program on its line.
fn password(line: &str, flag: &str, takes: Takes) -> Option<Range<usize>> {
    if matches!(takes, Takes::Attached | Takes::Apart | Takes::AfterColon) {
        return flagged(line, flag, takes);
    }
    if !line.contains(flag) {
        return None;
    }
    let is_flag = |word: &Word| !word.is_quoted && line[word.range.clone()].starts_with(['-', '/']);
    let is_redirection = |word: &Word| !word.is_quoted && line[word.range.clone()].starts_with('>');
    let words = words::of(line).take_while(|word| !is_redirection(word));
    let mut words = words.filter(|word| !is_flag(word));
    let Word {
        range, is_quoted, ..
    } = match takes {
        Takes::Last => words.last()?,
        Takes::Second => words.nth(1)?,
        _ => words.next()?,
    };
    let value = line[range.clone()].trim_end_matches([';', ',', ')']);
    let range = range.start..range.start + value.len();
    if takes == Takes::AfterSlash {
        let (user, rest) = value.split_once('/')?;
        let secret = rest.rfind('@').map_or(rest, |sign| &rest[..sign]);
        let is_user = user.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let start = range.start + user.len() + 1;
        let is_secret = is_user && !user.is_empty() && secret.len() >= MIN_SECRET;
        return is_secret.then_some(start..start + secret.len());
    }
    if takes == Takes::Quoted && !is_quoted {
        return None;
    }
    let is_secret = if is_quoted {
        value.len() >= MIN_SECRET && !value.contains(' ')
    } else {
        value.len() > MIN_SECRET && is_random(value) && !value.contains(['\\', '='])
    };
    is_secret.then_some(range)
}

/// Finds the value of a flag.
fn flagged(line: &str, flag: &str, takes: Takes) -> Option<Range<usize>> {
    let bytes = line.as_bytes();
    for at in memchr::memchr_iter(*flag.as_bytes().first()?, bytes) {
        let is_word = at > 0 && bytes[at - 1].is_ascii_whitespace();
        if !is_word || !bytes[at..].starts_with(flag.as_bytes()) {
            continue;
        }
        let mut start = at + flag.len();
        match bytes.get(start) {
            None => return None,
            Some(b' ' | b'=') if takes == Takes::Attached => continue,
            Some(b' ' | b'=') => start += 1,
            // `-proto` of another program, `--user-agent`.
            Some(b'a'..=b'z' | b'-') if takes != Takes::Attached => continue,
            Some(_) => {}
        }
        let value = word_at(bytes, start).range;
        let end = line[value.clone()].find('\\');
        let value = value.start..end.map_or(value.end, |end| value.start + end);
        let value = match takes {
            Takes::AfterColon => {
                let colon = line[value.clone()].find([':', '%'])?;
                value.start + colon + 1..value.end
            }
            _ => value,
        };
        if value.len() >= MIN_SECRET {
            return Some(value);
        }
    }
    None
}
