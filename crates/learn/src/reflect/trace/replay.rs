//! Replays a trace as a session of the client.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::{TOOL, Trace, TraceEvent, TraceKind};
use crate::clip::head;
use crate::redact::Secrecy;
use crate::transcript::{self, Digest, ErrorCategory, ReadOptions};

/// The prefix for the id of an event that is separate from the error it met.
const ANSWER_TO: &str = "answer to ";
/// The prefix for the id of an event with additional data from the agent.
const NOTE_ON: &str = "note on ";
/// The longest excerpt of a tool's answer and of an event's additional data, in bytes.
const MAX_NOTE: usize = 400;
const SOME_TOOL: &str = "tool";

impl Trace {
    /// Replays the trace as a session and returns its digest; the outcome is the agent's own.
    pub fn session(&self, home: Option<&Path>, secrecy: Secrecy) -> io::Result<Digest> {
        let options = ReadOptions {
            home: home.and_then(Path::to_str).map(str::to_owned),
            secrecy,
            ..ReadOptions::default()
        };
        let lines = self.lines();
        let mut digest = transcript::scan_reader(lines.as_bytes(), 0, &options, &mut |_, _| false)?;
        let facts = &mut digest.facts;
        facts.outcome = self.outcome;
        let category = self.error.as_ref().and_then(|e| e.category.as_deref());
        if let Some(category) = category {
            facts.category = Some(ErrorCategory::named(category));
        }
        Ok(digest)
    }

    pub fn task(&self) -> String {
        let parts = [&self.task_goal, &self.task_description];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        parts.join("\n")
    }

    fn lines(&self) -> String {
        let mut player = Player::default();
        let task = self.task();
        if !task.is_empty() {
            player.user("trace:task", &task);
        }
        for event in &self.events {
            player.play(event);
        }
        player.time = None;
        if let Some(error) = &self.error {
            // The error belongs to the last failed event, if there is one.
            let mut details = Vec::new();
            let has_failed =
                |event: &TraceEvent| event.error.is_some() || event.kind == TraceKind::Error;
            if self.events.iter().any(has_failed) {
                details.push(format!("The error: {}", error.message));
            } else {
                player.answers("trace:outcome", Some(SOME_TOOL), "", Err(&error.message));
            }
            if !error.context.is_empty() {
                let context = Value::Object(error.context.clone());
                details.push(format!("Context of the error: {context}"));
            }
            if !details.is_empty() {
                player.says("trace:context", &details.join("\n"));
            }
        }
        player.lines
    }

