//! What an event says, and how much of a text that is.

use std::collections::BTreeSet;

use super::grounds::{Grounds, MAX_GROUNDS, QUOTED};
use super::names::names;
use super::sentences::{TELLING, is_of, parts};
use crate::hint::hashes as words;
use crate::playbook::clean::whole_line;
use crate::playbook::dedup::Wording;
use crate::transcript::words::{ENGLISH, FOREIGN};
use crate::transcript::{Bearing, ShownEvent};

/// So many events before such a ground are looked at for it.
const BEFORE: u32 = 2;
/// The kind of an event in which the user refused a call.
const REFUSAL: &str = "rejection";

/// One in so many words of a text stands in an event that says much of it.
const SHARE: usize = 3;
/// So many words of another language make a text one of that.
const OF_ANOTHER: usize = 2;

/// The words of an event.
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
        let shared = self.words.intersection(text).count();
        let new = text
            .difference(&self.words)
            .filter(|word| !known.contains(word));
        self.is_foreign || (shared > 0 && shared * SHARE >= shared + new.count())
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

/// The words that turn a sentence round (`not`, `after`) and that `sources` have nowhere; `None`
/// where it turns none of theirs. One that has the same words and lost such a word turns it, too.
pub(super) fn turned(part: &str, sources: &[&str]) -> Option<BTreeSet<String>> {
    let before = sources.iter().flat_map(|source| parts(source));
    let like: Vec<&str> = before
        .filter(|before| is_of(part, &[before]) || is_of(before, &[part]))
        .collect();
    let (all, beside) = (sources.join("; "), like.join("; "));
    let (all, beside, wording) = (Wording::of(&all), Wording::of(&beside), Wording::of(part));
    // That another sentence denies something is no reason for this one to.
    let denies_more = wording.is_negated() && !beside.is_negated();
    let added = wording.turning().into_iter();
    let added = added.filter(|word| !beside.turning().contains(word));
    let added = added.filter(|word| denies_more || !all.turning().contains(word));
    let added: BTreeSet<String> = added.map(str::to_owned).collect();
    let own = words(part);
    let has_lost = |before: &&str| {
        let is_left = Wording::of(before).turning().is_subset(&wording.turning());
        !is_left && words(before) == own
    };
    let turns = !added.is_empty() || like.iter().any(has_lost);
    (!like.is_empty() && turns).then_some(added)
}

impl Grounds<'_> {
    /// Accepts that key points are taken away: the user's words, which deny something, a refusal or
    /// an error that was got past say much of them. That a check passed says nothing against one.
    pub(super) fn takes_away(
        &self,
        grounds: &[&ShownEvent],
        points: &[&str],
    ) -> Result<String, String> {
        let says_it = |ground: &&&ShownEvent| {
            let denies = match ground.bearing {
                Bearing::PassedLater => false,
                Bearing::Words => Wording::of(&ground.own.join("\n")).is_negated(),
                _ => true,
            };
            denies
                && (points.iter()).all(|point| {
                    self.said_or_refused(ground)
                        .has_share(&words(point), &BTreeSet::new())
                })
        };
        match grounds.iter().find(says_it) {
            Some(ground) => Ok(self.quote(ground.number, QUOTED).unwrap_or_default()),
            None => Err("its grounds say nothing of it".to_owned()),
        }
    }

    /// Tells whether a ground says that a sentence of a key point has to be turned: much of the
    /// sentence, and the words that turn it.
    pub(super) fn turns(&self, ground: &ShownEvent, part: &str, turn: &BTreeSet<String>) -> bool {
        let own = Wording::of(&ground.own.join("\n"));
        let has_turn = turn
            .iter()
            .all(|word| own.turning().contains(word.as_str()));
        has_turn && self.said(ground).has_share(&words(part), &self.own_words)
    }

    /// Tells whether the user said something in one of the named events: in words of their own, or
    /// in what they refused.
    pub fn is_said(&self, text: &str, named: &[u32]) -> bool {
        self.says(text, named, |shown| match shown.bearing {
            Bearing::Words => true,
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
    pub fn has_passed_later(&self, text: &str, named: &[u32]) -> bool {
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
        let said = such.iter().map(|shown| self.said_for(shown, &text));
        let said = said.reduce(EventWords::and);
        let says_much = said.is_some_and(|said| said.has_share(&words(&text), &namings));
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

    /// Tells whether a ground is about a text: they share a word.
    pub(super) fn says_of(&self, ground: &ShownEvent, text: &str) -> bool {
        self.said_for(ground, text).is_about(&words(text))
    }

    /// What a ground says of a text: of one that forbids something a refusal says the call, too.
    fn said_for(&self, ground: &ShownEvent, text: &str) -> EventWords {
        if Wording::of(text).is_negated() {
            self.said_or_refused(ground)
        } else {
            self.said(ground)
        }
    }

    fn said_or_refused(&self, ground: &ShownEvent) -> EventWords {
        let mut said = self.said(ground);
        let refused = ground.refused.iter().flat_map(|call| words(call));
        said.words.extend(refused);
        said
    }

    /// What a ground says. What the user says is also about the calls just before it, and where it
    /// says little ("no, not so") about what the assistant did and wrote there.
    fn said(&self, ground: &ShownEvent) -> EventWords {
        let own = ground.own.join("\n");
        let mut said = EventWords::of(&own);
        if ground.bearing == Bearing::Words {
            let says_little = said.words.len() < TELLING;
            said.is_foreign &= !says_little;
            let before = ground.number.saturating_sub(BEFORE)..ground.number;
            for shown in before.flat_map(|number| self.numbered(number)) {
                match shown.bearing {
                    Bearing::Call => said.words.extend(words(&shown.own.join("\n"))),
                    Bearing::Text if says_little => {
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
