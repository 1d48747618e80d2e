//! `playbook recall`: finds what was learned beyond the key points.

use serde_json::json;

use super::session::Session;
use super::{answer, args};
use crate::hint::MemoryKind;
use crate::memory::RecallQuery;
use crate::reflect::remembered::Remembered;

pub(super) fn run(session: &Session, args: &args::Recall) -> anyhow::Result<()> {
    let told = json!({
        "query": args.query,
        "project": session.project_of(&args.of),
        "memories": found(session, args)?,
    });
    answer::give(args.of.json, include_str!("screens/recall.txt"), told)
}

fn found(session: &Session, args: &args::Recall) -> anyhow::Result<Vec<Remembered>> {
    let Some(memory) = session.memory()? else {
        return Ok(Vec::new());
    };
    // An id as hooks show it names one memory, whatever the project.
    if let Some(id) = args.query.as_deref().map(str::trim)
        && let Some(named) = memory.find(id)?
    {
        return Ok(vec![named]);
    }
    let query = RecallQuery {
        text: args.query.clone(),
        kinds: args
            .kind
            .iter()
            .filter_map(|word| MemoryKind::from_word(word))
            .collect(),
        project: session.project_of(&args.of),
        min_importance: args.min_importance,
        tags: args.tag.clone(),
        outcome: args.outcome.clone(),
        ..RecallQuery::best(args.limit)
    };
    Ok(memory.recall(&query, session.env.clock().now())?)
}
