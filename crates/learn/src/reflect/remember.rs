//! What a session leaves in the memory: pure, from its facts and the reflector's answer.
//!
//! | what | from | stored when |
//! |---|---|---|
//! | reflection, strategy | a model's `reflection` (else `analysis`), `strategy` | the session changed something, or they weigh 0.8 or more |
//! | lessons | a model's `lessons` | they have grounds, or the session changed something |
//! | errors, with their fixes | the tool errors that have a message | always |
//! | effects of hints | what followed on them | always |
//!
//! A session changed something (spec/5) when a tag was given or an operation applied, an
//! error was made good, or a failing test or build passed later. The order is the same each
//! time, and what weighs most comes first: of the lessons and of all else
//! `budgets.memory_rows` each are kept.

use std::collections::HashSet;

use super::known::KnownLesson;
use super::recurrence::{WEIGHTY, numbered};
use super::reply::{Reflection, ReplyLesson, Score};
use super::self_correction::{MARKS, signature_tag};
use crate::digest::name_of;
use crate::hint::hashes;
use crate::redact::mask;
use crate::reflect::learned::{Learned, NewError, NewFix, NewLesson, NewReflection, error_id};
use crate::transcript::{ErrorCategory, Evidence, Facts, RecurringError, SessionOutcome, Way};

/// Importance of what nobody rated.
const UNRATED: f64 = 0.5;
/// How much more important it is when the user objected.
const OBJECTED: f64 = 0.2;
/// How much more important it is when an error was made good.
const RESOLVED: f64 = 0.1;
/// So many events are named as sources.
const MAX_EVENTS: usize = 20;

#[derive(Debug, Clone, Copy)]
pub struct ReflectedSession<'a> {
    pub project: &'a str,
    pub tenant: &'a str,
    pub facts: &'a Facts,
    pub evidence: &'a Evidence,
    /// What a model said of it; what the rules say is no memory.
    pub reflection: Option<&'a Reflection>,
    pub changes: usize,
    /// The lessons of earlier sessions that it may repeat, as `L1`, `L2`, ….
    pub known: &'a [KnownLesson],
    /// Advice that one session alone taught: it is a lesson until it recurs.
    pub waiting: &'a [String],
    pub related: &'a [String],
}

/// Returns what is to be remembered, always in the same order.
pub fn remember(session: &ReflectedSession<'_>) -> Vec<Learned> {
    let facts = session.facts;
    let shown = facts.hints.iter().cloned().map(Learned::Shown);
    let has_changed_something = session.changes > 0
        || facts.recoveries > 0
        || facts.errors.iter().any(|error| !error.ways.is_empty());
    let grounded = lessons(session, |lesson| !lesson.grounds.is_empty());
    let grounded = grounded.into_iter().map(Learned::Lesson);
    let grounded = grounded.filter(|_| !has_changed_something);
    let is_weighty = |said: &&Reflection| rated(facts, said) >= WEIGHTY;
    let weighty = session.reflection.filter(is_weighty);
    let weighty = weighty.filter(|_| !has_changed_something);
    let weighty = weighty.and_then(|_| reflection(session));
    let reflection = session.reflection.filter(|_| has_changed_something);
    let session = ReflectedSession {
        reflection,
        ..*session
    };
    let waiting = session.waiting.iter();
    let waiting = waiting.map(|text| Learned::Lesson(waiting_lesson(&session, text)));
    let all = all(&session);
    let weighty = weighty.map(Learned::Reflection);
    let own = shown.chain(weighty).chain(all);
    own.chain(grounded).chain(waiting).collect()
}

/// Returns all that can be remembered of a session, whether it changed something or not.
pub fn all(session: &ReflectedSession<'_>) -> Vec<Learned> {
    let facts = session.facts;
    let mut learned: Vec<Learned> = Vec::new();
    learned.extend(reflection(session).map(Learned::Reflection));
    let mut lessons = lessons(session, |_| true).into_iter().map(Learned::Lesson);
    let (open, solved): (Vec<_>, Vec<_>) =
        facts.errors.iter().partition(|error| error.ways.is_empty());
    for error in solved {
        learned.extend(struck(facts, error));
        learned.extend(lessons.next());
    }
    learned.extend(lessons);
    learned.extend(open.into_iter().flat_map(|error| struck(facts, error)));
    learned
}

fn reflection(session: &ReflectedSession<'_>) -> Option<NewReflection> {
    let (facts, said) = (session.facts, session.reflection?);
    let text = said.reflection.as_deref().unwrap_or(&said.analysis);
    // A session that met one error was about it.
    let only_error = facts.errors.first().filter(|_| facts.errors.len() == 1);
    let hints = facts.hints.iter().map(|shown| shown.id.clone());
    let errors = facts.errors.iter();
    let errors = errors.map(|error| error_id(session.project, error.signature));
    let related = session.related.iter().cloned().chain(hints).chain(errors);
    let mut seen = HashSet::new();
    let related = related.filter(|id| seen.insert(id.clone())).collect();
    let sources = session.evidence.shown.iter();
    let sources = sources.filter_map(|shown| shown.uuid.clone());
    (!text.is_empty()).then(|| NewReflection {
        tenant: session.tenant.to_owned(),
        text: mask(text).into_owned(),
        strategy: said.strategy.as_deref().map(|text| mask(text).into_owned()),
        outcome: Some(facts.outcome.word().to_owned()),
        error_category: facts.category.map(|category| category.word().to_owned()),
        signature: only_error.map(|error| error.signature),
        importance: rated(facts, said),
        confidence: said.confidence.map_or(UNRATED, Score::get),
        tags: tags(facts, said),
        event_ids: sources.take(MAX_EVENTS).collect(),
        event_count: facts.events,
        task: facts.first_request.clone().unwrap_or_default(),
        related,
        correction: None,
    })
}

