//! `playbook dedup`: key points that say the same.

use serde::Serialize;
use serde_json::json;

use super::args;
use super::hand;
use super::output::{self, DIM, NAME, plain, say};
use super::session::Session;
use crate::playbook::dedup::{Scope, Threshold, dedup};
use crate::playbook::{Change, Playbook};
use crate::queue::edit::Edit;

pub(super) fn run(session: &Session, args: &args::Dedup) -> anyhow::Result<()> {
    let shop = session.shop()?;
    let setting = session.config.playbook.dedup_threshold;
    let threshold = args
        .threshold
        .or(shop.dedup_threshold)
        .unwrap_or(setting)
        .clamp(0.0, 1.0);
    let before = session.masked_playbook()?;
    let changes = dedup(
        &mut before.clone(),
        Threshold::new(threshold),
        Scope::All,
        shop.now(),
    );
    let groups = groups(&changes);
    if args.apply && !groups.is_empty() {
        return hand::run(&args.on, &Edit::Dedup { threshold });
    }
    if args.on.json {
        return output::json(&json!({"applied": false, "threshold": threshold, "groups": groups}));
    }
    if groups.is_empty() {
        say!("No two key points say the same.");
        return Ok(());
    }
    for group in &groups {
        line(&before, group.survivor, "")?;
        for name in &group.joins {
            line(&before, name, "  ")?;
        }
    }
    say!("{DIM}Nothing was changed; `--apply` joins each group into its first.{DIM:#}");
    Ok(())
}

#[derive(Serialize)]
struct Group<'a> {
    survivor: &'a str,
    joins: Vec<&'a str>,
}

fn groups(changes: &[Change]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for change in changes {
        let Some(survivor) = change.into.as_deref() else {
            continue;
        };
        match groups.last_mut().filter(|g| g.survivor == survivor) {
            Some(group) => group.joins.push(&change.id),
            None => groups.push(Group {
                survivor,
                joins: vec![&change.id],
            }),
        }
    }
    groups
}

fn line(playbook: &Playbook, name: &str, indent: &str) -> anyhow::Result<()> {
    let text = playbook.named(name).map_or("", |point| point.text);
    say!("{indent}{NAME}{:<9}{NAME:#} {}", plain(name), plain(text));
    Ok(())
}
