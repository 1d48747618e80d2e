//! Values that a name gives away: `DB_PASSWORD=…`, `"token": "…"`, `--api-key …`.
//!
//! The same in shell, `.env`, JSON (also within JSON), YAML, TOML, code, XML, SQL, URLs and
//! headers. What a value may be depends on how it stands there: a quoted or assigned text
//! is one at a glance, a bare word after a colon may as well be a type or a sentence.

use std::ops::Range;

use super::pattern::goes_on_before;
use super::spans;
use super::value::{each_word, is_placeholder, is_prose, is_random};

/// How far a name reaches to either side of its telling word, in bytes.
const MAX_NAME: usize = 80;
/// How much of a value is looked at before it is known to be one, in bytes.
const MAX_VALUE: usize = 600;
/// How far the quote that closes a value is looked for, in bytes.
const MAX_QUOTED: usize = 16 << 10;
/// How much of a line before a name is looked at, in bytes.
const MAX_LINE: usize = 200;
/// How many blanks may stand between a name and its value.
const MAX_GAP: usize = 40;
/// Where the words of a name end.
const LAST_WORDS: usize = 4;

/// What a name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Something a person thought up.
    Password,
    /// Something a machine made.
    Token,
}

/// How a value stands behind its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// In quotes.
    Quoted,
    /// `NAME=value`, a flag, a header: nothing but a value can stand there.
    Assigned,
    /// `name: value`, `name = value`: it may as well be code or prose.
    Loose,
    /// `the password is value`.
    Spoken,
}

/// Words after the telling one that change nothing: `TOKEN_PROD`, `passwordValue`.
const SUFFIXES: &[&str] = &[
    "b64",
    "base64",
    "beta",
    "default",
    "dev",
    "development",
    "encoded",
    "live",
    "main",
    "new",
    "old",
    "plain",
    "plaintext",
    "prd",
    "primary",
    "prod",
    "production",
    "qa",
    "raw",
    "ro",
    "rw",
    "sandbox",
    "secondary",
    "stage",
    "staging",
    "stg",
    "test",
    "val",
    "value",
];
/// Words before `key` that make it a secret one.
const SECRET_KEYS: &[&str] = &[
    "access",
    "account",
    "admin",
    "anon",
    "api",
    "app",
    "auth",
    "client",
    "cookie",
    "crypto",
    "deploy",
    "encryption",
    "hmac",
    "jwt",
    "license",
    "master",
    "private",
    "secret",
    "service",
    "session",
    "shared",
    "sign",
    "signing",
    "storage",
    "subscription",
    "webhook",
    "functions",
    "host",
    "integration",
    "ingest",
    "write",
    "read",
    "server",
    "sdk",
    "token",
    "user",
    "x",
];
/// Words before `key`, in the name of a variable, that make it no secret.
const PLAIN_KEYS: &[&str] = &[
    "cache",
    "column",
    "config",
    "event",
    "field",
    "foreign",
    "group",
    "hash",
    "hot",
    "i18n",
    "idempotency",
    "index",
    "item",
    "lookup",
    "map",
    "message",
    "object",
    "partition",
    "primary",
    "public",
    "publishable",
    "query",
    "range",
    "registry",
    "route",
    "row",
    "s3",
    "short",
    "sort",
    "state",
    "tab",
    "translation",
    "unique",
    "which",
];
/// Words before `token` that make it a place in a list or in a language.
const PLAIN_TOKENS: &[&str] = &[
    "bos",
    "cancel",
    "cancellation",
    "cls",
    "continuation",
    "cursor",
    "eos",
    "mask",
    "next",
    "page",
    "pad",
    "prev",
    "previous",
    "sep",
    "start",
    "stop",
    "sync",
    "unk",
];

