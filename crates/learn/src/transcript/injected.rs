//! What the client notes in a transcript of where its session comes from: the texts that
//! hooks gave it at its starts, and the sessions that it was forked from.
//!
//! Only the client's own notes are read, wherever they stand in the file; what an assistant,
//! a user or a tool says of ids is no note.

use std::collections::BTreeSet;
use std::io;

use memchr::memmem;
use serde_json::Value;

use super::blocks::{Blocks, LineBlock};
use super::source::TranscriptSource;

/// A longer line is no note of what a hook said: the client keeps 10,000 characters of that.
const MAX_NOTE: usize = 1 << 20;
/// How many texts and how many sessions are kept.
const MAX_FOUND: usize = 1_000;

/// What the beginning of a transcript says of what the session was given, and of where it came
/// from.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Beginnings {
    /// What hooks gave at the session's starts, each text once.
    pub given: BTreeSet<String>,
    /// The ids of the sessions whose records were copied, as a fork does.
    pub origins: BTreeSet<String>,
}

impl Beginnings {
    /// Reads what a transcript says from its beginning on.
    pub fn read(source: impl TranscriptSource) -> io::Result<Self> {
        let mut blocks = Blocks::new(source, 0);
        let mut found = Self::default();
        let mut lines = LineBlock::default();
        while let Some(next) = blocks.fill(lines)? {
            found.note(next.bytes());
            lines = next;
        }
        Ok(found)
    }

    /// Notes what whole lines say. Inside of a text the quotes of a key are escaped, so few
    /// lines are parsed that are no notes.
    fn note(&mut self, bytes: &[u8]) {
        for at in memmem::find_iter(bytes, br#""hookEvent""#) {
            if let Some(record) = record_at(bytes, at) {
                let texts = given_at_start(&record);
                let room = MAX_FOUND.saturating_sub(self.given.len());
                self.given.extend(texts.take(room));
            }
        }
        let key = br#""requestSessionId":""#;
        for at in memmem::find_iter(bytes, key) {
            let rest = &bytes[at + key.len()..];
            let end = memchr::memchr(b'"', rest).unwrap_or_default();
            let Ok(id) = std::str::from_utf8(&rest[..end]) else {
                continue;
            };
            // A fork repeats it on each record that it copied.
            if self.origins.len() < MAX_FOUND
                && !self.origins.contains(id)
                && record_at(bytes, at).is_some_and(|record| {
                    record["type"] == "assistant" && record["requestSessionId"] == id
                })
            {
                self.origins.insert(id.to_owned());
            }
        }
    }
}

fn record_at(bytes: &[u8], at: usize) -> Option<Value> {
    let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |i| i + 1);
    let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |i| at + i);
    let line = bytes
        .get(start..end)
        .filter(|line| line.len() <= MAX_NOTE)?;
    serde_json::from_slice(line).ok()
}

/// The texts that a hook gave at the start of a session, or of the subagent whose transcript
/// this is, to the model or to the user, if this is the client's note of that.
fn given_at_start(record: &Value) -> impl Iterator<Item = String> {
    let note = &record["attachment"];
    let is_note = record["type"] == "attachment"
        && (note["type"] == "hook_additional_context" || note["type"] == "hook_system_message")
        && (note["hookEvent"] == "SessionStart" || note["hookEvent"] == "SubagentStart");
    let content = Some(&note["content"]).filter(|_| is_note);
    let texts = content.into_iter().flat_map(|content| match content {
        Value::Array(texts) => texts.as_slice(),
        text => std::slice::from_ref(text),
    });
    texts.filter_map(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_fixture(name: &str) -> Beginnings {
        let folder = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fixtures/transcripts"
        );
        let bytes = std::fs::read(format!("{folder}/{name}")).unwrap();
        Beginnings::read(&bytes[..]).unwrap()
    }

    #[test]
    fn the_real_client_notes_what_hooks_gave_and_where_a_fork_comes_from() {
        let session = of_fixture("resume-compact-auto.jsonl");
        for text in [
            "CTX-ONE [pat-001]",
            "CTX-TWO [pat-002]",
            "CTX-COMPACT [pat-005]",
        ] {
            assert!(session.given.contains(text), "{text}");
        }
        let told = of_fixture("interactive-after-clear-and-switch.jsonl").given;
        assert!(told.contains("SYSMSG-FROM-SESSIONSTART"), "{told:?}");
        assert!(session.origins.is_empty());
        let origin = "28703303-7ece-482a-b06d-373e03e54516";
        for fork in ["fork.jsonl", "fork-after-compact.jsonl"] {
            assert_eq!(Vec::from_iter(of_fixture(fork).origins), [origin], "{fork}");
        }
    }

    #[test]
    fn what_is_only_said_is_no_note_and_a_broken_line_hides_no_other() {
        let note = r#"{"type":"attachment","attachment":{"type":"hook_additional_context","hookEvent":"SessionStart","content":["[pat-001]",7]}}"#;
        let said = serde_json::json!({"type": "user", "message": {"content": note}});
        let tool = note.replace("attachment\",\"a", "user\",\"a");
        let prompt = note.replace("SessionStart", "UserPromptSubmit");
        let text = format!(
            "{said}\n{tool}\n{prompt}\n{{\"hookEvent\" \n{{\"type\":\"user\",\"requestSessionId\":\"x\"}}\n"
        );
        let mut found = Beginnings::default();
        found.note(text.as_bytes());
        assert_eq!(found, Beginnings::default());
        found.note(format!("{text}{note}\n").as_bytes());
        assert_eq!(Vec::from_iter(found.given), ["[pat-001]"]);
    }
}
