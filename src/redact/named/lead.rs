//! What leads from a name to its value: `=`, `:`, a call, a tag, a blank, `is`.

use std::ops::Range;

use super::{MAX_VALUE, apart};
use crate::clip::tail;
use crate::redact::value::each_word;

/// How much of a line before a name is looked at, in bytes.
pub(super) const MAX_LINE: usize = 200;
/// How many blanks may stand between a name and its value.
const MAX_GAP: usize = 40;
/// How long the attributes of a tag may be that has its value behind it.
const MAX_TAG: usize = 80;

/// How a value stands behind its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// In quotes.
    Quoted,
    /// `NAME=value`, a flag, a header: nothing but a value can stand there.
    Assigned,
    /// `name: value`, `name = value`: it may as well be code or prose.
    Loose,
    /// `setPassword("value")`, `password "value"`: in quotes, and it may as well be a label.
    Argument,
    /// `the password is value`.
    Spoken,
    /// `password   value`, `config set token value`: anything may follow a word.
    Bare,
}

/// What leads from a name to its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lead {
    /// Where the value, or its quote, can begin.
    pub(super) at: usize,
    pub(super) style: Style,
    /// Whether only a value in quotes counts.
    pub(super) needs_quotes: bool,
}

impl Lead {
    pub(super) fn new(at: usize, style: Style) -> Self {
        Self {
            at,
            style,
            needs_quotes: false,
        }
    }

    fn quoted(at: usize, style: Style) -> Self {
        Self {
            at,
            style,
            needs_quotes: true,
        }
    }
}

/// Finds what leads from a name to a value.
pub(super) fn after(text: &str, name: &Range<usize>) -> Option<Lead> {
    let bytes = text.as_bytes();
    let is_flag = name.start > 0 && bytes[name.start - 1] == b'-';
    let mut at = name.end;
    skip_shown(bytes, &mut at);
    let in_quotes = skip_quote(bytes, &mut at);
    if bytes.get(at) == Some(&b']') {
        at += 1;
    }
    let tight = at;
    skip_blanks(bytes, &mut at);
    let gap = at - tight;
    let mut lead = match bytes.get(at)? {
        sign if in_quotes
            && !matches!(sign, b':' | b'=')
            && let Some(lead) = apart::after(text, name, tight, in_quotes) =>
        {
            lead
        }
        b'=' if matches!(bytes.get(at + 1), Some(b'=' | b'~')) => return None,
        b'=' => {
            at += 1 + usize::from(bytes.get(at + 1) == Some(&b'>'));
            let is_tight = at == tight + 1 && !bytes.get(at).is_none_or(u8::is_ascii_whitespace);
            let style = if is_tight {
                Style::Assigned
            } else {
                Style::Loose
            };
            Lead::new(at, style)
        }
        b':' => after_colon(text, name, at)?,
        b'>' if in_quotes => Lead::new(element(bytes, at)?, Style::Spoken),
        b'>' if opens_tag(bytes, name) => Lead::new(element(bytes, at)?, Style::Assigned),
        // `("password", "…")`
        b',' if in_quotes => Lead::quoted(at + 1, Style::Argument),
        // `setPassword("…")`, `token{"…"}`
        b'(' if gap == 0 && !in_quotes && only_asks(&text[name.clone()]) => return None,
        b'(' | b'{' if gap == 0 && !in_quotes => Lead::quoted(at + 1, Style::Argument),
        b'|' if gap > 0 && bytes.get(at + 1) == Some(&b' ') => Lead::new(at + 1, Style::Loose),
        _ if let Some(at) = fallback(bytes, at) => Lead::quoted(at, Style::Quoted),
        _ if gap == 0 => return apart::after(text, name, tight, in_quotes),
        _ if is_flag => Lead::new(at, Style::Assigned),
        b'i' if text[at..].starts_with("is ") => Lead {
            needs_quotes: in_quotes,
            ..Lead::new(at + 3, Style::Spoken)
        },
        _ if opens_tag(bytes, name) => Lead::new(end_of_tag(bytes, at)?, Style::Assigned),
        b'"' | b'\'' => Lead::quoted(at, Style::Argument),
        _ if let Some(style) = set_by(text, name) => Lead::new(at, style),
        _ if gap > 1 || bytes[tight] == b'\t' => Lead::new(at, Style::Bare),
        _ if let Some(lead) = numbered(bytes, at) => lead,
        _ => Lead::new(at, bare(bytes, name, at)?),
    };
    skip_lead(bytes, &mut lead.at, lead.style);
    Some(lead)
}