    /// Returns the trace's own ids of replayed events, each once; unknown ids are dropped.
    pub fn sources(&self, played: &[String]) -> Vec<String> {
        let known: HashSet<&str> = self.events.iter().map(|event| event.id.as_str()).collect();
        let mut seen = HashSet::new();
        played
            .iter()
            .filter_map(|id| {
                let mut marks = [ANSWER_TO, NOTE_ON].into_iter();
                let of_answer = || known.get(marks.find_map(|mark| id.strip_prefix(mark))?);
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
    open: Vec<(String, String)>,
    time: Option<String>,
}

impl Player {
    fn play(&mut self, event: &TraceEvent) {
        let (id, tool, text) = (event.id.as_str(), event.tool.as_deref(), &event.content);
        self.time.clone_from(&event.timestamp);
        let error = event.error.as_deref();
        match (event.kind, error) {
            (TraceKind::ToolResponse, None) => {
                self.answers(id, tool, text, Ok(text));
                let tool = tool.unwrap_or(SOME_TOOL);
                self.notes(
                    &format!("{ANSWER_TO}{id}"),
                    &format!("{tool} answered: {text}"),
                );
            }
            (TraceKind::ToolResponse | TraceKind::Error, Some(error)) if !text.contains(error) => {
                self.answers(id, tool, "", Err(&format!("{error}\n{text}")));
            }
            (TraceKind::ToolResponse | TraceKind::Error, _) => {
                self.answers(id, tool, "", Err(text));
            }
            (TraceKind::User, _) => self.user(id, text),
            (TraceKind::ToolCall, _) => self.call(id, tool.unwrap_or(SOME_TOOL), text),
            (TraceKind::Other, _) => self.says(id, text),
        }
        let mut metadata = event.metadata.clone();
        metadata.remove(TOOL);
        if !metadata.is_empty() {
            let noted = format!("Noted of this: {}", Value::Object(metadata));
            self.notes(&format!("{NOTE_ON}{id}"), &noted);
        }
        let is_answered = matches!(event.kind, TraceKind::ToolResponse | TraceKind::Error);
        if let Some(error) = error.filter(|_| !is_answered) {
            let tool = tool.unwrap_or(SOME_TOOL);
            self.answers(&format!("{ANSWER_TO}{id}"), Some(tool), "", Err(error));
        }
    }

    /// Adds the beginning of a text that the evidence of a session would omit.
    fn notes(&mut self, id: &str, text: &str) {
        let cut = head(text, MAX_NOTE);
        let more = if cut.len() < text.len() { " …" } else { "" };
        self.says(id, &format!("{cut}{more}"));
    }

    fn says(&mut self, id: &str, text: &str) {
        self.assistant(id, &json!({"type": "text", "text": text}));
    }

    fn user(&mut self, id: &str, text: &str) {
        self.record("user", id, &json!({"role": "user", "content": text}));
    }

    fn assistant(&mut self, id: &str, block: &Value) {
        let message = json!({"role": "assistant", "id": id, "content": [block]});
        self.record("assistant", id, &message);
    }

    fn call(&mut self, id: &str, tool: &str, content: &str) {
        let input = json!({"command": content});
        self.assistant(
            id,
            &json!({"type": "tool_use", "id": id, "name": tool, "input": input}),
        );
        self.open.push((id.to_owned(), tool.to_owned()));
    }

    /// Adds a made-up call if no call of this tool, or of any, is open.
    fn answers(&mut self, id: &str, tool: Option<&str>, made_up: &str, text: Result<&str, &str>) {
        let fits = |(_, open): &(String, String)| tool.is_none_or(|tool| tool == open);
        if !self.open.iter().any(fits) {
            self.call(&format!("call of {id}"), tool.unwrap_or(SOME_TOOL), made_up);
        }
        let Some(at) = self.open.iter().rposition(fits) else {
            return;
        };
        let (call, _) = self.open.remove(at);
        let (Ok(said) | Err(said)) = text;
        let block = json!({
            "type": "tool_result", "tool_use_id": call, "content": said, "is_error": text.is_err(),
        });
        self.record("user", id, &json!({"role": "user", "content": [block]}));
    }

    fn record(&mut self, kind: &str, id: &str, message: &Value) {
        let record = json!({"type": kind, "uuid": id, "timestamp": self.time, "message": message});
        self.lines.push_str(&record.to_string());
        self.lines.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn trace(events: &Value) -> Trace {
        let body = json!({"events": events, "outcome": "failure", "task_description": "fetch orders",
            "error": {"error_message": "over 30s"}});
        Trace::read(&body).unwrap()
    }

    #[rstest]
    #[case::each_call_is_answered_once(json!([
        {"event_type": "tool_call", "content": "psql -c 'select *'", "tool_name": "Bash"},
        {"event_type": "error_event", "content": "Query timed out after 30 seconds"},
        {"event_type": "tool_call", "content": "psql -c 'select id'", "tool_name": "Bash"},
        {"event_type": "tool_response", "content": "3 rows"},
    ]), (2, 1))]
    #[case::answers_without_a_call(json!([
        {"event_type": "error_event", "content": "boom over 30s"},
        {"event_type": "tool_response", "content": "x"},
        {"event_type": "tool_call", "content": "y", "error": "it broke"},
    ]), (3, 2))]
    #[case::whatever_met_an_error_has_failed(json!([
        {"event_type": "llm_call", "content": "asked", "error": {"code": 529}},
        {"event_type": "system_event", "content": "disk", "error": "no space left"},
    ]), (2, 2))]
    fn calls_and_failures_are_counted(#[case] events: Value, #[case] count: (u64, u64)) {
        let digest = trace(&events).session(None, Secrecy::default()).unwrap();
        assert_eq!((digest.facts.tool_calls, digest.facts.tool_errors), count);
    }

    #[test]
    fn only_events_of_the_trace_are_sources() {
        let trace = trace(
            &json!([{"event_id": "e1", "event_type": "tool_call", "content": "y", "error": "z"}]),
        );
        let played = [
            "trace:task",
            "answer to e1",
            "e1",
            "call of trace:outcome",
            "trace:outcome",
        ]
        .map(str::to_owned);
        assert_eq!(trace.sources(&played), ["e1"]);
    }
}
