//! Merges what has no meaning of its own to us, as git would: by key.

use serde_json::{Map, Value};

use super::Later;

/// The value of the side that changed it; of two changes that of the later side.
pub(super) fn value<'v, T: PartialEq>(
    base: Option<&'v T>,
    [ours, theirs]: [Option<&'v T>; 2],
    later: Later,
) -> Option<&'v T> {
    if ours == theirs || theirs == base {
        ours
    } else if ours == base {
        theirs
    } else {
        // A value and its removal: the value stays.
        let [first, second] = later.first([ours, theirs]);
        first.or(second)
    }
}

/// As [`value`], for each key: those of the first side in their order, then what the other has.
pub(super) fn map(
    base: &Map<String, Value>,
    [ours, theirs]: [&Map<String, Value>; 2],
    later: Later,
) -> Map<String, Value> {
    let more = theirs.keys().filter(|key| !ours.contains_key(*key));
    let keys = ours.keys().chain(more);
    let merged = keys.filter_map(|key| {
        let found = value(base.get(key), [ours.get(key), theirs.get(key)], later)?;
        Some((key.clone(), found.clone()))
    });
    merged.collect()
}
