use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The name of an error, the same wherever it occurs: the first 16 hexadecimal digits of the
/// SHA-256 of `subject:message`.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct Signature(u64);

impl From<Signature> for String {
    fn from(signature: Signature) -> Self {
        signature.to_string()
    }
}

impl TryFrom<String> for Signature {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is no signature"))
    }
}

impl Signature {
    /// Returns the signature of a subject, which is a program with its subcommand (`git push`) or a
    /// tool (`Read`), and its normalised message.
    pub fn of(subject: &str, message: &str) -> Self {
        Self(first_eight(format!("{subject}:{message}")))
    }

    /// Returns spec/5's `compute_error_signature` of an error's type and its whole text, ignoring
    /// case and surrounding white space.
    pub fn of_error(error_type: &str, content: &str) -> Self {
        Self::of(error_type, content.to_lowercase().trim())
    }

    /// Parses the output of [`Display`](fmt::Display).
    pub fn parse(text: &str) -> Option<Self> {
        let signature = u64::from_str_radix(text, 16).ok().map(Self)?;
        (signature.to_string() == text).then_some(signature)
    }

    /// Returns the signature as a number that sorts like its text.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Returns the first 8 bytes of the SHA-256 of a text or of bytes.
pub fn first_eight(text: impl AsRef<[u8]>) -> u64 {
    let digest: [u8; 32] = Sha256::digest(text).into();
    digest
        .first_chunk()
        .map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_sixteen_digits_of_what_met_the_error_and_what_it_said() {
        let signature = Signature::of("git push", "fatal x");
        assert_eq!(Signature::parse(&signature.to_string()), Some(signature));
        assert_eq!(Signature::from_bits(signature.to_bits()), signature);
        assert_ne!(signature, Signature::of("git pull", "fatal x"));
        assert_eq!(Signature::parse("0123"), None);
        assert_eq!(Signature::parse("+123456789abcdef"), None);
        // The value that the code of spec/5 computes.
        let hash = Signature::of_error("conflict", " Detected conflict: Two totals\n");
        assert_eq!(hash.to_string(), "cfeb459c6464ed4a");
    }
}
