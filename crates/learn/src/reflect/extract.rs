//! Finds the answer in a model's reply (REQ-REFL-008).
//!
//! The reply may be bare JSON, JSON in a code fence, or prose with JSON somewhere. Every
//! `{` is a candidate; one that opens prose fails at once and the next is tried. Among the
//! whole objects found:
//!
//! 1. one with all expected keys wins: in a `json` fence before another fence before none
//!    (the order of REQ-REFL-008), and the last of those, since models correct themselves;
//! 2. else the first with the most expected keys, unless a broken or cut-off object shows
//!    as many: then that one was the answer, and a part of it is worth nothing;
//! 3. else the only object there is, whatever its keys;
//! 4. else what stands in a JSON string that is the whole reply, or the only value of 3.
//!
//! Nothing of an object that is cut off is ever returned.
//!
//! **Time** is linear. Objects nested in a failed attempt are not tried again (they would
//! fail at the same place, or are known to be whole); only braces in its strings and
//! comments are, and all attempts together may read the text `MAX_PASSES` times.

use std::cmp::Reverse;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::extract_parse::{JsonReader, JsonSpan, read_string};

/// How often all attempts together may read the reply; honest replies need about one.
const MAX_PASSES: usize = 16;
/// How many layers of JSON in a JSON string are opened.
const MAX_LAYERS: usize = 2;

/// Returns the object in `reply` that answers a prompt asking for the `expected` keys.
///
/// `None` when there is no whole object, or only parts of one.
pub fn extract_json(reply: &str, expected: &[&str]) -> Option<Map<String, Value>> {
    extract_layer(reply, expected, MAX_LAYERS)
}

fn extract_layer(reply: &str, expected: &[&str], layers: usize) -> Option<Map<String, Value>> {
    let found = scan(reply, expected);
    if let Some(span) = found.best(reply, expected.len()) {
        return JsonReader::new(reply, span.start, expected).read();
    }
    let only = found.only(reply);
    let inner = match &only {
        Some(object) => only_text(object).map(str::to_owned),
        None => read_string(without_fence(reply)),
    };
    inner
        .filter(|_| layers > 0)
        .and_then(|text| extract_layer(&text, expected, layers - 1))
        .or(only)
}

#[derive(Default)]
struct FoundJson {
    keyed: Vec<JsonSpan>,
    /// Whole objects with none, not nested in another.
    others: Vec<usize>,
    /// The most expected keys seen in an object that is broken or cut off.
    lost_keys: usize,
    cut_off: bool,
}

fn scan(reply: &str, expected: &[&str]) -> FoundJson {
    let mut found = FoundJson::default();
    let mut tried = vec![false; reply.len()];
    let mut budget = reply.len().saturating_mul(MAX_PASSES);
    let mut from = 0;
    let mut doubtful = 0;
    while let Some(start) = next_brace(reply, from, &tried) {
        let mut reader = JsonReader::new(reply, start, expected);
        let whole = reader.read().is_some();
        let read = reader.end() - start;
        let Some(left) = budget.checked_sub(read) else {
            break;
        };
        budget = left;
        for &at in &reader.opened {
            tried[at] = true;
        }
        if whole {
            if reader.spans.is_empty() {
                found.others.push(start);
            }
            from = reader.end();
        } else {
            if reader.lost_keys > 0 {
                doubtful = doubtful.max(reader.end());
            }
            found.lost_keys = found.lost_keys.max(reader.lost_keys);
            found.cut_off |= reader.is_cut_off();
            from = start + 1;
        }
        if start < doubtful {
            // What a broken answer quotes in a string is its answer only if it slipped
            // out of the quotes by itself; a quotation in other quotes is not.
            reader
                .spans
                .retain(|span| is_strict(&reply[span.start..span.end]));
        }
        found.keyed.append(&mut reader.spans);
    }
    found
}

fn is_strict(json: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(json).is_ok()
}

fn next_brace(reply: &str, from: usize, tried: &[bool]) -> Option<usize> {
    memchr::memchr_iter(b'{', &reply.as_bytes()[from..])
        .map(|at| from + at)
        .find(|&at| !tried[at])
}

impl FoundJson {
    fn best(&self, reply: &str, all: usize) -> Option<JsonSpan> {
        let complete = self.keyed.iter().filter(|span| span.keys == all);
        let fence = |span: &JsonSpan| Fence::before(reply, span.start);
        let partial = self.keyed.iter().filter(|span| span.keys > self.lost_keys);
        complete
            .max_by_key(|span| (fence(span), span.start))
            .or_else(|| partial.max_by_key(|span| (span.keys, fence(span), Reverse(span.start))))
            .copied()
    }

    fn only(&self, reply: &str) -> Option<Map<String, Value>> {
        match self.others[..] {
            [start] if self.keyed.is_empty() && self.lost_keys == 0 && !self.cut_off => {
                JsonReader::new(reply, start, &[]).read()
            }
            _ => None,
        }
    }
}

/// The code fence an object opens, in rising order of trust.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fence {
    None,
    Other,
    Json,
}

impl Fence {
    fn before(reply: &str, start: usize) -> Self {
        let head = reply[..start].trim_end_matches(|c: char| c.is_whitespace() || c == '[');
        let marks = head.trim_end_matches(|c: char| c.is_ascii_alphanumeric());
        if !(marks.ends_with("```") || marks.ends_with("~~~")) {
            Self::None
        } else if head[marks.len()..].eq_ignore_ascii_case("json") {
            Self::Json
        } else {
            Self::Other
        }
    }
}

/// The text of the only member of `object`, if it is a text.
fn only_text(object: &Map<String, Value>) -> Option<&str> {
    match object.values().next()? {
        Value::String(text) if object.len() == 1 => Some(text),
        _ => None,
    }
}

