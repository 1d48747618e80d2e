//! `playbook dream`: looks for the pattern behind what was learned lately.

use serde_json::json;

use super::args;
use super::output::{self, BOLD, DIM, Hinted, NAME, plain, say};
use super::session::{Session, runtime};
use crate::queue::dream::{Dream, SOURCES, dream};
use crate::queue::meter::Caller;
use crate::reflect::dream::FEWEST;

pub(super) fn run(session: &Session, args: &args::Dream) -> anyhow::Result<()> {
    let shop = session.shop()?;
    let caller = Caller::by_hand(&session.project, shop.now());
    let dreamt = runtime()?.block_on(dream(&shop, caller, args.sources.unwrap_or(SOURCES)));
    let dreamt = dreamt.map_err(|reason| Hinted {
        what: format!("could not dream: {reason}"),
        hint: "nothing was changed; `playbook doctor` says what answers and who pays",
    })?;
    if args.on.json {
        return output::json(&match &dreamt {
            Dream::TooLittle(count) => json!({"found": false, "reflections": count}),
            Dream::NoPattern(sources) => json!({"found": false, "sources": sources}),
            Dream::Found { said, ids, sources } => json!({
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
        });
    }
    match dreamt {
        Dream::TooLittle(count) => {
            say!("There are {count} reflections of the last 30 days; a pattern needs {FEWEST}.");
        }
        Dream::NoPattern(sources) => say!("No pattern behind {} reflections.", sources.len()),
        Dream::Found { said, ids, sources } => {
            say!("{BOLD}Pattern{BOLD:#}");
            let pattern = said.reflection.as_deref().unwrap_or_default();
            say!("  {}", plain(pattern));
            if let Some(strategy) = &said.strategy {
                say!("{BOLD}Strategy{BOLD:#}");
                say!("  {}", plain(strategy));
            }
            let (ids, sources) = (ids.join(", "), sources.join(", "));
            say!("{DIM}Remembered as{DIM:#} {NAME}{ids}{NAME:#}{DIM}, from {sources}.{DIM:#}");
        }
    }
    Ok(())
}
