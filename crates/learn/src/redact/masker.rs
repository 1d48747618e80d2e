//! The rules as the user has set them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use regex_automata::meta::BuildError;
use serde_json::Value;

use super::private::Unclosed;
use super::rule::SecretRule;
use super::table::{self, MaskSpan};
use super::value::off_escapes;
use crate::clip::boundary_before;

/// The number of secrets that each rule masked.
pub type Counts = BTreeMap<String, u64>;

const MAX_PATTERNS: usize = 100;
/// The beginning of the note that replaces a secret.
const NOTE: &str = "[masked ";
/// The number of times that a masked text is masked again.
const MAX_PASSES: usize = 8;
/// The number of line breaks and of blanks that are tried as places to cut at.
const MAX_CUTS: usize = 1_000;
/// A name is at most so far before its secret, in bytes.
const NAME_BYTES: usize = 200;
/// Replaces a text in which each of these masks uncovered another secret: no part of it can be
/// trusted.
const UNSETTLED: &str = "[masked text]";

/// Masks secrets: the built-in rules less those switched off, and the user's own patterns.
///
/// Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Masker(Arc<MaskSettings>);

#[derive(Debug, Default)]
struct MaskSettings {
    /// The built-in rules that are not tried.
    off: Vec<&'static str>,
    own: Vec<SecretRule>,
}

/// The reason why a setting cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The pattern is no regular expression, or too large a one.
    #[error("could not use pattern {0} of `secrets.patterns`: {1}")]
    Broken(usize, String),
    /// The pattern matches the empty text, hence everywhere.
    #[error("could not use pattern {0} of `secrets.patterns`: it matches the empty text")]
    Empty(usize),
    #[error("could not use `secrets.patterns`: more than {MAX_PATTERNS}")]
    TooMany,
}

impl Masker {
    /// Prepares the built-in rules without those in `off`, and the user's own `patterns`. Of a
    /// match the first group is masked, else all of it. A name in `off` that no rule has is
    /// ignored, as an update may remove a rule; [`Self::unknown_rules`] returns such names.
    pub fn new(patterns: &[String], off: &[String]) -> Result<Self, PatternError> {
        if patterns.len() > MAX_PATTERNS {
            return Err(PatternError::TooMany);
        }
        let own = (1..).zip(patterns).map(own_rule);
        Ok(Self(Arc::new(MaskSettings {
            off: table::ids()
                .into_iter()
                .filter(|id| off.iter().any(|name| name == id))
                .collect(),
            own: own.collect::<Result<_, _>>()?,
        })))
    }

    /// Returns why patterns of the user's cannot be used.
    pub fn flaws(patterns: &[String]) -> Vec<PatternError> {
        if patterns.len() > MAX_PATTERNS {
            return vec![PatternError::TooMany];
        }
        let flaws = (1..).zip(patterns).filter_map(|one| own_rule(one).err());
        flaws.collect()
    }

    /// Returns the names among `off` that no built-in rule has.
    pub fn unknown_rules(off: &[String]) -> Vec<&str> {
        let known = table::ids();
        let names = off.iter().map(String::as_str);
        names.filter(|name| !known.contains(name)).collect()
    }

