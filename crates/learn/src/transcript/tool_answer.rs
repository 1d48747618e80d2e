//! How the answer of a tool is read.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::json::{self, Raw};
use super::mask::without_last_word;
use super::user;
use crate::clip::{head, tail};

/// The part of an error that is read from either end to tell which error it is, in bytes: more
/// than its signature is made of.
pub(crate) const ERROR_ENDS: usize = 48_000;
/// A longer answer, in bytes, is data and no report of itself.
const MAX_JSON: usize = 64 << 10;
/// How the client answers a call when what it started goes on.
const LEFT_RUNNING: &[&str] = &[
    "Command running in background",
    "Command was manually backgrounded",
    "Async agent launched",
];

/// Returns the texts of a tool's answer, not decoded: a string, or the text blocks of a list.
fn texts(content: Raw<'_>) -> Vec<Raw<'_>> {
    #[derive(Deserialize)]
    struct TextBlock<'b> {
        #[serde(borrow)]
        text: Raw<'b>,
    }
    let items = json::items(content).into_iter();
    let blocks = items.filter_map(|item| json::object::<TextBlock<'_>>(Some(item)));
    let texts = [content].into_iter().chain(blocks.map(|block| block.text));
    texts.filter(|text| json::quoted(*text).is_some()).collect()
}

/// Returns the strings of a list of strings, or the one string.
pub(crate) fn strings(content: &RawValue) -> Vec<Cow<'_, str>> {
    let items = json::items(Some(content)).into_iter();
    let all = [content].into_iter().chain(items);
    all.filter_map(|item| json::text(Some(item))).collect()
}

/// Returns the text of a tool's answer; of a long one the first and the
/// last `max` bytes.
pub(crate) fn answer(content: Raw<'_>, max: usize) -> Cow<'_, str> {
    let mut answer = Cow::Borrowed("");
    for text in texts(content) {
        let text = ends(json::text(text).unwrap_or_default(), max);
        if answer.is_empty() {
            answer = text;
        } else if answer.len() < 4 * max {
            answer += "\n";
            answer += text;
        }
    }
    answer
}

/// Cuts the middle out of a text that is longer than twice `max` bytes.
fn ends(text: Cow<'_, str>, max: usize) -> Cow<'_, str> {
    if text.len() <= 2 * max {
        return text;
    }
    // Half a word can be half a secret, which nothing knows as one.
    let first = without_last_word(head(&text, max));
    format!("{first}\n[… middle left out …]\n{}", last_lines(&text, max)).into()
}

/// Returns about the last `max` bytes of a text, from the start of a line.
pub(crate) fn last_lines(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let lines = tail(text, max).split_once('\n');
    lines.map_or("", |(_, lines)| lines)
}

/// Returns the last text of a tool's answer.
pub(crate) fn last_text(content: Raw<'_>) -> Option<Cow<'_, str>> {
    json::text(texts(content).pop()?)
}

/// Returns the first line of the message of an answer that is a JSON object and says of itself that it failed,
/// though it is not marked as an error.
pub(crate) fn own_failure(content: Raw<'_>) -> Option<String> {
    #[derive(Deserialize)]
    struct OwnFailure {
        success: bool,
        #[serde(default)]
        error: Value,
        #[serde(default)]
        message: Value,
    }
    let text = texts(content).pop()?;
    let may_say_it =
        |raw: &str| raw.len() <= MAX_JSON && raw.starts_with('{') && raw.contains(r#"\"success\""#);
    json::quoted(text).filter(|raw| may_say_it(raw))?;
    let told: OwnFailure = serde_json::from_str(&json::text(text)?).ok()?;
    let said = [told.error, told.message];
    let first_lines = said.iter().filter_map(|said| said.as_str()?.lines().next());
    let said: Vec<&str> = first_lines.collect();
    (!told.success).then(|| said.join(": "))
}

/// Returns `true` if an error only says that the user stopped what ran.
pub(crate) fn was_stopped(text: &str) -> bool {
    let said = text.trim_start().split_once('\n');
    said.is_some_and(|(code, said)| {
        code.starts_with("Exit code ") && said.trim_start().starts_with(user::INTERRUPT)
    })
}

/// Returns `true` if an answer only says that what was started goes on in the background.
pub(crate) fn was_left_running(content: Raw<'_>) -> bool {
    let last = texts(content).pop().flatten();
    let begins = |text: &str| LEFT_RUNNING.iter().any(|said| text.starts_with(said));
    json::quoted(last).is_some_and(begins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::string(r#""a\nb""#, "a\nb")]
    #[case::blocks(
        r#"[{"type":"text","text":"a"},{"type":"image","source":{}},7,{"text":"b","type":"text"}]"#,
        "a\nb"
    )]
    fn an_answer_is_its_texts(#[case] json: &str, #[case] want: &str) {
        let content = serde_json::from_str(json).unwrap();
        assert_eq!(answer(content, 3_000), want);
    }
}
