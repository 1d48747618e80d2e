//! `playbook dream`: looks for the pattern behind what was learned lately.

use std::sync::Arc;

use serde_json::{Value, json};

use super::answer;
use super::edit_commands::PATIENCE;
use super::output::Hinted;
use super::session::{NamedSession, runtime};
use crate::queue::context::WorkerContext;
use crate::queue::dream::{Dream, DreamReport, dream};
use crate::queue::usage_meter::Caller;

pub(super) fn run(session: &NamedSession, sources: u64, as_json: bool) -> anyhow::Result<()> {
    let context = session.context()?;
    let caller = Caller::by_hand(&session.project, context.now());
    let dreamt = runtime()?.block_on(dream(&context, caller, sources));
    let dreamt = dreamt.map_err(|reason| Hinted {
        what: format!("could not dream: {reason}"),
        hint: "nothing was changed; `playbook doctor` says what answers and who pays",
    })?;
    let told = match &dreamt {
        DreamReport::TooLittle(count) => json!({"found": false, "reflections": count}),
        DreamReport::Dreamt(dream) => told(session, &context, dream)?,
    };
    answer::give(as_json, include_str!("screens/dream.txt"), told)
}

/// What a dream found; the rule is in the playbook by then, or its job says why not.
fn told(
    session: &NamedSession,
    context: &Arc<WorkerContext>,
    dream: &Dream,
) -> anyhow::Result<Value> {
    let Dream {
        said,
        ids,
        sources,
        rule,
    } = dream;
    if let Some(rule) = rule
        && NamedSession::see_through(context, &rule.job, PATIENCE)?.is_none()
    {
        return Err(session.waits(&rule.job));
    }
    let rule = rule.as_ref().map(|rule| {
        json!({
            "text": rule.text, "lessons": rule.lessons, "job": rule.job,
        })
    });
    Ok(if ids.is_empty() {
        json!({"found": false, "sources": sources, "rule": rule})
    } else {
        json!({
            "found": true,
            "reflection_id": ids.first(),
            "strategy_id": ids.get(1),
            "reflection_text": said.reflection,
            "strategy_text": said.strategy,
            "importance": said.importance,
            "confidence": said.confidence,
            "tags": said.tags,
            "sources": sources,
            "rule": rule,
        })
    })
}
