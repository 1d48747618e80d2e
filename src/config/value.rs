//! The types of settings. Serde reads and shows a value; the words for its kind are here.

use std::cmp::Ordering;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::de::{DeserializeOwned, IntoDeserializer as _};
use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::DeValue;

use super::choices::{Approval, BackendChoice, GateMode, MemoryMode, Trigger, VotesIn, WorkerMode};
use super::define::{KeyScope, SettingKey};
use crate::prepared::Notices;

pub(super) trait Setting: DeserializeOwned + Serialize + PartialOrd {
    /// The kind of values that are accepted, in words; empty for one of a few words.
    const KIND: &str;

    /// Returns the words that are accepted; none where any text or number is.
    fn words() -> Vec<&'static str> {
        Vec::new()
    }

    fn show(&self) -> Option<String> {
        Some(toml::Value::try_from(self).ok()?.to_string())
    }
}

/// Sets a value from a file of the scope `by`, or says what is wrong with it.
pub(super) fn put<T: Setting>(
    current: &mut T,
    value: &Spanned<DeValue<'_>>,
    (key, by): (&SettingKey, KeyScope),
) -> Result<(), String> {
    if is_blank(value.get_ref()) {
        return Err("must not be empty".to_owned());
    }
    // Serde's own message would repeat the text, which may be a secret.
    let read = T::deserialize(value.clone().into_deserializer()).ok();
    let shown = |value: &T| value.show().unwrap_or_default();
    let is_within = |value: &T| {
        let number = shown(value).parse();
        key.bounds
            .is_none_or(|(low, high)| number.is_ok_and(|number| (low..=high).contains(&number)))
    };
    let read = read.filter(is_within);
    let read = read.ok_or_else(|| key.mismatch(value.get_ref()))?;
    if key.scope == KeyScope::Lower && by != KeyScope::User && read > *current {
        let (wanted, allowed) = (shown(&read), shown(current));
        return Err(format!(
            "can only be lowered by a project: {wanted} is above the user's {allowed}"
        ));
    }
    *current = read;
    Ok(())
}

fn is_blank(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::String(text) => text.trim().is_empty(),
        DeValue::Array(items) => items.iter().any(|item| is_blank(item.get_ref())),
        _ => false,
    }
}

/// Returns the type of a value for a message: `a string`.
pub(super) fn type_of(value: &DeValue<'_>) -> String {
    let noun = value.type_str();
    let vowel = noun.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {noun}", if vowel { "an" } else { "a" })
}

macro_rules! kinds {
    ($($kind:literal: $($ty:ty),+;)*) => {
        $($(impl Setting for $ty { const KIND: &str = $kind; })+)*
    };
}
kinds! {
    "true or false": bool;
    "a whole number": u32, u64, usize, Limit;
    "a string": String;
    "a path": PathBuf;
    "a list of strings": Vec<String>;
}

macro_rules! choices {
    ($($kind:literal: $($word:ty = $ty:ty),+;)*) => {$($(
        impl Setting for $ty {
            const KIND: &str = $kind;

            fn words() -> Vec<&'static str> {
                <$word>::ALL.map(<$word>::word).into()
            }
        }
    )+)*};
}
choices! {
    "": BackendChoice = BackendChoice, WorkerMode = WorkerMode, Approval = Approval,
        GateMode = GateMode, Notices = Notices, VotesIn = VotesIn, MemoryMode = MemoryMode;
    "a list of strings": Trigger = Vec<Trigger>;
}

impl<T: Setting> Setting for Option<T> {
    const KIND: &str = T::KIND;
}

/// A spending limit. 0 means no limit and compares above every other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_is_above_every_limit() {
        assert!(Limit(0) > Limit(u64::MAX - 1) && Limit(5) > Limit(4) && Limit(1) < Limit(2));
        assert!(Limit(0).allows(u64::MAX) && Limit(5).allows(5) && !Limit(5).allows(6));
    }
}
