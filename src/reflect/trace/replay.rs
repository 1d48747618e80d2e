//! Plays a trace back as a session of the client.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::{Event, Kind, Trace};
use crate::redact::Secrecy;
use crate::transcript::{self, Digest, ErrorCategory, Options};

/// Before the id of an event that is told apart from the error it met.
const ANSWER_TO: &str = "answer to ";
const SOME_TOOL: &str = "tool";

impl Trace {
    /// What the trace shows, as a session would; the outcome is the agent's own.
    pub(crate) fn session(&self, home: Option<&Path>, secrecy: Secrecy) -> io::Result<Digest> {
        let options = Options {
            home: home.and_then(Path::to_str).map(str::to_owned),
            secrecy,
            ..Options::default()
        };
        let lines = self.lines();
        let mut digest = transcript::scan_reader(lines.as_bytes(), 0, &options, &mut |_, _| false)?;
        let facts = &mut digest.facts;
        facts.outcome = self.outcome;
        let category = self.error.as_ref().and_then(|e| e.category.as_deref());
        if let Some(category) = category {
            facts.category = Some(ErrorCategory::from_name(category));
        }
        Ok(digest)
    }

    /// The words by which the task is known.
    pub(crate) fn task(&self) -> String {
        let parts = [&self.task_goal, &self.task_description];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        parts.join("\n")
    }

    fn lines(&self) -> String {
        let mut player = Player::default();
        let task = self.task();
        if !task.is_empty() {
            player.user("task", None, &task);
        }
        for event in &self.events {
            player.play(event);
        }
        if let Some(error) = &self.error {
            // The error is that of the event that failed last, if one did.
            let has_failed = self.events.iter().any(Event::has_failed);
            let mut told = Vec::new();
            if has_failed {
                told.push(format!("The error: {}", error.message));
            } else {
                player.fails("outcome", None, SOME_TOOL, &error.message);
            }
            if !error.context.is_empty() {
                let context = Value::Object(error.context.clone());
                told.push(format!("Context of the error: {context}"));
            }
            if !told.is_empty() {
                player.says("context", None, &told.join("\n"));
            }
        }
        player.lines
    }

    /// The ids of events, of those that the trace was played back with: each once, and none
    /// that it does not have.
    pub(crate) fn sources(&self, played: &[String]) -> Vec<String> {
        let known: HashSet<&str> = self.events.iter().map(|event| event.id.as_str()).collect();
        let mut seen = HashSet::new();
        played
            .iter()
            .filter_map(|id| {
                let of_answer = || known.get(id.strip_prefix(ANSWER_TO)?);
                known.get(id.as_str()).or_else(of_answer)
            })
            .filter(|id| seen.insert(**id))
            .map(|id| (*id).to_owned())
            .collect()
    }
}

#[derive(Default)]
struct Player {
    lines: String,
    /// The calls without an answer: id and tool.
    open: Vec<(String, String)>,
}

impl Player {
    fn play(&mut self, event: &Event) {
        let time = event.timestamp.as_deref();
        let tool = event.tool.as_deref();
        let some_tool = tool.unwrap_or(SOME_TOOL);
        match event.kind {
            Kind::User => self.user(&event.id, time, &event.content),
            Kind::ToolCall => self.call(&event.id, time, some_tool, &event.content),
            Kind::ToolResponse if event.error.is_none() => {
                let call = self.answered(&event.id, time, tool, &event.content);
                self.result(&event.id, time, &call, &event.content, false);
            }
            Kind::ToolResponse | Kind::Error => {
                let text = match &event.error {
                    Some(error) if !event.content.contains(error.as_str()) => {
                        format!("{error}\n{}", event.content)
                    }
                    _ => event.content.clone(),
                };
                let call = self.answered(&event.id, time, tool, "");
                self.result(&event.id, time, &call, &text, true);
            }
            Kind::Other => self.says(&event.id, time, &event.content),
        }
        let is_told = matches!(event.kind, Kind::ToolResponse | Kind::Error);
        if let Some(error) = event.error.as_ref().filter(|_| !is_told) {
            let id = format!("{ANSWER_TO}{}", event.id);
            self.fails(&id, time, some_tool, error);
        }
    }

    fn says(&mut self, id: &str, time: Option<&str>, text: &str) {
        self.assistant(id, time, &json!({"type": "text", "text": text}));
    }

    fn user(&mut self, id: &str, time: Option<&str>, text: &str) {
        let message = json!({"role": "user", "content": text});
        self.record("user", id, time, &message);
    }

    fn assistant(&mut self, id: &str, time: Option<&str>, block: &Value) {
        let message = json!({"role": "assistant", "id": id, "content": [block]});
        self.record("assistant", id, time, &message);
    }

