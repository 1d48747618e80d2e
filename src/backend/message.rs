//! Reads what a Messages API sends: the message of a 200, the error of anything else.
//!
//! Only what we use is looked at; missing or mistyped extras cost nothing.

use serde_json::Value;

use super::{Failure, FailureKind, Tokens};
use crate::clip::head;
use crate::redact;

/// The most characters of a server's own words that a message of ours quotes.
const QUOTED: usize = 300;
/// How much of them is looked at for secrets before it is cut.
const LOOKED_AT: usize = 64 << 10;

#[derive(Debug, PartialEq)]
pub(super) struct Message {
    pub(super) text: String,
    pub(super) model: Option<String>,
    pub(super) tokens: Tokens,
}

/// Why a body gives no reply, in the server's words where it has some.
#[derive(Debug, PartialEq)]
pub(super) struct Flaw {
    pub(super) kind: FailureKind,
    pub(super) detail: String,
    pub(super) tokens: Tokens,
}

impl Flaw {
    pub(super) fn new(kind: FailureKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
            tokens: Tokens::default(),
        }
    }

    pub(super) fn of(self, server: &str) -> Failure {
        Failure {
            tokens: self.tokens,
            ..Failure::new(
                self.kind,
                format!("could not get an answer from {server}: {}", self.detail),
            )
        }
    }
}

pub(super) fn read(body: &str) -> Result<Message, Flaw> {
    let value: Value = serde_json::from_str(body.trim_start_matches('\u{feff}')).map_err(|e| {
        if e.is_eof() {
            Flaw::new(FailureKind::Truncated, "its answer ends too early")
        } else {
            Flaw::new(
                FailureKind::NotJson,
                format!("its answer is not JSON: {}", quote(body)),
            )
        }
    })?;
    let Some(content) = value.get("content") else {
        // Some gateways send an error with status 200.
        return Err(match error(&value) {
            Some((sort, words)) => Flaw::new(
                kind_of_error(sort, words),
                quote(&format!("{sort}: {words}")),
            ),
            None => Flaw::new(
                FailureKind::NotJson,
                format!("its answer is not a message: {}", quote(body)),
            ),
        });
    };
    let tokens = tokens(&value["usage"]);
    let text = text(content);
    check(value["stop_reason"].as_str(), &text).map_err(|flaw| Flaw { tokens, ..flaw })?;
    Ok(Message {
        text,
        model: value["model"].as_str().map(str::to_owned),
        tokens,
    })
}

/// Checks that a reply was neither refused nor cut off, and says something.
pub(super) fn check(stop_reason: Option<&str>, text: &str) -> Result<(), Flaw> {
    let (kind, detail) = match stop_reason {
        Some("refusal") => (FailureKind::Refusal, "the model refused to answer"),
        Some("max_tokens" | "model_context_window_exceeded") => (
            FailureKind::CutOff,
            "the reply was cut off at its token limit",
        ),
        _ if text.trim().is_empty() => (FailureKind::EmptyReply, "the reply holds no text"),
        _ => return Ok(()),
    };
    Err(Flaw::new(kind, detail))
}

