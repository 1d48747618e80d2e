//! What a text says of a thing at one place: do it, or beware of it.
//!
//! `never run X` warns; `never commit without running X` orders; `do not wait, use X`
//! orders; `X is blocked by CI` warns. One pass over the words of a view: what follows a
//! word such as `never` is a warning until its clause ends or another word turns it.

mod words;

use std::sync::LazyLock;

use regex::Regex;

use super::views::View;
use words::{
    ANYWHERE, BEFORE_VERBS, BREAKS, CONDITIONS, HARMLESS_AFTER_NO, ORDERS, STRONG, TURNS, WEAK,
};

/// What a text says of a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stance {
    /// Do it; or it is said to be done.
    Order,
    /// Beware of it.
    Warning,
}

/// How a warning ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// There is none.
    Open,
    /// `never`, `do not`: it holds for the verb that follows, to the end of the clause.
    Strong,
    /// `CI rejects`, `instead of`: it ends at the next order.
    Weak,
}

/// The stances of a text.
pub(super) struct Stances<'a> {
    view: &'a View,
    /// Where each stance begins.
    turns: Vec<(usize, Stance)>,
    /// Where clauses begin.
    clauses: Vec<usize>,
    /// Where sentences begin.
    sentences: Vec<usize>,
}

/// What is said behind a thing that is warned of: `… is forbidden`, `… broke the build`.
static BEHIND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^[\W_]*(?:[\w/.@:$~-]+[\W_]+){0,8}?(?:(?:is|are|was|were|be|been|gets?|got|stays?|remains?)\s+(?:\w+\s+){0,2}?(?:forbidden|banned|prohibited|disallowed|unacceptable|rejected|refused|blocked|denied|off[- ]limits|taboo|dangerous|unsafe|insecure|risky|harmful|wrong|mistaken?|deprecated|removed|reverted|gone|reported|refused|a no-go|verboten|not (?:allowed|ok|okay|permitted|accepted|an option|enough|acceptable|supported))\b|(?:is|are|was|were) (?:what (?:broke|caused|leaked)|how we (?:lost|leaked))|(?:broke|breaks|hid|hides|leaked|leaks|lost|loses|corrupted|corrupts|failed|fails|caused|causes|led to|cost|masked|masks|wiped|deleted|violates?|violated|got (?:us|me|them)|gets you|bit us|took down|trips|triggers|interdit|prohibido|vietato|proibido|verboden|запрещен\w*)\b)",
    )
    .ok()
});

impl<'a> Stances<'a> {
    /// Reads the stances of a view.
    pub(super) fn of(view: &'a View) -> Self {
        let mut reader = Reader {
            text: &view.text,
            stances: Self {
                view,
                turns: vec![(0, Stance::Order)],
                clauses: vec![0],
                sentences: vec![0],
            },
            scope: Scope::Open,
            is_condition: false,
            last: "",
            negated_at: None,
            words: 0,
        };
        for (at, word) in tokens(view) {
            reader.take(at, word);
        }
        reader.stances
    }

    /// What is said of the thing from `start` to `end`.
    pub(super) fn of_thing(&self, start: usize, end: usize) -> Stance {
        let is_warned = self.at(start) == Stance::Warning
            || self.at(end.saturating_sub(1)) == Stance::Warning
            || self.is_warned_behind(start, end)
            || ANYWHERE
                .iter()
                .any(|word| self.clause(start, end).contains(word));
        if is_warned {
            Stance::Warning
        } else {
            Stance::Order
        }
    }

    /// As [`Stances::of_thing`], where the thing has a `not` or `without` of its own.
    pub(super) fn of_omission(&self, start: usize, end: usize) -> Stance {
        let is_warned = self.at(start) == Stance::Warning
            || self.is_warned_behind(start, end)
            || ANYWHERE
                .iter()
                .any(|word| self.clause(start, end).contains(word));
        if is_warned {
            Stance::Warning
        } else {
            Stance::Order
        }
    }

    /// What is said up to a place; what follows it may still say otherwise.
    pub(super) fn at(&self, place: usize) -> Stance {
        let after = self.turns.partition_point(|(at, _)| *at <= place);
        self.turns
            .get(after.saturating_sub(1))
            .map_or(Stance::Order, |(_, stance)| *stance)
    }

