//! How an agent announces the call that it makes next: "Now let me read the parser:".

use std::sync::LazyLock;

use regex::Regex;

use super::english::pattern;

/// What announces, or only opens it. A sentence with a reason or a finding is none.
static ANNOUNCES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)^(?:(?:ok|okay|now|next|first|then|so|and|also|finally|good|great|perfect|excellent)[,:!]?\s+)*",
        r"(?:let me|let's|i'll|i will|i'm going to|now (?:add|update|create|fix|replace|run)|i need to|",
        r"i(?: now)? have (?:a (?:clear|good|complete)|all|everything|enough|the full))\b[^;]{0,140}$",
        r"|^(?:ok|okay|done|good|great|perfect|excellent|alright|sure|right|got it|good point)$",
    ))
});

/// Returns a text that stands before a call without the sentences at its end that only
/// announce it.
pub(crate) fn without(text: &str) -> &str {
    let mut left = text.trim_end();
    loop {
        let line = left.rfind('\n').map_or(0, |at| at + 1);
        let ends = left[line..].trim_end_matches(['.', ':', '!']);
        let sentence = [". ", "! ", ": ", "? "]
            .iter()
            .filter_map(|end| ends.rfind(end))
            .max();
        let start = line + sentence.map_or(0, |at| at + 2);
        let last = left[start..].trim().trim_end_matches(['.', ':', '!']);
        let says_why = [" because ", " since ", " so that "]
            .iter()
            .any(|why| last.contains(why));
        let announces = ANNOUNCES
            .as_ref()
            .is_some_and(|pattern| pattern.is_match(last));
        if last.is_empty() || says_why || !announces {
            return left;
        }
        left = left[..start].trim_end();
    }
}
