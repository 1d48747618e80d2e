//! Citations by which the assistant says that a key point failed it.
//!
//! "[pat-001] does not work here" names the point and does not follow it: such a citation
//! never speaks for the point. It need not speak against it either.

use std::sync::LazyLock;

use regex::Regex;

use super::english::pattern;
use super::facts::{Facts, Stance};
use crate::playbook::Id;

/// What a sentence says after the id when the point is its subject.
const AFTER: &str = r"(?ix)
    ^ \W* (?: [\w'-]+ \W+ ){0,3}? (?:
        (?: does | did | do | would | could | will | is | was | has | can ) (?: n't | \s not | not ) \W+ (?: \w+ \W+ ){0,2}?
            (?: work | help | apply | applies | hold | fit | match | solve | fix | exist | correct | true | right | valid | accurate | relevant | useful | up | needed | cover )
      | no \s longer \s
      | (?: is | are | was | were | seems? | looks? | appears? | proved | became | turned \s out | has \s become | 's ) \W+ (?: \w+ \W+ ){0,3}?
            (?: outdated | out[\ -]of[\ -]date | obsolete | stale | deprecated | superseded | wrong | incorrect | mistaken | misleading
              | inaccurate | invalid | irrelevant | unhelpful | useless | broken | (?: of \s )? no \s (?: help | use ) | false | gone | replaced | removed
              | not \s to )
      | (?: failed | fails | broke | breaks | misled | backfired | made \s no \s difference | made \s (?: it | things ) \s worse
          | led \s (?: me | us ) | cost \s (?: me | us ) | contradicts
          | (?: led \s to | caused | resulted \s in | gave ) \s (?: an? | the | more | new )? \s? (?: errors? | failures? | mess | regressions? ) )
    ) \b
";
/// The same of a later clause that speaks of the point: "…, but it did not help".
const LATER: &str = r"(?ix)
    \b (?: but | however | yet | though | although | unfortunately | sadly | which | and | since | because ) \W+
    (?: (?: it | that | this | which | following \s it | (?: the | that ) \s \w+ ) \W? )?
    (?: (?: only | still | just | then ) \W+ )? (?:
        (?: does | did | would | is | was | has ) (?: n't | \s not ) \W+ (?: \w+ \W+ ){0,2}? (?: work | help | apply | applies | hold | fit | solve | fix | correct | right | true )
      | failed | fails | broke | breaks | backfired | misled | made \s no \s difference | made \s (?: it | things ) \s worse
      | (?: is | was | 's ) \W+ (?: \w+ \W+ ){0,2}? (?: outdated | wrong | obsolete | stale | useless | misleading | no \s help | gone | removed )
      | no \s longer
    ) \b
";
/// What a sentence says before the id.
const BEFORE: &str = r"(?ix)
    \b (?: contrary \s to | despite | in \s spite \s of | unlike | ignor (?: e | ed | ing ) | overrid (?: e | es | ing ) | overrode
      | disregard (?: ed | ing )? | skip (?: ped | ping ) | disagree \s with | violat (?: e | es | ed | ing ) | contradict (?: s | ed | ing )? | (?: goes | went | going ) \s against
      | instead \s of | rather \s than | (?: not | n't ) \s (?: follow | apply | use | rely ) \w* (?: \s on )? | without \s (?: following | using | applying )
      | outdated | obsolete | stale | wrong | incorrect | misleading | unhelpful | deprecated
      | (?: not | n't ) \s (?: help | work ) \w* | failed \s (?: with | despite | when | after | using | following | by )
      | no \s (?: use | help ) | in \s vain ) \W+ (?: [\w'-]+ \W+ ){0,4} $
";
/// How a sentence begins that goes on about the one before it.
const GOES_ON: &[&str] = &[
    "it ",
    "that ",
    "this ",
    "but ",
    "however",
    "unfortunately",
    "sadly",
];

static SIGNS: LazyLock<Option<[Regex; 3]>> =
    LazyLock::new(|| Some([pattern(AFTER)?, pattern(LATER)?, pattern(BEFORE)?]));

/// Tells whether a session disowns a key point anywhere it cites it.
pub fn is_disowned(facts: &Facts, id: &Id) -> bool {
    let mut uses = facts.uses.iter().filter(|cited| cited.id == *id);
    uses.any(|cited| cited.stance == Stance::Disowns)
}

pub(crate) fn stance(quote: &str, id: &Id) -> Stance {
    if disowns(quote, id) {
        Stance::Disowns
    } else {
        Stance::Takes
    }
}

/// Tells whether a text says of the key point it cites that it failed, is outdated or did
/// not help.
fn disowns(text: &str, id: &Id) -> bool {
    let text = text.replace('’', "'");
    let (Some([after, later, before]), Some((left, right))) =
        (SIGNS.as_ref(), text.split_once(&format!("[{id}]")))
    else {
        return false;
    };
    let left = left.rfind(is_end).map_or(left, |end| &left[end + 1..]);
    let (right, rest) = right.split_at(right.find(is_end).unwrap_or(right.len()));
    let next = rest.trim_start_matches(is_end).trim_start();
    let next = &next[..next.find(is_end).unwrap_or(next.len())];
    let lower = next.to_lowercase();
    let goes_on = GOES_ON.iter().any(|start| lower.starts_with(start));
    after.is_match(right)
        || later.is_match(right)
        || before.is_match(left)
        || (goes_on && later.is_match(&format!("but {next}")))
}

fn is_end(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("[pat-001] does not work here, so I use the other way.")]
    #[case("[pat-001] doesn’t apply to this crate.")]
    #[case("[pat-001] is outdated: the script is gone.")]
    #[case("Contrary to [pat-001], the tests need a database.")]
    #[case("I tried [pat-001], but it did not help with the timeout.")]
    #[case("I followed [pat-001]. It did not work.")]
    #[case("This goes against [pat-001], which is no longer true.")]
    #[case("I am ignoring [pat-001] here.")]
    #[case("Skipping [pat-001]: that script is gone.")]
    fn a_point_that_failed_is_disowned(#[case] text: &str) {
        assert!(disowns(text, &Id::parse("pat-001").unwrap()), "{text}");
    }

    #[rstest]
    #[case("By [pat-001], the tests first.")]
    #[case("The build failed as [pat-001] warned, so I install the tool first.")]
    #[case("The old lock file was wrong. By [pat-001] I make a new one.")]
    #[case("[pat-001] helped: the tests that failed pass now.")]
    #[case("Per [pat-001] I use pnpm; npm does not work here.")]
    #[case("[pat-002] is outdated.")]
    #[case("")]
    fn a_point_that_is_followed_is_not(#[case] text: &str) {
        assert!(!disowns(text, &Id::parse("pat-001").unwrap()), "{text}");
    }
}
