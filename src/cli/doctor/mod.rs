//! `playbook doctor`: checks that everything works, and advises where it does not.
//!
//! It changes nothing: hooks and worker are tried in a temporary folder.

mod account;
mod hooks;
mod keeping;

pub(super) use account::off_by;
pub(super) use hooks::lack as hooks_lack;

use super::prelude::*;
use super::sandbox::{Sandbox, TrialHooks};
use super::{OK, USER_ERROR};
use crate::account::Account;
use crate::backend::{AccountStep, Ask, FailureKind};
use crate::hook::HookEvent;
use crate::queue::ask::{BackendParts, build};
use crate::transcript::Facts;

pub(super) fn run(args: &args::DoctorArgs) -> anyhow::Result<u8> {
    let (session, breach) = &NamedSession::examine(args.on.project.as_deref())?;
    let mut checks = Checks::default();
    let finding = account::examine(session, breach.is_none());
    let hooks = hooks::examine(session, &mut checks);
    try_hooks(hooks, &mut checks);
    finding.check(&mut checks);
    keeping::examine(session, breach.as_ref(), &mut checks);
    if args.online {
        ask(session, finding.account.as_ref(), &mut checks)?;
    }
    let is_broken = checks.0.iter().any(|check| check["state"] == "bad");
    let mut answer = account::as_json(session, &finding);
    answer["ok"] = json!(!is_broken);
    answer["checks"] = json!(checks.0);
    answer::give(args.on.json, include_str!("../screens/doctor.txt"), answer)?;
    Ok(if is_broken { USER_ERROR } else { OK })
}

#[derive(Debug, Default)]
struct Checks(Vec<Value>);

impl Checks {
    fn good(&mut self, topic: &str, text: impl Into<String>) {
        self.add(topic, "good", text, None);
    }

    fn note(&mut self, topic: &str, text: impl Into<String>, todo: &str) {
        self.add(topic, "note", text, Some(todo));
    }

    fn bad(&mut self, topic: &str, text: impl Into<String>, todo: &str) {
        self.add(topic, "bad", text, Some(todo));
    }

    fn add(&mut self, topic: &str, state: &str, text: impl Into<String>, todo: Option<&str>) {
        let text: String = text.into();
        let check = json!({"topic": topic, "state": state, "text": text, "do": todo});
        self.0.push(check);
    }
}

/// The longest time that the worker may take for a job that takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// The token limit of the test question, which asks for one word.
const MAX_TOKENS: u32 = 16;

fn try_hooks(hooks: Option<TrialHooks>, checks: &mut Checks) {
    let Some(hooks) = hooks else { return };
    let sandbox = match Sandbox::set(hooks) {
        Ok(sandbox) => sandbox,
        Err(error) => {
            let text = format!("could not be tried: {error:#}");
            let todo = "look whether the folder for temporary files can be written to";
            return checks.bad("answer", text, todo);
        }
    };
    let begun = Instant::now();
    let start = sandbox.start("trial").map(drop);
    let ms = begun.elapsed().as_millis();
    let worker = end(&sandbox);
    // Tried last, because they leave jobs.
    let others = HookEvent::ALL
        .into_iter()
        .filter(|event| !matches!(event, HookEvent::SessionStart | HookEvent::SessionEnd))
        .map(|event| (event, sandbox.ask(event, "trial").map(drop)));
    let before = checks.0.len();
    for (event, done) in std::iter::once((HookEvent::SessionStart, start)).chain(others) {
        if let Err(error) = done {
            let text = format!("{} did not answer: {error:#}", event.name());
            let todo = "run it by hand: `echo '{}' | PROGRAM`; or ./install.sh again";
            checks.bad("answer", text, todo);
        }
    }
    if checks.0.len() == before {
        let text = format!("session-start gave its context in {ms} ms; the others end well");
        checks.good("answer", text);
    }
    match worker {
        Ok(()) => checks.good("worker", "starts, outlives its hook, and works"),
        Err(error) => checks.bad(
            "worker",
            format!("did not do a job of its hook: {error:#}"),
            "session-end must end well, and `playbook` stand beside the hooks: run ./install.sh again",
        ),
    }
}

fn end(sandbox: &Sandbox) -> anyhow::Result<()> {
    sandbox.end("trial")?;
    sandbox.wait(PATIENCE)?;
    let learned = sandbox.learned()?;
    let counted = learned.points().any(|point| point.helpful == 1);
    anyhow::ensure!(counted, "nothing was counted");
    Ok(())
}

fn ask(
    session: &NamedSession,
    account: Option<&Account>,
    checks: &mut Checks,
) -> anyhow::Result<()> {
    let Some(account) = account else {
        let text = "the settings cannot be used";
        checks.bad("online", text, "mend the settings first");
        return Ok(());
    };
    let backend = account.need.backend;
    if backend.is_offline() {
        checks.good("online", format!("{backend} needs no network"));
        return Ok(());
    }
    if let Some(by) = off_by(session) {
        let text = format!("not asked: reflection is switched off by {by}");
        checks.good("online", text);
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
            checks.bad("online", why, remedy(FailureKind::Connection));
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
            checks.good("online", text);
        }
        Err(failure) => checks.bad("online", failure.message, remedy(failure.kind)),
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
