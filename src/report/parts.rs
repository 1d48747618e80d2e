//! The parts of the page, each as HTML. Every text of a stranger goes through [`Escaped`].
#![expect(
    clippy::format_collect,
    reason = "a page is made once, and reads better so"
)]

use std::fmt::{Display, Write as _};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::chart::{self, Bar};
use super::escape::Escaped;
use super::figures::{CostDay, End, ErrorRow, Figures, PointRow, Week};
use crate::playbook::Section;
use crate::shown::grouped;

/// The parts of one page.
pub(super) struct Parts<'a> {
    pub(super) figures: &'a Figures,
    pub(super) zone: &'a TimeZone,
}

/// A column of a table: its key in links, its title, and how it is sorted.
type Column = (&'static str, &'static str, Sorted);

/// A criterion of the evaluator's: its name, and a week's average.
type Criterion = (&'static str, fn(&Week) -> f64);

/// What a table is filtered by beside words: its key in links, its title, and the values
/// to choose from, each with its title.
type Filter<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

/// How a column is sorted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sorted {
    Number,
    Text,
    Not,
}

const POINTS: [Column; 6] = [
    ("name", "Key point", Sorted::Text),
    ("text", "What it says", Sorted::Text),
    ("helpful", "Helpful", Sorted::Number),
    ("harmful", "Harmful", Sorted::Number),
    ("history", "History", Sorted::Not),
    ("last", "Last used", Sorted::Text),
];

const ERRORS: [Column; 5] = [
    ("text", "Error", Sorted::Text),
    ("tool", "Tool", Sorted::Text),
    ("times", "Times", Sorted::Number),
    ("last", "Last", Sorted::Text),
    ("fixes", "What fixed it", Sorted::Not),
];

