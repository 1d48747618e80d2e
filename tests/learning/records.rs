//! Builds minimal records of a transcript.

use std::path::Path;

use playbook::transcript::{Digest, Lane, Range, ReadOptions, scan_reader};
use playbook::transcript_file::{complete_end, scan};
use serde_json::{Value, json};

pub(super) fn user(content: impl Into<Value>) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": content.into()}})
}

pub(super) fn assistant(text: &str) -> Value {
    json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}})
}

/// Builds a call of a tool, to which the next answer belongs.
pub(super) fn call_with(tool: &str, input: &Value) -> Value {
    json!({"type": "assistant", "message": {"role": "assistant", "content":
        [{"type": "tool_use", "id": "t", "name": tool, "input": input}]}})
}

pub(super) fn call(tool: &str, command: &str) -> Value {
    call_with(tool, &json!({"command": command}))
}

pub(super) fn answer(text: &str) -> Value {
    user(json!([{"type": "tool_result", "tool_use_id": "t", "content": text}]))
}

pub(super) fn error(text: &str) -> Value {
    user(json!([{"type": "tool_result", "tool_use_id": "t", "content": text, "is_error": true}]))
}

pub(super) fn called(tool: &str, input: &Value, text: &str) -> Vec<Value> {
    vec![call_with(tool, input), answer(text)]
}

pub(super) fn call_failed(tool: &str, input: &Value, text: &str) -> Vec<Value> {
    vec![call_with(tool, input), error(text)]
}

pub(super) fn ran(command: &str, text: &str) -> Vec<Value> {
    vec![call("Bash", command), answer(text)]
}

pub(super) fn failed(command: &str, text: &str) -> Vec<Value> {
    vec![call("Bash", command), error(text)]
}

pub(super) fn read_file(path: &Path, options: &ReadOptions) -> Digest {
    let range = Range {
        start: 0,
        end: complete_end(path, 0).unwrap(),
    };
    scan(path, range, options, &mut |_, _| false).unwrap()
}

pub(super) fn read_with(options: &ReadOptions, lines: &[Value]) -> Digest {
    let lines = lines.iter().map(ToString::to_string);
    let text: String = lines.flat_map(|line| [line, "\n".to_owned()]).collect();
    scan_reader(text.as_bytes(), 0, options, &mut |_, _| false).unwrap()
}

pub(super) fn read_as(lane: Lane, lines: &[Value]) -> Digest {
    let options = ReadOptions {
        lane,
        ..ReadOptions::default()
    };
    read_with(&options, lines)
}

pub(super) fn read(lines: &[Value]) -> Digest {
    read_as(Lane::Session, lines)
}
