//! Records of a transcript, with no more than a reader needs.

use playbook::transcript::{Digest, Lane, Options, scan_reader};
use serde_json::{Value, json};

pub(super) fn user(content: impl Into<Value>) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": content.into()}})
}

pub(super) fn assistant(text: &str) -> Value {
    json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}})
}

pub(super) fn call(id: usize, tool: &str, command: &str) -> Value {
    call_with(id, tool, &json!({"command": command}))
}

pub(super) fn call_with(id: usize, tool: &str, input: &Value) -> Value {
    json!({"type": "assistant", "message": {"role": "assistant", "content":
        [{"type": "tool_use", "id": format!("t{id}"), "name": tool, "input": input}]}})
}

pub(super) fn answer(id: usize, text: &str, is_error: bool) -> Value {
    user(
        json!([{"type": "tool_result", "tool_use_id": format!("t{id}"), "is_error": is_error, "content": text}]),
    )
}

/// Reads a transcript of these records.
pub(super) fn read_as(lane: Lane, lines: &[Value]) -> Digest {
    let lines = lines.iter().map(ToString::to_string);
    let text: String = lines.flat_map(|line| [line, "\n".to_owned()]).collect();
    let options = Options {
        lane,
        ..Options::default()
    };
    scan_reader(text.as_bytes(), 0, &options, &mut |_, _| false).unwrap()
}

/// The same, of a session's own transcript.
pub(super) fn read(lines: &[Value]) -> Digest {
    read_as(Lane::Session, lines)
}
