//! Asks reflector and curator: one prompt, one reply, one more try when the reply is at
//! fault.
//!
//! [`run_reflector`] never fails (REQ-REFL-006, INV-REFL-002): what goes wrong becomes
//! the empty result with its cause, and the cause says what the job does next.

use std::time::Instant;

use jiff::SignedDuration;

use super::prompt::Prompt;
use super::reply::{Curation, Reflection};
use crate::backend::{Ask, Backend, Failure, FailureKind, Step, Tokens};
use crate::fault;
use crate::playbook::Skipped;

/// How often a question is asked when the reply is at fault.
const TRIES: u32 = 2;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits<'a> {
    pub(crate) model: &'a str,
    /// The most tokens of the reply.
    pub(crate) max_tokens: u32,
    pub(crate) deadline: Option<Instant>,
}

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
pub(crate) async fn run_reflector(
    backend: &dyn Backend,
    prompt: &Prompt,
    limits: Limits<'_>,
) -> Answered<Reflection> {
    question(
        backend,
        ask(Step::Reflector, prompt, limits),
        Reflection::parse,
    )
    .await
}

/// Asks the curator and reads its reply; it fails no more than the reflector does.
pub(crate) async fn run_curator(
    backend: &dyn Backend,
    prompt: &Prompt,
    limits: Limits<'_>,
) -> Answered<Curation> {
    question(backend, ask(Step::Curator, prompt, limits), Curation::parse).await
}

async fn question<T: Default>(
    backend: &dyn Backend,
    ask: Ask<'_>,
    read: impl Fn(&str) -> Option<(T, Vec<Skipped>)>,
) -> Answered<T> {
    let mut answered = Answered::default();
    for _ in 0..TRIES {
        let answer = backend.answer(&ask).await;
        fault::stop("reply");
        let cause = match answer {
            Ok(reply) => {
                answered.count(reply.tokens, reply.attempts);
                let read = read(&reply.text);
                answered.replies.push(reply.text);
                if let Some((result, skipped)) = read {
                    return Answered {
                        result,
                        skipped,
                        cause: None,
                        ..answered
                    };
                }
                Cause::unparseable()
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
    fn count(&mut self, tokens: Tokens, attempts: u32) {
        self.tokens.input += tokens.input;
        self.tokens.output += tokens.output;
        self.attempts += attempts;
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
        attempts: u32::MAX,
        deadline: limits.deadline,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Answer, Name, Reply};
    use std::sync::Mutex;

    /// A backend that gives prepared answers, the last one for ever.
    struct Prepared(Mutex<Vec<Result<&'static str, FailureKind>>>);

    impl Backend for Prepared {
        fn name(&self) -> Name {
            Name::Fixtures
        }

        fn answer<'a>(&'a self, _ask: &'a Ask<'a>) -> Answer<'a> {
            let mut left = self.0.lock().unwrap();
            let next = if left.len() > 1 {
                left.remove(0)
            } else {
                left[0]
            };
            let reply = |text: &str| Reply {
                text: text.to_owned(),
                model: "m".to_owned(),
                tokens: Tokens {
                    input: 2,
                    output: 1,
                },
                attempts: 1,
            };
            let failure = |kind| Failure::new(kind, "it broke");
            Box::pin(std::future::ready(next.map(reply).map_err(failure)))
        }
    }

    fn reflect(answers: &[Result<&'static str, FailureKind>]) -> Answered<Reflection> {
        let prompt = Prompt {
            system: "",
            text: "p".to_owned(),
            marker: String::new(),
        };
        let limits = Limits {
            model: "m",
            max_tokens: 1,
            deadline: None,
        };
        let backend = Prepared(Mutex::new(answers.to_vec()));
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(run_reflector(&backend, &prompt, limits))
    }

    /// REQ-REFL-006, SCN-REFL-005-01, INV-REFL-002.
    #[test]
    fn an_unreachable_api_gives_the_empty_result_and_its_cause() {
        let answered = reflect(&[Err(FailureKind::Connection)]);
        assert_eq!(answered.result, Reflection::default());
        let cause = answered.cause.unwrap();
        assert_eq!((cause.word, cause.fate), ("Connection", Fate::Waits(None)));
        assert_eq!(
            answered.attempts, 1,
            "what may pass is not asked again here"
        );
    }

    /// REQ-REFL-006, SCN-REFL-005-02.
    #[test]
    fn a_useless_reply_is_asked_for_once_more() {
        let twice = reflect(&[Ok("no"), Ok("still no")]);
        assert_eq!(twice.result, Reflection::default());
        assert_eq!(twice.cause.unwrap().fate, Fate::Fails);
        assert_eq!((twice.attempts, twice.tokens.input), (2, 4));
        let once = reflect(&[Err(FailureKind::CutOff), Ok("{\"analysis\": \"a\"}")]);
        assert_eq!(once.result.analysis, "a");
        assert_eq!(once.cause, None);
    }

    #[test]
    fn a_refused_key_waits_for_another() {
        let answered = reflect(&[Err(FailureKind::RefusedKey)]);
        assert_eq!(answered.cause.unwrap().fate, Fate::WaitsForKey);
    }
}
