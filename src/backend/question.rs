//! Asks the reflector or curator: one prompt, one reply, and one more try if the reply is at fault.
//!
//! A question never fails (REQ-REFL-006, INV-REFL-002): an error becomes the empty result with its
//! cause, and the cause decides what the job does next.

use super::{Ask, Backend, BackendFailure, FailureKind};
use crate::fault;
use crate::playbook::Skipped;
use crate::reflect::prompt::own_part;
use crate::reflect::reply::Reply;

const TRIES: u32 = 2;
const ECHO: &str = "the reply repeats our prompt";
/// The length in bytes from which a taught text found in our own prompt counts as an echo.
const SHORTEST_ECHO: usize = 30;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Answered<T> {
    /// The result; empty when there is a cause.
    pub(crate) result: T,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) cause: Option<BackendFailure>,
    /// The raw replies, for the diagnostic mode.
    pub(crate) replies: Vec<String>,
}

pub(crate) async fn question<T: Reply>(backend: &dyn Backend, ask: Ask<'_>) -> Answered<T> {
    let mut answered = Answered::default();
    for _ in 0..TRIES {
        let answer = backend.answer(&ask).await;
        fault::stop("reply");
        let cause = match answer {
            Ok(reply) => {
                let read = T::parse(&reply.text);
                let is_echo = ask.is_echoed_by(&reply.text)
                    || read
                        .as_ref()
                        .is_some_and(|(result, _)| repeats_us(result, &ask));
                answered.replies.push(reply.text);
                match read {
                    _ if is_echo => BackendFailure::new(FailureKind::EchoedPrompt, ECHO),
                    Some((result, skipped)) if result.is_enough(&skipped) => {
                        return Answered {
                            result,
                            skipped,
                            cause: None,
                            ..answered
                        };
                    }
                    Some(_) => BackendFailure::new(
                        FailureKind::UnreadableTags,
                        "the reply's `bullet_tags` are none",
                    ),
                    None => BackendFailure::new(
                        FailureKind::Unparseable,
                        "the reply holds no JSON object with what was asked for",
                    ),
                }
            }
            Err(failure) => failure,
        };
        let is_final = cause.kind.may_pass() || cause.kind == FailureKind::BadQuestion;
        answered.cause = Some(cause);
        if is_final {
            break;
        }
    }
    answered
}

/// Returns `true` if a result teaches a text from our own part of the prompt, such as its example.
fn repeats_us<T: Reply>(result: &T, ask: &Ask<'_>) -> bool {
    let own = own_part(ask.prompt, ask.marker);
    let taught = result.taught();
    let mut long = taught.iter().filter(|text| text.len() >= SHORTEST_ECHO);
    long.any(|text| own.contains(text.trim()))
}