/// Tells what a name promises; `None` when it names no secret.
fn kind_of(name: &str) -> Option<Kind> {
    let mut words: Vec<String> = Vec::new();
    each_word(name, |word| words.push(word.to_owned()));
    let is_suffix = |word: &String| {
        SUFFIXES.contains(&word.as_str()) || word.bytes().all(|b| b.is_ascii_digit())
    };
    while words.len() > 1 && words.last().is_some_and(is_suffix) {
        words.pop();
    }
    let words = &words[words.len().saturating_sub(LAST_WORDS)..];
    let (last, before) = words.split_last()?;
    let last = last.trim_end_matches(|c: char| c.is_ascii_digit());
    let before = before.last().map(String::as_str);
    let ends = |ends: &[&str]| ends.iter().any(|end| last.ends_with(end));
    if ends(&[
        "password",
        "passwd",
        "passphrase",
        "passwort",
        "passcode",
        "pwd",
    ]) || matches!(last, "pass" | "pw" | "psw")
    {
        return Some(Kind::Password);
    }
    let is_token = ends(&[
        "secret",
        "token",
        "apikey",
        "secretkey",
        "accesskey",
        "privatekey",
    ]) || matches!(
        last,
        "credential" | "credentials" | "secrets" | "authorization" | "auth" | "sessionid"
    );
    if is_token {
        let plain = before.is_some_and(|b| last == "token" && PLAIN_TOKENS.contains(&b));
        return (!plain).then_some(Kind::Token);
    }
    let is_variable = name.bytes().all(|b| !b.is_ascii_lowercase()) && name.contains('_');
    let key = last == "key"
        && before
            .is_some_and(|b| SECRET_KEYS.contains(&b) || (is_variable && !PLAIN_KEYS.contains(&b)));
    let secret_base = name.to_ascii_lowercase().ends_with("secret_key_base");
    (key || secret_base).then_some(Kind::Token)
}

