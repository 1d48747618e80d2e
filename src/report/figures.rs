//! What the page shows: plain values, which are also the object of `playbook report --json`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;

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
    pub(crate) errors: Vec<ErrorRow>,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum End {
    Success,
    Partial,
    Failure,
    Timeout,
    Error,
    /// Nobody judged it: too little happened, or its job failed.
    Unjudged,
}

impl End {
    /// All of them, the best first.
    pub(crate) const ALL: [Self; 6] = [
        Self::Success,
        Self::Partial,
        Self::Failure,
        Self::Timeout,
        Self::Error,
        Self::Unjudged,
    ];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Partial => "partial",
            Self::Failure => "failure",
            Self::Timeout => "timeout",
            Self::Error => "error",
            Self::Unjudged => "unjudged",
        }
    }

    /// The end that the memory's word means; one of a later version was not judged by us.
    pub(super) fn of(word: Option<&str>) -> Self {
        Self::ALL
            .into_iter()
            .find(|end| Some(end.word()) == word)
            .unwrap_or(Self::Unjudged)
    }
}

/// How many sessions ended how; each end is there, be it none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Ends(BTreeMap<End, u64>);

impl Default for Ends {
    fn default() -> Self {
        Self(End::ALL.map(|end| (end, 0)).into())
    }
}

impl Ends {
    pub(crate) fn get(&self, end: End) -> u64 {
        self.0.get(&end).copied().unwrap_or_default()
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.values().sum()
    }

    pub(super) fn add(&mut self, end: End) {
        *self.0.entry(end).or_default() += 1;
    }
}

/// The sessions of a day; one that went on for two days counts on both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SessionDay {
    /// The day, where the user is.
    pub(crate) date: Date,
    pub(crate) sessions: Ends,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ErrorRow {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) text: String,
    pub(crate) times: u64,
    pub(crate) last: Timestamp,
    /// What helped, the most effective first.
    pub(crate) fixes: Vec<FixRow>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct FixRow {
    pub(crate) text: String,
    /// How well it helps, 0 to 1.
    pub(crate) effectiveness: f64,
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
    pub(crate) models: Vec<ModelCost>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct CostDay {
    /// The day, where the user is.
    pub(crate) date: Date,
    #[serde(flatten)]
    pub(crate) sum: Sum,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ModelCost {
    pub(crate) backend: String,
    pub(crate) model: String,
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
