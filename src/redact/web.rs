//! What goes over the network: URLs with a password, credentials of headers, cookies.

use std::ops::Range;

use super::value::{LOOKED_AT, is_filler, is_placeholder, is_random};
use crate::base64;
use crate::clip::head;

/// How long what stands before a host may be.
const MAX_AUTHORITY: usize = 1_024;
/// Schemes of databases, whose passwords are often not encoded.
const DATABASES: [&str; 10] = [
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "mongodb",
    "mongodb+srv",
    "redis",
    "rediss",
    "amqp",
    "mssql",
];
/// A name before an `@` that is at least this long may be a token.
const MIN_TOKEN: usize = 16;
/// The fewest bytes of `user:password`.
const SHORTEST_PAIR: usize = 6;
/// How long `user:password` may be.
const MAX_PAIR: usize = 200;
/// How many pairs of one header are looked at.
const MAX_PAIRS: usize = 60;
/// The longest value of a cookie, in bytes: what a browser takes.
const MAX_COOKIE: usize = 4_096;
/// Parts of a cookie that are not its value.
const ATTRIBUTES: [&str; 8] = [
    "path", "domain", "expires", "max-age", "samesite", "priority", "version", "comment",
];

/// Looks at `://`.
pub(super) fn look_url(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let rest = &bytes[at.end..bytes.len().min(at.end + MAX_AUTHORITY)];
    let ends =
        |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`' | b'<' | b'\\' | b'|');
    let to = |end: &dyn Fn(&u8) -> bool| &rest[..rest.iter().position(end).unwrap_or(rest.len())];
    let last_sign = |part: &[u8]| memchr::memrchr(b'@', part);
    let authority = to(&|b| ends(b) || matches!(b, b'/' | b'?' | b'#'));
    let sign = last_sign(authority).or_else(|| {
        let is_database = DATABASES.contains(&scheme_before(text, at.start));
        is_database.then(|| last_sign(to(&ends))).flatten()
    });
    let Some(sign) = sign else {
        return;
    };
    let user = &rest[..sign];
    let secret = match user.iter().position(|b| *b == b':') {
        Some(colon) => at.end + colon + 1..at.end + sign,
        None => at.end..at.end + sign,
    };
    let has_password = secret.start > at.end;
    let Some(value) = text.get(secret.clone()) else {
        return;
    };
    let is_secret = if has_password {
        !is_placeholder(value)
    } else {
        value.len() >= MIN_TOKEN && is_random(value)
    };
    if is_secret {
        found(secret);
    }
}

/// Looks at `@tcp(`: the address of a database without a scheme.
pub(super) fn look_dsn(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let part = |b: &&u8| !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b'`' | b'=');
    let back = text.as_bytes()[..at.start].iter().rev().take(MAX_PAIR);
    let start = at.start - back.take_while(part).count();
    if let Some(pair) = text.get(start..at.start)
        && let Some((user, secret)) = pair.split_once(':')
        && secret.len() >= 4
        && secret != "%s"
        && !is_placeholder(secret)
    {
        found(start + user.len() + 1..at.start);
    }
}

/// Looks at the port in a line of a `.pgpass`: `host:port:database:user:password`.
pub(super) fn look_pgpass(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let part =
        |b: &&u8| !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b'`' | b'\\' | b'/');
    let back = bytes[..at.start].iter().rev().take(MAX_PAIR);
    let start = at.start - back.take_while(part).count();
    let length = bytes[at.end..]
        .iter()
        .take(MAX_PAIR)
        .take_while(part)
        .count();
    let Some(line) = text.get(start..at.end + length) else {
        return;
    };
    let fields: Vec<&str> = line.splitn(5, ':').collect();
    if let [_, _, _, user, secret] = fields[..]
        && !user.is_empty()
        && secret.len() >= 6
        && secret.bytes().any(|b| b.is_ascii_digit())
        && !is_placeholder(secret)
    {
        found(at.end + length - secret.len()..at.end + length);
    }
}

