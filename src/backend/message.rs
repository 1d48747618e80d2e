//! Reads a Messages API's answers: the message of a 200, the error of any other status.
//!
//! Only the fields that we use are read; missing or mistyped others do no harm.

use serde_json::Value;

use super::{Ask, BackendFailure, BackendReply, FailureKind, TokenCount};
use crate::clip::head;
use crate::redact;

/// The most characters that we quote of a server's message.
const QUOTED: usize = 300;
/// The most bytes of a server's message that are searched for secrets before it is cut.
const LOOKED_AT: usize = 64 << 10;
/// The most tokens that a call is believed to have cost, for input and output each: several times
/// the largest context of a model. A higher count would use up the day's budget.
pub(super) const MOST_TOKENS: u64 = 4_000_000;

/// The reason why a body gives no reply, in the server's words if it has some.
#[derive(Debug, PartialEq)]
pub(super) struct Flaw {
    pub(super) kind: FailureKind,
    pub(super) detail: String,
    pub(super) tokens: TokenCount,
}

impl Flaw {
    pub(super) fn new(kind: FailureKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
            tokens: TokenCount::default(),
        }
    }

    pub(super) fn of(self, server: &str) -> BackendFailure {
        BackendFailure {
            tokens: self.tokens,
            ..BackendFailure::new(
                self.kind,
                format!("could not get an answer from {server}: {}", self.detail),
            )
        }
    }
}

pub(super) fn read(body: &str, ask: &Ask<'_>) -> Result<BackendReply, Flaw> {
    let value = parse(body)?;
    let content = value["content"].as_array();
    let Some(content) = content.filter(|_| is_message(&value)) else {
        return Err(no_answer(&value, body));
    };
    let texts = content.iter().filter(|block| block["type"] == "text");
    let text: String = texts.filter_map(|block| block["text"].as_str()).collect();
    let (stop, model) = (value["stop_reason"].as_str(), value["model"].as_str());
    reply(stop, &text, (model, tokens(&value["usage"])), ask)
}

pub(super) fn parse(body: &str) -> Result<Value, Flaw> {
    serde_json::from_str(body.trim_start_matches('\u{feff}')).map_err(|e| {
        let what = if e.is_eof() {
            "ends too early"
        } else {
            "is not JSON"
        };
        no_message(what, body)
    })
}

/// Describes a JSON body that holds no answer. Some gateways send errors with status 200.
pub(super) fn no_answer(value: &Value, body: &str) -> Flaw {
    let error = error(value).and_then(|(sort, words)| {
        let detail = quote(&format!("{sort}: {words}"));
        Some(Flaw::new(kind_of_error(sort, words)?, detail))
    });
    error.unwrap_or_else(|| no_message("is not a message", body))
}

/// Returns `true` if the object has the API's form. A maintenance page may also have a `content`.
fn is_message(value: &Value) -> bool {
    let [kind, role, stop] = ["type", "role", "stop_reason"].map(|key| value.get(key));
    let is_marked = kind.or(role).or(stop).is_some();
    is_marked
        && kind.is_none_or(|kind| kind == "message")
        && role.is_none_or(|role| role == "assistant")
        && stop.is_none_or(|stop| stop.is_string() || stop.is_null())
}

fn no_message(what: &str, body: &str) -> Flaw {
    let detail = format!("its answer {what}: {}", quote(body));
    Flaw::new(FailureKind::NotAMessage, detail)
}

pub(super) fn reply(
    stop_reason: Option<&str>,
    text: &str,
    (model, tokens): (Option<&str>, TokenCount),
    ask: &Ask<'_>,
) -> Result<BackendReply, Flaw> {
    let flaw = match stop_reason {
        Some("refusal") => Flaw::new(FailureKind::Refusal, "the model refused to answer"),
        Some("max_tokens" | "model_context_window_exceeded") => {
            let detail = "the reply was cut off at its token limit";
            Flaw::new(FailureKind::CutOff, detail)
        }
        _ if text.trim().is_empty() => {
            Flaw::new(FailureKind::EmptyReply, "the reply holds no text")
        }
        _ => match in_place_of_reply(text) {
            Some(kind) => Flaw::new(kind, quote(text)),
            None => {
                return Ok(BackendReply {
                    text: text.to_owned(),
                    model: model.unwrap_or(ask.model).to_owned(),
                    tokens,
                    attempts: 1,
                });
            }
        },
    };
    Err(Flaw { tokens, ..flaw })
}

