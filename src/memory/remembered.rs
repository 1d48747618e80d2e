//! Reads memories back.

use rusqlite::{Connection, Params, Row};

use super::convert::{self, counted, time};
use super::database::rows;
use crate::hint::{MemoryKind, Signature};
use crate::reflect::remembered::{Detail, Remembered};

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
             m.occurrences, m.times_applied, m.created, m.last_seen, {score} AS score, m.origin
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
            origin: row.get(19)?,
            detail: detail(connection, memory, kind)?,
        })
    })
}

fn detail(connection: &Connection, memory: i64, kind: MemoryKind) -> rusqlite::Result<Detail> {
    let sql = match kind {
        MemoryKind::Reflection | MemoryKind::Strategy => {
            "SELECT task, event_ids, event_count, related, correction FROM reflections
             WHERE memory = ?1"
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
                correction: convert::json(row, 4)?.and_then(|c| serde_json::from_value(c).ok()),
            },
            MemoryKind::Lesson => Detail::Lesson {
                task_type: row.get(0)?,
                mistake: row.get(1)?,
                correction: row.get(2)?,
                context_hash: row.get(3)?,
            },
            MemoryKind::Error => Detail::Error {
                error_type: row.get(0)?,
            },
        })
    })
}

/// Reads column `column`, a list of words as JSON.
fn words(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    let stored = convert::json(row, column)?.unwrap_or_default();
    Ok(serde_json::from_value(stored).unwrap_or_default())
}
