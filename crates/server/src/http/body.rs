//! Request bodies, JSON of a known shape, and the error responses.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Any JSON object without U+0000 in a text, which databases refuse.
pub(crate) struct Body(pub(crate) Value);

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let bytes = Bytes::from_request(request, state).await;
        let bytes = bytes.map_err(|error| Problem::new(error.status(), error.body_text()))?;
        let value: Value = serde_json::from_slice(&bytes)
            .map_err(|error| Problem::field("$", format!("is no JSON: {error}")))?;
        if !value.is_object() {
            return Err(Problem::field("$", "is no object"));
        }
        if has_nul(&value) {
            return Err(Problem::field("$", "has the character U+0000 in a text"));
        }
        Ok(Self(value))
    }
}

impl Body {
    /// Names the wrong field in the error.
    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<T, Problem> {
        serde_path_to_error::deserialize(self.0)
            .map_err(|error| Problem::field(error.path().to_string(), error.inner().to_string()))
    }
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(has_nul),
        Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| name.contains('\0') || has_nul(value)),
        _ => false,
    }
}

const LONGEST_NAME: usize = 512;

pub(crate) fn name(path: &str, name: Option<String>) -> Result<Option<String>, Problem> {
    match name {
        Some(name) if name.trim().is_empty() => Err(Problem::field(path, "is empty")),
        Some(name) if name.contains('\0') => Err(Problem::field(path, "has the character U+0000")),
        Some(name) if name.len() > LONGEST_NAME => {
            let problem = format!("is longer than {LONGEST_NAME} bytes");
            Err(Problem::field(path, problem))
        }
        name => Ok(name),
    }
}

pub(crate) fn share(path: &str, value: f64) -> Result<f64, Problem> {
    if (0.0..=1.0).contains(&value) {
        return Ok(value);
    }
    Err(Problem::field(path, "is no number from 0 to 1"))
}

pub(crate) fn text(path: &str, text: String) -> Result<String, Problem> {
    if text.trim().is_empty() {
        return Err(Problem::field(path, "is empty"));
    }
    Ok(text)
}

const MOST_TAGS: usize = 50;
const LONGEST_TAG: usize = 100;

pub(crate) fn tags(tags: Vec<String>) -> Result<Vec<String>, Problem> {
    if tags.len() > MOST_TAGS {
        return Err(Problem::field("tags", format!("are more than {MOST_TAGS}")));
    }
    match tags.iter().position(|tag| tag.len() > LONGEST_TAG) {
        Some(at) => {
            let problem = format!("is longer than {LONGEST_TAG} bytes");
            Err(Problem::field(format!("tags[{at}]"), problem))
        }
        None => Ok(tags),
    }
}

pub(crate) fn time(path: &str, time: Option<Timestamp>) -> Result<Option<Timestamp>, Problem> {
    match time {
        Some(time) if time < Timestamp::UNIX_EPOCH => Err(Problem::field(path, "is before 1970")),
        time => Ok(time),
    }
}

/// The response is `{"error": {"path": …, "message": …}}`.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    path: Option<String>,
    message: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            path: None,
            message: message.into(),
        }
    }

    pub(crate) fn field(path: impl Into<String>, message: impl Into<String>) -> Self {
        let path = Some(path.into());
        let problem = Self::new(StatusCode::BAD_REQUEST, message);
        Self { path, ..problem }
    }

    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, what)
    }
}

impl From<anyhow::Error> for Problem {
    /// The cause is only logged, since it may name files of this machine.
    fn from(error: anyhow::Error) -> Self {
        tracing::error!(error = format!("{error:#}"), "not answered");
        let message = "the memory cannot be reached; the server's log says why";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = json!({"error": {"path": self.path, "message": self.message}});
        let mut response = (self.status, Json(body)).into_response();
        let (name, value) = match self.status {
            StatusCode::UNAUTHORIZED => (header::WWW_AUTHENTICATE, "Bearer"),
            StatusCode::TOO_MANY_REQUESTS => (header::RETRY_AFTER, "1"),
            _ => return response,
        };
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
        response
    }
}