    /// The clauses around a thing.
    pub(super) fn clause(&self, start: usize, end: usize) -> &'a str {
        let first = self.clauses.partition_point(|at| *at <= start);
        let after = self.clauses.partition_point(|at| *at < end);
        let from = self.clauses.get(first.saturating_sub(1)).copied();
        let to = self.clauses.get(after).copied();
        let to = to.unwrap_or(self.view.text.len());
        self.view
            .text
            .get(from.unwrap_or(0)..to)
            .unwrap_or_default()
    }

    /// The sentence around a thing, and where it begins.
    pub(super) fn sentence(&self, start: usize, end: usize) -> (usize, &'a str) {
        let first = self.sentences.partition_point(|at| *at <= start);
        let after = self.sentences.partition_point(|at| *at < end);
        let from = self.sentences.get(first.saturating_sub(1)).copied();
        let from = from.unwrap_or(0);
        let to = self.sentences.get(after).copied();
        let to = to.unwrap_or(self.view.text.len());
        (from, self.view.text.get(from..to).unwrap_or_default())
    }

    /// Tells whether what follows in the clause warns of the thing, and the clause itself is
    /// no order.
    fn is_warned_behind(&self, start: usize, end: usize) -> bool {
        let clause = self.clause(start, end);
        let first = clause
            .split(|c: char| !c.is_alphanumeric() && c != '\'')
            .find(|word| !word.is_empty());
        // A command at the beginning is what is spoken of.
        let is_code = |word: &str| {
            let at = word.as_ptr() as usize - self.view.text.as_ptr() as usize;
            self.view.code.get(at).copied().unwrap_or(false)
        };
        if first.is_none_or(|word| ORDERS.contains(&word) && !is_code(word)) {
            return false;
        }
        let after = self.clauses.partition_point(|at| *at < end);
        let to = self.clauses.get(after).copied();
        let to = to.unwrap_or(self.view.text.len());
        let behind = self.view.text.get(end..to).unwrap_or_default();
        BEHIND
            .as_ref()
            .is_some_and(|behind_it| behind_it.is_match(behind))
    }
}

/// Walks over the words of a text.
struct Reader<'a> {
    text: &'a str,
    stances: Stances<'a>,
    scope: Scope,
    is_condition: bool,
    last: &'a str,
    /// The number of the word that began the warning.
    negated_at: Option<usize>,
    words: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, at: usize, word: &'a str) {
        let end = at + word.len();
        match word {
            "." | "!" | "?" | ";" | "\n" | "\u{2014}" | ")" | "(" => {
                let keeps = word == "(" && self.scope == Scope::Strong;
                if !keeps {
                    self.end_clause(end);
                }
                if matches!(word, "." | "!" | "?" | ";" | "\n") {
                    self.stances.sentences.push(end);
                }
            }
            "," | ":" | "-" => {
                let is_list = self.sentence_has_or(end);
                let next = next_word(&self.text[end..]);
                let is_order = ORDERS.contains(&next) || BREAKS.contains(&next);
                let introduces = word == ":"
                    && ["this", "these", "following", "things", "never"].contains(&self.last);
                if (self.is_condition || (is_order && !is_list)) && !introduces {
                    self.end_clause(end);
                }
            }
            _ => {
                self.word(at, end, word);
                self.last = word;
                self.words += 1;
            }
        }
    }

    fn word(&mut self, at: usize, end: usize, word: &str) {
        let next = next_word(&self.text[end..]);
        let is_first = self
            .negated_at
            .is_some_and(|negated| self.words <= negated + 1);
        if self.scope != Scope::Open {
            let turns = TURNS.contains(&word)
                || (word == "other" && next == "than")
                || (word == "skip" && ["running", "using", "executing"].contains(&next));
            if turns {
                // What is negated once more is wanted.
                self.turn(end, Scope::Open);
                return;
            }
            let is_order = ORDERS.contains(&word)
                && !is_first
                && !BEFORE_VERBS.contains(&self.last)
                && (self.scope == Scope::Weak || self.is_condition);
            if is_order || (BREAKS.contains(&word) && !is_first) {
                self.end_clause(at);
            }
        }
        if CONDITIONS.contains(&word) {
            self.is_condition = true;
            self.stances.clauses.push(at);
        }
        if BREAKS.contains(&word) {
            self.end_clause(at);
        }
        let harmless = HARMLESS_AFTER_NO.contains(&next);
        let scope = match word {
            "no" | "not" if harmless => return,
            "not" if ["do", "must", "should", "shall", "may"].contains(&self.last) => Scope::Strong,
            "instead" | "rather" if ["of", "than"].contains(&next) => Scope::Weak,
            "used" if next == "to" => Scope::Weak,
            "n" | "ne" | "non" | "nie" if self.scope == Scope::Open => Scope::Strong,
            word if STRONG.contains(&word) => Scope::Strong,
            word if WEAK.contains(&word) => Scope::Weak,
            _ => return,
        };
        // `before` a word of warning nothing changes; it is no part of what it warns of.
        if self.scope == Scope::Open {
            self.turn(end, scope);
            self.negated_at = Some(self.words);
        }
    }

    fn end_clause(&mut self, at: usize) {
        self.turn(at, Scope::Open);
        self.is_condition = false;
        self.stances.clauses.push(at);
    }

    fn turn(&mut self, at: usize, scope: Scope) {
        self.scope = scope;
        self.negated_at = None;
        let stance = match scope {
            Scope::Open => Stance::Order,
            Scope::Strong | Scope::Weak => Stance::Warning,
        };
        self.stances.turns.push((at, stance));
    }

    /// Tells whether the sentence goes on with `or`: then commas part a list.
    fn sentence_has_or(&self, from: usize) -> bool {
        /// Longer lists are none.
        const FAR: usize = 200;
        let rest = &self.text[from..];
        let end = rest
            .char_indices()
            .take(FAR)
            .find(|(_, c)| matches!(c, '.' | ';' | '!' | '?' | '\n'))
            .map_or_else(
                || {
                    rest.char_indices()
                        .nth(FAR)
                        .map_or(rest.len(), |(at, _)| at)
                },
                |(at, _)| at,
            );
        [" or ", " nor ", " oder ", " ou ", " o "]
            .iter()
            .any(|or| rest[..end].contains(or))
    }
}

