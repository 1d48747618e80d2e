//! The page's own law: it loads nothing and runs no script but ours, also where a text
//! should ever get through as markup.

use sha2::{Digest as _, Sha256};

/// The content security policy of a page with this style and this script.
pub(super) fn policy(style: &str, script: &str) -> String {
    format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src '{}'; script-src '{}'",
        hash(style),
        hash(script)
    )
}

fn hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text)))
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let byte = |n: usize| u32::from(group.get(n).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for n in 0..4 {
            if n > group.len() {
                text.push('=');
            } else {
                let at = bits >> (18 - 6 * n) & 63;
                text.push(char::from(ALPHABET[at as usize]));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::empty("", "")]
    #[case::one("f", "Zg==")]
    #[case::two("fo", "Zm8=")]
    #[case::three("foo", "Zm9v")]
    #[case::six("foobar", "Zm9vYmFy")]
    fn base64_is_that_of_rfc_4648(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(base64(text.as_bytes()), expected);
    }

    #[test]
    fn a_hash_is_what_browsers_compute() {
        // Of the empty text, as in the specification's examples.
        assert_eq!(
            hash(""),
            "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        );
    }
}
