//! The reasons why a backend gave no reply, and their consequences.

use std::time::Duration;

use playbook_core::worded;

use super::{BackendName, TokenCount};

/// A backend's refusal or inability to answer; the message holds no key and no token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BackendFailure {
    pub kind: FailureKind,
    /// The message for users: `could not get an answer from …: …`.
    pub message: String,
    pub retry_after: Option<Duration>,
    pub attempts: u32,
    /// The tokens that a useless reply cost.
    pub tokens: TokenCount,
}

impl BackendFailure {
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry_after: None,
            attempts: 1,
            tokens: TokenCount::default(),
        }
    }
}

worded! {
    /// The kinds of failure, each with its word for `reflect_error:<Type>` and for logs.
    pub enum FailureKind {
        /// No answer in time, or status 408.
        Timeout = "Timeout",
        /// The server could not be reached, or hung up before its answer was whole.
        Connection = "Connection",
        /// Status 429, or the limit of a subscription.
        RateLimited = "RateLimited",
        /// Status 409 or 5xx, or any other without an API error in its body, as of a proxy.
        ServerError = "ServerError",
        /// Status 401, an API error with 403, or a client that is not logged in.
        RefusedKey = "RefusedKey",
        /// The key is valid but may not do this, for example use this model.
        NoPermission = "NoPermission",
        /// Status 402, or a balance that is too low.
        NoCredit = "NoCredit",
        /// Status 404, 405 or 410: no such model, or no Messages API at this address.
        NotFound = "NotFound",
        /// Status 3xx; a redirect is never followed.
        Redirected = "Redirected",
        NotStarted = "NotStarted",
        Crashed = "Crashed",
        /// The body is no message: an HTML page, empty, cut off, too large, or binary.
        NotAMessage = "NotAMessage",
        /// The client reports an error that names no status.
        ClientError = "ClientError",
        /// An API error with any other 4xx: an account or a setting is at fault, not the question.
        BadRequest = "BadRequest",
        /// An API error about this question alone: too long, or filtered.
        BadQuestion = "BadQuestion",
        CutOff = "CutOff",
        Refusal = "Refusal",
        EmptyReply = "EmptyReply",
        EchoedPrompt = "EchoedPrompt",
        /// The reply holds no JSON object of the expected kind.
        Unparseable = "UnparseableReply",
        UnreadableTags = "UnreadableTags",
        /// No reply is recorded for this prompt; the word is from spec/2, section 4.2.
        FixtureMissing = "FixtureMissingError",
        /// The question was not sent: a switch or a budget prevents it.
        Held = "Held",
    }
}

impl FailureKind {
    /// Returns a command that helps against a lasting failure, and why; `None` if waiting helps.
    pub(crate) fn remedy(self, backend: BackendName) -> Option<(&'static str, &'static str)> {
        let with_model = |why| match backend {
            BackendName::ClaudeCli => ("playbook config set claude_cli.model MODEL", why),
            _ => ("playbook config set anthropic.model MODEL", why),
        };
        Some(match (self, backend) {
            (Self::RefusedKey, BackendName::ClaudeCli) => (
                "claude auth login",
                "logs in, or renew what `apiKeyHelper` or the provider needs; what waits is tried by \
                 itself then",
            ),
            (Self::RefusedKey, _) => (
                "export ANTHROPIC_API_KEY=KEY",
                "with a key that works, or where `playbook doctor` says that it comes from; the next \
                 start tries it",
            ),
            (Self::NoCredit, _) => (
                "playbook jobs retry --all",
                "tries at once; first top up the balance, or give another key",
            ),
            (Self::NotFound, _) => {
                with_model("name a model that is there, and a base URL with a Messages API")
            }
            (Self::NoPermission, _) => {
                with_model("the key is known: allow it the model, or name another model")
            }
            (Self::Redirected, _) => (
                "playbook config set anthropic.base_url URL",
                "with the address that answers itself; a redirect is never followed",
            ),
            (Self::BadRequest, _) => (
                "playbook doctor --online",
                "asks one small question and shows what is said to it",
            ),
            _ => return None,
        })
    }

    /// Returns `true` if waiting may help: a mistyped model, an empty balance or a firewall's page
    /// never discards a job. Waiting does not change an answer that faults this question.
    pub fn may_pass(self) -> bool {
        !matches!(
            self,
            Self::BadQuestion
                | Self::CutOff
                | Self::Refusal
                | Self::EmptyReply
                | Self::EchoedPrompt
                | Self::Unparseable
                | Self::UnreadableTags
                | Self::FixtureMissing
        )
    }

    pub(crate) fn is_of_the_key(self) -> bool {
        matches!(self, Self::RefusedKey | Self::NoPermission)
    }

    pub(super) fn is_retried(self) -> bool {
        matches!(
            self,
            Self::Timeout | Self::Connection | Self::RateLimited | Self::ServerError
        )
    }
}
