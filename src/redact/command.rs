//! Passwords on command lines whose flags do not name them: `mysql -psecret`,
//! `curl -u user:password`, `sshpass -p …`.

use std::ops::Range;

use super::pattern::goes_on_before;
use super::value::is_placeholder;

/// How far behind a program its flags are looked for.
const MAX_LINE: usize = 600;
/// A shorter password is not told from a number or a path.
const MIN_SECRET: usize = 4;

/// How a program takes its password.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// `-psecret`.
    Attached,
    /// `-p secret` or `-psecret`.
    Apart,
    /// `-u user:secret`.
    AfterColon,
}

/// Programs, the flag, and how it is given.
const FLAGS: &[(&str, &str, Takes)] = &[
    ("mysql", "-p", Takes::Attached),
    ("mariadb", "-p", Takes::Attached),
    ("sshpass", "-p", Takes::Apart),
    ("docker login", "-p", Takes::Apart),
    ("podman login", "-p", Takes::Apart),
    ("registry login", "-p", Takes::Apart),
    ("az login", "-p", Takes::Apart),
    ("redis-cli", "-a", Takes::Apart),
    ("mongosh", "-p", Takes::Apart),
    ("mongodump", "-p", Takes::Apart),
    ("curl", "-u", Takes::AfterColon),
    ("curl", "--user", Takes::AfterColon),
    ("http", "-a", Takes::AfterColon),
    ("smbclient", "-U", Takes::AfterColon),
];

/// Looks at the name of a program.
pub(super) fn look(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    if goes_on_before(text.as_bytes(), at.start) {
        return;
    }
    let program = text[at.clone()].to_ascii_lowercase();
    let line = line(text, at.end);
    for (_, flag, takes) in FLAGS.iter().filter(|(known, ..)| *known == program) {
        if let Some(secret) = password(line, flag, *takes)
            && !is_placeholder(&line[secret.clone()])
        {
            found(at.end + secret.start..at.end + secret.end);
        }
    }
}

/// Returns what follows on the same command line.
fn line(text: &str, at: usize) -> &str {
    let rest = &text.as_bytes()[at..];
    let rest = &rest[..rest.len().min(MAX_LINE)];
    let ends = |i: usize| match rest[i] {
        b'\n' => i == 0 || rest[i - 1] != b'\\',
        b'|' | b';' => true,
        b'&' => rest.get(i + 1) == Some(&b'&'),
        _ => false,
    };
    let mut end = (0..rest.len()).find(|i| ends(*i)).unwrap_or(rest.len());
    while !text.is_char_boundary(at + end) {
        end -= 1;
    }
    &text[at..at + end]
}

fn password(line: &str, flag: &str, takes: Takes) -> Option<Range<usize>> {
    let bytes = line.as_bytes();
    let mut from = 0;
    while let Some(at) = line.get(from..)?.find(flag).map(|at| at + from) {
        from = at + flag.len();
        if at == 0 || !bytes[at - 1].is_ascii_whitespace() {
            continue;
        }
        let mut start = from;
        match bytes.get(start) {
            None => return None,
            Some(b' ' | b'=') if takes == Takes::Attached => continue,
            Some(b' ' | b'=') => start += 1,
            // `-proto` of another program, `--user-agent`.
            Some(b'a'..=b'z' | b'-') if takes != Takes::Attached => continue,
            Some(_) => {}
        }
        let quote = bytes.get(start).filter(|b| matches!(b, b'"' | b'\''));
        let value = if let Some(quote) = quote {
            start += 1;
            let length = bytes[start..].iter().position(|b| b == quote);
            start..start + length.unwrap_or(bytes.len() - start)
        } else {
            let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'\\');
            let length = bytes[start..].iter().position(ends);
            start..length.map_or(bytes.len(), |length| start + length)
        };
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
