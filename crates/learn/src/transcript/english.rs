//! Patterns of English: those of `data/english.toml`, each compiled when it is first needed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

/// What of a pattern counts only letters and digits of ASCII.
const ASCII: [(&str, &str); 5] = [
    (r"\b", r"(?-u:\b)"),
    (r"\w", r"[0-9A-Za-z_]"),
    (r"\W", r"[^0-9A-Za-z_]"),
    (r"\d", r"[0-9]"),
    // Within a clause; of a class of all signs it would be ten times the size.
    (r"[^.;:]", r"[\x00-\x2d\x2f-\x39\x3c-\x7f]"),
];

/// Compiles a pattern in which words are those of English. It is a tenth of the size, and its
/// search stays a quick one in a text that has signs of other scripts.
pub(crate) fn pattern(pattern: &str) -> Option<Regex> {
    let ascii = ASCII
        .iter()
        .fold(pattern.to_owned(), |pattern, (of_all, of_ascii)| {
            pattern.replace(of_all, of_ascii)
        });
    Regex::new(&ascii).ok()
}

/// Compiles a pattern of the file.
pub(crate) fn written(name: &str) -> Option<Regex> {
    pattern(&format!("(?ix){}", WRITTEN.get(name)?))
}

/// A pattern of `data/english.toml`, by its name.
pub(crate) struct EnglishPattern(pub(crate) LazyLock<Option<Regex>>);

static WRITTEN: LazyLock<HashMap<String, String>> =
    LazyLock::new(|| toml::from_str(include_str!("../../data/english.toml")).unwrap_or_default());

impl EnglishPattern {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.0
            .as_ref()
            .is_some_and(|pattern| pattern.is_match(text))
    }

    pub(crate) fn without<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let pattern = self.0.as_ref();
        pattern.map_or(text.into(), |pattern| pattern.replace_all(text, ""))
    }
}

/// Names the patterns that a module reads by.
macro_rules! patterns {
    ($($name:ident)+) => {
        $(static $name: $crate::transcript::english::EnglishPattern = $crate::transcript::english::EnglishPattern(
            std::sync::LazyLock::new(|| $crate::transcript::english::written(stringify!($name))),
        );)+
        #[cfg(test)]
        mod patterns {
            #[test]
            fn each_compiles() {
                assert!([$(&super::$name),+].iter().all(|pattern| pattern.0.is_some()));
            }
        }
    };
}
pub(crate) use patterns;
