//! Any agent's trace of a task (spec/3's `ReflectionContext`), replayed as a session of the client:
//! masking, the choice of evidence, and errors thus work as for sessions.

mod replay;

use std::collections::HashSet;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer as _};
use serde_json::{Map, Value};

use super::self_correction::Critique;
use crate::tenant;
use crate::transcript::SessionOutcome;

const MAX_EVENTS: usize = 100_000;
const TOOL: &str = "tool";

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Trace {
    #[serde(rename = "tenant_id", default, deserialize_with = "or_default")]
    pub tenant: String,
    /// The project; `None` for that of the command.
    #[serde(rename = "project_id")]
    pub project: Option<String>,
    #[serde(rename = "session_id")]
    pub session: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub events: Vec<TraceEvent>,
    #[serde(deserialize_with = "word")]
    pub outcome: SessionOutcome,
    pub error: Option<ErrorInfo>,
    pub task_description: Option<String>,
    pub task_goal: Option<String>,
    #[serde(
        rename = "related_memory_ids",
        default,
        deserialize_with = "or_default"
    )]
    pub related: Vec<String>,
    /// The agent's own evaluation of its work (spec/5).
    #[serde(skip)]
    pub critique: Critique,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct TraceEvent {
    /// The id; numbered if the agent gives none.
    #[serde(rename = "event_id", default, deserialize_with = "or_default")]
    pub id: String,
    #[serde(rename = "event_type", deserialize_with = "word")]
    pub kind: TraceKind,
    #[serde(default, deserialize_with = "time")]
    pub timestamp: Option<String>,
    pub content: String,
    #[serde(default, deserialize_with = "or_default")]
    pub metadata: Map<String, Value>,
    #[serde(rename = "tool_name")]
    pub tool: Option<String>,
    #[serde(default, deserialize_with = "event_error")]
    pub error: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum TraceKind {
    #[serde(rename = "user_message", alias = "user_prompt", alias = "user_input")]
    User,
    #[serde(rename = "tool_call")]
    ToolCall,
    #[serde(rename = "tool_response", alias = "tool_result")]
    ToolResponse,
    #[serde(rename = "error_event", alias = "error", alias = "exception")]
    Error,
    /// `llm_call`, `llm_response`, `system_event` and any other: a statement.
    #[default]
    #[serde(other)]
    Other,
}

/// The `ErrorInfo` of spec/3.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct ErrorInfo {
    /// The category, such as `timeout_error`.
    #[serde(rename = "error_category")]
    pub category: Option<String>,
    #[serde(rename = "error_message")]
    pub message: String,
    #[serde(default, deserialize_with = "or_default")]
    pub context: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct TraceDefect {
    /// The field, such as `events[1].content`; `$` for the whole.
    pub path: String,
    pub problem: String,
}

impl TraceDefect {
    fn at(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            problem: problem.into(),
        }
    }
}

impl Trace {
    /// Ignores unknown fields.
    pub fn read(body: &Value) -> Result<Self, TraceDefect> {
        let mut trace: Self = fields(body)?;
        if trace.events.is_empty() {
            return Err(TraceDefect::at("events", "is missing or empty"));
        }
        if trace.events.len() > MAX_EVENTS {
            let problem = format!("has more than {MAX_EVENTS} items");
            return Err(TraceDefect::at("events", problem));
        }
        let mut ids = HashSet::new();
        for (at, event) in trace.events.iter_mut().enumerate() {
            if event.id.is_empty() {
                event.id = format!("event-{}", at + 1);
            }
            if !ids.insert(event.id.clone()) {
                let problem = format!("`{}` is there twice", event.id);
                return Err(TraceDefect::at(format!("events[{at}].event_id"), problem));
            }
            let named = event.metadata.get(TOOL).and_then(Value::as_str);
            event.tool = event.tool.take().or(named.map(str::to_owned));
        }
        if trace.tenant.is_empty() {
            tenant::DEFAULT.clone_into(&mut trace.tenant);
        }
        trace.critique = fields(body)?;
        Ok(trace)
    }
}

