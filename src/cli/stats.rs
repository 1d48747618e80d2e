//! `playbook stats`: figures about what was learned.

use serde_json::json;

use super::session::Session;
use super::{answer, args};
use crate::memory::{EvaluationAverage, Stats};
use crate::queue::budget::Day;

/// So many weeks of evaluations are shown, this one included.
const WEEKS: i64 = 8;
const DAYS: i64 = 7;

pub(super) fn run(session: &Session, of: &args::Of) -> anyhow::Result<()> {
    let project = session.project_of(of);
    let (stats, weeks) = figures(session, project.as_deref())?;
    let capacity = session.config.memory.lessons;
    let told = json!({
        "project": project,
        "reflections": stats.reflections,
        "total_reflections": stats.total_reflections,
        "strategies": stats.strategies,
        "lessons_stored": stats.lessons,
        "bank_capacity": capacity,
        "average_lesson_effectiveness": stats.average_lesson_effectiveness,
        "errors": stats.errors,
        "error_occurrences": stats.error_occurrences,
        "errors_fixed": stats.errors_fixed,
        "fixes": stats.fixes,
        "average_fix_effectiveness": stats.average_fix_effectiveness,
        "shown": stats.shown,
        "evaluations": weeks,
    });
    answer::give(of.json, include_str!("screens/stats.txt"), told)
}

fn figures(
    session: &Session,
    project: Option<&str>,
) -> anyhow::Result<(Stats, Vec<EvaluationAverage>)> {
    let Some(memory) = session.memory()? else {
        return Ok((Stats::default(), Vec::new()));
    };
    let today = Day::of(session.env.clock().now());
    // Weeks end with today, so that the last one is whole.
    let starts: Vec<_> = (0..WEEKS)
        .rev()
        .map(|week| today.back(week * DAYS + DAYS - 1))
        .collect();
    Ok((
        memory.stats(project)?,
        memory.evaluations(project, &starts)?,
    ))
}
