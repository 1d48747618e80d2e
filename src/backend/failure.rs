//! Why a backend gave no reply, and what follows from it.

use std::time::Duration;

use playbook_core::worded;

use super::{BackendName, TokenCount};

/// A backend's refusal or inability to answer; its text holds no key and no token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BackendFailure {
    pub kind: FailureKind,
    /// What happened, for people: `could not get an answer from …: …`.
    pub message: String,
    /// How long the server wants us to stay away, when it said so.
    pub retry_after: Option<Duration>,
    pub attempts: u32,
    /// What a useless reply cost all the same.
    pub tokens: TokenCount,
}

impl BackendFailure {
    /// A failure after one attempt that cost nothing.
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
    /// Everything that can stand between a prompt and its reply, with the word for it in
    /// `reflect_error:<Type>` and in logs.
    pub enum FailureKind {
        /// No answer in time, or status 408.
        Timeout = "Timeout",
        /// The server could not be reached, or hung up before its answer was whole.
        Connection = "Connection",
        /// Status 429, or the limit of a subscription.
        RateLimited = "RateLimited",
        /// Status 409 or 5xx, or any other that brings no error of the API: a proxy's page.
        ServerError = "ServerError",
        /// Status 401, an API error with 403, or a client that is not logged in.
        RefusedKey = "RefusedKey",
        /// The key is known, and may not do what was asked: use this model, for one.
        NoPermission = "NoPermission",
        /// Status 402, or a balance that is too low.
        NoCredit = "NoCredit",
        /// Status 404, 405 or 410: no such model, or no Messages API at this address.
        NotFound = "NotFound",
        /// Status 3xx; a redirect is never followed.
        Redirected = "Redirected",
        NotStarted = "NotStarted",
        /// The client's program ended without any answer.
        Crashed = "Crashed",
        /// What came is no message: a page of HTML, nothing, half of it, too much, other bytes.
        NotAMessage = "NotAMessage",
        /// The client reports an error that names no status.
        ClientError = "ClientError",
        /// An API error with any other 4xx, which all questions may meet: of an account or a setting.
        BadRequest = "BadRequest",
        /// An API error about this very question: too long, or not let through.
        BadQuestion = "BadQuestion",
        /// The reply stopped at its token limit.
        CutOff = "CutOff",
        Refusal = "Refusal",
        EmptyReply = "EmptyReply",
        /// The reply is our own prompt.
        EchoedPrompt = "EchoedPrompt",
        /// The reply holds no JSON object with what was asked for.
        Unparseable = "UnparseableReply",
        /// The reply's tags are none.
        UnreadableTags = "UnreadableTags",
        /// No recorded reply for this prompt; the word of spec/2, section 4.2.
        FixtureMissing = "FixtureMissingError",
        /// The question was not put: a switch or a budget holds it back.
        Held = "Held",
    }
}

impl FailureKind {
    /// What helps against a failure that does not pass by itself, as a command and what there
    /// is to say of it; `None` where waiting helps.
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
                "playbook jobs retry",
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

    /// Returns whether the job should wait: time, a key or settings may cure it.
    ///
    /// So a mistyped model, an empty balance or a firewall's page never throws a job away. The
    /// fault of a well-formed answer, about this very question, does not pass.
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

    /// Returns whether another key or login helps.
    pub(crate) fn is_of_the_key(self) -> bool {
        matches!(self, Self::RefusedKey | Self::NoPermission)
    }

    /// Returns whether the same request is worth sending again at once.
    pub(super) fn is_retried(self) -> bool {
        matches!(
            self,
            Self::Timeout | Self::Connection | Self::RateLimited | Self::ServerError
        )
    }
}
