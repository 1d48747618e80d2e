//! Whether two texts want the same of one thing or the opposite, clause by clause.
//!
//! A clause that has most words of another is about the same, and opposes it where one of them forbids
//! that and the other does not: "never push to main", "push to main". That something is not so ("we
//! are not saving it") forbids nothing. Words are compared, and nothing is understood.

use std::collections::BTreeSet;

use super::others::words;
use super::sentences::SAYS_IT;
use crate::playbook::dedup::Wording;
use crate::transcript::english::patterns;

patterns! { BANNED DENIED_TWICE DOUBT FORBIDDEN LIMITED MISSING NEEDLESS POLITE REPROACH }

/// After such a word the clause describes what it denies: "pushing is not wanted".
const FORMS_OF_BE: [&str; 6] = ["is", "are", "was", "were", "be", "been"];

/// What one text says of what another one says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    Agrees,
    Opposes,
    Silent,
}

#[derive(Debug, Default)]
pub(super) struct Clauses(Vec<Clause>);

#[derive(Debug)]
struct Clause {
    words: BTreeSet<u64>,
    denies: bool,
    /// Whether it denies something for all times, not that something is so: "we are not saving it".
    forbids: bool,
    /// Whether it names what else there is: "the settings, not the environment".
    contrasts: bool,
    /// What holds only where something else does.
    limited: Option<BTreeSet<u64>>,
}

impl Clauses {
    pub(super) fn of(text: &str) -> Self {
        let text = text
            .replace(" instead of ", " not ")
            .replace(" rather than ", " not ");
        let clauses = sentences(&text).into_iter().flat_map(|sentence| {
            // "Why do you use it?" is no wish for it; "why don't you use it?" is one.
            let wishes = POLITE.is(sentence) || REPROACH.is(sentence);
            let is_question = sentence.ends_with('?');
            let doubts = is_question && DOUBT.is(sentence) && !wishes;
            let clauses = sentence.split([',', ';', ':', '(', ')', '→', '—']);
            clauses.flat_map(scopes).map(move |clause| {
                let denies = denies(clause) != doubts;
                let says = clause.trim();
                let is_order = (FORBIDDEN.is(says) || BANNED.is(says)) && !NEEDLESS.is(says);
                Clause {
                    words: words(clause),
                    denies,
                    forbids: denies && (doubts || is_order),
                    contrasts: denies && says.starts_with("not "),
                    limited: LIMITED
                        .find(clause)
                        .filter(|_| !is_question)
                        .map(|found| words(&clause[..found.start()])),
                }
            })
        });
        // A word alone says nothing of anything.
        Self(clauses.filter(|clause| clause.words.len() > 1).collect())
    }

    /// Tells what these clauses say of those of `text`: they oppose it where they oppose one, and
    /// agree where they say something of one and oppose none.
    pub(super) fn stand_to(&self, text: &Self) -> Stand {
        let stands: Vec<Stand> = text.0.iter().map(|clause| self.stand(clause)).collect();
        let has = |stand| stands.contains(&stand);
        match (has(Stand::Opposes), has(Stand::Agrees)) {
            (true, _) => Stand::Opposes,
            (_, true) => Stand::Agrees,
            _ => Stand::Silent,
        }
    }

    /// Tells whether each clause of `text` that `before` opposes is agreed to here.
    pub(super) fn allow(&self, text: &Self, before: &Self) -> bool {
        let mut turned = text
            .0
            .iter()
            .filter(|clause| before.stand(clause) == Stand::Opposes);
        turned.all(|clause| self.stand(clause) == Stand::Agrees)
    }

    fn stand(&self, clause: &Clause) -> Stand {
        let most = |of: &BTreeSet<u64>, words: &BTreeSet<u64>| {
            of.intersection(words).count() * 100 >= SAYS_IT * of.len()
        };
        let is_about = |own: &Clause| most(&clause.words, &own.words);
        let agrees = |own: &Clause| {
            own.denies == clause.denies && (clause.limited.is_some() || own.limited.is_none())
        };
        // More words around what is forbidden do not allow it.
        let opposes = |own: &Clause| match (own.denies, clause.denies) {
            (true, false) => {
                let is_order = own.forbids || own.contrasts;
                is_order && (is_about(own) || most(&own.words, &clause.words))
            }
            (false, true) => clause.forbids && is_about(own),
            _ => {
                let limited = own.limited.as_ref().filter(|_| clause.limited.is_none());
                limited.is_some_and(|limited| is_about(own) && most(limited, &clause.words))
            }
        };
        if self.0.iter().any(|own| is_about(own) && agrees(own)) {
            Stand::Agrees
        } else if self.0.iter().any(opposes) {
            Stand::Opposes
        } else {
            Stand::Silent
        }
    }
}

/// A clause as it affirms and denies: "use the logger and never print" does both. Where too few
/// words follow what denies, it denies all ("printing is not wanted"), or a name of what else
/// there is ("use the logger, not print").
fn scopes(clause: &str) -> Vec<&str> {
    const TELLING: usize = 2;
    let mut begin = 0;
    let starts = clause.split(' ').map(|word| {
        let start = begin;
        begin += word.len() + 1;
        (start, word)
    });
    let mut denials = starts.filter(|(_, word)| Wording::of(word).denials() > 0);
    let Some((at, denial)) = denials.next() else {
        return vec![clause];
    };
    let (affirmed, denied) = clause.split_at(at);
    let is_form = |word: &str| FORMS_OF_BE.contains(&word.trim_end_matches("n't"));
    let before = affirmed.split_whitespace().last().unwrap_or_default();
    if words(affirmed).len() < TELLING {
        vec![clause]
    } else if words(denied).len() >= TELLING {
        vec![affirmed, denied]
    } else if is_form(before) || is_form(denial) {
        vec![clause]
    } else {
        vec![affirmed]
    }
}

