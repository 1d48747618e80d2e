//! Why a question had no result: logs and `--json` say the step and the kind of failure first
//! (`reflect_error:Timeout: …`), and people are told the words that follow.

pub(super) const REFLECT: &str = "reflect_error";
pub(super) const CURATE: &str = "curator_error";

/// A reason as people are told it.
pub(crate) fn in_words(reason: &str) -> &str {
    let steps = [REFLECT, CURATE].into_iter();
    let mut kinds = steps.filter_map(|step| reason.strip_prefix(step)?.strip_prefix(':'));
    let words = kinds.next().and_then(|rest| rest.split_once(": "));
    words.map_or(reason, |(_, words)| words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::of_a_question("reflect_error:Timeout: no answer in 30 s", "no answer in 30 s")]
    #[case::with_a_colon("curator_error:Connection: h: refused", "h: refused")]
    #[case::without_words("reflect_error:Timeout", "reflect_error:Timeout")]
    #[case::of_another_sort("could not write: /p: full", "could not write: /p: full")]
    fn people_are_told_the_words(#[case] reason: &str, #[case] told: &str) {
        assert_eq!(in_words(reason), told);
    }
}
