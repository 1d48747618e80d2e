//! Anthropic's Messages API.

use std::time::Duration;

use serde_json::{Value, json};

use super::http::Server;
use super::message;
use super::retry::repeat;
use super::{
    Ask, Backend, BackendFailure, BackendName, BackendReply, BackendResult, BaseUrl, Credential,
    RetryPolicy,
};

const PATH: &str = "/v1/messages";
const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// Asks a Messages API, with a key or token.
#[derive(Debug)]
pub struct Anthropic {
    server: Server,
    policy: RetryPolicy,
}

impl Anthropic {
    /// Prepares requests to `base`; nothing is sent yet.
    ///
    /// TLS that cannot be set up shows as a failure of each answer.
    pub fn new(base: BaseUrl, credential: Credential, policy: RetryPolicy) -> Self {
        Self {
            server: Server::new(base, Some(credential), Some(VERSION)),
            policy,
        }
    }

    async fn attempt(
        &self,
        ask: &Ask<'_>,
        body: &str,
        limit: Duration,
    ) -> Result<BackendReply, BackendFailure> {
        let body = self.server.post(PATH, body.to_owned(), limit).await?;
        let message = message::read(&body).map_err(|flaw| self.server.failure(flaw))?;
        Ok(message.reply(ask))
    }
}

impl Backend for Anthropic {
    fn name(&self) -> BackendName {
        BackendName::Anthropic
    }

    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> BackendResult<'a> {
        Box::pin(async move {
            let body = request(ask).to_string();
            let attempt = |limit| self.attempt(ask, &body, limit);
            repeat(&self.policy, ask.attempts, ask.deadline, attempt).await
        })
    }
}

fn request(ask: &Ask<'_>) -> Value {
    let mut request = json!({
        "model": ask.model,
        "max_tokens": ask.max_tokens,
        "messages": [{"role": "user", "content": ask.prompt}],
    });
    if !ask.system.is_empty() {
        request["system"] = ask.system.into();
    }
    request
}