/// Tells whether a clause forbids or denies; twice is not at all.
fn denies(clause: &str) -> bool {
    let is_missing = MISSING.is(clause.trim()) && !BANNED.is(clause);
    let twice = DENIED_TWICE.is(clause) || REPROACH.is(clause) || is_missing;
    let denials = Wording::of(clause).denials() + usize::from(twice);
    denials % 2 == 1
}

/// A text without the questions in it that wish for nothing: "should we push to main?".
pub(super) fn wishes(text: &str) -> String {
    let wishes = |sentence: &&str| {
        !sentence.ends_with('?') || POLITE.is(sentence) || Wording::of(sentence).is_negated()
    };
    sentences(text)
        .into_iter()
        .filter(wishes)
        .collect::<Vec<_>>()
        .join("\n")
}

/// The sentences of a text, each with the mark that ends it.
fn sentences(text: &str) -> Vec<&str> {
    let is_end = |at: usize, mark: &str| {
        let after = &text[at + mark.len()..];
        mark == "\n" || after.is_empty() || after.starts_with(char::is_whitespace)
    };
    let marks = text.match_indices(['.', '!', '?', '\n']);
    let ends = marks.filter(|(at, mark)| is_end(*at, mark));
    let ends = ends.map(|(at, mark)| at + mark.len()).chain([text.len()]);
    let mut begin = 0;
    let sentence = ends.map(|end| text[std::mem::replace(&mut begin, end)..end].trim());
    sentence.filter(|sentence| !sentence.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::reversed(
        "Never push to main, open a pull request.",
        "Push to main.",
        Stand::Opposes
    )]
    #[case::the_same("Never push to main.", "Do not push to main", Stand::Agrees)]
    #[case::another_clause(
        "Never push to main, open a pull request",
        "Open a pull request",
        Stand::Agrees
    )]
    #[case::forbidden("Run the linter.", "Never run the linter", Stand::Opposes)]
    #[case::not_forgotten("don't forget to run the linter", "Run the linter", Stand::Agrees)]
    #[case::never_without("never commit without tests", "Commit with tests", Stand::Agrees)]
    #[case::question("should we push to main?", "Push to main", Stand::Opposes)]
    #[case::padded(
        "never push to main",
        "Push to the main branch of the repository by default",
        Stand::Opposes
    )]
    #[case::one_name(
        "replace getUserID with a machine identifier",
        "Use a machine identifier instead of getUserID",
        Stand::Agrees
    )]
    #[case::missing(
        "the error is checked but not included in the message",
        "Include the error in the message",
        Stand::Agrees
    )]
    #[case::instead(
        "open a pull request instead of pushing to main",
        "Pushing to main",
        Stand::Opposes
    )]
    #[case::unlimited("push to main only after a review", "Push to main", Stand::Opposes)]
    #[case::reproached("you did not run the linter", "Run the linter", Stand::Agrees)]
    #[case::two_scopes(
        "use the logger and never print to stderr",
        "Never print to stderr",
        Stand::Agrees
    )]
    #[case::a_purpose(
        "use a timeout for the fetch to avoid endless hangs",
        "Use a timeout for each fetch",
        Stand::Agrees
    )]
    #[case::denied_at_the_end("pushing by hand is not wanted", "Pushing by hand", Stand::Opposes)]
    #[case::a_question_of_two(
        "do we need to test the validator or the call site?",
        "Test the call site",
        Stand::Agrees
    )]
    #[case::reproach("why didn't you run the linter?", "Run the linter", Stand::Agrees)]
    #[case::request("can you run the linter?", "Run the linter", Stand::Agrees)]
    #[case::something_else("never push to main", "Sign each release", Stand::Silent)]
    #[case::not_ok("pushing to main is not okay", "Pushing to main", Stand::Opposes)]
    #[case::you_cannot("you can't push to main", "Push to main", Stand::Opposes)]
    #[case::told_not_to("I told you not to push to main", "Push to main", Stand::Opposes)]
    #[case::we_will_not("we won't push to main", "Push to main", Stand::Opposes)]
    #[case::a_state("make lint fails", "Run `make lint` before a push", Stand::Silent)]
    #[case::what_is_so(
        "we are not storing the limit on the first import",
        "Try the first import in an empty database",
        Stand::Silent
    )]
    #[case::no_need("we don't need the lock there", "The lock is needed", Stand::Silent)]
    #[case::a_wish_in_two_denials(
        "why can't we not just use real dates?",
        "Dates here are real dates",
        Stand::Agrees
    )]
    #[case::a_contrast(
        "right now the limit is read from an environment variable",
        "Keep limits in the settings, not in environment variables",
        Stand::Silent
    )]
    #[case::a_question_about_some(
        "can we list the branches that are only local?",
        "List the branches of each user",
        Stand::Silent
    )]
    fn a_text_agrees_or_opposes(#[case] own: &str, #[case] text: &str, #[case] want: Stand) {
        assert_eq!(Clauses::of(own).stand_to(&Clauses::of(text)), want);
    }

    #[rstest]
    #[case::turned_by_the_user("we push to main now", true)]
    #[case::by_nobody("please mend the test", false)]
    fn what_is_turned_needs_a_word_for_it(#[case] own: &str, #[case] want: bool) {
        let [own, text, before] = [own, "Push to main.", "Never push to main."].map(Clauses::of);
        assert_eq!(own.allow(&text, &before), want);
    }
}
