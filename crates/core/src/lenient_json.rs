//! JSON that others write, as a hook reads it: a value is taken where it has the right
//! type, and passed over where it has not.

use serde::de::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A field whose value is absent where it has another type; a list is no struct, though
/// serde would take its items for the fields of one.
pub fn lenient<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    let text = <&RawValue>::deserialize(from)?.get();
    Ok((!text.starts_with('['))
        .then(|| serde_json::from_str(text).ok())
        .flatten())
}