    /// Returns `text` without its secrets.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.masked(text, Unclosed::ToEnd, |_| {})
    }

    /// Masks all texts of a value. Returns true if there was anything to mask.
    pub fn mask_value(&self, value: &mut Value) -> bool {
        let mut any = false;
        match value {
            Value::String(text) => {
                let masked = self.mask(text).into_owned();
                any = masked != *text;
                *text = masked;
            }
            Value::Array(items) => {
                for item in items {
                    any |= self.mask_value(item);
                }
            }
            Value::Object(object) => {
                for item in object.values_mut() {
                    any |= self.mask_value(item);
                }
            }
            _ => {}
        }
        any
    }

    /// Returns true if one of the user's own patterns finds something: hooks do not know those.
    pub fn own_finds(&self, text: &str) -> bool {
        self.0.own.iter().any(|rule| rule.is_match(text))
    }

    /// Returns the same as [`Self::mask`], and counts what each rule masked.
    pub(crate) fn mask_counting<'t>(&self, text: &'t str, counts: &mut Counts) -> Cow<'t, str> {
        self.masked(text, Unclosed::ToEnd, |id| {
            *counts.entry(id.to_owned()).or_default() += 1;
        })
    }

    /// Masks a text in JSON, which stays JSON.
    pub fn mask_json<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.masked(text, Unclosed::ToQuote, |_| {})
    }

    /// Masks a text up to a place at or before `wanted` at which it can be cut in two that are
    /// masked apart: in no secret, and not between one and its name. It is after a line break where
    /// there is one, else after a secret, else after a blank. Returns that place, or None where all
    /// of the text is within a private part that is still open.
    pub(super) fn mask_part(
        &self,
        text: &str,
        wanted: usize,
        counts: &mut Counts,
    ) -> (String, Option<usize>) {
        let mut counted = |id: &str| *counts.entry(id.to_owned()).or_default() += 1;
        let mut spans = self.spans(text, Unclosed::ToEnd);
        let cut = safe_cut(text, wanted, &spans);
        let end = cut.unwrap_or(text.len());
        spans.retain(|span| span.range.start < end);
        for span in &mut spans {
            span.range.end = span.range.end.min(end);
        }
        let once = masked(&text[..end], spans, &mut counted).into_owned();
        let settled = settled(&once, |text| {
            masked(text, self.spans(text, Unclosed::ToEnd), &mut counted)
        });
        (settled.into_owned(), cut)
    }

    fn spans<'s>(&'s self, text: &str, unclosed: Unclosed) -> Vec<MaskSpan<'s>> {
        let MaskSettings { off, own } = &*self.0;
        let mut spans: Vec<MaskSpan<'_>> = table::find(text, unclosed, off);
        for rule in own {
            let id = &*rule.id;
            rule.find(text, &[0], &mut |range| spans.push(MaskSpan { range, id }));
        }
        spans
    }

    fn masked<'t>(
        &self,
        text: &'t str,
        unclosed: Unclosed,
        mut counted: impl FnMut(&str),
    ) -> Cow<'t, str> {
        settled(text, |text| {
            masked(text, self.spans(text, unclosed), &mut counted)
        })
    }
}

/// Returns the place at which [`Masker::mask_part`] cuts a text.
fn safe_cut(text: &str, wanted: usize, spans: &[MaskSpan<'_>]) -> Option<usize> {
    let is_all = |span: &MaskSpan<'_>| span.range == (0..text.len());
    if spans
        .iter()
        .any(|span| is_all(span) && span.id == table::PRIVATE)
    {
        return None;
    }
    let spans: Vec<&Range<usize>> = spans.iter().map(|span| &span.range).collect();
    let is_in_none = |cut: &usize| !spans.iter().any(|s| s.start < *cut && *cut < s.end);
    let is_behind_no_name = |cut: &usize| !spans.iter().any(|s| within(s.start, *cut));
    let is_far = |cut: &usize| *cut > wanted / 2;
    let after = |byte| {
        let found = memchr::memrchr_iter(byte, &text.as_bytes()[..wanted]);
        let cuts = found.map(|at| at + 1).take_while(is_far);
        cuts.take(MAX_CUTS).filter(is_in_none)
    };
    // Behind the separator that follows, so that no closing quotation mark opens the rest.
    let separator = |from: usize| {
        let mut near = text.as_bytes()[from..wanted].iter().take(NAME_BYTES);
        near.position(|byte| b" ,;&".contains(byte))
    };
    let ends = spans.iter().filter(|span| span.end < wanted);
    let ends = ends.filter_map(|span| Some(span.end + separator(span.end)? + 1));
    let mut ends: Vec<usize> = ends.filter(is_far).collect();
    ends.sort_unstable_by(|a, b| b.cmp(a));
    let cut = after(b'\n').next();
    let cut = cut.or_else(|| ends.into_iter().find(is_in_none));
    let cut = cut.or_else(|| after(b' ').find(is_behind_no_name));
    let begun = spans.iter().filter(|s| s.start < wanted && wanted < s.end);
    let begun = begun
        .map(|span| span.start)
        .filter(|start| *start > 0)
        .min();
    let cut = cut.or(begun);
    Some(boundary_before(text, cut.unwrap_or(wanted)))
}

/// Returns `true` if the name of a secret that begins at `start` may reach over `cut`.
fn within(start: usize, cut: usize) -> bool {
    (cut..cut + NAME_BYTES).contains(&start)
}

/// Masks a text until nothing more is found: a secret can be between a name and another secret.
fn settled<'t>(
    text: &'t str,
    mut mask: impl for<'a> FnMut(&'a str) -> Cow<'a, str>,
) -> Cow<'t, str> {
    let mut settled = Cow::Borrowed(text);
    for _ in 0..MAX_PASSES {
        settled = match mask(&settled) {
            Cow::Borrowed(_) => return settled,
            Cow::Owned(next) => Cow::Owned(next),
        };
    }
    Cow::Owned(UNSETTLED.to_owned())
}

