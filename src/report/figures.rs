//! What the page shows: plain values, which are also the object of `playbook report --json`.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;

use crate::playbook::Section;

/// All that is known of a project at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// The project's folder.
    pub(crate) project: String,
    /// When this was read.
    pub(crate) made: Timestamp,
    /// The key points in the playbook's order.
    pub(crate) points: Vec<PointRow>,
    /// The last days, oldest first, also those without a session.
    pub(crate) days: Vec<SessionDay>,
    /// The sessions of these days by how they ended.
    pub(crate) sessions: Ends,
    /// The errors that struck most often, those first.
    pub(crate) errors: Vec<ErrorRow>,
    /// The weeks in which sessions were evaluated, oldest first.
    pub(crate) weeks: Vec<Week>,
    /// What was spent on the project.
    pub(crate) cost: Cost,
    /// What could not be read, in words.
    pub(crate) problems: Vec<String>,
}

/// A key point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PointRow {
    /// Its name: `pat-001`.
    pub(crate) name: String,
    /// Where it stands.
    pub(crate) section: Section,
    /// What it says.
    pub(crate) text: String,
    /// How often it helped.
    pub(crate) helpful: u64,
    /// How often it harmed.
    pub(crate) harmful: u64,
    /// Whether only the user may take it away.
    pub(crate) pinned: bool,
    /// Whether it was unused for long.
    pub(crate) stale: bool,
    /// When it was last used, or else added.
    pub(crate) last: Option<Timestamp>,
    /// Its votes after each change that is remembered, oldest first.
    pub(crate) history: Vec<Moment>,
}

/// The votes of a key point at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Moment {
    /// When.
    pub(crate) time: Timestamp,
    /// How often it had helped.
    pub(crate) helpful: u64,
    /// How often it had harmed.
    pub(crate) harmful: u64,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
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
    pub(crate) const ALL: [Self; 6] = [
        Self::Success,
        Self::Partial,
        Self::Failure,
        Self::Timeout,
        Self::Error,
        Self::Unjudged,
    ];

    /// The word for it.
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

/// Sessions by how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Ends {
    /// Those that ended well.
    pub(crate) success: u64,
    /// Those that ended well after objections.
    pub(crate) partial: u64,
    /// Those that ended badly.
    pub(crate) failure: u64,
    /// Those that ended on something that took too long.
    pub(crate) timeout: u64,
    /// Those that lost the model.
    pub(crate) error: u64,
    /// Those that nobody judged.
    pub(crate) unjudged: u64,
}

impl Ends {
    /// How many ended so.
    pub(crate) fn get(&self, end: End) -> u64 {
        let mut ends = *self;
        *ends.count(end)
    }

    /// How many there are.
    pub(crate) fn total(&self) -> u64 {
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
pub(crate) struct SessionDay {
    /// The day, where the user is.
    pub(crate) date: Date,
    /// Its sessions.
    pub(crate) sessions: Ends,
}

/// An error that struck.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ErrorRow {
    /// Its id: `err-0123456789ab`.
    pub(crate) id: String,
    /// The tool that reported it.
    pub(crate) tool: String,
    /// What it said, masked.
    pub(crate) text: String,
    /// How often it struck.
    pub(crate) times: u64,
    /// When it was last seen.
    pub(crate) last: Timestamp,
    /// What helped, the most effective first.
    pub(crate) fixes: Vec<FixRow>,
}

/// What helped against an error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct FixRow {
    /// What was called.
    pub(crate) text: String,
    /// How well it helps, 0 to 1.
    pub(crate) effectiveness: f64,
}

/// The evaluations of a week: averages from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Week {
    /// The day it begins.
    pub(crate) from: Date,
    /// How many sessions were evaluated.
    pub(crate) sessions: u64,
    /// Did they do the right thing?
    pub(crate) correctness: f64,
    /// Did they help the user?
    pub(crate) helpfulness: f64,
    /// Did they avoid harm?
    pub(crate) safety: f64,
    /// Did they finish?
    pub(crate) completeness: f64,
    /// Did they go there straight?
    pub(crate) efficiency: f64,
}

/// What was spent on a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Cost {
    /// The last days, oldest first, also those on which nothing was.
    pub(crate) days: Vec<CostDay>,
    /// What of it went to which model, most tokens first.
    pub(crate) models: Vec<ModelCost>,
}

/// What was spent on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct CostDay {
    /// The day, where the user is.
    pub(crate) date: Date,
    /// Requests, retries included.
    pub(crate) calls: u64,
    /// Tokens sent.
    pub(crate) tokens_in: u64,
    /// Tokens got.
    pub(crate) tokens_out: u64,
}

/// What a model cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ModelCost {
    /// What answered.
    pub(crate) backend: String,
    /// The model that answered.
    pub(crate) model: String,
    /// Requests, retries included.
    pub(crate) calls: u64,
    /// Tokens sent.
    pub(crate) tokens_in: u64,
    /// Tokens got.
    pub(crate) tokens_out: u64,
}
