//! The commands on memories: `playbook recall`, `seen`, `stats`, `forget`, and `lesson add` and
//! `outcome` (spec/4 `store_lesson`, `record_lesson_outcome`).

use std::io::{self, IsTerminal as _, Read as _};

use jiff::Span;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::OK;
use super::prelude::*;
use super::worker;
use crate::at_stop::Figures;
use crate::digest::name_of;
use crate::errors::Signature;
use crate::gate::QUALITY_THRESHOLD;
use crate::memory::{ForgetWhat, Forgotten, Limits, Question, RecallQuery, SeenError};
use crate::playbook::clean::clean_text;
use crate::queue::budget::Day;
use crate::reflect::learned::{
    Effect, EffectWhenShown, Learned, LearnedFrom, NewLesson, NoteDetail,
};
use crate::reflect::remembered::{Detail, MemoryKind, Remembered};
use crate::reflect::self_correction::TYPES;
use crate::reflect::tellable::tellable;
use crate::tenant::Tenant;
use crate::transcript::{error_keys, same_error};
use crate::usage;

pub(super) fn recall(session: &NamedSession, args: &args::RecallArgs) -> anyhow::Result<()> {
    let answer = json!({
        "query": args.query(),
        "project": session.project_of(&args.of),
        "memories": found(session, args)?,
    });
    answer::give(args.of.json, include_str!("screens/recall.txt"), answer)
}

fn found(session: &NamedSession, args: &args::RecallArgs) -> anyhow::Result<Vec<Remembered>> {
    let now = session.env.clock().now();
    let ago = |time| now.checked_sub(time).ok();
    let kinds = args.kind.iter();
    let kinds = kinds.filter_map(|word| MemoryKind::from_word(word));
    let query = RecallQuery {
        text: args.query(),
        kinds: kinds.collect(),
        project: session.project_of(&args.of),
        min_importance: args.min_importance,
        tags: args.tag.clone(),
        outcome: args.outcome.clone(),
        since: args.since.and_then(ago),
        until: args.until.and_then(ago),
        ..RecallQuery::best(args.limit)
    };
    let found = session.ask(&Question::Recall(query))?;
    Ok(together(found.memories))
}

/// Moves the related memories behind each: about the same error, or with all its tags.
pub fn together(mut found: Vec<Remembered>) -> Vec<Remembered> {
    let mut ordered: Vec<Remembered> = Vec::with_capacity(found.len());
    while !found.is_empty() {
        let first = found.remove(0);
        let (its, others) = found.into_iter().partition(|other| belongs(&first, other));
        ordered.push(first);
        ordered.extend::<Vec<_>>(its);
        found = others;
    }
    ordered
}

fn belongs(one: &Remembered, other: &Remembered) -> bool {
    let is_same_error = one.signature.is_some() && one.signature == other.signature;
    let has_its_tags = !one.tags.is_empty() && one.tags.iter().all(|tag| other.tags.contains(tag));
    is_same_error || has_its_tags
}

const NOT_SEEN: u8 = 1;
/// The most bytes read from stdin; an error is named by the beginning and end of its text.
const MAX_TEXT: u64 = 64 << 20;
/// The type of an error without `--tool`.
const ANY_ERROR: &str = "error";
/// The tool through which any program may have failed.
const ANY_PROGRAM: &str = "Bash";

pub(super) fn seen(args: &args::SeenArgs) -> anyhow::Result<u8> {
    let answer = look(args)?;
    let status = if answer["seen"] == true { OK } else { NOT_SEEN };
    match answer::give(args.of.json, include_str!("screens/seen.txt"), answer) {
        Err(error) if !output::is_broken_pipe(&error) => Err(error),
        _ => Ok(status),
    }
}

fn look(args: &args::SeenArgs) -> anyhow::Result<Value> {
    let session = NamedSession::that_learned_of(&args.of)?;
    let text = args.error().map_or_else(from_stdin, Ok)?;
    if text.trim().is_empty() {
        return Err(Hinted::error(
            "no error text",
            "give it as an argument, or on stdin: make 2>&1 | playbook seen",
        ));
    }
    let wanted = ErrorQuestion::of(&text, args.tool.as_deref());
    let project = session.project_of(&args.of);
    let question = Question::Seen {
        keys: wanted.keys.clone(),
        project: project.clone(),
    };
    let found = session.ask(&question)?.errors;
    Ok(wanted.answer(project.as_deref(), found))
}

