//! How sessions ended, one row for each of their parts that was looked at.

use jiff::Timestamp;

use super::convert;
use super::database::Memory;
use super::error::MemoryError;

/// The end of a part of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// When its job ended.
    pub time: Timestamp,
    /// The session.
    pub session: String,
    /// How it ended: `success`, `failure`, …; `None` for a part that was not judged.
    pub ended: Option<String>,
}

impl Memory {
    /// Returns the last `limit` parts of a project's sessions, oldest first.
    pub fn endings(&self, project: &str, limit: u64) -> Result<Vec<Ending>, MemoryError> {
        self.read("read sessions", |connection| {
            let mut endings = connection
                .prepare_cached(
                    "SELECT j.finished, j.session, e.ended
                     FROM jobs j JOIN projects p ON p.id = j.project
                         LEFT JOIN evaluations e ON e.job = j.job
                     WHERE p.name = ?1 AND j.session <> ''
                     ORDER BY j.finished DESC, j.id DESC LIMIT ?2",
                )?
                .query_map((project, convert::int(limit)), |row| {
                    Ok(Ending {
                        time: convert::time(row, 0)?,
                        session: row.get(1)?,
                        ended: row.get(2)?,
                    })
                })?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            endings.reverse();
            Ok(endings)
        })
    }
}
