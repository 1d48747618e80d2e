//! Takes from the replies what has no ground in the session.

use serde_json::Value;

use super::grounds::{Grounds, TaughtText, numbers};
use super::known::KnownLesson;
use super::learned::ARROW;
use super::recurrence::named_lessons;
use super::reply::Reflection;
use crate::clip::{head, told_head};
use crate::playbook::clean::clean_text;
use crate::playbook::ops::{Operation, named_points, written_text};
use crate::playbook::{Playbook, Point, Section, Skipped};

/// How much of a text is told that is not accepted, in bytes.
const TOLD: usize = 500;
/// A lesson that so many sessions taught, each with a ground, needs none in another.
const OFTEN: u64 = 2;

/// Takes the lessons, the strategy and the sentences from a reflection that have no ground; returns
/// which lessons and what strategy went.
pub fn keep_grounded(reflection: &mut Reflection, grounds: &Grounds<'_>) -> Vec<Skipped> {
    let mut dropped = Vec::new();
    let refusal = |text: &str, named: &[u32]| {
        let claim = TaughtText {
            text,
            grounds: named,
            sources: &[],
        };
        grounds.accept(&claim).err()
    };
    let mut is_accepted = |what: &str, text: &str, refused: Option<String>| {
        let is_accepted = refused.is_none();
        dropped.extend(refused.map(|why| told(what, text, why)));
        is_accepted
    };
    reflection.lessons.retain_mut(|lesson| {
        let text = [lesson.mistake.as_str(), &lesson.correction].join(ARROW);
        let refused = refusal(&text, &lesson.grounds);
        // What to do may have a ground where the tale of what went wrong names what has none.
        if refused.is_some() && refusal(&lesson.correction, &lesson.grounds).is_none() {
            lesson.mistake.clear();
            return true;
        }
        is_accepted("lesson", &text, refused)
    });
    // What is remembered of a session tells nothing that only a tool or a page said.
    let told = reflection.reflection.as_deref();
    let told = told.unwrap_or(&reflection.analysis);
    let trusted = grounds.trusted_part(told);
    if reflection.reflection.is_some() || trusted != reflection.analysis {
        reflection.reflection = Some(trusted);
    }
    let named = &reflection.strategy_grounds;
    let strategy = reflection.strategy.take();
    reflection.strategy =
        strategy.filter(|text| is_accepted("strategy", text, refusal(text, named)));
    if reflection.strategy.is_none() {
        reflection.strategy_grounds.clear();
    }
    dropped
}

/// What stands before the quotation of words that the user wants to hold. The memory knows by it,
/// in brackets, what the user said.
const SAID: &str = "said: ";

/// What a model gives as its reason, or what a ground says, without the mark of what the user said:
/// only the program sets it.
pub fn unmarked(reason: &str) -> String {
    reason.replace(&format!("[{SAID}"), &format!("({SAID}"))
}