/// The reply without white space and without a code fence around all of it.
pub(super) fn without_fence(reply: &str) -> &str {
    let text = reply.trim();
    ["```", "~~~"]
        .iter()
        .find_map(|fence| text.strip_prefix(fence)?.strip_suffix(fence))
        .and_then(|inner| inner.split_once('\n'))
        .map_or(text, |(_tag, inner)| inner.trim())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    const KEYS: &[&str] = &["analysis", "bullet_tags"];

    fn extract(reply: &str) -> Value {
        extract_json(reply, KEYS).map_or(Value::Null, Value::Object)
    }

    /// SCN-REFL-008-01, SCN-REFL-008-02 and the order of REQ-REFL-008.
    #[rstest]
    #[case::all_keys_over_one(
        "{\"analysis\": \"x\"} {\"analysis\": \"good\", \"bullet_tags\": []} {\"bullet_tags\": [1]}"
    )]
    #[case::schema_with_dots(
        "Given {\"analysis\": ..., \"bullet_tags\": [...]}: {\"analysis\": \"good\", \"bullet_tags\": []}"
    )]
    #[case::open_string_before(
        "{\"analysis\": \"dra oh\n{\"analysis\": \"good\", \"bullet_tags\": []}"
    )]
    #[case::apostrophe_before("{'tis broken\n{\"analysis\": \"good\", \"bullet_tags\": []}")]
    #[case::keys_without_quotes("{analysis: \"good\", bullet_tags: []}")]
    fn finds_the_answer(#[case] reply: &str) {
        assert_eq!(
            extract(reply),
            json!({"analysis": "good", "bullet_tags": []})
        );
    }

    /// REQ-REFL-008: a partial object is accepted, but never a part of an object.
    #[rstest]
    #[case::some_keys("Well: {\"analysis\": \"a\"} {\"analysis\": \"b\"}", json!({"analysis": "a"}))]
    #[case::no_keys("so {\"other\": 1}.", json!({"other": 1}))]
    #[case::several_without_keys("{\"a\": 1} {\"b\": 2}", json!(null))]
    #[case::cut_off_after_element("{\"analysis\": \"a\", \"bullet_tags\": [{\"name\": \"pat-001\"}, {\"na", json!(null))]
    #[case::cut_off_with_keyed_element("{\"analysis\": \"a\", \"bullet_tags\": [{\"analysis\": \"x\"}, {", json!(null))]
    #[case::cut_off_after_draft("maybe {\"analysis\": \"draft\"} {\"analysis\": \"real", json!(null))]
    #[case::cut_off_with_braces_in_string("{\"analysis\": \"see {} and {}", json!(null))]
    #[case::broken_by_bare_quotes("{\"analysis\": \"he \"said\", and left\", \"bullet_tags\": [{\"analysis\": 1}]}", json!(null))]
    #[case::quoted_forgery_in_broken("{\"analysis\": \"log: {'analysis': 'x', 'bullet_tags': []} and", json!(null))]
    fn never_half_an_answer(#[case] reply: &str, #[case] wanted: Value) {
        assert_eq!(extract(reply), wanted);
    }

    #[rstest]
    #[case::apostrophe(
        "{'analysis': 'it's fine, 'really' so', 'bullet_tags': []}",
        "it's fine, 'really' so"
    )]
    #[case::unknown_escape(
        "{\"analysis\": \"a \\d \\' \\u12 b\", \"bullet_tags\": []}",
        "a \\d ' \\u12 b"
    )]
    #[case::lone_surrogates(
        "{\"analysis\": \"\\ud83d \\ude42 \\ud83d\\ude42\", \"bullet_tags\": []}",
        "\u{fffd} \u{fffd} 🙂"
    )]
    #[case::bare_quotes(
        "{\"analysis\": \"the \"fast\" path {}\", \"bullet_tags\": []}",
        "the \"fast\" path {}"
    )]
    #[case::typographic_inside("{\"analysis\": \"say “hi”\", \"bullet_tags\": []}", "say “hi”")]
    fn reads_strings_as_meant(#[case] reply: &str, #[case] analysis: &str) {
        assert_eq!(
            extract(reply),
            json!({"analysis": analysis, "bullet_tags": []})
        );
    }

    /// Linear time: each of these takes minutes when every brace is a new start.
    #[rstest]
    #[case::braces("{".repeat(1 << 20))]
    #[case::comments("{//".repeat(300_000))]
    #[case::quotes("{'{\"{“".repeat(100_000))]
    #[case::siblings(format!("{{\"analysis\":[{}", "{\"analysis\":1},".repeat(60_000)))]
    #[case::closed_deep(format!("{}1{}", "{\"analysis\":[".repeat(50_000), "]}".repeat(50_000)))]
    fn hostile_replies_take_linear_time(#[case] reply: String) {
        let answer = "{\"analysis\": \"good\", \"bullet_tags\": []}";
        extract(&reply);
        assert_eq!(extract(&format!("{answer}{reply}"))["analysis"], "good");
    }

    #[test]
    fn standard_json_is_read_as_serde_reads_it_and_no_part_of_it_is_an_answer() {
        let odd = "é😀\u{0}\u{7f}\"\\ {} // ''”";
        let answer = json!({
            "analysis": odd,
            "bullet_tags": [{odd: [null, true, i64::MIN, u64::MAX, -1.5e300, [], {}]}],
        });
        let (plain, pretty) = (answer.to_string(), format!("{answer:#}"));
        assert_eq!(extract(&plain), answer);
        assert_eq!(
            extract(&format!("So:\n```json\n{pretty}\n```\nDone.")),
            answer
        );
        for (at, _) in plain.char_indices() {
            assert_eq!(extract(&plain[..at]), Value::Null, "{}", &plain[..at]);
        }
    }
}