#[derive(Debug)]
pub struct ErrorQuestion {
    /// The keys of errors that may be the same.
    pub keys: Vec<Signature>,
    /// The names of the exact text.
    exact: Vec<Signature>,
    text: String,
    name: Signature,
    tool: Option<String>,
}

impl ErrorQuestion {
    pub fn of(text: &str, tool: Option<&str>) -> Self {
        let hash = |error_type: &str| Signature::of_error(error_type, text);
        let tool = tool.map(str::to_owned);
        if let Some(name) = Signature::parse(text.trim()) {
            return Self {
                keys: vec![name],
                exact: vec![name],
                text: String::new(),
                name,
                tool,
            };
        }
        let mut keys = error_keys(text);
        keys.extend(TYPES.map(hash));
        Self {
            keys,
            exact: TYPES.map(hash).to_vec(),
            text: text.to_owned(),
            name: hash(tool.as_deref().unwrap_or(ANY_ERROR)),
            tool,
        }
    }

    /// Answers with the memories found, each error with its keys.
    pub fn answer(&self, project: Option<&str>, found: Vec<(Remembered, Vec<Signature>)>) -> Value {
        let is_same = same_error(&self.text);
        let is_meant = |(memory, keys): &(Remembered, Vec<Signature>)| match &memory.detail {
            Detail::Error { error_type } => {
                let mut names = keys.iter().chain(&memory.signature);
                let is_exact = names.any(|name| self.exact.contains(name));
                Some((is_exact || is_same(keys)) && is_of(error_type, self.tool.as_deref()))
            }
            _ => None,
        };
        let judged = found.iter().map(|it| (it.0.signature, is_meant(it)));
        let judged: Vec<_> = judged.collect();
        // What was learned of an error is wanted with one of its errors.
        let is_wanted = |(signature, is_meant): &(Option<Signature>, Option<bool>)| {
            let has = |is: bool| judged.contains(&(*signature, Some(is)));
            is_meant.unwrap_or_else(|| has(true) || !has(false))
        };
        let found = found.into_iter().zip(&judged);
        let wanted = found.filter(|(_, judged)| is_wanted(judged));
        let wanted: Vec<Remembered> = wanted.map(|((memory, _), _)| memory).collect();
        let mut signatures: Vec<String> = Vec::new();
        for signature in wanted.iter().filter_map(|memory| memory.signature) {
            if !signatures.contains(&signature.to_string()) {
                signatures.push(signature.to_string());
            }
        }
        let seen = SeenError::of(wanted);
        json!({
            "seen": seen.is_some(),
            "error_signature": self.name,
            "project": project,
            "signatures": signatures,
            "occurrences": seen.as_ref().map_or(0, |seen| seen.occurrences),
            "first": seen.as_ref().map(|seen| seen.first),
            "last": seen.as_ref().map(|seen| seen.last),
            "errors": seen.as_ref().map_or(&[][..], |seen| &seen.errors),
            "lessons": seen.as_ref().map_or(&[][..], |seen| &seen.lessons),
        })
    }
}

/// Returns `true` if an error's subject, `git push` or `Read`, is the requested program or tool.
fn is_of(subject: &str, tool: Option<&str>) -> bool {
    tool.is_none_or(|tool| {
        let rest = subject.strip_prefix(tool);
        tool == ANY_PROGRAM || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })
}

fn from_stdin() -> anyhow::Result<String> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Ok(String::new());
    }
    let mut bytes = Vec::new();
    let read = stdin.lock().take(MAX_TEXT).read_to_end(&mut bytes);
    read.context("could not read stdin")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

const WEEKS: i64 = 8;
const DAYS: i64 = 7;

