//! Where the secrets of a text stand, and the text without them.

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use std::sync::LazyLock;

use super::private::{self, Unclosed};
use super::rule::Ready;
use super::rules;
use crate::phrases::Phrases;

/// What `<private>…</private>` counts as.
pub(super) const PRIVATE: &str = "private";
/// How the note begins that stands for a secret.
pub(super) const NOTE: &str = "[masked ";
/// The owner of the keyword of private parts; no rule has this number.
const PRIVATE_OWNER: u16 = u16::MAX;

/// A secret: where it stands, and the rule that knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span<'r> {
    pub(super) range: Range<usize>,
    pub(super) id: &'r str,
}

/// The rules, ready to be tried.
struct Table {
    keywords: Phrases,
    rules: Vec<Ready>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let keywords = (0..).zip(rules::all()).flat_map(|(owner, rule)| {
        let keywords = rule.keywords.iter();
        keywords.map(move |keyword| (*keyword, owner))
    });
    Table {
        keywords: Phrases::numbered(keywords.chain([("<private>", PRIVATE_OWNER)])),
        rules: rules::all().map(Ready::new).collect(),
    }
});

/// Finds the secrets of a text, in no order; they may overlap.
pub(super) fn of(text: &str, unclosed: Unclosed) -> Vec<Span<'static>> {
    let table = &*TABLE;
    let mut spans = Vec::new();
    let mut is_private = false;
    let _: Option<()> = table.keywords.search(text.as_bytes(), |owner, at, end| {
        let Some(ready) = table.rules.get(usize::from(owner)) else {
            is_private = true;
            return ControlFlow::Continue(0);
        };
        ControlFlow::Continue(ready.look(text, at..end, &mut |range| {
            spans.push(Span {
                range,
                id: ready.rule.id,
            });
        }))
    });
    if is_private {
        private::each(text, unclosed, |range| {
            spans.push(Span { range, id: PRIVATE });
        });
    }
    spans
}

/// How often a text is masked anew that a mask has changed.
const MAX_PASSES: usize = 8;

/// What a text becomes in which each mask uncovers a secret anew: nobody writes that, and
/// nothing of it can be trusted.
const UNSETTLED: &str = "[masked text]";

/// Masks a text until nothing more is found: what was taken out can have stood between a
/// name and its secret.
pub(super) fn settled<'t>(
    text: &'t str,
    mut mask: impl for<'a> FnMut(&'a str) -> Cow<'a, str>,
) -> Cow<'t, str> {
    let mut settled = match mask(text) {
        Cow::Borrowed(text) => return Cow::Borrowed(text),
        Cow::Owned(masked) => masked,
    };
    for _ in 1..MAX_PASSES {
        match mask(&settled) {
            Cow::Borrowed(_) => return Cow::Owned(settled),
            Cow::Owned(next) => settled = next,
        }
    }
    Cow::Owned(UNSETTLED.to_owned())
}

/// Writes a note in place of each span; tells `counted` of each note.
pub(super) fn masked<'t>(
    text: &'t str,
    spans: &[Span<'_>],
    mut counted: impl FnMut(&str),
) -> Cow<'t, str> {
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for Span { range, id } in in_order(spans) {
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

/// The spans in order; those that overlap are one, by the name of the first and longest.
fn in_order<'r>(spans: &[Span<'r>]) -> Vec<Span<'r>> {
    let mut spans = spans.to_vec();
    spans.sort_by_key(|span| (span.range.start, std::cmp::Reverse(span.range.end)));
    let mut joined: Vec<Span<'_>> = Vec::with_capacity(spans.len());
    for span in spans.into_iter().filter(|span| !span.range.is_empty()) {
        match joined.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                last.range.end = last.range.end.max(span.range.end);
            }
            _ => joined.push(span),
        }
    }
    joined
}
