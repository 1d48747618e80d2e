//! What an event says, and how much of a text that is.

use std::collections::BTreeSet;

use super::clauses::wishes;
use super::grounds::{Grounds, MAX_GROUNDS, QUOTED, REFUSAL};
use super::names::{NameInText, names};
use super::sentences::{TELLING, parts, plain};
use crate::hint::hashes as words;
use crate::playbook::clean::whole_line;
use crate::playbook::dedup::Wording;
use crate::transcript::words::{ENGLISH, FOREIGN};
use crate::transcript::{Bearing, ShownEvent};

/// So many events before such a ground are looked at for it.
const BEFORE: u32 = 2;

/// One in so many words of a text stands in an event that says much of it.
pub(super) const SHARE: usize = 3;
/// As above, of what becomes a key point at once.
const AT_ONCE: usize = 2;
/// So many words of another language make a text one of that.
const OF_ANOTHER: usize = 2;

#[derive(Debug)]
pub(super) struct EventWords {
    pub(super) words: BTreeSet<u64>,
    /// Whether they are in another language than English, so that nobody can tell what they are
    /// about.
    pub(super) is_foreign: bool,
}

impl EventWords {
    pub(super) fn of(text: &str) -> Self {
        let text = text.to_lowercase();
        let plain = text.split(|c: char| !(c.is_alphanumeric() || c == '\''));
        // What stands in an address is in no language.
        let is_word = |word: &&str| !word.trim_end_matches('.').contains(['/', '@', ':', '.']);
        let said = text.split_whitespace().filter(is_word);
        let said = said.flat_map(|word| word.split(|c: char| !c.is_alphanumeric()));
        let foreign: BTreeSet<&str> = said
            .filter(|word| !word.is_ascii() || FOREIGN.has(word))
            .collect();
        let is_foreign = foreign.len() >= OF_ANOTHER || text.split_whitespace().any(is_long);
        Self {
            words: words(&text),
            is_foreign: is_foreign && !plain.into_iter().any(|word| ENGLISH.has(word)),
        }
    }

    pub(super) fn and(mut self, other: Self) -> Self {
        self.words.extend(other.words);
        self.is_foreign |= other.is_foreign;
        self
    }

    /// Tells whether they say something of a text: they share a word.
    pub(super) fn is_about(&self, text: &BTreeSet<u64>) -> bool {
        self.is_foreign || !self.words.is_disjoint(text)
    }

    /// Tells whether they say much of a text, whose words that stand in `known` say nothing.
    pub(super) fn has_share(&self, text: &BTreeSet<u64>, known: &BTreeSet<u64>) -> bool {
        self.is_foreign || self.has_part(text, known, SHARE)
    }

    /// As [`Self::has_share`], of what is told to every session at once: half of it.
    fn has_half(&self, text: &BTreeSet<u64>, known: &BTreeSet<u64>) -> bool {
        self.is_foreign || self.has_part(text, known, AT_ONCE)
    }

    fn has_part(&self, text: &BTreeSet<u64>, known: &BTreeSet<u64>, one_in: usize) -> bool {
        let shared = self.words.intersection(text).count();
        let new = text
            .difference(&self.words)
            .filter(|word| !known.contains(word));
        shared > 0 && shared * one_in >= shared + new.count()
    }
}

/// A sentence of a script that sets no blanks between its words.
fn is_long(word: &str) -> bool {
    const WORD: usize = 4;
    word.chars()
        .filter(|c| c.is_alphabetic() && !c.is_ascii())
        .count()
        > WORD
}

