//! Chat completions in `OpenAI`'s format: Ollama, vLLM, llama.cpp, `OpenRouter` and others.
//!
//! Servers support different fields. A field that one refuses by name is left out from then on:
//! JSON mode, and `max_tokens`, which newer models call `max_completion_tokens`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::http::Server;
use super::message::{self, Flaw, MOST_TOKENS};
use super::retry::repeat;
use super::{
    Ask, Backend, BackendFailure, BackendName, BackendReply, BackendResult, BaseUrl, Credential,
    FailureKind, RetryPolicy, TokenCount,
};

const PATH: &str = "/chat/completions";
const JSON_MODE: &str = "response_format";
const MAX_TOKENS: &str = "max_tokens";
const MAX_COMPLETION_TOKENS: &str = "max_completion_tokens";
/// The tags around the thinking that some models print before they answer.
const THINKING: (&str, &str) = ("<think>", "</think>");

#[derive(Debug)]
pub struct Openai {
    server: Server,
    policy: RetryPolicy,
    /// `true` until the server refuses JSON mode.
    has_json_mode: AtomicBool,
    /// `true` until the server refuses `max_tokens`, the limit's older name.
    has_max_tokens: AtomicBool,
}

impl Openai {
    /// Prepares requests to `base`, an address that ends in `/v1`; nothing is sent yet.
    pub fn new(base: BaseUrl, credential: Option<Credential>, policy: RetryPolicy) -> Self {
        Self {
            server: Server::new(base, credential, None),
            policy,
            has_json_mode: AtomicBool::new(true),
            has_max_tokens: AtomicBool::new(true),
        }
    }

    async fn attempt(
        &self,
        ask: &Ask<'_>,
        limit: Duration,
    ) -> Result<BackendReply, BackendFailure> {
        let mut refused = 0;
        loop {
            let sent = self.server.post(PATH, self.request(ask).to_string(), limit);
            let read = |body: String| read(&body, ask).map_err(|flaw| self.server.failure(flaw));
            match sent.await.and_then(read) {
                Ok(reply) => {
                    let attempts = reply.attempts + refused;
                    return Ok(BackendReply { attempts, ..reply });
                }
                Err(failure) if self.learns_from(&failure) => refused += failure.attempts,
                Err(failure) => {
                    let attempts = failure.attempts + refused;
                    return Err(BackendFailure {
                        attempts,
                        ..failure
                    });
                }
            }
        }
    }

    /// Leaves out a field that the server has refused; returns `true` if it found a new one.
    fn learns_from(&self, failure: &BackendFailure) -> bool {
        let said =
            |name: &str| failure.kind == FailureKind::BadRequest && failure.message.contains(name);
        (said(JSON_MODE) && self.has_json_mode.swap(false, Ordering::Relaxed))
            || (said(MAX_TOKENS) && self.has_max_tokens.swap(false, Ordering::Relaxed))
    }

    fn request(&self, ask: &Ask<'_>) -> Value {
        let user = json!({"role": "user", "content": ask.prompt});
        let system = json!({"role": "system", "content": ask.system});
        let messages = [system, user];
        let first = usize::from(ask.system.is_empty());
        let limit = if self.has_max_tokens.load(Ordering::Relaxed) {
            MAX_TOKENS
        } else {
            MAX_COMPLETION_TOKENS
        };
        let mut request = json!({
            "model": ask.model,
            "messages": messages[first..],
            limit: ask.max_tokens,
        });
        // A question without a system prompt expects no JSON.
        if self.has_json_mode.load(Ordering::Relaxed) && !ask.system.is_empty() {
            request[JSON_MODE] = json!({"type": "json_object"});
        }
        request
    }
}

impl Backend for Openai {
    fn name(&self) -> BackendName {
        BackendName::Openai
    }

    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> BackendResult<'a> {
        Box::pin(async move {
            let attempt = |limit| self.attempt(ask, limit);
            repeat(&self.policy, ask, attempt).await
        })
    }
}

fn read(body: &str, ask: &Ask<'_>) -> Result<BackendReply, Flaw> {
    let value = message::parse(body)?;
    let choice = &value["choices"][0];
    if !choice["message"].is_object() {
        return Err(message::no_answer(&value, body));
    }
    let whole = text(&choice["message"]["content"]);
    let refusal = choice["message"]["refusal"].as_str();
    let stop = match choice["finish_reason"].as_str() {
        _ if refusal.is_some_and(|words| !words.is_empty()) => Some("refusal"),
        Some("length") => Some("max_tokens"),
        Some("content_filter") => Some("refusal"),
        other => other,
    };
    let from = (value["model"].as_str(), tokens(&value["usage"]));
    message::reply(stop, spoken(&whole), from, ask)
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}

/// Returns the text after the thinking; empty if the thinking has no end.
fn spoken(text: &str) -> &str {
    match text.trim_start().strip_prefix(THINKING.0) {
        Some(thought) => thought.split_once(THINKING.1).map_or("", |(_, said)| said),
        None => text,
    }
}

fn tokens(usage: &Value) -> TokenCount {
    let count = |key: &str| usage[key].as_u64().unwrap_or(0).min(MOST_TOKENS);
    TokenCount {
        input: count("prompt_tokens"),
        output: count("completion_tokens"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::tests::ASK;
    use rstest::rstest;

    fn body(content: &Value, finish: &str) -> String {
        json!({"choices": [{"message": {"role": "assistant", "content": content},
            "finish_reason": finish}], "model": "m",
            "usage": {"prompt_tokens": 16, "completion_tokens": 5}})
        .to_string()
    }

    #[rstest]
    #[case::text(json!("{\"a\": 1}"), "{\"a\": 1}")]
    #[case::parts(json!([{"type": "text", "text": "{}"}, {"type": "reasoning"}]), "{}")]
    #[case::after_thinking(json!("<think>{\"a\": 2}</think>{\"a\": 1}"), "{\"a\": 1}")]
    fn the_answer_is_what_is_said(#[case] content: Value, #[case] text: &str) {
        let message = read(&body(&content, "stop"), &ASK).unwrap();
        assert_eq!(message.text, text);
        assert_eq!((message.tokens.input, message.tokens.output), (16, 5));
    }

    #[rstest]
    #[case::cut_off(body(&json!("{"), "length"), FailureKind::CutOff)]
    #[case::filtered(body(&json!(""), "content_filter"), FailureKind::Refusal)]
    #[case::nothing(body(&Value::Null, "stop"), FailureKind::EmptyReply)]
    #[case::thought_only(body(&json!("<think>so"), "stop"), FailureKind::EmptyReply)]
    #[case::no_choice(r#"{"choices": []}"#.to_owned(), FailureKind::NotAMessage)]
    #[case::a_page("<html>".to_owned(), FailureKind::NotAMessage)]
    #[case::refused(
        r#"{"choices":[{"message":{"content":null,"refusal":"I cannot"},"finish_reason":"stop"}]}"#.to_owned(),
        FailureKind::Refusal
    )]
    fn what_is_no_answer_is_told_apart(#[case] body: String, #[case] kind: FailureKind) {
        assert_eq!(read(&body, &ASK).unwrap_err().kind, kind);
    }
}
