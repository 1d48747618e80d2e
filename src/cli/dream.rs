//! `playbook dream`: looks for the pattern behind what was learned lately.

use serde_json::json;

use super::output::Hinted;
use super::session::{Session, runtime};
use super::{answer, args};
use crate::queue::dream::{DreamReport, SOURCES, dream};
use crate::queue::usage_meter::Caller;

pub(super) fn run(session: &Session, args: &args::Dream) -> anyhow::Result<()> {
    let context = session.context()?;
    let caller = Caller::by_hand(&session.project, context.now());
    let dreamt = runtime()?.block_on(dream(&context, caller, args.sources.unwrap_or(SOURCES)));
    let dreamt = dreamt.map_err(|reason| Hinted {
        what: format!("could not dream: {reason}"),
        hint: "nothing was changed; `playbook doctor` says what answers and who pays",
    })?;
    let told = match &dreamt {
        DreamReport::TooLittle(count) => json!({"found": false, "reflections": count}),
        DreamReport::NoPattern(sources) => json!({"found": false, "sources": sources}),
        DreamReport::Found { said, ids, sources } => json!({
            "found": true,
            "reflection_id": ids.first(),
            "strategy_id": ids.get(1),
            "reflection_text": said.reflection,
            "strategy_text": said.strategy,
            "importance": said.importance,
            "confidence": said.confidence,
            "tags": said.tags,
            "sources": sources,
        }),
    };
    answer::give(args.on.json, include_str!("screens/dream.txt"), told)
}