impl Grounds<'_> {
    /// Tells whether the user said something in one of the named events: in words of their own, or
    /// in what they refused. What they only ask is not said.
    pub fn is_said(&self, text: &str, named: &[u32]) -> bool {
        self.says(text, named, |shown| match shown.bearing {
            Bearing::Words => {
                let own = shown.own.join("\n");
                own.trim().is_empty() || !wishes(&own).is_empty()
            }
            Bearing::Outcome => shown.kind == REFUSAL,
            _ => false,
        })
    }

    /// Quotes the first of the named events where they say that a text holds, as [`Self::is_said`]
    /// tells.
    pub(super) fn quote_of_said(&self, text: &str, named: &[u32]) -> Option<String> {
        let is_said = self.is_said(text, named);
        let first = named.iter().find(|number| {
            let mut shown = self.numbered(**number);
            shown.any(|shown| shown.bearing == Bearing::Words || shown.kind == REFUSAL)
        });
        first
            .filter(|_| is_said)
            .and_then(|number| self.quote(*number, QUOTED))
    }

    /// Tells whether one of the named events is a check that failed and passed later, or its
    /// passing, and says something of a text.
    pub(crate) fn has_passed_later(&self, text: &str, named: &[u32]) -> bool {
        self.says(text, named, |shown| shown.bearing == Bearing::PassedLater)
    }

    /// Tells whether such events among those that are named say much of a text, and something of
    /// each sentence: what stands in the playbook at once has their words, not only one of them.
    fn says(&self, text: &str, named: &[u32], is_such: impl Fn(&ShownEvent) -> bool) -> bool {
        let text = whole_line(text);
        let named = named.iter().take(MAX_GROUNDS);
        let shown = named.flat_map(|number| self.numbered(*number));
        let such: Vec<&ShownEvent> = shown.filter(|shown| is_such(shown)).collect();
        // A command or a path is no word of what is said; it stands where it must.
        let namings = names(&text);
        let namings = namings.iter().flat_map(|name| words(&name.text)).collect();
        let said = such.iter().map(|shown| self.wished_for(shown, &text));
        let said = said.reduce(EventWords::and);
        let says_much = said.is_some_and(|said| said.has_half(&words(&text), &namings));
        let is_said = |part: &str| such.iter().any(|shown| self.says_of(shown, part));

        says_much && parts(&text).into_iter().all(is_said)
    }

    /// Tells whether one of the named events that is a ground, or a call, says something of a
    /// sentence.
    pub(super) fn is_grounded(&self, part: &str, named: &[u32]) -> bool {
        let named = named.iter().take(MAX_GROUNDS);
        let mut shown = named.flat_map(|number| self.numbered(*number));
        shown.any(|shown| {
            let is_such = shown.bearing == Bearing::Call || self.is_met(shown);
            is_such && self.says_of(shown, part)
        })
    }

    /// Tells whether a ground is about a text: they share a word, or it has a name of the text.
    pub(super) fn says_of(&self, ground: &ShownEvent, text: &str) -> bool {
        let has = |name: &NameInText| {
            let mut named = ground.names.iter().map(|text| plain(text));
            named.any(|text| name.stands_in(&text))
        };
        self.said_for(ground, text).is_about(&words(text)) || names(text).iter().any(has)
    }

    /// What a ground says of a text: of one that forbids something a refusal says the call, too.
    pub(super) fn said_for(&self, ground: &ShownEvent, text: &str) -> EventWords {
        if Wording::of(text).is_negated() {
            self.said_or_refused(ground)
        } else {
            self.said(ground)
        }
    }

    /// As [`Self::said_for`], without what the user only asks.
    fn wished_for(&self, ground: &ShownEvent, text: &str) -> EventWords {
        let mut said = self.said_for(ground, text);
        if ground.bearing == Bearing::Words {
            let own = ground.own.join("\n");
            let wished = words(&wishes(&own));
            said.words
                .retain(|word| wished.contains(word) || !words(&own).contains(word));
        }
        said
    }

    pub(super) fn said_or_refused(&self, ground: &ShownEvent) -> EventWords {
        let mut said = self.said(ground);
        let refused = ground.refused.iter().flat_map(|call| words(call));
        said.words.extend(refused);
        said
    }

    /// What a ground says. What the user says is also about the calls just before it, and where it
    /// only denies ("no, not so") about what the assistant did and wrote there.
    pub(super) fn said(&self, ground: &ShownEvent) -> EventWords {
        let own = ground.own.join("\n");
        let mut said = EventWords::of(&own);
        if ground.bearing == Bearing::Words {
            let is_long = own.split_whitespace().any(is_long);
            let is_short = said.words.len() < TELLING && !is_long;
            said.is_foreign &= !is_short;
            let denies = is_short && Wording::of(&own).is_negated();
            let before = ground.number.saturating_sub(BEFORE)..ground.number;
            for shown in before.flat_map(|number| self.numbered(number)) {
                match shown.bearing {
                    Bearing::Call => said.words.extend(words(&shown.own.join("\n"))),
                    Bearing::Text if denies => {
                        let text = self.evidence.entry(shown.number).unwrap_or_default();
                        said.words.extend(words(text));
                    }
                    _ => {}
                }
            }
        }
        said
    }
}
