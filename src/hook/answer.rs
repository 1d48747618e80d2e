//! What a hook says to the client, in the client's words: one line of JSON.

use std::io::Write;

use serde::Serialize;

use super::HookEvent;

#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) context: Option<String>,
    pub(super) told: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Reply {
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Output>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    hook_event_name: &'static str,
    additional_context: String,
}

impl Answer {
    pub(super) fn give(self, event: HookEvent, out: &mut dyn Write) {
        let reply = Reply {
            hook_specific_output: self.context.map(|additional_context| Output {
                hook_event_name: event.client_name(),
                additional_context,
            }),
            system_message: (!self.told.is_empty())
                .then(|| format!("Playbook: {}", self.told.join("\nPlaybook: "))),
        };
        if reply.hook_specific_output.is_none() && reply.system_message.is_none() {
            return;
        }
        let Ok(mut line) = serde_json::to_string(&reply) else {
            return;
        };
        line.push('\n');
        // The client may be gone; there is nobody left to tell.
        _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    }
}