/// Writes a note in place of each span, and calls `counted` with the rule of each.
fn masked<'t>(
    text: &'t str,
    spans: Vec<MaskSpan<'_>>,
    mut counted: impl FnMut(&str),
) -> Cow<'t, str> {
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for MaskSpan { range, id } in united(spans) {
        let range = off_escapes(text, range);
        out.push_str(&text[from..range.start]);
        out.push_str(NOTE);
        out.push_str(id);
        out.push(']');
        counted(id);
        from = range.end;
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// Returns the spans in order. Those that overlap are joined under the name of the first and
/// longest.
fn united(mut spans: Vec<MaskSpan<'_>>) -> Vec<MaskSpan<'_>> {
    spans.sort_by_key(|span| (span.range.start, std::cmp::Reverse(span.range.end)));
    let mut united: Vec<MaskSpan<'_>> = Vec::with_capacity(spans.len());
    for span in spans {
        match united.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                last.range.end = last.range.end.max(span.range.end);
            }
            _ => united.push(span),
        }
    }
    united
}

/// Makes a rule of one of the user's own patterns and its number.
fn own_rule((number, pattern): (usize, &String)) -> Result<SecretRule, PatternError> {
    let rule = SecretRule::own(format!("own-{number}"), pattern);
    let rule = rule.map_err(|e| PatternError::Broken(number, reason(&e)))?;
    let is_empty = rule.is_match("");
    (!is_empty)
        .then_some(rule)
        .ok_or(PatternError::Empty(number))
}

/// Returns the last line of an error, which names the fault and not the pattern.
fn reason(error: &BuildError) -> String {
    let syntax = error.syntax_error().map(ToString::to_string);
    let text = syntax.unwrap_or_else(|| error.to_string());
    let line = text.lines().last().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn list(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn own_patterns_mask_their_group_or_all_of_it() {
        let masker = Masker::new(&list(&["ACME-[0-9]{4}", "pin is ([0-9]+)"]), &[]).unwrap();
        let mut counts = Counts::new();
        let text = masker.mask_counting("ACME-1234, pin is 99, ACME-5678", &mut counts);
        assert_eq!(
            text,
            "[masked own-1], pin is [masked own-2], [masked own-1]"
        );
        assert_eq!((counts["own-1"], counts["own-2"]), (2, 1));
    }

    #[rstest]
    #[case::address("url-password", "http://me:s3cret!@h")]
    #[case::value("secret", "client_secret = 'kX9!aa_bb-cc'")]
    #[case::variable("env-secret", "DB_PASSWORD=hunter2")]
    #[case::password("password", "{\"password\": \"hunter2\"}")]
    #[case::flag("flag-secret", "deploy --password hunter2 x")]
    #[case::header("authorization", "Authorization: Token abcdef123456")]
    #[case::pipe("piped-password", "echo IequWr8 | sudo -S ls")]
    #[case::pgpass("pgpass", "db.a.io:5432:app:app:G972Lxru\n")]
    fn a_rule_is_switched_off_by_its_name(#[case] name: &str, #[case] text: &str) {
        let masker = Masker::new(&[], &list(&[name])).unwrap();
        assert_eq!(masker.mask(text), text);
        assert_ne!(Masker::default().mask(text), text);
    }

    #[test]
    fn a_rule_that_has_gone_may_stay_switched_off() {
        let off = list(&["no-such", "jwt"]);
        assert!(Masker::new(&[], &off).is_ok());
        assert_eq!(Masker::unknown_rules(&off), ["no-such"]);
    }

    #[rstest]
    #[case::broken(&["("], "pattern 1")]
    #[case::second(&["a", "[z"], "pattern 2")]
    #[case::empty(&["a*"], "empty text")]
    #[case::huge(&["(\\w{900}){900}"], "pattern 1")]
    fn a_wrong_pattern_is_named(#[case] patterns: &[&str], #[case] named: &str) {
        let error = Masker::new(&list(patterns), &[]).unwrap_err();
        assert!(error.to_string().contains(named), "{error}");
    }
}
