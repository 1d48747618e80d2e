//! Figures → the page: pure. What is drawn is worked out here, in numbers and words; the
//! template beside this file writes it down, and escapes every text that it is given.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::figures::{CRITERIA, CostDay, ENDS, Ends, Figures, Moment, PointRow};
use crate::playbook::Section;
use crate::shown::{grouped, plain};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// How wide the drawing of a chart is; the page stretches it.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 120.0;
const GAP: f64 = 0.24;
const SPARK: (f64, f64) = (96.0, 24.0);

/// Makes the page; times are shown as in `zone`.
///
/// Equal figures make equal pages, byte for byte.
pub(crate) fn page(figures: &Figures, zone: &TimeZone) -> Result<String, Error> {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_auto_escape_callback(|_| AutoEscape::Html);
    // Texts come from strangers: no control or bidi characters, and all on one line.
    env.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => {
            minijinja::escape_formatter(out, state, &plain(text).into())
        }
        _ => minijinja::escape_formatter(out, state, value),
    });
    let zone = zone.clone();
    env.add_filter("local", move |at: String| {
        let at = at.parse::<Timestamp>().unwrap_or_default();
        at.to_zoned(zone.clone())
            .strftime("%Y-%m-%d %H:%M")
            .to_string()
    });
    env.add_filter("grouped", grouped);
    env.add_filter("share", |number: f64| format!("{number:.2}"));
    env.add_filter("percent", |share: f64| {
        format!("{:.0}", share.clamp(0.0, 1.0) * 100.0)
    });
    env.render_str(PAGE, minijinja::Value::from(Serde(parts(figures))))
}

fn parts(figures: &Figures) -> Value {
    let path = figures.project.trim_end_matches('/');
    let points = &figures.points;
    let votes = |of: fn(&PointRow) -> u64| points.iter().map(of).fold(0, u64::saturating_add);
    let sum = |of: fn(&CostDay) -> u64| figures.cost.days.iter().map(of).sum::<u64>();
    let (sent, got) = (sum(|day| day.sum.tokens_in), sum(|day| day.sum.tokens_out));
    let calls = sum(|day| day.sum.calls);
    let sections = Section::ALL
        .into_iter()
        .filter(|section| points.iter().any(|point| point.section == *section));
    let criteria = CRITERIA.iter().map(|(name, of)| {
        let shares: Vec<f64> = figures.weeks.iter().map(|week| of(&week.average)).collect();
        json!({"name": name, "now": shares.last(), "path": line(&shares)})
    });
    let worked = figures.days.iter().filter(|day| day.sessions.total() > 0);
    json!({
        "figures": figures,
        "policy": policy(),
        "style": STYLE,
        "script": SCRIPT,
        "name": path.rsplit('/').next(),
        "tiles": [
            (points.len() as u64, "key points", ""),
            (votes(|point| point.helpful), "helpful votes", "good"),
            (votes(|point| point.harmful), "harmful votes", "bad"),
            (figures.sessions.total(), "sessions in 30 days", ""),
            (sent + got, "tokens in 30 days", ""),
        ],
        "points": points.iter().map(shown).collect::<Vec<_>>(),
        "sections": sections.map(|s| (s.slug(), s.title())).collect::<Vec<_>>(),
        "ends": ENDS,
        "sessions": sessions(figures),
        "worked": worked.collect::<Vec<_>>(),
        "criteria": criteria.collect::<Vec<_>>(),
        "spent": {"calls": calls, "sent": sent, "got": got},
        "costs": costs(figures, calls, sent, got),
    })
}

