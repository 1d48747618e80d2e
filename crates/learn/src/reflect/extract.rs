//! Finds the answer in a model's reply (REQ-REFL-008).
//!
//! Every `{` is a candidate; one in prose fails at once and the next is tried. Among the complete
//! objects found:
//!
//! 1. one with all expected keys wins: in a `json` fence before another fence before none (the
//!    order of REQ-REFL-008), and the last of those, since models correct themselves;
//! 2. else the first with the most expected keys, unless a broken or cut-off object shows as many:
//!    then that one was the answer, and a part of it is useless;
//! 3. else the only object there is, whatever its keys;
//! 4. else the content of a JSON string that is the whole reply, or the only value of 3.
//!
//! **Time** is linear. Objects nested in a failed attempt are not tried again: they would fail at
//! the same place, or are known to be complete. All attempts together may read the text
//! `MAX_PASSES` times.

use std::cmp::Reverse;

use serde::de::IgnoredAny;
use serde_json::{Map, Number, Value};

/// The number of times that all attempts together may read the reply; usual replies need about one.
const MAX_PASSES: usize = 16;
/// The number of nested layers of JSON in a JSON string that are opened.
const MAX_LAYERS: usize = 2;

/// Returns `None` without a complete object, or with only parts of one.
pub fn extract_json(reply: &str, expected: &[&str]) -> Option<Map<String, Value>> {
    extract_layer(reply, expected, MAX_LAYERS)
}

fn extract_layer(reply: &str, expected: &[&str], layers: usize) -> Option<Map<String, Value>> {
    let found = scan(reply, expected);
    if let Some(span) = found.best(reply, expected.len()) {
        return JsonReader::new(reply, span.start, expected).object();
    }
    let only = found.only(reply);
    let inner = if let Some(object) = &only {
        only_text(object).map(str::to_owned)
    } else {
        let mut reader = JsonReader::new(without_fence(reply), 0, &[]);
        reader.string().filter(|_| reader.is_at_end())
    };
    inner
        .filter(|_| layers > 0)
        .and_then(|text| extract_layer(&text, expected, layers - 1))
        .or(only)
}

#[derive(Default)]
struct FoundJson {
    keyed: Vec<JsonSpan>,
    /// Complete objects without expected keys, not nested in another.
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
        let whole = reader.object().is_some();
        let Some(left) = budget.checked_sub(reader.pos - start) else {
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
            from = reader.pos;
        } else {
            if reader.lost_keys > 0 {
                doubtful = doubtful.max(reader.pos);
            }
            found.lost_keys = found.lost_keys.max(reader.lost_keys);
            found.cut_off |= reader.is_at_end();
            from = start + 1;
        }
        if start < doubtful {
            // An object in a string of a broken answer is its answer only if the string's quotes
            // were broken. A quotation in other quotes is not.
            reader.spans.retain(|span| {
                serde_json::from_str::<IgnoredAny>(&reply[span.start..span.end]).is_ok()
            });
        }
        found.keyed.append(&mut reader.spans);
    }
    found
}

fn next_brace(reply: &str, from: usize, tried: &[bool]) -> Option<usize> {
    memchr::memchr_iter(b'{', &reply.as_bytes()[from..])
        .map(|at| from + at)
        .find(|&at| !tried[at])
}

impl FoundJson {
    fn best(&self, reply: &str, all: usize) -> Option<JsonSpan> {
        let complete = self.keyed.iter().filter(|span| span.keys == all);
        let fence = |span: &JsonSpan| fence_before(reply, span.start);
        let partial = self.keyed.iter().filter(|span| span.keys > self.lost_keys);
        complete
            .max_by_key(|span| (fence(span), span.start))
            .or_else(|| partial.max_by_key(|span| (span.keys, fence(span), Reverse(span.start))))
            .copied()
    }

    fn only(&self, reply: &str) -> Option<Map<String, Value>> {
        match self.others[..] {
            [start] if self.keyed.is_empty() && self.lost_keys == 0 && !self.cut_off => {
                JsonReader::new(reply, start, &[]).object()
            }
            _ => None,
        }
    }
}

