//! The Messages API over HTTPS.

use std::error::Error;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, redirect};
use serde_json::{Value, json};

use super::base_url::Transport;
use super::message::{self, Flaw};
use super::retry::{repeat, retry_after};
use super::{
    Answer, Ask, Backend, BaseUrl, Credential, Failure, FailureKind, Name, Reply, RetryPolicy,
};

const API_VERSION: &str = "2023-06-01";
const MAX_REPLY: usize = 8 << 20;
/// The most bytes of an error's body that are read.
const MAX_ERROR: usize = 64 << 10;
const USER_AGENT: &str = concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION"));

/// Asks a Messages API, with a key or token.
#[derive(Debug)]
pub struct Anthropic {
    client: Result<Client, String>,
    base: BaseUrl,
    credential: Credential,
    policy: RetryPolicy,
}

impl Anthropic {
    /// Prepares requests to `base`; nothing is sent yet.
    ///
    /// TLS that cannot be set up shows as a failure of each answer.
    pub fn new(base: BaseUrl, credential: Credential, policy: RetryPolicy) -> Self {
        Self {
            client: client(&base, &credential).map_err(|e| root_cause(e.as_ref())),
            base,
            credential,
            policy,
        }
    }

    async fn attempt(&self, ask: &Ask<'_>, body: &str, limit: Duration) -> Result<Reply, Failure> {
        let client = self.client.as_ref().map_err(|reason| {
            self.failure(
                FailureKind::Connection,
                format!("TLS is not available: {reason}"),
            )
        })?;
        let sent = client
            .post(self.base.messages())
            .header(CONTENT_TYPE, "application/json")
            .timeout(limit)
            .body(body.to_owned())
            .send()
            .await;
        let mut response = sent.map_err(|e| self.broken_off(&e, limit))?;
        if !response.status().is_success() {
            return Err(self.error(response).await);
        }
        let body = match read_body(&mut response, MAX_REPLY).await {
            Ok(body) => body,
            Err(Unread::Lost(e)) => return Err(self.broken_off(&e, limit)),
            Err(Unread::TooLarge(_)) => {
                let detail = format!("its answer is larger than {MAX_REPLY} bytes");
                return Err(self.failure(FailureKind::NotAMessage, detail));
            }
        };
        let body = self.credential.mask(String::from_utf8_lossy(&body));
        let message = message::read(&body).map_err(|flaw| flaw.of(self.base.as_str()))?;
        Ok(Reply {
            text: message.text,
            model: message.model.unwrap_or_else(|| ask.model.to_owned()),
            tokens: message.tokens,
            attempts: 1,
        })
    }

    async fn error(&self, mut response: Response) -> Failure {
        let status = response.status().as_u16();
        let header = response.headers().get(RETRY_AFTER);
        #[expect(clippy::disallowed_methods, reason = "the date is the server's")]
        let wait = header.and_then(|value| retry_after(value.to_str().ok()?, Timestamp::now()));
        // The status tells enough, even when the rest of the answer does not arrive.
        let body = match read_body(&mut response, MAX_ERROR).await {
            Ok(body) | Err(Unread::TooLarge(body)) => body,
            Err(Unread::Lost(_)) => Vec::new(),
        };
        let body = self.credential.mask(String::from_utf8_lossy(&body));
        Failure {
            retry_after: wait,
            ..message::read_error(status, &body).of(self.base.as_str())
        }
    }

    /// A request that broke off on its way there or back.
    fn broken_off(&self, error: &reqwest::Error, limit: Duration) -> Failure {
        if error.is_timeout() {
            let detail = format!("nothing within {:.1} s", limit.as_secs_f64());
            self.failure(FailureKind::Timeout, detail)
        } else {
            let failure = self.failure(FailureKind::Connection, root_cause(error));
            // Where nobody was reached, nothing was asked.
            let attempts = u32::from(!error.is_connect());
            Failure {
                attempts,
                ..failure
            }
        }
    }

    fn failure(&self, kind: FailureKind, detail: String) -> Failure {
        Flaw::new(kind, detail).of(self.base.as_str())
    }
}

impl Backend for Anthropic {
    fn name(&self) -> Name {
        Name::Anthropic
    }

    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> Answer<'a> {
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

/// Builds a client that follows no redirect and, on this machine, uses no proxy.
fn client(base: &BaseUrl, credential: &Credential) -> Result<Client, Box<dyn Error>> {
    // A provider that is there already is as good as ours.
    _ = rustls::crypto::ring::default_provider().install_default();
    let mut headers = HeaderMap::new();
    let (name, value) = credential.header()?;
    headers.insert(name, value);
    headers.insert("anthropic-version", HeaderValue::from_static(API_VERSION));
    let builder = Client::builder()
        .user_agent(USER_AGENT)
        .default_headers(headers)
        .redirect(redirect::Policy::none());
    let builder = match base.transport() {
        Transport::Tls => builder.https_only(true),
        // No proxy gets to see the key, and no certificates need to be there.
        Transport::Plain => builder.no_proxy().tls_certs_only([]),
    };
    Ok(builder.build()?)
}

/// Why a body was not read to its end.
enum Unread {
    /// It has more bytes than allowed; these are its first.
    TooLarge(Vec<u8>),
    Lost(reqwest::Error),
}

async fn read_body(response: &mut Response, max: usize) -> Result<Vec<u8>, Unread> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(Unread::Lost)? {
        if body.len() + chunk.len() > max {
            body.extend_from_slice(&chunk[..max - body.len()]);
            return Err(Unread::TooLarge(body));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Returns the innermost reason of an error, which names no URL.
fn root_cause(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    message::quote(&cause.to_string())
}
