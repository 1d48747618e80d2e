//! The one transaction that ends a job.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::cursors::{self, TranscriptCursor};
use super::database::{Durability, Memory};
use super::error::MemoryError;
use super::history;
use super::jobs::{self, FinishedJob};
use super::learning;
use super::ledger::{self, ModelCall};
use super::notes::{self, NotePlace};
use super::projects;
use super::quarantine::{self, Held};
use super::records::{self, RecordMark};
use super::stats::{self, Evaluation};
use super::usage;
use super::votes;
use crate::playbook::votes::LocalVotes;
use crate::playbook::votes::PointInSession;
use crate::playbook::{PointChange, Skipped};
use crate::reflect::curator::NoteUpdate;
use crate::reflect::learned::{Learned, LearnedFrom};
use crate::reflect::note::{NewOutdated, NoteId};

/// All that is left of a job when its file is removed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobRecord {
    pub job: FinishedJob,
    /// The place it claimed; `None` for jobs without a transcript and for skipped ones.
    pub cursor: Option<TranscriptCursor>,
    /// How sure the reflection was, from 0 to 1; kept with the cursor.
    pub confidence: Option<f64>,
    pub records: Vec<RecordMark>,
    pub changes: Vec<PointChange>,
    /// The votes of it that are not in the playbook's file.
    pub votes: LocalVotes,
    /// By section slug, the highest numbers in the playbook it left behind.
    pub highest_numbers: BTreeMap<String, u64>,
    pub calls: Vec<ModelCall>,
    pub undoes: Option<String>,
    /// What it taught, always in the same order.
    pub learned: Vec<Learned>,
    /// The key points that its session showed wrong.
    pub outdated: Vec<NewOutdated>,
    /// What a curator's run changes of the notes, and the last row that it has seen.
    pub note_updates: Vec<NoteUpdate>,
    pub(crate) seen_until: NoteId,
    /// What it would have changed and was held back.
    pub(crate) held: Vec<Held>,
    /// What its replies asked for and was not accepted.
    pub dropped: Vec<Skipped>,
    /// What its session says of the key points that it knew.
    pub(crate) points: Vec<PointInSession>,
    /// The session that its session goes back to; itself where it was not forked.
    pub(crate) root: String,
    /// When it is recorded, which is later than the job where a session was there before.
    pub(crate) recorded: Timestamp,
    /// How many rows that may add; counting on takes none.
    pub(crate) rows: u64,
    pub evaluation: Option<Evaluation>,
    /// How its session ended: `success`, `failure`, …; kept with the evaluation.
    pub ended: Option<String>,
}

impl JobRecord {
    pub fn new(job: FinishedJob) -> Self {
        Self {
            recorded: job.finished,
            job,
            rows: u64::MAX,
            ..Self::default()
        }
    }

    fn source(&self) -> LearnedFrom {
        LearnedFrom {
            project: self.job.project.clone(),
            session: self.job.session.clone(),
            root: self.root.clone(),
            job: self.job.id.clone(),
            time: self.job.finished,
        }
    }
}

impl Memory {
    /// Records a finished job: all of it or nothing, on disk when this returns.
    ///
    /// Doing it again changes nothing, so a caller that was stopped before it removed the
    /// job's file simply repeats it.
    pub fn record(&mut self, record: &JobRecord) -> Result<(), MemoryError> {
        self.write("record job", Durability::PowerCut, |transaction| {
            let project = projects::number(transaction, &record.job.project)?;
            let job = jobs::put(transaction, project, &record.job)?;
            history::add(transaction, project, job, &record.changes)?;
            votes::add(transaction, (project, &record.job.id), &record.votes)?;
            jobs::mark_dropped(transaction, job, &record.dropped)?;
            if let Some(cursor) = &record.cursor {
                cursors::advance(transaction, project, cursor, record.confidence)?;
            }
            records::add(transaction, project, &record.records, record.recorded)?;
            projects::raise(transaction, project, &record.highest_numbers)?;
            let of = (project, record.job.id.as_str(), record.root.as_str());
            usage::add(transaction, of, &record.points)?;
            ledger::add(transaction, &record.calls)?;
            if let Some(undone) = &record.undoes {
                jobs::mark_undone(transaction, undone, &record.job.id)?;
            }
            quarantine::add(transaction, project, &record.held, record.recorded)?;
            let source = record.source();
            let (rows, recorded) = (record.rows, record.recorded);
            learning::learn(transaction, &source, &record.learned, rows, recorded)?;
            let place = NotePlace {
                project,
                source: &source,
                recorded,
            };
            notes::add_outdated(transaction, place, &record.outdated)?;
            notes::update(transaction, &record.note_updates, record.seen_until)?;
            if let Some(evaluation) = &record.evaluation {
                let ended = record.ended.as_deref();
                stats::put_evaluation(transaction, project, &source, evaluation, ended)?;
            }
            Ok(())
        })
    }
}
