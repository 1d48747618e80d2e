//! One kind of secret: how it is known, and what it is called.

use std::ops::Range;
use std::sync::OnceLock;

use super::pattern::Pattern;
use super::value;

/// One kind of secret.
#[derive(Debug)]
pub(super) struct Rule {
    /// What it is called in notes, counts and settings.
    pub(super) id: &'static str,
    /// Where one of these stands, in either case, the rule is tried; three bytes or more.
    pub(super) keywords: &'static [&'static str],
    /// How the secret is found there.
    pub(super) find: Find,
}

/// A rule whose patterns are compiled when they are first tried.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) rule: &'static Rule,
    compiled: OnceLock<Option<Compiled>>,
}

/// How a secret is found where a keyword stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Find {
    /// By a pattern that begins there.
    Pattern(&'static str),
    /// By a pattern that ends there and one that begins there.
    Around(&'static str, &'static str),
    /// By looking closer.
    Code(Look),
}

/// Looks at a text where a keyword begins and ends, and tells what is to be masked.
pub(super) type Look = fn(&str, Range<usize>, &mut dyn FnMut(Range<usize>));

#[derive(Debug)]
struct Compiled {
    before: Option<Pattern>,
    pattern: Pattern,
}

impl Ready {
    /// Makes a rule ready.
    pub(super) fn new(rule: &'static Rule) -> Self {
        Self {
            rule,
            compiled: OnceLock::new(),
        }
    }

    /// Calls `found` with what is to be masked around a keyword; returns the place before
    /// which nothing more needs to be looked for.
    pub(super) fn look(
        &self,
        text: &str,
        keyword: Range<usize>,
        found: &mut dyn FnMut(Range<usize>),
    ) -> usize {
        let (before, pattern) = match self.rule.find {
            Find::Code(look) => {
                let mut end = 0;
                look(text, keyword, &mut |range| {
                    end = end.max(range.end);
                    found(range);
                });
                return end;
            }
            Find::Pattern(pattern) => (None, pattern),
            Find::Around(before, pattern) => (Some(before), pattern),
        };
        let compiled = self.compiled.get_or_init(|| Compiled::new(before, pattern));
        let Some(Compiled { before, pattern }) = compiled else {
            return 0;
        };
        let Some(mut secret) = pattern.at(text.as_bytes(), keyword.start) else {
            return 0;
        };
        if let Some(before) = before {
            match before.back_from(text.as_bytes(), keyword.start) {
                Some(start) => secret.start = start,
                None => return 0,
            }
        }
        let end = secret.end;
        // The patterns' classes are ASCII, but for negated ones, which can end in a character.
        if text
            .get(secret.clone())
            .is_some_and(|s| !value::is_filler(s) && !value::is_stand_in(s))
        {
            found(secret);
        }
        end
    }
}

impl Rule {
    /// Tells whether the rule's patterns are understood.
    #[cfg(test)]
    pub(super) fn compiles(&self) -> bool {
        match self.find {
            Find::Code(_) => true,
            Find::Pattern(pattern) => Compiled::new(None, pattern).is_some(),
            Find::Around(before, pattern) => Compiled::new(Some(before), pattern).is_some(),
        }
    }
}

impl Compiled {
    fn new(before: Option<&str>, pattern: &str) -> Option<Self> {
        let before = match before {
            Some(before) => Some(Pattern::new(before)?),
            None => None,
        };
        let pattern = Pattern::new(pattern)?;
        Some(Self { before, pattern })
    }
}

/// What a rule must and must not find; what is to be masked stands in `«»`. A `¦` is no
/// part of it: it keeps other people's scanners from taking our examples for leaks.
#[cfg(test)]
#[derive(Debug)]
pub(super) struct Examples {
    pub(super) id: &'static str,
    pub(super) finds: &'static [&'static str],
    pub(super) leaves: &'static [&'static str],
}

/// Writes the keywords of a rule: some, or those `of` a table.
macro_rules! keywords {
    (of $table:path) => {
        $table
    };
    ($($keyword:literal)*) => {
        &[$($keyword),*]
    };
}
pub(super) use keywords;

/// Writes a table of rules: `id [keywords] find; finds [...] leaves [...]`.
macro_rules! rules {
    ($($id:literal [$($keyword:tt)*] $find:expr;
       finds [$($finds:literal)*] leaves [$($leaves:literal)*])*) => {
        /// The rules of this kind.
        pub(in crate::redact) const RULES: &[$crate::redact::rule::Rule] = &[
            $($crate::redact::rule::Rule {
                id: $id,
                keywords: $crate::redact::rule::keywords!($($keyword)*),
                find: $find,
            },)*
        ];

        #[cfg(test)]
        pub(in crate::redact) const EXAMPLES: &[$crate::redact::rule::Examples] = &[
            $($crate::redact::rule::Examples {
                id: $id,
                finds: &[$($finds),*],
                leaves: &[$($leaves),*],
            },)*
        ];
    };
}
pub(super) use rules;
