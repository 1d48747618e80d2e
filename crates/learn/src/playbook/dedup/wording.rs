//! How near the wordings of two texts are, and which way each is turned.

use std::collections::BTreeSet;

use super::Threshold;
use super::canon::{Canon, CanonToken};

/// What a word that only one text has takes off the similarity.
const EXTRA_WORD: f64 = 0.1;

/// A text as it is compared with others.
#[derive(Debug)]
pub struct Wording(Canon);

impl Wording {
    pub fn of(text: &str) -> Self {
        Self(Canon::of(text))
    }

    /// The words that turn what it says round: `before`, `after`, and each negation as one.
    pub(crate) fn turning(&self) -> BTreeSet<&str> {
        self.0.turning().collect()
    }

    /// Tells whether it forbids or denies something.
    pub(crate) fn is_negated(&self) -> bool {
        self.denials() > 0
    }

    /// How often it forbids or denies something: "never … without …" does so twice.
    pub(crate) fn denials(&self) -> usize {
        self.0.denials()
    }

    /// Tells whether two texts say the same; never of opposites, other numbers or names.
    pub fn says_as(&self, other: &Self, threshold: Threshold) -> bool {
        similarity(&self.0, &other.0).is_some_and(|share| share >= threshold.0)
    }
}

/// How similar two texts are, from 0 to 1; none when they cannot say the same.
pub(super) fn similarity(a: &Canon, b: &Canon) -> Option<f64> {
    let extra = extra_words(&a.tokens, &b.tokens)?;
    if extra == 0 {
        return Some(1.0);
    }
    let extra = u32::try_from(extra).unwrap_or(u32::MAX);
    Some((a.cosine(b) - EXTRA_WORD * f64::from(extra)).max(0.0))
}

/// How many words one text has more than the other, when it has all words of the other,
/// in order, and only plain ones more.
pub(super) fn extra_words(a: &[CanonToken], b: &[CanonToken]) -> Option<usize> {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.is_empty() {
        return None;
    }
    let mut wanted = short.iter().peekable();
    for token in long {
        if wanted.next_if(|wanted| *wanted == token).is_none() && token.hard {
            return None;
        }
    }
    wanted.peek().is_none().then(|| long.len() - short.len())
}