impl Parts<'_> {
    pub(super) fn name(&self) -> String {
        let path = self.figures.project.trim_end_matches('/');
        let name = path.rsplit('/').next().unwrap_or_default();
        Escaped(name).to_string()
    }

    pub(super) fn project(&self) -> String {
        Escaped(&self.figures.project).to_string()
    }

    pub(super) fn made(&self) -> String {
        time(self.figures.made, self.zone)
    }

    pub(super) fn problems(&self) -> String {
        let problems = self.figures.problems.iter();
        problems
            .map(|problem| format!("<p class=\"problem\">{}</p>", Escaped(problem)))
            .collect()
    }

    /// The figures that matter most, large.
    pub(super) fn tiles(&self) -> String {
        let figures = self.figures;
        let sum = |votes: fn(&PointRow) -> u64| {
            let votes = figures.points.iter().map(votes);
            votes.fold(0, u64::saturating_add)
        };
        let days = figures.cost.days.iter();
        let tokens = days.map(|day| day.tokens_in + day.tokens_out).sum();
        let tiles = [
            (figures.points.len() as u64, "key points", ""),
            (sum(|p| p.helpful), "helpful votes", "good"),
            (sum(|p| p.harmful), "harmful votes", "bad"),
            (figures.sessions.total(), "sessions in 30 days", ""),
            (tokens, "tokens in 30 days", ""),
        ];
        tiles
            .into_iter()
            .map(|(number, label, class)| {
                let number = grouped(number);
                format!("<li><b class=\"{class}\">{number}</b> <span>{label}</span></li>")
            })
            .collect()
    }

    pub(super) fn points(&self) -> String {
        let points = &self.figures.points;
        if points.is_empty() {
            return nothing("No key points yet. They come as sessions end.");
        }
        let sections = Section::ALL.into_iter().filter(|section| {
            let mut points = points.iter();
            points.any(|point| point.section == *section)
        });
        let choices: Vec<(&str, &str)> = sections.map(|s| (s.slug(), s.title())).collect();
        let rows: String = points.iter().map(|point| self.point(point)).collect();
        table(
            "points",
            "Key points",
            &POINTS,
            ("section", "Section", &choices),
            &rows,
        )
    }

    fn point(&self, point: &PointRow) -> String {
        let mut marks = String::new();
        if point.pinned {
            marks.push_str(" <small class=\"mark\">pinned</small>");
        }
        if point.stale {
            marks.push_str(" <small class=\"mark\">stale</small>");
        }
        let history = match chart::votes(&point.history) {
            svg if svg.is_empty() => "<span class=\"muted\">none</span>".to_owned(),
            svg => svg,
        };
        let cells = [
            cell("num", "Helpful", &point.helpful, &good(point.helpful)),
            cell("num", "Harmful", &point.harmful, &bad(point.harmful)),
            cell("", "History", &"", &history),
            self.time_cell("Last used", point.last),
        ];
        format!(
            "<tr role=\"row\" data-section=\"{}\"><th role=\"rowheader\" scope=\"row\" data-v=\"{name}\">\
             <code>{name}</code><small class=\"muted\">{section}</small></th>\
             <td role=\"cell\" class=\"text\" data-v=\"{text}\">{text}{marks}</td>{}</tr>\n",
            point.section.slug(),
            cells.concat(),
            name = Escaped(&point.name),
            section = Escaped(&sentence(point.section.title())),
            text = Escaped(&point.text),
        )
    }

    pub(super) fn errors(&self) -> String {
        let errors = &self.figures.errors;
        if errors.is_empty() {
            return nothing("No error is known.");
        }
        let rows: String = errors.iter().map(|error| self.error(error)).collect();
        let choices = [("yes", "Fixed before"), ("no", "No fix known")];
        let filter = ("fixed", "Fixes", &choices[..]);
        table("errors", "Errors and their fixes", &ERRORS, filter, &rows)
    }

    fn error(&self, error: &ErrorRow) -> String {
        let mut fixes: String = error
            .fixes
            .iter()
            .map(|fix| {
                format!(
                    "<li>{} <small class=\"muted\">helps {:.0}%</small></li>",
                    Escaped(&fix.text),
                    fix.effectiveness.clamp(0.0, 1.0) * 100.0
                )
            })
            .collect();
        fixes = if fixes.is_empty() {
            "<span class=\"muted\">none known</span>".to_owned()
        } else {
            format!("<ul>{fixes}</ul>")
        };
        let cells = [
            cell("", "Tool", &Escaped(&error.tool), &Escaped(&error.tool)),
            cell("num", "Times", &error.times, &grouped(error.times)),
            self.time_cell("Last", Some(error.last)),
            cell("text", "What fixed it", &"", &fixes),
        ];
        format!(
            "<tr role=\"row\" data-fixed=\"{}\"><th role=\"rowheader\" scope=\"row\" class=\"text\" data-v=\"{text}\">\
             {text}<small class=\"muted\">{}</small></th>{}</tr>\n",
            if error.fixes.is_empty() { "no" } else { "yes" },
            Escaped(&error.id),
            cells.concat(),
            text = Escaped(&error.text),
        )
    }

    fn time_cell(&self, label: &str, at: Option<Timestamp>) -> String {
        let shown = at.map_or_else(
            || "<span class=\"muted\">unknown</span>".to_owned(),
            |at| time(at, self.zone),
        );
        let value = at.map_or_else(String::new, |at| at.to_string());
        cell("nowrap", label, &value, &shown)
    }

    pub(super) fn sessions(&self) -> String {
        let total = self.figures.sessions.total();
        if total == 0 {
            return nothing("No session in 30 days.");
        }
        let days = &self.figures.days;
        let bars: Vec<Bar> = days
            .iter()
            .map(|day| Bar {
                title: format!("{}: {}", day.date, ends(|end| day.sessions.get(end))),
                parts: End::ALL
                    .map(|end| (end.word(), day.sessions.get(end)))
                    .into(),
            })
            .collect();
        let told = ends(|end| self.figures.sessions.get(end));
        let label = format!("Sessions by day, {total} in 30 days: {told}");
        let legend: String = End::ALL
            .into_iter()
            .filter(|end| self.figures.sessions.get(*end) > 0)
            .map(|end| {
                let word = end.word();
                let number = grouped(self.figures.sessions.get(end));
                format!("<li class=\"{word}\"><b>{number}</b> {word}</li>")
            })
            .collect();
        let rows: String = days
            .iter()
            .filter(|day| day.sessions.total() > 0)
            .map(|day| {
                let numbers = End::ALL.map(|end| day.sessions.get(end).to_string());
                plain_row(&day.date.to_string(), &numbers)
            })
            .collect();
        let heads = End::ALL.map(End::word);
        let axis = axis(self, &highest(&bars, "session"));
        figure(&chart::bars(&label, &bars), &axis, &legend)
            + &plain_table("Sessions by day", "Day", &heads, &rows)
    }

    pub(super) fn evaluations(&self) -> String {
        let weeks = &self.figures.weeks;
        let Some(last) = weeks.last() else {
            return nothing("No session was evaluated in 12 weeks.");
        };
        let criteria: [Criterion; 5] = [
            ("correctness", |week| week.correctness),
            ("helpfulness", |week| week.helpfulness),
            ("safety", |week| week.safety),
            ("completeness", |week| week.completeness),
            ("efficiency", |week| week.efficiency),
        ];
        let cards: String = criteria
            .iter()
            .map(|(name, of)| {
                let shares: Vec<f64> = weeks.iter().map(of).collect();
                let label = format!("{name} over {} weeks, now {:.2}", weeks.len(), of(last));
                let svg = chart::shares(&label, &shares);
                format!("<li><span>{name}</span> <b>{:.2}</b>{svg}</li>", of(last))
            })
            .collect();
        let rows: String = weeks
            .iter()
            .map(|week| {
                let mut numbers = vec![week.sessions.to_string()];
                numbers.extend(criteria.iter().map(|(_, of)| format!("{:.2}", of(week))));
                plain_row(&week.from.to_string(), &numbers)
            })
            .collect();
        let mut heads = vec!["sessions"];
        heads.extend(criteria.iter().map(|(name, _)| *name));
        format!("<ul class=\"cards\">{cards}</ul>")
            + &plain_table("Evaluations by week", "Week from", &heads, &rows)
    }

    pub(super) fn costs(&self) -> String {
        let cost = &self.figures.cost;
        let sum = |of: fn(&CostDay) -> u64| cost.days.iter().map(of).sum::<u64>();
        let (calls, sent, got) = (
            sum(|d| d.calls),
            sum(|d| d.tokens_in),
            sum(|d| d.tokens_out),
        );
        if calls == 0 {
            return nothing("Nothing was spent in 30 days.");
        }
        let bars: Vec<Bar> = cost
            .days
            .iter()
            .map(|day| Bar {
                title: format!(
                    "{}: {} calls, {} tokens in, {} out",
                    day.date,
                    grouped(day.calls),
                    grouped(day.tokens_in),
                    grouped(day.tokens_out)
                ),
                parts: vec![("sent", day.tokens_in), ("got", day.tokens_out)],
            })
            .collect();
        let label = format!(
            "Tokens by day: {} calls, {} tokens in and {} out in 30 days",
            grouped(calls),
            grouped(sent),
            grouped(got)
        );
        let legend = format!(
            "<li class=\"sent\"><b>{}</b> tokens in</li><li class=\"got\"><b>{}</b> tokens out</li>\
             <li><b>{}</b> calls</li>",
            grouped(sent),
            grouped(got),
            grouped(calls)
        );
        let rows: String = cost
            .models
            .iter()
            .map(|model| {
                let numbers = [model.calls, model.tokens_in, model.tokens_out].map(grouped);
                let name = format!("{} {}", Escaped(&model.model), Escaped(&model.backend));
                plain_row(&name, &numbers)
            })
            .collect();
        let heads = ["calls", "tokens in", "tokens out"];
        let axis = axis(self, &highest(&bars, "token"));
        figure(&chart::bars(&label, &bars), &axis, &legend)
            + &plain_table("Costs by model", "Model", &heads, &rows)
    }
}

