//! Reads a trace; what is wrong with it is told with the path of the field.

use std::collections::HashSet;
use std::fmt;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::{ErrorInfo, Event, Kind, Trace};
use crate::reflect::reply::Score;
use crate::reflect::self_correction::{Critique, Status, Verification};
use crate::transcript::Outcome;

/// So many events are taken.
const MAX_EVENTS: usize = 100_000;
/// To whom a trace belongs that does not say.
const DEFAULT_TENANT: &str = "default";

/// What is wrong with a trace, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct Flaw {
    /// The field, as `events[1].content`; `$` for the whole.
    pub path: String,
    /// What is wrong with it.
    pub problem: String,
}

impl Trace {
    /// Reads the body of a request. Fields that are not known are passed over.
    pub fn read(body: &Value) -> Result<Self, Flaw> {
        let body = Fields::of(body, String::new())?;
        let events = body.list("events")?;
        if events.is_empty() {
            return Err(body.flaw("events", "is missing or empty"));
        }
        if events.len() > MAX_EVENTS {
            return Err(body.flaw("events", format!("has more than {MAX_EVENTS} items")));
        }
        let mut ids = HashSet::new();
        let events = events
            .iter()
            .enumerate()
            .map(|(at, event)| read_event(event, at, &mut ids))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            tenant: body
                .text("tenant_id")?
                .unwrap_or_else(|| DEFAULT_TENANT.to_owned()),
            project: body.text("project_id")?,
            session: body.text("session_id")?,
            events,
            outcome: outcome(&body)?,
            error: error(&body)?,
            task_description: body.text("task_description")?,
            task_goal: body.text("task_goal")?,
            related: body.texts("related_memory_ids")?,
            critique: critique(&body)?,
        })
    }
}

fn outcome(body: &Fields<'_>) -> Result<Outcome, Flaw> {
    let word = body.needed("outcome")?;
    match word.to_ascii_lowercase().as_str() {
        "success" => Ok(Outcome::Success),
        "failure" => Ok(Outcome::Failure),
        "partial" => Ok(Outcome::Partial),
        "timeout" => Ok(Outcome::Timeout),
        "error" => Ok(Outcome::Error),
        _ => Err(body.flaw(
            "outcome",
            format!("is `{word}`, not success, failure, partial, timeout or error"),
        )),
    }
}

fn error(body: &Fields<'_>) -> Result<Option<ErrorInfo>, Flaw> {
    let Some(error) = body.get("error") else {
        return Ok(None);
    };
    let error = Fields::of(error, body.path("error"))?;
    Ok(Some(ErrorInfo {
        category: error.text("error_category")?,
        message: error.needed("error_message")?,
        context: error.object("context")?,
    }))
}

fn read_event(event: &Value, at: usize, ids: &mut HashSet<String>) -> Result<Event, Flaw> {
    let event = Fields::of(event, format!("events[{at}]"))?;
    let id = match event.text("event_id")? {
        Some(id) if ids.insert(id.clone()) => id,
        Some(id) => return Err(event.flaw("event_id", format!("`{id}` is there twice"))),
        None => format!("event-{}", at + 1),
    };
    let kind = match event.needed("event_type")?.to_ascii_lowercase().as_str() {
        "user_message" | "user_prompt" | "user_input" => Kind::User,
        "tool_call" => Kind::ToolCall,
        "tool_response" | "tool_result" => Kind::ToolResponse,
        "error_event" | "error" | "exception" => Kind::Error,
        _ => Kind::Other,
    };
    let metadata = event.object("metadata")?;
    let named = || {
        metadata
            .get("tool")
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    Ok(Event {
        id,
        kind,
        timestamp: event.time("timestamp")?,
        content: event.needed("content")?,
        tool: event.text("tool_name")?.or_else(named),
        error: event_error(&event)?,
        metadata,
    })
}

/// The error of an event: a text, or an object with a message and whatever else.
fn event_error(event: &Fields<'_>) -> Result<Option<String>, Flaw> {
    match event.get("error") {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(error @ Value::Object(_)) => {
            let error = Fields::of(error, event.path("error"))?;
            let either = |a: &str, b: &str| Ok(error.word(a)?.or(error.word(b)?));
            let code = either("code", "error_category")?;
            let message = either("message", "error_message")?;
            Ok(match (code, message) {
                (Some(code), Some(message)) => Some(format!("{code}: {message}")),
                (code, message) => Some(code.or(message).unwrap_or_default()),
            })
        }
        Some(_) => Err(event.flaw("error", "is neither an object nor a text")),
    }
}

/// Spec/5's `create_reflection_from_evaluation`: there when the agent evaluated itself.
fn critique(body: &Fields<'_>) -> Result<Option<Critique>, Flaw> {
    let verifications = body.list("verification_results")?;
    let text = body.text("critique")?;
    let (before, after) = (body.share("quality_before")?, body.share("quality_after")?);
    if text.is_none() && verifications.is_empty() && before.is_none() && after.is_none() {
        return Ok(None);
    }
    let read = |(at, item): (usize, &Value)| {
        let item = Fields::of(item, format!("verification_results[{at}]"))?;
        Ok(Verification {
            status: match item.needed("status")?.as_str() {
                "conflict" => Status::Conflict,
                "unverified" => Status::Unverified,
                _ => Status::Other,
            },
            conflict_reason: item.text("conflict_reason")?,
            claim: item.text("claim_text")?,
        })
    };
    Ok(Some(Critique {
        text: text.unwrap_or_default(),
        verifications: verifications
            .iter()
            .enumerate()
            .map(read)
            .collect::<Result<_, Flaw>>()?,
        query: body.text("query")?.unwrap_or_default(),
        context: body.text("context")?.unwrap_or_default(),
        iteration: body.count("iteration")?,
        before: before.unwrap_or_default(),
        after: after.unwrap_or_default(),
    }))
}

/// An object with its place.
struct Fields<'v> {
    fields: &'v Map<String, Value>,
    place: String,
}

