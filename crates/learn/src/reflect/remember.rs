//! Selects what a session leaves in the memory: pure, from its facts and the reflector's answer.
//!
//! | what | from | stored when |
//! |---|---|---|
//! | reflection, strategy | a model's `reflection` (else `analysis`), `strategy` | the session changed something, or they weigh 0.8 or more |
//! | notes | a model's `notes` that passed the checks | always |
//! | errors | the tool errors that have a message | always |
//!
//! A session changed something (spec/5) when a tag was given or an operation applied, an error was
//! fixed, or a failing test or build passed later. The order is the same each time.

use std::collections::HashSet;

use super::note::{NewNote, unnamed_host};
use super::reply::{Reflection, Score};
use super::self_correction::{REFLECTION, SELF_CORRECTION, signature_tag};
use crate::digest::name_of;
use crate::redact::mask;
use crate::reflect::learned::{Learned, NewError, NewLesson, NewReflection, error_id};
use crate::transcript::{ErrorCategory, Evidence, Facts, RecurringError, SessionOutcome};

/// The importance of an unrated memory.
const UNRATED: f64 = 0.5;
/// A reflection of this importance is kept although its session changed nothing.
const WEIGHTY: f64 = 0.8;
/// The additional importance if the user objected.
const OBJECTED: f64 = 0.2;
/// The additional importance if an error was fixed.
const RESOLVED: f64 = 0.1;
/// The number of events that are named as sources.
const MAX_EVENTS: usize = 20;
/// The number of errors that are named with a reflection.
const MAX_ERRORS: usize = 50;

#[derive(Debug, Clone, Copy)]
pub struct ReflectedSession<'a> {
    pub project: &'a str,
    pub tenant: &'a str,
    pub facts: &'a Facts,
    pub evidence: &'a Evidence,
    /// A model's reflection; that of the rules is no memory.
    pub reflection: Option<&'a Reflection>,
    pub changes: usize,
    /// The notes that passed the checks.
    pub notes: &'a [NewNote],
    pub related: &'a [String],
}

/// Returns the memories always in the same order.
pub fn remember(session: &ReflectedSession<'_>) -> Vec<Learned> {
    let facts = session.facts;
    let has_changed_something =
        session.changes > 0 || facts.recoveries > 0 || facts.has_made_good();
    let is_weighty = |said: &&Reflection| rated(facts, said) >= WEIGHTY;
    let weighty = session.reflection.filter(is_weighty);
    let weighty = weighty.filter(|_| !has_changed_something);
    let weighty = weighty.and_then(|_| reflection(session));
    let session = ReflectedSession {
        reflection: session.reflection.filter(|_| has_changed_something),
        ..*session
    };
    let weighty = weighty.map(Learned::Reflection);
    weighty.into_iter().chain(all(&session)).collect()
}

/// Returns all possible memories of a session, even if it changed nothing.
pub fn all(session: &ReflectedSession<'_>) -> Vec<Learned> {
    let facts = session.facts;
    let reflection = reflection(session).map(Learned::Reflection);
    let notes = session.notes.iter().map(|note| lesson(session, note));
    let errors = facts.errors.iter().map(|error| struck(facts, error));
    reflection.into_iter().chain(notes).chain(errors).collect()
}

fn reflection(session: &ReflectedSession<'_>) -> Option<NewReflection> {
    let (facts, said) = (session.facts, session.reflection?);
    let texts = said.reflection.iter().chain([&said.analysis]);
    let mut known = texts.filter(|text| unnamed_host(session.evidence, text).is_none());
    let text = known.next()?;
    // A session with a single error was about that one.
    let only_error = facts.errors.first().filter(|_| facts.errors.len() == 1);
    let errors = facts.errors.iter().take(MAX_ERRORS);
    let errors = errors.map(|error| error_id(session.project, error.signature));
    let related = session.related.iter().cloned().chain(errors);
    let mut seen = HashSet::new();
    let related = related.filter(|id| seen.insert(id.clone())).collect();
    let sources = session.evidence.shown.iter();
    let sources = sources.filter_map(|shown| shown.place.uuid.clone());
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

fn rated(facts: &Facts, said: &Reflection) -> f64 {
    said.importance
        .map_or_else(|| importance(facts), Score::get)
}

fn importance(facts: &Facts) -> f64 {
    let weight = |holds: bool, weight: f64| if holds { weight } else { 0.0 };
    UNRATED + weight(facts.rejections > 0, OBJECTED) + weight(facts.has_made_good(), RESOLVED)
}

/// A self-correction (spec/5) is a session whose agent fixed what had failed.
fn tags(facts: &Facts, said: &Reflection) -> Vec<String> {
    let has_made_good = facts.recoveries > 0 || facts.has_made_good();
    let words = facts.category.map(ErrorCategory::word).into_iter();
    let words = words
        .chain([REFLECTION])
        .chain(has_made_good.then_some(SELF_CORRECTION))
        .chain(error_type(facts))
        .map(str::to_owned);
    let errors = facts.errors.iter().take(MAX_ERRORS);
    let errors = errors.map(|error| signature_tag(error.signature));
    each_once(said.tags.iter().cloned().chain(words).chain(errors))
}

/// Returns tags as they are stored: in lower case, each once.
fn each_once(tags: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let tags = tags.into_iter().map(|tag| tag.trim().to_lowercase());
    tags.filter(|tag| seen.insert(tag.clone())).collect()
}

/// Returns spec/5's name for the session; the first condition that holds decides.
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

/// Returns a note as the memory stores it: spec/4's lesson.
fn lesson(session: &ReflectedSession<'_>, note: &NewNote) -> Learned {
    let facts = session.facts;
    let said = session.reflection;
    let request = facts.first_request.as_deref().unwrap_or_default();
    Learned::Lesson(NewLesson {
        task_type: note.task_type.clone(),
        mistake: note.mistake.clone(),
        correction: note.correction.clone(),
        // The session's subject, as a hash.
        context_hash: name_of(request.as_bytes()),
        signature: note.signature,
        importance: said.map_or(UNRATED, |said| rated(facts, said)),
        tags: said.map(|said| said.tags.clone()).unwrap_or_default(),
        note: note.detail.clone(),
    })
}

fn struck(facts: &Facts, error: &RecurringError) -> Learned {
    let category = error.category.word();
    Learned::Error(NewError {
        signature: error.signature,
        keys: error.keys.clone(),
        error_type: error.subject.clone(),
        example: error.example.clone(),
        occurrences: error.occurrences,
        category: category.to_owned(),
        outcome: Some(facts.outcome.word().to_owned()),
        importance: importance(facts),
        tags: each_once([category.to_owned(), error.tool.clone()]),
    })
}
