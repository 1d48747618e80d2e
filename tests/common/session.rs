//! Sessions as the client writes them: one JSON object a line, with the keys, ids and look-alikes
//! of real transcripts.

use serde_json::{Value, json};

#[derive(Clone)]
pub(crate) struct Session {
    id: String,
    cwd: String,
    lane: Lane,
    lines: Vec<Value>,
    /// The number of lines under this session's own numbering of ids and times.
    count: u32,
    /// The id of the current prompt, if the test names it.
    prompt: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lane {
    Session,
    Subagent,
}

impl Session {
    /// Starts a session as real ones start: with an injected playbook, whose ids do not count.
    pub(crate) fn new(id: &str) -> Self {
        Self::begin(id, Lane::Session)
    }

    pub(crate) fn subagent(id: &str) -> Self {
        Self::begin(id, Lane::Subagent)
    }

    fn begin(id: &str, lane: Lane) -> Self {
        let mut session = Self {
            id: id.to_owned(),
            cwd: "/home/user/project".to_owned(),
            lane,
            lines: Vec::new(),
            count: 0,
            prompt: None,
        };
        session.lines.push(json!({
            "type": "queue-operation", "operation": "enqueue", "timestamp": session.time(),
            "sessionId": id, "content": "a request that mentions [oth-901]",
        }));
        session.injected("[pat-901] helpful=3 harmful=0 :: only injected, never cited");
        session
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            text.push_str(&line.to_string());
            text.push('\n');
        }
        text
    }

    /// Returns a copy under another id, as `--fork-session` makes it: same uuids and times.
    pub(crate) fn fork(&self, id: &str) -> Self {
        let mut lines = self.lines.clone();
        for line in &mut lines {
            if line["type"] == "assistant" {
                line["requestSessionId"] = json!(self.id);
            }
            line["sessionId"] = json!(id);
        }
        Self {
            id: id.to_owned(),
            lines,
            ..self.clone()
        }
    }

    pub(crate) fn done(&self) -> Self {
        self.clone()
    }

    /// Adds context that hooks inject at a start: an attachment, not a message.
    pub(crate) fn injected(&mut self, text: &str) -> &mut Self {
        self.given_at("SessionStart", text)
    }

    /// Adds context that hooks inject at an event of this name.
    pub(crate) fn given_at(&mut self, event: &str, text: &str) -> &mut Self {
        self.record(json!({
            "type": "attachment",
            "attachment": {"type": "hook_additional_context", "content": [text],
                "hookName": event, "toolUseID": event, "hookEvent": event},
            "rendered": [{"content": format!("<system-reminder>\n{text}\n</system-reminder>")}],
            "renderedRole": "system",
        }))
    }

    pub(crate) fn user(&mut self, text: &str) -> &mut Self {
        self.record(json!({
            "type": "user", "message": {"role": "user", "content": text},
            "permissionMode": "default", "origin": {"kind": "human"}, "promptSource": "typed",
            "turnOrigin": "human",
        }))
    }

    /// Adds a prompt with an id, which the following records have as well.
    pub(crate) fn prompt(&mut self, id: &str, text: &str) -> &mut Self {
        self.prompt = Some(id.to_owned());
        self.user(text)
    }

    /// Adds the record that the client writes for a stop that a hook has blocked.
    pub(crate) fn guided(&mut self, reason: &str) -> &mut Self {
        let text = format!("Stop hook feedback:\n{reason}");
        self.record(json!({
            "type": "user", "isMeta": true, "message": {"role": "user", "content": text},
        }))
    }

    pub(crate) fn assistant(&mut self, text: &str) -> &mut Self {
        self.assistant_block(&json!({"type": "text", "text": text}), "end_turn")
    }

    pub(crate) fn ran(&mut self, command: &str, output: &str) -> &mut Self {
        self.tool("Bash", &json!({"command": command}), output)
    }

    pub(crate) fn failed(&mut self, command: &str, error: &str) -> &mut Self {
        self.tool_error("Bash", &json!({"command": command}), error)
    }

    pub(crate) fn calls(&mut self, name: &str, input: &Value) -> &mut Self {
        self.call(name, input);
        self
    }

    pub(crate) fn tool(&mut self, name: &str, input: &Value, output: &str) -> &mut Self {
        let id = self.call(name, input);
        self.record(json!({
            "type": "user",
            "message": {"role": "user", "content": [
                {"type": "tool_result", "content": output, "is_error": false, "tool_use_id": id}]},
            "toolUseResult": {"stdout": output, "stderr": "", "interrupted": false, "isImage": false},
        }))
    }

