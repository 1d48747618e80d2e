//! `playbook backtest`: what Playbook would have said in past sessions, and was it right?

mod masks;
mod replay;
mod strike;
mod tally;

use anyhow::Context as _;
use clap::ValueEnum as _;

use super::args;
use super::output::{self, DIM, Hinted, grouped, say};
use super::session::NamedSession;
use super::{answer, evidence, gate};
use crate::config;
use crate::queue::bootstrap;
use crate::queue::budget::Usage;
use crate::queue::evidence::SessionEvidence;
use crate::queue::transcripts::{self, PastTranscript};
use replay::{Judge, Replay};
use tally::Tally;

pub(super) fn run(args: &args::BacktestArgs) -> anyhow::Result<()> {
    let session = NamedSession::look(args.on.project.as_deref())?;
    // The replay has copies of the settings, of which an error would name the place.
    config::for_project(&session.paths, &session.project)?;
    session.masker()?;
    let past = sessions(&session, args)?;
    let judge = if args.model {
        Judge::Model
    } else {
        Judge::Rules
    };
    let mut replay = Replay::new(&session, judge).context("could not set up the replay")?;
    if args.model && !agreed(&replay, &past, args)? {
        return Ok(());
    }
    let tally = play(&mut replay, &past)?;
    let list = args.list.and_then(|list| list.to_possible_value());
    match list.filter(|_| !args.on.json) {
        Some(name) => self::list(&tally, name.get_name()),
        None => answer::give(
            args.on.json,
            include_str!("../screens/backtest.txt"),
            tally.json(),
        ),
    }
}

fn play(replay: &mut Replay, past: &[PastTranscript]) -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    let bar = output::bar("replaying {bar:30} {pos}/{len} {elapsed}", past.len());
    for past in past {
        tally.started(past, replay.start(past)?.as_deref());
        for strike in strike::strikes(&past.transcript)? {
            let told = replay.strike(past, &strike)?;
            tally.struck(past, &strike, told.as_deref());
        }
        let surroundings = replay.at(past.ended)?;
        let digest = evidence::read(&surroundings, &past.transcript)?;
        let session = SessionEvidence::of(digest, surroundings.config.evidence.tokens);
        tally.showed(past, &session.facts, session.evidence.tokens);
        tally.masks.read(past, &surroundings.masker()?)?;
        let stops = gate::stops(&surroundings, &past.transcript)?;
        tally.stopped(past, stops, surroundings.config.gate.threshold);
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
fn sessions(
    session: &NamedSession,
    args: &args::BacktestArgs,
) -> anyhow::Result<Vec<PastTranscript>> {
    let Some(folder) = &args.dir else {
        return Ok(transcripts::of_project(&session.paths, &session.project));
    };
    let folder = std::path::absolute(folder)?;
    let past = transcripts::in_folder(&folder);
    if past.is_empty() {
        return Err(Hinted::error(
            format!(
                "could not find transcripts: {}: {}",
                folder.display(),
                if folder.is_dir() {
                    "no `.jsonl` file"
                } else {
                    "no such folder"
                }
            ),
            "give a folder of Claude Code's transcripts, such as one in ~/.claude/projects",
        ));
    }
    Ok(past)
}

/// Says what the model takes, and asks; without a terminal only `--yes` is a yes.
fn agreed(
    replay: &Replay,
    past: &[PastTranscript],
    args: &args::BacktestArgs,
) -> anyhow::Result<bool> {
    let Some(last) = past.last() else {
        return Ok(true);
    };
    let session = replay.at(last.ended)?;
    let context = session.context()?;
    let mut tokens = Vec::new();
    for past in past {
        let digest = evidence::read(&session, &past.transcript)?;
        let shown = SessionEvidence::of(digest, session.config.evidence.tokens);
        tokens.push(shown.evidence.tokens);
    }
    let estimates = bootstrap::estimates(
        &context.surroundings,
        &session.config,
        &session.project,
        &tokens,
    )?;
    let estimate: Usage = estimates.into_iter().sum();
    output::note(&format!(
        "{} sessions with `{}`: at most {} calls and {} tokens",
        past.len(),
        context.surroundings.account.need.backend.word(),
        grouped(estimate.calls),
        grouped(estimate.tokens)
    ));
    let is_agreed = args.yes || (!args.on.json && output::confirm("Ask it?")?.unwrap_or_default());
    if !is_agreed {
        output::note("nothing was sent: say `--yes` to agree to that");
    }
    Ok(is_agreed)
}

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