    fn call(&mut self, id: &str, time: Option<&str>, tool: &str, content: &str) {
        let input = json!({"command": content});
        let block = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
        self.assistant(id, time, &block);
        self.open.push((id.to_owned(), tool.to_owned()));
    }

    /// The call that an event answers: the last one of its tool that is open, else one made
    /// up for it.
    fn answered(
        &mut self,
        id: &str,
        time: Option<&str>,
        tool: Option<&str>,
        made_up: &str,
    ) -> String {
        let fits = |(_, open): &(String, String)| tool.is_none_or(|tool| tool == open);
        if let Some(at) = self.open.iter().rposition(fits) {
            return self.open.remove(at).0;
        }
        let call = format!("call of {id}");
        self.call(&call, time, tool.unwrap_or(SOME_TOOL), made_up);
        self.open.pop();
        call
    }

    fn fails(&mut self, id: &str, time: Option<&str>, tool: &str, text: &str) {
        let call = self.answered(id, time, Some(tool), "");
        self.result(id, time, &call, text, true);
    }

    fn result(&mut self, id: &str, time: Option<&str>, call: &str, text: &str, is_error: bool) {
        let block = json!({
            "type": "tool_result", "tool_use_id": call, "content": text, "is_error": is_error,
        });
        let message = json!({"role": "user", "content": [block]});
        self.record("user", id, time, &message);
    }

    fn record(&mut self, kind: &str, id: &str, time: Option<&str>, message: &Value) {
        let record = json!({"type": kind, "uuid": id, "timestamp": time, "message": message});
        self.lines.push_str(&record.to_string());
        self.lines.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Outcome;

    fn trace(events: &Value) -> Trace {
        let body = json!({"events": events, "outcome": "failure", "task_description": "fetch orders",
            "error": {"error_category": "timeout_error", "error_message": "over 30s", "context": {"query": "SELECT 1"}}});
        Trace::read(&body).unwrap()
    }

    #[test]
    fn a_trace_shows_what_a_session_would() {
        let trace = trace(&json!([
            {"event_id": "e1", "event_type": "tool_call", "content": "psql -c 'select * from orders'", "tool_name": "Bash"},
            {"event_id": "e2", "event_type": "error_event", "content": "Query timed out after 30 seconds"},
            {"event_id": "e3", "event_type": "tool_call", "content": "psql -c 'select id from orders limit 10'", "tool_name": "Bash"},
            {"event_id": "e4", "event_type": "tool_response", "content": "3 rows"},
            {"event_id": "e5", "event_type": "llm_call", "content": "It worked. TOKEN=abcdefghijklmnop"},
        ]));
        let digest = trace.session(None, Secrecy::default()).unwrap();
        let facts = &digest.facts;
        assert_eq!(facts.outcome, Outcome::Failure);
        assert_eq!(facts.category, Some(ErrorCategory::Timeout));
        assert_eq!((facts.tool_calls, facts.tool_errors), (2, 1));
        assert_eq!(facts.first_request.as_deref(), Some("fetch orders"));
        let evidence = digest.evidence.finish(10_000);
        let sources: Vec<_> = evidence
            .shown
            .iter()
            .filter_map(|s| s.uuid.as_deref())
            .collect();
        assert!(
            sources.contains(&"e2") && sources.contains(&"e5"),
            "{sources:?}"
        );
        for said in ["SELECT 1", "over 30s"] {
            assert!(evidence.text.contains(said), "{}", evidence.text);
        }
        assert!(!evidence.text.contains("abcdefghijklmnop"));
    }

    #[test]
    fn answers_without_a_call_are_no_trouble() {
        let trace = trace(&json!([
            {"event_type": "error_event", "content": "boom over 30s"},
            {"event_type": "tool_response", "content": "x"},
            {"event_type": "tool_call", "content": "y", "error": "it broke"},
        ]));
        let facts = trace.session(None, Secrecy::default()).unwrap().facts;
        assert_eq!((facts.tool_calls, facts.tool_errors), (3, 2));
    }

    #[test]
    fn whatever_met_an_error_has_failed() {
        let trace = trace(&json!([
            {"event_type": "llm_call", "content": "asked", "error": {"code": 529, "message": "overloaded"}},
            {"event_type": "system_event", "content": "disk", "error": "no space left"},
        ]));
        let facts = trace.session(None, Secrecy::default()).unwrap().facts;
        assert_eq!((facts.tool_calls, facts.tool_errors), (2, 2));
    }

    #[test]
    fn only_events_of_the_trace_are_sources() {
        let trace = trace(
            &json!([{"event_id": "e1", "event_type": "tool_call", "content": "y", "error": "z"}]),
        );
        let played =
            ["task", "answer to e1", "e1", "call of outcome", "outcome"].map(str::to_owned);
        assert_eq!(trace.sources(&played), ["e1"]);
    }
}
