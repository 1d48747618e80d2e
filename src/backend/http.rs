//! One request to a model's server over HTTPS, for any API: no redirects, no proxy on this machine,
//! bounded answers, and no key in messages.

use std::error::Error;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, redirect};

use super::message::{self, Flaw};
use super::retry::retry_after;
use super::{BackendFailure, BaseUrl, Credential, FailureKind};

const MAX_REPLY: usize = 8 << 20;
const MAX_ERROR: usize = 64 << 10;
const USER_AGENT: &str = concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION"));

#[derive(Debug)]
pub(super) struct Server {
    client: Result<Client, String>,
    base: BaseUrl,
    credential: Option<Credential>,
}

impl Server {
    /// If TLS cannot be set up, each answer is a failure that says so.
    pub(super) fn new(
        base: BaseUrl,
        credential: Option<Credential>,
        header: Option<(&'static str, &'static str)>,
    ) -> Self {
        let client = client(&base, credential.as_ref(), header);
        Self {
            client: client.map_err(|e| root_cause(e.as_ref())),
            base,
            credential,
        }
    }

    /// Sends a JSON body; returns the answer's body with the key masked.
    pub(super) async fn post(
        &self,
        path: &str,
        body: String,
        limit: Duration,
    ) -> Result<String, BackendFailure> {
        let client = self.client.as_ref().map_err(|reason| {
            let detail = format!("TLS is not available: {reason}");
            self.failure(Flaw::new(FailureKind::Connection, detail))
        })?;
        let sent = client
            .post(self.base.at(path))
            .header(CONTENT_TYPE, "application/json")
            .timeout(limit)
            .body(body)
            .send()
            .await;
        let mut response = sent.map_err(|e| self.broken_off(&e, limit))?;
        if !response.status().is_success() {
            return Err(self.error(response).await);
        }
        match read_body(&mut response, MAX_REPLY).await {
            Ok((body, true)) => Ok(self.masked(&body)),
            Ok(_) => {
                let detail = format!("its answer is larger than {MAX_REPLY} bytes");
                Err(self.failure(Flaw::new(FailureKind::NotAMessage, detail)))
            }
            Err(e) => Err(self.broken_off(&e, limit)),
        }
    }

    pub(super) fn failure(&self, flaw: Flaw) -> BackendFailure {
        flaw.of(self.base.as_str())
    }

    async fn error(&self, mut response: Response) -> BackendFailure {
        let status = response.status().as_u16();
        let header = response.headers().get(RETRY_AFTER);
        #[expect(clippy::disallowed_methods, reason = "the date is the server's")]
        let wait = header.and_then(|value| retry_after(value.to_str().ok()?, Timestamp::now()));
        // The status is enough even if the rest of the answer does not arrive.
        let (body, _) = read_body(&mut response, MAX_ERROR)
            .await
            .unwrap_or_default();
        BackendFailure {
            retry_after: wait,
            ..self.failure(message::read_error(status, &self.masked(&body)))
        }
    }

    fn broken_off(&self, error: &reqwest::Error, limit: Duration) -> BackendFailure {
        if error.is_timeout() {
            let detail = format!("nothing within {:.1} s", limit.as_secs_f64());
            self.failure(Flaw::new(FailureKind::Timeout, detail))
        } else {
            BackendFailure {
                // Without a connection no request was made.
                attempts: u32::from(!error.is_connect()),
                ..self.failure(Flaw::new(FailureKind::Connection, root_cause(error)))
            }
        }
    }

    fn masked(&self, body: &[u8]) -> String {
        let text = String::from_utf8_lossy(body);
        match &self.credential {
            Some(credential) => credential.mask(text).into_owned(),
            None => text.into_owned(),
        }
    }
}

fn client(
    base: &BaseUrl,
    credential: Option<&Credential>,
    header: Option<(&'static str, &'static str)>,
) -> Result<Client, Box<dyn Error>> {
    // Fails if a provider is installed already, which works as well.
    _ = rustls::crypto::ring::default_provider().install_default();
    let mut headers = credential.map(Credential::headers).unwrap_or_default();
    if let Some((name, value)) = header {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let builder = Client::builder()
        .user_agent(USER_AGENT)
        .default_headers(headers)
        .redirect(redirect::Policy::none());
    let builder = if base.has_tls() {
        builder.https_only(true)
    } else {
        // No proxy sees the key, and no certificates have to be installed.
        builder.no_proxy().tls_certs_only([])
    };
    Ok(builder.build()?)
}

/// Reads at most `max` bytes of a body; returns them, and `false` if there are more.
async fn read_body(response: &mut Response, max: usize) -> reqwest::Result<(Vec<u8>, bool)> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > max {
            body.extend_from_slice(&chunk[..max - body.len()]);
            return Ok((body, false));
        }
        body.extend_from_slice(&chunk);
    }
    Ok((body, true))
}

/// Returns the innermost cause of an error; unlike the outer ones it names no URL.
fn root_cause(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    message::quote(&cause.to_string())
}
