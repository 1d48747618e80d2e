//! The trial of hooks and worker, and one tiny question to the backend.

use std::time::{Duration, Instant};

use super::super::sandbox::{Sandbox, TrialHooks};
use super::super::session::{NamedSession, runtime};
use super::Checks;
use crate::account::Account;
use crate::backend::{AccountStep, Ask, FailureKind};
use crate::hook::HookEvent;
use crate::queue::ask::{BackendParts, build};
use crate::transcript::Facts;

const ANSWER: &str = "answer";
const WORKER: &str = "worker";
const ONLINE: &str = "online";
/// The longest that the worker may take for its job of milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// More than one word is not asked for.
const MAX_TOKENS: u32 = 16;

pub(super) fn examine(hooks: Option<TrialHooks>, checks: &mut Checks) {
    let Some(hooks) = hooks else { return };
    let sandbox = match Sandbox::set(hooks) {
        Ok(sandbox) => sandbox,
        Err(error) => {
            let text = format!("could not be tried: {error:#}");
            let todo = "look whether the folder for temporary files can be written to";
            return checks.bad(ANSWER, text, todo);
        }
    };
    let begun = Instant::now();
    let start = sandbox.start("trial").map(drop);
    let ms = begun.elapsed().as_millis();
    let worker = end(&sandbox);
    // Last, as they leave jobs behind.
    let others = HookEvent::ALL
        .into_iter()
        .filter(|event| !matches!(event, HookEvent::SessionStart | HookEvent::SessionEnd))
        .map(|event| (event, sandbox.ask(event, "trial").map(drop)));
    let before = checks.0.len();
    for (event, done) in std::iter::once((HookEvent::SessionStart, start)).chain(others) {
        if let Err(error) = done {
            let text = format!("{} did not answer: {error:#}", event.name());
            let todo = "run it by hand: `echo '{}' | PROGRAM`; or ./install.sh again";
            checks.bad(ANSWER, text, todo);
        }
    }
    if checks.0.len() == before {
        let text = format!("session-start gave its context in {ms} ms; the others end well");
        checks.good(ANSWER, text);
    }
    match worker {
        Ok(()) => checks.good(WORKER, "starts, outlives its hook, and works"),
        Err(error) => checks.bad(
            WORKER,
            format!("did not do a job of its hook: {error:#}"),
            "session-end must end well, and `playbook` stand beside the hooks: run ./install.sh again",
        ),
    }
}

/// Ends the session and waits until its worker has counted a key point.
fn end(sandbox: &Sandbox) -> anyhow::Result<()> {
    sandbox.end("trial")?;
    sandbox.wait(PATIENCE)?;
    let learned = sandbox.learned()?;
    let counted = learned.points().any(|point| point.helpful == 1);
    anyhow::ensure!(counted, "nothing was counted");
    Ok(())
}

pub(super) fn ask(
    session: &NamedSession,
    account: Option<&Account>,
    checks: &mut Checks,
) -> anyhow::Result<()> {
    let Some(account) = account else {
        checks.bad(
            ONLINE,
            "the settings cannot be used",
            "mend the settings first",
        );
        return Ok(());
    };
    let backend = account.need.backend;
    if backend.is_offline() {
        checks.good(ONLINE, format!("{backend} needs no network"));
        return Ok(());
    }
    let parts = BackendParts {
        paths: &session.paths,
        account,
        config: &session.config,
        facts: &Facts::default(),
    };
    let backend = match build(backend, parts) {
        Ok(backend) => backend,
        Err(why) => {
            checks.bad(ONLINE, why, remedy(FailureKind::Connection));
            return Ok(());
        }
    };
    let ask = Ask {
        step: AccountStep::Reflector,
        system: "",
        prompt: "Answer with the one word: yes",
        model: account.need.model_for(AccountStep::Reflector),
        max_tokens: MAX_TOKENS,
        marker: "",
        attempts: 1,
        deadline: Some(Instant::now() + ANSWER_LIMIT),
    };
    let begun = Instant::now();
    match runtime()?.block_on(backend.answer(&ask)) {
        Ok(reply) => {
            let tokens = reply.tokens.input + reply.tokens.output;
            let ms = begun.elapsed().as_millis();
            let text = format!("{} answered in {ms} ms, {tokens} tokens", reply.model);
            checks.good(ONLINE, text);
        }
        Err(failure) => checks.bad(ONLINE, failure.message, remedy(failure.kind)),
    }
    Ok(())
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
        _ => "look at the key or the login, the base URL, and the network",
    }
}
