//! `playbook reflect` judges a transcript by hand, dry unless `--apply`, or prints the prompt.
//! `playbook evidence` shows the part of a session that would be sent, and what was left out.
//! `playbook dream` runs the curator.

use std::collections::HashSet;
use std::sync::Arc;

use super::output::{NO_MODEL, refuse_if_off};
use super::prelude::*;
use super::session::PATIENCE;
use crate::backend::BackendName;
use crate::playbook::votes::{BulletTag, votes};
use crate::queue::apply::TaughtSession;
use crate::queue::ask::{self, Asker, BackendParts, SessionQuestion, build};
use crate::queue::claim::{self, lane_of};
use crate::queue::context::Worker;
use crate::queue::curate::{self, CuratorWish};
use crate::queue::job::{JobEvent, JobId, Ticket};
use crate::queue::outcome::in_words;
use crate::queue::progress::{self, Job, SessionEvidence};
use crate::queue::spool::{self, IdEntropy};
use crate::queue::stages::NOTHING_NEW;
use crate::queue::transcripts;
use crate::reflect::curator::NoteState;
use crate::reflect::gates::refused;
use crate::setup::templates;
use crate::transcript::{Digest, Range, ReadOptions};
use crate::transcript_file;

pub(super) fn run(session: &NamedSession, args: &args::ReflectArgs) -> anyhow::Result<()> {
    let path = std::path::absolute(&args.transcript)?;
    let path = std::fs::canonicalize(&path).unwrap_or(path);
    let judge = if args.apply { apply } else { preview };
    judge(session, &path, args)
}

fn preview(session: &NamedSession, path: &Path, args: &args::ReflectArgs) -> anyhow::Result<()> {
    let playbook = ask::known_points(&session.paths, &session.project, &session.config)?;
    let (digest, is_learned) = part(session, path)?;
    let evidence = SessionEvidence::of(digest, session.config.evidence.tokens);
    let account = session.account()?;
    let parts = BackendParts {
        paths: &session.paths,
        account: &account,
        config: &session.config,
        facts: &evidence.facts,
    };
    let context = session.context_for(&account)?;
    let backend = if args.print_prompt {
        // Printing the prompt needs no key.
        build(BackendName::Rules, parts).map_err(anyhow::Error::msg)?
    } else {
        session.backend(parts, context.as_deref())?
    };
    let memory = session.memory()?;
    let known_notes = match &memory {
        Some(memory) => ask::known_notes(memory, &session.project, &evidence.facts)?,
        None => Vec::new(),
    };
    let shown = transcripts::shown_by_hand(&session.paths, &session.project, path);
    let votes_on = |tags: &[BulletTag]| votes(tags, &shown, &evidence.facts.citations, &playbook);
    let question = SessionQuestion {
        session: &evidence,
        playbook: &playbook,
        given: &transcripts::ids(&votes_on(&[])),
        known_notes: &known_notes,
        config: &session.config,
    };
    let template = match &args.template {
        Some(file) => tried(file, account.need.backend)?,
        None => ask::reflector_template(&session.paths)?,
    };
    if args.print_prompt {
        let prompt = question.prompt(&template);
        say!("{}\n\n{}", prompt.system, prompt.text);
        return Ok(());
    }
    if !account.need.backend.is_offline() {
        refuse_if_off(session, NO_MODEL)?;
    }
    let asker = Asker::now(parts, backend.as_ref());
    let answer = asker.reflector(question.prompt(&template));
    let mut reflected = runtime()?.block_on(answer).answered;
    if let Some(cause) = &reflected.cause {
        let (kind, message) = (cause.kind.word(), &cause.message);
        return Err(Hinted::error(
            format!("could not reflect: {kind}: {message}"),
            "nothing was changed; try again, or set `backend = \"rules\"` to need no network",
        ));
    }
    let checked = evidence.check(&mut reflected.result);
    let mut after = playbook.clone();
    if let Some(memory) = &memory {
        after.never_below(&memory.highest_numbers(&session.project_name())?);
    }
    let taught = TaughtSession {
        facts: &evidence.facts,
        votes: votes_on(&reflected.result.bullet_tags),
        is_by_rules: account.need.backend == BackendName::Rules,
    };
    let now = session.env.clock().now();
    let taught = taught.teach(&mut after, &HashSet::new(), &session.config, (now, now));
    let mut applied = taught.applied;
    if is_learned {
        applied.changes.clear();
    }
    let mut answer = json!(reflected.result);
    answer["notes"] = json!(checked.notes);
    answer["outdated"] = json!(checked.outdated);
    answer["dropped"] = json!([&checked.dropped[..], &refused(&taught.proposals)].concat());
    answer["applied"] = false.into();
    answer["backend"] = json!(account.need.backend);
    answer["outcome"] = json!(evidence.facts.outcome);
    answer["cited"] = json!(evidence.facts.citations);
    answer["evidence_tokens"] = evidence.evidence.tokens.into();
    answer["changes"] = json!(applied.changes);
    answer["skipped"] = json!(applied.skipped);
    if !args.on.json {
        // A tag for an unknown key point is shown as left out.
        answer["known"] = playbook.points().map(|point| point.name).collect();
        let left = reflected.skipped.iter().chain(&applied.skipped);
        answer["left"] = json!(left.collect::<Vec<_>>());
        answer["is_learned"] = is_learned.into();
    }
    answer::give(args.on.json, include_str!("screens/reflect.txt"), answer)
}

