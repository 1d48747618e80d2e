//! Does the backend answer? One tiny question.

use std::time::{Duration, Instant};

use super::super::bench::fixed_session;
use super::super::session::{NamedSession, runtime};
use super::DoctorCheck;
use crate::account::Account;
use crate::backend::{AccountStep, Ask, FailureKind};
use crate::queue::ask::{BackendParts, build};

const TOPIC: &str = "online";
const REMEDY: &str = "look at the key or the login, the base URL, and the network";
const PATIENCE: Duration = Duration::from_secs(60);
/// More than one word is not asked for.
const MAX_TOKENS: u32 = 16;

pub(super) fn examine(
    session: &NamedSession,
    account: Option<&Account>,
) -> anyhow::Result<DoctorCheck> {
    let Some(account) = account else {
        let todo = "mend the settings first";
        return Ok(DoctorCheck::bad(TOPIC, "the settings cannot be used", todo));
    };
    let backend = account.need.backend;
    if backend.is_offline() {
        return Ok(DoctorCheck::good(
            TOPIC,
            format!("{backend} needs no network"),
        ));
    }
    // No session is needed to ask; a backend is built with one all the same.
    let evidence = fixed_session()?;
    let parts = BackendParts {
        paths: &session.paths,
        account,
        config: &session.config,
        facts: &evidence.facts,
    };
    let backend = match build(backend, parts) {
        Ok(backend) => backend,
        Err(why) => return Ok(DoctorCheck::bad(TOPIC, why, REMEDY)),
    };
    let ask = Ask {
        step: AccountStep::Reflector,
        system: "",
        prompt: "Answer with the one word: yes",
        model: account.need.model_for(AccountStep::Reflector),
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
            DoctorCheck::good(TOPIC, text)
        }
        Err(failure) => DoctorCheck::bad(TOPIC, failure.message, remedy(failure.kind)),
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
