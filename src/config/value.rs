//! The types of settings, each with its reading from TOML and its display.

use std::cmp::Ordering;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Serialize;
use toml::de::DeValue;

pub(super) type Bounds = Option<(&'static str, &'static str)>;

pub(super) trait Setting: Sized + Serialize {
    /// The kinds of values that are accepted, in words.
    const KIND: &[&str];

    fn read(value: &DeValue<'_>) -> Result<Self, String>;

    /// Returns the value as TOML; `None` if it has none.
    fn show(&self) -> Option<String> {
        let value = toml::Value::try_from(self).ok()?;
        Some(value.to_string())
    }

    fn within(self, low: &str, high: &str) -> Result<Self, String> {
        let number = |text: &str| text.replace('_', "").parse().unwrap_or(f64::NAN);
        let shown = self.show().unwrap_or_default();
        let (low, high, value) = (number(low), number(high), number(&shown));
        if low <= value && value <= high {
            Ok(self)
        } else {
            Err(format!("must be from {low} to {high}, not {shown}"))
        }
    }

    /// Returns the value if it allows no more than `current` does.
    fn lowering(self, current: &Self) -> Result<Self, String>
    where
        Self: PartialOrd,
    {
        if self <= *current {
            return Ok(self);
        }
        let text = |value: &Self| value.show().unwrap_or_default();
        Err(format!(
            "can only be lowered by a project: {} is above the user's {}",
            text(&self),
            text(current)
        ))
    }
}

pub(super) fn mismatch(wanted: &str, found: &DeValue<'_>) -> String {
    format!("must be {wanted}, not {}", article(found.type_str()))
}

fn article(noun: &str) -> String {
    let vowel = noun.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {noun}", if vowel { "an" } else { "a" })
}

impl Setting for bool {
    const KIND: &[&str] = &["`true` or `false`"];

    fn read(value: &DeValue<'_>) -> Result<Self, String> {
        value
            .as_bool()
            .ok_or_else(|| mismatch("true or false", value))
    }
}

macro_rules! whole_numbers {
    ($($ty:ty),*) => {$(
        impl Setting for $ty {
            const KIND: &[&str] = &["whole number"];

            fn read(value: &DeValue<'_>) -> Result<Self, String> {
                let number = value.as_integer().ok_or_else(|| mismatch("a whole number", value))?;
                if number.as_str().starts_with('-') {
                    return Err(format!("must not be negative: {number}"));
                }
                <$ty>::from_str_radix(number.as_str(), number.radix())
                    .map_err(|_| format!("is too large: {number}"))
            }
        }
    )*};
}
whole_numbers!(u32, u64, usize);

/// A spending limit. 0 means no limit and compares above every other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Limit(pub u64);

impl Limit {
    pub(crate) fn allows(self, amount: u64) -> bool {
        self.0 == 0 || amount <= self.0
    }

    /// Returns the end of this many milliseconds from `begun` on; `None` without a limit.
    pub(crate) fn deadline(self, begun: Instant) -> Option<Instant> {
        begun.checked_add(Duration::from_millis(self.get()?))
    }

    pub(crate) fn get(self) -> Option<u64> {
        (self.0 > 0).then_some(self.0)
    }
}

impl PartialOrd for Limit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        // 0 wraps to the greatest number.
        Some(self.0.wrapping_sub(1).cmp(&other.0.wrapping_sub(1)))
    }
}

impl Setting for Limit {
    const KIND: &[&str] = u64::KIND;

    fn read(value: &DeValue<'_>) -> Result<Self, String> {
        u64::read(value).map(Self)
    }
}

impl Setting for String {
    const KIND: &[&str] = &["string"];

    fn read(value: &DeValue<'_>) -> Result<Self, String> {
        let text = value.as_str().ok_or_else(|| mismatch("a string", value))?;
        if text.trim().is_empty() {
            return Err("must not be empty".to_owned());
        }
        Ok(text.to_owned())
    }
}

impl Setting for PathBuf {
    const KIND: &[&str] = &["path"];

    fn read(value: &DeValue<'_>) -> Result<Self, String> {
        String::read(value).map(Self::from)
    }
}

impl<T: Setting> Setting for Vec<T> {
    const KIND: &[&str] = &["list of strings"];

    fn read(value: &DeValue<'_>) -> Result<Self, String> {
        let list = value
            .as_array()
            .ok_or_else(|| mismatch("a list of strings", value))?;
        list.iter().map(|item| T::read(item.get_ref())).collect()
    }
}

impl<T: Setting> Setting for Option<T> {
    const KIND: &[&str] = T::KIND;

    fn read(value: &DeValue<'_>) -> Result<Self, String> {
        T::read(value).map(Some)
    }
}

/// Defines enums whose variants are words in the settings; the first is the least.
macro_rules! choices {
    ($(
        $(#[$meta:meta])*
        $name:ident { $( $variant:ident = $word:literal, )* }
    )*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
        pub enum $name {
            $( $variant, )*
        }

        impl $name {
            const WORDS: &[&str] = &[$($word),*];

            pub(crate) fn from_word(word: &str) -> Option<Self> {
                match word {
                    $( $word => Some(Self::$variant), )*
                    _ => None,
                }
            }

            pub(crate) fn word(self) -> &'static str {
                match self { $( Self::$variant => $word, )* }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.word())
            }
        }

        impl Setting for $name {
            const KIND: &[&str] = &[$(concat!("`\"", $word, "\"`")),*];

            fn read(value: &DeValue<'_>) -> Result<Self, String> {
                let Some(word) = value.as_str() else {
                    return Err($crate::config::value::mismatch("a string", value));
                };
                Self::from_word(word).ok_or_else(|| {
                    let found = $crate::config::nearest::quoted(word);
                    let found = found.map_or(String::new(), |word| format!(", not {word}"));
                    format!("must be one of {}{found}", Self::WORDS.join(", "))
                })
            }
        }
    )*};
}
pub(super) use choices;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_is_above_every_limit() {
        assert!(Limit(0) > Limit(u64::MAX - 1) && Limit(5) > Limit(4) && Limit(1) < Limit(2));
        assert!(Limit(0).allows(u64::MAX) && Limit(5).allows(5) && !Limit(5).allows(6));
    }
}
