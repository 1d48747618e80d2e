//! What a hook says to the client, in the client's words: one line of JSON.

use std::io::Write;

use serde_json::{Map, Value, json};

use super::HookEvent;

#[derive(Debug, Default)]
pub(super) struct HookAnswer {
    pub(super) context: Option<String>,
    pub(super) told: Vec<String>,
    /// With what a turn goes on that was about to end.
    pub(super) block: Option<String>,
}

impl HookAnswer {
    pub(super) fn give(self, event: HookEvent, out: &mut dyn Write) {
        let mut reply = Map::new();
        if let Some(context) = self.context {
            let output = json!({
                "hookEventName": event.client_name(),
                "additionalContext": context,
            });
            reply.insert("hookSpecificOutput".to_owned(), output);
        }
        if let Some(reason) = self.block {
            reply.insert("decision".to_owned(), "block".into());
            reply.insert("reason".to_owned(), reason.into());
        }
        if !self.told.is_empty() {
            let told = format!("Playbook: {}", self.told.join("\nPlaybook: "));
            reply.insert("systemMessage".to_owned(), told.into());
        }
        if !reply.is_empty() {
            let line = format!("{}\n", Value::Object(reply));
            // The client may be gone; there is nobody left to tell.
            _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
        }
    }
}
