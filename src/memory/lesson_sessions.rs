//! Which sessions taught a lesson.

use rusqlite::Transaction;

use super::convert::{counted, int};
use super::database::{Memory, run};
use super::error::MemoryError;

impl Memory {
    /// Returns in how many sessions other than that of `root` a lesson was taught.
    pub(crate) fn taught_elsewhere(&self, lesson: &str, root: &str) -> Result<u64, MemoryError> {
        let sql = "SELECT count(*) FROM lesson_sessions
             WHERE lesson = (SELECT id FROM memories WHERE key = ?1) AND root <> ?2";
        self.count("count the sessions of a lesson", sql, [lesson, root])
    }

    /// Returns in how many sessions some lessons were taught.
    pub(crate) fn sessions_of(&self, lessons: &[&str]) -> Result<u64, MemoryError> {
        let sql = "SELECT count(DISTINCT root) FROM lesson_sessions
             WHERE lesson IN (SELECT id FROM memories
                              WHERE key IN (SELECT value FROM json_each(?1)))";
        let keys = serde_json::json!(lessons).to_string();
        self.count("count the sessions of lessons", sql, [keys])
    }

    /// Returns how many lessons of a project came after row `last`, and the last row of now.
    pub(crate) fn lessons_after(
        &self,
        project: &str,
        last: u64,
    ) -> Result<(u64, u64), MemoryError> {
        let sql = "SELECT count(*), coalesce(max(id), ?2) FROM memories
             WHERE kind = 'lesson' AND id > ?2 AND origin IS NULL
             AND project = (SELECT id FROM projects WHERE name = ?1)";
        let read = |row: &rusqlite::Row<'_>| Ok((counted(row, 0)?, counted(row, 1)?));
        let found = self.one("count the lessons", sql, (project, int(last)), read)?;
        Ok(found.unwrap_or((0, last)))
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
