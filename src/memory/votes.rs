//! The votes that are not in a playbook's file, by the job that cast them.

use rusqlite::Transaction;

use super::convert::{millis, time};
use super::database::{Durability, Memory, run};
use super::error::MemoryError;
use super::projects;
use crate::playbook::votes::{LocalVote, LocalVotes};

impl Memory {
    /// Returns the votes for the key points of a project that are not in its file.
    pub fn votes(&self, project: &str) -> Result<LocalVotes, MemoryError> {
        let sql = "SELECT v.point, sum(v.helpful), sum(v.harmful), max(v.used)
             FROM local_votes v JOIN projects p ON p.id = v.project
             WHERE p.name = ?1 GROUP BY v.point";
        let votes = self.all("read votes", sql, [project], |row| {
            let is_used = row.get::<_, Option<i64>>(3)?.is_some();
            let vote = LocalVote {
                helpful: row.get(1)?,
                harmful: row.get(2)?,
                used: is_used.then(|| time(row, 3)).transpose()?,
            };
            Ok((row.get(0)?, vote))
        })?;
        Ok(votes.into_iter().collect())
    }

    /// Adds votes under the name of where they come from, once.
    pub(crate) fn add_votes(
        &mut self,
        project: &str,
        from: &str,
        votes: &LocalVotes,
    ) -> Result<(), MemoryError> {
        self.write("add votes", Durability::PowerCut, |transaction| {
            let project = projects::number(transaction, project)?;
            add(transaction, (project, from), votes)
        })
    }
}

/// Keeps the votes of a job; the first time counts.
pub(super) fn add(
    transaction: &Transaction<'_>,
    (project, job): (i64, &str),
    votes: &LocalVotes,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO local_votes (project, job, point, helpful, harmful, used)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    for (point, vote) in votes {
        let used = vote.used.map(millis);
        let row = (project, job, point, vote.helpful, vote.harmful, used);
        run(transaction, sql, row)?;
    }
    Ok(())
}
