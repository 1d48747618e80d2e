//! Dreaming: the pattern behind what was learned lately (spec/3), and the rule behind several
//! lessons. Pure.

use std::collections::BTreeSet;

use serde_json::Value;

use super::clauses::{Clauses, Stand};
use super::extract::extract_json;
use super::known::{KnownLesson, shown};
use super::names::names;
use super::recurrence::named_lessons;
use super::reply::{Reflection, Reply, Score};
use super::said::EventWords;
use super::sentences::plain;
use super::trace::{Trace, TraceEvent};
use crate::hint::{MemoryKind, hashes};
use crate::playbook::Skipped;
use crate::playbook::ops::{Operation, written_text};
use crate::redact::mask;
use crate::reflect::learned::NewReflection;
use crate::reflect::remembered::Remembered;
use crate::screen;
use crate::tenant;
use crate::transcript::{Facts, SessionOutcome};

pub const TEMPLATE: &str = include_str!("../../templates/dream.txt");
/// A pattern needs so many reflections and lessons.
pub const FEWEST: usize = 3;
/// So many lessons, of as many sessions, make a rule.
pub const JOINED: usize = 2;
/// What a rule's text may be found by in a reply.
const KEYS: &[&str] = &["analysis", "rule"];
/// The tag of what was dreamt; it is not dreamt of again.
pub(crate) const TAG: &str = "dream";
const TASK: &str = "find the pattern behind recent reflections";
/// What nobody rated.
const UNRATED: f64 = 0.5;

/// Tells whether a memory is one that a pattern is looked for in.
pub fn is_source(memory: &Remembered) -> bool {
    memory.kind == MemoryKind::Reflection && !memory.tags.iter().any(|tag| tag == TAG)
}

#[derive(Debug, Default)]
pub struct Dreamt {
    pub said: Reflection,
    /// The rule behind several lessons, as a curator's operation.
    pub rule: Option<Value>,
}

impl Reply for Dreamt {
    fn parse(reply: &str) -> Option<(Self, Vec<Skipped>)> {
        let (said, skipped) = Reflection::parse(reply)?;
        let rule = extract_json(reply, KEYS).and_then(|mut object| object.remove("rule"));
        Some((Self { said, rule }, skipped))
    }

    fn taught(&self) -> Vec<&str> {
        let rule = self.rule.iter().map(written_text);
        self.said.taught().into_iter().chain(rule).collect()
    }
}

/// The lessons that a rule joins; the error says why it is none.
///
/// It rests on them as [`says_no_more`] has it, and each of them is about what it says. Their
/// grounds are its grounds.
pub fn joined<'l>(
    rule: &Value,
    lessons: &'l [KnownLesson],
) -> Result<Vec<&'l KnownLesson>, String> {
    let Operation::Add { text, .. } = Operation::read(rule)? else {
        return Err("it is no new key point".to_owned());
    };
    let about = hashes(&text);
    let mut joined = named_lessons(rule, lessons);
    joined.retain(|lesson| !hashes(&lesson.text).is_disjoint(&about));
    if joined.len() < JOINED {
        return Err("it names no two lessons that are about it".to_owned());
    }
    let said: Vec<&str> = joined.iter().map(|lesson| lesson.text.as_str()).collect();
    says_no_more(&text, &said)?;
    Ok(joined)
}

/// Makes sure that a text rests on its sources: each command, path, flag and host in it stands in
/// one of them, and one in three of its words; and no clause of it is the opposite of theirs.
pub fn says_no_more(text: &str, sources: &[&str]) -> Result<(), String> {
    let text = screen::plain(text);
    let said: Vec<String> = sources.iter().map(|text| plain(text)).collect();
    let mut names = names(&text).into_iter();
    if let Some(name) = names.find(|name| !said.iter().any(|text| name.stands_in(text))) {
        return Err(format!("`{}` stands in none of its sources", name.text));
    }
    let sources = sources.join("\n");
    let has_share = EventWords::of(&sources).has_share(&hashes(&text), &BTreeSet::new());
    let opposes = Clauses::of(&sources).stand_to(&Clauses::of(&text)) == Stand::Opposes;
    if !has_share || opposes {
        return Err("it says something else than its sources".to_owned());
    }
    Ok(())
}

/// The reflections and lessons as a trace, each an event under its own id.
pub fn trace(sources: &[Remembered], lessons: &[KnownLesson]) -> Trace {
    let event = |memory: &Remembered| TraceEvent {
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
        ..TraceEvent::default()
    };
    let of_lesson = |(number, lesson): (usize, &KnownLesson)| TraceEvent {
        id: lesson.id.clone(),
        content: shown(number, lesson),
        ..TraceEvent::default()
    };
    let lessons = (1..).zip(lessons).map(of_lesson);
    Trace {
        tenant: tenant::DEFAULT.to_owned(),
        events: sources.iter().map(event).chain(lessons).collect(),
        outcome: SessionOutcome::Partial,
        task_description: Some(TASK.to_owned()),
        ..Trace::default()
    }
}

/// What is stored of a dream, linked to its sources; `None` when no pattern was found.
pub fn learned(said: &Reflection, sources: &[String], facts: &Facts) -> Option<NewReflection> {
    let ids = sources.to_vec();
    let text = said.reflection.as_deref()?;
    let mut tags = said.tags.clone();
    tags.push(TAG.to_owned());
    Some(NewReflection {
        tenant: tenant::DEFAULT.to_owned(),
        text: mask(text).into_owned(),
        strategy: said.strategy.as_deref().map(|text| mask(text).into_owned()),
        outcome: Some(SessionOutcome::Partial.word().to_owned()),
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
