//! `playbook bootstrap`: learns from the sessions that are already there.

mod plan;
mod run;

use serde_json::{Value, json};

use super::output::{self, refuse_if_off, say};
use super::session::Session;
use super::{OK, answer, args};
use crate::queue::bootstrap_budget;
use run::BootstrapResult;

pub(super) fn run(args: &args::Bootstrap) -> anyhow::Result<u8> {
    let session = &Session::open(args.project.as_deref())?;
    refuse_if_off(session, "`playbook reflect FILE` shows what it would learn")?;
    let context = session.context()?;
    let plan = plan::make(session, &context, args)?;
    if !args.json {
        let mut told = plan.json();
        told["is_offline"] = plan.backend.is_offline().into();
        told["is_narrowed"] = (args.since.is_some() || args.skip_subagents).into();
        told["waiting"] = plan.waiting.into();
        answer::show(include_str!("../screens/plan.txt"), told)?;
    }
    if plan.is_empty() || !agreed(args)? {
        if args.json {
            output::json(&with_done(plan.json(), None))?;
        }
        return Ok(OK);
    }
    bootstrap_budget::agree(
        &session.paths,
        &context.memory(),
        &session.project,
        plan.estimate,
    )?;
    let done = run::all(session, context, &plan, args.json)?;
    let told = with_done(plan.json(), Some(&done));
    answer::give(args.json, include_str!("../screens/bootstrap.txt"), told)?;
    Ok(done.status())
}

/// Asks the user; without a terminal only `--yes` is a yes.
fn agreed(args: &args::Bootstrap) -> anyhow::Result<bool> {
    if args.yes || args.json {
        return Ok(args.yes);
    }
    let agreed = output::confirm("Learn from them?")?;
    match agreed {
        None => say!("Nothing was done: say `--yes` to agree to that."),
        Some(false) => say!("Nothing was done."),
        Some(true) => {}
    }
    Ok(agreed.unwrap_or_default())
}

/// The one object of `--json`: the plan, and what was done, if anything was.
fn with_done(mut plan: Value, done: Option<&BootstrapResult>) -> Value {
    let none = json!({"started": false, "done": [], "waiting": [], "left": 0, "stopped": false});
    let more = done.map_or(none, BootstrapResult::json);
    if let (Value::Object(plan), Value::Object(more)) = (&mut plan, more) {
        plan.extend(more);
    }
    plan
}