impl<'v> Fields<'v> {
    fn of(value: &'v Value, place: String) -> Result<Self, Flaw> {
        match value.as_object() {
            Some(fields) => Ok(Self { fields, place }),
            None => Err(Flaw {
                path: if place.is_empty() {
                    "$".to_owned()
                } else {
                    place
                },
                problem: "is not an object".to_owned(),
            }),
        }
    }

    fn path(&self, key: &str) -> String {
        if self.place.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.place)
        }
    }

    fn flaw(&self, key: &str, problem: impl fmt::Display) -> Flaw {
        Flaw {
            path: self.path(key),
            problem: problem.to_string(),
        }
    }

    /// A field; `null` counts as missing.
    fn get(&self, key: &str) -> Option<&'v Value> {
        self.fields.get(key).filter(|value| !value.is_null())
    }

    fn text(&self, key: &str) -> Result<Option<String>, Flaw> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.flaw(key, "is not a text")),
        }
    }

    /// A text, or a number as one.
    fn word(&self, key: &str) -> Result<Option<String>, Flaw> {
        match self.get(key) {
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            _ => self.text(key),
        }
    }

    /// A time: RFC 3339, the same without a zone (UTC then), or the seconds or milliseconds
    /// since 1970.
    fn time(&self, key: &str) -> Result<Option<String>, Flaw> {
        let time = match self.get(key) {
            None => return Ok(None),
            Some(Value::String(text)) => text.parse::<Timestamp>().ok().or_else(|| {
                let time = text
                    .parse::<DateTime>()
                    .ok()?
                    .to_zoned(TimeZone::UTC)
                    .ok()?;
                Some(time.timestamp())
            }),
            Some(value) => value.as_f64().and_then(since_1970),
        };
        match time {
            Some(time) => Ok(Some(time.to_string())),
            None => Err(self.flaw(key, "is no time")),
        }
    }

    fn needed(&self, key: &str) -> Result<String, Flaw> {
        self.text(key)?.ok_or_else(|| self.flaw(key, "is missing"))
    }

    fn list(&self, key: &str) -> Result<&'v [Value], Flaw> {
        match self.get(key) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(self.flaw(key, "is not a list")),
        }
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, Flaw> {
        let items = self.list(key)?.iter().enumerate();
        let read = |(at, item): (usize, &Value)| match item.as_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err(self.flaw(&format!("{key}[{at}]"), "is not a text")),
        };
        items.map(read).collect()
    }

    fn object(&self, key: &str) -> Result<Map<String, Value>, Flaw> {
        match self.get(key) {
            None => Ok(Map::new()),
            Some(Value::Object(fields)) => Ok(fields.clone()),
            Some(_) => Err(self.flaw(key, "is not an object")),
        }
    }

    fn share(&self, key: &str) -> Result<Option<Score>, Flaw> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let share = value.as_f64().and_then(Score::new);
        match share {
            None => Err(self.flaw(key, "is not a number from 0 to 1")),
            share => Ok(share),
        }
    }

    fn count(&self, key: &str) -> Result<u64, Flaw> {
        match self.get(key) {
            None => Ok(0),
            Some(value) => value
                .as_u64()
                .ok_or_else(|| self.flaw(key, "is not a whole number from 0")),
        }
    }
}

