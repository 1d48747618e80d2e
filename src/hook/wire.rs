//! The client's JSON, field by field; what is missing, null or of another type is absent.

use std::path::PathBuf;

use serde::de::{IgnoredAny, MapAccess};

use crate::loose::{Loose, Take, Text};

/// The longest name, in bytes: the client's are those of files.
const MAX_NAME: usize = 1_024;
/// The longest path that a system knows, in bytes; of a longer one each question costs the
/// more the longer it is.
const MAX_PATH: usize = 4_096;

/// One event's input. Every field may be absent: no shape is an error.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Input {
    pub(super) session: Option<String>,
    pub(super) transcript: Option<PathBuf>,
    pub(super) agent_transcript: Option<PathBuf>,
    pub(super) agent_id: Option<String>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) source: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) trigger: Option<String>,
    pub(super) tool: Option<String>,
    /// The command that a tool was to run.
    pub(super) command: Option<String>,
    /// What a tool failed with, as it is.
    pub(super) error: Option<String>,
    /// What the user wrote, as it is.
    pub(super) prompt: Option<String>,
    pub(super) is_interrupt: bool,
}

impl Input {
    /// Reads the client's object; `None` when it is not one.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let Loose(input) = serde_json::from_slice::<Loose<Self>>(bytes).ok()?;
        input
    }
}

impl<'de> Take<'de> for Input {
    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        let mut input = Self::default();
        while let Some(Text(key)) = map.next_key()? {
            let field = match key.as_ref() {
                "session_id" => Field::Text(&mut input.session),
                "agent_id" => Field::Text(&mut input.agent_id),
                "source" => Field::Text(&mut input.source),
                "reason" => Field::Text(&mut input.reason),
                "trigger" => Field::Text(&mut input.trigger),
                "transcript_path" => Field::Path(&mut input.transcript),
                "agent_transcript_path" => Field::Path(&mut input.agent_transcript),
                "cwd" => Field::Path(&mut input.cwd),
                "tool_name" => Field::Text(&mut input.tool),
                "error" => Field::Speech(&mut input.error),
                "prompt" => Field::Speech(&mut input.prompt),
                "tool_input" => {
                    let Loose(command) = map.next_value::<Loose<Command>>()?;
                    input.command = command.and_then(|Command(command)| command);
                    continue;
                }
                "is_interrupt" => {
                    let Loose(is_interrupt) = map.next_value::<Loose<bool>>()?;
                    input.is_interrupt = is_interrupt == Some(true);
                    continue;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let Loose(text) = map.next_value::<Loose<Text<'de>>>()?;
            let text = text.map(|Text(text)| text.into_owned());
            field.set(text.filter(|text| !text.is_empty()));
        }
        Ok(Some(input))
    }
}

/// The command in a tool's input.
struct Command(Option<String>);

impl<'de> Take<'de> for Command {
    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        let mut command = None;
        while let Some(Text(key)) = map.next_key()? {
            if key == "command" {
                let Loose(text) = map.next_value::<Loose<Text<'de>>>()?;
                command = text.map(|Text(text)| text.into_owned());
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Some(Self(command)))
    }
}

/// Where a field of the message goes.
enum Field<'a> {
    /// Anything that was said.
    Speech(&'a mut Option<String>),
    /// A name; one with a NUL is none, nor is a long one.
    Text(&'a mut Option<String>),
    /// Only an absolute path is one, and none that is too long for a system.
    Path(&'a mut Option<PathBuf>),
}

impl Field<'_> {
    fn set(self, text: Option<String>) {
        match self {
            Self::Speech(field) => *field = text,
            Self::Text(field) => *field = name(text, MAX_NAME),
            Self::Path(field) => {
                *field = name(text, MAX_PATH)
                    .map(PathBuf::from)
                    .filter(|path| path.is_absolute());
            }
        }
    }
}

fn name(text: Option<String>, most: usize) -> Option<String> {
    text.filter(|text| text.len() <= most && !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[test]
    fn the_known_fields_are_read_and_the_rest_is_passed_over() {
        let input = Input::parse(
            br#"{"session_id":"s","transcript_path":"/t.jsonl","cwd":"/p","hook_event_name":"SessionEnd","reason":"clear","new":{"deep":[1]}}"#,
        )
        .unwrap();
        assert_eq!(input.session.as_deref(), Some("s"));
        assert_eq!(input.transcript, Some(PathBuf::from("/t.jsonl")));
        assert_eq!(input.reason.as_deref(), Some("clear"));
    }

    #[test]
    fn what_was_said_is_taken_as_it_is() {
        let input = Input::parse(
            br#"{"tool_name":"Bash","error":"Exit code 1\n\u0000x","prompt":"a\nb","is_interrupt":true}"#,
        )
        .unwrap();
        assert_eq!(input.tool.as_deref(), Some("Bash"));
        assert_eq!(input.error.as_deref(), Some("Exit code 1\n\0x"));
        assert_eq!(input.prompt.as_deref(), Some("a\nb"));
        assert!(input.is_interrupt);
    }

    #[rstest]
    #[case::is_interrupt(r#"{"is_interrupt":"yes","error":[],"prompt":{}}"#)]
    #[case::null(r#"{"session_id":null}"#)]
    #[case::number(r#"{"session_id":7,"cwd":[]}"#)]
    #[case::empty(r#"{"session_id":"","transcript_path":""}"#)]
    #[case::relative(r#"{"transcript_path":"../x","cwd":"x"}"#)]
    #[case::nul(r#"{"session_id":"a\u0000b","transcript_path":"/a\u0000"}"#)]
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
