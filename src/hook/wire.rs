//! The client's JSON, field by field; what is missing, null or of another type is absent.

use std::path::PathBuf;

use serde_json::{Map, Value};

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
}

impl Input {
    /// Reads the client's object; `None` when it is not one.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let map: Map<String, Value> = serde_json::from_slice(bytes).ok()?;
        let text = |key: &str| {
            let text = map.get(key)?.as_str()?;
            (!text.is_empty() && !text.contains('\0')).then(|| text.to_owned())
        };
        let path = |key: &str| text(key).map(PathBuf::from).filter(|p| p.is_absolute());
        Some(Self {
            session: text("session_id"),
            transcript: path("transcript_path"),
            agent_transcript: path("agent_transcript_path"),
            agent_id: text("agent_id"),
            cwd: path("cwd"),
            source: text("source"),
            reason: text("reason"),
            trigger: text("trigger"),
        })
    }
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

    #[rstest]
    #[case::null(r#"{"session_id":null}"#)]
    #[case::number(r#"{"session_id":7,"cwd":[]}"#)]
    #[case::empty(r#"{"session_id":"","transcript_path":""}"#)]
    #[case::relative(r#"{"transcript_path":"../x","cwd":"x"}"#)]
    #[case::nul(r#"{"session_id":"a\u0000b","transcript_path":"/a\u0000"}"#)]
    #[case::nothing("{}")]
    fn a_strange_field_is_absent(#[case] json: &str) {
        assert_eq!(Input::parse(json.as_bytes()), Some(Input::default()));
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
