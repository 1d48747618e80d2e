//! What single words and lines of an error text are.

use std::borrow::Cow;

use super::stamps::without_stamp;

/// Removes terminal escapes, carriage returns and the client's wrapping tags.
pub(super) fn without_escapes(text: &str) -> Cow<'_, str> {
    let is_plain = |b: u8| matches!(b, b'\t' | b'\n' | b' '..=b'~');
    if text.bytes().all(is_plain) && !text.contains("tool_use_error>") {
        return Cow::Borrowed(text);
    }
    let text = text
        .replace("<tool_use_error>", "")
        .replace("</tool_use_error>", "");
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => {
                // `ESC [ … letter` sets colours and moves the cursor; others are one character.
                if chars.next() == Some('[') {
                    while chars.next().is_some_and(|c| !c.is_ascii_alphabetic()) {}
                }
            }
            '\r' => plain.push('\n'),
            '\u{200b}' | '\u{feff}' => {}
            c if c.is_control() && c != '\n' && c != '\t' => plain.push(' '),
            c => plain.push(c),
        }
    }
    Cow::Owned(plain)
}

/// A line without indentation, bullets, frames of boxes and the prefixes that tools put
/// before every line.
pub(super) fn bare(line: &str) -> &str {
    const BULLETS: &str = "│┃|╷╵└├─✖✗✘×●•▲⨯❌>*·$ \t";
    const PREFIXES: [&str; 7] = [
        "npm ERR! ",
        "npm error ",
        "[ERROR] ",
        "[error] ",
        "E   ",
        "ERROR:root:",
        "stderr: ",
    ];
    let mut line = without_stamp(line.trim().trim_start_matches(|c| BULLETS.contains(c)));
    while let Some(rest) = PREFIXES.iter().find_map(|p| line.strip_prefix(p)) {
        line = rest.trim_start();
    }
    // Such a prefix alone is an empty line.
    if PREFIXES.iter().any(|prefix| line == prefix.trim_end()) {
        return "";
    }
    line
}

/// The code of the line `Exit code 1` that the client puts first.
pub(super) fn exit_code(line: &str) -> Option<&str> {
    let code = line
        .strip_prefix("Exit code ")
        .or_else(|| line.strip_prefix("Error: Exit code "))?;
    code.bytes().all(|b| b.is_ascii_digit()).then_some(code)
}

/// A numbered line of source: `12 | let x`, or the marks under one.
pub(super) fn is_excerpt(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit() || c.is_whitespace());
    (rest.len() < line.len() && rest.starts_with('|'))
        || line.starts_with("-->")
        || line
            .chars()
            .all(|c| matches!(c, '^' | '~' | '-' | '=' | '+' | '_' | '.' | '|' | ' '))
}

/// A stack frame.
pub(super) fn is_frame(line: &str) -> bool {
    (line.starts_with("at ") && (line.contains('(') || line.contains(':')))
        || line.starts_with("File \"")
        || line.starts_with("goroutine ")
        || line.starts_with("stack backtrace")
        || line.starts_with("Require stack")
        || line.starts_with("from /")
}

/// A place and a message: `main.go:3:5: undefined: x`.
pub(super) fn starts_with_place(line: &str) -> bool {
    let Some((place, rest)) = line.split_once(": ") else {
        return false;
    };
    let mut parts = place.split(':');
    let file = parts.next().unwrap_or_default();
    !rest.is_empty()
        && file.contains('.')
        && !file.contains(' ')
        && parts
            .next()
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// `TypeError`, `java.lang.NullPointerException`, `std::io::Error`.
pub(super) fn is_error_name(word: &str) -> bool {
    const ENDS: [&str; 4] = ["Error", "Exception", "Panic", "Fault"];
    let last = word.rsplit(['.', ':', '\\', '$']).next().unwrap_or(word);
    last.chars().all(|c| c.is_alphanumeric() || c == '_')
        && (ENDS.iter().any(|end| last.ends_with(end)) || last == "error")
}

/// A type of Python's own, as its exceptions name it.
pub(super) fn is_builtin_type(word: &str) -> bool {
    const TYPES: [&str; 22] = [
        "NoneType",
        "bool",
        "builtin_function_or_method",
        "bytes",
        "bytearray",
        "complex",
        "coroutine",
        "dict",
        "float",
        "function",
        "generator",
        "int",
        "list",
        "method",
        "module",
        "object",
        "range",
        "set",
        "frozenset",
        "str",
        "tuple",
        "type",
    ];
    TYPES.contains(&word)
}

/// What a word becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It stays.
    Word,
    /// It names the error, though it has digits.
    Code,
    /// A count, a size, a time, an address: `<n>`.
    Number,
    /// A path, an identifier, a hash, a host: `<x>`.
    Name,
}

/// Tells what a word is by its shape alone.
pub(super) fn kind(word: &str) -> Kind {
    if word.is_empty() {
        return Kind::Word;
    }
    if is_code(word) {
        return Kind::Code;
    }
    if is_number(word) && !word.starts_with("0x") {
        return Kind::Number;
    }
    if is_error_name(word) && !word.contains('/') {
        return Kind::Word;
    }
    if is_name(word) {
        Kind::Name
    } else {
        Kind::Word
    }
}

/// `E0382`, `TS2345`, `ORA-00942`, `GHC-88464`, `42P01`.
fn is_code(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let rest = &word[letters..];
    let digits = rest.strip_prefix('-').unwrap_or(rest);
    let lettered = (1..=4).contains(&letters)
        && (2..=6).contains(&digits.len())
        && digits.bytes().all(|b| b.is_ascii_digit());
    let state = word.len() == 5
        && word.as_bytes()[0].is_ascii_digit()
        && word
            .bytes()
            .all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
        && word.bytes().any(|b| b.is_ascii_uppercase());
    lettered || state
}