    pub(crate) fn tool_error(&mut self, name: &str, input: &Value, error: &str) -> &mut Self {
        let id = self.call(name, input);
        self.record(json!({
            "type": "user",
            "message": {"role": "user", "content": [
                {"type": "tool_result", "content": error, "is_error": true, "tool_use_id": id}]},
            "toolUseResult": format!("Error: {error}"),
        }))
    }

    /// Adds a call that the user refused, with the reason given.
    pub(crate) fn rejected(&mut self, name: &str, input: &Value, words: &str) -> &mut Self {
        let id = self.call(name, input);
        let text = format!(
            "The user doesn't want to proceed with this tool use. The tool use was rejected \
             (eg. if it was a file edit, the new_string was NOT written to the file). To tell you \
             how to proceed, the user said:\n{words}"
        );
        self.record(json!({
            "type": "user",
            "message": {"role": "user", "content": [
                {"type": "tool_result", "content": text, "is_error": true, "tool_use_id": id}]},
            "toolUseResult": format!("Error: {text}"),
            "toolDenialKind": "user-rejected",
        }))
    }

    pub(crate) fn interrupted(&mut self) -> &mut Self {
        self.record(json!({
            "type": "user",
            "message": {"role": "user", "content": [
                {"type": "text", "text": "[Request interrupted by user]"}]},
            "interruptedMessageId": format!("msg_{}", self.count),
        }))
    }

    /// Adds the summary that replaces the conversation after a compaction; it repeats cited ids.
    pub(crate) fn compacted(&mut self, summary: &str) -> &mut Self {
        self.record(json!({
            "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
            "compactMetadata": {"trigger": "manual", "preTokens": 1000, "postTokens": 100},
        }));
        self.record(json!({
            "type": "user", "message": {"role": "user", "content": summary},
            "isCompactSummary": true, "isVisibleInTranscriptOnly": true,
        }))
    }

    fn call(&mut self, name: &str, input: &Value) -> String {
        let id = format!("toolu_{}_{}", short(&self.id), self.count);
        self.assistant_block(
            &json!({"type": "tool_use", "id": id, "name": name, "input": input}),
            "tool_use",
        );
        id
    }

    fn assistant_block(&mut self, block: &Value, stop_reason: &str) -> &mut Self {
        self.record(json!({
            "type": "assistant",
            "message": {
                "id": format!("msg_{}_{}", short(&self.id), self.count), "type": "message",
                "role": "assistant", "model": "claude-opus-5-5", "content": [block],
                "stop_reason": stop_reason, "stop_sequence": null,
                "usage": {"input_tokens": 1000, "output_tokens": 20,
                    "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
            },
            "apiBlockIndex": 0, "requestRef": format!("req-{}", self.count),
        }))
    }

    /// Adds a record with the keys that all records of the chain have.
    fn record(&mut self, own: Value) -> &mut Self {
        let parent = self
            .lines
            .iter()
            .rev()
            .find_map(|line| line.get("uuid").cloned());
        self.count += 1;
        let mut line = json!({
            "parentUuid": parent,
            "isSidechain": self.lane == Lane::Subagent,
            "uuid": format!("{:08x}-0000-4000-8000-{:012x}", self.number(), self.count),
            "timestamp": self.time(),
            "userType": "external", "entrypoint": "cli", "cwd": self.cwd,
            "sessionId": self.id, "version": "2.1.330", "gitBranch": "main",
        });
        if let (Some(line), Value::Object(own)) = (line.as_object_mut(), own) {
            line.extend(own);
        }
        if let (Some(prompt), "user") = (&self.prompt, line["type"].as_str().unwrap_or("")) {
            line["promptId"] = json!(prompt);
        }
        self.lines.push(line);
        self
    }

    /// Returns a number of this transcript's own, so that two transcripts have different uuids.
    fn number(&self) -> u32 {
        let start = u32::from(self.lane == Lane::Subagent);
        self.id.bytes().fold(start, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(u32::from(byte))
        })
    }

    /// Returns ascending times, one second apart, in the order of the lines.
    fn time(&self) -> String {
        let (minutes, seconds) = (self.count / 60, self.count % 60);
        format!("2026-11-21T11:{minutes:02}:{seconds:02}.000Z")
    }
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}
