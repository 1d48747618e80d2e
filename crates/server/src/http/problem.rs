//! What is answered when something cannot be.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// The reason why a request is not answered: `{"error": {"path": …, "message": …}}`.
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
        Self {
            status: StatusCode::BAD_REQUEST,
            path: Some(path.into()),
            message: message.into(),
        }
    }

    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, what)
    }
}

impl From<anyhow::Error> for Problem {
    /// What cannot be done for now. Why is for the log: it may name files of this machine.
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
