//! Reads base64, in the usual alphabet and in that of URLs.

/// Decodes a text, padded or not; `None` where a character stands in neither alphabet. Bits
/// that make no whole byte are dropped.
pub(crate) fn decode(code: &str) -> Option<Vec<u8>> {
    let digits = code.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in digits.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xFF) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::padded("aGk=", Some("hi"))]
    #[case::bare("aGk", Some("hi"))]
    #[case::of_urls("Pz8_", Some("???"))]
    #[case::usual("Pz8/", Some("???"))]
    #[case::nothing("", Some(""))]
    #[case::no_code("a b", None)]
    fn texts_are_decoded(#[case] code: &str, #[case] text: Option<&str>) {
        assert_eq!(decode(code).as_deref(), text.map(str::as_bytes));
    }
}