/// Counts the tokens of a `usage` object; a missing count is zero.
pub(super) fn tokens(usage: &Value) -> Tokens {
    let count = |key: &str| usage[key].as_u64().unwrap_or(0);
    Tokens {
        input: count("input_tokens")
            .saturating_add(count("cache_creation_input_tokens"))
            .saturating_add(count("cache_read_input_tokens")),
        output: count("output_tokens"),
    }
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .filter(|block| block["type"] == "text")
            .filter_map(|block| block["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}

/// Reads the body of an answer with any other status than 2xx.
pub(super) fn read_error(status: u16, body: &str) -> Flaw {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let (sort, words) = error(&value).unwrap_or(("", body));
    let said = [sort, words].map(str::trim).join(": ");
    let said = said.trim_matches([':', ' ']);
    let detail = if said.is_empty() {
        format!("status {status}")
    } else {
        format!("status {status}: {}", quote(said))
    };
    Flaw::new(kind_of_status(status, sort, words), detail)
}

/// Returns the type and the message of an API error.
fn error(value: &Value) -> Option<(&str, &str)> {
    let error = value.get("error")?;
    let field = |key: &str| error[key].as_str().unwrap_or("");
    match error {
        Value::String(words) => Some(("", words)),
        Value::Object(_) => Some((field("type"), field("message"))),
        _ => None,
    }
}

pub(super) fn kind_of_status(status: u16, sort: &str, words: &str) -> FailureKind {
    match status {
        300..=399 => FailureKind::Redirected,
        401 | 403 | 407 => FailureKind::RefusedKey,
        402 => FailureKind::NoCredit,
        400 if is_about_credit(sort, words) => FailureKind::NoCredit,
        404 | 405 | 410 => FailureKind::NotFound,
        408 => FailureKind::Timeout,
        429 => FailureKind::RateLimited,
        409 | 500..=599 => FailureKind::ServerError,
        _ => FailureKind::BadRequest,
    }
}

/// Returns what an API error means that came without a status of its own.
fn kind_of_error(sort: &str, words: &str) -> FailureKind {
    match sort {
        "authentication_error" | "permission_error" => FailureKind::RefusedKey,
        "not_found_error" => FailureKind::NotFound,
        "rate_limit_error" => FailureKind::RateLimited,
        "timeout_error" => FailureKind::Timeout,
        "overloaded_error" | "api_error" => FailureKind::ServerError,
        _ if is_about_credit(sort, words) => FailureKind::NoCredit,
        _ => FailureKind::BadRequest,
    }
}

/// The API reports an empty balance as an invalid request.
pub(super) fn is_about_credit(sort: &str, words: &str) -> bool {
    sort == "billing_error" || words.to_ascii_lowercase().contains("credit balance")
}

pub(super) fn quote(text: &str) -> String {
    let text = redact::mask(head(text, LOOKED_AT));
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    match line.char_indices().nth(QUOTED) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    const USED: Tokens = Tokens {
        input: 16,
        output: 5,
    };

    fn message(content: &Value, stop_reason: &str) -> String {
        json!({
            "type": "message", "model": "m", "content": content, "stop_reason": stop_reason,
            "usage": {"input_tokens": 10, "cache_creation_input_tokens": 4,
                      "cache_read_input_tokens": 2, "output_tokens": 5},
        })
        .to_string()
    }

    #[rstest]
    #[case::one(json!([{"type": "text", "text": "a"}]), "a")]
    #[case::several(json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), "ab")]
    #[case::thinking_is_left_out(json!([{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "a"}]), "a")]
    #[case::string(json!("a"), "a")]
    #[case::odd_blocks(json!([null, 3, {"type": "text"}, {"type": "text", "text": "a"}]), "a")]
    fn the_text_of_a_message_is_its_text_blocks(#[case] content: Value, #[case] text: &str) {
        let message = read(&message(&content, "end_turn")).unwrap();
        assert_eq!((message.text.as_str(), message.tokens), (text, USED));
        assert_eq!(message.model.as_deref(), Some("m"));
    }

    #[rstest]
    #[case::empty("", FailureKind::Truncated)]
    #[case::other_json("[1, 2]", FailureKind::NotJson)]
    #[case::nothing_in_it("{}", FailureKind::NotJson)]
    #[case::two_values("{} {}", FailureKind::NotJson)]
    #[case::error_with_200(
        r#"{"type":"error","error":{"type":"overloaded_error","message":"x"}}"#,
        FailureKind::ServerError
    )]
    #[case::error_as_text(r#"{"error":"model is not loaded"}"#, FailureKind::BadRequest)]
    fn a_body_that_is_no_message_is_told_apart(#[case] body: &str, #[case] kind: FailureKind) {
        assert_eq!(read(body).unwrap_err().kind, kind);
    }

    #[test]
    fn deep_nesting_is_garbage_not_a_crash() {
        let flaw = read(&"[".repeat(1_000_000)).unwrap_err();
        assert_eq!(flaw.kind, FailureKind::NotJson);
        assert!(flaw.detail.len() < QUOTED + 100);
    }

    #[test]
    fn foreign_words_become_one_short_line() {
        assert_eq!(quote("a\n\u{1b}[31mb\tc "), "a [31mb c");
        assert_eq!(quote(&"é".repeat(10_000)).chars().count(), QUOTED + 1);
    }
}
