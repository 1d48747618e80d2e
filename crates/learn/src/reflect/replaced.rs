//! What may take the place of a key point, and what may take one away.
//!
//! A key point was told to sessions already, and may be what guards them. So a text replaces it
//! only when
//!
//! 1. a clause that turns one of the key point's round (`not`, `after`) is the user's, or forbids a
//!    call that the user refused,
//! 2. what is new in a sentence that the key point has are words of the key points, of a ground or
//!    of the user's, or the sentence says all that it said and a named event is about it; of a
//!    sentence that is new, named events say much,
//! 3. what it leaves out would have been taken away by itself.
//!
//! It is taken away by words of the user's that say the opposite or that it holds no more, by a
//! call refused that it asks for, or by an error, that was got past, of a command that it names.

use std::collections::BTreeSet;

use super::clauses::{Clauses, Stand};
use super::grounds::{ERROR, Grounds, MAX_GROUNDS, QUOTED, REFUSAL, TaughtText};
use super::names::{NameInText, names};
use super::said::EventWords;
use super::sentences::{SAYS_IT, is_of, parts, plain};
use crate::hint::hashes as words;
use crate::playbook::dedup::Wording;
use crate::transcript::english::patterns;
use crate::transcript::{Bearing, ShownEvent};

patterns! { ENDED NARROWS REPLACED TELLS_ORDER }

/// The words that turn a sentence round (`not`, `after`) and that `sources` have nowhere; `None`
/// where it turns none of theirs. One that has no other words and lost such a word turns it, too,
/// and one that has them in another order, where that is told (`then`).
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
        !is_left && own.is_subset(&words(before))
    };
    let reorders = |before: &&str| words(before) == own && in_order(before) != in_order(part);
    let reorders = |before: &&str| TELLS_ORDER.is(before) && reorders(before);
    let turns = !added.is_empty() || like.iter().any(|one| has_lost(one) || reorders(one));
    (!like.is_empty() && turns).then_some(added)
}

/// The words of a text as they follow each other.
fn in_order(text: &str) -> Vec<BTreeSet<u64>> {
    let words_of = text.split_whitespace().map(words);
    words_of.filter(|words| !words.is_empty()).collect()
}

