//! One kind of secret and the search for it.

use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::meta::{self, BuildError, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::captures::Captures;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};
use serde::Deserialize;

use super::table;
use super::value::{self, Open, Quote};
use crate::clip::{boundary_after, boundary_before, tail};

/// The largest size of a compiled pattern.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// The part of a line before a value in which quotation marks are counted.
const LINE_BYTES: usize = 1_024;
/// The part of a secret from which its entropy is computed.
const HEAD_BYTES: usize = 160;

/// One kind of secret. The built-in ones are in `data/secrets.toml`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct SecretRule {
    /// The name in notes, counts and settings.
    #[serde(skip)]
    pub(super) id: String,
    /// The pattern is tried where one of these is found, in either case.
    #[serde(default)]
    pub(super) keywords: Vec<String>,
    /// The pattern of a secret; its first group that matched is masked, else all of it. The rules of
    /// names have none.
    #[serde(default)]
    regex: String,
    /// Set where the pattern ends, or has an empty group, before the value that is masked.
    #[serde(default)]
    value: bool,
    #[serde(default)]
    place: MaskPlace,
    /// The part of a text behind a keyword that the pattern is shown, in bytes. A token that goes on
    /// beyond it is masked whole.
    #[serde(default = "ahead")]
    ahead: usize,
    /// A text of fewer bits per byte is no secret.
    #[serde(default = "entropy_limit")]
    entropy: f64,
    /// Patterns of what is no secret for this rule.
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    proof: SecretProof,
    /// The pattern, compiled on first use.
    #[serde(skip)]
    compiled: OnceLock<Option<Compiled>>,
}

fn ahead() -> usize {
    256
}

fn entropy_limit() -> f64 {
    2.5
}

/// The part of a text in which a pattern is tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum MaskPlace {
    #[default]
    Keyword,
    /// Anywhere up to so many bytes before and behind the keyword.
    Near(usize),
}

/// The evidence that makes a match a secret.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SecretProof {
    /// The match alone, as the user's own patterns have it.
    #[serde(skip)]
    Match,
    #[default]
    Shape,
    /// The text around it, whatever it looks like, so that placeholders have to be excepted.
    Place,
}

#[derive(Debug)]
pub(super) struct Compiled {
    regex: Regex,
    allow: Option<Regex>,
}

/// A pattern of the table, compiled on first use. An empty one matches anything.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "String")]
pub(super) struct Pattern(String, OnceLock<Option<Regex>>);

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self(text, OnceLock::new())
    }
}

impl Pattern {
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    fn regex(&self) -> Option<&Regex> {
        self.1.get_or_init(|| short(&[&self.0])).as_ref()
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    /// Returns the end of a match at the beginning of a text.
    pub(super) fn end(&self, text: &str) -> Option<usize> {
        let input = Input::new(text).anchored(Anchored::Yes);
        let end = self.regex()?.search(&input)?.end();
        Some(boundary_before(text, end))
    }
}

impl SecretRule {
    /// Makes a rule of one of the user's own patterns.
    pub(super) fn own(id: String, pattern: &str) -> Result<Self, Box<BuildError>> {
        let regex = compile(pattern, syntax::Config::new())?;
        Ok(Self {
            id,
            regex: pattern.to_owned(),
            place: MaskPlace::Near(usize::MAX),
            proof: SecretProof::Match,
            compiled: OnceLock::from(Some(Compiled { regex, allow: None })),
            ..Self::default()
        })
    }

    /// Returns true if the pattern matches anything in `text`.
    pub(super) fn is_match(&self, text: &str) -> bool {
        self.compiled().is_some_and(|c| c.regex.is_match(text))
    }

