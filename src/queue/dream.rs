//! Dreams: asks for what is behind the things that a project learned lately. A pattern is
//! remembered; the rule behind several lessons becomes a key point.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tokio::task::block_in_place;

use super::ask::{Question, known_points, parts};
use super::backends::build;
use super::budget::Day;
use super::context::WorkerContext;
use super::edit::{NOBODY, PlaybookEdit};
use super::evidence::SessionEvidence;
use super::job::{JobEvent, JobId, Ticket};
use super::progress::{JobInProgress, Progress};
use super::recurrence::is_in;
use super::spool::{self, IdEntropy};
use super::usage_meter::{Caller, Meter};
use super::{hint_index, known, screening};
use crate::backend::BackendName;
use crate::config::{Config, MemoryMode};
use crate::fsx;
use crate::hint::MemoryKind;
use crate::memory::{MemoryError, RecallQuery};
use crate::playbook::Playbook;
use crate::playbook::ops::Operation;
use crate::reflect::dream::{self, Dreamt, FEWEST, JOINED, TEMPLATE, is_source, joined};
use crate::reflect::known::{KnownLesson, KnownLessons, unsaid};
use crate::reflect::learned::{Learned, LearnedFrom};
use crate::reflect::remembered::Remembered;
use crate::reflect::reply::Reflection;
use crate::reflect::tellable::tellable;

/// How many reflections are looked at where nobody says.
pub(crate) const SOURCES: u64 = 12;
const RECENT: SignedDuration = SignedDuration::from_hours(30 * 24);
/// So many new lessons make a dream due.
const NEW_LESSONS: u64 = 5;
const LESSONS: usize = 20;
/// More are looked through for those that are no dreams themselves.
const LOOKED_THROUGH: u64 = 4;
const MAX_MARK: u64 = 100;

