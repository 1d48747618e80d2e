//! The stable hash by which a record is known across files and versions.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::{Deserialize, Serialize};

use crate::hint::first_eight;

/// A record's uuid as 64 bits: the first 8 bytes of its SHA-256, big-endian.
///
/// The hash is stored (jobs, memory), so it must never change. The uuid is hashed as the
/// bytes that stand between its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordHash(pub u64);

impl RecordHash {
    pub(crate) fn of(uuid: &[u8]) -> Self {
        Self(first_eight(uuid))
    }
}

/// What a text is known by within one run.
pub(crate) fn of_text(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_never_changes() {
        // printf abc | sha256sum
        assert_eq!(RecordHash::of(b"abc"), RecordHash(0xba78_16bf_8f01_cfea));
    }
}