/// What a colon leads to.
fn after_colon(text: &str, name: &Range<usize>, colon: usize) -> Option<Lead> {
    let bytes = text.as_bytes();
    let mut at = colon + 1;
    let is_expanded = text[..name.start].ends_with("${");
    match bytes.get(at) {
        Some(b':') => return None,
        // `"db_password": {"sensitive": true, "value": "…"}`
        Some(b'{' | b' ') if text[at..].trim_start_matches(' ').starts_with('{') => {
            return apart::carried(text, at).or(Some(Lead::new(at, Style::Loose)));
        }
        Some(b'?' | b'+') if is_expanded => return None,
        Some(b'-' | b'=') if is_expanded => return Some(Lead::new(at + 1, Style::Assigned)),
        _ => at += usize::from(bytes.get(at) == Some(&b'=')),
    }
    skip_type(bytes, &mut at);
    let name = &text[name.clone()];
    let is_upper = name.bytes().all(|b| !b.is_ascii_lowercase());
    let style = if (is_upper && name.len() > 5) || is_header(name) {
        Style::Assigned
    } else {
        Style::Loose
    };
    Some(Lead::new(at, style))
}

/// How the word behind a name and a blank stands there; most are of a sentence, which have
/// no digits.
fn bare(bytes: &[u8], name: &Range<usize>, at: usize) -> Option<Style> {
    let rest = bytes[at..].iter().take(MAX_VALUE);
    let word = rest.take_while(|b| !b.is_ascii_whitespace()).count();
    let ends_line = bytes.get(at + word).is_none_or(|b| *b == b'\n');
    let is_line = ends_line && (name.start == 0 || bytes[name.start - 1] == b'\n');
    let has_digit = bytes[at..at + word].iter().any(u8::is_ascii_digit);
    has_digit.then_some(if is_line { Style::Spoken } else { Style::Bare })
}

/// What `Key 1:` and `ID =` lead to when `Unseal` and `Secret` stand before them.
fn numbered(bytes: &[u8], mut at: usize) -> Option<Lead> {
    let rest = &bytes[at..];
    let digits = rest.iter().take(3).take_while(|b| b.is_ascii_digit());
    let length = match digits.count() {
        0 if rest.starts_with(b"ID") => 2,
        length @ 1..=2 => length,
        _ => return None,
    };
    at += length;
    skip_blanks(bytes, &mut at);
    matches!(bytes.get(at), Some(b':' | b'=')).then(|| Lead::new(at + 1, Style::Loose))
}

/// Returns where what is taken instead stands: `process.env.X || "…"`, `getenv("X") or '…'`.
fn fallback(bytes: &[u8], mut at: usize) -> Option<usize> {
    if bytes.get(at) == Some(&b')') {
        at += 1;
        skip_blanks(bytes, &mut at);
    }
    let rest = &bytes[at..];
    let instead: [&[u8]; 4] = [b"|| ", b"?? ", b"?: ", b"or "];
    instead
        .iter()
        .any(|i| rest.starts_with(i))
        .then_some(at + 3)
}

/// Tells whether a function by its name is given what it looks for, and no secret.
fn only_asks(name: &str) -> bool {
    const ASKING: [&str; 12] = [
        "get", "fetch", "read", "load", "find", "has", "is", "list", "delete", "remove", "require",
        "hash",
    ];
    let mut first = None;
    each_word(name, |word| {
        first.get_or_insert_with(|| ASKING.contains(&word));
    });
    first == Some(true)
}

/// Tells whether the name is an XML element's.
fn opens_tag(bytes: &[u8], name: &Range<usize>) -> bool {
    name.start > 0 && bytes[name.start - 1] == b'<'
}

