//! `playbook cost`: where the tokens went.

use std::collections::BTreeMap;

use serde_json::json;

use super::session::NamedSession;
use super::{answer, args};
use crate::queue::budget::Day;
use crate::report::Sum;

/// The times that are told of, in days.
const TIMES: [i64; 3] = [1, 7, 30];

type Who = (String, String, String);

pub(super) fn run(session: &NamedSession, args: &args::AsJson) -> anyhow::Result<()> {
    let day = Day::of(session.env.clock().now());
    let spent = spent(session, day)?;
    let total = |time: usize| {
        spent.values().fold(Sum::default(), |sum, sums| Sum {
            calls: sum.calls + sums[time].calls,
            tokens_in: sum.tokens_in + sums[time].tokens_in,
            tokens_out: sum.tokens_out + sums[time].tokens_out,
        })
    };
    let budgets = &session.config.budgets;
    let projects: Vec<_> = spent
        .iter()
        .map(|((project, backend, model), [today, week, month])| {
            json!({
                "project": project, "backend": backend, "model": model,
                "today": today, "days_7": week, "days_30": month,
            })
        })
        .collect();
    let told = json!({
        "day_began": day.start,
        "day_ends": day.end,
        "limits": {
            "calls_per_day": budgets.calls_per_day.get(),
            "tokens_per_day": budgets.tokens_per_day.get(),
        },
        "today": total(0), "days_7": total(1), "days_30": total(2),
        "projects": projects,
    });
    answer::give(args.json, include_str!("screens/cost.txt"), told)
}

fn spent(session: &NamedSession, day: Day) -> anyhow::Result<BTreeMap<Who, [Sum; TIMES.len()]>> {
    let mut spent: BTreeMap<Who, [Sum; TIMES.len()]> = BTreeMap::new();
    let Some(memory) = session.memory()? else {
        return Ok(spent);
    };
    for (time, days) in TIMES.iter().enumerate() {
        for row in memory.spending(day.back(days - 1), day.end)? {
            let who = (row.project.clone(), row.backend.clone(), row.model.clone());
            spent.entry(who).or_default()[time].add(&row);
        }
    }
    Ok(spent)
}
