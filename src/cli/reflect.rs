//! `playbook reflect`: judge a transcript by hand; dry unless `--apply`. Or show the question.

use std::collections::HashSet;
use std::path::Path;

use serde_json::json;

use super::output::{self, Hinted, refuse_if_off, say};
use super::session::{NamedSession, PATIENCE, runtime};
use super::{answer, args, curator};
use crate::backend::BackendName;
use crate::memory::JobOutcome;
use crate::playbook::votes::{BulletTag, votes};
use crate::queue::apply::TaughtSession;
use crate::queue::ask::{self, Asker, BackendParts, SessionQuestion, build};
use crate::queue::claim::{self, Claimed};
use crate::queue::files::{self, SessionEvidence};
use crate::queue::job::{JobEvent, JobId, Ticket};
use crate::queue::outcome::in_words;
use crate::queue::progress::{JobInProgress, Progress};
use crate::queue::shown;
use crate::queue::spool::{self, IdEntropy};
use crate::queue::stages::NOTHING_NEW;
use crate::reflect::gates::refused;
use crate::setup::templates;
use crate::transcript::Digest;
use crate::transcript_file;

pub(super) fn run(session: &NamedSession, args: &args::ReflectArgs) -> anyhow::Result<()> {
    let path = std::path::absolute(&args.transcript)?;
    let path = std::fs::canonicalize(&path).unwrap_or(path);
    if args.apply {
        apply(session, &path, args)
    } else {
        preview(session, &path, args)
    }
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
        // It needs no key to say what would be asked.
        build(BackendName::Rules, parts).map_err(anyhow::Error::msg)?
    } else {
        session.backend(parts, context.as_deref())?
    };
    let memory = session.memory()?;
    let known_notes = match &memory {
        Some(memory) => ask::known_notes(memory, &session.project, &evidence.facts)?,
        None => Vec::new(),
    };
    let shown = shown::by_hand(&session.paths, &session.project, path);
    let votes_on = |tags: &[BulletTag]| votes(tags, &shown, &evidence.facts.citations, &playbook);
    let question = SessionQuestion {
        session: &evidence,
        playbook: &playbook,
        given: &shown::ids(&votes_on(&[])),
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
    let asker = Asker::now(parts, backend.as_ref());
    let answer = asker.reflector(question.prompt(&template));
    let mut reflected = runtime()?.block_on(answer).answered;
    if let Some(cause) = &reflected.cause {
        return Err(Hinted::error(
            format!(
                "could not reflect: {}: {}",
                cause.kind.word(),
                cause.message
            ),
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
    let mut told = json!(reflected.result);
    told["notes"] = json!(checked.notes);
    told["outdated"] = json!(checked.outdated);
    told["dropped"] = json!([&checked.dropped[..], &refused(&taught.proposals)].concat());
    told["applied"] = false.into();
    told["backend"] = json!(account.need.backend);
    told["outcome"] = json!(evidence.facts.outcome);
    told["cited"] = json!(evidence.facts.citations);
    told["evidence_tokens"] = evidence.evidence.tokens.into();
    told["changes"] = json!(applied.changes);
    told["skipped"] = json!(applied.skipped);
    if !args.on.json {
        // A tag for a key point that is not there is told as left out.
        told["known"] = playbook.points().map(|point| point.name).collect();
        let left = reflected.skipped.iter().chain(&applied.skipped);
        told["left"] = json!(left.collect::<Vec<_>>());
        told["is_learned"] = is_learned.into();
    }
    answer::give(args.on.json, include_str!("screens/reflect.txt"), told)
}

/// Reads the part of a transcript that `--apply` would learn from. Where nothing is left it reads
/// all of it, and returns `true`.
fn part(session: &NamedSession, path: &Path) -> anyhow::Result<(Digest, bool)> {
    let whole = |is_learned| Ok((super::evidence::read(session, path)?, is_learned));
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
        let digest = claim::read_again(&job, claim, &context.surroundings, secrecy)?;
        return Ok((digest, false));
    }
    for job in files::all(&spool)? {
        context.claims().add(&job);
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let job = JobInProgress {
        ticket: Ticket {
            id: JobId::new(context.now(), 0),
            session: name.into_owned(),
            transcript: path.to_owned(),
            ..Ticket::new(JobEvent::Reflect, &session.project, context.now())
        },
        edit: None,
        curate: None,
        progress: Progress::default(),
    };
    match claim::claim(&job, &context, secrecy)? {
        Claimed::Part(_, digest) => Ok((*digest, false)),
        Claimed::NothingNew => whole(true),
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
    refuse_if_off(session, "without `--apply` it shows what it would do")?;
    // An unreadable file is told here and now, not as a failed job.
    let end = transcript_file::complete_end(path, 0)?;
    let account = session.account()?;
    let clock = session.env.clock();
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let context = session.context()?;
    let earlier = context.memory().jobs()?;
    let before = curator::Before::of(session, &context)?;
    // Another job of what one holds already would find nothing new.
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
        return Err(Hinted::error(
            format!(
                "job {id} holds this session, and has failed: {}",
                in_words(&why)
            ),
            "`playbook jobs retry ID` tries it again",
        ));
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
    let told = json!({
        "applied": finish.outcome == JobOutcome::Applied,
        "job": id,
        "outcome": finish.outcome.word(),
        "reason": reason,
        "changes": changes.collect::<Vec<_>>(),
        "curator": curator::run_that_came_due(session, &context, &before)?,
    });
    answer::give(args.on.json, include_str!("screens/applied.txt"), told)
}

/// The first job of this transcript in a folder that covers all of it, up to `end`.
fn holder(folder: &Path, transcript: &Path, end: u64) -> anyhow::Result<Option<JobInProgress>> {
    let jobs = spool::list(folder)?.into_iter();
    let mut jobs = jobs.filter_map(|id| files::read(folder, &id).ok());
    Ok(jobs.find(|job| {
        let covers = match &job.progress.claim {
            Some(claim) => claim.end >= end,
            // Another one's may yet be skipped for too little.
            None => job.ticket.event == JobEvent::Reflect,
        };
        job.ticket.transcript == transcript && covers
    }))
}
