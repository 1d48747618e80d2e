//! `playbook doctor`: does everything work, and what to do where it does not.
//!
//! It changes nothing: hooks and worker are tried in a temporary folder.

mod account;
mod hooks;
mod keeping;
mod trial;

use serde_json::{Value, json};

use super::session::NamedSession;
use super::{OK, USER_ERROR, answer, args};
pub(super) use account::off_by;
pub(super) use hooks::lack as hooks_lack;

pub(super) fn run(args: &args::DoctorArgs) -> anyhow::Result<u8> {
    let (session, breach) = &NamedSession::examine(args.on.project.as_deref())?;
    let mut checks = Checks::default();
    let finding = account::examine(session, breach.is_none());
    let hooks = hooks::examine(session, &mut checks);
    trial::examine(hooks, &mut checks);
    finding.check(&mut checks);
    keeping::examine(session, breach.as_ref(), &mut checks);
    if args.online {
        trial::ask(session, finding.account.as_ref(), &mut checks)?;
    }
    let is_broken = checks.0.iter().any(|check| check["state"] == "bad");
    let mut told = account::as_json(session, &finding);
    told["ok"] = json!(!is_broken);
    told["checks"] = json!(checks.0);
    answer::give(args.on.json, include_str!("../screens/doctor.txt"), told)?;
    Ok(if is_broken { USER_ERROR } else { OK })
}

/// The things that were looked at, in order, each with its state and what there is to do.
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
