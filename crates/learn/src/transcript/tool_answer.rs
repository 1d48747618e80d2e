//! How the answer of a tool is read.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::json::{Object, Raw, Str, each_item};
use super::user;

/// How much of an error is read from either end to tell which error it is, in bytes: more
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

/// Calls `found` with each text of a tool's answer: a string, or the text blocks of a
/// list.
fn each_text<'a>(content: Raw<'a>, mut found: impl FnMut(Str<'a>)) {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct TextBlock<'b> {
        #[serde(borrow)]
        text: Raw<'b>,
    }
    let Some(content) = content else {
        return;
    };
    if let Some(text) = Str::of(content) {
        return found(text);
    }
    each_item(content, |Object(block): Object<TextBlock<'a>>| {
        let text = block.and_then(|block| block.text).and_then(Str::of);
        text.into_iter().for_each(&mut found);
    });
}

/// Returns the strings of a list of strings, or the one string.
pub(crate) fn strings(content: &RawValue) -> Vec<Str<'_>> {
    let mut found = Vec::from_iter(Str::of(content));
    each_item(content, |item| found.extend(Str::of(item)));
    found
}

/// Returns the text of a tool's answer; of a long one the first and the
/// last `max` bytes.
pub(crate) fn answer(content: Raw<'_>, max: usize) -> Cow<'_, str> {
    let mut answer = Cow::Borrowed("");
    each_text(content, |text| {
        let text = text.decode_ends(max);
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
pub(crate) fn last_text(content: Raw<'_>) -> Option<Str<'_>> {
    let mut last = None;
    each_text(content, |text| last = Some(text));
    last
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
    let text = last_text(content)?;
    let raw = text.raw();
    let may_say_it =
        raw.len() <= MAX_JSON && raw.starts_with('{') && raw.contains(r#"\"success\""#);
    if !may_say_it {
        return None;
    }
    let told: OwnFailure = serde_json::from_str(&text.decode()).ok()?;
    let said = [told.error, told.message];
    let first_lines = said.iter().filter_map(|said| said.as_str()?.lines().next());
    let said: Vec<&str> = first_lines.collect();
    (!told.success).then(|| said.join(": "))
}

/// Tells whether an error only says that the user stopped what ran.
pub(crate) fn was_stopped(text: &str) -> bool {
    let said = text.trim_start().split_once('\n');
    said.is_some_and(|(code, said)| {
        code.starts_with("Exit code ") && said.trim_start().starts_with(user::INTERRUPT)
    })
}

/// Tells whether an answer only says that what was started goes on in the background.
pub(crate) fn was_left_running(content: Raw<'_>) -> bool {
    let begins = |text: Str<'_>| LEFT_RUNNING.iter().any(|said| text.raw().starts_with(said));
    last_text(content).is_some_and(begins)
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
