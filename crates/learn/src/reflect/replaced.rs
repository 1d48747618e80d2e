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
use super::grounds::{ERROR, Grounds, MAX_GROUNDS, QUOTED, REFUSAL, TaughtText, quoted};
use super::names::{NameInText, names};
use super::said::{EventWords, SHARE};
use super::sentences::{SAYS_IT, is_of, parts, plain};
use crate::hint::hashes as words;
use crate::playbook::dedup::Wording;
use crate::transcript::english::patterns;
use crate::transcript::{Bearing, ShownEvent};

patterns! { ENDED NARROWS REPLACED TELLS_ORDER WRONG_CALL }

/// The words that turn a sentence round (`not`, `after`) and that `sources` have nowhere; `None`
/// where it turns none of theirs. One that has no other words and lost such a word turns it, too,
/// and one that has them in another order.
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
    let turns = !added.is_empty() || like.iter().any(|one| has_lost(one) || reorders(one));
    (!like.is_empty() && turns).then_some(added)
}

/// The words of a text as they follow each other.
fn in_order(text: &str) -> Vec<BTreeSet<u64>> {
    let words_of = text.split_whitespace().map(words);
    words_of.filter(|words| !words.is_empty()).collect()
}

/// Tells whether words stand in others in the same order.
fn is_within(words: &[BTreeSet<u64>], others: &[BTreeSet<u64>]) -> bool {
    let mut others = others.iter();
    words.iter().all(|word| others.any(|other| other == word))
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
        if !self.has_new_names(text, claim) {
            return Err(
                "what it names anew is neither the user's nor what got past an error".to_owned(),
            );
        }
        let before: BTreeSet<u64> = sources.iter().flat_map(|text| words(text)).collect();
        let said = self.sayings(grounds, claim.grounds);
        let is_said = |part: &str| match turned(part, sources) {
            Some(turn) => grounds.iter().any(|ground| self.turns(ground, part, &turn)),
            None if is_of(part, sources) => {
                let part_words = words(part);
                let new: BTreeSet<u64> = part_words.difference(&before).copied().collect();
                // One saying has what is new, and something of what stays.
                let says_it = |said: &BTreeSet<u64>| {
                    new.is_subset(said) && !said.is_disjoint(&(&part_words - &new))
                };
                (new.is_empty() || said.iter().any(says_it))
                    || widens(part, sources) && self.is_grounded(part, claim.grounds)
            }
            None => self.says_much(part, claim.grounds),
        };
        if let Some(part) = parts(text).into_iter().find(|part| !is_said(part)) {
            return Err(format!("its grounds say nothing of {}", quoted(part)));
        }
        let mut lost = sources.iter().flat_map(|source| parts(source));
        match lost.find(|part| !is_of(part, &[text]) && self.takes_away(grounds, &[part]).is_err())
        {
            Some(part) => Err(format!(
                "it leaves out {}, which nothing speaks against",
                quoted(part)
            )),
            None => Ok(()),
        }
    }

    /// Tells whether each name and number that the key points do not have is the user's, or stands in
    /// a named call that got past a named error, or that has a name of theirs.
    fn has_new_names(&self, text: &str, claim: &TaughtText<'_>) -> bool {
        let named = claim.grounds.iter().take(MAX_GROUNDS);
        let shown: Vec<&ShownEvent> = named.flat_map(|number| self.numbered(*number)).collect();
        let errors = shown.iter().filter(|shown| shown.kind == ERROR);
        let first_error = errors.map(|shown| shown.number).min();
        let known: Vec<NameInText> = claim.sources.iter().flat_map(|text| names(text)).collect();
        // A call that the key point names may have more, such as a flag.
        let has_known = |shown: &ShownEvent| {
            let mut called = shown.names.iter().map(|text| plain(text));
            called.any(|text| known.iter().any(|name| name.stands_in(&text)))
        };
        let may_be_told = |shown: &&&ShownEvent| {
            let is_past = first_error.is_some_and(|first| shown.number > first);
            shown.bearing == Bearing::Call && (is_past || has_known(shown))
        };
        let called = shown
            .iter()
            .filter(may_be_told)
            .flat_map(|shown| &shown.names);
        let told = called
            .map(String::as_str)
            .chain(claim.sources.iter().copied());
        let told: Vec<String> = told.map(plain).collect();
        let said: Vec<String> = self.said_by_user().map(plain).collect();
        let about = words(text);
        // What the user counts is no number of something else.
        let is_counted = |number: &str| {
            let mut clauses = said
                .iter()
                .flat_map(|said| said.split([',', ';', '!', '?', '\n']));
            let is_told = told.iter().any(|text| has_word(text, number));
            is_told
                || clauses.any(|said| has_word(said, number) && !words(said).is_disjoint(&about))
        };
        let mut numbers = pieces_of(text).filter(|word| word.bytes().all(|b| b.is_ascii_digit()));
        let all = told.iter().chain(&said);
        names(text)
            .iter()
            .all(|name| name.is_identifier || all.clone().any(|text| name.stands_in(text)))
            && numbers.all(is_counted)
    }

    /// What a key point may be changed by: each sentence of the user's in a ground, and of an error
    /// the command that met it with the named calls behind it.
    fn sayings(&self, grounds: &[&ShownEvent], named: &[u32]) -> Vec<BTreeSet<u64>> {
        let mut sayings = Vec::new();
        for ground in grounds {
            let calls = self.said_for(ground, "").words;
            if ground.bearing == Bearing::Words || ground.kind == REFUSAL {
                let own = ground.own.join("\n");
                let sentences = own.split(['.', '!', '?', '\n']);
                sayings.extend(sentences.map(words).filter(|said| !said.is_empty()));
            } else {
                let later = named.iter().filter(|number| **number > ground.number);
                let later = later.flat_map(|number| self.numbered(*number));
                let later = later.filter(|shown| shown.bearing == Bearing::Call);
                let called = later.flat_map(|shown| shown.own.iter().chain(&shown.names));
                sayings.push(called.flat_map(|text| words(text)).chain(calls).collect());
            }
        }
        sayings
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
                said.has_share(&words(point), &BTreeSet::new())
                    && self.speaks_against(ground, point)
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
        let has_most = shared * 100 >= SAYS_IT * part_words.len();
        // What only stands in another order, the user has to say in that order.
        let has_order = || {
            ground
                .own
                .iter()
                .any(|own| is_within(&in_order(part), &in_order(own)))
        };
        has_turn && has_most && (!turn.is_empty() || has_order())
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

/// What stands between signs and blanks.
fn pieces_of(text: &str) -> impl Iterator<Item = &str> {
    let pieces = text.split(|c: char| !c.is_alphanumeric());
    pieces.filter(|piece| !piece.is_empty())
}

fn has_word(text: &str, word: &str) -> bool {
    pieces_of(text).any(|piece| piece == word)
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

impl Grounds<'_> {
    /// Tells whether a ground speaks against a key point, of which it says much.
    fn speaks_against(&self, ground: &ShownEvent, point: &str) -> bool {
        match (ground.bearing, ground.kind.as_str()) {
            (Bearing::PassedLater, _) => false,
            (Bearing::Words, _) | (_, REFUSAL) => {
                let own = ground.own.join("\n");
                let stand = clauses_of(ground).stand_to(&Clauses::of(point));
                let opposes = stand == Stand::Opposes && holds_always(&own, point);
                opposes || stand != Stand::Agrees && ends(&own, point)
            }
            (_, ERROR) => {
                // What found something is not wrong itself.
                let is_wrong = self.evidence.entry(ground.number);
                let called = ground.own.iter().chain(&ground.names);
                let called: Vec<String> = called.map(|text| plain(text)).collect();
                let is_called = |name: &NameInText| called.iter().any(|call| name.stands_in(call));
                is_wrong.is_some_and(|entry| WRONG_CALL.is(entry))
                    && names(point).iter().any(is_called)
            }
            _ => false,
        }
    }
}

/// Tells whether what the user says of a key point has no condition: "push when it is green".
fn holds_always(own: &str, point: &str) -> bool {
    let point = words(point);
    let is_about = |said: &&str| words(said).intersection(&point).count() * 2 >= point.len();
    let mut said = own
        .split(['.', '!', '?', ',', ';', '\n'])
        .filter(is_about)
        .peekable();
    said.peek().is_none() || said.any(|said| !TELLS_ORDER.is(said) && !NARROWS.is(said))
}

/// Tells whether a sentence of the user's says that what it has much of holds no more.
fn ends(own: &str, point: &str) -> bool {
    let point = words(point);
    let has_much = |said: &str| words(said).intersection(&point).count() * SHARE >= point.len();
    let mut clauses = own.split(['.', '!', '?', ',', ';', '\n']);
    let mut sentences = own.split(['.', '!', '?', '\n']);
    clauses.any(|said| ENDED.is(said) && has_much(said))
        || sentences.any(|said| REPLACED.is(said) && has_much(said))
}
