//! Short hashes in text.

use sha2::{Digest as _, Sha256};

/// Returns a file name for bytes from outside: the first 16 hex digits of their SHA-256.
pub fn name_of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes)[..8])
}

pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_outside_never_holds_a_path() {
        assert_eq!(name_of(b"../../etc/passwd").len(), 16);
        assert_eq!(name_of(b"abc"), "ba7816bf8f01cfea");
        assert!(name_of(b"../x").bytes().all(|b| b.is_ascii_hexdigit()));
    }
}
