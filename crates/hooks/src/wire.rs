//! The client's JSON, field by field. A missing value, null or another type counts as absent.

use std::path::PathBuf;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::lenient_json::lenient;

/// The longest name, in bytes: the client's names are file names.
const MAX_NAME: usize = 1_024;
/// The longest path that a system accepts, in bytes. Longer ones only slow down each file
/// operation.
const MAX_PATH: usize = 4_096;

/// The input of one event. Every field may be absent: no shape is an error.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub(super) struct Input {
    #[serde(rename = "session_id", default, deserialize_with = "name")]
    pub(super) session: Option<String>,
    #[serde(rename = "transcript_path", default, deserialize_with = "path")]
    pub(super) transcript: Option<PathBuf>,
    #[serde(rename = "agent_transcript_path")]
    #[serde(default, deserialize_with = "path")]
    pub(super) agent_transcript: Option<PathBuf>,
    #[serde(default, deserialize_with = "name")]
    pub(super) agent_id: Option<String>,
    /// Absent for the agent that compacts a conversation.
    #[serde(default, deserialize_with = "speech")]
    pub(super) agent_type: Option<String>,
    #[serde(default, deserialize_with = "path")]
    pub(super) cwd: Option<PathBuf>,
    #[serde(default, deserialize_with = "name")]
    pub(super) source: Option<String>,
    #[serde(default, deserialize_with = "name")]
    pub(super) reason: Option<String>,
    #[serde(default, deserialize_with = "name")]
    pub(super) trigger: Option<String>,
    #[serde(rename = "tool_name", default, deserialize_with = "name")]
    pub(super) tool: Option<String>,
    #[serde(rename = "tool_input", default, deserialize_with = "tool_input")]
    pub(super) call: ToolInput,
    #[serde(default, deserialize_with = "speech")]
    pub(super) error: Option<String>,
    #[serde(default, deserialize_with = "speech")]
    pub(super) prompt: Option<String>,
    #[serde(default, deserialize_with = "flag")]
    pub(super) is_interrupt: bool,
    #[serde(default, deserialize_with = "name")]
    pub(super) prompt_id: Option<String>,
    #[serde(rename = "last_assistant_message")]
    #[serde(default, deserialize_with = "speech")]
    pub(super) last_message: Option<String>,
    /// Set if a background task of the session is still running.
    #[serde(rename = "background_tasks")]
    #[serde(default, deserialize_with = "has_any")]
    pub(super) has_background_tasks: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolInput {
    #[serde(deserialize_with = "speech")]
    pub(super) command: Option<String>,
    #[serde(deserialize_with = "name")]
    pub(super) file_path: Option<String>,
    #[serde(deserialize_with = "name")]
    pub(super) notebook_path: Option<String>,
}

impl Input {
    /// Returns `None` for anything but an object.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        // serde would take the items of a list for the fields.
        let is_object = bytes.trim_ascii_start().starts_with(b"{");
        is_object.then(|| serde_json::from_slice(bytes).ok())?
    }
}

fn speech<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(lenient(from)?.filter(|text: &String| !text.is_empty()))
}

/// Reads a name; one that is too long or contains a NUL counts as absent.
fn name<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(speech(from)?.filter(|name| name.len() <= MAX_NAME && !name.contains('\0')))
}

/// Reads an absolute path; a relative or too long one counts as absent.
fn path<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
    let path = speech(from)?.filter(|path| path.len() <= MAX_PATH && !path.contains('\0'));
    Ok(path.map(PathBuf::from).filter(|path| path.is_absolute()))
}

fn tool_input<'de, D: Deserializer<'de>>(from: D) -> Result<ToolInput, D::Error> {
    let input: Option<ToolInput> = lenient(from)?;
    Ok(input.unwrap_or_default())
}

fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Ok(lenient(from)? == Some(true))
}

fn has_any<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    let text = <&RawValue>::deserialize(from)?.get();
    let items: Result<Vec<IgnoredAny>, _> = serde_json::from_str(text);
    Ok(items.is_ok_and(|items| !items.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::is_interrupt(r#"{"is_interrupt":"yes","error":[],"prompt":{}}"#)]
    #[case::null(r#"{"session_id":null}"#)]
    #[case::number(r#"{"session_id":7,"cwd":[]}"#)]
    #[case::empty(r#"{"session_id":"","transcript_path":""}"#)]
    #[case::relative(r#"{"transcript_path":"../x","cwd":"x"}"#)]
    #[case::nul(r#"{"session_id":"a\u0000b","transcript_path":"/a\u0000"}"#)]
    #[case::strange_tasks(r#"{"background_tasks":{"id":1},"last_assistant_message":[]}"#)]
    #[case::no_tasks(r#"{"background_tasks":[],"prompt_id":null}"#)]
    #[case::nothing("{}")]
    fn a_strange_field_is_absent(#[case] json: &str) {
        assert_eq!(Input::parse(json.as_bytes()), Some(Input::default()));
    }

    #[test]
    fn what_is_longer_than_any_name_or_path_is_absent() {
        let json = |name: usize, path: usize| {
            let (name, path) = ("s".repeat(name), format!("/{}", "a/".repeat(path / 2)));
            serde_json::json!({"session_id": name, "cwd": path}).to_string()
        };
        let long = json(MAX_NAME + 1, MAX_PATH);
        assert_eq!(Input::parse(long.as_bytes()), Some(Input::default()));
        let input = Input::parse(json(MAX_NAME, MAX_PATH - 2).as_bytes()).unwrap();
        assert!(input.session.is_some() && input.cwd.is_some());
    }

    #[rstest]
    #[case::empty("")]
    #[case::list("[]")]
    #[case::cut("{\"session_id\":\"s\"")]
    #[case::text("hello")]
    fn what_is_no_object_is_nothing(#[case] json: &str) {
        assert_eq!(Input::parse(json.as_bytes()), None);
    }
}
