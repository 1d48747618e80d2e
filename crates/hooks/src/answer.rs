//! A hook's answer to the client: one line of JSON.

use std::io::Write;

use serde_json::{Map, Value, json};

use super::HookEvent;
use crate::clip::one_line;

const COLUMNS: usize = 80;

#[derive(Debug, Default)]
pub(super) struct HookAnswer {
    /// The text for the agent, with which the guard turns a call back.
    pub(super) context: Option<String>,
    pub(super) told: Vec<String>,
    /// Hints that the agent received.
    pub(super) reminded: Vec<String>,
    /// The guidance with which a turn continues that was about to end.
    pub(super) block: Option<String>,
}

impl HookAnswer {
    pub(super) fn give(self, event: HookEvent, out: &mut dyn Write) {
        let mut reply = Map::new();
        if let Some(context) = self.context {
            let mut output = json!({"hookEventName": event.client_name()});
            if event == HookEvent::PreToolUse {
                output["permissionDecision"] = "deny".into();
                output["permissionDecisionReason"] = context.into();
            } else {
                output["additionalContext"] = context.into();
            }
            reply.insert("hookSpecificOutput".to_owned(), output);
        }
        if let Some(reason) = self.block {
            reply.insert("decision".to_owned(), "block".into());
            reply.insert("reason".to_owned(), reason.into());
        }
        let told = self.told.iter().map(|text| format!("Playbook: {text}"));
        let reminded = self.reminded.iter().map(|text| {
            let line = format!("Playbook reminded Claude: {text}");
            one_line(&line, COLUMNS)
        });
        let lines: Vec<String> = told.chain(reminded).collect();
        if !lines.is_empty() {
            reply.insert("systemMessage".to_owned(), lines.join("\n").into());
        }
        if !reply.is_empty() {
            let line = format!("{}\n", Value::Object(reply));
            // The client may be gone; then there is no reader left.
            _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
        }
    }
}
