//! The one place that looks into playbook and memory for the page.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::memory::{Memory, MemoryError, PartEnding, RecallQuery, Spending};
use crate::playbook::{Playbook, Point};
use crate::reflect::remembered::MemoryKind;
use crate::reflect::remembered::{Detail, Remembered};

/// So many days of sessions and costs are shown, today included.
const DAYS: i32 = 30;
/// So many weeks of evaluations are shown, this one included.
const WEEKS: i32 = 12;
/// So many parts of sessions are looked at, the newest.
const PARTS: u64 = 50_000;
const ERRORS: u64 = 1_000;
const TOP_ERRORS: usize = 100;
/// How sessions end, the best first.
pub(super) const ENDS: [&str; 6] = [
    "success", "partial", "failure", "timeout", "error", UNJUDGED,
];
/// Nobody judged it: too little happened, or its job failed.
const UNJUDGED: &str = "unjudged";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sum {
    /// Requests, retries included.
    pub(crate) calls: u64,
    pub(crate) tokens_in: u64,
    pub(crate) tokens_out: u64,
}

impl Sum {
    pub(crate) fn add(&mut self, row: &Spending) {
        self.calls += row.attempts;
        self.tokens_in += row.input_tokens;
        self.tokens_out += row.output_tokens;
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Query<'a> {
    pub(crate) project: &'a str,
    pub(crate) now: Timestamp,
    /// Where the user is: there days begin.
    pub(crate) zone: &'a TimeZone,
}

impl Query<'_> {
    fn date(&self, time: Timestamp) -> Date {
        time.to_zoned(self.zone.clone()).date()
    }

    fn start(&self, date: Date) -> Timestamp {
        let start = date.to_zoned(self.zone.clone());
        start.map_or(Timestamp::MIN, |start| start.timestamp())
    }

    /// The last days, oldest first.
    fn days(&self) -> Vec<Date> {
        let today = self.date(self.now);
        let back = |n: i32| today.saturating_sub(n.days());
        (0..DAYS).rev().map(back).collect()
    }
}

/// Reads all that is known of a project; without a memory the key points alone.
pub(crate) fn read(query: &Query<'_>, playbook: &Playbook, memory: Option<&Memory>) -> Value {
    let mut figures = json!({
        "project": query.project,
        "made": query.now,
        "points": playbook.points().map(|p| point(query, &p)).collect::<Vec<_>>(),
        // Oldest first, also those without a session.
        "days": days(query, &[]),
        "sessions": ends([].iter()),
        "errors": [],
        "weeks": [],
        "cost": {"days": [], "models": []},
        "problems": [],
    });
    if let Some(memory) = memory
        && let Err(error) = look_into(&mut figures, query, memory)
    {
        figures["problems"] = json!([error.to_string()]);
    }
    figures
}

fn look_into(figures: &mut Value, query: &Query<'_>, memory: &Memory) -> Result<(), MemoryError> {
    let endings = memory.endings(query.project, PARTS)?;
    figures["days"] = days(query, &endings);
    let days = query.days();
    let shown = endings.iter();
    figures["sessions"] = ends(shown.filter(|part| days.contains(&query.date(part.time))));
    figures["errors"] = errors(query, memory)?;
    figures["weeks"] = weeks(query, memory)?;
    figures["cost"] = cost(query, memory)?;
    Ok(())
}

fn point(query: &Query<'_>, point: &Point<'_>) -> Value {
    let mut told = json!(point);
    told["pinned"] = point.is_pinned().into();
    told["stale"] = point.is_stale(query.now).into();
    // When it was last used, or else added.
    told["last"] = json!(point.last());
    // Its votes after each change that is remembered, and what happened to it, oldest first.
    told["history"] = json!([]);
    told["story"] = json!([]);
    told
}

/// How each session ended that has a part on one of the days; a part that was not judged
/// says nothing about the others.
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

fn days(query: &Query<'_>, endings: &[PartEnding]) -> Value {
    let mut by_day: BTreeMap<Date, Vec<&PartEnding>> = BTreeMap::new();
    for ending in endings {
        by_day
            .entry(query.date(ending.time))
            .or_default()
            .push(ending);
    }
    let day = |date: Date| {
        let parts = by_day.get(&date).into_iter().flatten().copied();
        json!({"date": date, "sessions": ends(parts)})
    };
    query.days().into_iter().map(day).collect()
}

fn errors(query: &Query<'_>, memory: &Memory) -> Result<Value, MemoryError> {
    let wanted = RecallQuery {
        kinds: vec![MemoryKind::Error],
        project: Some(query.project.to_owned()),
        ..RecallQuery::best(ERRORS)
    };
    let mut known = memory.recall(&wanted, query.now)?;
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

fn weeks(query: &Query<'_>, memory: &Memory) -> Result<Value, MemoryError> {
    // Weeks end with today, so that the last one is whole.
    let first = |week: i32| query.date(query.now).saturating_sub((week * 7 + 6).days());
    let starts: Vec<Timestamp> = (0..WEEKS)
        .rev()
        .map(|week| query.start(first(week)))
        .collect();
    let averages = memory.evaluations(Some(query.project), &starts)?;
    let weeks = averages.into_iter().map(|week| {
        let mut told = json!(week);
        told["from"] = json!(query.date(week.from));
        told
    });
    Ok(weeks.collect())
}

/// What was spent on each of the last days, and on which model, most tokens first.
fn cost(query: &Query<'_>, memory: &Memory) -> Result<Value, MemoryError> {
    let mut models: BTreeMap<(String, String), Sum> = BTreeMap::new();
    let mut days = Vec::new();
    for date in query.days() {
        let next = date.saturating_add(1.days());
        let mut sum = Sum::default();
        for row in memory.spending(None, query.start(date), query.start(next))? {
            if row.project == query.project {
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