    /// Calls `found` with each secret around the keywords that begin at `places`, in order.
    pub(super) fn find(&self, text: &str, places: &[usize], found: &mut dyn FnMut(Range<usize>)) {
        let Some(compiled) = self.compiled() else {
            return;
        };
        let mut captures = compiled.regex.create_captures();
        let mut search = |input: &Input<'_>, offset: usize| {
            compiled.regex.search_captures(input, &mut captures);
            let (whole, mut secret) = secret(&captures)?;
            if self.value {
                let end = if secret == whole {
                    whole.end
                } else {
                    secret.start
                };
                let lead = whole.start + offset..boundary_after(text, end + offset);
                let value = value_behind(text, lead);
                secret = value.start - offset..value.end - offset;
            }
            // A pattern of bytes may end within a character; all of that is masked.
            let end = boundary_after(text, whole.end.max(secret.end) + offset);
            let mut secret = boundary_before(text, secret.start + offset)
                ..boundary_after(text, secret.end + offset);
            let is_secret = !secret.is_empty() && self.accepts(compiled, &text[secret.clone()]);
            let is_cut = !self.value && whole.end == input.end() && secret.end == end;
            if is_secret && is_cut && self.proof != SecretProof::Match {
                secret.end += value::token(&text[end..]);
            }
            Some((end.max(secret.end), secret, is_secret))
        };
        match self.place {
            MaskPlace::Keyword => {
                let mut done = 0;
                for &start in places {
                    if start < done {
                        continue;
                    }
                    // After an escape such as `\n`, as JSON within JSON has it, a word begins.
                    let offset = if follows_escape(text, start) {
                        start
                    } else {
                        0
                    };
                    let ahead = text.len().min(start + self.ahead);
                    let input = Input::new(&text[offset..])
                        .range(start - offset..ahead - offset)
                        .anchored(Anchored::Yes);
                    if let Some((end, secret, is_secret)) = search(&input, offset) {
                        // A match by shape is one token; behind a place another can begin.
                        if self.proof == SecretProof::Shape {
                            done = end;
                        }
                        if is_secret {
                            found(secret);
                        }
                    }
                }
            }
            MaskPlace::Near(reach) => {
                for window in windows(places, reach, text.len()) {
                    each(text, window, &mut search, found);
                }
            }
        }
    }

    fn accepts(&self, compiled: &Compiled, secret: &str) -> bool {
        let head = &secret[..boundary_before(secret, HEAD_BYTES)];
        let is_allowed = |regex: &Regex| regex.is_match(head);
        let is_stand_in = match self.proof {
            SecretProof::Match => false,
            SecretProof::Shape => table::is_filler(head),
            SecretProof::Place => value::is_placeholder(head) || value::is_stock_word(head),
        };
        (self.proof == SecretProof::Place || entropy(head.as_bytes()) >= self.entropy)
            && !is_stand_in
            && !compiled.allow.as_ref().is_some_and(is_allowed)
    }

    fn compiled(&self) -> Option<&Compiled> {
        let compiled = self.compiled.get_or_init(|| self.compile().ok());
        compiled.as_ref()
    }

    pub(super) fn compile(&self) -> Result<Compiled, Box<BuildError>> {
        let allow = (!self.allow.is_empty()).then(|| any_of(&self.allow));
        Ok(Compiled {
            regex: bytes(&self.regex)?,
            allow: allow.transpose()?,
        })
    }
}

/// Compiles a pattern of the table: over bytes, as its secrets are ASCII.
fn bytes(pattern: &str) -> Result<Regex, Box<BuildError>> {
    compile(pattern, syntax::Config::new().unicode(false).utf8(false))
}

/// Compiles several patterns into one that matches where any of them does.
pub(super) fn any_of(patterns: &[String]) -> Result<Regex, Box<BuildError>> {
    bytes(&format!("(?:{})", patterns.join(")|(?:")))
}

/// Compiles patterns for short texts, where the first that matches counts. Skips the tables that
/// speed up long texts, which halves the time.
pub(super) fn short<P: AsRef<str>>(patterns: &[P]) -> Option<Regex> {
    let mut builder = meta::Builder::new();
    let config = meta::Config::new().utf8_empty(false).auto_prefilter(false);
    let config = config
        .which_captures(WhichCaptures::Implicit)
        .onepass(false);
    builder
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .configure(config);
    builder.build_many(patterns).ok()
}