pub(super) fn stats(session: &NamedSession, of: &args::Of) -> anyhow::Result<()> {
    let project = session.project_of(of);
    let project = project.as_deref();
    let today = Day::of(session.env.clock().now());
    // Weeks end with today, so that the last one is complete.
    let starts = (0..WEEKS)
        .rev()
        .map(|week| today.back(week * DAYS + DAYS - 1));
    let starts: Vec<_> = starts.collect();
    let question = Question::Stats {
        project: project.map(str::to_owned),
    };
    let mut answer = json!(session.ask(&question)?.stats);
    let weeks = match session.memory()? {
        Some(memory) => memory.evaluations(project, &starts)?,
        None => Vec::new(),
    };
    answer["project"] = json!(project);
    answer["bank_capacity"] = Limits::default().lessons.into();
    answer["quality_threshold"] = QUALITY_THRESHOLD.into();
    // The gate's figures belong to the user, whose sessions it checks.
    answer["gate"] = json!(match session.tenant {
        Tenant::User => Figures::of(&session.paths, project.map(Path::new))?,
        Tenant::Other(_) => Figures::default(),
    });
    answer["evaluations"] = json!(weeks);
    answer::give(of.json, include_str!("screens/stats.txt"), answer)
}

pub(super) fn forget(session: &NamedSession, args: &args::ForgetArgs) -> anyhow::Result<()> {
    let now = session.env.clock().now();
    let what = what(session, args, now)?;
    let Some(mut memory) = session.memory()? else {
        return match what {
            ForgetWhat::Id(id) => Err(unknown(&id)),
            _ => show(Forgotten::default(), args.json),
        };
    };
    let named = match &what {
        ForgetWhat::Id(id) => Some(named(session, id)?.ok_or_else(|| unknown(id))?),
        _ => None,
    };
    if !args.yes && !is_agreed(named.as_ref(), &what)? {
        return show(Forgotten::default(), args.json);
    }
    let projects = memory.projects()?;
    let mut gone = memory.forget(&what)?;
    if let (Some(named), 0) = (named, gone.total()) {
        // Only the database has it.
        gone.count(named.kind, 1);
    }
    refresh(session, &memory, &projects)?;
    worker::send(session);
    show(gone, args.json)
}

fn what(
    session: &NamedSession,
    args: &args::ForgetArgs,
    now: Timestamp,
) -> anyhow::Result<ForgetWhat> {
    if let Some(id) = &args.id {
        return Ok(ForgetWhat::Id(id.trim().to_owned()));
    }
    let project = (!args.all).then(|| session.project_name());
    Ok(match &args.older_than {
        Some(age) => ForgetWhat::OlderThan {
            time: time(age, now)?,
            project,
        },
        None => ForgetWhat::Project(project.unwrap_or_default()),
    })
}

fn time(text: &str, now: Timestamp) -> anyhow::Result<Timestamp> {
    let zone = TimeZone::system();
    if let Ok(date) = text.parse::<Date>() {
        return Ok(date.to_zoned(zone)?.timestamp());
    }
    let age = text.parse::<Span>().ok().filter(|age| !age.is_negative());
    let time = age.and_then(|age| now.to_zoned(zone).checked_sub(age).ok());
    time.map(|time| time.timestamp()).ok_or_else(|| {
        let what = format!("no time: {}", plain(text));
        let hint = "an age such as 90d, 12w, 6mo or 1y, or a date such as 2026-01-31";
        Hinted::error(what, hint)
    })
}

fn unknown(id: &str) -> anyhow::Error {
    let what = format!("nothing is remembered as {}", plain(id));
    let hint = "`playbook recall` shows the ids";
    Hinted::error(what, hint)
}

/// Finds a memory by its id, wherever it was learned.
fn named(session: &NamedSession, id: &str) -> anyhow::Result<Option<Remembered>> {
    let query = RecallQuery {
        text: Some(id.to_owned()),
        ..RecallQuery::best(1)
    };
    let found = session.ask(&Question::Recall(query))?.memories;
    Ok(found.into_iter().find(|found| found.id == id))
}

fn is_agreed(named: Option<&Remembered>, what: &ForgetWhat) -> anyhow::Result<bool> {
    let wanted = match what {
        ForgetWhat::Id(id) => {
            let text = named.map_or("", |named| &named.text);
            format!("{}: {}", plain(id), plain(text))
        }
        ForgetWhat::Project(project) => {
            let place = plain(project);
            format!(
                "the notes, lessons and errors of {place}, whose key points stay, and that its sessions were learned"
            )
        }
        ForgetWhat::OlderThan { time, project } => {
            let place = project.as_deref().map_or("all projects".to_owned(), plain);
            let time = change_text::time(*time);
            format!("all that was last learned or shown before {time} in {place}")
        }
    };
    let question = format!("Forget {wanted}? It cannot be undone.");
    output::confirm(&question)?.ok_or_else(|| {
        Hinted::error(
            format!("would forget {wanted}"),
            "there is no terminal to ask on; say --yes",
        )
    })
}

