//! A memory as it is read back.

use jiff::Timestamp;
use rusqlite::{Connection, Params, Row};
use serde::Serialize;

use super::convert::{self, counted, time};
use super::database::rows;
use super::kind::MemoryKind;
use super::signature::Signature;

/// A memory with all that is known about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Remembered {
    /// Its id: `ref-…`, `les-…` or `err-…` with 12 hexadecimal digits.
    pub id: String,
    /// What it is.
    pub kind: MemoryKind,
    /// What it says.
    pub text: String,
    /// How well it answers the query; 0 when there was none.
    pub(crate) score: f64,
    /// 0 to 1.
    pub importance: f64,
    /// 0 to 1.
    pub(crate) confidence: f64,
    /// 0 to 1; 0.5 at birth.
    pub effectiveness: f64,
    /// How often it was learned, or how often the error struck.
    pub occurrences: u64,
    /// How often it was shown.
    pub times_applied: u64,
    /// What it is about.
    pub tags: Vec<String>,
    /// How the session ended.
    pub outcome: Option<String>,
    /// The kind of error; of an error its type.
    pub category: Option<String>,
    /// The error it is about.
    pub signature: Option<Signature>,
    /// The project.
    pub project: String,
    /// Whom it belongs to; empty for lessons and errors.
    pub tenant: String,
    /// The session that taught it first.
    pub session: String,
    /// The job that taught it first.
    pub job: String,
    /// When it was learned first.
    pub created: Timestamp,
    /// When it was learned or shown last.
    pub(crate) last_seen: Timestamp,
    /// What only its kind has.
    #[serde(flatten)]
    pub detail: Detail,
}

/// What only memories of one kind have.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Detail {
    /// Of a reflection or a strategy.
    Reflection {
        /// What was being attempted.
        task: String,
        /// The events it was drawn from.
        event_ids: Vec<String>,
        /// How many events there were.
        event_count: u64,
        /// Ids of the memories it was drawn from; of a strategy its reflection.
        related: Vec<String>,
    },
    /// Of a lesson.
    Lesson {
        /// The kind of task.
        task_type: String,
        /// What went wrong.
        mistake: String,
        /// How to do it right.
        correction: String,
        /// Hash of the context.
        context_hash: String,
    },
    /// Of an error.
    Error {
        /// What met it: a program with its subcommand, or a tool.
        error_type: String,
        /// What helped, the most effective first.
        fixes: Vec<Fix>,
    },
}

/// What helped against an error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fix {
    /// Its id, under which its effect is noted: `les-…`.
    pub id: String,
    /// What differed, as it is told.
    pub text: String,
    /// 0 to 1; 0.5 at birth.
    pub effectiveness: f64,
    /// How often it helped without having been shown.
    pub occurrences: u64,
    /// In how many sessions it was found so; none for one that older rules found.
    pub sessions: u64,
    /// How often it was shown.
    pub times_applied: u64,
    /// When it helped or was shown last.
    pub(crate) last_seen: Timestamp,
}

/// The plain source of [`select`].
pub(super) const MEMORIES: &str = "memories m";
/// The score where nothing was asked.
pub(super) const NO_SCORE: &str = "0.0";

/// Reads the memories of `source`, which names `memories m`, narrowed and ordered by `rest`;
/// `score` tells how well each answers.
pub(super) fn select(
    connection: &Connection,
    (score, source, rest): (&str, &str, &str),
    params: impl Params,
) -> rusqlite::Result<Vec<Remembered>> {
    let sql = format!(
        "SELECT m.id, m.key, m.kind, p.name, m.tenant, m.session, m.job, m.text, m.outcome,
             m.category, m.signature, m.importance, m.confidence, m.effectiveness,
             m.occurrences, m.times_applied, m.created, m.last_seen, {score} AS score
         FROM {source} JOIN projects p ON p.id = m.project {rest}"
    );
    rows(connection, &sql, params, |row| {
        let memory: i64 = row.get(0)?;
        let kind = convert::word(row, 2, MemoryKind::from_word)?;
        let signature: Option<i64> = row.get(10)?;
        let tags = "SELECT tag FROM tags WHERE memory = ?1 ORDER BY tag";
        Ok(Remembered {
            id: row.get(1)?,
            kind,
            project: row.get(3)?,
            tenant: row.get(4)?,
            session: row.get(5)?,
            job: row.get(6)?,
            text: row.get(7)?,
            outcome: row.get(8)?,
            category: row.get(9)?,
            signature: signature.map(|bits| Signature::from_bits(bits.cast_unsigned())),
            importance: row.get(11)?,
            confidence: row.get(12)?,
            effectiveness: row.get(13)?,
            occurrences: counted(row, 14)?,
            times_applied: counted(row, 15)?,
            tags: rows(connection, tags, [memory], |row| row.get(0))?,
            created: time(row, 16)?,
            last_seen: time(row, 17)?,
            score: row.get(18)?,
            detail: detail(connection, memory, kind)?,
        })
    })
}

fn detail(connection: &Connection, memory: i64, kind: MemoryKind) -> rusqlite::Result<Detail> {
    let sql = match kind {
        MemoryKind::Reflection | MemoryKind::Strategy => {
            "SELECT task, event_ids, event_count, related FROM reflections WHERE memory = ?1"
        }
        MemoryKind::Lesson => {
            "SELECT task_type, mistake, correction, context_hash FROM lessons WHERE memory = ?1"
        }
        MemoryKind::Error => "SELECT error_type FROM errors WHERE memory = ?1",
    };
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_row([memory], |row| {
        Ok(match kind {
            MemoryKind::Reflection | MemoryKind::Strategy => Detail::Reflection {
                task: row.get(0)?,
                event_ids: words(row, 1)?,
                event_count: counted(row, 2)?,
                related: words(row, 3)?,
            },
            MemoryKind::Lesson => Detail::Lesson {
                task_type: row.get(0)?,
                mistake: row.get(1)?,
                correction: row.get(2)?,
                context_hash: row.get(3)?,
            },
            MemoryKind::Error => Detail::Error {
                error_type: row.get(0)?,
                fixes: fixes(connection, memory)?,
            },
        })
    })
}

fn fixes(connection: &Connection, error: i64) -> rusqlite::Result<Vec<Fix>> {
    let sql = "SELECT key, fix, (SELECT count(*) FROM fix_sessions s WHERE s.fix = f.id),
             effectiveness, occurrences, times_applied, last_seen
         FROM fixes f WHERE error = ?1 ORDER BY effectiveness DESC, last_seen DESC, id DESC";
    rows(connection, sql, [error], |row| {
        Ok(Fix {
            id: row.get(0)?,
            text: row.get(1)?,
            sessions: counted(row, 2)?,
            effectiveness: row.get(3)?,
            occurrences: counted(row, 4)?,
            times_applied: counted(row, 5)?,
            last_seen: time(row, 6)?,
        })
    })
}

/// Reads column `column`, a list of words as JSON.
fn words(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    let stored = convert::json(row, column)?.unwrap_or_default();
    Ok(serde_json::from_value(stored).unwrap_or_default())
}
