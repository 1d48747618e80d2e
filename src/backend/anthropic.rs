//! Anthropic's Messages API.

use serde_json::{Value, json};

use super::http::Server;
use super::message;
use super::retry::repeat;
use super::{Ask, Backend, BackendName, BackendResult, BaseUrl, Credential, RetryPolicy};

const PATH: &str = "/v1/messages";
const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

#[derive(Debug)]
pub struct Anthropic {
    server: Server,
    policy: RetryPolicy,
}

impl Anthropic {
    /// If TLS cannot be set up, each answer is a failure that says so.
    pub fn new(base: BaseUrl, credential: Credential, policy: RetryPolicy) -> Self {
        Self {
            server: Server::new(base, Some(credential), Some(VERSION)),
            policy,
        }
    }
}

impl Backend for Anthropic {
    fn name(&self) -> BackendName {
        BackendName::Anthropic
    }

    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> BackendResult<'a> {
        Box::pin(async move {
            let body = &request(ask).to_string();
            let attempt = |limit| async move {
                let said = self.server.post(PATH, body.clone(), limit).await?;
                message::read(&said, ask).map_err(|flaw| self.server.failure(flaw))
            };
            repeat(&self.policy, ask, attempt).await
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