/// Counts, versions, times, dates, durations, sizes, addresses with ports.
fn is_number(word: &str) -> bool {
    const UNITS: [&str; 24] = [
        "", "s", "ms", "us", "µs", "ns", "m", "min", "h", "d", "b", "kb", "mb", "gb", "tb", "kib",
        "mib", "gib", "k", "x", "px", "th", "z", "%",
    ];
    let word = word.trim_start_matches(['-', '+', '#', '~', '=', '<']);
    let word = word.strip_prefix('v').unwrap_or(word);
    if let Some(port) = word.strip_prefix("localhost") {
        return port.chars().all(|c| c == ':' || c.is_ascii_digit());
    }
    let is_part =
        |c: char| c.is_ascii_digit() || matches!(c, '.' | ':' | ',' | '-' | '+' | '/' | '_');
    if !word.bytes().any(|b| b.is_ascii_digit()) || !word.starts_with(|c: char| is_part(c)) {
        return false;
    }
    let end = word.trim_end_matches(is_part);
    let unit = end.trim_start_matches(is_part);
    // `2026-01-05T12:00:00Z`: the `T` stands between two runs of digits.
    UNITS.contains(&unit.to_lowercase().as_str())
        || unit.strip_prefix('T').is_some_and(|rest| {
            rest.trim_matches(|c: char| is_part(c) || c == 'Z')
                .is_empty()
        })
        || is_hex_address(word)
}

/// `::1`, `fe80::1:3000`.
fn is_hex_address(word: &str) -> bool {
    word.contains("::")
        && word
            .bytes()
            .all(|b| b.is_ascii_hexdigit() || b == b':' || b == b'.')
}

fn is_name(word: &str) -> bool {
    let has = |f: fn(char) -> bool| word.chars().any(f);
    let digits = has(|c| c.is_ascii_digit());
    let lower = has(char::is_lowercase);
    let upper = has(char::is_uppercase);
    if word == "I/O" || word == "N/A" {
        return false;
    }
    let symbol = word.contains(['/', '\\', '@', '~', '#', '$'])
        || ["::", "<=", ">=", "=="].iter().any(|s| word.contains(s));
    // A dot inside a word; a sentence's last dot is gone by now.
    let dotted = word.contains('.');
    let flag = word.starts_with('-') && word.len() > 1;
    let hex = word.len() >= 7 && digits && word.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    let address = word.starts_with("0x") && word.len() > 2;
    let random = word.len() >= 16 && digits && lower && upper;
    let snake = word.contains('_') && (lower || !is_failure_constant(word));
    let camel = word.starts_with(char::is_lowercase) && upper;
    let by_shape = symbol || dotted || flag || hex || address || random || snake || camel;
    by_shape || is_generated(word) || is_line_of_file(word)
}

/// `api-7d9f8c6b5-x2x9k`: a part of it changes between letters and digits more than once.
fn is_generated(word: &str) -> bool {
    let changes = |part: &str| {
        let digits: Vec<bool> = part.bytes().map(|b| b.is_ascii_digit()).collect();
        digits.windows(2).filter(|pair| pair[0] != pair[1]).count()
    };
    word.contains('-') && word.split('-').any(|part| changes(part) > 1)
}

/// `Makefile:3`.
fn is_line_of_file(word: &str) -> bool {
    word.rsplit_once(':').is_some_and(|(file, line)| {
        let is_number = !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit());
        is_number && file.starts_with(char::is_alphabetic)
    })
}

/// `ERR_MODULE_NOT_FOUND`, `PERMISSION_DENIED`: upper case that names an error, not a
/// variable.
fn is_failure_constant(word: &str) -> bool {
    const PARTS: [&str; 17] = [
        "ERR",
        "FAIL",
        "DENIED",
        "NOT_",
        "INVALID",
        "EXCEEDED",
        "EXHAUSTED",
        "TIMEOUT",
        "TIMED",
        "REFUSED",
        "UNKNOWN",
        "EXCEPTION",
        "UNAVAILABLE",
        "UNAUTHENTICATED",
        "PRECONDITION",
        "CONFLICT",
        "STATUS_",
    ];
    PARTS.iter().any(|part| word.contains(part))
}

/// Words after which a number names an error.
pub(super) fn announces_a_code(word: &str) -> bool {
    const WORDS: [&str; 13] = [
        "errno", "error", "status", "code", "signal", "http", "exit", "exited", "rc", "hresult",
        "sqlstate", "returned", "response",
    ];
    WORDS.contains(&word)
}

/// A status of HTTP that tells of an error.
pub(super) fn is_http_failure(word: &str) -> bool {
    word.len() == 3 && word.starts_with(['4', '5']) && word.bytes().all(|b| b.is_ascii_digit())
}

/// Words that follow an HTTP status: `404 Not Found`.
pub(super) fn follows_a_status(word: &str) -> bool {
    const WORDS: [&str; 20] = [
        "not",
        "unauthorized",
        "forbidden",
        "bad",
        "internal",
        "service",
        "gateway",
        "too",
        "conflict",
        "client",
        "server",
        "gone",
        "method",
        "request",
        "payload",
        "unprocessable",
        "precondition",
        "payment",
        "unsupported",
        "proxy",
    ];
    WORDS.contains(&word)
}
