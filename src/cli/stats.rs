//! `playbook stats`: figures about what was learned.

use serde_json::json;

use super::args;
use super::output::{self, BOLD, DIM, plain, say};
use super::session::Session;
use crate::memory::{EvaluationAverage, Stats};
use crate::queue::budget::Day;
use crate::report::CRITERIA;

/// So many weeks of evaluations are shown, this one included.
const WEEKS: i64 = 8;
const DAYS: i64 = 7;

pub(super) fn run(session: &Session, of: &args::Of) -> anyhow::Result<()> {
    let project = session.project_of(of);
    let (stats, weeks) = figures(session, project.as_deref())?;
    let capacity = session.config.memory.lessons;
    if of.json {
        return output::json(&json!({
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
        }));
    }
    let place = project.as_deref().map_or("all projects".to_owned(), plain);
    say!("{BOLD}Learned in {place}{BOLD:#}");
    let line = |name: &str, number: u64, more: &str| {
        let gap = if more.is_empty() { "" } else { "  " };
        say!("{name:<12}{number:>8}{gap}{DIM}{more}{DIM:#}");
        Ok::<(), anyhow::Error>(())
    };
    let kept = format!("{} counted", stats.total_reflections);
    line("reflections", stats.reflections, &kept)?;
    line("strategies", stats.strategies, "")?;
    let helped =
        |kept: u64, mean: f64| (kept > 0).then(|| format!("effectiveness {mean:.2} on average"));
    let room = (!of.all).then(|| format!("room for {capacity}"));
    let lessons = helped(stats.lessons, stats.average_lesson_effectiveness);
    let of_lessons: Vec<String> = lessons.into_iter().chain(room).collect();
    line("lessons", stats.lessons, &of_lessons.join(", "))?;
    let struck = format!(
        "struck {} times, {} with a fix",
        stats.error_occurrences, stats.errors_fixed
    );
    line("errors", stats.errors, &struck)?;
    let fixes = helped(stats.fixes, stats.average_fix_effectiveness);
    line("fixes", stats.fixes, &fixes.unwrap_or_default())?;
    let of = "times, of lessons, strategies and fixes";
    line("shown", stats.shown, of)?;
    show_weeks(&weeks)
}

fn show_weeks(weeks: &[EvaluationAverage]) -> anyhow::Result<()> {
    if weeks.is_empty() {
        return Ok(());
    }
    say!("");
    let heads = CRITERIA.map(|(name, _)| format!("  {name}")).concat();
    say!("{BOLD}{:<12}{:>8}{heads}{BOLD:#}", "week from", "sessions");
    for week in weeks {
        let shares = CRITERIA.map(|(name, of)| {
            let width = name.len() + 2;
            format!("{:>width$.2}", of(&week.average))
        });
        say!("{:<12}{:>8}{}", day(week), week.sessions, shares.concat());
    }
    Ok(())
}

fn day(week: &EvaluationAverage) -> String {
    let from = week.from.to_zoned(jiff::tz::TimeZone::system());
    from.strftime("%Y-%m-%d").to_string()
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
