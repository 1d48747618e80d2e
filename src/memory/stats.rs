//! Figures about what was learned (spec/4 `get_stats`, spec/3's evaluator over time).

use jiff::Timestamp;
use rusqlite::Transaction;
use serde::Serialize;

use super::convert::{self, counted, int, millis, time};
use super::database::{Durability, Memory, run};
use super::error::MemoryError;
use super::projects;
use crate::hint::MemoryKind;
use crate::reflect::evaluate;
use crate::reflect::learned::LearnedFrom;

/// How good a session was, by the evaluator's five criteria, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Evaluation {
    pub correctness: f64,
    pub helpfulness: f64,
    pub safety: f64,
    pub completeness: f64,
    pub efficiency: f64,
}

impl From<&evaluate::EvaluatorReply> for Evaluation {
    fn from(verdict: &evaluate::EvaluatorReply) -> Self {
        Self {
            correctness: verdict.correctness.score.get(),
            helpfulness: verdict.helpfulness.score.get(),
            safety: verdict.safety.score.get(),
            completeness: verdict.completeness.score.get(),
            efficiency: verdict.efficiency.score.get(),
        }
    }
}

/// The end of a part of a session, when its job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PartEnding {
    pub(crate) time: Timestamp,
    pub(crate) session: String,
    /// How it ended: `success`, `failure`, …; `None` for a part that was not judged.
    pub(crate) ended: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EvaluationAverage {
    pub(crate) from: Timestamp,
    pub sessions: u64,
    #[serde(flatten)]
    pub average: Evaluation,
}

/// Figures about what was learned, of one project or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct LearnedStats {
    pub reflections: u64,
    /// Reflections ever counted, identical ones included (spec/4 `total_reflections`).
    pub total_reflections: u64,
    pub strategies: u64,
    /// Lessons kept (spec/4 `lessons_stored`).
    #[serde(rename = "lessons_stored")]
    pub lessons: u64,
    /// Mean effectiveness of the lessons; 0 when there is none.
    pub average_lesson_effectiveness: f64,
    pub errors: u64,
    pub error_occurrences: u64,
    /// How often a lesson or a strategy was shown.
    pub shown: u64,
}

impl LearnedStats {
    /// Counts all memories of a kind: how many are kept, how often they occurred and were shown,
    /// and how effective they are on average.
    pub fn count(&mut self, kind: MemoryKind, counts: [u64; 3], effectiveness: f64) {
        let [kept, occurrences, shown] = counts;
        self.shown += shown;
        match kind {
            MemoryKind::Reflection => {
                (self.reflections, self.total_reflections) = (kept, occurrences);
            }
            MemoryKind::Strategy => self.strategies = kept,
            MemoryKind::Lesson => {
                (self.lessons, self.average_lesson_effectiveness) = (kept, effectiveness);
            }
            MemoryKind::Error => (self.errors, self.error_occurrences) = (kept, occurrences),
        }
    }
}

impl Memory {
    pub fn stats(&self, project: Option<&str>) -> Result<LearnedStats, MemoryError> {
        let kinds = "SELECT m.kind, count(*), sum(m.occurrences), avg(m.effectiveness),
                 sum(m.times_applied)
             FROM memories m JOIN projects p ON p.id = m.project
             WHERE ?1 IS NULL OR p.name = ?1 GROUP BY m.kind";
        let mut stats = LearnedStats::default();
        self.all("read statistics", kinds, [project], |row| {
            let kind = convert::word(row, 0, MemoryKind::from_word)?;
            let counts = [counted(row, 1)?, counted(row, 2)?, counted(row, 4)?];
            stats.count(kind, counts, row.get(3)?);
            Ok(())
        })?;
        Ok(stats)
    }

    /// Returns the averages of the evaluations in the spans that begin at `starts`
    /// (ascending), those without any left out; the last ends now.
    pub fn evaluations(
        &self,
        project: Option<&str>,
        starts: &[Timestamp],
    ) -> Result<Vec<EvaluationAverage>, MemoryError> {
        let sql = "SELECT count(*), avg(e.correctness), avg(e.helpfulness), avg(e.safety),
                 avg(e.completeness), avg(e.efficiency)
             FROM evaluations e JOIN projects p ON p.id = e.project
             WHERE (?1 IS NULL OR p.name = ?1) AND e.time >= ?2 AND e.time < ?3
             HAVING count(*) > 0";
        let ends = starts.iter().skip(1).map(|next| millis(*next));
        let mut averages = Vec::new();
        for (from, until) in starts.iter().zip(ends.chain([i64::MAX])) {
            let span = (project, millis(*from), until);
            averages.extend(self.one("read evaluations", sql, span, |row| {
                Ok(EvaluationAverage {
                    from: *from,
                    sessions: counted(row, 0)?,
                    average: Evaluation {
                        correctness: row.get(1)?,
                        helpfulness: row.get(2)?,
                        safety: row.get(3)?,
                        completeness: row.get(4)?,
                        efficiency: row.get(5)?,
                    },
                })
            })?);
        }
        Ok(averages)
    }

    /// Returns the last `limit` parts of a project's sessions, oldest first.
    pub(crate) fn endings(
        &self,
        project: &str,
        limit: u64,
    ) -> Result<Vec<PartEnding>, MemoryError> {
        let sql = "SELECT j.finished, j.session, e.ended
             FROM jobs j JOIN projects p ON p.id = j.project
                 LEFT JOIN evaluations e ON e.job = j.job
             WHERE p.name = ?1 AND j.session <> ''
             ORDER BY j.finished DESC, j.id DESC LIMIT ?2";
        let mut endings = self.all("read sessions", sql, (project, int(limit)), |row| {
            Ok(PartEnding {
                time: time(row, 0)?,
                session: row.get(1)?,
                ended: row.get(2)?,
            })
        })?;
        endings.reverse();
        Ok(endings)
    }

    /// Keeps how good a session was that is no job of ours, and how it ended.
    pub(crate) fn judge(
        &mut self,
        source: &LearnedFrom,
        evaluation: &Evaluation,
        ended: &str,
    ) -> Result<(), MemoryError> {
        self.write("store evaluation", Durability::PowerCut, |transaction| {
            let project = projects::number(transaction, &source.project)?;
            put_evaluation(transaction, project, source, evaluation, Some(ended))
        })
    }
}

/// Keeps a session's evaluation; the first of a job stays.
pub(super) fn put_evaluation(
    transaction: &Transaction<'_>,
    project: i64,
    source: &LearnedFrom,
    said: &Evaluation,
    ended: Option<&str>,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO evaluations (job, project, time, correctness, helpfulness,
             safety, completeness, efficiency, ended)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let params = (
        &source.job,
        project,
        millis(source.time),
        said.correctness,
        said.helpfulness,
        said.safety,
        said.completeness,
        said.efficiency,
        ended,
    );
    run(transaction, sql, params).map(drop)
}
