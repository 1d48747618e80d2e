//! The failed calls of a transcript, as Claude Code reports them to a hook.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::{Deserializer, Value};

use crate::fsx::{self, FsContext as _, FsError};

/// A call that ran and failed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Strike {
    /// The line of the transcript that says so, counted from 1.
    pub(super) line: usize,
    pub(super) tool: String,
    pub(super) input: Value,
    pub(super) error: String,
}

/// What a result begins with that was refused before the tool ran: no hook hears of it.
const NOT_RUN: &str = "<tool_use_error>";
/// How the client says that the user refused a call, or stopped it.
const REFUSED: [&str; 2] = ["The user doesn't want to", "[Request interrupted by user"];

/// Reads the failed calls of a transcript; what is no record is passed over.
pub(super) fn strikes(transcript: &Path) -> Result<Vec<Strike>, FsError> {
    let mut strikes = Vec::new();
    let mut calls: HashMap<String, (String, Value)> = HashMap::new();
    each_message(transcript, |line, content| {
        for block in content.as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("tool_use") => {
                    if let (Some(id), Some(name)) = (block["id"].as_str(), block["name"].as_str()) {
                        calls.insert(id.to_owned(), (name.to_owned(), block["input"].clone()));
                    }
                }
                Some("tool_result") if block["is_error"] == true => {
                    let id = block["tool_use_id"].as_str().unwrap_or_default();
                    let error = text_of(&block["content"]);
                    let ran = !error.starts_with(NOT_RUN)
                        && !REFUSED.iter().any(|refused| error.starts_with(refused));
                    // A copy of the record, as a resumed session has, finds its call gone.
                    if let (true, Some((tool, input))) = (ran, calls.remove(id)) {
                        strikes.push(Strike {
                            line,
                            tool,
                            input,
                            error,
                        });
                    }
                }
                _ => {}
            }
        }
    })?;
    Ok(strikes)
}

/// Calls `found` with the line and the content of each message, in the order of the file.
pub(super) fn each_message(
    transcript: &Path,
    mut found: impl FnMut(usize, &Value),
) -> Result<(), FsError> {
    let file = fsx::open_regular(transcript).context("read transcript", transcript)?;
    for (number, line) in (1..).zip(BufReader::new(file).split(b'\n')) {
        let Ok(line) = line else { break };
        // Two records can stand on one line.
        let records = Deserializer::from_slice(&line).into_iter::<Value>();
        for record in records.map_while(Result::ok) {
            if matches!(record["type"].as_str(), Some("user" | "assistant")) {
                found(number, &record["message"]["content"]);
            }
        }
    }
    Ok(())
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_calls_that_ran_and_failed_strike() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("s.jsonl");
        let call = |id: &str| {
            json!({"type": "assistant", "message": {"content": [
                {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}}]}})
        };
        let result = |id: &str, text: &str, is_error: bool| {
            json!({"type": "user", "message": {"content": [
                {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error}]}})
        };
        let lines = [
            format!("{}{}", call("a"), call("b")),
            result("a", "Exit code 2\nno rule", true).to_string(),
            "no record".to_owned(),
            result("b", "<tool_use_error>bad input</tool_use_error>", true).to_string(),
            call("c").to_string(),
            result("c", "fine", false).to_string(),
            result("a", "Exit code 2\nno rule", true).to_string(),
        ];
        std::fs::write(&file, lines.join("\n")).unwrap();
        assert_eq!(
            strikes(&file).unwrap(),
            [Strike {
                line: 2,
                tool: "Bash".to_owned(),
                input: json!({"command": "make"}),
                error: "Exit code 2\nno rule".to_owned(),
            }]
        );
    }
}
