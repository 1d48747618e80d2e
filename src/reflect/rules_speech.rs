//! Which sentences of a user are rules for every session.
//!
//! Precision before recall: a wrong rule costs more than a missed one. A sentence becomes a
//! rule only if it has the form of one ([`FORMS`]) *and* nothing in it ties it to the moment
//! ([`is_fleeting`]): "no, use pnpm" is a rule, "no, use the other one" is an order for one
//! task. Only what a person typed comes here, never the output of a tool.

use super::rules_phrases::{
    AFTER_RELATIVE_THAT, FLEETING, FLEETING_PHRASES, FORMS, HERE, LEADS, MAKING_VERBS, MODALS,
    NOT_A_CHOICE, NOT_AN_ORDER, Need, OF_THE_WORK, OTHER_LANGUAGES, RECURS, REPORTS, SCOPES,
    SURE_LEADS, TASK_VERBS,
};
use super::rules_strip::{Stripped, is_loose};
use crate::clip::head;
use crate::playbook::Section;
use crate::transcript::SaidKind;
use crate::transcript::sentences::sentences;

/// How many bytes of what was said are looked at; what is longer is pasted.
const LOOKED_AT: usize = 1_000;
/// How many rules one prompt can make.
const MAX_RULES: usize = 3;
/// Words of a rule, at most.
const MAX_WORDS: usize = 40;

/// A sentence that holds for every session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) section: Section,
    pub(super) text: String,
}

/// Returns the rules in what a user said.
pub(super) fn rules_in(kind: SaidKind, text: &str) -> Vec<Rule> {
    sentences(head(text, LOOKED_AT))
        .filter_map(|sentence| match kind {
            SaidKind::Fact => fact(sentence),
            SaidKind::Correction | SaidKind::RejectionWords => rule(sentence, Mood::Contradicts),
            SaidKind::StandingInstruction => rule(sentence, Mood::Instructs),
        })
        .take(MAX_RULES)
        .collect()
}

/// In what mood a sentence was said.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    Contradicts,
    Instructs,
}

fn rule(sentence: &str, mood: Mood) -> Option<Rule> {
    let sentence = sentence.trim();
    if is_question(sentence) || sentence.split_whitespace().count() > MAX_WORDS {
        return None;
    }
    if let Some(text) = other_language(sentence) {
        return Some(preference(text));
    }
    let stripped = Stripped::of(sentence);
    let body = stripped.body.as_str();
    let lower = body.to_ascii_lowercase();
    if body.is_empty() || is_fleeting(&lower) {
        return None;
    }
    if stripped.remember {
        return statement(body, &lower);
    }
    if let Some(text) = by_form(body, &lower, mood) {
        return Some(preference(&text));
    }
    let ordered = stripped.standing && is_lasting_order(&lower);
    let ordered = ordered || (recurs(&lower) && is_lasting_order(&lower));
    if ordered || is_conditional_rule(&lower, stripped.standing) || is_modal_rule(&lower, mood) {
        return Some(preference(body));
    }
    None
}

fn by_form(body: &str, lower: &str, mood: Mood) -> Option<String> {
    let (opening, opens, need) = FORMS.iter().find_map(|(openings, opens, need)| {
        let opening = openings
            .iter()
            .find(|opening| lower.starts_with(*opening))?;
        Some((*opening, *opens, *need))
    })?;
    let (rest, lower) = (&body[opening.len()..], &lower[opening.len()..]);
    let fits = match need {
        Need::Order => is_lasting_order(lower),
        Need::General => is_general(lower) && !limits_a_task(lower, mood),
        Need::Doing => is_doing(lower) && is_general(lower),
        Need::Choice => is_choice(lower) && (has_scope(lower) || !is_identifier(rest)),
        Need::Detail => {
            is_choice(lower)
                && content_words(lower) >= if lower.starts_with("any ") { 2 } else { 3 }
        }
    };
    fits.then(|| format!("{opens}{rest}"))
}

/// "When you commit, never …"; "in this repo we always …".
fn is_conditional_rule(lower: &str, standing: bool) -> bool {
    if !LEADS.iter().any(|lead| lower.starts_with(lead)) {
        return false;
    }
    let after_comma = lower.split_once(", ").map(|(_, order)| order);
    let sure = standing || SURE_LEADS.iter().any(|lead| lower.starts_with(lead));
    let by_comma = after_comma.is_some_and(|order| {
        (sure && is_order(order))
            || ["always ", "never ", "don't ", "do not "]
                .iter()
                .any(|opening| order.strip_prefix(opening).is_some_and(is_lasting_order))
            || ["use ", "prefer "]
                .iter()
                .any(|opening| order.strip_prefix(opening).is_some_and(is_choice))
    });
    by_comma
        || [" always ", " never "].iter().any(|mark| {
            lower
                .split_once(mark)
                .is_some_and(|(_, order)| is_lasting_order(order))
        })
}

