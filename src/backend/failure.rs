//! Why a backend gave no reply, and what follows from it.

use std::time::Duration;

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

/// Everything that can stand between a prompt and its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// No answer in time, or status 408.
    Timeout,
    /// The server could not be reached, or hung up before its answer was whole.
    Connection,
    /// Status 429, or the limit of a subscription.
    RateLimited,
    /// Status 409 or 5xx, or any other that brings no error of the API: a proxy's page.
    ServerError,
    /// Status 401, an API error with 403, or a client that is not logged in.
    RefusedKey,
    /// The key is known, and may not do what was asked: use this model, for one.
    NoPermission,
    /// Status 402, or a balance that is too low.
    NoCredit,
    /// Status 404, 405 or 410: no such model, or no Messages API at this address.
    NotFound,
    /// Status 3xx; a redirect is never followed.
    Redirected,
    NotStarted,
    /// The client's program ended without any answer.
    Crashed,
    /// What came is no message: a page of HTML, nothing, half of it, too much, other bytes.
    NotAMessage,
    /// The client reports an error that names no status.
    ClientError,
    /// An API error with any other 4xx, which all questions may meet: of an account or a setting.
    BadRequest,
    /// An API error about this very question: too long, or not let through.
    BadQuestion,
    /// The reply stopped at its token limit.
    CutOff,
    Refusal,
    EmptyReply,
    /// The reply is our own prompt.
    EchoedPrompt,
    /// The reply holds no JSON object.
    Unparseable,
    /// The reply's tags are none.
    UnreadableTags,
    /// No recorded reply for this prompt.
    FixtureMissing,
    /// The question was not put: a switch or a budget holds it back.
    Held,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AfterFailure {
    /// Asked again at once, within the retry policy; then the job waits.
    Again,
    /// The job waits for another hour, other credentials or other settings.
    Waits,
    /// The same question may well fail again: the fault of request or reply.
    Fails,
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
                "logs in; what waits is tried by itself then",
            ),
            (Self::RefusedKey, _) => (
                "export ANTHROPIC_API_KEY=KEY",
                "with a key that works, unless AGENTIC_CONTEXT_API_KEY or ANTHROPIC_AUTH_TOKEN is \
                 set: then that one; the next start tries it",
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

    /// The one table of causes.
    ///
    /// What a change of settings, key, balance or weather can cure waits, so that a mistyped
    /// model, an empty balance or a firewall's page never throws a job away. What stands
    /// inside a well-formed answer, about this very question, does not.
    fn row(self) -> (&'static str, AfterFailure) {
        match self {
            Self::Timeout => ("Timeout", AfterFailure::Again),
            Self::Connection => ("Connection", AfterFailure::Again),
            Self::RateLimited => ("RateLimited", AfterFailure::Again),
            Self::ServerError => ("ServerError", AfterFailure::Again),
            Self::RefusedKey => ("RefusedKey", AfterFailure::Waits),
            Self::NoPermission => ("NoPermission", AfterFailure::Waits),
            Self::NoCredit => ("NoCredit", AfterFailure::Waits),
            Self::NotFound => ("NotFound", AfterFailure::Waits),
            Self::Redirected => ("Redirected", AfterFailure::Waits),
            Self::NotStarted => ("NotStarted", AfterFailure::Waits),
            Self::Crashed => ("Crashed", AfterFailure::Waits),
            Self::NotAMessage => ("NotAMessage", AfterFailure::Waits),
            Self::ClientError => ("ClientError", AfterFailure::Waits),
            Self::BadRequest => ("BadRequest", AfterFailure::Waits),
            Self::BadQuestion => ("BadQuestion", AfterFailure::Fails),
            Self::CutOff => ("CutOff", AfterFailure::Fails),
            Self::Refusal => ("Refusal", AfterFailure::Fails),
            Self::EmptyReply => ("EmptyReply", AfterFailure::Fails),
            Self::EchoedPrompt => ("EchoedPrompt", AfterFailure::Fails),
            Self::Unparseable => ("UnparseableReply", AfterFailure::Fails),
            Self::UnreadableTags => ("UnreadableTags", AfterFailure::Fails),
            Self::Held => ("Held", AfterFailure::Waits),
            // The word of spec/2, section 4.2.
            Self::FixtureMissing => ("FixtureMissingError", AfterFailure::Fails),
        }
    }

    /// Returns the word for it in `reflect_error:<Type>` and in logs.
    pub fn word(self) -> &'static str {
        self.row().0
    }

    /// Tells whether the job should wait: time, a key or settings may cure it.
    pub fn may_pass(self) -> bool {
        self.row().1 != AfterFailure::Fails
    }

    /// Tells whether another key or login helps.
    pub(crate) fn is_of_the_key(self) -> bool {
        matches!(self, Self::RefusedKey | Self::NoPermission)
    }

    /// Tells whether the same request is worth sending again at once.
    pub(super) fn is_retried(self) -> bool {
        self.row().1 == AfterFailure::Again
    }
}
