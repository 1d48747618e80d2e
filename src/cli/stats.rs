//! `playbook stats`: figures about what was learned.

use std::path::Path;

use serde_json::json;

use super::session::NamedSession;
use super::{answer, args};
use crate::at_stop::Figures;
use crate::memory::{EvaluationAverage, LearnedStats};
use crate::queue::budget::Day;
use crate::tenant::Tenant;

/// The weeks of evaluations that are shown, this one included.
const WEEKS: i64 = 8;
const DAYS: i64 = 7;

pub(super) fn run(session: &NamedSession, of: &args::Of) -> anyhow::Result<()> {
    let project = session.project_of(of);
    let (stats, weeks) = figures(session, project.as_deref())?;
    let mut told = json!(stats);
    told["project"] = json!(project);
    told["bank_capacity"] = session.config.memory.lessons.into();
    told["quality_threshold"] = session.config.gate.threshold.into();
    // What the gate said is the user's, whose sessions it sees.
    told["gate"] = json!(match session.tenant {
        Tenant::User => Figures::of(&session.paths, project.as_deref().map(Path::new))?,
        Tenant::Other(_) => Figures::default(),
    });
    told["evaluations"] = json!(weeks);
    answer::give(of.json, include_str!("screens/stats.txt"), told)
}

fn figures(
    session: &NamedSession,
    project: Option<&str>,
) -> anyhow::Result<(LearnedStats, Vec<EvaluationAverage>)> {
    let Some(memory) = session.memory()? else {
        return Ok((LearnedStats::default(), Vec::new()));
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