/// Parts a curator's operations into those with a ground, which is quoted in their reason, and
/// what is told of the others. `reasoning` is the reason of those that bring none; `why_stale`
/// says of a point what it names and is gone, which is a ground to correct it or take it away.
/// A new key point that says what known `lessons` say may rest on them, where it names them.
pub fn with_grounds(
    operations: Vec<Value>,
    playbook: &Playbook,
    grounds: &Grounds<'_>,
    lessons: &[KnownLesson],
    why_stale: impl Fn(&Point<'_>) -> Option<String>,
    reasoning: &str,
) -> (Vec<Value>, Vec<Skipped>) {
    let mut kept = Vec::new();
    let mut dropped = Vec::new();
    for mut operation in operations {
        let read = Operation::read(&operation).ok();
        let text = match &read {
            Some(Operation::Delete { .. }) => "",
            _ => written_text(&operation),
        };
        let points = read.iter().flat_map(Operation::points);
        let points: Vec<Point<'_>> = points.filter_map(|name| playbook.named(name)).collect();
        let section = right_section(read.as_ref(), &points, grounds);
        let sources: Vec<&str> = points.iter().map(|point| point.text).collect();
        let named = numbers(operation.get("grounds"));
        let claim = TaughtText {
            text,
            grounds: &named,
            sources: &sources,
        };
        let mut named_ones = read.iter().flat_map(Operation::points);
        // What another operation of the reply makes has no text yet to be judged by.
        let missing = named_ones.find(|name| playbook.named(name).is_none());
        let accepted = grounds.accept(&claim).or_else(|refused| {
            let stale: Option<Vec<String>> = points.iter().map(&why_stale).collect();
            if let Some(stale) = stale.filter(|stale| !stale.is_empty()) {
                return grounds.accept_of_stale(text, &sources, &stale.join("; "));
            }
            let taught = taught(&operation, lessons, !grounds.among(&named).is_empty());
            match taught[..] {
                [] => Err(refused),
                _ => grounds.accept_of_lessons(text, &taught),
            }
        });
        let missing = missing.map(|name| Err(format!("no key point {}", clean_text(name))));
        match missing.unwrap_or(accepted) {
            Ok(quote) => {
                let is_new = matches!(read, Some(Operation::Add { .. }));
                let said = numbers(operation.get("said"));
                let said = is_new.then(|| grounds.quote_of_said(text, &said)).flatten();
                let quote = said.map_or(unmarked(&quote), |said| format!("{SAID}{said}"));
                let reason = operation.get("reason").and_then(Value::as_str);
                let reason = reason.filter(|reason| !reason.trim().is_empty());
                let reason = reason.unwrap_or(reasoning).trim();
                operation["reason"] = format!("{reason} [{quote}]").trim().into();
                if let Some(section) = section {
                    operation["section"] = section.title().into();
                }
                kept.push(operation);
            }
            Err(why) => {
                let kind = operation.get("type").and_then(Value::as_str);
                let kind = kind.unwrap_or("operation");
                let about = match text {
                    "" => named_points(&operation).collect::<Vec<_>>().join(", "),
                    text => text.to_owned(),
                };
                dropped.push(told(kind, &about, why));
            }
        }
    }
    (kept, dropped)
}

/// The section of an operation that would put what is right among the mistakes: what the user asks
/// for in so many words, and key points that stood elsewhere.
fn right_section(
    operation: Option<&Operation>,
    points: &[Point<'_>],
    grounds: &Grounds<'_>,
) -> Option<Section> {
    match operation? {
        Operation::Add {
            text,
            section: Section::Mistakes,
        } if grounds.is_wished(text) => Some(Section::Patterns),
        Operation::Merge {
            section: Some(Section::Mistakes),
            ..
        } => {
            let mut sections = points.iter().map(|point| point.section);
            let first = sections.next()?;
            let is_mistake = first == Section::Mistakes || sections.any(|s| s == Section::Mistakes);
            (!is_mistake).then_some(first)
        }
        _ => None,
    }
}

/// The texts of the known lessons that a new key point names, where they may be its ground: one that
/// many sessions taught, or another one that an event of this session stands for as well. They say
/// nothing of the key points that another operation changes or takes away.
fn taught<'l>(operation: &Value, lessons: &'l [KnownLesson], has_event: bool) -> Vec<&'l str> {
    if !matches!(Operation::read(operation), Ok(Operation::Add { .. })) {
        return Vec::new();
    }
    let least = if has_event { 1 } else { OFTEN };
    let named = named_lessons(operation, lessons).into_iter();
    let named = named.filter(|lesson| lesson.sessions >= least);
    named.map(|lesson| lesson.text.as_str()).collect()
}

pub fn told(what: &str, text: &str, reason: String) -> Skipped {
    Skipped {
        what: format!("{} \"{}\"", head(what, TOLD), told_head(text, TOLD)),
        reason,
    }
}