/// Returns where the text of an element begins whose tag ends at `at`, and which is closed.
fn element(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..bytes.len().min(at + MAX_VALUE)];
    let closes = memchr::memchr(b'<', rest).is_some_and(|i| rest.get(i + 1) == Some(&b'/'));
    closes.then_some(at + 1)
}

/// The same for a tag whose attributes begin at `at`.
fn end_of_tag(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..bytes.len().min(at + MAX_TAG)];
    element(bytes, at + memchr::memchr(b'>', rest)?)
}

/// Tells whether a name is that of a header that carries a key.
fn is_header(name: &str) -> bool {
    let starts = name.bytes().next().is_some_and(|b| b.is_ascii_uppercase());
    let name = name.to_ascii_lowercase();
    name.starts_with("x-")
        || (starts && (name.ends_with("-key") || name.ends_with("-token")))
        || [
            "authorization",
            "proxy-authorization",
            "api-key",
            "private-token",
        ]
        .contains(&name.as_str())
}

/// Words after which a name is set to what follows it.
const SETTERS: &[&str] = &[
    "-gx",
    "-Ux",
    "-x",
    "--set",
    "add",
    "add-authtoken",
    "config",
    "configure",
    "connect",
    "local",
    "put",
    "set",
    "setx",
    "authtoken",
];

/// How what follows a name is set by a word before it: `ENV`, `config set`, `machine … login`.
fn set_by(text: &str, name: &Range<usize>) -> Option<Style> {
    let before = tail(&text[..name.start], MAX_LINE);
    // Behind what a shell prompts with.
    let command = last_line(before).trim_start_matches(['$', '%', '#', '>', ' ', '\t']);
    if matches!(command, "ENV " | "ARG " | "setenv ") || command.ends_with("_authToken ") {
        return Some(Style::Assigned);
    }
    // `machine M login L password P`, in one line or in three.
    let mut words = before
        .split([' ', '\t', '\n'])
        .rev()
        .filter(|w| !w.is_empty());
    let (user, login) = (words.next(), words.next());
    if login == Some("login")
        && words
            .take(2)
            .any(|w| w.ends_with("machine") || w == "default")
    {
        return (user.is_some() && &text[name.clone()] == "password").then_some(Style::Assigned);
    }
    let mut words = command.split([' ', '\t']).rev().filter(|w| !w.is_empty());
    let by = words.find(|word| !word.starts_with("//") && !word.ends_with(['/', ':']))?;
    let name = &text[name.clone()];
    let is_set = SETTERS.contains(&by) || SETTERS.contains(&name) || command.contains(" connect ");
    is_set.then_some(if by.starts_with('-') {
        Style::Assigned
    } else {
        Style::Spoken
    })
}

/// Returns what stands on the last line of a text; in JSON a line ends in an escape.
pub(super) fn last_line(text: &str) -> &str {
    let line = memchr::memrchr(b'\n', text.as_bytes()).map_or(0, |i| i + 1);
    let line = text.rfind("\\n").map_or(line, |i| line.max(i + 2));
    &text[line..]
}

pub(super) fn skip_blanks(bytes: &[u8], at: &mut usize) {
    let blanks = bytes[*at..].iter().take(MAX_GAP);
    *at += blanks.take_while(|b| matches!(b, b' ' | b'\t')).count();
}

/// Passes over what a prompt shows of the value that is there: `Secret Key [None]: `.
fn skip_shown(bytes: &[u8], at: &mut usize) {
    let rest = &bytes[*at..];
    if rest.starts_with(b" [")
        && let Some(length) = memchr::memchr(b']', &rest[..rest.len().min(MAX_GAP)])
        && rest.get(length + 1) == Some(&b':')
    {
        *at += length + 1;
    }
}

/// Passes over a closing quote, escaped or not; tells whether there was one.
pub(super) fn skip_quote(bytes: &[u8], at: &mut usize) -> bool {
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
/// before a quote.
fn skip_lead(bytes: &[u8], at: &mut usize, style: Style) {
    skip_blanks(bytes, at);
    let rest = &bytes[*at..];
    if matches!(style, Style::Quoted | Style::Assigned | Style::Loose) {
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
