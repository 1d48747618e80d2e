//! The use that sessions made of key points.

use std::collections::BTreeSet;

use rusqlite::Transaction;

use super::convert::counted;
use super::database::{Memory, run};
use super::error::MemoryError;
use crate::playbook::votes::Tag;
use crate::playbook::votes::{PointInSession, PointUsage, UsageRecord};

const USAGE: &str = "SELECT point, count(*), sum(cited) FROM (
         SELECT s.point, max(s.cited) AS cited
         FROM point_sessions s JOIN projects p ON p.id = s.project
             LEFT JOIN jobs j ON j.job = s.job
         WHERE p.name = ?1 AND j.undone_by IS NULL AND s.shown GROUP BY s.point, s.root)
     GROUP BY point";

/// The points that the user stated in a session: the change that made one quotes the words.
const SAID: &str = "SELECT DISTINCT h.point FROM history h
     JOIN jobs j ON j.id = h.job JOIN projects p ON p.id = h.project
     WHERE p.name = ?1 AND h.kind IN ('add', 'update', 'absorb')
         AND h.reason GLOB '*[[]said: *'";

const BY_HAND: &str = "SELECT DISTINCT h.point FROM history h
     JOIN jobs j ON j.id = h.job JOIN projects p ON p.id = h.project
     WHERE p.name = ?1 AND h.kind IN ('add', 'update') AND j.backend = ''";

impl Memory {
    /// Returns the use of a project's key points, each root session counted once.
    pub(crate) fn usage(&self, project: &str) -> Result<UsageRecord, MemoryError> {
        let action = "read the use of key points";
        let points = self.all(action, USAGE, [project], |row| {
            let usage = PointUsage {
                shown: counted(row, 1)?,
                cited: counted(row, 2)?,
            };
            Ok((row.get(0)?, usage))
        })?;
        let names = |sql| -> Result<BTreeSet<String>, MemoryError> {
            let names = self.all(action, sql, [project], |row| row.get(0))?;
            Ok(names.into_iter().collect())
        };
        Ok(UsageRecord {
            points: points.into_iter().collect(),
            said: names(SAID)?,
            by_hand: names(BY_HAND)?,
        })
    }
}

/// Keeps the verdicts of a job's session on points; of two, the first stays.
pub(super) fn add(
    transaction: &Transaction<'_>,
    (project, job, root): (i64, &str, &str),
    points: &[PointInSession],
) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO point_sessions
             (project, point, root, job, cited, helpful, harmful, shown)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1)";
    for point in points {
        let [helpful, harmful] = [Tag::Helpful, Tag::Harmful].map(|tag| point.vote == Some(tag));
        let values = (
            project,
            &point.name,
            root,
            job,
            point.is_cited,
            helpful,
            harmful,
        );
        run(transaction, sql, values)?;
    }
    Ok(())
}
