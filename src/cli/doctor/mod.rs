//! `playbook doctor`: does everything work, and what to do where it does not.
//!
//! It changes nothing: hooks and worker are tried in a temporary folder.

mod account;
mod hooks;
mod keeping;
mod trial;

use serde::Serialize;
use serde_json::json;

use super::session::NamedSession;
use super::{OK, USER_ERROR, answer, args};
pub(super) use account::off_by;
pub(super) use hooks::lack as hooks_lack;

pub(super) fn run(args: &args::DoctorArgs) -> anyhow::Result<u8> {
    let (session, breach) = &NamedSession::examine(args.on.project.as_deref())?;
    let finding = account::examine(session, breach.is_none());
    let (mut checks, trial) = hooks::examine(session);
    checks.extend(trial::examine(trial));
    checks.extend(finding.checks());
    checks.extend(keeping::examine(session, breach.as_ref()));
    if args.online {
        checks.push(trial::ask(session, finding.account.as_ref())?);
    }
    let is_broken = checks.iter().any(|check| check.state == CheckState::Bad);
    let mut told = account::as_json(session, &finding);
    told["ok"] = json!(!is_broken);
    told["checks"] = json!(checks);
    answer::give(args.on.json, include_str!("../screens/doctor.txt"), told)?;
    Ok(if is_broken { USER_ERROR } else { OK })
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct DoctorCheck {
    topic: &'static str,
    state: CheckState,
    text: String,
    #[serde(rename = "do")]
    todo: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum CheckState {
    Good,
    Note,
    Bad,
}

impl DoctorCheck {
    fn good(topic: &'static str, text: impl Into<String>) -> Self {
        Self {
            topic,
            state: CheckState::Good,
            text: text.into(),
            todo: None,
        }
    }

    fn note(topic: &'static str, text: impl Into<String>, todo: &str) -> Self {
        Self {
            state: CheckState::Note,
            todo: Some(todo.to_owned()),
            ..Self::good(topic, text)
        }
    }

    fn bad(topic: &'static str, text: impl Into<String>, todo: &str) -> Self {
        Self {
            state: CheckState::Bad,
            ..Self::note(topic, text, todo)
        }
    }
}
