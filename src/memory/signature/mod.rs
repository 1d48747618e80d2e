//! Tells whether two error texts are the same error in different places.
//!
//! A text is reduced to its headline (the one line that names the error) and that to
//! what does not depend on the place: paths, numbers, hashes, times and names become
//! placeholders, while numbers that name the error (`E0382`, `errno 13`, `HTTP 404`,
//! `signal 9`) stay. Pure, linear, and without a pattern engine: a hook uses it on every
//! failing tool call.

mod frames;
mod headline;
mod normal;
mod phrases;
mod stamps;
mod tokens;
mod words;

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::clip;

/// Bytes at the beginning of a text that are looked at; what follows is only looked at
/// when it belongs to the last [`TAIL`].
const HEAD: usize = 8 * 1024;
/// Bytes at the end of a text that are looked at.
const TAIL: usize = 16 * 1024;
/// Hexadecimal digits of a signature.
const DIGITS: usize = 16;

/// Names an error wherever it strikes: the first 16 hexadecimal digits of the SHA-256 of
/// `type:normalised text`.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct Signature(u64);

impl From<Signature> for String {
    fn from(signature: Signature) -> Self {
        signature.to_string()
    }
}

impl TryFrom<String> for Signature {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is no signature"))
    }
}

impl Signature {
    /// Computes the signature of an error of `error_type`, for a tool's error the tool's
    /// name (`Bash`).
    pub fn of(error_type: &str, text: &str) -> Self {
        Self::of_normalised(error_type, &Normalised::of(text))
    }

    /// As [`of`](Self::of), for a text that has been normalised already.
    pub fn of_normalised(error_type: &str, normalised: &Normalised) -> Self {
        Self(first_eight(&format!("{error_type}:{}", normalised.text)))
    }

    /// Reads what [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.len() == DIGITS
            && text
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        digits
            .then(|| u64::from_str_radix(text, 16).ok())
            .flatten()
            .map(Self)
    }

    /// The signature as a number, in the order of its text.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// The inverse of [`to_bits`](Self::to_bits).
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Returns the first 16 hexadecimal digits of the SHA-256 of `context`, by which lessons
/// from like contexts are told (spec/4, `context_hash`).
pub fn context_hash(context: &str) -> String {
    format!("{:016x}", first_eight(context))
}

fn first_eight(text: &str) -> u64 {
    let digest = Sha256::digest(text.as_bytes());
    digest
        .iter()
        .take(8)
        .fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// An error text without what depends on the place it happened in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Normalised {
    /// The headline, lower case, with `<x>` for names and `<n>` for numbers.
    pub text: String,
    /// What stood in the places of the names, in order; tells examples of one error apart.
    pub names: Vec<String>,
}

impl Normalised {
    /// Normalises an error text as a tool or the client reports it.
    pub fn of(text: &str) -> Self {
        let ends = ends(text);
        let plain = words::without_escapes(&ends);
        let lines: Vec<&str> = plain.lines().collect();
        let mut normalised = normal::normalise(&headline::choose(&lines));
        if !normalised
            .text
            .contains(|c: char| c.is_alphabetic() && c != 'x' && c != 'n')
        {
            // A headline of placeholders alone names nothing.
            normalised = normal::normalise(&headline::first_lines(&lines));
        }
        normalised
    }
}

/// The beginning and the end of a long text.
fn ends(text: &str) -> Cow<'_, str> {
    if text.len() <= HEAD + TAIL {
        return Cow::Borrowed(text);
    }
    let (head, tail) = (clip::head(text, HEAD), clip::tail(text, TAIL));
    Cow::Owned(format!("{head}\n{tail}"))
}
