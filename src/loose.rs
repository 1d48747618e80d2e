//! JSON that others write, as a hook reads it: a value is taken where it has the right
//! type, and passed over where it has not.
//!
//! No tree of values is built, and nothing that is not wanted is kept.

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::value::RawValue;

/// A field whose value is absent where it has another type.
pub(crate) fn loose<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    Ok(read(<&RawValue>::deserialize(from)?))
}

/// A field that is a list: its items of the right type, and none of what is no list.
pub(crate) fn items<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    let list = <&RawValue>::deserialize(from)?;
    let items: Vec<&RawValue> = serde_json::from_str(list.get()).unwrap_or_default();
    Ok(items.into_iter().filter_map(read).collect())
}

/// Reads one value; a list is none of those that we want, though serde would take its items
/// for the fields of a struct.
pub(crate) fn read<'a, T: Deserialize<'a>>(value: &'a RawValue) -> Option<T> {
    let text = value.get();
    (!text.starts_with('[')).then(|| serde_json::from_str(text).ok())?
}

/// A field that must be an object, though what is in it may be of any type.
pub(crate) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<T, D::Error> {
    let value = <&RawValue>::deserialize(from)?.get();
    if !value.starts_with('{') {
        return Err(D::Error::custom("expected an object"));
    }
    serde_json::from_str(value).map_err(|error| {
        let message = error.to_string();
        let reason = message.rsplit_once(" at line ");
        D::Error::custom(reason.map_or(message.as_str(), |(reason, _)| reason))
    })
}