/// Reads what `--apply` would learn from; if nothing is left, reads all of it and returns `true`.
fn part(session: &NamedSession, path: &Path) -> anyhow::Result<(Digest, bool)> {
    let whole = |is_learned| Ok((read(session, path)?, is_learned));
    if session.memory()?.is_none() {
        return whole(false);
    }
    let context = session.context()?;
    let secrecy = session.config.secrets.secrecy()?;
    let spool = session.paths.spool();
    let end = transcript_file::complete_end(path, 0)?;
    if let Some(job) = holder(&spool, path, end)?
        && let Some(claim) = &job.progress.claim
    {
        let digest = claim::read_again(&job, claim, &context, secrecy)?;
        return Ok((digest, false));
    }
    for job in progress::all(&spool)? {
        context.claims().add(&job);
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let job = Job::new(Ticket {
        id: JobId::new(context.now(), 0),
        session: name.into_owned(),
        transcript: path.to_owned(),
        ..Ticket::new(JobEvent::Reflect, &session.project, context.now())
    });
    match claim::claim(&job, &context, secrecy)? {
        Some((_, digest)) => Ok((digest, false)),
        None => whole(true),
    }
}

fn tried(file: &Path, backend: BackendName) -> anyhow::Result<String> {
    let template = ask::template_in(file)?;
    if let Some(flaw) = templates::REFLECTOR.flaw(&template) {
        return Err(Hinted::error(
            format!("could not use template: {}: {flaw}", file.display()),
            "docs/templates.md says what a reflector's template may hold",
        ));
    }
    if backend.is_offline() {
        output::note(&format!("`{}` reads no template", backend.word()));
    }
    Ok(template)
}

fn apply(session: &NamedSession, path: &Path, args: &args::ReflectArgs) -> anyhow::Result<()> {
    refuse_if_off(session, NO_MODEL)?;
    // An unreadable file is reported immediately, not as a failed job.
    let end = transcript_file::complete_end(path, 0)?;
    let account = session.account()?;
    let clock = session.env.clock();
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let context = session.context()?;
    let earlier = context.memory().jobs()?;
    let before = Before::of(session, &context)?;
    // If a job has the transcript already, another would find nothing new.
    let id = if let Some(job) = holder(&session.paths.spool(), path, end)? {
        job.ticket.id
    } else {
        let entropy = IdEntropy::of(clock, || format!("reflect\n{name}\n{earlier}"));
        let ticket = Ticket {
            session: name.into_owned(),
            transcript: path.to_owned(),
            need: Some(account.need),
            ..Ticket::new(JobEvent::Reflect, &session.project, clock.now())
        };
        spool::put(&session.paths, &entropy, ticket)?
    };
    let Some(finish) = NamedSession::see_through(&context, &id, PATIENCE)? else {
        return Err(session.waits(&id));
    };
    let is_skipped = finish.outcome == JobOutcome::Skipped;
    if is_skipped && let Some(job) = holder(&session.paths.spool(), path, end)? {
        return Err(session.waits(&job.ticket.id));
    }
    if is_skipped && let Some(job) = holder(&session.paths.failed(), path, end)? {
        let (id, why) = (job.ticket.id, job.progress.failed.unwrap_or_default());
        let why = in_words(&why);
        let what = format!("job {id} holds this session, and has failed: {why}");
        let hint = "`playbook jobs retry ID` tries it again";
        return Err(Hinted::error(what, hint));
    }
    let memory = crate::memory::Memory::open(&session.paths.memory_db())?;
    let changes = memory.changes_of(id.as_str())?;
    if let (JobOutcome::Failed | JobOutcome::Dropped, false) = (finish.outcome, args.on.json) {
        return Err(Hinted::error(
            format!("job {id} failed: {}", in_words(&finish.reason)),
            "it is kept in `failed/`; `playbook jobs` lists it",
        ));
    }
    let changes = changes
        .iter()
        .map(|e| json!({"kind": e.change.kind, "point": e.change.id, "reason": e.change.reason}));
    let reason = match finish.reason.as_str() {
        NOTHING_NEW if !args.on.json => "all of this session was learned from before",
        reason => reason,
    };
    let answer = json!({
        "applied": finish.outcome == JobOutcome::Applied,
        "job": id,
        "outcome": finish.outcome.word(),
        "reason": reason,
        "changes": changes.collect::<Vec<_>>(),
        "curator": run_that_came_due(session, &context, &before)?,
    });
    answer::give(args.on.json, include_str!("screens/applied.txt"), answer)
}

/// The first job of this transcript in a folder that covers all of it, up to `end`.
fn holder(folder: &Path, transcript: &Path, end: u64) -> anyhow::Result<Option<Job>> {
    let jobs = spool::list(folder)?.into_iter();
    let mut jobs = jobs.filter_map(|id| progress::read(folder, &id).ok());
    Ok(jobs.find(|job| {
        let covers = match &job.progress.claim {
            Some(claim) => claim.end >= end,
            // An automatic job may still be skipped for too little content.
            None => job.ticket.event == JobEvent::Reflect,
        };
        job.ticket.transcript == transcript && covers
    }))
}

pub(super) fn evidence(session: &NamedSession, args: &args::EvidenceArgs) -> anyhow::Result<()> {
    let path = std::path::absolute(&args.transcript)?;
    let budget = args.budget.unwrap_or(session.config.evidence.tokens);
    let shown = SessionEvidence::of(read(session, &path)?, budget);
    let answer = if args.json {
        json!(shown)
    } else {
        // Of a long session the other facts are megabytes.
        json!({
            "facts": {"events": shown.facts.events},
            "evidence": shown.evidence,
            "budget": budget,
            "sign": shown.facts.sign(),
        })
    };
    answer::give(args.json, include_str!("screens/evidence.txt"), answer)
}

fn read(session: &NamedSession, path: &Path) -> anyhow::Result<Digest> {
    let end = transcript_file::complete_end(path, 0)?;
    let options = options(session, path)?;
    let (range, is_copy) = (Range { start: 0, end }, &mut |_, _| false);
    Ok(transcript_file::scan(path, range, &options, is_copy)?)
}

pub(super) fn options(session: &NamedSession, path: &Path) -> anyhow::Result<ReadOptions> {
    let home = session.paths.home().and_then(Path::to_str);
    Ok(ReadOptions {
        lane: lane_of(JobEvent::Reflect, path),
        home: home.map(str::to_owned),
        secrecy: session.config.secrets.secrecy()?,
        ..ReadOptions::default()
    })
}

pub(super) fn curate(
    session: &NamedSession,
    wish: CuratorWish,
    as_json: bool,
) -> anyhow::Result<()> {
    refuse_if_off(session, NO_MODEL)?;
    let context = session.context()?;
    let before = Before::of(session, &context)?;
    let need = context.account.need.clone();
    // There may be nothing to look at, or no model.
    let id = curate::enqueue(&context, &session.project, (need, Some(wish)), None)?;
    let run = id.map(|id| see_through(session, &context, &id, &before));
    let screen = include_str!("screens/curator.txt");
    answer::give(as_json, screen, json!({"curator": run.transpose()?}))
}

struct Before {
    last: Option<String>,
    settled: u64,
}

impl Before {
    fn of(session: &NamedSession, context: &Worker) -> anyhow::Result<Self> {
        let (memory, project) = (context.memory(), session.project_name());
        Ok(Self {
            last: memory.last_curator_job(&project)?,
            settled: memory.notes_in(&project, NoteState::Settled)?,
        })
    }
}

fn run_that_came_due(
    session: &NamedSession,
    context: &Arc<Worker>,
    before: &Before,
) -> anyhow::Result<Option<Value>> {
    if let Some(id) = curate::waiting_run(&session.paths, &session.project)? {
        return see_through(session, context, &id, before).map(Some);
    }
    // A running worker may have completed it already.
    let last = context.memory().last_curator_job(&session.project_name())?;
    let last = last.filter(|last| Some(last) != before.last.as_ref());
    let last = last.and_then(|id| JobId::parse(&id));
    last.map(|id| see_through(session, context, &id, before))
        .transpose()
}

fn see_through(
    session: &NamedSession,
    context: &Arc<Worker>,
    id: &JobId,
    before: &Before,
) -> anyhow::Result<Value> {
    let Some(done) = NamedSession::see_through(context, id, PATIENCE)? else {
        return Ok(json!({"job": id, "outcome": "waiting"}));
    };
    let (memory, project) = (context.memory(), session.project_name());
    let changes = memory.changes_of(id.as_str())?;
    let changes = changes.iter().map(|entry| {
        let change = &entry.change;
        json!({"kind": change.kind, "point": change.id, "reason": change.reason})
    });
    let held = memory.quarantine(&project)?;
    let held = held.iter().filter(|row| row.held.job == id.as_str());
    let row = memory.job(id.as_str())?;
    let settled = memory.notes_in(&project, NoteState::Settled)?;
    Ok(json!({
        "job": id,
        "outcome": done.outcome.word(),
        "reason": done.reason,
        "changes": changes.collect::<Vec<_>>(),
        "refused": row.map(|row| row.dropped).unwrap_or_default(),
        "held": held.count(),
        "settled": settled.saturating_sub(before.settled),
    }))
}