/// The first and the last day below a chart, and what its highest bar stands for.
fn axis(parts: &Parts<'_>, most: &str) -> String {
    let date = |day: Option<&super::figures::SessionDay>| {
        day.map_or_else(String::new, |day| day.date.to_string())
    };
    let days = &parts.figures.days;
    let (first, last) = (date(days.first()), date(days.last()));
    format!("<span>{first}</span><span>{most}</span><span>{last}</span>")
}

/// What the highest bar of a day stands for, in words.
fn highest(bars: &[Bar], what: &str) -> String {
    let most = bars.iter().map(Bar::total).max().unwrap_or_default();
    let s = if most == 1 { "" } else { "s" };
    format!("up to {} {what}{s} a day", grouped(most))
}

fn figure(svg: &str, axis: &str, legend: &str) -> String {
    format!(
        "<figure>{svg}<div class=\"axis\" aria-hidden=\"true\">{axis}</div>\
         <figcaption><ul class=\"legend\">{legend}</ul></figcaption></figure>"
    )
}

/// A table that can be sorted and filtered; the roles keep it one where the page lays it
/// out as cards.
fn table(id: &str, caption: &str, columns: &[Column], filter: Filter<'_>, rows: &str) -> String {
    let mut heads = String::new();
    for (key, title, sorted) in columns {
        let kind = match sorted {
            Sorted::Number => " data-sort=\"number\"",
            Sorted::Text => " data-sort=\"text\"",
            Sorted::Not => "",
        };
        _ = write!(
            heads,
            "<th role=\"columnheader\" scope=\"col\" data-key=\"{key}\"{kind}>{title}</th>"
        );
    }
    let (key, label, choices) = filter;
    let choices: String = choices
        .iter()
        .map(|(value, title)| {
            let title = sentence(title);
            format!("<option value=\"{value}\">{}</option>", Escaped(&title))
        })
        .collect();
    format!(
        "<div class=\"sortable\" data-table=\"{id}\">\
         <div class=\"tools\" hidden><label>Find <input type=\"search\" autocomplete=\"off\" \
         spellcheck=\"false\"></label><label>{label} <select data-filter=\"{key}\">\
         <option value=\"\">All</option>{choices}</select></label><output role=\"status\"></output></div>\
         <table role=\"table\"><caption class=\"hidden\">{caption}</caption>\
         <thead role=\"rowgroup\"><tr role=\"row\">{heads}</tr></thead>\n\
         <tbody role=\"rowgroup\">\n{rows}</tbody></table>\
         <p class=\"nothing\" hidden>Nothing fits.</p></div>"
    )
}

