//! Writes a text without its secrets.

use std::borrow::Cow;

use super::table::MaskSpan;

/// The beginning of the note that replaces a secret.
const NOTE: &str = "[masked ";
/// How often a text that a mask has changed is masked once more.
const MAX_PASSES: usize = 8;
/// Replaces a text in which each of these masks uncovered another secret: no part of it can be
/// trusted.
const UNSETTLED: &str = "[masked text]";

/// Masks a text until nothing more is found: a secret can be between a name and another secret.
pub(super) fn settled<'t>(
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
pub(super) fn masked<'t>(
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
