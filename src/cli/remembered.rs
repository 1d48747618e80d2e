//! How what was learned is shown: shared by the commands that find it.

use super::output::{BAD, DIM, GOOD, NAME, plain, say};
use super::tell;
use crate::hint::{MemoryKind, SHOWN_FROM};
use crate::reflect::remembered::{Detail, Fix, Remembered};

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
    if effectiveness < SHOWN_FROM {
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
    if let Detail::Reflection {
        correction: Some(kept),
        ..
    } = &memory.detail
    {
        let (gain, turn) = (kept.quality_improvement, kept.iteration_count);
        facts.push(format!("quality {gain:+.2} in iteration {turn}"));
        facts.push(kept.rationale.clone());
    }
    facts.extend(memory.outcome.iter().map(|o| format!("outcome {o}")));
    if !memory.tags.is_empty() {
        facts.push(format!("tags {}", memory.tags.join(" ")));
    }
    if with_project {
        facts.push(memory.project.clone());
    }
    facts.join(", ")
}

pub(super) fn count(number: u64, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{s}")
}