/// A table of numbers behind a chart.
fn plain_table(caption: &str, first: &str, heads: &[&str], rows: &str) -> String {
    let heads: String = heads
        .iter()
        .map(|head| format!("<th scope=\"col\" class=\"num\">{head}</th>"))
        .collect();
    format!(
        "<details><summary>{caption}, in numbers</summary><div class=\"scroll\" tabindex=\"0\" \
         role=\"region\" aria-label=\"{caption}\"><table class=\"plain\"><thead><tr>\
         <th scope=\"col\">{first}</th>{heads}</tr></thead><tbody>{rows}</tbody></table></div></details>"
    )
}

fn plain_row(first: &str, numbers: &[String]) -> String {
    let numbers: String = numbers
        .iter()
        .map(|number| format!("<td class=\"num\">{number}</td>"))
        .collect();
    format!("<tr><th scope=\"row\">{first}</th>{numbers}</tr>")
}

/// A cell with the value it is sorted by; the label stands beside it where columns have no
/// room.
fn cell(class: &str, label: &str, value: &dyn Display, shown: &dyn Display) -> String {
    format!(
        "<td role=\"cell\" class=\"{class}\" data-label=\"{label}\" data-v=\"{value}\">{shown}</td>"
    )
}

fn good(votes: u64) -> String {
    colour("good", votes)
}

fn bad(votes: u64) -> String {
    colour("bad", votes)
}

fn colour(class: &str, votes: u64) -> String {
    let class = if votes == 0 { "muted" } else { class };
    format!("<span class=\"{class}\">{}</span>", grouped(votes))
}

fn nothing(words: &str) -> String {
    format!("<p class=\"nothing\">{words}</p>")
}

/// How many sessions ended how, in words.
fn ends(number: impl Fn(End) -> u64) -> String {
    let told: Vec<String> = End::ALL
        .into_iter()
        .filter(|end| number(*end) > 0)
        .map(|end| format!("{} {}", number(end), end.word()))
        .collect();
    if told.is_empty() {
        "none".to_owned()
    } else {
        told.join(", ")
    }
}

/// A title in capitals as an ordinary one.
fn sentence(title: &str) -> String {
    let lower = title.to_lowercase();
    let mut letters = lower.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => lower,
    }
}

fn time(at: Timestamp, zone: &TimeZone) -> String {
    let local = at.to_zoned(zone.clone());
    format!(
        "<time datetime=\"{at}\">{}</time>",
        local.strftime("%Y-%m-%d %H:%M")
    )
}
