//! How key points did in the sessions that were shown them.

use std::collections::BTreeMap;

use rusqlite::Transaction;

use super::convert::counted;
use super::database::{Memory, run};
use super::error::MemoryError;
use crate::playbook::proof::{PointInSession, Proof, ProofRecord};
use crate::playbook::tags::Tag;

/// In how many sessions each point came up again: it was not shown and would have helped, or what
/// the session taught corrected or widened it.
const NEEDED: &str = "SELECT point, count(DISTINCT root) FROM (
         SELECT s.point, s.root FROM point_sessions s JOIN projects p ON p.id = s.project
             LEFT JOIN jobs j ON j.job = s.job
         WHERE p.name = ?1 AND j.undone_by IS NULL AND NOT s.shown
         UNION
         SELECT h.point, j.session FROM history h JOIN jobs j ON j.id = h.job
             JOIN projects p ON p.id = h.project
         WHERE p.name = ?1 AND h.kind = 'update' AND j.session <> '' AND j.undone_by IS NULL)
     GROUP BY point";

/// The first job of each root session that tells what came up in it.
const REFLECTED: &str = "SELECT min(j.id) FROM jobs j JOIN projects p ON p.id = j.project
     WHERE p.name = ?1 AND j.reflected IS NOT NULL AND j.undone_by IS NULL
     GROUP BY j.reflected ORDER BY 1";

/// The job in which each point was learned, or came back.
const LEARNED: &str = "SELECT h.point, max(h.job) FROM history h
     JOIN projects p ON p.id = h.project WHERE p.name = ?1 AND h.kind = 'add' GROUP BY h.point";

/// The points that the user added, edited or said: the change that did quotes the words. Rules add
/// only what the user said or did twice.
const BY_USER: &str = "SELECT DISTINCT h.point FROM history h
     JOIN jobs j ON j.id = h.job JOIN projects p ON p.id = h.project
     WHERE p.name = ?1 AND (h.kind IN ('add', 'update') AND j.backend = ''
         OR h.kind = 'add' AND (j.backend = 'rules' OR h.reason GLOB '*[[]said: #[0-9]* USER*]'))";

/// The points that a model learned which was asked what came up: only then can something speak for
/// them in sessions that do not have them.
const BY_MODEL: &str = "SELECT DISTINCT h.point FROM history h
     JOIN jobs j ON j.id = h.job JOIN projects p ON p.id = h.project
     WHERE p.name = ?1 AND h.kind = 'add' AND j.reflected IS NOT NULL";

impl Memory {
    /// Returns how the key points of a project did, each root session counted once.
    pub(crate) fn proofs(&self, project: &str) -> Result<ProofRecord, MemoryError> {
        let sessions = "SELECT count(DISTINCT s.root) FROM point_sessions s
             JOIN projects p ON p.id = s.project WHERE p.name = ?1 AND s.shown";
        let proofs = "SELECT point, count(*), sum(cited), sum(helpful), sum(harmful) FROM (
                 SELECT s.point, max(s.cited) AS cited, max(s.helpful) AS helpful,
                     max(s.harmful) AS harmful
                 FROM point_sessions s JOIN projects p ON p.id = s.project
                     LEFT JOIN jobs j ON j.job = s.job
                 WHERE p.name = ?1 AND j.undone_by IS NULL AND s.shown GROUP BY s.point, s.root)
             GROUP BY point";
        let action = "read how key points did";
        let points = self.all(action, proofs, [project], |row| {
            let proof = Proof {
                shown: counted(row, 1)?,
                cited: counted(row, 2)?,
                helpful: counted(row, 3)?,
                harmful: counted(row, 4)?,
                ..Proof::default()
            };
            Ok((row.get(0)?, proof))
        })?;
        let mut points: BTreeMap<String, Proof> = points.into_iter().collect();
        let needed = self.all(action, NEEDED, [project], |row| {
            Ok((row.get(0)?, counted(row, 1)?))
        })?;
        for (point, needed) in needed {
            points.entry(point).or_default().needed = needed;
        }
        let reflected: Vec<i64> = self.all(action, REFLECTED, [project], |row| row.get(0))?;
        let learned = self.all(action, LEARNED, [project], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        for (point, job) in learned {
            let point: String = point;
            let later = reflected.len() - reflected.partition_point(|id| *id <= job);
            if later > 0 {
                let proof = points.entry(point).or_default();
                proof.passed = (later as u64).saturating_sub(proof.shown + proof.needed);
            }
        }
        let names = |sql| self.all(action, sql, [project], |row| row.get(0));
        let [by_user, by_model] = [BY_USER, BY_MODEL].map(names);
        Ok(ProofRecord {
            sessions: self.count(action, sessions, [project])?,
            points,
            by_user: by_user?.into_iter().collect(),
            by_model: by_model?.into_iter().collect(),
        })
    }
}

/// Keeps what a job's session says of points; the first time stays.
pub(super) fn add(
    transaction: &Transaction<'_>,
    (project, job, root): (i64, &str, &str),
    points: &[PointInSession],
) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO point_sessions
             (project, point, root, job, cited, helpful, harmful, shown)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    for point in points {
        let [helpful, harmful] = [Tag::Helpful, Tag::Harmful].map(|tag| point.vote == Some(tag));
        let (cited, shown) = (point.is_cited, !point.is_needed);
        run(
            transaction,
            sql,
            (
                project,
                &point.name,
                root,
                job,
                cited,
                helpful,
                harmful,
                shown,
            ),
        )?;
    }
    Ok(())
}