/// The page's own law: it loads nothing and runs no script but ours, also where a text
/// should ever get through as markup.
fn policy() -> String {
    let hash = |text: &str| format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src '{}'; script-src '{}'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

/// A key point with what is drawn of it.
fn shown(row: &PointRow) -> Value {
    let mut shown = json!(row);
    shown["slug"] = row.section.slug().into();
    shown["votes"] = json!(Votes::of(&row.history));
    shown
}

/// The votes of a key point over time, as two lines of steps on one scale.
#[derive(Serialize)]
struct Votes {
    label: String,
    helpful: String,
    harmful: Option<String>,
}

impl Votes {
    fn of(history: &[Moment]) -> Option<Self> {
        let (first, last) = (history.first()?, history.last()?);
        let most = history.iter().map(|m| m.helpful.max(m.harmful)).max();
        let most = real(most.unwrap_or_default().max(1));
        let from = first.time.as_millisecond();
        let span = (last.time.as_millisecond() - from).max(0);
        let steps = |votes: fn(&Moment) -> u64| {
            let moments = history.iter().enumerate().map(|(n, moment)| {
                // Changes at one moment, as in a test, stand side by side all the same.
                let share = if span == 0 {
                    real(n as u64) / real(history.len() as u64 - 1).max(1.0)
                } else {
                    let since = moment.time.as_millisecond() - from;
                    real(since.unsigned_abs()) / real(span.unsigned_abs())
                };
                let (x, y) = spark(share.clamp(0.0, 1.0), real(votes(moment)) / most);
                match n {
                    0 => format!("M0 {y:.1}H{x:.1}"),
                    _ => format!("H{x:.1}V{y:.1}"),
                }
            });
            moments.chain([format!("H{}", SPARK.0)]).collect()
        };
        let has_harmed = history.iter().any(|moment| moment.harmful > 0);
        Some(Self {
            label: format!(
                "after {} changes: helpful {}, harmful {}",
                history.len(),
                last.helpful,
                last.harmful
            ),
            helpful: steps(|moment| moment.helpful),
            harmful: has_harmed.then(|| steps(|moment| moment.harmful)),
        })
    }
}

/// Shares from 0 to 1 over time, as one line.
fn line(shares: &[f64]) -> String {
    let steps = real(shares.len().saturating_sub(1) as u64).max(1.0);
    let places = shares.iter().enumerate().map(|(n, share)| {
        let (x, y) = spark(real(n as u64) / steps, share.clamp(0.0, 1.0));
        format!("{}{x:.1} {y:.1}", if n == 0 { "M" } else { "L" })
    });
    let end = (shares.len() == 1).then(|| format!("H{}", SPARK.0));
    places.chain(end).collect()
}

/// The place of a share of the time and a share of the height.
fn spark(time: f64, value: f64) -> (f64, f64) {
    (time * SPARK.0, (1.0 - value) * SPARK.1)
}

/// One bar: what it stands for, and its parts from below, each with its class.
struct Bar {
    title: String,
    parts: Vec<(&'static str, u64)>,
}

/// Bars side by side on one scale, with what they show in words.
fn chart(label: &str, bars: &[Bar]) -> Value {
    let total = |bar: &Bar| bar.parts.iter().map(|(_, value)| value).sum::<u64>();
    let most = bars.iter().map(total).max().unwrap_or_default();
    let place = WIDTH / real(bars.len() as u64).max(1.0);
    let two = |number: f64| format!("{number:.2}");
    let drawn = bars.iter().enumerate().map(|(n, bar)| {
        let mut y = HEIGHT;
        let parts = bar.parts.iter().filter(|(_, value)| *value > 0);
        let parts = parts.map(|(class, value)| {
            let height = HEIGHT * real(*value) / real(most);
            y -= height;
            json!({"class": class, "y": two(y), "height": two(height)})
        });
        let parts: Vec<_> = parts.collect();
        let at = place * real(n as u64);
        let x = at + place * GAP / 2.0;
        json!({"title": bar.title, "at": two(at), "x": two(x), "parts": parts})
    });
    json!({
        "label": label,
        "most": most,
        "place": two(place),
        "width": two(place * (1.0 - GAP)),
        "bars": drawn.collect::<Vec<_>>(),
    })
}

fn sessions(figures: &Figures) -> Option<Value> {
    let total = figures.sessions.total();
    let bars = figures.days.iter().map(|day| Bar {
        title: format!("{}: {}", day.date, ended(&day.sessions)),
        parts: ENDS.map(|end| (end, day.sessions.get(end))).into(),
    });
    let told = ended(&figures.sessions);
    let label = format!("Sessions by day, {total} in 30 days: {told}");
    (total > 0).then(|| chart(&label, &bars.collect::<Vec<_>>()))
}

fn ended(ends: &Ends) -> String {
    let told = ENDS.into_iter().filter(|end| ends.get(end) > 0);
    let told: Vec<String> = told.map(|end| format!("{} {end}", ends.get(end))).collect();
    if told.is_empty() {
        "none".to_owned()
    } else {
        told.join(", ")
    }
}

fn costs(figures: &Figures, calls: u64, sent: u64, got: u64) -> Value {
    let bars = figures.cost.days.iter().map(|day| Bar {
        title: format!(
            "{}: {} calls, {} tokens in, {} out",
            day.date,
            grouped(day.sum.calls),
            grouped(day.sum.tokens_in),
            grouped(day.sum.tokens_out)
        ),
        parts: vec![("sent", day.sum.tokens_in), ("got", day.sum.tokens_out)],
    });
    let label = format!(
        "Tokens by day: {} calls, {} tokens in and {} out in 30 days",
        grouped(calls),
        grouped(sent),
        grouped(got)
    );
    chart(&label, &bars.collect::<Vec<_>>())
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a drawing needs no exact number"
)]
fn real(number: u64) -> f64 {
    number as f64
}
