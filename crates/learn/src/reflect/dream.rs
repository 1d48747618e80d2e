//! Dreaming: the pattern behind what was learned lately (spec/3). Pure.

use super::remember::TENANT;
use super::reply::{Reflection, Score};
use super::trace::{Event, Trace};
use crate::hint::MemoryKind;
use crate::redact::mask;
use crate::reflect::learned::NewReflection;
use crate::reflect::remembered::Remembered;
use crate::transcript::{Facts, Outcome};

pub const TEMPLATE: &str = include_str!("../../templates/dream.txt");
/// A pattern needs so many reflections.
pub const FEWEST: usize = 3;
/// The tag of what was dreamt; it is not dreamt of again.
pub(crate) const TAG: &str = "dream";
const TASK: &str = "find the pattern behind recent reflections";
/// What nobody rated.
const UNRATED: f64 = 0.5;

/// Tells whether a memory is one that a pattern is looked for in.
pub fn is_source(memory: &Remembered) -> bool {
    memory.kind == MemoryKind::Reflection && !memory.tags.iter().any(|tag| tag == TAG)
}

/// The reflections as a trace, each an event under its own id.
pub fn trace(sources: &[Remembered]) -> Trace {
    let event = |memory: &Remembered| Event {
        id: memory.id.clone(),
        timestamp: Some(memory.last_seen.to_string()),
        content: format!(
            "outcome {}, importance {:.2}, seen {} times, topics {}\n{}",
            memory.outcome.as_deref().unwrap_or("unknown"),
            memory.importance,
            memory.occurrences,
            memory.tags.join(", "),
            memory.text
        ),
        ..Event::default()
    };
    Trace {
        tenant: TENANT.to_owned(),
        events: sources.iter().map(event).collect(),
        outcome: Outcome::Partial,
        task_description: Some(TASK.to_owned()),
        ..Trace::default()
    }
}

/// What is stored of a dream, linked to its sources; `None` when no pattern was found.
pub fn learned(said: &Reflection, sources: &[Remembered], facts: &Facts) -> Option<NewReflection> {
    let ids: Vec<String> = sources.iter().map(|memory| memory.id.clone()).collect();
    let text = said.reflection.as_deref()?;
    let mut tags = said.tags.clone();
    tags.push(TAG.to_owned());
    Some(NewReflection {
        tenant: TENANT.to_owned(),
        text: mask(text).into_owned(),
        strategy: said.strategy.as_deref().map(|text| mask(text).into_owned()),
        outcome: Some(Outcome::Partial.name().to_owned()),
        importance: said.importance.map_or(UNRATED, Score::get),
        confidence: said.confidence.map_or(UNRATED, Score::get),
        tags,
        event_ids: ids.clone(),
        event_count: facts.events,
        task: TASK.to_owned(),
        related: ids,
        ..NewReflection::default()
    })
}
