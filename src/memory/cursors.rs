//! How far each transcript has been claimed, and how sure the last reflection on it was.

use jiff::Timestamp;
use rusqlite::Transaction;

use super::convert::{counted, int, millis, time};
use super::database::{Memory, run};
use super::error::MemoryError;

/// The place reached in one transcript.
///
/// Cursors only move forward: by `generation` first, then by `end`. That order makes it
/// harmless to record jobs twice or in any order, also around a restart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptCursor {
    pub transcript: String,
    /// How often the transcript has begun anew: 0 at first, one more each time it shrank
    /// or was replaced. Whoever claims decides that and raises it.
    pub generation: u64,
    /// The highest end ever claimed in this generation, in bytes.
    pub end: u64,
    /// Hash of the transcript's first record, by which a replaced file is told.
    pub first_record: Option<u64>,
    pub updated: Timestamp,
}

impl Memory {
    pub fn cursor(&self, transcript: &str) -> Result<Option<TranscriptCursor>, MemoryError> {
        let sql = "SELECT generation, reached, first_record, updated
             FROM cursors WHERE transcript = ?1";
        self.one("read cursor", sql, [transcript], |row| {
            Ok(TranscriptCursor {
                transcript: transcript.to_owned(),
                generation: counted(row, 0)?,
                end: counted(row, 1)?,
                first_record: row.get::<_, Option<i64>>(2)?.map(i64::cast_unsigned),
                updated: time(row, 3)?,
            })
        })
    }

    /// Returns how sure the last reflection on a transcript was, from 0 to 1; `None` when
    /// there was none or it did not say.
    pub(crate) fn confidence_of(&self, transcript: &str) -> Result<Option<f64>, MemoryError> {
        let sql = "SELECT confidence FROM cursors WHERE transcript = ?1";
        let found = self.one("read confidence", sql, [transcript], |row| row.get(0))?;
        Ok(found.flatten())
    }
}

/// Moves the cursor forward, and notes how sure the reflection was that it moved for; one that
/// is already further stays.
pub(super) fn advance(
    transaction: &Transaction<'_>,
    project: i64,
    cursor: &TranscriptCursor,
    confidence: Option<f64>,
) -> rusqlite::Result<()> {
    run(
        transaction,
        "INSERT INTO cursors (transcript, project, generation, reached, first_record, updated)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (transcript) DO UPDATE SET
             project = excluded.project,
             generation = excluded.generation,
             reached = excluded.reached,
             first_record = coalesce(excluded.first_record, first_record),
             updated = excluded.updated
         WHERE (excluded.generation, excluded.reached) > (generation, reached)",
        (
            &cursor.transcript,
            project,
            int(cursor.generation),
            int(cursor.end),
            cursor.first_record.map(u64::cast_signed),
            millis(cursor.updated),
        ),
    )?;
    let sure = "UPDATE cursors SET confidence = ?2 WHERE transcript = ?1";
    run(transaction, sure, (&cursor.transcript, confidence)).map(drop)
}
