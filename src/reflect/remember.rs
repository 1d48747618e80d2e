//! What a session leaves in the memory: pure, from its facts and the reflector's answer.
//!
//! | what | from | stored when |
//! |---|---|---|
//! | reflection, strategy | a model's `reflection` (else `analysis`), `strategy` | the session changed something |
//! | lessons | a model's `lessons` | the session changed something |
//! | errors, with their fixes | the tool errors that have a message | always |
//! | effects of hints | what followed on them | always |
//!
//! A session changed something (spec/5) when a tag was given or an operation applied, an
//! error was made good, or a failing test or build passed later. The order is the same each
//! time, and what weighs most comes first: `budgets.memory_rows` cuts at the end.

use std::collections::HashSet;

use super::reply::{Lesson, Reflection, Score};
use crate::memory::{Learned, NewError, NewFix, NewLesson, NewReflection, context_hash, error_id};
use crate::redact::mask;
use crate::transcript::{Evidence, Facts, Outcome, Struck, Way};

/// To whom everything belongs in a store that only one user has.
pub(crate) const TENANT: &str = "default";

/// Importance of what nobody rated.
const UNRATED: f64 = 0.5;
/// How much more important it is when the user objected.
const OBJECTED: f64 = 0.2;
/// How much more important it is when an error was made good.
const RESOLVED: f64 = 0.1;
/// So many events are named as sources.
const MAX_EVENTS: usize = 20;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Session<'a> {
    pub(crate) project: &'a str,
    pub(crate) tenant: &'a str,
    pub(crate) facts: &'a Facts,
    pub(crate) evidence: &'a Evidence,
    /// What a model said of it; what the rules say is no memory.
    pub(crate) reflection: Option<&'a Reflection>,
    pub(crate) changes: usize,
    pub(crate) related: &'a [String],
}

/// Returns what is to be remembered, always in the same order.
pub(crate) fn remember(session: &Session<'_>) -> Vec<Learned> {
    let facts = session.facts;
    let shown = facts.hints.iter().cloned().map(Learned::Shown);
    let mut learned: Vec<Learned> = shown.collect();
    if has_changed_something(session) {
        learned.extend(all(session));
    } else {
        learned.extend(open_errors(facts));
    }
    learned
}

/// Returns all that can be remembered of a session, whether it changed something or not.
pub(crate) fn all(session: &Session<'_>) -> Vec<Learned> {
    let facts = session.facts;
    let mut learned: Vec<Learned> = Vec::new();
    learned.extend(reflection(session).map(Learned::Reflection));
    let mut errors = facts.errors.iter().filter(|error| !error.ways.is_empty());
    let mut lessons = lessons(session).into_iter();
    loop {
        let (error, lesson) = (errors.next(), lessons.next());
        if error.is_none() && lesson.is_none() {
            break;
        }
        learned.extend(error.into_iter().flat_map(|error| with_fixes(facts, error)));
        learned.extend(lesson.map(Learned::Lesson));
    }
    learned.extend(open_errors(facts));
    learned
}

fn open_errors(facts: &Facts) -> impl Iterator<Item = Learned> + '_ {
    let open = facts.errors.iter().filter(|error| error.ways.is_empty());
    open.map(|error| Learned::Error(new_error(facts, error, None)))
}

/// Tells whether a session changed something (spec/5).
fn has_changed_something(session: &Session<'_>) -> bool {
    let facts = session.facts;
    session.changes > 0 || facts.recoveries > 0 || facts.errors.iter().any(|e| !e.ways.is_empty())
}

fn reflection(session: &Session<'_>) -> Option<NewReflection> {
    let (facts, said) = (session.facts, session.reflection?);
    let text = said.reflection.as_deref().unwrap_or(&said.analysis);
    let hints = facts.hints.iter().map(|shown| shown.id.clone());
    let related = session.related.iter().cloned().chain(hints);
    let errors = facts.errors.iter();
    let mut related: Vec<String> = related
        .chain(errors.map(|error| error_id(session.project, error.signature)))
        .collect();
    related.dedup();
    let sources = session.evidence.shown.iter();
    let sources = sources.filter_map(|shown| shown.uuid.clone());
    (!text.is_empty()).then(|| NewReflection {
        tenant: session.tenant.to_owned(),
        text: mask(text).into_owned(),
        strategy: said.strategy.as_deref().map(|text| mask(text).into_owned()),
        outcome: Some(facts.outcome.name().to_owned()),
        error_category: facts.category.map(|category| category.name().to_owned()),
        signature: only_error(facts).map(|error| error.signature),
        importance: said
            .importance
            .map_or_else(|| importance(facts), Score::get),
        confidence: said.confidence.map_or(UNRATED, Score::get),
        tags: tags(facts, said),
        event_ids: sources.take(MAX_EVENTS).collect(),
        event_count: facts.events,
        task: facts.first_request.clone().unwrap_or_default(),
        related,
    })
}

