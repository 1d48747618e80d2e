//! `playbook demo`: a session teaches the next one, through the real hooks and worker.
//!
//! Everything happens in a temporary folder with a cleared environment, so it works
//! offline, inside a session of the client, and whatever the user has set.

use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::args;
use super::output::{self, BAD, BOLD, DIM, GOOD, NAME, plain, say};
use super::stage::{Hooks, Stage};
use crate::playbook::{Playbook, Point};

const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn run(args: &args::AsJson) -> anyhow::Result<()> {
    let stage = Stage::set(Hooks::Ours).context("could not set up the demo")?;
    let given_before = stage.start("first")?;
    let before = stage.learned()?;
    stage.end("first")?;
    stage.wait(PATIENCE)?;
    let after = stage.learned()?;
    let given_after = stage.start("second")?;
    let learned = after.points().find(|now| before.named(now.name).is_none());
    let learned = learned.context("the session taught nothing")?.name;
    if args.json {
        let story = stage.playbook(&["log", learned, "--json"])?;
        let story: Value = serde_json::from_str(&story)?;
        return output::json(&json!({
            "before": points(&before),
            "after": points(&after),
            "given_before": given_before,
            "given_after": given_after,
            "story": story,
        }));
    }
    tell(&before, &after)?;
    tell_story(learned, &stage.playbook(&["log", learned])?)?;
    tell_next(&given_after)
}

fn tell(before: &Playbook, after: &Playbook) -> anyhow::Result<()> {
    say!(
        "{BOLD}A session has ended.{BOLD:#} Its hook wrote a job and was gone; the worker judged it by rules,"
    );
    say!("without a network. What it learned, before and after:");
    say!("");
    for now in after.points() {
        let was = before.named(now.name);
        let (was_text, changed) = match &was {
            Some(was) => (votes(was), votes(was) != votes(&now)),
            None => ("new".to_owned(), true),
        };
        let colour = match &was {
            Some(was) if now.harmful > was.harmful => BAD,
            _ if changed => GOOD,
            _ => DIM,
        };
        let (name, votes, text) = (now.name, votes(&now), plain(now.text));
        let votes = format!("{was_text:<21} -> {colour}{votes:<21}{colour:#}");
        say!("  {NAME}{name:<9}{NAME:#} {votes}  {text}");
    }
    say!("");
    Ok(())
}

fn tell_story(learned: &str, story: &str) -> anyhow::Result<()> {
    say!("{BOLD}Where it comes from:{BOLD:#} {DIM}playbook log {learned}{DIM:#}");
    quote(story)
}

fn tell_next(given: &str) -> anyhow::Result<()> {
    say!("{BOLD}The next session is given:{BOLD:#}");
    quote(given)?;
    say!("{DIM}Nothing of yours was read or changed.{DIM:#}");
    Ok(())
}

fn quote(text: &str) -> anyhow::Result<()> {
    say!("");
    for line in text.lines() {
        say!("  {DIM}|{DIM:#} {line}");
    }
    say!("");
    Ok(())
}

fn votes(point: &Point<'_>) -> String {
    format!("helpful={} harmful={}", point.helpful, point.harmful)
}

fn points(playbook: &Playbook) -> Vec<Value> {
    let points = playbook.points().map(
        |p| json!({"name": p.name, "text": p.text, "helpful": p.helpful, "harmful": p.harmful}),
    );
    points.collect()
}
