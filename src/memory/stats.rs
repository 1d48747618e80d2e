//! Figures about what was learned (spec/4 `get_stats`, spec/3's evaluator over time).

use jiff::Timestamp;
use rusqlite::{Connection, Transaction};
use serde::Serialize;

use super::convert;
use super::database::{Durability, Memory};
use super::error::MemoryError;
use super::kind::MemoryKind;
use super::learned::Source;
use super::record;

/// How good a session was, by the evaluator's five criteria, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Evaluation {
    /// Did it do the right thing?
    pub correctness: f64,
    /// Did it help the user?
    pub helpfulness: f64,
    /// Did it avoid harm?
    pub safety: f64,
    /// Did it finish?
    pub completeness: f64,
    /// Did it go there straight?
    pub efficiency: f64,
}

/// The end of a part of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// When its job ended.
    pub(crate) time: Timestamp,
    pub(crate) session: String,
    /// How it ended: `success`, `failure`, …; `None` for a part that was not judged.
    pub(crate) ended: Option<String>,
}

/// The evaluations of one span of time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EvaluationAverage {
    /// When the span begins.
    pub(crate) from: Timestamp,
    /// How many sessions were evaluated in it.
    pub sessions: u64,
    /// Their averages.
    #[serde(flatten)]
    pub average: Evaluation,
}

/// Figures about what was learned, of one project or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stats {
    pub(crate) reflections: u64,
    /// Reflections ever counted, identical ones included (spec/4 `total_reflections`).
    pub total_reflections: u64,
    pub(crate) strategies: u64,
    /// Lessons kept (spec/4 `lessons_stored`).
    pub(crate) lessons: u64,
    /// Mean effectiveness of the lessons; 0 when there is none.
    pub(crate) average_lesson_effectiveness: f64,
    /// Errors known.
    pub errors: u64,
    /// How often they struck.
    pub error_occurrences: u64,
    /// Errors of which a fix is known.
    pub(crate) errors_fixed: u64,
    pub(crate) fixes: u64,
    /// Mean effectiveness of the fixes; 0 when there is none.
    pub(crate) average_fix_effectiveness: f64,
    /// How often a lesson, a strategy or a fix was shown.
    pub(crate) shown: u64,
}

pub(super) fn stats(connection: &Connection, project: Option<&str>) -> rusqlite::Result<Stats> {
    let mut stats = Stats::default();
    let mut kinds = connection.prepare_cached(
        "SELECT m.kind, count(*), sum(m.occurrences), avg(m.effectiveness), sum(m.times_applied)
         FROM memories m JOIN projects p ON p.id = m.project
         WHERE ?1 IS NULL OR p.name = ?1 GROUP BY m.kind",
    )?;
    let mut rows = kinds.query([project])?;
    while let Some(row) = rows.next()? {
        let kept = convert::counted(row, 1)?;
        let occurrences = convert::counted(row, 2)?;
        stats.shown += convert::counted(row, 4)?;
        match convert::word(row, 0, MemoryKind::from_word)? {
            MemoryKind::Reflection => {
                stats.reflections = kept;
                stats.total_reflections = occurrences;
            }
            MemoryKind::Strategy => stats.strategies = kept,
            MemoryKind::Lesson => {
                stats.lessons = kept;
                stats.average_lesson_effectiveness = row.get(3)?;
            }
            MemoryKind::Error => {
                stats.errors = kept;
                stats.error_occurrences = occurrences;
            }
        }
    }
    let mut fixes = connection.prepare_cached(
        "SELECT count(*), count(DISTINCT f.error), coalesce(avg(f.effectiveness), 0.0),
             coalesce(sum(f.times_applied), 0)
         FROM fixes f JOIN memories m ON m.id = f.error JOIN projects p ON p.id = m.project
         WHERE ?1 IS NULL OR p.name = ?1",
    )?;
    fixes.query_row([project], |row| {
        stats.fixes = convert::counted(row, 0)?;
        stats.errors_fixed = convert::counted(row, 1)?;
        stats.average_fix_effectiveness = row.get(2)?;
        stats.shown += convert::counted(row, 3)?;
        Ok(())
    })?;
    Ok(stats)
}

impl Memory {
    /// Returns the last `limit` parts of a project's sessions, oldest first.
    pub(crate) fn endings(&self, project: &str, limit: u64) -> Result<Vec<Ending>, MemoryError> {
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

    /// Keeps how good a session was that is no job of ours, and how it ended.
    pub(crate) fn judge(
        &mut self,
        source: &Source,
        evaluation: &Evaluation,
        ended: &str,
    ) -> Result<(), MemoryError> {
        self.write("store evaluation", Durability::PowerCut, |transaction| {
            let project = record::project(transaction, &source.project)?;
            let (job, time) = (&source.job, source.time);
            put_evaluation(transaction, project, job, time, evaluation, Some(ended))
        })
    }
}

/// Keeps a session's evaluation; the first of a job stays.
pub(super) fn put_evaluation(
    transaction: &Transaction<'_>,
    project: i64,
    job: &str,
    time: Timestamp,
    evaluation: &Evaluation,
    ended: Option<&str>,
) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT OR IGNORE INTO evaluations (job, project, time, correctness, helpfulness,
             safety, completeness, efficiency, ended)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        rusqlite::params![
            job,
            project,
            convert::millis(time),
            evaluation.correctness,
            evaluation.helpfulness,
            evaluation.safety,
            evaluation.completeness,
            evaluation.efficiency,
            ended,
        ],
    )?;
    Ok(())
}

/// Averages of the spans that begin at `starts` (ascending); the last ends now. Spans
/// without an evaluation are left out.
pub(super) fn evaluations(
    connection: &Connection,
    project: Option<&str>,
    starts: &[Timestamp],
) -> rusqlite::Result<Vec<EvaluationAverage>> {
    let mut statement = connection.prepare_cached(
        "SELECT count(*), avg(e.correctness), avg(e.helpfulness), avg(e.safety),
             avg(e.completeness), avg(e.efficiency)
         FROM evaluations e JOIN projects p ON p.id = e.project
         WHERE (?1 IS NULL OR p.name = ?1) AND e.time >= ?2 AND e.time < ?3
         HAVING count(*) > 0",
    )?;
    let mut averages = Vec::new();
    for (at, from) in starts.iter().enumerate() {
        let until = starts
            .get(at + 1)
            .map_or(i64::MAX, |next| convert::millis(*next));
        let rows = statement.query_map((project, convert::millis(*from), until), |row| {
            Ok(EvaluationAverage {
                from: *from,
                sessions: convert::counted(row, 0)?,
                average: Evaluation {
                    correctness: row.get(1)?,
                    helpfulness: row.get(2)?,
                    safety: row.get(3)?,
                    completeness: row.get(4)?,
                    efficiency: row.get(5)?,
                },
            })
        })?;
        for row in rows {
            averages.push(row?);
        }
    }
    Ok(averages)
}
