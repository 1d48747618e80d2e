//! `playbook bootstrap`: learns from the sessions that are already there.

mod plan;
mod run;

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use serde_json::{Value, json};

use super::output::{self, refuse_if_off, say};
use super::session::Session;
use super::{answer, args};
use crate::queue::allowance;
use run::Done;

/// The status of a run that the user stopped: 128 and the number of SIGINT.
const STOPPED: u8 = 130;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Run {
    /// There is nothing left to do; or nothing was agreed to.
    Complete,
    Unfinished,
    Stopped,
}

/// Learns from the project's sessions, once the user has agreed to what it takes.
pub(super) fn main(args: &args::Bootstrap) -> ExitCode {
    match run(args) {
        Ok(Run::Complete) => ExitCode::SUCCESS,
        Ok(Run::Unfinished) => ExitCode::FAILURE,
        Ok(Run::Stopped) => ExitCode::from(STOPPED),
        Err(error) => super::conclude(Err(error), super::USER_ERROR),
    }
}

fn run(args: &args::Bootstrap) -> anyhow::Result<Run> {
    let session = &Session::open(args.project.as_deref())?;
    refuse_if_off(session, "`playbook reflect FILE` shows what it would learn")?;
    let shop = session.shop()?;
    let plan = plan::make(session, &shop, args)?;
    if !args.json {
        let mut told = plan.json();
        told["is_offline"] = plan.backend.is_offline().into();
        answer::show(include_str!("../screens/plan.txt"), told)?;
    }
    if plan.is_empty() || !agreed(args)? {
        if args.json {
            output::json(&with_done(plan.json(), None))?;
        }
        return Ok(Run::Complete);
    }
    allowance::agree(
        &session.paths,
        &shop.memory(),
        &session.project,
        plan.estimate,
    )?;
    let done = run::all(session, shop, &plan, args.json)?;
    let told = with_done(plan.json(), Some(&done));
    answer::give(args.json, include_str!("../screens/bootstrap.txt"), told)?;
    Ok(done.ended())
}

/// Asks the user; without a terminal only `--yes` is a yes.
fn agreed(args: &args::Bootstrap) -> anyhow::Result<bool> {
    if args.yes || args.json {
        return Ok(args.yes);
    }
    if !io::stdin().is_terminal() {
        say!("Nothing was done: say `--yes` to agree to that.");
        return Ok(false);
    }
    let agreed = output::confirm("Learn from them?")?;
    if !agreed {
        say!("Nothing was done.");
    }
    Ok(agreed)
}

/// The one object of `--json`: the plan, and what was done, if anything was.
fn with_done(mut plan: Value, done: Option<&Done>) -> Value {
    let none = json!({"started": false, "done": [], "waiting": [], "left": 0, "stopped": false});
    let more = done.map_or(none, Done::json);
    if let (Value::Object(plan), Value::Object(more)) = (&mut plan, more) {
        plan.extend(more);
    }
    plan
}
