//! What a replay would have said, counted and listed.

use serde_json::{Value, json};

use super::masks::Masks;
use super::strike::Strike;
use crate::gate::TurnEnd;
use crate::memory::{Entry, FinishedJob, HeldRow, JobOutcome};
use crate::playbook::shown::{each, in_text};
use crate::playbook::{ChangeKind, PointState, Skipped};
use crate::queue::recurrence::WAITS;
use crate::queue::transcripts::PastTranscript;
use crate::transcript::Facts;

/// Characters of an error that are kept for the list.
const ERROR_KEPT: usize = 400;
/// How a fix is told in a hint, after the id.
const FIXED_BY: &str = "] fixed by: ";

#[derive(Debug, Default)]
pub(super) struct Tally {
    sessions: u64,
    skipped: u64,
    failed: Vec<String>,
    errors: u64,
    /// With whether the session later found what the hint says.
    hints: Vec<Value>,
    /// With the reason: for rules, the words that say so.
    points: Vec<Value>,
    helpful: u64,
    harmful: u64,
    held: Vec<Value>,
    pub(super) masks: Masks,
    /// How many turns ended.
    stops: u64,
    /// Where the gate would have spoken, with what came next.
    gate: Vec<Value>,
    tokens_sent: u64,
    tokens_of_evidence: u64,
    units_at_start: usize,
    starts: Vec<Value>,
    waiting: Vec<Value>,
}

impl Tally {
    /// Takes note of what a session would have been given at its start.
    pub(super) fn started(&mut self, past: &PastTranscript, given: Option<&str>) {
        let given = given.unwrap_or_default();
        let units = given.encode_utf16().count();
        self.units_at_start += units;
        let shown = in_text(given);
        let points: Vec<&str> = each(&shown).map(|(name, _)| name).collect();
        self.starts
            .push(json!({"place": past.name(), "units": units, "points": points.join(" ")}));
    }

    /// Takes note of what a session alone taught.
    pub(super) fn waits(&mut self, past: &PastTranscript, dropped: Vec<Skipped>) {
        let waiting = dropped.into_iter().filter(|item| item.reason == WAITS);
        let waiting = waiting.map(|item| json!({"place": past.name(), "text": item.what}));
        self.waiting.extend(waiting);
    }

    pub(super) fn struck(&mut self, past: &PastTranscript, strike: &Strike, told: Option<&str>) {
        self.errors += 1;
        for hint in told.into_iter().flat_map(|told| told.lines().skip(1)) {
            self.hints.push(json!({
                "place": format!("{}:{}", past.name(), strike.line),
                "tool": strike.tool,
                "input": strike.input,
                "error": strike.error.chars().take(ERROR_KEPT).collect::<String>(),
                "hint": hint.trim_start_matches("- "),
                "hit": false,
            }));
        }
    }

    /// Takes note of what a session shows: which of the hints told in it were right.
    pub(super) fn showed(&mut self, past: &PastTranscript, facts: &Facts, tokens: u64) {
        self.tokens_of_evidence += tokens;
        let place = format!("{}:", past.name());
        let fixes = facts.errors.iter().flat_map(|error| &error.ways);
        let fixes: Vec<String> = fixes.map(ToString::to_string).collect();
        for told in &mut self.hints {
            let text = |key: &str| told[key].as_str().unwrap_or_default();
            if text("place").starts_with(&place) {
                let said = text("hint").split_once(FIXED_BY);
                let hit = said.is_some_and(|(_, said)| fixes.iter().any(|fix| fix == said));
                told["hit"] = hit.into();
            }
        }
    }

    pub(super) fn learned(
        &mut self,
        past: &PastTranscript,
        job: &FinishedJob,
        changes: Vec<Entry>,
    ) {
        self.sessions += 1;
        self.tokens_sent += job.counts.input_tokens + job.counts.output_tokens;
        match job.outcome {
            JobOutcome::Applied => {}
            JobOutcome::Skipped => self.skipped += 1,
            JobOutcome::Failed | JobOutcome::Dropped => {
                self.failed.push(format!("{}: {}", past.name(), job.reason));
            }
        }
        for Entry { change, .. } in changes {
            match change.kind {
                ChangeKind::Helpful => self.helpful += 1,
                ChangeKind::Harmful => self.harmful += 1,
                ChangeKind::Add => self.points.push(json!({
                    "place": past.name(),
                    "name": change.id,
                    "text": change.after.as_ref().map(PointState::text),
                    "reason": change.reason,
                })),
                _ => {}
            }
        }
    }

    pub(super) fn stopped(&mut self, past: &PastTranscript, stops: Vec<TurnEnd>, threshold: f64) {
        self.stops += stops.len() as u64;
        let failed = stops
            .into_iter()
            .filter(|stop| !stop.verdict.passes(threshold));
        self.gate.extend(failed.map(|stop| {
            json!({
                "place": past.name(),
                "uuid": stop.uuid,
                "score": stop.verdict.quality_score,
                "told": stop.verdict.guidance,
                "answer": stop.answer,
                "failed_again": stop.failed_again,
            })
        }));
    }

    pub(super) fn held_back(&mut self, rows: Vec<HeldRow>) {
        let held = rows.into_iter().map(|row| row.held);
        let held = held.map(|held| json!({"text": held.text, "reasons": held.reasons}));
        self.held.extend(held);
    }

    pub(super) fn json(&self) -> Value {
        // Those that said what the session later found.
        let hits = self.hints.iter().filter(|hint| hint["hit"] == true);
        let mean_at_start = self.units_at_start / self.starts.len().max(1);
        json!({
            "sessions": self.sessions,
            "skipped": self.skipped,
            "failed": self.failed,
            "errors": self.errors,
            "hits": hits.count(),
            "hints": self.hints,
            "points": self.points,
            "votes": {"helpful": self.helpful, "harmful": self.harmful},
            "waiting": self.waiting,
            "starts": self.starts,
            "held": self.held,
            "masked": self.masks.by_rule(),
            "masks": self.masks.all(),
            "stops": self.stops,
            "gate": self.gate,
            "tokens_sent": self.tokens_sent,
            "tokens_a_session": self.tokens_sent / self.sessions.max(1),
            "tokens_of_evidence": self.tokens_of_evidence,
            "units_at_start": mean_at_start,
        })
    }
}
