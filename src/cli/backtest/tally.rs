//! What a replay would have said, counted and listed.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::masks::Masks;
use super::strike::Strike;
use crate::cli::transcripts::Past;
use crate::memory::{Entry, HeldRow, Job, Outcome};
use crate::transcript::Facts;

/// Characters of an error that are kept for the list.
const ERROR_KEPT: usize = 400;
/// How a fix is told in a hint, after the id.
const FIXED_BY: &str = "] fixed by: ";

#[derive(Debug, Serialize)]
pub(super) struct ToldHint {
    /// The transcript and the line of the error.
    pub(super) place: String,
    pub(super) tool: String,
    pub(super) input: Value,
    pub(super) error: String,
    pub(super) hint: String,
    /// Whether the session later found what the hint says.
    pub(super) hit: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct LearnedPoint {
    pub(super) place: String,
    pub(super) name: String,
    pub(super) text: String,
    /// Why: for rules, the words that say so.
    pub(super) reason: String,
}

#[derive(Debug, Serialize)]
pub(super) struct HeldText {
    pub(super) text: String,
    pub(super) reasons: String,
}

#[derive(Debug, Default)]
pub(super) struct Tally {
    sessions: u64,
    skipped: u64,
    failed: Vec<String>,
    errors: u64,
    pub(super) hints: Vec<ToldHint>,
    pub(super) points: Vec<LearnedPoint>,
    votes: BTreeMap<&'static str, u64>,
    pub(super) held: Vec<HeldText>,
    pub(super) masks: Masks,
    tokens_sent: u64,
    tokens_of_evidence: u64,
    units_at_start: Vec<usize>,
}

impl Tally {
    pub(super) fn started(&mut self, units: usize) {
        self.units_at_start.push(units);
    }

    /// Takes note of an error, and of what would have been said to it.
    pub(super) fn struck(&mut self, past: &Past, strike: &Strike, told: Option<&str>) {
        self.errors += 1;
        for hint in told.into_iter().flat_map(|told| told.lines().skip(1)) {
            self.hints.push(ToldHint {
                place: format!("{}:{}", past.name(), strike.line),
                tool: strike.tool.clone(),
                input: strike.input.clone(),
                error: strike.error.chars().take(ERROR_KEPT).collect(),
                hint: hint.trim_start_matches("- ").to_owned(),
                hit: false,
            });
        }
    }

    /// Takes note of what a session shows: which of the hints told in it were right.
    pub(super) fn showed(&mut self, past: &Past, facts: &Facts, tokens: u64) {
        self.tokens_of_evidence += tokens;
        let place = format!("{}:", past.name());
        let fixes = facts.errors.iter().flat_map(|error| &error.ways);
        let fixes: Vec<String> = fixes.map(ToString::to_string).collect();
        for told in self
            .hints
            .iter_mut()
            .filter(|told| told.place.starts_with(&place))
        {
            let said = told.hint.split_once(FIXED_BY);
            told.hit = said.is_some_and(|(_, said)| fixes.iter().any(|fix| fix == said));
        }
    }

    pub(super) fn learned(&mut self, past: &Past, job: &Job, changes: Vec<Entry>) {
        self.sessions += 1;
        self.tokens_sent += job.counts.input_tokens + job.counts.output_tokens;
        match job.outcome {
            Outcome::Applied => {}
            Outcome::Skipped => self.skipped += 1,
            Outcome::Failed | Outcome::Dropped => {
                self.failed.push(format!("{}: {}", past.name(), job.reason));
            }
        }
        for Entry { change, .. } in changes {
            match change.kind.as_str() {
                "helpful" => *self.votes.entry("helpful").or_default() += 1,
                "harmful" => *self.votes.entry("harmful").or_default() += 1,
                "add" => self.points.push(LearnedPoint {
                    place: past.name(),
                    text: change.after.as_ref().map_or_else(String::new, text_of),
                    name: change.point,
                    reason: change.reason,
                }),
                _ => {}
            }
        }
    }

    pub(super) fn held_back(&mut self, rows: Vec<HeldRow>) {
        let held = rows.into_iter().map(|row| HeldText {
            text: row.held.text,
            reasons: row.held.reasons,
        });
        self.held.extend(held);
    }

    /// How many hints said what the session later found.
    pub(super) fn hits(&self) -> usize {
        self.hints.iter().filter(|hint| hint.hit).count()
    }

    pub(super) fn figures(&self) -> Vec<(u64, String)> {
        let masks = self.masks.by_rule();
        let by_rule: Vec<String> = masks
            .iter()
            .map(|(rule, times)| format!("{rule} {times}"))
            .collect();
        let with = |what: &str, more: String| {
            if more.is_empty() {
                what.to_owned()
            } else {
                format!("{what} ({more})")
            }
        };
        let votes = self.votes.iter();
        let votes: Vec<String> = votes.map(|(sign, n)| format!("{sign} {n}")).collect();
        vec![
            (
                self.sessions,
                with("sessions", format!("too little in {}", self.skipped)),
            ),
            (self.errors, "errors of tools that ran".to_owned()),
            (
                self.hints.len() as u64,
                with("hints told", format!("{} of them hits", self.hits())),
            ),
            (self.points.len() as u64, "key points learned".to_owned()),
            (self.votes.values().sum(), with("votes", votes.join(", "))),
            (self.held.len() as u64, "texts held back".to_owned()),
            (
                masks.values().sum(),
                with("secrets masked", by_rule.join(", ")),
            ),
            (
                self.mean_at_start(),
                "characters given at a start, on average".to_owned(),
            ),
            (
                self.tokens_sent,
                with(
                    "tokens sent",
                    format!("the evidence alone is {}", self.tokens_of_evidence),
                ),
            ),
        ]
    }

    pub(super) fn failed(&self) -> &[String] {
        &self.failed
    }

    fn mean_at_start(&self) -> u64 {
        let starts = self.units_at_start.len().max(1);
        (self.units_at_start.iter().sum::<usize>() / starts) as u64
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "sessions": self.sessions,
            "skipped": self.skipped,
            "failed": self.failed,
            "errors": self.errors,
            "hits": self.hits(),
            "hints": self.hints,
            "points": self.points,
            "votes": {
                "helpful": self.votes.get("helpful").unwrap_or(&0),
                "harmful": self.votes.get("harmful").unwrap_or(&0),
            },
            "held": self.held,
            "masked": self.masks.by_rule(),
            "masks": self.masks.all().collect::<Vec<_>>(),
            "tokens_sent": self.tokens_sent,
            "tokens_of_evidence": self.tokens_of_evidence,
            "units_at_start": self.mean_at_start(),
        })
    }
}

fn text_of(state: &Value) -> String {
    state["entry"]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}
