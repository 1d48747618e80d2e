//! Asks the reflector: one prompt, one reply, one more try when the reply is at fault.
//!
//! [`run_reflector`] never fails (REQ-REFL-006, INV-REFL-002): what goes wrong becomes
//! the empty result with its cause, and the cause says what the job does next.

use std::time::Instant;

use jiff::SignedDuration;

use super::prompt::Prompt;
use super::reply::Reflection;
use crate::backend::{Ask, Backend, Failure, FailureKind, Reply, Step, Tokens};
use crate::playbook::Skipped;

/// How often a question is asked when the reply is at fault.
const TRIES: u32 = 2;

/// What limits a question.
#[derive(Debug, Clone, Copy)]
pub struct Limits<'a> {
    /// The model to ask.
    pub model: &'a str,
    /// The most tokens of the reply.
    pub max_tokens: u32,
    /// When the answer must be there.
    pub deadline: Option<Instant>,
}

/// The reflector's result, whatever happened.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reflected {
    /// The result; empty when there is a cause.
    pub reflection: Reflection,
    /// What was dropped from the reply, with reasons.
    pub skipped: Vec<Skipped>,
    /// Why the result is empty; `None` when it is what the model said.
    pub cause: Option<Cause>,
    /// What all calls cost.
    pub tokens: Tokens,
    /// Requests made.
    pub attempts: u32,
    /// The replies as they came, for the diagnostic mode.
    pub replies: Vec<String>,
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The type, as in `reflect_error:<Type>`.
    pub word: &'static str,
    /// What happened, in words.
    pub message: String,
    /// What follows.
    pub fate: Fate,
}

/// What follows from a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It may pass: the job waits, as long as the server said.
    Waits(Option<SignedDuration>),
    /// The key was refused: the job waits for other credentials.
    WaitsForKey,
    /// The reply is at fault: the job has failed.
    Fails,
}

/// The type of a reply that holds no JSON object.
const UNPARSEABLE: &str = "UnparseableReply";

impl Cause {
    fn of(failure: &Failure) -> Self {
        let fate = match failure.kind {
            FailureKind::RefusedKey => Fate::WaitsForKey,
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

    fn unparseable() -> Self {
        Self {
            word: UNPARSEABLE,
            message: "the reply holds no JSON object".to_owned(),
            fate: Fate::Fails,
        }
    }
}

/// Asks the reflector and reads its reply (REQ-REFL-003).
pub async fn run_reflector(
    backend: &dyn Backend,
    prompt: &Prompt,
    limits: Limits<'_>,
) -> Reflected {
    let mut result = Reflected::default();
    for _ in 0..TRIES {
        match backend.answer(&ask(Step::Reflector, prompt, limits)).await {
            Ok(reply) => {
                result.count(reply.tokens, reply.attempts);
                let read = Reflection::parse(&reply.text);
                result.keep(reply);
                match read {
                    Some((reflection, skipped)) => {
                        result.reflection = reflection;
                        result.skipped = skipped;
                        result.cause = None;
                        return result;
                    }
                    None => result.cause = Some(Cause::unparseable()),
                }
            }
            Err(failure) => {
                result.count(failure.tokens, failure.attempts);
                let cause = Cause::of(&failure);
                let passes = cause.fate != Fate::Fails;
                result.cause = Some(cause);
                if passes {
                    return result;
                }
            }
        }
    }
    result
}

impl Reflected {
    fn count(&mut self, tokens: Tokens, attempts: u32) {
        self.tokens.input += tokens.input;
        self.tokens.output += tokens.output;
        self.attempts += attempts;
    }

    fn keep(&mut self, reply: Reply) {
        self.replies.push(reply.text);
    }
}

fn ask<'a>(step: Step, prompt: &'a Prompt, limits: Limits<'a>) -> Ask<'a> {
    Ask {
        step,
        system: prompt.system,
        prompt: &prompt.text,
        model: limits.model,
        max_tokens: limits.max_tokens,
        marker: &prompt.marker,
        deadline: limits.deadline,
    }
}
