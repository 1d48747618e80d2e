//! What the page shows: plain values, which are also the object of `playbook report --json`.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;

use crate::playbook::Section;

/// All that is known of a project at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// The project's folder.
    pub project: String,
    /// When this was read.
    pub made: Timestamp,
    /// The key points in the playbook's order.
    pub points: Vec<PointRow>,
    /// The last days, oldest first, also those without a session.
    pub days: Vec<SessionDay>,
    /// The sessions of these days by how they ended.
    pub sessions: Ends,
    /// The errors that struck most often, those first.
    pub errors: Vec<ErrorRow>,
    /// The weeks in which sessions were evaluated, oldest first.
    pub weeks: Vec<Week>,
    /// What was spent on the project.
    pub cost: Cost,
    /// What could not be read, in words.
    pub problems: Vec<String>,
}

/// A key point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PointRow {
    /// Its name: `pat-001`.
    pub name: String,
    /// Where it stands.
    pub section: Section,
    /// What it says.
    pub text: String,
    /// How often it helped.
    pub helpful: u64,
    /// How often it harmed.
    pub harmful: u64,
    /// Whether only the user may take it away.
    pub pinned: bool,
    /// Whether it was unused for long.
    pub stale: bool,
    /// When it was last used, or else added.
    pub last: Option<Timestamp>,
    /// Its votes after each change that is remembered, oldest first.
    pub history: Vec<Moment>,
}

/// The votes of a key point at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Moment {
    /// When.
    pub time: Timestamp,
    /// How often it had helped.
    pub helpful: u64,
    /// How often it had harmed.
    pub harmful: u64,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Well.
    Success,
    /// Well, after objections.
    Partial,
    /// Badly.
    Failure,
    /// On something that took too long.
    Timeout,
    /// Without the model.
    Error,
    /// Nobody judged it: too little happened, or its job failed.
    Unjudged,
}

impl End {
    /// All of them, the best first.
    pub const ALL: [Self; 6] = [
        Self::Success,
        Self::Partial,
        Self::Failure,
        Self::Timeout,
        Self::Error,
        Self::Unjudged,
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
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

/// Sessions by how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Ends {
    /// Those that ended well.
    pub success: u64,
    /// Those that ended well after objections.
    pub partial: u64,
    /// Those that ended badly.
    pub failure: u64,
    /// Those that ended on something that took too long.
    pub timeout: u64,
    /// Those that lost the model.
    pub error: u64,
    /// Those that nobody judged.
    pub unjudged: u64,
}

impl Ends {
    /// How many ended so.
    pub fn get(&self, end: End) -> u64 {
        let mut ends = *self;
        *ends.count(end)
    }

    /// How many there are.
    pub fn total(&self) -> u64 {
        End::ALL.into_iter().map(|end| self.get(end)).sum()
    }

    /// The counter of an end.
    pub(super) fn count(&mut self, end: End) -> &mut u64 {
        match end {
            End::Success => &mut self.success,
            End::Partial => &mut self.partial,
            End::Failure => &mut self.failure,
            End::Timeout => &mut self.timeout,
            End::Error => &mut self.error,
            End::Unjudged => &mut self.unjudged,
        }
    }
}

/// The sessions of a day; one that went on for two days counts on both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SessionDay {
    /// The day, where the user is.
    pub date: Date,
    /// Its sessions.
    pub sessions: Ends,
}

/// An error that struck.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ErrorRow {
    /// Its id: `err-0123456789ab`.
    pub id: String,
    /// The tool that reported it.
    pub tool: String,
    /// What it said, masked.
    pub text: String,
    /// How often it struck.
    pub times: u64,
    /// When it was last seen.
    pub last: Timestamp,
    /// What helped, the most effective first.
    pub fixes: Vec<FixRow>,
}

/// What helped against an error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FixRow {
    /// What was called.
    pub text: String,
    /// How well it helps, 0 to 1.
    pub effectiveness: f64,
}

/// The evaluations of a week: averages from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Week {
    /// The day it begins.
    pub from: Date,
    /// How many sessions were evaluated.
    pub sessions: u64,
    /// Did they do the right thing?
    pub correctness: f64,
    /// Did they help the user?
    pub helpfulness: f64,
    /// Did they avoid harm?
    pub safety: f64,
    /// Did they finish?
    pub completeness: f64,
    /// Did they go there straight?
    pub efficiency: f64,
}

/// What was spent on a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// The last days, oldest first, also those on which nothing was.
    pub days: Vec<CostDay>,
    /// What of it went to which model, most tokens first.
    pub models: Vec<ModelCost>,
}

/// What was spent on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CostDay {
    /// The day, where the user is.
    pub date: Date,
    /// Requests, retries included.
    pub calls: u64,
    /// Tokens sent.
    pub tokens_in: u64,
    /// Tokens got.
    pub tokens_out: u64,
}

/// What a model cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelCost {
    /// What answered.
    pub backend: String,
    /// The model that answered.
    pub model: String,
    /// Requests, retries included.
    pub calls: u64,
    /// Tokens sent.
    pub tokens_in: u64,
    /// Tokens got.
    pub tokens_out: u64,
}