/// Limits each count to what one call can cost; a missing one is zero.
pub(super) fn tokens(usage: &Value) -> TokenCount {
    let count = |key: &str| usage[key].as_u64().unwrap_or(0).min(MOST_TOKENS);
    let input = [
        "input_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
    ];
    TokenCount {
        input: input.into_iter().map(count).sum::<u64>().min(MOST_TOKENS),
        output: count("output_tokens"),
    }
}

pub(super) fn read_error(status: u16, body: &str) -> Flaw {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let api_error = error(&value);
    let (sort, words) = api_error.unwrap_or(("", body));
    let said = [sort, words].map(str::trim).join(": ");
    let said = said.trim_matches([':', ' ']);
    let detail = if said.is_empty() {
        format!("status {status}")
    } else {
        format!("status {status}: {}", quote(said))
    };
    Flaw::new(kind_of_status(status, api_error), detail)
}

pub(super) fn error(value: &Value) -> Option<(&str, &str)> {
    let error = value.get("error")?;
    let field = |key: &str| error[key].as_str().unwrap_or("");
    match error {
        Value::String(words) => Some(("", words)),
        Value::Object(_) => Some((field("type"), field("message"))),
        _ => None,
    }
}

/// Classifies a status. Most without an API error come from a proxy on the way and are temporary.
pub(super) fn kind_of_status(status: u16, api_error: Option<(&str, &str)>) -> FailureKind {
    match (status, api_error) {
        (300..=399, _) => FailureKind::Redirected,
        (403, Some(("permission_error", _))) => FailureKind::NoPermission,
        (401, _) | (403 | 407, Some(_)) => FailureKind::RefusedKey,
        (402, _) => FailureKind::NoCredit,
        (400, Some((sort, words))) if is_about_credit(sort, words) => FailureKind::NoCredit,
        (404 | 405 | 410, _) => FailureKind::NotFound,
        (408, _) => FailureKind::Timeout,
        (429, Some((sort, words))) if is_about_credit(sort, words) => FailureKind::NoCredit,
        (429, _) => FailureKind::RateLimited,
        (409 | 500..=599, _) | (_, None) => FailureKind::ServerError,
        (413, Some(_)) => FailureKind::BadQuestion,
        (_, Some((_, words))) => kind_of_bad_request(words),
    }
}

/// Classifies an invalid request. Only a few phrases blame the question itself. A used-up limit, an
/// unknown setting or a closed account is reported in the same way.
fn kind_of_bad_request(words: &str) -> FailureKind {
    const OF_THE_QUESTION: [&str; 5] = [
        "too long",
        "too large",
        "exceed context",
        "maximum context",
        "content filter",
    ];
    let words = words.to_ascii_lowercase();
    if OF_THE_QUESTION.iter().any(|said| words.contains(said)) {
        FailureKind::BadQuestion
    } else {
        FailureKind::BadRequest
    }
}

fn kind_of_error(sort: &str, words: &str) -> Option<FailureKind> {
    Some(match sort {
        "authentication_error" => FailureKind::RefusedKey,
        "permission_error" => FailureKind::NoPermission,
        "not_found_error" => FailureKind::NotFound,
        "rate_limit_error" => FailureKind::RateLimited,
        "timeout_error" => FailureKind::Timeout,
        "overloaded_error" | "api_error" => FailureKind::ServerError,
        "request_too_large" => FailureKind::BadQuestion,
        _ if is_about_credit(sort, words) => FailureKind::NoCredit,
        "invalid_request_error" => kind_of_bad_request(words),
        _ => return None,
    })
}

/// Returns `true` for an empty balance, which the API reports as an invalid request.
fn is_about_credit(sort: &str, words: &str) -> bool {
    ["billing_error", "insufficient_quota"].contains(&sort)
        || words.to_ascii_lowercase().contains("credit balance")
}

