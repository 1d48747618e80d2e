//! `playbook recall`: finds what was learned beyond the key points.

use serde_json::json;

use super::args;
use super::output::{self, DIM, say};
use super::remembered;
use super::session::Session;
use crate::hint::MemoryKind;
use crate::memory::RecallQuery;
use crate::reflect::remembered::Remembered;

pub(super) fn run(session: &Session, args: &args::Recall) -> anyhow::Result<()> {
    let found = found(session, args)?;
    if args.of.json {
        return output::json(&json!({
            "query": args.query,
            "project": session.project_of(&args.of),
            "memories": found,
        }));
    }
    for memory in &found {
        remembered::show(memory, args.of.all)?;
    }
    if found.is_empty() {
        say!("Nothing like that was learned.");
        if !args.of.all {
            say!("{DIM}That is in this project; `--all` looks in all of them.{DIM:#}");
        }
    }
    Ok(())
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