/// Returns the priority of the code fence before an object: `json`, another, none.
fn fence_before(reply: &str, start: usize) -> u8 {
    let head = reply[..start].trim_end_matches(|c: char| c.is_whitespace() || c == '[');
    let marks = head.trim_end_matches(|c: char| c.is_ascii_alphanumeric());
    let is_fence = marks.ends_with("```") || marks.ends_with("~~~");
    let is_json = head[marks.len()..].eq_ignore_ascii_case("json");
    u8::from(is_fence) + u8::from(is_fence && is_json)
}

fn only_text(object: &Map<String, Value>) -> Option<&str> {
    match object.values().next()? {
        Value::String(text) if object.len() == 1 => Some(text),
        _ => None,
    }
}

/// Returns the reply without surrounding white space and without a code fence around all of it.
pub(super) fn without_fence(reply: &str) -> &str {
    let text = reply.trim();
    ["```", "~~~"]
        .iter()
        .find_map(|fence| text.strip_prefix(fence)?.strip_suffix(fence))
        .and_then(|inner| inner.split_once('\n'))
        .map_or(text, |(_tag, inner)| inner.trim())
}

/// The deepest nesting of containers; the limit of `serde_json`.
const MAX_DEPTH: usize = 128;

#[derive(Clone, Copy)]
struct JsonSpan {
    start: usize,
    end: usize,
    keys: usize,
}

/// A lenient parser of one object: accepts what models write, not only standard JSON.
///
/// It also accepts trailing commas, raw control characters and bare quotes in strings, and unquoted
/// keys. Comments are `//`, `#` and `/* */`; quotes may be single or typographic. It reads Python's
/// `True`, `False` and `None`, `NaN` and infinities (as null), unknown escapes (kept as written)
/// and lone surrogates (U+FFFD). Standard JSON gives the same result as `serde_json`. It also
/// records every object with an expected key.
struct JsonReader<'a> {
    text: &'a str,
    expected: &'a [&'a str],
    pos: usize,
    depth: usize,
    /// The start of each opened object, complete or not.
    opened: Vec<usize>,
    /// Complete objects with an expected key. A nested one is left out if it has no more keys than
    /// the object around it.
    spans: Vec<JsonSpan>,
    /// The most expected keys of an object that did not end.
    lost_keys: usize,
}

impl<'a> JsonReader<'a> {
    fn new(text: &'a str, start: usize, expected: &'a [&'a str]) -> Self {
        Self {
            text,
            expected,
            pos: start,
            depth: 0,
            opened: Vec::new(),
            spans: Vec::new(),
            lost_keys: 0,
        }
    }

    fn is_at_end(&self) -> bool {
        self.pos >= self.text.len()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.pos += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.pos += wanted.len_utf8();
        }
        found
    }

