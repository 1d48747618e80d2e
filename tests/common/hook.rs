//! The client's side of a hook: its input for each event, and its reading of the answer.

pub(crate) use playbook::hook::HookEvent as Hook;
use serde_json::{Value, json};

use super::env::TestEnv;
use super::run::{Output, Running, Stdin};

const PROMPT: &str = "7c9e2b1a-5d43-4f0e-9a86-2f1de0a6b7c8";
/// The id of the subagent in [`Hook::SubagentStop`]'s input.
pub(super) const AGENT: &str = "a0309dfa644de6096";

/// Returns the keys of an ordinary event that not all events have.
fn own_keys(hook: Hook) -> Value {
    match hook {
        Hook::SessionStart => json!({"source": "startup"}),
        Hook::SessionEnd => json!({"prompt_id": PROMPT, "reason": "prompt_input_exit"}),
        Hook::PreCompact => {
            json!({"prompt_id": PROMPT, "trigger": "manual", "custom_instructions": null})
        }
        Hook::SubagentStart => json!({
            "prompt_id": PROMPT, "agent_id": AGENT, "agent_type": "general-purpose",
        }),
        Hook::SubagentStop => {
            let mut keys = own_keys(Hook::Stop);
            keys["agent_id"] = json!(AGENT);
            keys["agent_type"] = json!("general-purpose");
            keys
        }
        Hook::Stop => json!({
            "prompt_id": PROMPT, "permission_mode": "default", "effort": {"level": "medium"},
            "stop_hook_active": false, "last_assistant_message": "Done.", "background_tasks": [],
            "session_crons": [],
        }),
        Hook::PostToolUseFailure => json!({
            "prompt_id": PROMPT, "permission_mode": "default", "effort": {"level": "medium"},
            "tool_name": "Bash", "tool_input": {"command": "make"},
            "tool_use_id": "toolu_01", "error": "Exit code 2\nmake: *** no targets",
            "is_interrupt": false, "duration_ms": 40,
        }),
        Hook::UserPromptSubmit => json!({
            "prompt_id": PROMPT, "permission_mode": "default", "prompt": "hello",
        }),
        Hook::PreToolUse => json!({
            "prompt_id": PROMPT, "permission_mode": "default", "effort": {"level": "medium"},
            "tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "toolu_01",
        }),
    }
}

impl TestEnv {
    /// Returns the client's input for an ordinary event of `session`.
    pub(crate) fn event(&self, hook: Hook, session: &str) -> Value {
        let mut event = json!({
            "session_id": session,
            "transcript_path": self.transcript_path(session),
            "cwd": self.project(),
            "hook_event_name": hook.client_name(),
        });
        if hook == Hook::SubagentStop {
            event["agent_transcript_path"] = json!(self.agent_transcript_path(session));
        }
        merge(&mut event, own_keys(hook));
        event
    }

    /// Returns the input with the keys of `change` set, as bytes for stdin.
    pub(crate) fn event_with(&self, hook: Hook, session: &str, change: Value) -> Vec<u8> {
        let mut event = self.event(hook, session);
        merge(&mut event, change);
        format!("{event}\n").into_bytes()
    }

    /// Runs a hook on an ordinary event of `session`, with the keys of `change` set.
    #[track_caller]
    pub(crate) fn hook(&self, hook: Hook, session: &str, change: Value) -> Output {
        self.hook_bytes(hook, &self.event_with(hook, session, change), Stdin::Closed)
    }

    #[track_caller]
    pub(crate) fn hook_bytes(&self, hook: Hook, input: &[u8], stdin: Stdin) -> Output {
        Running::start(self.command(hook.name()), input, stdin).finish()
    }

    /// Starts a session; returns its context and the message to its user. Missing ones are empty.
    #[track_caller]
    pub(crate) fn start(&self, session: &str) -> (String, String) {
        self.start_by("startup", session)
    }

    /// Starts a session from another source; returns the same.
    #[track_caller]
    pub(crate) fn start_by(&self, source: &str, session: &str) -> (String, String) {
        let said = self.hook(Hook::SessionStart, session, json!({"source": source}));
        let reply: Value = match said.ok().as_str() {
            "" => json!({}),
            text => serde_json::from_str(text).expect("JSON"),
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (
            text(&reply["hookSpecificOutput"]["additionalContext"]),
            text(&reply["systemMessage"]),
        )
    }

    /// Starts a session; returns the message to its user.
    #[track_caller]
    pub(crate) fn told_at_start(&self, session: &str) -> String {
        self.start(session).1
    }

    /// Ends a session whose transcript is written already.
    #[track_caller]
    pub(crate) fn ends(&self, session: &str) {
        self.hook(Hook::SessionEnd, session, json!({})).silent();
    }
}

pub(crate) fn merge(value: &mut Value, change: Value) {
    let Value::Object(change) = change else {
        panic!("a change is an object: {change}");
    };
    value.as_object_mut().expect("an object").extend(change);
}