/// Parses the fields of a type; an error names the missing or wrong one.
fn fields<T: DeserializeOwned>(body: &Value) -> Result<T, TraceDefect> {
    if !body.is_object() {
        return Err(TraceDefect::at("$", "is not an object"));
    }
    serde_path_to_error::deserialize(body).map_err(|error| {
        let problem = error.inner().to_string();
        let mut path = error.path().to_string();
        if let Some(missing) = problem.strip_prefix("missing field `") {
            let name = missing.trim_end_matches('`');
            path = match path.as_str() {
                "." => name.to_owned(),
                path => format!("{path}.{name}"),
            };
        }
        TraceDefect::at(path, problem)
    })
}

/// Reads a value; `null` counts as missing.
pub(crate) fn or_default<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

fn word<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<T, D::Error> {
    let word = String::deserialize(from)?.to_ascii_lowercase();
    T::deserialize(word.into_deserializer())
}

/// Reads the error of an event: a text, or an object with a message, a code and other fields.
fn event_error<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let fields = match Option::deserialize(from)? {
        None => return Ok(None),
        Some(Value::String(text)) => return Ok(Some(text)),
        Some(Value::Object(fields)) => fields,
        Some(_) => return Err(D::Error::custom("is neither a text nor an object")),
    };
    let text = |name: &&str| match fields.get(*name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let parts = [["code", "error_category"], ["message", "error_message"]];
    let parts = parts.iter().filter_map(|names| names.iter().find_map(text));
    Ok(Some(parts.collect::<Vec<_>>().join(": ")))
}

/// Accepts RFC 3339, the same without a zone (as UTC), and seconds or milliseconds since 1970.
fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let time = match Option::deserialize(from)? {
        None => return Ok(None),
        Some(Value::String(text)) => text.parse::<Timestamp>().ok().or_else(|| {
            let time = text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC);
            Some(time.ok()?.timestamp())
        }),
        Some(value) => value.as_f64().and_then(since_1970),
    };
    let time = time.ok_or_else(|| D::Error::custom("is no time"))?;
    Ok(Some(time.to_string()))
}

/// Converts a number to a time: seconds, or milliseconds if seconds would be after the year 5000.
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

    #[rstest]
    #[case::other_outcome(json!("sideways"), "outcome", "outcome")]
    #[case::error_no_object(json!("x"), "error", "error")]
    #[case::no_message(json!({"error_category": "x"}), "error", "error.error_message")]
    #[case::related_no_texts(json!(["a", 1]), "related_memory_ids", "related_memory_ids[1]")]
    #[case::event_no_object(json!([1]), "events", "events[0]")]
    #[case::no_type(json!([{"event_type": "a", "content": "x"}, {"content": "x"}]), "events", "events[1].event_type")]
    #[case::twice(json!([{"event_id": "e", "event_type": "a", "content": "x"}, {"event_id": "e", "event_type": "a", "content": "x"}]), "events", "events[1].event_id")]
    #[case::event_error(json!([{"event_type": "a", "content": "x", "error": 1}]), "events", "events[0].error")]
    #[case::timestamp(json!([{"event_type": "a", "content": "x", "timestamp": "garbage"}]), "events", "events[0].timestamp")]
    #[case::quality(json!(1.5), "quality_before", "quality_before")]
    #[case::verification(json!([{}]), "verification_results", "verification_results[0].status")]
    fn a_flaw_names_its_field(#[case] value: Value, #[case] key: &str, #[case] path: &str) {
        let mut body = json!({
            "events": [{"event_type": "tool_call", "content": "a"}], "outcome": "failure",
        });
        body[key] = value;
        assert_eq!(Trace::read(&body).unwrap_err().path, path);
    }

    fn event(fields: &Value) -> TraceEvent {
        let mut event = json!({"event_type": "error_event", "content": "x"});
        let own = fields.as_object().unwrap().clone();
        event.as_object_mut().unwrap().extend(own);
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