/// Looks at the name that a telling word is part of, and at its value.
pub(super) fn look(text: &str, keyword: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let name = name_around(bytes, &keyword);
    let is_note = text[..name.start].ends_with(spans::NOTE);
    if is_note || goes_on_before(bytes, name.start) {
        return;
    }
    // Most words are followed by no value, which is told sooner than what a name means.
    let Some(lead) = lead_after(text, &name) else {
        return;
    };
    let Some(kind) = kind_of(&text[name.clone()]) else {
        return;
    };
    if let Some((value, style)) = value_at(text, &name, lead)
        && is_secret(&text[value.clone()], kind, style)
    {
        let whole = style == Style::Quoted || value.len() < MAX_VALUE;
        let end = if whole {
            value.end
        } else {
            end_of_run(text, value.end)
        };
        found(value.start..end);
    }
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

/// What leads from a name to its value.
#[derive(Debug, Clone, Copy)]
struct Lead {
    /// Where the value, or its quote, can begin.
    at: usize,
    style: Style,
    /// Whether only a value in quotes counts.
    needs_quotes: bool,
}

/// Returns where what is longer than a value usually is ends: at a blank or a quote.
fn end_of_run(text: &str, from: usize) -> usize {
    let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`');
    let rest = &text.as_bytes()[from..];
    from + rest.iter().position(ends).unwrap_or(rest.len())
}

/// Finds what leads from a name to a value.
fn lead_after(text: &str, name: &Range<usize>) -> Option<Lead> {
    let bytes = text.as_bytes();
    let is_flag = name.start > 0 && bytes[name.start - 1] == b'-';
    let mut at = name.end;
    let in_quotes = skip_quote(bytes, &mut at);
    if bytes.get(at) == Some(&b']') {
        at += 1;
    }
    let tight = at;
    skip_blanks(bytes, &mut at);
    let style = match bytes.get(at)? {
        b'=' if matches!(bytes.get(at + 1), Some(b'=' | b'~')) => return None,
        b'=' => {
            at += 1 + usize::from(bytes.get(at + 1) == Some(&b'>'));
            let is_tight = at == tight + 1 && !bytes.get(at).is_none_or(u8::is_ascii_whitespace);
            if is_tight {
                Style::Assigned
            } else {
                Style::Loose
            }
        }
        b':' => {
            at += 1;
            if matches!(bytes.get(at), Some(b':')) {
                return None;
            }
            at += usize::from(bytes.get(at) == Some(&b'='));
            skip_type(bytes, &mut at);
            let is_upper = text[name.clone()].bytes().all(|b| !b.is_ascii_lowercase());
            if (is_upper && name.len() > 5) || is_header(&text[name.clone()]) {
                Style::Assigned
            } else {
                Style::Loose
            }
        }
        b'>' if is_element(text, name, at) => {
            at += 1;
            Style::Assigned
        }
        b',' if in_quotes => {
            // `("password", "…")`: only a quoted value counts.
            at += 1;
            Style::Spoken
        }
        _ if at == tight => return None,
        _ if is_flag => Style::Assigned,
        b'i' if text[at..].starts_with("is ") => {
            at += 3;
            Style::Spoken
        }
        _ if is_set_by_word(text, name) => Style::Assigned,
        // Only in quotes: SQL's `PASSWORD '…'`.
        b'\'' if !in_quotes => Style::Spoken,
        _ => return None,
    };
    skip_lead(bytes, &mut at, style);
    let listed = in_quotes || bytes[tight] == b',' || bytes.get(at) == Some(&b'\'');
    Some(Lead {
        at,
        style,
        needs_quotes: style == Style::Spoken && listed,
    })
}

/// Tells whether the name is an XML element's, and its closing tag follows.
fn is_element(text: &str, name: &Range<usize>, at: usize) -> bool {
    let bytes = text.as_bytes();
    let opens = name.start > 0 && bytes[name.start - 1] == b'<';
    let rest = &bytes[at..bytes.len().min(at + MAX_VALUE)];
    opens && memchr::memchr(b'<', rest).is_some_and(|i| rest.get(i + 1) == Some(&b'/'))
}

/// Tells whether a name is that of a header that carries a key.
fn is_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("x-")
        || [
            "authorization",
            "proxy-authorization",
            "api-key",
            "private-token",
        ]
        .contains(&name.as_str())
}

/// Tells whether a word before the name says that a value follows: `ENV`, `login … password`.
fn is_set_by_word(text: &str, name: &Range<usize>) -> bool {
    let mut start = name.start.saturating_sub(MAX_LINE);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let before = &text[start..name.start];
    let line = before.rfind('\n').map_or(0, |i| i + 1);
    // In JSON a line ends in an escape.
    let line = before.rfind("\\n").map_or(line, |i| line.max(i + 2));
    let before = before[line..].trim_start();
    before == "ENV "
        || before == "ARG "
        || before == "setenv "
        || (text[name.clone()].eq_ignore_ascii_case("password") && is_named_login(before))
        || before.ends_with("_authToken ")
}

/// Tells whether a line of `.netrc` comes to its password: `login NAME `, `machine HOST `.
fn is_named_login(before: &str) -> bool {
    let key = before.split_ascii_whitespace().rev().nth(1);
    key.is_some_and(|key| ["login", "machine", "account"].contains(&key))
}

fn skip_blanks(bytes: &[u8], at: &mut usize) {
    let blanks = bytes[*at..].iter().take(MAX_GAP);
    *at += blanks.take_while(|b| matches!(b, b' ' | b'\t')).count();
}

/// Passes over a closing quote, escaped or not; tells whether there was one.
fn skip_quote(bytes: &[u8], at: &mut usize) -> bool {
    let escapes = bytes[*at..]
        .iter()
        .take(8)
        .take_while(|b| **b == b'\\')
        .count();
    let quoted = matches!(bytes.get(*at + escapes), Some(b'"' | b'\'' | b'`'));
    if quoted {
        *at += escapes + 1;
    }
    quoted
}

/// Passes over a type that stands between a name and the `=` of its value.
fn skip_type(bytes: &[u8], at: &mut usize) {
    let is_type = |b: &u8| {
        b.is_ascii_alphanumeric()
            || matches!(
                b,
                b' ' | b'_' | b'<' | b'>' | b'&' | b'|' | b'[' | b']' | b'.' | b'?' | b'\''
            )
    };
    let length = bytes[*at..]
        .iter()
        .take(MAX_GAP)
        .take_while(|b| is_type(b))
        .count();
    let after = bytes.get(*at + length..).unwrap_or_default();
    if length > 0 && after.starts_with(b"=") && !matches!(after.get(1), Some(b'=' | b'>')) {
        // Padding of a base64 value is no assignment.
        let next = after.get(1).copied().unwrap_or(b' ');
        if matches!(next, b' ' | b'"' | b'\'') && bytes[*at + length - 1] == b' ' {
            *at += length + 1;
        }
    }
}

/// Passes over what may stand before a value: blanks, a YAML block's mark, a line break
/// before a quote, the scheme of a credential.
fn skip_lead(bytes: &[u8], at: &mut usize, style: Style) {
    skip_blanks(bytes, at);
    let rest = &bytes[*at..];
    if style != Style::Spoken {
        let mark = usize::from(matches!(rest.first(), Some(b'|' | b'>')));
        let mark = mark + usize::from(mark == 1 && matches!(rest.get(1), Some(b'-' | b'+')));
        let blanks = rest[mark..].iter().take(MAX_GAP);
        let blanks = blanks.take_while(|b| b.is_ascii_whitespace()).count();
        let broken = rest[mark..mark + blanks].contains(&b'\n');
        let quoted = matches!(rest.get(mark + blanks), Some(b'"' | b'\''));
        if broken && (mark > 0 || quoted) {
            *at += mark + blanks;
        }
    }
}

/// Passes over the scheme of a credential; tells whether there was one.
fn skip_scheme(text: &str, at: &mut usize) -> bool {
    const SCHEMES: [&str; 8] = [
        "bearer ", "basic ", "token ", "apikey ", "api-key ", "ssws ", "key ", "bot ",
    ];
    let rest = &text.as_bytes()[*at..];
    let scheme = SCHEMES.iter().find(|scheme| {
        rest.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
    });
    if let Some(scheme) = scheme {
        *at += scheme.len();
    }
    scheme.is_some()
}

/// Returns the value at the end of a lead, and how it stands there.
fn value_at(text: &str, name: &Range<usize>, lead: Lead) -> Option<(Range<usize>, Style)> {
    let Lead {
        mut at,
        style,
        needs_quotes,
    } = lead;
    let bytes = text.as_bytes();
    // The prefix of a string: `b"…"`, `@"…"`.
    if matches!(bytes.get(at), Some(b'b' | b'r' | b'f' | b'u' | b'@' | b'$'))
        && matches!(bytes.get(at + 1), Some(b'"' | b'\''))
    {
        at += 1;
    }
    let escapes = bytes[at..]
        .iter()
        .take(8)
        .take_while(|b| **b == b'\\')
        .count();
    let quote = bytes.get(at + escapes).copied();
    if let Some(quote @ (b'"' | b'\'' | b'`')) = quote {
        let mut start = at + escapes + 1;
        let end = closing(bytes, start, quote, escapes);
        skip_scheme(text, &mut start);
        if let Some(end) = end {
            return (start < end).then_some((start..end, Style::Quoted));
        }
        // Cut off before its end: a word of it at least.
        let end = start + word_length(text, start, true);
        return (start < end).then_some((start..end, Style::Quoted));
    }
    if escapes > 0 || needs_quotes {
        return None;
    }
    let has_scheme = skip_scheme(text, &mut at);
    let is_line = name.start == 0 || bytes[name.start - 1] == b'\n';
    let to_blank = style == Style::Assigned && (is_line || has_scheme);
    let mut end = at + word_length(text, at, to_blank);
    let is_end = |b: u8| match style {
        Style::Spoken => matches!(b, b'.' | b'!' | b'?' | b':'),
        Style::Loose => matches!(b, b'.' | b':'),
        Style::Assigned | Style::Quoted => false,
    };
    while end > at && is_end(bytes[end - 1]) {
        end -= 1;
    }
    (at < end).then_some((at..end, style))
}

/// Finds the quote that closes a value: one with no more escapes before it than the first
/// had. A value of one line only.
fn closing(bytes: &[u8], start: usize, quote: u8, escapes: usize) -> Option<usize> {
    let bytes = &bytes[..bytes.len().min(start + MAX_QUOTED)];
    let mut at = start;
    loop {
        at += memchr::memchr2(quote, b'\n', &bytes[at..])?;
        if bytes[at] == b'\n' {
            return None;
        }
        let before = bytes[start..at].iter().rev();
        let before = before.take_while(|b| **b == b'\\').count();
        if before == escapes || (escapes == 0 && before % 2 == 0) {
            return Some(at - before.min(escapes));
        }
        if before < escapes {
            // The text around it ends here.
            return Some(at - before);
        }
        at += 1;
    }
}

/// Returns how long a bare value is: to a blank or a quote, and, where other things can
/// follow it on its line, to a separator.
fn word_length(text: &str, at: usize, to_blank: bool) -> usize {
    let bytes = &text.as_bytes()[at..];
    let bytes = &bytes[..bytes.len().min(MAX_VALUE)];
    let ends = |b: &u8| {
        b.is_ascii_whitespace()
            || b.is_ascii_control()
            || matches!(b, b'"' | b'\'' | b'`' | b'<' | b'\\')
            || (!to_blank && matches!(b, b',' | b';' | b'&' | b'|' | b')' | b'}' | b']' | b'>'))
    };
    let mut length = bytes.iter().position(ends).unwrap_or(bytes.len());
    while !text.is_char_boundary(at + length) {
        length -= 1;
    }
    length
}

/// Tells whether a value is a secret.
fn is_secret(value: &str, kind: Kind, style: Style) -> bool {
    // A key in PEM has a rule of its own, which sees its end.
    let is_pem = value.starts_with("-----");
    if is_pem || is_placeholder(value) || looks_like_code(value, style) {
        return false;
    }
    let has_digit = value.bytes().any(|b| b.is_ascii_digit());
    let is_number = value.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let is_name = value
        .bytes()
        .all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'.' | b':' | b'-' | b'/'));
    match (style, kind) {
        (Style::Quoted, Kind::Password) => value.len() >= 4 && !is_prose(value),
        (Style::Quoted, Kind::Token) => {
            value.len() >= 8
                && !is_prose(value)
                && !(is_number && value.len() < 16)
                && (has_digit || value.len() >= 16 || !is_name)
        }
        (Style::Assigned, Kind::Password) => value.len() >= 4,
        (Style::Assigned, Kind::Token) => {
            value.len() >= 8
                && !(is_number && value.len() < 16)
                && (has_digit || value.len() >= 16 || !is_name)
        }
        (Style::Loose, _) if is_number => false,
        (Style::Loose, Kind::Password) => {
            value.len() >= 6 && (has_digit || !is_name || is_long_word(value))
        }
        (Style::Loose, Kind::Token) => value.len() >= 12 && is_random(value) || is_long_word(value),
        (Style::Spoken, Kind::Password) => value.len() >= 6 && has_digit && !is_number,
        (Style::Spoken, Kind::Token) => value.len() >= 16 && is_random(value),
    }
}

fn is_long_word(value: &str) -> bool {
    value.len() >= 24 && value.bytes().all(|b| b.is_ascii_lowercase())
}

/// Tells whether a bare value is an expression: a call, a path of names, a comparison.
fn looks_like_code(value: &str, style: Style) -> bool {
    if style == Style::Quoted {
        return false;
    }
    let called = value.find('(').is_some_and(|open| {
        let name = &value[..open];
        let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'!');
        name.bytes().all(part)
    });
    let dotted = style != Style::Assigned
        && value
            .bytes()
            .next()
            .is_some_and(|b| b.is_ascii_alphabetic())
        && (value.contains("::") || value.contains("->") || is_member(value));
    called || dotted || value.starts_with("=>") || value.starts_with("[[")
}

/// Tells whether a value is `a.b`, `a.b.c[0]`, `&a`, names with dots between them.
fn is_member(value: &str) -> bool {
    let mut parts = value.split('.');
    let is_name = |part: &str| {
        let start = part.bytes().next();
        start.is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
            && part.len() <= 30
            && part
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'[' | b'?' | b'!'))
    };
    value.contains('.') && parts.all(is_name)
}
