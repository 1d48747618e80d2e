//! Reads the report's figures from playbook and memory.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::ToSpan as _;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::super::log;
use crate::cli::prelude::*;
use crate::memory::{Entry, PartEnding, Question, RecallQuery, Spending};
use crate::playbook::Point;
use crate::reflect::remembered::MemoryKind;
use crate::reflect::remembered::{Detail, Remembered};

const DAYS: i32 = 30;
/// The weeks of evaluations that are shown, including this one.
const WEEKS: i32 = 12;
/// The most session parts that are read, the newest first.
const PARTS: u64 = 50_000;
const ERRORS: u64 = 1_000;
const TOP_ERRORS: usize = 100;
/// The most changes of a key point that are shown, and the most votes that are drawn, the newest.
const CHANGES: usize = 20;
const VOTES: usize = 200;
/// The ways in which sessions end, the best first.
pub(super) const ENDS: [&str; 6] = [
    "success", "partial", "failure", "timeout", "error", UNJUDGED,
];
/// The session was not judged: too little happened, or its job failed.
const UNJUDGED: &str = "unjudged";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::cli) struct Sum {
    calls: u64,
    pub(super) tokens_in: u64,
    pub(super) tokens_out: u64,
}

impl Sum {
    pub(in crate::cli) fn add(&mut self, row: &Spending) {
        self.calls += row.attempts;
        self.tokens_in += row.input_tokens;
        self.tokens_out += row.output_tokens;
    }
}

/// Reads everything known about a project; without a memory only the key points.
pub(super) fn figures(session: &NamedSession) -> anyhow::Result<Value> {
    let (project, now) = (&session.project_name(), session.env.clock().now());
    let playbook = session.playbook()?;
    let mut figures = json!({
        "project": project,
        "made": now,
        "points": playbook.points().map(|p| point(now, &p)).collect::<Vec<_>>(),
        // Oldest first, including days without a session.
        "days": by_day(now, &[]),
        "sessions": ends([].iter()),
        "errors": [],
        "weeks": [],
        "cost": {"days": [], "models": []},
        "problems": [],
    });
    let mut look = || {
        figures["errors"] = errors(session, project)?;
        match session.memory()? {
            Some(memory) => look_into(&mut figures, &memory, (project, now)),
            None => Ok(()),
        }
    };
    // If the memory cannot be read, the key points are shown without it.
    if let Err(error) = look() {
        figures["problems"] = json!([output::told(&error).join(": ")]);
    }
    Ok(figures)
}

fn look_into(
    figures: &mut Value,
    memory: &Memory,
    (project, now): (&str, Timestamp),
) -> anyhow::Result<()> {
    let endings = memory.endings(project, PARTS)?;
    let days = days(now);
    figures["days"] = by_day(now, &endings);
    figures["sessions"] = ends(
        endings
            .iter()
            .filter(|part| days.contains(&date(part.time))),
    );
    figures["weeks"] = weeks(memory, (project, now))?;
    figures["cost"] = cost(memory, (project, now))?;
    for point in figures["points"].as_array_mut().into_iter().flatten() {
        let name = point["name"].as_str().unwrap_or_default();
        let (story, _) = log::story_of(memory, project, name)?;
        let mut votes = Vec::new();
        for Entry { time, change, .. } in story.iter().filter(|entry| entry.change.id == name) {
            match &change.after {
                Some(after) => votes.push(json!({
                    "time": time, "helpful": after.helpful(), "harmful": after.harmful(),
                })),
                // A point that left and came back starts again.
                None => votes.clear(),
            }
        }
        point["history"] = last(&votes, VOTES).iter().cloned().collect();
        point["story"] = last(&story, CHANGES).iter().map(entry_json).collect();
    }
    Ok(())
}

fn last<T>(all: &[T], most: usize) -> &[T] {
    &all[all.len().saturating_sub(most)..]
}

fn entry_json(entry: &Entry) -> Value {
    let actor = change_text::actor(&entry.event, &entry.session, &entry.backend);
    let reason = &entry.change.reason;
    json!({
        "time": entry.time,
        "point": entry.change.id,
        "deed": change_text::deed(&entry.change),
        "reason": if *reason == actor { "" } else { reason },
        "who": actor,
        "session": entry.session,
        "job": entry.job,
    })
}

fn date(time: Timestamp) -> Date {
    time.to_zoned(TimeZone::system()).date()
}

fn start(date: Date) -> Timestamp {
    let start = date.to_zoned(TimeZone::system());
    start.map_or(Timestamp::MIN, |start| start.timestamp())
}