/// "Run the linter before every commit".
fn recurs(lower: &str) -> bool {
    RECURS.iter().any(|phrase| lower.contains(phrase))
}

/// "Commit messages must be in English".
fn is_modal_rule(lower: &str, mood: Mood) -> bool {
    MODALS.iter().any(|modal| {
        let Some((subject, rest)) = lower.split_once(modal) else {
            return false;
        };
        let all = ["all ", "every ", "each "]
            .iter()
            .any(|word| subject.starts_with(word));
        let lasting = *modal != " must " || all || mood == Mood::Contradicts;
        let mut subject = words(subject);
        let of_the_work = match subject.next() {
            Some("the") if *modal == " must " => false,
            Some("the" | "our" | "all" | "every" | "each") => subject
                .next()
                .is_some_and(|noun| OF_THE_WORK.contains(&noun)),
            Some(noun) => OF_THE_WORK.contains(&noun),
            None => false,
        };
        lasting && of_the_work && subject.count() <= 4 && content_words(rest) >= 1
    })
}

/// A fact the user asked to remember.
fn statement(body: &str, lower: &str) -> Option<Rule> {
    let states = [
        " is ", " are ", " use ", " uses ", " runs ", " lives ", " needs ", " must ", " has ",
        " have ",
    ];
    let lasting = (lower.starts_with("we ") || states.iter().any(|verb| lower.contains(verb)))
        && !lower.starts_with("i ")
        && !lower.starts_with("it ")
        && content_words(lower) >= 2;
    lasting.then(|| Rule {
        section: Section::Context,
        text: tidy(body),
    })
}

/// A fact the user stated more than once.
fn fact(sentence: &str) -> Option<Rule> {
    let body = Stripped::of(sentence).body;
    let lower = body.to_lowercase();
    let subject = lower.split_whitespace().next()?;
    let lasting = !is_question(sentence)
        && !is_fleeting(&lower)
        && ![
            "i", "i'm", "i've", "it", "it's", "you", "that", "this", "there", "he", "she", "if",
            "maybe", "what",
        ]
        .contains(&subject)
        && !words(&lower).any(|word| REPORTS.contains(&word))
        && content_words(&lower) >= 3
        && lower.split_whitespace().count() <= MAX_WORDS;
    lasting.then(|| Rule {
        section: Section::Context,
        text: tidy(&body),
    })
}

fn other_language(sentence: &str) -> Option<&str> {
    let lower = sentence.to_lowercase();
    let lower = lower
        .trim_start_matches(|c: char| !c.is_alphanumeric())
        .trim_start_matches("nein, ")
        .trim_start_matches("bitte ");
    let (_, moments) = OTHER_LANGUAGES
        .iter()
        .find(|(openings, _)| openings.iter().any(|opening| lower.starts_with(opening)))?;
    let spaced = lower.is_ascii() || lower.contains(' ');
    let bound = moments.iter().any(|tie| {
        if spaced {
            words(lower).any(|word| word == *tie)
        } else {
            lower.contains(tie)
        }
    });
    let says_enough = if spaced {
        words(lower).count() >= 3
    } else {
        lower.chars().count() >= 6
    };
    (!bound && says_enough).then_some(sentence)
}

fn is_question(sentence: &str) -> bool {
    sentence.ends_with(['?', '？'])
}

/// Tells whether something in `lower` points at the moment, or at what was just done.
fn is_fleeting(lower: &str) -> bool {
    let all: Vec<&str> = words(lower).collect();
    let points = |(at, word): (usize, &&str)| match *word {
        "this" => !all.get(at + 1).is_some_and(|next| HERE.contains(next)),
        "that" => {
            at == 0
                || !all
                    .get(at + 1)
                    .is_some_and(|next| AFTER_RELATIVE_THAT.contains(next))
        }
        "it" | "them" => at <= 3 || all.len() < 8,
        "one" | "ones" => at + 1 == all.len(),
        "again" | "anymore" => all.len() < 5,
        "here" => !lower.starts_with("we "),
        word => FLEETING.contains(&word),
    };
    let text = format!(" {} ", all.join(" "));
    all.iter().enumerate().any(points)
        || FLEETING_PHRASES
            .iter()
            .any(|phrase| text.contains(&format!(" {phrase} ")))
}