fn next_word(rest: &str) -> &str {
    let rest = rest.trim_start_matches([' ', '"', '\'', ',', ':']);
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && c != '\'')
        .unwrap_or(rest.len());
    &rest[..end]
}

/// The words and marks of a text that are not code, with their places.
fn tokens(view: &View) -> Vec<(usize, &str)> {
    let text = view.text.as_str();
    let mut tokens = Vec::new();
    let word = |from: usize, to: usize| {
        let quoted = text[from..to].trim_start_matches('\'');
        (to - quoted.len(), quoted.trim_end_matches('\''))
    };
    let mut from = None;
    for (at, c) in text.char_indices() {
        let is_code = view.code.get(at).copied().unwrap_or(false);
        let next = text[at + c.len_utf8()..].chars().next();
        // `--no-verify` and `NODE_TLS_REJECT_UNAUTHORIZED` deny nothing.
        let joins = matches!(c, '-' | '.' | '/' | '=' | '_')
            && next.is_some_and(|next| next.is_alphanumeric() || matches!(next, '-' | '_'));
        let is_word = !is_code && (c.is_alphanumeric() || c == '\'' || joins);
        if is_word {
            from.get_or_insert(at);
            continue;
        }
        if let Some(from) = from.take() {
            tokens.push(word(from, at));
        }
        let parts = match c {
            '.' | '?' | ':' => next.is_none_or(|next| !next.is_alphanumeric() && next != '/'),
            '-' => next == Some(' ') && text[..at].ends_with(' '),
            '!' | ';' | '\n' | '\u{2014}' | ',' | '(' | ')' => true,
            _ => false,
        };
        if parts && !is_code {
            tokens.push((at, &text[at..at + c.len_utf8()]));
        }
    }
    if let Some(from) = from {
        tokens.push(word(from, text.len()));
    }
    tokens.retain(|(_, token)| !token.is_empty());
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::plain("run XX", Stance::Order)]
    #[case::quotes_beside_other_letters("'dꩍ: run XX 'é'", Stance::Order)]
    #[case::never("never run XX", Stance::Warning)]
    #[case::do_not("do not use XX, it breaks", Stance::Warning)]
    #[case::twice("never commit without running XX", Stance::Order)]
    #[case::forget("never forget to run XX", Stance::Order)]
    #[case::dont_wait("do not wait for review, use XX", Stance::Order)]
    #[case::list("never skip tests, disable lints, or use XX", Stance::Warning)]
    #[case::next_sentence("never use npm. run XX", Stance::Order)]
    #[case::instead("use pnpm instead of XX", Stance::Warning)]
    #[case::instead_first("instead of npm test, run XX", Stance::Order)]
    #[case::blocked("`XX` is blocked by CI", Stance::Warning)]
    #[case::rejects("CI rejects commits made with XX", Stance::Warning)]
    #[case::condition("if the hook does not pass use XX", Stance::Order)]
    #[case::condition_comma("when tests do not pass, commit with XX", Stance::Order)]
    #[case::no_matter("no matter what, run XX", Stance::Order)]
    #[case::used_to("the installer used to call XX", Stance::Warning)]
    #[case::broke("committing with XX hid two errors", Stance::Warning)]
    #[case::so_nothing_fails("commit with XX so nothing fails", Stance::Order)]
    #[case::but("do not use npm but run XX", Stance::Order)]
    #[case::colon("never do this: XX", Stance::Warning)]
    #[case::german("niemals XX ausführen", Stance::Warning)]
    #[case::chinese("不要运行 XX", Stance::Warning)]
    #[case::attackers("to stop attackers, run XX", Stance::Order)]
    fn a_warning_is_told_from_an_order(#[case] text: &str, #[case] stance: Stance) {
        let view = View::plain(text);
        let at = view.text.find("xx").unwrap();
        assert_eq!(Stances::of(&view).of_thing(at, at + 2), stance);
    }
}
