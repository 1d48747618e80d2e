//! How what was learned is shown: shared by the commands that find it.

use serde_json::{Value, json};

use super::output::{BAD, DIM, GOOD, NAME, plain, say};
use super::tell;
use crate::memory::{Detail, Fix, MemoryKind, Remembered, SHOWN_FROM};

/// The share of a memory's effectiveness below which it is not shown by itself any more.
const FADED: f64 = SHOWN_FROM;

/// Shows a memory: a line that names it, what it says, and what is known about it.
pub(super) fn show(memory: &Remembered, with_project: bool) -> anyhow::Result<()> {
    let kind = memory.kind.word();
    let last = tell::time(memory.last_seen);
    let times = count(memory.occurrences, "time");
    let verb = match memory.kind {
        MemoryKind::Error => "struck",
        _ => "learned",
    };
    say!(
        "{NAME}{}{NAME:#}  {kind}, {verb} {times}, last {last}",
        plain(&memory.id)
    );
    say!("  {}", plain(&memory.text));
    if let Detail::Error { fixes, .. } = &memory.detail {
        for fix in fixes {
            show_fix(fix)?;
        }
    }
    say!("  {DIM}{}{DIM:#}", plain(&facts(memory, with_project)));
    Ok(())
}

/// Shows what helped against an error.
pub(super) fn show_fix(fix: &Fix) -> anyhow::Result<()> {
    let shown = count(fix.times_applied, "time");
    let (text, faded) = (plain(&fix.text), is_faded(fix.effectiveness));
    say!("  {GOOD}fixed by{GOOD:#} {text}");
    say!(
        "    {DIM}{}, effectiveness {:.2}, shown {shown}{DIM:#}{BAD}{faded}{BAD:#}",
        plain(&fix.id),
        fix.effectiveness
    );
    Ok(())
}

fn is_faded(effectiveness: f64) -> &'static str {
    if effectiveness < FADED {
        ", not shown any more"
    } else {
        ""
    }
}

fn facts(memory: &Remembered, with_project: bool) -> String {
    let mut facts = vec![format!("importance {:.2}", memory.importance)];
    if memory.kind != MemoryKind::Error {
        facts.push(format!("confidence {:.2}", memory.confidence));
        facts.push(format!(
            "effectiveness {:.2}{}",
            memory.effectiveness,
            is_faded(memory.effectiveness)
        ));
    }
    if memory.times_applied > 0 {
        facts.push(format!("shown {}", count(memory.times_applied, "time")));
    }
    facts.extend(memory.category.clone());
    facts.extend(memory.outcome.iter().map(|o| format!("outcome {o}")));
    if !memory.tags.is_empty() {
        facts.push(format!("tags {}", memory.tags.join(" ")));
    }
    if with_project {
        facts.push(memory.project.clone());
    }
    facts.join(", ")
}

/// A number with its noun.
pub(super) fn count(number: u64, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{s}")
}

/// A memory for `--json`.
pub(super) fn in_json(memory: &Remembered) -> Value {
    let mut value = json!({
        "id": memory.id,
        "kind": memory.kind.word(),
        "text": memory.text,
        "score": memory.score,
        "importance": memory.importance,
        "confidence": memory.confidence,
        "effectiveness": memory.effectiveness,
        "occurrences": memory.occurrences,
        "times_applied": memory.times_applied,
        "tags": memory.tags,
        "outcome": memory.outcome,
        "category": memory.category,
        "signature": memory.signature.map(|signature| signature.to_string()),
        "project": memory.project,
        "tenant": memory.tenant,
        "session": memory.session,
        "job": memory.job,
        "created": memory.created,
        "last_seen": memory.last_seen,
    });
    let own = match &memory.detail {
        Detail::Reflection {
            task,
            event_ids,
            event_count,
            related,
        } => json!({
            "task": task, "event_ids": event_ids, "event_count": event_count,
            "related": related,
        }),
        Detail::Lesson {
            task_type,
            mistake,
            correction,
            context_hash,
        } => json!({
            "task_type": task_type, "mistake": mistake, "correction": correction,
            "context_hash": context_hash,
        }),
        Detail::Error { error_type, fixes } => json!({
            "error_type": error_type,
            "fixes": fixes.iter().map(fix_in_json).collect::<Vec<_>>(),
        }),
    };
    if let (Some(value), Value::Object(own)) = (value.as_object_mut(), own) {
        value.extend(own);
    }
    value
}

/// What helped, for `--json`.
pub(super) fn fix_in_json(fix: &Fix) -> Value {
    json!({
        "id": fix.id,
        "text": fix.text,
        "sessions": fix.sessions,
        "effectiveness": fix.effectiveness,
        "occurrences": fix.occurrences,
        "times_applied": fix.times_applied,
        "last_seen": fix.last_seen,
    })
}
