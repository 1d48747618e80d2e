//! The stable hash by which a record is known across files and versions.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A record's uuid as 64 bits: the first 8 bytes of its SHA-256, big-endian.
///
/// The hash is stored (jobs, memory), so it must never change. The uuid is hashed as the
/// bytes that stand between its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordHash(pub u64);

impl RecordHash {
    /// Hashes the uuid of a record.
    pub(crate) fn of(uuid: &[u8]) -> Self {
        let digest = Sha256::digest(uuid);
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        Self(u64::from_be_bytes(first))
    }
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
