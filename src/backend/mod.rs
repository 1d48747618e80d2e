//! What answers a prompt.
//!
//! Every backend implements [`Backend`]: one [`Ask`] in, one [`BackendReply`] or one
//! [`BackendFailure`] out. A failure says by its [`FailureKind`] whether it may pass (the job
//! waits) or lies with the reply (the job gets one more try), so that nobody outside
//! this room knows a status code.

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

    /// Answers `ask`; dropping the answer stops the work on it.
    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> BackendResult<'a>;
}

#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    pub step: AccountStep,
    /// The standing instructions; may be empty.
    pub system: &'a str,
    pub prompt: &'a str,
    /// The model's id, or for `claude-cli` its alias; the offline backends ignore it.
    pub model: &'a str,
    pub max_tokens: u32,
    /// The marker that fences untrusted text in the prompt; a reply that holds it is an
    /// echo. Empty when the prompt has none.
    pub marker: &'a str,
    /// The most requests it may take, within the retry policy.
    pub attempts: u32,
    /// When the answer must be there, all attempts and pauses included.
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
    /// The model that wrote it, as the backend names it.
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

    /// A question whose texts have all that a hash must see through.
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