/// Tells whether the words begin with an order: "run the tests", not "fails" or "the same".
fn is_order(lower: &str) -> bool {
    let Some(verb) = words(lower).next() else {
        return false;
    };
    let inflected = (verb.ends_with('s') && !verb.ends_with("ss"))
        || (verb.ends_with("ed") && !["embed", "feed", "seed", "speed", "shed"].contains(&verb));
    !inflected && !NOT_AN_ORDER.contains(&verb)
}

/// Tells whether an order can hold for every session: "update the changelog", but not
/// "validate the email field".
fn is_lasting_order(lower: &str) -> bool {
    let mut object = words(lower).skip(1);
    let definite = object.next() == Some("the");
    let of_the_work = object.take(3).any(|noun| OF_THE_WORK.contains(&noun));
    is_order(lower)
        && !is_doing(lower)
        && content_words(lower) >= 2
        && (!definite || of_the_work || has_scope(lower))
}

/// Tells whether "don't" and these words only limit the task at hand.
fn limits_a_task(lower: &str, mood: Mood) -> bool {
    let verb = words(lower).next().unwrap_or_default();
    let bare = mood == Mood::Instructs && content_words(lower) < 3;
    !has_scope(lower) && (TASK_VERBS.contains(&verb) || (bare && MAKING_VERBS.contains(&verb)))
}

/// Tells whether the words name something that goes on: "adding comments".
fn is_doing(lower: &str) -> bool {
    words(lower).next().is_some_and(|verb| {
        verb.ends_with("ing") && !["bring", "string", "ping", "spring"].contains(&verb)
    })
}

fn is_general(lower: &str) -> bool {
    const ONE_THING: &[&str] = &["the", "a", "an", "my", "your"];
    let clause = lower.split_once(", ").map_or(lower, |(clause, _)| clause);
    let definite = words(clause)
        .nth(1)
        .is_some_and(|word| ONE_THING.contains(&word));
    is_order(clause) && (!definite || has_scope(lower)) && content_words(clause) >= 2
}

fn is_choice(lower: &str) -> bool {
    let Some(thing) = words(lower).next() else {
        return false;
    };
    let definite = ["the", "a", "an"].contains(&thing);
    let particular = thing.contains('/')
        || [" as the ", " for the "]
            .iter()
            .any(|role| lower.contains(role))
        || lower.contains(['@', '%', '=']);
    let number = thing.starts_with(|c: char| c.is_ascii_digit());
    !NOT_A_CHOICE.contains(&thing) && !number && (has_scope(lower) || !(definite || particular))
}

/// Tells whether the first word is a name in the code: `getUser`, `max_len`, `f()`.
fn is_identifier(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let camel =
        first.starts_with(|c: char| c.is_lowercase()) && first.contains(|c: char| c.is_uppercase());
    camel || first.contains('_') || first.contains("()")
}

fn has_scope(lower: &str) -> bool {
    SCOPES.iter().any(|scope| lower.contains(scope))
}

/// Counts the words that say something.
fn content_words(lower: &str) -> usize {
    const EMPTY: &[&str] = &[
        "the", "and", "for", "with", "from", "into", "onto", "that", "this", "you", "your", "any",
        "all", "not", "too", "much", "many", "just", "can", "will",
    ];
    let words = words(lower).filter(|word| !EMPTY.contains(word));
    words
        .filter(|word| word.chars().count() > 2 || !word.is_ascii())
        .count()
}

fn words(lower: &str) -> impl Iterator<Item = &str> {
    lower
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '"' | '!' | '…'))
        .map(|word| word.trim_matches(|c: char| matches!(c, '.' | ':' | '`' | '\'' | '*')))
        .filter(|word| !word.is_empty())
}

fn preference(text: &str) -> Rule {
    Rule {
        section: Section::Preferences,
        text: tidy(text),
    }
}

/// One line that begins with a capital, unless its first word is a name of code.
fn tidy(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.trim_matches(|c: char| is_loose(c) && c != '-');
    let first = text.split(' ').next().unwrap_or_default();
    let mut chars = text.chars();
    match chars.next() {
        Some(c) if first.chars().all(|c| c.is_alphabetic() || c == '\'') => {
            c.to_uppercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}
