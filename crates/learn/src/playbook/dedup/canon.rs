//! The form of a text in which two wordings of one rule look alike.

use super::words::{KEPT_AFTER_NOT, PHRASES, Role, role, stem};
use crate::transcript::words::OPENERS;

/// Stands for every negation.
const NOT: &str = "¬";
/// The stem of `use`.
const USE: &str = "us";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CanonToken {
    pub(super) text: String,
    /// Whether a text with it says something else than the same text without it.
    pub(super) hard: bool,
}

#[derive(Debug)]
pub(super) struct Canon {
    pub(super) tokens: Vec<CanonToken>,
    /// The trigrams of the tokens, sorted, each with how often it occurs.
    trigrams: Vec<([char; 3], u32)>,
}

impl Canon {
    pub(super) fn of(text: &str) -> Self {
        let tokens = tokens(text);
        let trigrams = trigrams(&tokens);
        Self { tokens, trigrams }
    }

    /// The words that turn a rule round, each negation as one sign.
    pub(super) fn turning(&self) -> impl Iterator<Item = &str> {
        let texts = self.tokens.iter().map(|token| token.text.as_str());
        texts.filter(|text| [NOT, "before", "after"].contains(text))
    }

    /// How often it forbids or denies something.
    pub(super) fn denials(&self) -> usize {
        self.tokens.iter().filter(|token| is_not(token)).count()
    }

    /// The cosine of the two trigram counts: 1 for the same tokens in the same order.
    pub(super) fn cosine(&self, other: &Self) -> f64 {
        let norm = |counts: &[([char; 3], u32)]| -> f64 {
            counts.iter().map(|(_, n)| f64::from(*n).powi(2)).sum()
        };
        let (mut a, mut b) = (
            self.trigrams.iter().peekable(),
            other.trigrams.iter().peekable(),
        );
        let mut dot = 0.0;
        while let (Some((gram, n)), Some((other, m))) = (a.peek(), b.peek()) {
            match gram.cmp(other) {
                std::cmp::Ordering::Less => _ = a.next(),
                std::cmp::Ordering::Greater => _ = b.next(),
                std::cmp::Ordering::Equal => {
                    dot += f64::from(*n) * f64::from(*m);
                    _ = (a.next(), b.next());
                }
            }
        }
        let norms = norm(&self.trigrams) * norm(&other.trigrams);
        if norms == 0.0 {
            0.0
        } else {
            dot / norms.sqrt()
        }
    }
}

fn trigrams(tokens: &[CanonToken]) -> Vec<([char; 3], u32)> {
    let mut chars = vec![' '];
    for token in tokens {
        chars.extend(token.text.chars());
        chars.push(' ');
    }
    let mut grams: Vec<[char; 3]> = chars.windows(3).map(|w| [w[0], w[1], w[2]]).collect();
    grams.sort_unstable();
    let mut counts: Vec<([char; 3], u32)> = Vec::with_capacity(grams.len());
    for gram in grams {
        match counts.last_mut() {
            Some((last, count)) if *last == gram => *count += 1,
            _ => counts.push((gram, 1)),
        }
    }
    counts
}

fn tokens(text: &str) -> Vec<CanonToken> {
    let text = text.replace(['’', '‘'], "'");
    let words = clauses_in_order(text.split_whitespace().collect());
    let words: Vec<&str> = words.into_iter().flat_map(parts).collect();
    let lower: Vec<String> = words
        .iter()
        .map(|word| word.to_lowercase().trim_end_matches("'s").to_owned())
        .collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let phrase = lower.get(at + 1).and_then(|next| {
            let fits = |(a, b, _): &&(&str, &str, Role)| *a == lower[at] && b == next;
            PHRASES.iter().find(fits)
        });
        if let Some((_, _, role)) = phrase {
            push(&mut tokens, *role, "");
            at += 2;
            continue;
        }
        if is_code(words[at]) {
            tokens.push(hard(words[at]));
        } else {
            push(&mut tokens, role(&lower[at]), &lower[at]);
        }
        at += 1;
    }
    tokens
}

fn push(tokens: &mut Vec<CanonToken>, role: Role, word: &str) {
    match role {
        Role::Empty => {
            if tokens.last().is_some_and(is_not) && KEPT_AFTER_NOT.contains(&word) {
                tokens.push(hard(word));
            }
        }
        Role::Negation => tokens.push(hard(NOT)),
        Role::Hinge(text) => tokens.push(hard(text)),
        Role::Hard => tokens.push(hard(word)),
        Role::Means(words) => tokens.extend(words.split(' ').map(plain)),
        Role::Content => {
            let token = plain(word);
            // `do not use x` and `avoid x` are one rule.
            if !(token.text == USE && tokens.last().is_some_and(is_not)) {
                tokens.push(token);
            }
        }
    }
}

fn is_not(token: &CanonToken) -> bool {
    token.text == NOT
}

fn hard(text: &str) -> CanonToken {
    CanonToken {
        text: text.to_owned(),
        hard: true,
    }
}

fn plain(word: &str) -> CanonToken {
    CanonToken {
        text: stem(word),
        hard: false,
    }
}

/// Moves a clause that opens the text and ends with a comma to the end.
fn clauses_in_order(mut words: Vec<&str>) -> Vec<&str> {
    let first = words.first().copied().unwrap_or_default();
    if OPENERS.has(&first.to_lowercase())
        && let Some(comma) = words.iter().position(|word| word.ends_with(','))
    {
        let clause = comma + 1;
        if clause < words.len() {
            words.rotate_left(clause);
        }
    }
    words
}

/// Strips the punctuation of prose; a word of letters with hyphens becomes its parts.
fn parts(word: &str) -> Vec<&str> {
    let is_prose =
        |c: char| "\"'`()[]{},;:!?*".contains(c) || (!c.is_ascii() && !c.is_alphanumeric());
    let word = word.trim_matches(is_prose).trim_end_matches('.');
    // What a full stop hid: `` `x`. `` and `(x).`, and the empty call of a function.
    let word = word.trim_matches(is_prose);
    let is_compound = word.contains('-')
        && word
            .split('-')
            .all(|part| part.chars().all(char::is_alphabetic))
        && !word.starts_with('-');
    if is_compound {
        return word.split('-').filter(|part| !part.is_empty()).collect();
    }
    if word.chars().all(|c| c == '-') {
        return Vec::new();
    }
    vec![word]
}

/// Tells code, names and numbers from words: these must be equal letter by letter.
fn is_code(word: &str) -> bool {
    let letters = |c: char| c.is_alphabetic() || c == '\'';
    let has_inner_capital = word
        .chars()
        .zip(word.chars().skip(1))
        .any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    word != "&" && (has_inner_capital || !word.chars().all(letters))
}
