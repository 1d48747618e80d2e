//! `playbook doctor`: does everything work, and what to do where it does not.
//!
//! It changes nothing: hooks and worker are tried in a temporary folder.

mod account;
mod check;
mod hooks;
mod keeping;
mod memory;
mod online;
mod places;
mod programs;
mod settings;
mod trial;

use serde_json::json;

use super::session::Session;
use super::{OK, USER_ERROR, answer, args};
pub(super) use account::off_by;
use check::CheckState;

/// Looks at everything, and tells; the status says whether something is broken.
pub(super) fn run(args: &args::Doctor) -> anyhow::Result<u8> {
    if let Some(args::DoctorTopic::Memory(args)) = &args.topic {
        return memory::run(args);
    }
    let (session, breach) = &Session::examine(args.on.project.as_deref())?;
    let finding = account::examine(session, breach.is_none());
    let found = hooks::examine(session);
    let mut checks = found.checks;
    checks.extend(trial::examine(found.trial));
    checks.extend(finding.checks());
    checks.extend(keeping::examine(session, breach.as_ref()));
    if args.online {
        checks.push(online::examine(session, finding.account.as_ref())?);
    }
    let is_broken = checks.iter().any(|check| check.state == CheckState::Bad);
    let mut told = account::as_json(session, &finding);
    told["ok"] = json!(!is_broken);
    told["checks"] = json!(checks);
    answer::give(args.on.json, include_str!("../screens/doctor.txt"), told)?;
    Ok(if is_broken { USER_ERROR } else { OK })
}
