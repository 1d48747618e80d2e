//! `playbook dedup`: key points that say the same.

use serde::Serialize;
use serde_json::json;

use super::session::Session;
use super::{answer, args, edit_commands};
use crate::playbook::Change;
use crate::playbook::dedup::{DedupScope, Threshold, dedup};
use crate::queue::edit::Edit;

pub(super) fn run(session: &Session, args: &args::Dedup) -> anyhow::Result<()> {
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
        return edit_commands::run(&args.on, &Edit::Dedup { threshold });
    }
    let mut told = json!({"applied": false, "threshold": threshold, "groups": groups});
    if !args.on.json {
        let texts = before.points().map(|p| (p.name.to_owned(), json!(p.text)));
        told["texts"] = texts.collect();
    }
    answer::give(args.on.json, include_str!("screens/dedup.txt"), told)
}

#[derive(Serialize)]
struct DuplicateGroup<'a> {
    survivor: &'a str,
    joins: Vec<&'a str>,
}

fn groups(changes: &[Change]) -> Vec<DuplicateGroup<'_>> {
    let mut groups: Vec<DuplicateGroup<'_>> = Vec::new();
    for change in changes {
        let Some(survivor) = change.into.as_deref() else {
            continue;
        };
        match groups.last_mut().filter(|g| g.survivor == survivor) {
            Some(group) => group.joins.push(&change.id),
            None => groups.push(DuplicateGroup {
                survivor,
                joins: vec![&change.id],
            }),
        }
    }
    groups
}
