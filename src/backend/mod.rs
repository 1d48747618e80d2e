//! The backends that answer a prompt.
//!
//! Every backend implements [`Backend`]: one [`Ask`] in, one [`BackendReply`] or one
//! [`BackendFailure`] out. The [`FailureKind`] says whether the failure may pass (the job waits) or
//! is the reply's fault (the job gets one more try). Status codes stay in this module.

mod anthropic;
mod base_url;
pub(crate) mod child;
mod claude_cli;
mod claude_result;
mod credential;
pub(crate) mod den;
mod failure;
mod fixtures;
mod http;
mod masked;
mod message;
mod openai;
mod prompt_hash;
pub(crate) mod question;
mod retry;
mod rules;

use std::pin::Pin;
use std::time::Instant;

use serde::{Deserialize, Serialize};

pub use anthropic::Anthropic;
pub use base_url::{BaseUrl, Plain};
pub use claude_cli::ClaudeCli;
pub use credential::Credential;
pub use failure::{BackendFailure, FailureKind};
pub(crate) use fixtures::Fixtures;
pub(crate) use masked::Masked;
pub use openai::Openai;
pub use playbook_core::account::{AccountStep, BackendName};
pub(crate) use prompt_hash::{fixture_key, prompt_hash};
pub use retry::RetryPolicy;
pub(crate) use rules::Rules;

pub type BackendResult<'a> =
    Pin<Box<dyn Future<Output = Result<BackendReply, BackendFailure>> + Send + 'a>>;

pub trait Backend: Send + Sync {
    fn name(&self) -> BackendName;

    /// Answers `ask`; dropping the future cancels the work.
    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> BackendResult<'a>;
}

#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    pub step: AccountStep,
    /// The system prompt; may be empty.
    pub system: &'a str,
    pub prompt: &'a str,
    /// The model's id, or its alias for `claude-cli`; the offline backends ignore it.
    pub model: &'a str,
    pub max_tokens: u32,
    /// The fence around untrusted text; empty without any. A reply that contains it is an echo.
    pub marker: &'a str,
    /// The most requests that this question may use, within the retry policy.
    pub attempts: u32,
    /// The time by which the answer must have arrived, including all attempts and pauses.
    pub deadline: Option<Instant>,
}

impl Ask<'_> {
    fn is_echoed_by(&self, text: &str) -> bool {
        !self.marker.is_empty() && text.contains(self.marker)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendReply {
    /// The text; never empty.
    pub text: String,
    pub model: String,
    pub tokens: TokenCount,
    pub attempts: u32,
}

/// Tokens read and written by a model; input counts cached tokens too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCount {
    pub input: u64,
    pub output: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A question whose texts contain everything that the hash normalises.
    pub(super) const ASK: Ask<'static> = Ask {
        step: AccountStep::Reflector,
        system: "Judge.",
        prompt: "a \n\t b\u{1f}c  0123456789abcdef é😀\u{7f}\"\\ 0123456789abcdef\n",
        model: "m",
        max_tokens: 1,
        marker: "0123456789abcdef",
        attempts: u32::MAX,
        deadline: None,
    };
}
