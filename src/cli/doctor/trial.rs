//! The trial of hooks and worker, and one tiny question to the backend.

use std::time::{Duration, Instant};

use super::super::bench::fixed_session;
use super::super::sandbox::{Sandbox, TrialHooks};
use super::super::session::{NamedSession, runtime};
use super::{DoctorCheck, off_by};
use crate::account::Account;
use crate::backend::{AccountStep, Ask, FailureKind};
use crate::hook::HookEvent;
use crate::queue::ask::{BackendParts, build};

const ANSWER: &str = "answer";
const WORKER: &str = "worker";
/// How long the worker may take for its job of milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);

const MEND: &str = "run it by hand: `echo '{}' | PROGRAM`; or ./install.sh again";

pub(super) fn examine(hooks: Option<TrialHooks>) -> Vec<DoctorCheck> {
    let Some(hooks) = hooks else {
        return Vec::new();
    };
    let sandbox = match Sandbox::set(hooks) {
        Ok(sandbox) => sandbox,
        Err(error) => {
            let text = format!("could not be tried: {error:#}");
            let todo = "look whether the folder for temporary files can be written to";
            return vec![DoctorCheck::bad(ANSWER, text, todo)];
        }
    };
    let begun = Instant::now();
    let start = sandbox.start("trial");
    let ms = begun.elapsed().as_millis();
    let worker = match end(&sandbox) {
        Ok(()) => DoctorCheck::good(WORKER, "starts, outlives its hook, and works"),
        Err(error) => DoctorCheck::bad(
            WORKER,
            format!("did not do a job of its hook: {error:#}"),
            "session-end must end well, and `playbook` stand beside the hooks: run ./install.sh again",
        ),
    };
    // Last, as they leave jobs behind.
    let others = HookEvent::ALL
        .into_iter()
        .filter(|event| !matches!(event, HookEvent::SessionStart | HookEvent::SessionEnd));
    let others = others.map(|event| (event, sandbox.ask(event, "trial").map(drop)));
    let mut checks: Vec<_> = [(HookEvent::SessionStart, start.map(drop))]
        .into_iter()
        .chain(others)
        .filter_map(|(event, done)| {
            let text = format!("{} did not answer: {:#}", event.name(), done.err()?);
            Some(DoctorCheck::bad(ANSWER, text, MEND))
        })
        .collect();
    if checks.is_empty() {
        let text = format!("session-start gave its context in {ms} ms; the others end well");
        checks.push(DoctorCheck::good(ANSWER, text));
    }
    checks.push(worker);
    checks
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

const ONLINE: &str = "online";
const REMEDY: &str = "look at the key or the login, the base URL, and the network";
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// More than one word is not asked for.
const MAX_TOKENS: u32 = 16;

pub(super) fn ask(
    session: &NamedSession,
    account: Option<&Account>,
) -> anyhow::Result<DoctorCheck> {
    let Some(account) = account else {
        let todo = "mend the settings first";
        return Ok(DoctorCheck::bad(
            ONLINE,
            "the settings cannot be used",
            todo,
        ));
    };
    let backend = account.need.backend;
    if backend.is_offline() {
        return Ok(DoctorCheck::good(
            ONLINE,
            format!("{backend} needs no network"),
        ));
    }
    if let Some(by) = off_by(session) {
        let text = format!("not asked: reflection is switched off by {by}");
        return Ok(DoctorCheck::good(ONLINE, text));
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
        Err(why) => return Ok(DoctorCheck::bad(ONLINE, why, REMEDY)),
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
    Ok(match runtime()?.block_on(backend.answer(&ask)) {
        Ok(reply) => {
            let tokens = reply.tokens.input + reply.tokens.output;
            let ms = begun.elapsed().as_millis();
            let text = format!("{} answered in {ms} ms, {tokens} tokens", reply.model);
            DoctorCheck::good(ONLINE, text)
        }
        Err(failure) => DoctorCheck::bad(ONLINE, failure.message, remedy(failure.kind)),
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