/// The time that a number tells: seconds, or milliseconds where that would be after 5000.
fn since_1970(number: f64) -> Option<Timestamp> {
    const MOST_SECONDS: f64 = 1e11;
    let seconds = if number.abs() > MOST_SECONDS {
        number / 1_000.0
    } else {
        number
    };
    let since = SignedDuration::try_from_secs_f64(seconds).ok()?;
    Timestamp::from_duration(since).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn good() -> Value {
        json!({
            "tenant_id": "t", "project_id": "p", "outcome": "failure",
            "events": [
                {"event_type": "tool_call", "content": "a"},
                {"event_id": "e2", "event_type": "error_event", "content": "b", "error": {"code": "X", "message": "m"}},
            ],
            "error": {"error_category": "timeout_error", "error_message": "m", "context": {"q": 1}},
            "task_description": "d", "unknown": [1],
        })
    }

    #[test]
    fn the_request_of_spec_3_is_read() {
        let trace = Trace::read(&good()).unwrap();
        assert_eq!(
            (trace.tenant.as_str(), trace.project.as_deref()),
            ("t", Some("p"))
        );
        assert_eq!(trace.outcome, Outcome::Failure);
        assert_eq!(trace.events[0].id, "event-1");
        assert_eq!(trace.events[1].error.as_deref(), Some("X: m"));
        assert_eq!(
            trace.error.unwrap().category.as_deref(),
            Some("timeout_error")
        );
    }

    #[rstest]
    #[case::no_object(json!(null), "", "$")]
    #[case::no_events(json!([]), "events", "events")]
    #[case::events_no_list(json!({}), "events", "events")]
    #[case::no_outcome(json!(null), "outcome", "outcome")]
    #[case::other_outcome(json!("sideways"), "outcome", "outcome")]
    #[case::outcome_no_text(json!(1), "outcome", "outcome")]
    #[case::error_no_object(json!("x"), "error", "error")]
    #[case::no_message(json!({"error_category": "x"}), "error", "error.error_message")]
    #[case::related_no_texts(json!(["a", 1]), "related_memory_ids", "related_memory_ids[1]")]
    #[case::event_no_object(json!([1]), "events", "events[0]")]
    #[case::no_content(json!([{"event_type": "tool_call"}]), "events", "events[0].content")]
    #[case::no_type(json!([{"event_type": "a", "content": "x"}, {"content": "x"}]), "events", "events[1].event_type")]
    #[case::twice(json!([{"event_id": "e", "event_type": "a", "content": "x"}, {"event_id": "e", "event_type": "a", "content": "x"}]), "events", "events[1].event_id")]
    #[case::event_error(json!([{"event_type": "a", "content": "x", "error": 1}]), "events", "events[0].error")]
    #[case::event_error_message(json!([{"event_type": "a", "content": "x", "error": {"message": []}}]), "events", "events[0].error.message")]
    #[case::timestamp(json!([{"event_type": "a", "content": "x", "timestamp": "garbage"}]), "events", "events[0].timestamp")]
    #[case::timestamp_too_large(json!([{"event_type": "a", "content": "x", "timestamp": 1e300}]), "events", "events[0].timestamp")]
    #[case::quality(json!(1.5), "quality_before", "quality_before")]
    #[case::verification(json!([{}]), "verification_results", "verification_results[0].status")]
    fn a_flaw_names_its_field(#[case] value: Value, #[case] key: &str, #[case] path: &str) {
        let body = if key.is_empty() {
            value
        } else {
            let mut body = good();
            body[key] = value;
            body
        };
        assert_eq!(Trace::read(&body).unwrap_err().path, path);
    }

    fn event(fields: &Value) -> Event {
        let mut event = json!({"event_type": "error_event", "content": "x"});
        for (key, value) in fields.as_object().unwrap() {
            event[key] = value.clone();
        }
        let body = json!({"outcome": "failure", "events": [event]});
        Trace::read(&body).unwrap().events.remove(0)
    }

    #[rstest]
    #[case::text(json!("boom"), "boom")]
    #[case::number(json!({"code": 500, "message": "boom"}), "500: boom")]
    #[case::code_alone(json!({"code": "E1"}), "E1")]
    #[case::as_the_trace_has_it(json!({"error_category": "timeout_error", "error_message": "boom"}), "timeout_error: boom")]
    fn an_error_of_an_event_is_read_as_agents_write_it(#[case] error: Value, #[case] text: &str) {
        assert_eq!(event(&json!({"error": error})).error.as_deref(), Some(text));
    }

    #[rstest]
    #[case::utc(json!("2026-11-21T10:00:00Z"))]
    #[case::zone(json!("2026-11-21T12:00:00+02:00"))]
    #[case::no_zone(json!("2026-11-21T10:00:00"))]
    #[case::blank(json!("2026-11-21 10:00:00"))]
    #[case::seconds(json!(1_795_255_200))]
    #[case::milliseconds(json!(1_795_255_200_000_u64))]
    fn a_time_is_read_as_agents_write_it(#[case] time: Value) {
        let read = event(&json!({"timestamp": time})).timestamp;
        assert_eq!(read.as_deref(), Some("2026-11-21T10:00:00Z"));
    }
}
