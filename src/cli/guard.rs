//! `playbook guard`: lists the guarded key points. `guard on` and `guard off` register and remove
//! the hook that turns their commands back.

use super::args::{SettingsScope, Switch};
use super::prelude::*;
use super::{gate, install, show};
use crate::hook::HookEvent;
use crate::setup::{ClientSettings, Hooks, switched_on};
use crate::trust::TrustStanding;

pub(super) const GUARD: HookEvent = HookEvent::PreToolUse;

/// Lists or switches; refuses the agent the latter.
pub(super) fn run(args: &args::GuardArgs) -> anyhow::Result<()> {
    let session = NamedSession::look(None)?;
    let hooks = install::hooks(&session.paths, SettingsScope::User);
    let settings = ClientSettings::new(&session.paths, session.paths.client_settings(), hooks);
    if args.switch.is_some() {
        agent::refuse(&session.env, "what becomes of a command")?;
    }
    let plan = match args.switch {
        Some(Switch::On) => Some(settings.plan_on(GUARD, &command(&session)?)?),
        Some(Switch::Off) => settings.plan_off(GUARD)?,
        None => None,
    };
    let backup = plan.as_ref().map(|plan| settings.carry_out(plan));
    let points = match args.switch {
        Some(_) => Vec::new(),
        None => [guarded(&session)?, guarded(&NamedSession::on_own()?)?].concat(),
    };
    let mut answer = json!({
        "on": switched_on(&session.paths, GUARD).is_some(),
        "file": settings.file(),
        "changed": plan.is_some_and(|plan| plan.is_change()),
        "backup": backup.transpose()?.flatten(),
        "points": points,
    });
    if !args.json {
        answer["lists"] = args.switch.is_none().into();
    }
    answer::give(args.json, include_str!("screens/guard.txt"), answer)
}

/// Returns the command that `playbook guard on` registers.
pub(super) fn command(session: &NamedSession) -> anyhow::Result<String> {
    Ok(Hooks::switch_command(&gate::program(session)?, GUARD))
}

/// Returns the guarded key points of a playbook.
pub(super) fn guarded(session: &NamedSession) -> anyhow::Result<Vec<Value>> {
    let trust = TrustStanding::of(&session.paths, &session.project);
    let playbook = session.shown(session.without_votes()?);
    let points = playbook.points().filter_map(|point| {
        let due = point.due().filter(|due| due.guard)?;
        let told = show::in_words(point.name, due, &trust);
        Some(json!({"name": point.name, "text": point.text, "when": due.when, "due": told}))
    });
    Ok(points.collect())
}
