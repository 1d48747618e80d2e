//! What the client notes in a transcript of where its session comes from: the texts that
//! hooks gave it at its starts, and the sessions that it was forked from.
//!
//! Only the client's own notes are read, wherever they stand in the file; what an assistant,
//! a user or a tool says of ids is no note.

use std::collections::BTreeSet;
use std::io::{self, BufRead};

use super::json;
use super::reader::{each_line, records};
use super::record::{Attachment, Keys};
use super::tool_answer;

/// A longer line is no note of what a hook said: the client keeps 10,000 characters of that.
const MAX_NOTE: usize = 1 << 20;
/// The number of texts and of sessions that are kept.
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
    pub fn read(source: impl BufRead) -> io::Result<Self> {
        let mut found = Self::default();
        each_line(source, 0, |_, line| {
            found.note(
                line.filter(|line| line.len() <= MAX_NOTE)
                    .unwrap_or_default(),
            );
        })?;
        Ok(found)
    }

    /// Notes what a line says. Inside of a text the quotes of a key are escaped, so few
    /// lines are parsed that are no notes.
    fn note(&mut self, line: &str) {
        if !line.contains(r#""hookEvent""#) && !line.contains(r#""requestSessionId""#) {
            return;
        }
        for keys in records(line).filter_map(|(_, record)| record.ok()) {
            if self.given.len() < MAX_FOUND {
                self.given.extend(given_at_start(&keys).unwrap_or_default());
            }
            let origin = json::name(keys.request_session_id);
            let origin = origin.filter(|_| json::name(keys.kind) == Some("assistant"));
            if self.origins.len() < MAX_FOUND {
                self.origins.extend(origin.map(str::to_owned));
            }
        }
    }
}

/// Returns the texts that a hook gave at the start of a session, or of the subagent whose
/// transcript this is, to the model or to the user, if this is the client's note of that.
fn given_at_start(keys: &Keys<'_>) -> Option<Vec<String>> {
    let note: Attachment<'_> = json::object(keys.attachment)?;
    let is_one_of =
        |value, names: [&str; 2]| json::name(value).is_some_and(|it| names.contains(&it));
    let is_note = json::name(keys.kind) == Some("attachment")
        && is_one_of(
            note.kind,
            ["hook_additional_context", "hook_system_message"],
        )
        && is_one_of(note.hook_event, ["SessionStart", "SubagentStart"]);
    let texts = tool_answer::strings(note.content.filter(|_| is_note)?);
    Some(texts.into_iter().map(Into::into).collect())
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
        let read = |text: &str| Beginnings::read(text.as_bytes()).unwrap();
        assert_eq!(read(&text), Beginnings::default());
        let found = read(&format!("{text}{note}\n"));
        assert_eq!(Vec::from_iter(found.given), ["[pat-001]"]);
    }
}
