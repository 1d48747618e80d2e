//! `playbook backtest`: what Playbook would have said in past sessions, and was it right?

mod gate;
mod masks;
mod replay;
mod strike;
mod tally;

use anyhow::Context as _;

use super::answer;
use super::args::{self, Listed};
use super::output::{self, DIM, Hinted, grouped, say};
use super::session::{Session, existing};
use crate::queue::bootstrap;
use crate::queue::bootstrap_budget;
use crate::queue::evidence::SessionEvidence;
use crate::queue::transcripts::{self, Past};
use replay::{Judge, Replay};
use tally::Tally;

pub(super) fn run(args: &args::Backtest) -> anyhow::Result<()> {
    let session = Session::look(args.on.project.as_deref())?;
    let past = sessions(&session, args)?;
    let judge = if args.model {
        Judge::Configured
    } else {
        Judge::Rules
    };
    let mut replay = Replay::new(&session, judge).context("could not set up the replay")?;
    if judge == Judge::Configured && !agreed(&replay, &past, args)? {
        return Ok(());
    }
    let tally = play(&mut replay, &past)?;
    match args.list {
        None => answer::give(
            args.on.json,
            include_str!("../screens/backtest.txt"),
            tally.json(),
        ),
        Some(_) if args.on.json => output::json(&tally.json()),
        Some(Listed::Hints) => list(&tally, "hints"),
        Some(Listed::Points) => list(&tally, "points"),
        Some(Listed::Waiting) => list(&tally, "waiting"),
        Some(Listed::Starts) => list(&tally, "starts"),
        Some(Listed::Held) => list(&tally, "held"),
        Some(Listed::Masks) => list(&tally, "masks"),
        Some(Listed::Gate) => list(&tally, "gate"),
    }
}

/// Plays the sessions one after the other, each before it is learned from.
fn play(replay: &mut Replay, past: &[Past]) -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    let bar = output::bar("replaying {bar:30} {pos}/{len} {elapsed}", past.len());
    for past in past {
        tally.started(past, replay.start(past)?.as_deref());
        for strike in strike::strikes(&past.transcript)? {
            let told = replay.strike(past, &strike)?;
            tally.struck(past, &strike, told.as_deref());
        }
        let surroundings = replay.at(past.ended)?;
        let session = SessionEvidence::of(replay.read(past)?, surroundings.config.evidence.tokens);
        tally.showed(past, &session.facts, session.evidence.tokens);
        tally.masks.read(past, &surroundings.masker()?)?;
        tally.gate.stopped(
            past,
            replay.stops(past)?,
            surroundings.config.gate.threshold,
        );
        let job = replay.learn(past)?;
        let memory = surroundings.memory()?.context("the replay has no memory")?;
        tally.learned(past, &job, memory.changes_of(&job.id)?);
        let row = memory.job(&job.id)?;
        tally.waits(past, row.map(|row| row.dropped).unwrap_or_default());
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let Some(last) = past.last() {
        let surroundings = replay.at(last.ended)?;
        if let Some(memory) = surroundings.memory()? {
            tally.held_back(memory.quarantine(&surroundings.project_name())?);
        }
    }
    Ok(tally)
}

/// The sessions of the project, or of the folder that the user names, oldest first.
fn sessions(session: &Session, args: &args::Backtest) -> anyhow::Result<Vec<Past>> {
    let Some(folder) = &args.dir else {
        return Ok(transcripts::of_project(&session.paths, &session.project));
    };
    let folder = existing(folder)?;
    let past = transcripts::in_folder(&folder);
    if past.is_empty() {
        return Err(Hinted::error(
            format!(
                "could not find transcripts: {}: no `.jsonl` file",
                folder.display()
            ),
            "give a folder of Claude Code's transcripts, such as one in ~/.claude/projects",
        ));
    }
    Ok(past)
}

/// Says what the model takes, and asks; without a terminal only `--yes` is a yes.
fn agreed(replay: &Replay, past: &[Past], args: &args::Backtest) -> anyhow::Result<bool> {
    let Some(last) = past.last() else {
        return Ok(true);
    };
    let session = replay.at(last.ended)?;
    let context = session.context()?;
    let mut evidence = Vec::new();
    for past in past {
        let shown = SessionEvidence::of(replay.read(past)?, session.config.evidence.tokens);
        evidence.push(shown.evidence.tokens);
    }
    let estimate = bootstrap::estimate(
        &context.surroundings,
        &session.config,
        &session.project,
        &evidence,
    )?;
    output::note(&format!(
        "{} sessions with `{}`: at most {} calls and {} tokens",
        past.len(),
        context.surroundings.account.need.backend.word(),
        grouped(estimate.calls),
        grouped(estimate.tokens)
    ));
    let is_agreed = args.yes || (!args.on.json && output::confirm("Ask it?")?.unwrap_or_default());
    if is_agreed {
        let memory = context.memory();
        bootstrap_budget::agree(&session.paths, &memory, &session.project, estimate)?;
    } else {
        output::note("nothing was sent: say `--yes` to agree to that");
    }
    Ok(is_agreed)
}

/// Shows each item of a list of the tally, its parts one below the other.
fn list(tally: &Tally, what: &str) -> anyhow::Result<()> {
    for item in tally.json()[what].as_array().into_iter().flatten() {
        for (part, value) in item.as_object().into_iter().flatten() {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            say!("{DIM}{part:<8}{DIM:#} {}", output::one_line(&value));
        }
        say!("");
    }
    Ok(())
}
