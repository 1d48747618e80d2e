//! A conservative estimate of how many tokens a text is.

/// Units in one token.
const TOKEN: u64 = 7;

/// Estimates tokens: ASCII bytes / 3.5, one for each other character, two for those
/// beyond the basic plane (emoji). Real tokenizers stay below that for prose and code.
pub fn estimate(text: &str) -> u64 {
    units(text).div_ceil(TOKEN)
}

/// Returns the least number of tokens that so many bytes can be.
pub(crate) fn at_least(bytes: u64) -> u64 {
    bytes * 2 / TOKEN
}

fn units(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let ascii = bytes.iter().filter(|b| b.is_ascii()).count() as u64;
    let mut units = ascii * 2;
    if ascii < bytes.len() as u64 {
        let wide = bytes.iter().filter(|&&b| b >= 0xF0).count() as u64;
        let starts = bytes.iter().filter(|&&b| b >= 0xC0).count() as u64;
        units += starts * TOKEN + wide * TOKEN;
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case::empty("", 0)]
    #[case::seven_bytes_are_two("abcdefg", 2)]
    #[case::chinese("日本語", 3)]
    #[case::emoji("🙂", 2)]
    fn tokens_are_estimated(#[case] text: &str, #[case] tokens: u64) {
        assert_eq!(estimate(text), tokens);
    }

    proptest! {
        #[test]
        fn no_text_is_less_than_the_least(text in any::<String>()) {
            prop_assert!(at_least(text.len() as u64) <= estimate(&text));
        }

        #[test]
        fn a_whole_costs_no_more_than_its_parts(a in any::<String>(), b in any::<String>()) {
            let whole = [a.as_str(), b.as_str()].concat();
            prop_assert!(estimate(&whole) <= estimate(&a) + estimate(&b));
        }
    }
}
