//! What single words mean for the comparison of two rules: the tables.
//!
//! Small on purpose: a word that is missing here costs a missed duplicate, a wrong one
//! costs a rule.

use std::collections::HashMap;
use std::sync::LazyLock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Says nothing: the rule is the same without it.
    Empty,
    /// Turns the rule round.
    Negation,
    /// Narrows or turns the rule: one side cannot have it more than the other.
    Hinge(&'static str),
    /// As a hinge, under its own name.
    Hard,
    Means(&'static str),
    Content,
}

/// Two words that stand for one, or for nothing.
pub(super) const PHRASES: [(&str, &str, Role); 7] = [
    ("make", "sure", Role::Empty),
    ("be", "sure", Role::Empty),
    ("in", "order", Role::Empty),
    ("rather", "than", Role::Hinge("instead")),
    ("instead", "of", Role::Hinge("instead")),
    ("prior", "to", Role::Hinge("before")),
    ("refrain", "from", Role::Negation),
];

/// Words that say nothing, except right after a negation: `not all`, `do not need to`.
pub(super) const KEPT_AFTER_NOT: [&str; 8] = [
    "always", "all", "each", "every", "need", "needs", "must", "have",
];

/// The meanings of words; `meaning: word word …` a line.
const MEANINGS: &str = include_str!("../../../data/dedup.txt");

pub(super) fn role(word: &str) -> Role {
    static ROLES: LazyLock<HashMap<&str, Role>> = LazyLock::new(|| {
        let lines = MEANINGS.lines().filter(|line| !line.starts_with('#'));
        let lines = lines.filter_map(|line| line.split_once(": "));
        let roles = lines.flat_map(|(meaning, words)| {
            let role = match meaning.split_once(' ') {
                Some(("hinge", name)) => Role::Hinge(name),
                Some(("means", words)) => Role::Means(words),
                _ if meaning == "negation" => Role::Negation,
                _ if meaning == "hard" => Role::Hard,
                _ => Role::Empty,
            };
            words.split(' ').map(move |word| (word, role))
        });
        roles.collect()
    });
    match ROLES.get(word) {
        Some(role) => *role,
        None if word.ends_with("n't") => Role::Negation,
        None => Role::Content,
    }
}

/// The stem of a word: its ending for number, tense and person cut off. Only has to give
/// equal stems to the forms of one word.
pub(super) fn stem(word: &str) -> String {
    let cut = ["ing", "ies", "ied", "ed", "es", "s", "e"]
        .iter()
        .find_map(|ending| {
            let rest = word.strip_suffix(ending)?;
            let is_word = rest.len() >= 2 && rest.bytes().any(|b| b"aeiouy".contains(&b));
            let is_plural = *ending != "s" || !rest.ends_with(['s', 'u', 'i']);
            (is_word && is_plural).then_some((rest, *ending))
        });
    match cut {
        Some((rest, "ies" | "ied")) => format!("{rest}y"),
        Some((rest, "ing" | "ed")) => without_doubled_end(rest).to_owned(),
        Some((rest, _)) => rest.to_owned(),
        None => word.to_owned(),
    }
}

/// Takes back the letter that an ending doubled: `running`, but `adding`, `calling`.
fn without_doubled_end(stem: &str) -> &str {
    let mut ends = stem.chars().rev();
    match (ends.next(), ends.next()) {
        (Some(last), Some(other)) if last == other && !"adeflosz".contains(last) => {
            &stem[..stem.len() - last.len_utf8()]
        }
        _ => stem,
    }
}
