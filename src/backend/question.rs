//! Asks reflector and curator: one prompt, one reply, one more try when the reply is at
//! fault.
//!
//! A question never fails (REQ-REFL-006, INV-REFL-002): what goes wrong becomes the empty
//! result with its cause, and the cause says what the job does next.

use jiff::SignedDuration;

use super::{Ask, Backend, Failure, FailureKind, Tokens};
use crate::fault;
use crate::playbook::Skipped;
use crate::reflect::reply::Reply;

/// How often a question is asked when the reply is at fault.
const TRIES: u32 = 2;

/// What came of a question, whatever happened.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Answered<T> {
    /// The result; empty when there is a cause.
    pub(crate) result: T,
    pub(crate) skipped: Vec<Skipped>,
    /// Why the result is empty; `None` when it is what the model said.
    pub(crate) cause: Option<Cause>,
    pub(crate) tokens: Tokens,
    pub(crate) attempts: u32,
    /// The replies as they came, for the diagnostic mode.
    pub(crate) replies: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cause {
    /// The type, as in `reflect_error:<Type>`.
    pub(crate) word: &'static str,
    pub(crate) message: String,
    pub(crate) fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It may pass: the job waits, as long as the server said.
    Waits(Option<SignedDuration>),
    /// The key was refused: the job waits for other credentials.
    WaitsForKey,
    /// The reply is at fault: the job has failed.
    Fails,
}

/// The type of a reply that holds no JSON object.
const UNPARSEABLE: &str = "UnparseableReply";
/// The type of a reply whose tags are none.
const WITHOUT_TAGS: &str = "UnreadableTags";

impl Cause {
    fn of(failure: &Failure) -> Self {
        let fate = match failure.kind {
            FailureKind::RefusedKey | FailureKind::NoPermission => Fate::WaitsForKey,
            kind if kind.may_pass() => Fate::Waits(
                failure
                    .retry_after
                    .and_then(|d| SignedDuration::try_from(d).ok()),
            ),
            _ => Fate::Fails,
        };
        Self {
            word: failure.kind.word(),
            message: failure.message.clone(),
            fate,
        }
    }

    fn of_reply(word: &'static str, message: &str) -> Self {
        Self {
            word,
            message: message.to_owned(),
            fate: Fate::Fails,
        }
    }
}

/// Asks and reads the reply (REQ-REFL-003).
pub(crate) async fn question<T: Reply>(backend: &dyn Backend, ask: Ask<'_>) -> Answered<T> {
    let mut answered = Answered::default();
    for _ in 0..TRIES {
        let answer = backend.answer(&ask).await;
        fault::stop("reply");
        let cause = match answer {
            Ok(reply) => {
                answered.count(reply.tokens, reply.attempts);
                let read = T::read(&reply.text);
                answered.replies.push(reply.text);
                match read {
                    Some((result, skipped)) if result.is_enough(&skipped) => {
                        return answered.with(result, skipped);
                    }
                    Some(_) => Cause::of_reply(WITHOUT_TAGS, "the reply's `bullet_tags` are none"),
                    None => Cause::of_reply(UNPARSEABLE, "the reply holds no JSON object"),
                }
            }
            Err(failure) => {
                answered.count(failure.tokens, failure.attempts);
                Cause::of(&failure)
            }
        };
        let passes = cause.fate != Fate::Fails;
        answered.cause = Some(cause);
        if passes {
            break;
        }
    }
    answered
}

impl<T> Answered<T> {
    fn with(self, result: T, skipped: Vec<Skipped>) -> Self {
        Self {
            result,
            skipped,
            cause: None,
            ..self
        }
    }

    fn count(&mut self, tokens: Tokens, attempts: u32) {
        self.tokens.input += tokens.input;
        self.tokens.output += tokens.output;
        self.attempts += attempts;
    }
}
