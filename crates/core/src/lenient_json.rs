//! Lenient reading of JSON that others write: values of an unexpected type are skipped.

use serde::de::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A value of another type counts as absent, also a list, whose items serde takes for fields.
pub fn lenient<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    let text = <&RawValue>::deserialize(from)?.get();
    Ok((!text.starts_with('['))
        .then(|| serde_json::from_str(text).ok())
        .flatten())
}
