//! `playbook recall`: finds what was learned beyond the key points.

use serde_json::json;

use super::session::NamedSession;
use super::{answer, args};
use crate::memory::RecallQuery;
use crate::reflect::remembered::MemoryKind;
use crate::reflect::remembered::Remembered;

pub(super) fn run(session: &NamedSession, args: &args::RecallArgs) -> anyhow::Result<()> {
    let told = json!({
        "query": args.query(),
        "project": session.project_of(&args.of),
        "memories": found(session, args)?,
    });
    answer::give(args.of.json, include_str!("screens/recall.txt"), told)
}

fn found(session: &NamedSession, args: &args::RecallArgs) -> anyhow::Result<Vec<Remembered>> {
    let Some(memory) = session.memory()? else {
        return Ok(Vec::new());
    };
    // An id as hooks show it names one memory, whatever the project.
    if let Some(id) = args.query().as_deref().map(str::trim)
        && let Some(named) = memory.find(id)?
    {
        return Ok(vec![named]);
    }
    let now = session.env.clock().now();
    let ago = |time| now.checked_sub(time).ok();
    let query = RecallQuery {
        text: args.query(),
        kinds: args
            .kind
            .iter()
            .filter_map(|word| MemoryKind::from_word(word))
            .collect(),
        project: session.project_of(&args.of),
        min_importance: args.min_importance,
        tags: args.tag.clone(),
        outcome: args.outcome.clone(),
        since: args.since.and_then(ago),
        until: args.until.and_then(ago),
        ..RecallQuery::best(args.limit)
    };
    Ok(together(memory.recall(&query, now)?))
}

/// Behind each memory, the best first, those that belong to it: about the same error, or with all
/// its tags.
pub fn together(mut found: Vec<Remembered>) -> Vec<Remembered> {
    let mut told: Vec<Remembered> = Vec::with_capacity(found.len());
    while !found.is_empty() {
        let first = found.remove(0);
        let (its, others) = found.into_iter().partition(|other| belongs(&first, other));
        told.push(first);
        told.extend::<Vec<_>>(its);
        found = others;
    }
    told
}

fn belongs(one: &Remembered, other: &Remembered) -> bool {
    let is_same_error = one.signature.is_some() && one.signature == other.signature;
    let has_its_tags = !one.tags.is_empty() && one.tags.iter().all(|tag| other.tags.contains(tag));
    is_same_error || has_its_tags
}