/// Classifies a message that a client or gateway sends in place of a reply without reporting an
/// error. Returns `None` for a long text or one with JSON, which may be a reply.
fn in_place_of_reply(text: &str) -> Option<FailureKind> {
    const LONGEST: usize = 300;
    let is_short = text.len() <= LONGEST && !text.contains(['{', '[']);
    kind_of_words(text).filter(|_| is_short)
}

/// Classifies a message that is no reply; the first phrase in the list that occurs decides.
pub(super) fn kind_of_words(words: &str) -> Option<FailureKind> {
    const PHRASES: [(&str, FailureKind); 17] = [
        ("not logged in", FailureKind::RefusedKey),
        ("/login", FailureKind::RefusedKey),
        ("invalid api key", FailureKind::RefusedKey),
        ("oauth token", FailureKind::RefusedKey),
        ("credit balance", FailureKind::NoCredit),
        ("usage limit", FailureKind::RateLimited),
        ("limit reached", FailureKind::RateLimited),
        ("hit your", FailureKind::RateLimited),
        ("overloaded", FailureKind::ServerError),
        ("timed out", FailureKind::Timeout),
        ("connection error", FailureKind::Connection),
        ("unable to connect", FailureKind::Connection),
        ("fetch failed", FailureKind::Connection),
        ("max_turns", FailureKind::CutOff),
        ("output token maximum", FailureKind::CutOff),
        ("usage policy", FailureKind::Refusal),
        ("selected model", FailureKind::NotFound),
    ];
    let words = words.to_ascii_lowercase();
    let found = PHRASES.iter().find(|(phrase, _)| words.contains(phrase));
    found.map(|(_, kind)| *kind)
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
    use crate::backend::tests::ASK;
    use rstest::rstest;
    use serde_json::json;

    const USED: TokenCount = TokenCount {
        input: 16,
        output: 5,
    };

    fn message(content: &Value) -> String {
        json!({
            "type": "message", "model": "n", "content": content, "stop_reason": "end_turn",
            "usage": {"input_tokens": 10, "cache_creation_input_tokens": 4,
                      "cache_read_input_tokens": 2, "output_tokens": 5},
        })
        .to_string()
    }

    #[rstest]
    #[case::one(json!([{"type": "text", "text": "a"}]), "a")]
    #[case::several(json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), "ab")]
    #[case::thinking_is_left_out(json!([{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "a"}]), "a")]
    #[case::odd_blocks(json!([null, 3, {"type": "text"}, {"type": "text", "text": "a"}]), "a")]
    fn the_text_of_a_message_is_its_text_blocks(#[case] content: Value, #[case] text: &str) {
        let reply = read(&message(&content), &ASK).unwrap();
        let read = (&*reply.text, &*reply.model, reply.tokens);
        assert_eq!(read, (text, "n", USED));
    }

    #[rstest]
    #[case::other_json("[1, 2]", FailureKind::NotAMessage)]
    #[case::deeply_nested(&"[".repeat(1_000_000), FailureKind::NotAMessage)]
    #[case::error_with_200(
        r#"{"type":"error","error":{"type":"overloaded_error","message":"x"}}"#,
        FailureKind::ServerError
    )]
    #[case::not_the_apis_form(
        r#"{"id":1,"role":5,"content":[],"stop_reason":[],"usage":"many"}"#,
        FailureKind::NotAMessage
    )]
    #[case::text_for_blocks(r#"{"type":"message","content":"a"}"#, FailureKind::NotAMessage)]
    #[case::error_as_text(r#"{"error":"model is not loaded"}"#, FailureKind::NotAMessage)]
    #[case::gateway(r#"{"error":{"code":503,"message":"x"}}"#, FailureKind::NotAMessage)]
    #[case::page(r#"{"content":"Site under maintenance"}"#, FailureKind::NotAMessage)]
    fn a_body_that_is_no_message_is_told_apart(#[case] body: &str, #[case] kind: FailureKind) {
        assert_eq!(read(body, &ASK).unwrap_err().kind, kind);
    }

    #[test]
    fn foreign_words_become_one_short_line() {
        assert_eq!(quote("a\n\u{1b}[31mb\tc "), "a [31mb c");
        assert_eq!(quote(&"é".repeat(10_000)).chars().count(), QUOTED + 1);
    }
}
