//! `playbook dedup`: key points that say the same.

use serde_json::{Value, json};

use super::session::NamedSession;
use super::{answer, args, edit_commands};
use crate::playbook::PointChange;
use crate::playbook::dedup::{DedupScope, Threshold, dedup};
use crate::queue::edit::PlaybookEdit;

pub(super) fn run(session: &NamedSession, args: &args::DedupArgs) -> anyhow::Result<()> {
    let context = session.context()?;
    let setting = session.config.playbook.dedup_threshold;
    let threshold = args
        .threshold
        .or(context.surroundings.dedup_threshold)
        .unwrap_or(setting)
        .clamp(0.0, 1.0);
    let before = session.masked_playbook()?;
    let changes = dedup(
        &mut before.clone(),
        Threshold::new(threshold),
        DedupScope::All,
        context.now(),
    );
    let groups = groups(&changes);
    if args.apply && !groups.is_empty() {
        return edit_commands::run(&args.on, &PlaybookEdit::Dedup { threshold });
    }
    let mut told = json!({"applied": false, "threshold": threshold, "groups": groups});
    if !args.on.json {
        let texts = before.points().map(|p| (p.name.to_owned(), json!(p.text)));
        told["texts"] = texts.collect();
    }
    answer::give(args.on.json, include_str!("screens/dedup.txt"), told)
}

/// What would be joined, each group by the point that stays.
fn groups(changes: &[PointChange]) -> Vec<Value> {
    let mut groups: Vec<Value> = Vec::new();
    for change in changes {
        let Some(survivor) = &change.into else {
            continue;
        };
        let last = groups.last_mut();
        let last = last.filter(|group| group["survivor"] == **survivor);
        match last.and_then(|group| group["joins"].as_array_mut()) {
            Some(joins) => joins.push(json!(change.id)),
            None => groups.push(json!({"survivor": survivor, "joins": [change.id]})),
        }
    }
    groups
}
