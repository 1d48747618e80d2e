//! Does the backend answer? One tiny question.

use std::time::{Duration, Instant};

use super::super::bench::fixed_session;
use super::super::session::{Session, runtime};
use super::Check;
use crate::account::Account;
use crate::backend::{Ask, FailureKind, Step};
use crate::playbook::Playbook;
use crate::queue::backends::{Parts, build};

const TOPIC: &str = "online";
const REMEDY: &str = "look at the key or the login, the base URL, and the network";
const PATIENCE: Duration = Duration::from_secs(60);
/// More than one word is not asked for.
const MAX_TOKENS: u32 = 16;

pub(super) fn examine(session: &Session, account: Option<&Account>) -> anyhow::Result<Check> {
    let Some(account) = account else {
        let todo = "mend the settings first";
        return Ok(Check::bad(TOPIC, "the settings cannot be used", todo));
    };
    let backend = account.need.backend;
    if backend.is_offline() {
        return Ok(Check::good(TOPIC, format!("{backend} needs no network")));
    }
    // No session is needed to ask; a backend is built with one all the same.
    let evidence = fixed_session()?;
    let parts = Parts {
        paths: &session.paths,
        account,
        config: &session.config,
        session: &evidence,
        playbook: &Playbook::empty(),
    };
    let backend = match build(backend, parts) {
        Ok(backend) => backend,
        Err(why) => return Ok(Check::bad(TOPIC, why, REMEDY)),
    };
    let ask = Ask {
        step: Step::Reflector,
        system: "",
        prompt: "Answer with the one word: yes",
        model: account.need.model_for(Step::Reflector),
        max_tokens: MAX_TOKENS,
        marker: "",
        attempts: 1,
        deadline: Some(Instant::now() + PATIENCE),
    };
    let begun = Instant::now();
    Ok(match runtime()?.block_on(backend.answer(&ask)) {
        Ok(reply) => {
            let tokens = reply.tokens.input + reply.tokens.output;
            let ms = begun.elapsed().as_millis();
            let text = format!("{} answered in {ms} ms, {tokens} tokens", reply.model);
            Check::good(TOPIC, text)
        }
        Err(failure) => Check::bad(TOPIC, failure.message, remedy(failure.kind)),
    })
}

fn remedy(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::NoCredit => {
            "top up the balance, or give another key; what waits is then tried by itself"
        }
        FailureKind::NotFound => {
            "name a model that is there and a base URL with a Messages API: `playbook config list`"
        }
        FailureKind::NoPermission => "the key is known: allow it the model, or name another model",
        _ => REMEDY,
    }
}
