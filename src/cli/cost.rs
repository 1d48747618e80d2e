//! `playbook cost`: where the tokens went.

use std::collections::BTreeMap;

use serde_json::json;

use super::args;
use super::output::{self, BOLD, DIM, NAME, grouped, plain, say};
use super::session::Session;
use crate::queue::budget::Day;
use crate::report::Sum;

const TIMES: [(&str, i64); 3] = [("today", 1), ("7 days", 7), ("30 days", 30)];

type Who = (String, String, String);

pub(super) fn run(session: &Session, args: &args::AsJson) -> anyhow::Result<()> {
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
    if args.json {
        let projects: Vec<_> = spent
            .iter()
            .map(|((project, backend, model), [today, week, month])| {
                json!({
                    "project": project, "backend": backend, "model": model,
                    "today": today, "days_7": week, "days_30": month,
                })
            })
            .collect();
        return output::json(&json!({
            "day_began": day.start,
            "day_ends": day.end,
            "limits": {
                "calls_per_day": budgets.calls_per_day.get(),
                "tokens_per_day": budgets.tokens_per_day.get(),
            },
            "today": total(0), "days_7": total(1), "days_30": total(2),
            "projects": projects,
        }));
    }
    if spent.is_empty() {
        say!("Nothing was spent in 30 days.");
        return Ok(());
    }
    let heads = format!(
        "{:<10} {:>8} {:>14} {:>14}",
        "", "calls", "tokens in", "tokens out"
    );
    say!("{BOLD}{heads}{BOLD:#}");
    for (time, (title, _)) in TIMES.iter().enumerate() {
        line(&format!("{title:<10}"), &total(time))?;
    }
    let limit = |limit: Option<u64>| limit.map_or("any number of".to_owned(), grouped);
    let (calls, tokens) = (
        limit(budgets.calls_per_day.get()),
        limit(budgets.tokens_per_day.get()),
    );
    say!("{DIM}A day may take {calls} calls and {tokens} tokens.{DIM:#}");
    say!("");
    say!("{BOLD}By project, 30 days{BOLD:#}");
    for ((project, backend, model), sums) in &spent {
        let (project, model) = (plain(project), plain(&format!("{backend} {model}")));
        say!("{NAME}{project}{NAME:#}  {DIM}{model}{DIM:#}");
        line(&format!("{:<10}", ""), &sums[2])?;
    }
    Ok(())
}

fn line(title: &str, sum: &Sum) -> anyhow::Result<()> {
    let [calls, sent, got] = [sum.calls, sum.tokens_in, sum.tokens_out].map(grouped);
    say!("{title} {calls:>8} {sent:>14} {got:>14}");
    Ok(())
}

fn spent(session: &Session, day: Day) -> anyhow::Result<BTreeMap<Who, [Sum; TIMES.len()]>> {
    let mut spent: BTreeMap<Who, [Sum; TIMES.len()]> = BTreeMap::new();
    let Some(memory) = session.memory()? else {
        return Ok(spent);
    };
    for (time, (_, days)) in TIMES.iter().enumerate() {
        for row in memory.spending(day.back(days - 1), day.end)? {
            let who = (row.project.clone(), row.backend.clone(), row.model.clone());
            spent.entry(who).or_default()[time].add(&row);
        }
    }
    Ok(spent)
}