fn compile(pattern: &str, syntax: syntax::Config) -> Result<Regex, Box<BuildError>> {
    let limits = meta::Config::new().nfa_size_limit(Some(MAX_COMPILED_BYTES));
    let mut builder = meta::Builder::new();
    builder.syntax(syntax).configure(limits.utf8_empty(false));
    builder.build(pattern).map_err(Box::new)
}

/// Returns the range of a match and the range of the secret in it.
fn secret(captures: &Captures) -> Option<(Range<usize>, Range<usize>)> {
    let whole = captures.get_match()?.range();
    let group = (1..captures.group_len()).find_map(|group| captures.get_group(group));
    let secret = group.map_or(whole.clone(), |group| group.range());
    Some((whole, secret))
}

/// Calls `found` with each secret in a part of a text.
fn each(
    text: &str,
    part: Range<usize>,
    search: &mut impl FnMut(&Input<'_>, usize) -> Option<(usize, Range<usize>, bool)>,
    found: &mut dyn FnMut(Range<usize>),
) {
    let mut from = part.start;
    while from < part.end {
        let input = Input::new(text).range(from..part.end);
        let Some((end, secret, is_secret)) = search(&input, 0) else {
            return;
        };
        // The end of one match may be the beginning of the next secret.
        from = if secret.is_empty() { end } else { secret.end }.max(from + 1);
        if is_secret {
            found(secret);
        }
    }
}

/// Returns the parts of a text around places; those that overlap are joined.
fn windows(places: &[usize], reach: usize, length: usize) -> Vec<Range<usize>> {
    let mut windows: Vec<Range<usize>> = Vec::new();
    for &at in places {
        let window = at.saturating_sub(reach)..length.min(at.saturating_add(reach));
        match windows.last_mut() {
            Some(last) if window.start <= last.end => last.end = window.end,
            _ => windows.push(window),
        }
    }
    windows
}

/// Returns the word or quoted text behind a lead, which may have opened a quotation mark.
fn value_behind(text: &str, lead: Range<usize>) -> Range<usize> {
    let from = lead.end;
    let line = from - tail(&text[..from], LINE_BYTES).len();
    let line =
        memchr::memrchr(b'\n', &text.as_bytes()[line..from]).map_or(line, |at| line + at + 1);
    let open_in = |part| {
        let mut open = Open::default();
        open.read(text, part);
        open
    };
    let around = open_in(line..from);
    let limit = around.close(text, from, value::line_end(text, from));
    if let Some((quote, start)) = Quote::at(text, from) {
        let (value, _) = quote.content(text, start, limit);
        if around.0.contains(&quote) || quote.is_command(&text[value]) {
            return from..from;
        }
    }
    let is_inner = open_in(boundary_after(text, lead.start)..from).0.is_empty();
    let word = value::word(text, from, limit, b"|<>;&)");
    if word.start > from {
        word
    } else if is_inner {
        value::trimmed(text, word)
    } else {
        from..limit
    }
}

/// Returns true if the two bytes before a place are `\n`, `\r` or `\t` as JSON writes them.
fn follows_escape(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    at >= 2 && bytes[at - 2] == b'\\' && matches!(bytes[at - 1], b'n' | b'r' | b't')
}

/// Returns Shannon's entropy of a text, in bits per byte.
fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u16; 256];
    for byte in text {
        counts[usize::from(*byte)] += 1;
    }
    let length = f64::from(u16::try_from(text.len()).unwrap_or(u16::MAX));
    let shares = counts.iter().filter(|count| **count > 0);
    let bits = shares.map(|count| f64::from(*count) / length);
    -bits.map(|share| share * share.log2()).sum::<f64>()
}