/// Rewrites the hooks' files without what was forgotten; hooks use no other tenants' memories.
fn refresh(session: &NamedSession, memory: &Memory, projects: &[String]) -> anyhow::Result<()> {
    if session.tenant != Tenant::User {
        return Ok(());
    }
    let own = session.project_name();
    for name in projects {
        let project = if *name == own {
            &session.project
        } else {
            Path::new(name)
        };
        usage::refresh_corrections(&session.paths, memory, project)?;
    }
    Ok(())
}

fn show(gone: Forgotten, as_json: bool) -> anyhow::Result<()> {
    let answer = json!({
        "forgotten": {
            "reflections": gone.reflections,
            "strategies": gone.strategies,
            "lessons": gone.lessons,
            "errors": gone.errors,
            "evaluations": gone.evaluations,
        },
        "total": gone.total(),
    });
    answer::give(as_json, include_str!("screens/forget.txt"), answer)
}

const SCREEN: &str = include_str!("screens/lesson.txt");
/// A lesson that the user adds is as important as what the curator adopts immediately.
const IMPORTANCE: f64 = 0.8;

pub(super) fn add_lesson(session: &NamedSession, add: &args::LessonAddArgs) -> anyhow::Result<()> {
    agent::refuse(&session.env, "what you teach by hand")?;
    let masker = session.masker()?;
    let said = |text: &str| clean_text(&masker.mask(text));
    let lesson = NewLesson {
        task_type: said(&add.task),
        mistake: said(&add.mistake),
        correction: said(&add.correction),
        context_hash: name_of(add.task.as_bytes()),
        signature: None,
        importance: IMPORTANCE,
        tags: Vec::new(),
        note: NoteDetail::default(),
    };
    if lesson.correction.is_empty() {
        return Err(Hinted::error(
            "the correction is empty".to_owned(),
            "say in a sentence what is right: --correction \"…\"",
        ));
    }
    let (learned, refused) = tellable(vec![Learned::Lesson(lesson)]);
    if let Some(refused) = refused.first() {
        return Err(Hinted::error(
            format!("not remembered: {}", refused.why),
            "docs/trust.md says what no session is told",
        ));
    }
    let ids = learn(session, &learned)?;
    answer::give(add.on.json, SCREEN, json!({"id": ids.first()}))
}

pub(super) fn lesson_outcome(
    session: &NamedSession,
    of: &args::LessonOutcomeArgs,
) -> anyhow::Result<()> {
    agent::refuse(&session.env, "what a lesson was worth to you")?;
    let id = of.id.trim();
    if worth(session, id)?.is_none() {
        return Err(Hinted::error(
            format!("no lesson {}", plain(id)),
            "`playbook recall --kind lesson` shows the ids",
        ));
    }
    let effect = if of.helped {
        Effect::Helped
    } else {
        Effect::Failed
    };
    let shown = EffectWhenShown {
        id: id.to_owned(),
        effect,
    };
    learn(session, &[Learned::Shown(shown)])?;
    let answer = json!({"id": id, "effectiveness": worth(session, id)?});
    answer::give(of.on.json, SCREEN, answer)
}

fn worth(session: &NamedSession, id: &str) -> anyhow::Result<Option<f64>> {
    let Some(memory) = session.memory()? else {
        return Ok(None);
    };
    let found = memory.find(id)?;
    let lesson = found.filter(|found| matches!(found.detail, Detail::Lesson { .. }));
    Ok(lesson.map(|lesson| lesson.effectiveness))
}

fn learn(session: &NamedSession, learned: &[Learned]) -> anyhow::Result<Vec<String>> {
    state_guard::close(&session.paths)?;
    let mut memory = sharing::open_memory(&session.paths, &session.config)?;
    let now = session.env.clock().now();
    let source = LearnedFrom {
        project: session.project_name(),
        session: String::new(),
        root: String::new(),
        job: JobId::new(now, rand::random()).to_string(),
        time: now,
    };
    let ids = memory.learn(&source, learned)?;
    usage::refresh_corrections(&session.paths, &memory, &session.project)?;
    worker::send(session);
    Ok(ids)
}
