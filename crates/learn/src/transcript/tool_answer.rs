//! How the answer of a tool is read.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;

use super::json::{JsonCursor, Value};
use super::text::Str;
use super::user;

/// How much of an error is read from either end to tell which error it is, in bytes: more
/// than its signature is made of.
pub(crate) const ERROR_ENDS: usize = 48_000;
/// A longer answer, in bytes, is data and no report of itself.
const MAX_JSON: usize = 64 << 10;
/// How the client answers a call when what it started goes on.
const LEFT_RUNNING: &[&[u8]] = &[
    b"Command running in background",
    b"Command was manually backgrounded",
    b"Async agent launched",
];

/// Calls `found` with each text of a tool's answer: a string, or the text blocks of a
/// list.
fn each_text<'a>(content: Option<Value<Str<'a>>>, mut found: impl FnMut(Str<'a>)) {
    match content {
        Some(Value::Str(text)) => found(text),
        Some(Value::Nested(raw)) if raw.raw().first() == Some(&b'[') => {
            // A fault only means that less is known about the answer.
            _ = JsonCursor::new(raw.raw()).array(|cursor| {
                if cursor.peek() != Some(b'{') {
                    return cursor.value().map(drop);
                }
                cursor.object(|cursor, key| {
                    let value = cursor.value()?;
                    if let (true, Some(text)) = (key.is("text"), value.str()) {
                        found(text);
                    }
                    Ok(())
                })
            });
        }
        _ => {}
    }
}

/// Returns the strings of a list of strings, or the one string.
pub(crate) fn strings(content: Value<Str<'_>>) -> Vec<Str<'_>> {
    let mut found = Vec::new();
    match content {
        Value::Str(text) => found.push(text),
        Value::Nested(raw) if raw.raw().first() == Some(&b'[') => {
            // A fault only means that less is known.
            _ = JsonCursor::new(raw.raw()).array(|cursor| {
                found.extend(cursor.value()?.str());
                Ok(())
            });
        }
        _ => {}
    }
    found
}

/// Returns the text of a tool's answer; of a long one the first and the
/// last `max` bytes.
pub(crate) fn answer(content: Option<Value<Str<'_>>>, max: usize) -> Cow<'_, str> {
    let mut answer = Cow::Borrowed("");
    each_text(content, |text| {
        let text = text.decode_ends(max).unwrap_or_default();
        if answer.is_empty() {
            answer = text;
        } else if answer.len() < 4 * max {
            let answer = answer.to_mut();
            answer.push('\n');
            answer.push_str(&text);
        }
    });
    answer
}

/// Returns the last text of a tool's answer, not decoded.
pub(crate) fn last_text(content: Option<Value<Str<'_>>>) -> Option<Str<'_>> {
    let mut last = None;
    each_text(content, |text| last = Some(text));
    last
}

/// Tells whether an answer that is not marked as an error is one all the same: a JSON object
/// that says so of itself.
pub(crate) fn says_it_failed(content: Option<Value<Str<'_>>>) -> bool {
    #[derive(Deserialize)]
    struct OwnSuccess {
        success: bool,
    }
    let Some(text) = last_text(content) else {
        return false;
    };
    let raw = text.raw();
    let may_say_it = raw.len() <= MAX_JSON
        && raw.first() == Some(&b'{')
        && memmem::find(raw, br#"\"success\""#).is_some();
    may_say_it
        && text.decode().is_ok_and(|text| {
            serde_json::from_str::<OwnSuccess>(&text).is_ok_and(|told| !told.success)
        })
}

/// Tells whether an error only says that the user stopped what ran.
pub(crate) fn was_stopped(text: &str) -> bool {
    let said = text.trim_start().split_once('\n');
    said.is_some_and(|(code, said)| {
        code.starts_with("Exit code ") && said.trim_start().starts_with(user::INTERRUPT)
    })
}

/// Tells whether an answer only says that what was started goes on in the background.
pub(crate) fn was_left_running(content: Option<Value<Str<'_>>>) -> bool {
    let begins = |text: Str<'_>| LEFT_RUNNING.iter().any(|said| text.raw().starts_with(said));
    last_text(content).is_some_and(begins)
}

/// Returns a file as it was read, without the numbers of its lines.
pub(crate) fn without_numbers(text: &str) -> String {
    let bare = |line| {
        str::split_once(line, '→').filter(|(number, _)| number.trim().parse::<u64>().is_ok())
    };
    let lines = text
        .lines()
        .map(|line| bare(line).map_or(line, |(_, rest)| rest));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn value(json: &str) -> Option<Value<Str<'_>>> {
        JsonCursor::new(json.as_bytes()).value().ok()
    }

    #[rstest]
    #[case::string(r#""a\nb""#, "a\nb")]
    #[case::blocks(
        r#"[{"type":"text","text":"a"},{"type":"image","source":{}},7,{"text":"b","type":"text"}]"#,
        "a\nb"
    )]
    fn an_answer_is_its_texts(#[case] json: &str, #[case] want: &str) {
        assert_eq!(answer(value(json), 3_000), want);
    }
}
