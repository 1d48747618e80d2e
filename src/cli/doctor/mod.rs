//! `playbook doctor`: does everything work, and what to do where it does not.
//!
//! It changes nothing: hooks and worker are tried in a temporary folder.

mod account;
mod check;
mod hooks;
mod keeping;
mod online;
mod trial;

use serde_json::json;

use super::args;
use super::output::{self, Told, say};
use super::session::Session;
use check::{Check, State};

/// Looks at everything; an error when something is broken.
pub(super) fn run(session: &Session, args: &args::Doctor) -> anyhow::Result<()> {
    let finding = account::examine(session)?;
    let found = hooks::examine(session);
    let mut checks = found.checks;
    checks.extend(trial::examine(found.trial));
    checks.extend(finding.checks());
    checks.extend(keeping::examine(session));
    if args.online {
        checks.push(online::examine(session, finding.account.as_ref())?);
    }
    let is_broken = checks.iter().any(|check| check.state == State::Bad);
    if args.json {
        let mut told = account::as_json(session, &finding);
        told["ok"] = json!(!is_broken);
        told["checks"] = json!(checks);
        output::json(&told)?;
    } else {
        finding.tell()?;
        say!("");
        checks.iter().try_for_each(Check::tell)?;
    }
    if is_broken {
        return Err(Told.into());
    }
    Ok(())
}