fn scheme_before(text: &str, at: usize) -> &str {
    let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    let back = text.as_bytes()[..at].iter().rev().take(16);
    &text[at - back.take_while(|b| part(b)).count()..at]
}

/// Looks at `Bearer `.
pub(super) fn look_bearer(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let token = at.end..at.end + run(text, at.end);
    let value = &text[token.clone()];
    if value.len() >= MIN_TOKEN
        && value.bytes().any(|b| b.is_ascii_digit())
        && !is_placeholder(value)
    {
        found(token);
    }
}

/// Looks at `Basic `: what follows must be base64 of a name and a password.
pub(super) fn look_basic(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let token = at.end..at.end + run(text, at.end);
    if holds_colon(&text[token.clone()]) {
        found(token);
    }
}

fn run(text: &str, at: usize) -> usize {
    let part = |b: &u8| {
        b.is_ascii_alphanumeric()
            || matches!(
                b,
                b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'-' | b':' | b'|'
            )
    };
    text.as_bytes()[at..].iter().take_while(|b| part(b)).count()
}

/// Tells whether a text is base64 of printable characters with a colon among them.
fn holds_colon(text: &str) -> bool {
    let is_shown = |byte: &u8| *byte >= b' ' && *byte != 0x7F;
    base64::decode(text).is_some_and(|decoded| {
        decoded.len() >= SHORTEST_PAIR && decoded.iter().all(is_shown) && decoded.contains(&b':')
    })
}

/// Looks at `cookie`: a header, a flag, an assignment with `name=value` pairs behind it.
pub(super) fn look_cookie(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let mut start = at.end + usize::from(bytes.get(at.end) == Some(&b's'));
    let blank =
        |b: Option<&u8>| matches!(b, Some(b' ' | b':' | b'=' | b'"' | b'\'' | b'\\' | b'['));
    let lead = bytes[start..].iter().take(8).take_while(|b| blank(Some(b)));
    let lead = lead.count();
    if lead == 0 {
        return;
    }
    start += lead;
    // Pairs, as long as pairs follow.
    for _ in 0..MAX_PAIRS {
        let name = bytes[start..].iter().take(80).take_while(|b| {
            b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'$' | b'%')
        });
        let name = start..start + name.count();
        if name.is_empty() {
            return;
        }
        let mut end = name.end;
        if bytes.get(end) == Some(&b'=') {
            let start = end + 1;
            end = start + cookie_value(&bytes[start..], LOOKED_AT);
            let name = text[name].to_ascii_lowercase();
            let seen = head(&text[start..], end - start);
            if !ATTRIBUTES.contains(&name.as_str()) && is_session(&name, seen) {
                end = start + cookie_value(&bytes[start..], MAX_COOKIE);
                found(start..end);
            }
        } else if !matches!(bytes.get(end), Some(b';')) {
            return;
        }
        if bytes.get(end) != Some(&b';') {
            return;
        }
        start = end + 1;
        start += bytes[start..]
            .iter()
            .take(4)
            .take_while(|b| **b == b' ')
            .count();
    }
}

/// Returns how long a cookie's value is, at most `most` bytes.
fn cookie_value(bytes: &[u8], most: usize) -> usize {
    let bytes = &bytes[..bytes.len().min(most)];
    let ends =
        |b: &u8| b.is_ascii_whitespace() || matches!(b, b';' | b'"' | b'\'' | b'\\' | b'`' | b'<');
    bytes.iter().position(ends).unwrap_or(bytes.len())
}

/// Tells whether a cookie's value is one that lets in: by its name, or as words have no digits.
fn is_session(name: &str, value: &str) -> bool {
    let tells = ["auth", "jwt", "sess", "sid", "token"];
    let is_told = value.len() >= 8 && tells.iter().any(|told| name.contains(told));
    value.len() >= 6
        && (is_told || value.bytes().any(|b| b.is_ascii_digit()))
        && !is_placeholder(value)
        && !is_filler(value)
}