/// The error that a session was about: the only one it met.
fn only_error(facts: &Facts) -> Option<&Struck> {
    match facts.errors.as_slice() {
        [error] => Some(error),
        _ => None,
    }
}

/// The error that a lesson is about: it names the program, or the tool, and its mistake has
/// at least half of the words of the message.
fn error_of<'f>(lesson: &Lesson, facts: &'f Facts) -> Option<&'f Struck> {
    let said = format!("{} {}", lesson.mistake, lesson.correction).to_lowercase();
    let words = |text: &str| -> HashSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
        let long = words.filter(|word| word.len() > 2);
        long.map(str::to_lowercase).collect()
    };
    let mistake = words(&lesson.mistake);
    facts.errors.iter().find(|error| {
        let message = words(&error.message);
        let shared = message.intersection(&mistake).count();
        let names_it = !error.subject.is_empty() && said.contains(&error.subject.to_lowercase());
        names_it && shared > 0 && 2 * shared >= message.len()
    })
}

fn importance(facts: &Facts) -> f64 {
    importance_of(
        facts,
        facts.errors.iter().any(|error| !error.ways.is_empty()),
    )
}

fn importance_of(facts: &Facts, resolved: bool) -> f64 {
    let objected = facts.rejections > 0;
    UNRATED + f64::from(u8::from(objected)) * OBJECTED + f64::from(u8::from(resolved)) * RESOLVED
}

/// The reflector's topics, the kind of error, and spec/5's marks.
fn tags(facts: &Facts, said: &Reflection) -> Vec<String> {
    let mut tags = said.tags.clone();
    tags.extend(facts.category.map(|category| category.name().to_owned()));
    tags.extend(error_type(facts).map(str::to_owned));
    tags.extend(only_error(facts).map(|error| format!("sig:{}", error.signature)));
    each_once(tags)
}

/// Tags as they are kept, in lower case, each once.
fn each_once(tags: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let tags = tags.into_iter().map(|tag| tag.trim().to_lowercase());
    tags.filter(|tag| seen.insert(tag.clone())).collect()
}

/// What kind of self-correction it was, as spec/5 names it; the first that holds.
fn error_type(facts: &Facts) -> Option<&'static str> {
    if facts.rejections > 0 {
        Some("conflict")
    } else if facts.recoveries > 0 {
        Some("quality_improvement")
    } else if matches!(facts.outcome, Outcome::Timeout | Outcome::Error) {
        Some("incomplete_response")
    } else {
        None
    }
}

fn lessons(session: &Session<'_>) -> Vec<NewLesson> {
    let (facts, Some(said)) = (session.facts, session.reflection) else {
        return Vec::new();
    };
    let importance = said
        .importance
        .map_or_else(|| importance(facts), Score::get);
    let lesson = |lesson: &Lesson| NewLesson {
        task_type: mask(&lesson.task_type).into_owned(),
        mistake: mask(&lesson.mistake).into_owned(),
        correction: mask(&lesson.correction).into_owned(),
        context_hash: context_hash(facts.first_request.as_deref().unwrap_or_default()),
        signature: error_of(lesson, facts).map(|error| error.signature),
        importance,
        tags: said.tags.clone(),
    };
    said.lessons.iter().map(lesson).collect()
}

/// An error with each way out of it; it struck as often as it did only once.
fn with_fixes<'f>(facts: &'f Facts, error: &'f Struck) -> impl Iterator<Item = Learned> + 'f {
    error.ways.iter().enumerate().map(move |(at, way)| {
        let new = new_error(facts, error, Some(way));
        Learned::Error(NewError {
            occurrences: if at == 0 { error.occurrences } else { 0 },
            ..new
        })
    })
}

fn new_error(facts: &Facts, error: &Struck, way: Option<&Way>) -> NewError {
    let category = error.category.name();
    NewError {
        signature: error.signature,
        error_type: error.subject.clone(),
        example: error.example.clone(),
        occurrences: error.occurrences,
        category: category.to_owned(),
        outcome: Some(facts.outcome.name().to_owned()),
        importance: importance_of(facts, way.is_some()),
        tags: each_once(vec![category.to_owned(), error.tool.clone()]),
        fix: way.map(|way| NewFix {
            text: way.to_string(),
            times: way.times,
        }),
    }
}
