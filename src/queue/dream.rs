//! Dreams: asks for the pattern behind what a project learned lately, and remembers it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use jiff::SignedDuration;
use tokio::task::block_in_place;

use super::ask::Question;
use super::backends::{Parts, build};
use super::budget::Day;
use super::context::WorkerContext;
use super::evidence::SessionEvidence;
use super::usage_meter::{Caller, Meter};
use super::{hint_index, screening};
use crate::backend::Name;
use crate::config::{Config, MemoryMode};
use crate::fsx;
use crate::hint::MemoryKind;
use crate::memory::RecallQuery;
use crate::playbook::Playbook;
use crate::reflect::dream::{self, FEWEST, TEMPLATE, is_source};
use crate::reflect::known::Known;
use crate::reflect::learned::{Learned, Source};
use crate::reflect::remembered::Remembered;
use crate::reflect::reply::Reflection;
use crate::reflect::tellable::tellable;

/// How many reflections are looked at where nobody says.
pub(crate) const SOURCES: u64 = 12;
/// How far back they go.
const RECENT: SignedDuration = SignedDuration::from_hours(30 * 24);
/// More are looked through for those that are no dreams themselves.
const LOOKED_THROUGH: u64 = 4;
const MAX_MARK: u64 = 100;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DreamReport {
    /// There is too little to find a pattern in; so many reflections.
    TooLittle(usize),
    NoPattern(Vec<String>),
    Found {
        said: Box<Reflection>,
        ids: Vec<String>,
        sources: Vec<String>,
    },
}

/// Dreams about a project; the error is a sentence for the user.
pub(crate) async fn dream(
    context: &WorkerContext,
    caller: Caller,
    sources: u64,
) -> Result<DreamReport, String> {
    let config = block_in_place(|| context.surroundings.config_for(&caller.project))
        .map_err(|e| e.to_string())?;
    let project = caller.project.to_string_lossy().into_owned();
    let found = block_in_place(|| recent(context, &project, sources))?;
    if found.len() < FEWEST {
        return Ok(DreamReport::TooLittle(found.len()));
    }
    let secrecy = config.secrets.secrecy().map_err(|e| e.to_string())?;
    let trace = dream::trace(&found);
    let digest = trace.session(context.paths().home(), secrecy);
    let digest = digest.map_err(|e| e.to_string())?;
    let evidence = SessionEvidence::of(digest, config.evidence.tokens);
    let source = Source {
        project,
        session: String::new(),
        root: String::new(),
        job: caller.id.clone(),
        time: context.now(),
    };
    let folder = caller.project.clone();
    let mut said = ask(context, caller, &evidence, &config).await?;
    let sources = found.iter().map(|memory| memory.id.clone()).collect();
    let Some(new) = dream::learned(&said, &found, &evidence.facts) else {
        return Ok(DreamReport::NoPattern(sources));
    };
    block_in_place(|| {
        let (learned, refused) = tellable(vec![Learned::Reflection(new)]);
        for reason in &refused {
            context.log(&source.job, &format!("not remembered: {}", reason.why));
        }
        if !refused.is_empty() {
            // What is in quarantine is shown there alone.
            said.strategy = None;
            let held = screening::held_memories(&source.job, &refused);
            screening::hold_back(context, &folder, &held).map_err(|e| e.to_string())?;
        }
        let ids = context.memory().learn(&source, &learned);
        let ids = ids.map_err(|e| e.to_string())?;
        hint_index::refresh(context, &folder);
        Ok(DreamReport::Found {
            said: Box::new(said),
            ids,
            sources,
        })
    })
}

/// The most important reflections of late, the oldest first.
fn recent(context: &WorkerContext, project: &str, count: u64) -> Result<Vec<Remembered>, String> {
    let now = context.now();
    let query = RecallQuery {
        kinds: vec![MemoryKind::Reflection],
        project: Some(project.to_owned()),
        since: now.checked_sub(RECENT).ok(),
        ..RecallQuery::best(count.saturating_mul(LOOKED_THROUGH))
    };
    let mut found = context
        .memory()
        .recall(&query, now)
        .map_err(|e| e.to_string())?;
    found.retain(is_source);
    found.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    found.sort_by_key(|memory| memory.last_seen);
    Ok(found)
}

async fn ask(
    context: &WorkerContext,
    caller: Caller,
    evidence: &SessionEvidence,
    config: &Config,
) -> Result<Reflection, String> {
    let need = &context.surroundings.account.need;
    if need.backend == Name::Rules {
        // A pattern must be understood; the rules find none.
        return Ok(Reflection::default());
    }
    let playbook = Playbook::empty();
    let parts = Parts {
        paths: context.paths(),
        account: &context.surroundings.account,
        config,
        session: evidence,
        playbook: &playbook,
    };
    let meter = Meter::new(build(need.backend, parts)?, context, caller);
    let question = Question {
        session: evidence,
        playbook: &playbook,
        stale: "",
        backend: &meter,
        need,
        config,
        deadline: config.budgets.time_ms.deadline(Instant::now()),
        known: &Known::default(),
    };
    let answered = question.reflector(TEMPLATE).await.answered;
    let (_, hold) = meter.read();
    match (answered.cause, hold) {
        (None, _) => Ok(answered.result),
        (Some(_), Some(hold)) => Err(hold.to_string()),
        (Some(cause), None) => Err(format!("{}: {}", cause.kind.word(), cause.message)),
    }
}

/// Dreams about each of these projects that wants it and has not dreamt today.
pub(super) async fn of_the_day(context: &WorkerContext, projects: &[PathBuf]) {
    for project in projects {
        if !block_in_place(|| is_due(context, project)) {
            continue;
        }
        let caller = Caller::of_worker(project, context.now());
        let id = caller.id.clone();
        match dream(context, caller, SOURCES).await {
            Ok(DreamReport::Found { ids, sources, .. }) => {
                let line = format!("dreamt {} of {} reflections", ids.join(", "), sources.len());
                context.log(&id, &line);
            }
            Ok(DreamReport::NoPattern(_)) => context.log(&id, "dreamt: no pattern"),
            Ok(DreamReport::TooLittle(_)) => {}
            Err(reason) => context.log(&id, &format!("did not dream: {reason}")),
        }
    }
}

/// Tells whether a project wants a dream today, and notes that it has had it: whatever
/// comes of it, there is one a day.
fn is_due(context: &WorkerContext, project: &Path) -> bool {
    let Ok(config) = context.surroundings.config_for(project) else {
        return false;
    };
    let is_parked = || {
        let account = context.surroundings.account.need.account();
        context.backoff().parked(&account, context.now()).is_some()
    };
    if config.memory.mode != MemoryMode::Full || !config.reflection.enabled || is_parked() {
        return false;
    }
    let today = Day::of(context.now()).start.to_string();
    let mark = context.paths().project(project).join("dreamt");
    let last = fsx::read_if_there(&mark, MAX_MARK).unwrap_or_default();
    if last.is_some_and(|last| last == today.as_bytes()) {
        return false;
    }
    let noted = fsx::ensure_dir(&context.paths().project(project))
        .and_then(|()| fsx::quick(&mark, today.as_bytes()));
    match noted {
        Ok(()) => true,
        Err(error) => {
            context.log("worker", &error.to_string());
            false
        }
    }
}