/// A rule behind several lessons, which becomes a key point.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DreamRule {
    pub(crate) text: String,
    pub(crate) lessons: Vec<String>,
    /// The job that writes it, in the spool.
    pub(crate) job: JobId,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DreamReport {
    /// There is too little to find anything in; so many reflections and lessons.
    TooLittle(usize),
    Dreamt(Box<Dream>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dream {
    pub(crate) said: Reflection,
    /// What was remembered; empty where there is no pattern.
    pub(crate) ids: Vec<String>,
    /// The reflections and lessons that were looked at.
    pub(crate) sources: Vec<String>,
    pub(crate) rule: Option<DreamRule>,
}

/// Dreams about a project; the error is a sentence for the user.
pub(crate) async fn dream(
    context: &WorkerContext,
    caller: Caller,
    sources: u64,
) -> anyhow::Result<DreamReport> {
    let folder = caller.project.clone();
    let project = folder.to_string_lossy().into_owned();
    let (config, found, playbook, lessons) = block_in_place(|| {
        let config = context.surroundings.config_for(&folder)?;
        let found = recent(context, &project, sources)?;
        let playbook = known_points(context.paths(), &folder, &config)?;
        let lessons = known::best(&context.memory(), &folder, context.now())?;
        let lessons = unsaid(lessons, &playbook, LESSONS);
        Ok::<_, anyhow::Error>((config, found, playbook, lessons))
    })?;
    if found.len() + lessons.len() < FEWEST {
        return Ok(DreamReport::TooLittle(found.len() + lessons.len()));
    }
    let secrecy = config.secrets.secrecy()?;
    let masker = secrecy.masker.clone();
    let trace = dream::trace(&found, &lessons);
    let digest = trace.session(context.paths().home(), secrecy)?;
    let evidence = SessionEvidence::of(digest, config.evidence.tokens);
    let source = LearnedFrom {
        project,
        session: String::new(),
        root: String::new(),
        job: caller.id.clone(),
        time: context.now(),
    };
    let Dreamt { mut said, rule } = ask(context, caller, &evidence, &config).await?;
    // A lesson has a ground, which the tale of a session need not have.
    let texts: Vec<&str> = lessons.iter().map(|l| l.text.as_str()).collect();
    said.strategy = said.strategy.filter(|text| {
        let rests = dream::says_no_more(text, &texts);
        let tell = |why: &String| context.log(&source.job, &format!("no strategy: {why}"));
        rests.inspect_err(tell).is_ok()
    });
    let ids = found.iter().map(|memory| memory.id.clone());
    let sources: Vec<String> = ids.chain(lessons.iter().map(|l| l.id.clone())).collect();
    let rule = rule.and_then(|rule| {
        let written = block_in_place(|| {
            let (ids, edit) = join(context, &folder, &rule, &lessons, &playbook)?;
            put(context, &folder, ids, &edit.masked(&masker))
        });
        let tell = |why: &anyhow::Error| context.log(&source.job, &format!("no rule: {why}"));
        written.inspect_err(tell).ok()
    });
    let mut ids = Vec::new();
    if let Some(new) = dream::learned(&said, &sources, &evidence.facts) {
        block_in_place(|| {
            let (learned, refused) = tellable(vec![Learned::Reflection(new)]);
            for reason in &refused {
                context.log(&source.job, &format!("not remembered: {}", reason.why));
            }
            if !refused.is_empty() {
                // What is in quarantine is shown there alone.
                said.strategy = None;
                let held = screening::held_memories(&source.job, &refused);
                screening::hold_back(context, &folder, &held)?;
            }
            ids = context.memory().learn(&source, &learned)?;
            hint_index::refresh(context, &folder);
            Ok::<_, anyhow::Error>(())
        })?;
    }
    Ok(DreamReport::Dreamt(Box::new(Dream {
        said,
        ids,
        sources,
        rule,
    })))
}

/// The most important reflections of late, the oldest first.
fn recent(
    context: &WorkerContext,
    project: &str,
    count: u64,
) -> Result<Vec<Remembered>, MemoryError> {
    let now = context.now();
    let query = RecallQuery {
        kinds: vec![MemoryKind::Reflection],
        project: Some(project.to_owned()),
        since: now.checked_sub(RECENT).ok(),
        ..RecallQuery::best(count.saturating_mul(LOOKED_THROUGH))
    };
    let mut found = context.memory().recall(&query, now)?;
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
) -> anyhow::Result<Dreamt> {
    let account = &context.surroundings.account;
    if account.need.backend == BackendName::Rules {
        // A pattern must be understood; the rules find none.
        return Ok(Dreamt::default());
    }
    let playbook = Playbook::empty();
    let parts = parts(context, evidence, &playbook, config);
    let backend = build(account.need.backend, parts).map_err(anyhow::Error::msg)?;
    let meter = Meter::new(backend, context, caller);
    let known = KnownLessons::default();
    let question = Question::now(parts, &meter, &known);
    let answered = question.judge::<Dreamt>(TEMPLATE).await.answered;
    let (_, hold) = meter.read();
    match (answered.cause, hold) {
        (None, _) => Ok(answered.result),
        (Some(_), Some(hold)) => Err(hold.into()),
        (Some(cause), None) => bail!("{}: {}", cause.kind.word(), cause.message),
    }
}

/// The key point that a rule behind several lessons of several sessions becomes, with the ids of
/// the lessons; the error says why it becomes none.
fn join(
    context: &WorkerContext,
    project: &Path,
    rule: &Value,
    lessons: &[KnownLesson],
    playbook: &Playbook,
) -> anyhow::Result<(Vec<String>, PlaybookEdit)> {
    let joined = joined(rule, lessons).map_err(anyhow::Error::msg)?;
    let ids: Vec<&str> = joined.iter().map(|lesson| lesson.id.as_str()).collect();
    let sessions = context.memory().sessions_of(&ids)?;
    ensure!(sessions >= JOINED as u64, "its lessons are of one session");
    let rule = Operation::read(rule).map_err(anyhow::Error::msg)?;
    let Operation::Add { text, section } = rule else {
        bail!("it is no new key point");
    };
    ensure!(!is_in(playbook, &text), "a key point says it already");
    let why = format!("joins {} lessons of {sessions} sessions", ids.len());
    let edit = PlaybookEdit::Join { text, section, why };
    match screening::hold_foreign(context, project, &edit, screening::BY_DREAM)? {
        Some(why) => bail!("held back: {why}"),
        None => Ok((ids.into_iter().map(str::to_owned).collect(), edit)),
    }
}

/// Puts the job that writes a rule into the playbook.
fn put(
    context: &WorkerContext,
    project: &Path,
    lessons: Vec<String>,
    edit: &PlaybookEdit,
) -> anyhow::Result<DreamRule> {
    let ticket = Ticket {
        need: Some(NOBODY),
        ..Ticket::new(JobEvent::Edit, project, context.now())
    };
    let job = spool::put_as(context.paths(), &IdEntropy::Chance, ticket, |ticket| {
        JobInProgress {
            ticket: ticket.clone(),
            edit: Some(edit.clone()),
            progress: Progress::default(),
        }
    })?;
    Ok(DreamRule {
        text: edit.text().unwrap_or_default().to_owned(),
        lessons,
        job,
    })
}

/// Dreams about each of these projects for which it is time.
pub(super) async fn where_due(context: &WorkerContext, projects: &[PathBuf]) {
    for project in projects {
        if !block_in_place(|| is_due(context, project)) {
            continue;
        }
        let caller = Caller::of_worker(project, context.now());
        let id = caller.id.clone();
        match dream(context, caller, SOURCES).await {
            Ok(DreamReport::Dreamt(dream)) => {
                let Dream {
                    ids, sources, rule, ..
                } = *dream;
                let found = if ids.is_empty() {
                    "no pattern"
                } else {
                    &ids.join(", ")
                };
                let line = format!("dreamt of {} memories: {found}", sources.len());
                context.log(&id, &line);
                if let Some(DreamRule { text, lessons, .. }) = rule {
                    context.log(&id, &format!("joins {}: {text:?}", lessons.join(", ")));
                }
            }
            Ok(DreamReport::TooLittle(_)) => {}
            Err(reason) => context.log(&id, &format!("did not dream: {reason}")),
        }
    }
}

/// Tells whether it is time for a dream of a project, and notes that it has had it, whatever
/// comes of it: when a model answers and five new lessons have come, and with `full` once a day.
fn is_due(context: &WorkerContext, project: &Path) -> bool {
    let Ok(config) = context.surroundings.config_for(project) else {
        return false;
    };
    let is_parked = || {
        let account = context.surroundings.account.need.account();
        context.backoff().parked(&account, context.now()).is_some()
    };
    let need = &context.surroundings.account.need;
    if need.backend == BackendName::Rules || !config.reflection.enabled || is_parked() {
        return false;
    }
    let mark = context.paths().project(project).join("dreamt");
    let last = fsx::read_if_there(&mark, MAX_MARK).unwrap_or_default();
    let last = DreamMark::read(&last.unwrap_or_default());
    let new = context
        .memory()
        .lessons_after(&project.to_string_lossy(), last.lesson);
    let Ok((new, lesson)) = new else {
        return false;
    };
    let today = Day::of(context.now()).start;
    let is_new_day = config.memory.mode == MemoryMode::Full && last.day != Some(today);
    if !is_new_day && new < NEW_LESSONS {
        return false;
    }
    let noted = fsx::ensure_dir(&context.paths().project(project))
        .and_then(|()| fsx::quick(&mark, format!("{today} {lesson}").as_bytes()));
    match noted {
        Ok(()) => true,
        Err(error) => {
            context.log("worker", &error.to_string());
            false
        }
    }
}

/// When a project dreamt last, and the row of its last lesson then: `2026-11-20T00:00:00Z 17`.
#[derive(Debug, Default)]
struct DreamMark {
    day: Option<Timestamp>,
    lesson: u64,
}

impl DreamMark {
    fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let mut parts = text.split_whitespace();
        Self {
            day: parts.next().and_then(|day| day.parse().ok()),
            lesson: parts.next().and_then(|n| n.parse().ok()).unwrap_or(0),
        }
    }
}
