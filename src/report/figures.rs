//! What the page shows: plain values, which are also the object of `playbook report --json`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use serde_json::Value;

use crate::memory::{Evaluation, Spending};
use crate::playbook::Section;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Figures {
    pub(crate) project: String,
    pub(crate) made: Timestamp,
    pub(crate) points: Vec<PointRow>,
    /// The last days, oldest first, also those without a session.
    pub(crate) days: Vec<SessionDay>,
    pub(crate) sessions: Ends,
    /// The errors that struck most often, those first.
    pub(crate) errors: Vec<Value>,
    /// The weeks in which sessions were evaluated, oldest first.
    pub(crate) weeks: Vec<Week>,
    pub(crate) cost: Cost,
    /// What could not be read, in words.
    pub(crate) problems: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PointRow {
    pub(crate) name: String,
    pub(crate) section: Section,
    pub(crate) text: String,
    pub(crate) helpful: u64,
    pub(crate) harmful: u64,
    /// Whether only the user may take it away.
    pub(crate) pinned: bool,
    pub(crate) stale: bool,
    /// When it was last used, or else added.
    pub(crate) last: Option<Timestamp>,
    /// Its votes after each change that is remembered, oldest first.
    pub(crate) history: Vec<Moment>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Moment {
    pub(crate) time: Timestamp,
    pub(crate) helpful: u64,
    pub(crate) harmful: u64,
}

/// How sessions end, the best first.
pub(crate) const ENDS: [&str; 6] = [
    "success", "partial", "failure", "timeout", "error", UNJUDGED,
];
/// Nobody judged it: too little happened, or its job failed.
pub(super) const UNJUDGED: &str = "unjudged";

/// How many sessions ended how; each end is there, be it none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Ends(BTreeMap<&'static str, u64>);

impl Ends {
    /// Counts ends, all of [`ENDS`].
    pub(super) fn of(ends: impl IntoIterator<Item = &'static str>) -> Self {
        let mut counted = BTreeMap::from(ENDS.map(|end| (end, 0)));
        for end in ends {
            *counted.entry(end).or_default() += 1;
        }
        Self(counted)
    }

    pub(crate) fn get(&self, end: &str) -> u64 {
        self.0.get(end).copied().unwrap_or_default()
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

/// The sessions of a day; one that went on for two days counts on both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SessionDay {
    /// The day, where the user is.
    pub(crate) date: Date,
    pub(crate) sessions: Ends,
}

/// The evaluations of a week: averages from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Week {
    pub(crate) from: Date,
    pub(crate) sessions: u64,
    #[serde(flatten)]
    pub(crate) average: Evaluation,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Cost {
    /// The last days, oldest first, also those on which nothing was.
    pub(crate) days: Vec<CostDay>,
    /// What of it went to which model, most tokens first.
    pub(crate) models: Vec<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct CostDay {
    /// The day, where the user is.
    pub(crate) date: Date,
    #[serde(flatten)]
    pub(crate) sum: Sum,
}

/// What the evaluator judges sessions by.
pub(crate) type Criterion = (&'static str, fn(&Evaluation) -> f64);
pub(crate) const CRITERIA: [Criterion; 5] = [
    ("correctness", |average| average.correctness),
    ("helpfulness", |average| average.helpfulness),
    ("safety", |average| average.safety),
    ("completeness", |average| average.completeness),
    ("efficiency", |average| average.efficiency),
];

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
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