    fn space(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            self.pos += rest.len() - trimmed.len();
            let after = if trimmed.starts_with("//") || trimmed.starts_with('#') {
                trimmed.find('\n')
            } else if let Some(block) = trimmed.strip_prefix("/*") {
                block.find("*/").map(|at| at + 4)
            } else {
                return;
            };
            self.pos += after.unwrap_or(trimmed.len());
        }
    }

    fn object(&mut self) -> Option<Map<String, Value>> {
        let start = self.pos;
        self.opened.push(start);
        let mut map = Map::new();
        let done = self.items('}', |reader| reader.member(&mut map));
        let keys = self
            .expected
            .iter()
            .filter(|k| map.contains_key(**k))
            .count();
        if done.is_none() {
            self.lost_keys = self.lost_keys.max(keys);
            return None;
        }
        if keys > 0 {
            let first_inner = self.spans.partition_point(|span| span.start < start);
            let mut inner = self.spans.split_off(first_inner);
            inner.retain(|span| span.keys > keys);
            self.spans.push(JsonSpan {
                start,
                end: self.pos,
                keys,
            });
            self.spans.append(&mut inner);
        }
        Some(map)
    }

    fn items(&mut self, close: char, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        self.next();
        let done = loop {
            self.space();
            if self.eat(close) {
                break Some(());
            }
            if item(self).is_none() {
                break None;
            }
            self.space();
            if !self.eat(',') {
                break self.eat(close).then_some(());
            }
        };
        self.depth -= 1;
        done
    }

    fn member(&mut self, map: &mut Map<String, Value>) -> Option<()> {
        let key = self.key(map)?;
        self.space();
        if !self.eat(':') {
            return None;
        }
        self.space();
        let value = self.value();
        let is_whole = value.is_some();
        // The key of a broken value is kept: it shows what the object was meant to be.
        map.insert(key, value.unwrap_or_default());
        is_whole.then_some(())
    }

    fn key(&mut self, map: &Map<String, Value>) -> Option<String> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$');
        let bare = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        if bare.is_empty() {
            return self.string();
        }
        // Code such as `{x: 1}` is no answer; an unquoted object starts with an expected key.
        let is_answer = |key: &&str| *key == bare || map.contains_key(*key);
        if self.depth == 1 && !self.expected.iter().any(is_answer) {
            return None;
        }
        self.pos += bare.len();
        Some(bare.to_owned())
    }

    fn array(&mut self) -> Option<Vec<Value>> {
        let mut items = Vec::new();
        self.items(']', |reader| {
            items.push(reader.value()?);
            Some(())
        })?;
        Some(items)
    }

    fn value(&mut self) -> Option<Value> {
        match self.peek()? {
            '{' => self.object().map(Value::Object),
            '[' => self.array().map(Value::Array),
            c if quotes_of(c).is_some() => self.string().map(Value::String),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Option<Value> {
        let rest = self.rest();
        let len = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
            .unwrap_or(rest.len());
        let word = &rest[..len];
        self.pos += len;
        let value = match word {
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            "null" | "None" | "NULL" | "undefined" | "NaN" | "nan" | "Infinity" | "-Infinity" => {
                Value::Null
            }
            number => parse_number(number)?,
        };
        Some(value)
    }

    fn string(&mut self) -> Option<String> {
        let quotes = quotes_of(self.peek()?)?;
        self.next();
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let Some(at) = rest.find(|c| c == '\\' || quotes.contains(c)) else {
                self.pos = self.text.len();
                return None;
            };
            out.push_str(&rest[..at]);
            self.pos += at;
            match self.next()? {
                '\\' => self.escape(&mut out)?,
                _ if self.string_may_end() => return Some(out),
                inner => out.push(inner),
            }
        }
    }

    /// Returns `true` if the following text can come after a string. An apostrophe inside a
    /// single-quoted string does not close it, nor does an unescaped quote.
    fn string_may_end(&self) -> bool {
        let rest = self.rest().trim_start();
        rest.is_empty()
            || rest.starts_with([':', ',', '}', ']', '#'])
            || rest.starts_with("//")
            || rest.starts_with("/*")
    }

    fn escape(&mut self, out: &mut String) -> Option<()> {
        match self.next()? {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'u' => self.unicode(out),
            c @ ('"' | '\\' | '/' | '\'' | '\n') => out.push(c),
            c => out.extend(['\\', c]),
        }
        Some(())
    }

    fn unicode(&mut self, out: &mut String) {
        let Some(first) = self.hex4() else {
            out.push_str("\\u");
            return;
        };
        let mut unit = u32::from(first);
        if (0xd800..0xdc00).contains(&unit) && self.rest().starts_with("\\u") {
            let back = self.pos;
            self.pos += 2;
            match self.hex4().map(u32::from) {
                Some(low) if (0xdc00..0xe000).contains(&low) => {
                    unit = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                }
                _ => self.pos = back,
            }
        }
        out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
    }

    fn hex4(&mut self) -> Option<u16> {
        let digits = self.rest().get(..4)?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        self.pos += 4;
        u16::from_str_radix(digits, 16).ok()
    }
}

fn parse_number(word: &str) -> Option<Value> {
    if !word.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Ok(number) = serde_json::from_str::<Number>(word) {
        return Some(Value::Number(number));
    }
    let float: f64 = word.parse().ok()?;
    Some(Number::from_f64(float).map_or(Value::Null, Value::Number))
}

fn quotes_of(open: char) -> Option<&'static str> {
    let sorts = ["\"", "'", "“”„‟", "‘’‚‛"];
    sorts.into_iter().find(|sort| sort.contains(open))
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
