//! Takes away what only introduces or ends a sentence: "no, please use pnpm, thanks".

use super::rules_phrases::{
    CLAUSES, FORMS, OPENERS, PAUSED_OPENERS, REMEMBER, REWRITES, STANDING, STANDING_ENDS, TAILS,
};

/// A sentence without what only introduces or ends it.
pub(super) struct Stripped {
    pub(super) body: String,
    /// Whether it was said to hold from now on.
    pub(super) standing: bool,
    /// Whether it was said to be remembered.
    pub(super) remember: bool,
}

impl Stripped {
    pub(super) fn of(sentence: &str) -> Self {
        let mut stripped = Self {
            body: sentence.replace('’', "'"),
            standing: false,
            remember: false,
        };
        while let Some(rest) = stripped.without_head() {
            stripped.body = rest;
        }
        while let Some(rest) = stripped.without_tail() {
            stripped.body = rest;
        }
        stripped.body = stripped.body.trim_matches(is_loose).to_owned();
        stripped
    }

    /// The rest after one introduction; `None` when there is none.
    fn without_head(&mut self) -> Option<String> {
        let body = self.body.trim_start_matches(is_loose);
        let lower = body.to_ascii_lowercase();
        if let Some((from, to)) = REWRITES.iter().find(|(from, _)| lower.starts_with(from)) {
            return Some(format!("{to}{}", &body[from.len()..]));
        }
        if let Some(len) = phrase_at_start(&lower, STANDING) {
            self.standing = true;
            return Some(body[len..].to_owned());
        }
        if let Some(len) = phrase_at_start(&lower, REMEMBER) {
            self.remember = true;
            return Some(body[len..].to_owned());
        }
        let len = paused_opener(&lower)
            .or_else(|| opens_a_form(&lower).then_some(0))
            .or_else(|| phrase_at_start(&lower, CLAUSES))
            .or_else(|| phrase_at_start(&lower, OPENERS))
            .or_else(|| denied_thing(&lower))?;
        (len > 0).then(|| body[len..].to_owned())
    }

    /// The rest before one ending; `None` when there is none.
    fn without_tail(&mut self) -> Option<String> {
        let body = self.body.trim_end_matches(is_loose);
        let lower = body.to_ascii_lowercase();
        let before = |phrase: &&str| {
            let rest = lower.strip_suffix(*phrase)?;
            rest.ends_with([' ', ','])
                .then(|| body[..rest.len()].to_owned())
        };
        let standing = STANDING.iter().chain(STANDING_ENDS).find_map(before);
        self.standing |= standing.is_some();
        standing.or_else(|| TAILS.iter().find_map(before))
    }
}

/// Tells what may stand around a sentence without belonging to it.
pub(super) fn is_loose(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            ',' | '.' | '!' | ':' | ';' | '-' | '—' | '–' | '…' | '"' | '*' | '•'
        )
}

fn opens_a_form(lower: &str) -> bool {
    FORMS
        .iter()
        .any(|(openings, ..)| openings.iter().any(|opening| lower.starts_with(opening)))
}

/// The length of the longest of `phrases` that `lower` opens with, as whole words.
fn phrase_at_start(lower: &str, phrases: &[&str]) -> Option<usize> {
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(is_loose);
    let found = phrases
        .iter()
        .filter(|phrase| lower.strip_prefix(**phrase).is_some_and(ends));
    found.map(|phrase| phrase.len()).max()
}

/// The length of a word that only opens the sentence when a pause follows ("no, …", but
/// not "no more …"); after "no" a rule may also follow at once ("no use tabs").
fn paused_opener(lower: &str) -> Option<usize> {
    let len = phrase_at_start(lower, PAUSED_OPENERS)?;
    let rest = &lower[len..];
    let paused = rest.starts_with([',', '.', '!', ':', ';', '…'])
        || rest.trim_start().starts_with(['-', '—', '–']);
    (paused || (&lower[..len] == "no" && opens_a_form(rest.trim_start()))).then_some(len)
}

/// The length of "not npm, " before a form.
fn denied_thing(lower: &str) -> Option<usize> {
    let (denied, rest) = lower.strip_prefix("not ")?.split_once(", ")?;
    opens_a_form(rest).then_some("not ".len() + denied.len() + ", ".len())
}
