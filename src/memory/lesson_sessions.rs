//! Which sessions taught a lesson.

use rusqlite::Transaction;

use super::convert::counted;
use super::database::{Memory, run};
use super::error::MemoryError;

impl Memory {
    /// Returns in how many sessions other than that of `root` a lesson was taught.
    pub(crate) fn taught_elsewhere(&self, lesson: &str, root: &str) -> Result<u64, MemoryError> {
        let sql = "SELECT count(*) FROM lesson_sessions
             WHERE lesson = (SELECT id FROM memories WHERE key = ?1) AND root <> ?2";
        let action = "count the sessions of a lesson";
        let counts = self.all(action, sql, [lesson, root], |row| counted(row, 0))?;
        Ok(counts.into_iter().sum())
    }
}

/// Notes that a session taught some lessons; those that are not there are passed over.
pub(super) fn add<'l>(
    transaction: &Transaction<'_>,
    root: &str,
    lessons: impl Iterator<Item = &'l String>,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO lesson_sessions (lesson, root)
         SELECT id, ?2 FROM memories WHERE key = ?1 AND kind = 'lesson'";
    for lesson in lessons.filter(|_| !root.is_empty()) {
        run(transaction, sql, (lesson, root))?;
    }
    Ok(())
}