fn days(now: Timestamp) -> Vec<Date> {
    let back = |n: i32| date(now).saturating_sub(n.days());
    (0..DAYS).rev().map(back).collect()
}

fn point(now: Timestamp, point: &Point<'_>) -> Value {
    let mut value = json!(point);
    value["pinned"] = point.is_pinned().into();
    value["stale"] = point.is_stale(now).into();
    // The time of the last use, or else of the addition.
    value["last"] = json!(point.last());
    // The votes after each known change, and the changes, oldest first.
    value["history"] = json!([]);
    value["story"] = json!([]);
    value
}

/// A part that was not judged does not change its session's ending.
fn ends<'e>(parts: impl Iterator<Item = &'e PartEnding>) -> Value {
    let mut last = BTreeMap::new();
    for part in parts {
        let is_it = |end: &&str| part.ended.as_deref() == Some(*end);
        let end = ENDS.into_iter().find(is_it).unwrap_or(UNJUDGED);
        let known = last.entry(part.session.as_str()).or_insert(end);
        if end != UNJUDGED {
            *known = end;
        }
    }
    let mut counted = BTreeMap::from(ENDS.map(|end| (end, 0_u64)));
    for end in last.into_values() {
        *counted.entry(end).or_default() += 1;
    }
    json!(counted)
}

fn by_day(now: Timestamp, endings: &[PartEnding]) -> Value {
    let mut by_day: BTreeMap<Date, Vec<&PartEnding>> = BTreeMap::new();
    for ending in endings {
        by_day.entry(date(ending.time)).or_default().push(ending);
    }
    let day = |date: Date| {
        let parts = by_day.get(&date).into_iter().flatten().copied();
        json!({"date": date, "sessions": ends(parts)})
    };
    days(now).into_iter().map(day).collect()
}

fn errors(session: &NamedSession, project: &str) -> anyhow::Result<Value> {
    let wanted = RecallQuery {
        kinds: vec![MemoryKind::Error],
        project: Some(project.to_owned()),
        ..RecallQuery::best(ERRORS)
    };
    let mut known = session.ask(&Question::Recall(wanted))?.memories;
    known.sort_by_cached_key(|error| {
        let often = (error.occurrences, error.last_seen);
        (Reverse(often), error.id.clone())
    });
    known.truncate(TOP_ERRORS);
    let in_json = |error: &Remembered| {
        let tool = match &error.detail {
            Detail::Error { error_type } => error_type.as_str(),
            _ => "",
        };
        json!({
            "id": error.id,
            "tool": tool,
            "text": error.text,
            "times": error.occurrences,
            "last": error.last_seen,
        })
    };
    Ok(known.iter().map(in_json).collect())
}

fn weeks(memory: &Memory, (project, now): (&str, Timestamp)) -> anyhow::Result<Value> {
    // Weeks end with today, so that the last one is complete.
    let first = |week: i32| start(date(now).saturating_sub((week * 7 + 6).days()));
    let starts: Vec<Timestamp> = (0..WEEKS).rev().map(first).collect();
    let averages = memory.evaluations(Some(project), &starts)?;
    let weeks = averages.into_iter().map(|week| {
        let mut value = json!(week);
        value["from"] = json!(date(week.from));
        value
    });
    Ok(weeks.collect())
}

fn cost(memory: &Memory, (project, now): (&str, Timestamp)) -> anyhow::Result<Value> {
    let mut models: BTreeMap<(String, String), Sum> = BTreeMap::new();
    let mut days = Vec::new();
    for date in self::days(now) {
        let next = start(date.saturating_add(1.days()));
        let mut sum = Sum::default();
        for row in memory.spending(None, start(date), next)? {
            if row.project == project {
                sum.add(&row);
                let who = (row.backend.clone(), row.model.clone());
                models.entry(who).or_default().add(&row);
            }
        }
        let mut day = json!(sum);
        day["date"] = json!(date);
        days.push(day);
    }
    let mut models: Vec<_> = models.into_iter().collect();
    models.sort_by_key(|(_, sum)| Reverse(sum.tokens_in + sum.tokens_out));
    let models = models.into_iter().map(|((backend, model), sum)| {
        json!({
            "backend": backend, "model": model,
            "calls": sum.calls, "tokens_in": sum.tokens_in, "tokens_out": sum.tokens_out,
        })
    });
    Ok(json!({"days": days, "models": models.collect::<Vec<_>>()}))
}
