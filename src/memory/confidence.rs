//! How sure the last reflection on each transcript was.

use rusqlite::{OptionalExtension, Transaction};

use super::database::Memory;
use super::error::MemoryError;

impl Memory {
    /// Returns how sure the last reflection on a transcript was, from 0 to 1; `None` when
    /// there was none or it did not say.
    pub fn confidence_of(&self, transcript: &str) -> Result<Option<f64>, MemoryError> {
        self.read("read confidence", |connection| {
            let sql = "SELECT confidence FROM cursors WHERE transcript = ?1";
            let found = connection
                .prepare_cached(sql)?
                .query_row([transcript], |row| row.get(0))
                .optional()?;
            Ok(found.flatten())
        })
    }
}

/// Notes how sure the reflection was that a transcript's cursor moved for.
pub(super) fn put(
    transaction: &Transaction<'_>,
    transcript: &str,
    confidence: Option<f64>,
) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("UPDATE cursors SET confidence = ?2 WHERE transcript = ?1")?
        .execute((transcript, confidence))?;
    Ok(())
}