impl Grounds<'_> {
    /// Makes sure that a text may take the place of the claim's key points.
    pub(super) fn may_replace(
        &self,
        text: &str,
        claim: &TaughtText<'_>,
        grounds: &[&ShownEvent],
    ) -> Result<(), String> {
        let sources = claim.sources;
        let before = Clauses::of(&sources.join("\n"));
        let clauses = Clauses::of(text);
        if !grounds
            .iter()
            .any(|ground| clauses_of(ground).allow(&clauses, &before))
        {
            return Err("it turns round what it replaces, and the user does not".to_owned());
        }
        let mut trusted: BTreeSet<u64> = sources.iter().flat_map(|text| words(text)).collect();
        trusted.extend(names(text).iter().flat_map(|name| words(&name.text)));
        trusted.extend(&self.own_words);
        trusted.extend(
            grounds
                .iter()
                .flat_map(|ground| self.said_for(ground, text).words),
        );
        let is_said = |part: &str| match turned(part, sources) {
            Some(turn) => grounds.iter().any(|ground| self.turns(ground, part, &turn)),
            None if is_of(part, sources) => {
                words(part).is_subset(&trusted)
                    || widens(part, sources) && self.is_grounded(part, claim.grounds)
            }
            None => self.says_much(part, claim.grounds),
        };
        if !parts(text).into_iter().all(is_said) {
            return Err("its grounds say nothing of a part of it".to_owned());
        }
        let mut lost = sources.iter().flat_map(|source| parts(source));
        match lost.find(|part| !is_of(part, &[text]) && self.takes_away(grounds, &[part]).is_err())
        {
            Some(_) => Err("it leaves out a part that nothing speaks against".to_owned()),
            None => Ok(()),
        }
    }

    /// Accepts that key points are taken away: a ground says much of them and speaks against them.
    pub(super) fn takes_away(
        &self,
        grounds: &[&ShownEvent],
        points: &[&str],
    ) -> Result<String, String> {
        let says_it = |ground: &&&ShownEvent| {
            points.iter().all(|point| {
                let said = self.said_or_refused(ground);
                // Nobody can tell what words of another language speak against.
                let said = EventWords {
                    is_foreign: false,
                    ..said
                };
                said.has_share(&words(point), &BTreeSet::new()) && speaks_against(ground, point)
            })
        };
        match grounds.iter().find(says_it) {
            Some(ground) => Ok(self.quote(ground.number, QUOTED).unwrap_or_default()),
            None => Err("its grounds say nothing of it".to_owned()),
        }
    }

    /// Tells whether a ground says that a sentence of a key point has to be turned: most of the
    /// sentence, and the words that turn it.
    fn turns(&self, ground: &ShownEvent, part: &str, turn: &BTreeSet<String>) -> bool {
        let own = Wording::of(&ground.own.join("\n"));
        let has_turn = turn
            .iter()
            .all(|word| own.turning().contains(word.as_str()));
        let part_words = words(part);
        let said = self.said_for(ground, part).words;
        let shared = said.intersection(&part_words).count();
        has_turn && shared * 100 >= SAYS_IT * part_words.len()
    }

    /// Tells whether the named events that are grounds or calls say much of a sentence.
    fn says_much(&self, part: &str, named: &[u32]) -> bool {
        let named = named.iter().take(MAX_GROUNDS);
        let shown = named.flat_map(|number| self.numbered(*number));
        let such = shown.filter(|shown| shown.bearing == Bearing::Call || self.is_met(shown));
        let said: BTreeSet<u64> = such
            .flat_map(|shown| self.said_for(shown, part).words)
            .collect();
        let said = EventWords {
            words: said,
            is_foreign: false,
        };
        let namings = names(part);
        let namings = namings.iter().flat_map(|name| words(&name.text)).collect();
        said.has_share(&words(part), &namings)
    }
}

/// Tells whether a sentence has all that one of the key points says, and more, but for a condition.
fn widens(part: &str, sources: &[&str]) -> bool {
    let said = words(part);
    let mut before = sources.iter().flat_map(|source| parts(source));
    before.any(|before| words(before).is_subset(&said) && NARROWS.is(before) == NARROWS.is(part))
}

/// The clauses of a ground; a refusal forbids the call.
fn clauses_of(ground: &ShownEvent) -> Clauses {
    let forbidden = ground.refused.iter();
    let forbidden = forbidden.map(|call| format!("Never {}", call.replace([',', ';'], " ")));
    let said = ground.own.iter().cloned().chain(forbidden);
    Clauses::of(&said.collect::<Vec<_>>().join("\n"))
}

/// Tells whether a ground speaks against a key point, of which it says much.
fn speaks_against(ground: &ShownEvent, point: &str) -> bool {
    let own = ground.own.join("\n");
    match (ground.bearing, ground.kind.as_str()) {
        (Bearing::PassedLater, _) => false,
        (Bearing::Words, _) | (_, REFUSAL) => {
            match clauses_of(ground).stand_to(&Clauses::of(point)) {
                Stand::Opposes => true,
                Stand::Agrees => ENDED.is(&own) && !Wording::of(point).is_negated(),
                Stand::Silent => ENDED.is(&own) || REPLACED.is(&own) || ground.refused.is_some(),
            }
        }
        (_, ERROR) => {
            let called = ground
                .own
                .iter()
                .chain(&ground.names)
                .map(|text| plain(text));
            let called: Vec<String> = called.collect();
            let is_called = |name: &NameInText| called.iter().any(|call| name.stands_in(call));
            names(point).iter().any(is_called)
        }
        _ => true,
    }
}
