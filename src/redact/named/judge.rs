//! Whether a value is a secret, by what its name promises and how it stands.

use super::lead::Style;
use super::name::Kind;
use crate::redact::said;
use crate::redact::value::{
    is_dated, is_label, is_opaque, is_placeholder, is_prose, is_random, is_stand_in, is_sum,
    is_uuid,
};

/// Tells whether a value is a secret.
pub(super) fn is_secret(value: &str, kind: Kind, style: Style) -> bool {
    // A key in PEM has a rule of its own, which sees its end.
    let is_constant = style != Style::Quoted && is_constant(value);
    let is_pem = value.starts_with("-----");
    if is_pem
        || is_constant
        || is_placeholder(value)
        || is_dated(value)
        || looks_like_code(value, style)
    {
        return false;
    }
    if kind != Kind::Password && is_stand_in(value) {
        return false;
    }
    let has_digit = value.bytes().any(|b| b.is_ascii_digit());
    let is_number = value.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let is_name = value
        .bytes()
        .all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'.' | b':' | b'-' | b'/'));
    let is_shape = is_sum(value) || is_uuid(value);
    match (style, kind) {
        (_, Kind::Opaque) => value.len() >= 20 && is_opaque(value) && !is_shape,
        (_, Kind::Id) => is_uuid(value) || (value.len() >= 20 && is_opaque(value)),
        (_, Kind::Beside) => value.len() >= 20 && is_random(value) && !is_uuid(value),
        (Style::Quoted, Kind::Password) => value.len() >= 4 && !is_prose(value) && !is_label(value),
        (Style::Assigned, Kind::Password) => {
            value.len() >= 4 && (has_digit || !said::is_word(value))
        }
        (Style::Quoted | Style::Assigned, Kind::Token) => {
            value.len() >= 8
                && !(style == Style::Quoted && (is_prose(value) || is_label(value)))
                && !(is_number && value.len() < 16)
                && (has_digit || value.len() >= 16 || !is_name)
        }
        (Style::Loose, _) if is_number => false,
        (Style::Loose, Kind::Password) => {
            value.len() >= 6 && !is_label(value) && (has_digit || !is_name || is_long_word(value))
        }
        (Style::Loose, Kind::Token) => value.len() >= 12 && is_random(value) || is_long_word(value),
        (Style::Argument, _) if value.contains(' ') => false,
        (Style::Spoken | Style::Argument, Kind::Password) => {
            value.len() >= 6 && has_digit && !is_number
        }
        (Style::Spoken | Style::Argument, Kind::Token) => value.len() >= 16 && is_random(value),
        (Style::Bare, Kind::Password) if is_mixed(value) => true,
        (Style::Bare, _) => is_opaque(value) && !is_shape,
    }
}

/// Tells whether a word is written as passwords are, and no name: `Hunter22x`.
fn is_mixed(value: &str) -> bool {
    let bytes = value.as_bytes();
    let pairs = || bytes.windows(2);
    value.len() >= 8
        && bytes.iter().all(u8::is_ascii_alphanumeric)
        && bytes.iter().any(u8::is_ascii_lowercase)
        && bytes.iter().any(u8::is_ascii_uppercase)
        && pairs().any(|two| two[0].is_ascii_digit() && two[1].is_ascii_digit())
        && !pairs().any(|two| two[0].is_ascii_uppercase() && two[1].is_ascii_uppercase())
}

/// Tells whether a bare value is a number as programs write it, or a constant's name.
fn is_constant(value: &str) -> bool {
    let hex = value
        .strip_prefix("0x")
        .filter(|hex| (1..=20).contains(&hex.len()));
    let digits = value
        .trim_start_matches('-')
        .trim_start_matches(|c: char| c.is_ascii_digit());
    let typed = digits
        .strip_prefix(['i', 'u', 'f'])
        .is_some_and(|bits| bits.len() <= 2 && bits.bytes().all(|b| b.is_ascii_digit()));
    let is_number =
        typed || hex.is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
    let letters = value.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    is_number || (letters && value.contains('_'))
}

fn is_long_word(value: &str) -> bool {
    value.len() >= 24 && value.bytes().all(|b| b.is_ascii_lowercase())
}

/// Tells whether a bare value is an expression: a call, a path of names, a comparison.
fn looks_like_code(value: &str, style: Style) -> bool {
    if matches!(style, Style::Quoted | Style::Argument) {
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
        && (value.contains("::") || value.contains("->") || is_member(value))
        && !is_opaque(value);
    let is_name = |part: &str| part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let is_path = value.contains("::") && value.trim_end_matches(';').split("::").all(is_name);
    called || dotted || is_path || value.starts_with("=>") || value.starts_with("[[")
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