/// The error that a lesson is about: it names the program, or the tool, and its mistake has
/// at least half of the words of the message.
fn error_of<'f>(lesson: &ReplyLesson, facts: &'f Facts) -> Option<&'f RecurringError> {
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

/// What the model rated, else what can be told from the facts.
fn rated(facts: &Facts, said: &Reflection) -> f64 {
    let is_solved = || facts.errors.iter().any(|error| !error.ways.is_empty());
    said.importance
        .map_or_else(|| importance(facts, is_solved()), Score::get)
}

fn importance(facts: &Facts, is_solved: bool) -> f64 {
    let weight = |holds: bool, weight: f64| if holds { weight } else { 0.0 };
    UNRATED + weight(facts.rejections > 0, OBJECTED) + weight(is_solved, RESOLVED)
}

/// The reflector's topics, the kind of error, and spec/5's marks.
fn tags(facts: &Facts, said: &Reflection) -> Vec<String> {
    let words = facts.category.map(ErrorCategory::word).into_iter();
    let words = words
        .chain(MARKS)
        .chain(error_type(facts))
        .map(str::to_owned);
    let errors = facts
        .errors
        .iter()
        .map(|error| signature_tag(error.signature));
    each_once(
        said.tags
            .iter()
            .cloned()
            .chain(words)
            .chain(errors)
            .collect(),
    )
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
    } else if matches!(
        facts.outcome,
        SessionOutcome::Timeout | SessionOutcome::Error
    ) {
        Some("incomplete_response")
    } else {
        None
    }
}

fn lessons(session: &ReflectedSession<'_>, is_kept: fn(&ReplyLesson) -> bool) -> Vec<NewLesson> {
    let (facts, Some(said)) = (session.facts, session.reflection) else {
        return Vec::new();
    };
    let importance = rated(facts, said);
    // What has no word of a lesson is no other case of it.
    let repeated = |name: &String, by: &ReplyLesson| {
        let known = numbered(session.known, name)?;
        let is_about = !hashes(&by.correction).is_disjoint(&hashes(&known.text));
        is_about.then(|| known.id.clone())
    };
    let lesson = |lesson: &ReplyLesson| NewLesson {
        repeats: lesson
            .repeats
            .iter()
            .filter_map(|name| repeated(name, lesson))
            .collect(),
        task_type: mask(&lesson.task_type).into_owned(),
        mistake: mask(&lesson.mistake).into_owned(),
        correction: mask(&lesson.correction).into_owned(),
        context_hash: context_of(facts),
        signature: error_of(lesson, facts).map(|error| error.signature),
        importance,
        tags: said.tags.clone(),
    };
    let kept = said.lessons.iter().filter(|lesson| is_kept(lesson));
    kept.map(lesson).collect()
}

/// What the session was about, as a name.
fn context_of(facts: &Facts) -> String {
    let request = facts.first_request.as_deref().unwrap_or_default();
    name_of(request.as_bytes())
}

/// Advice of a curator as a lesson: of no mistake is anything said.
fn waiting_lesson(session: &ReflectedSession<'_>, text: &str) -> NewLesson {
    let facts = session.facts;
    let said = session.reflection;
    NewLesson {
        task_type: String::new(),
        mistake: String::new(),
        correction: mask(text).into_owned(),
        repeats: Vec::new(),
        context_hash: context_of(facts),
        signature: None,
        importance: said.map_or(UNRATED, |said| rated(facts, said)),
        tags: said.map(|said| said.tags.clone()).unwrap_or_default(),
    }
}

/// An error, once with each way out of it; it struck as often as it did only once.
fn struck(facts: &Facts, error: &RecurringError) -> Vec<Learned> {
    let mut ways: Vec<Option<&Way>> = error.ways.iter().map(Some).collect();
    if ways.is_empty() {
        ways.push(None);
    }
    let category = error.category.word();
    let learned = |(at, way): (usize, Option<&Way>)| {
        Learned::Error(NewError {
            signature: error.signature,
            error_type: error.subject.clone(),
            example: error.example.clone(),
            occurrences: if at == 0 { error.occurrences } else { 0 },
            category: category.to_owned(),
            outcome: Some(facts.outcome.word().to_owned()),
            importance: importance(facts, way.is_some()),
            tags: each_once(vec![category.to_owned(), error.tool.clone()]),
            fix: way.map(|way| NewFix {
                text: way.to_string(),
                times: way.times,
            }),
        })
    };
    ways.into_iter().enumerate().map(learned).collect()
}
