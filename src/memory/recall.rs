//! Finds what was learned, computes figures about it (spec/4 `get_stats`, spec/3's evaluator over
//! time), and collects the corrections for hooks.
//!
//! The word index finds the candidates for a query. The score of a memory is
//!
//! ```text
//! BM25 · (0.5 + 0.5 · importance) · (0.5 + 0.5 · confidence) · (0.5 + effectiveness)
//!      · (0.5 + 0.5 · 90 / (90 + age in days))
//! ```
//!
//! The factors only break ties between similar matches; a much better match still comes first.
//! The [`CANDIDATES`] best matches by words are scored, all if these are too few. Without words,
//! BM25 counts as 1.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, Params, Transaction, params_from_iter};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::database::{
    Durability, Memory, MemoryError, counted, int, json, millis, rows, run, time, word, words,
};
use super::learning;
use super::records::project_number;
use crate::corrections::{Correction, Corrections, MAX_NOTES};
use crate::errors::Signature;
use crate::errors::words::STOP_WORDS;
use crate::playbook::clean::clean_text;
use crate::reflect::evaluate;
use crate::reflect::learned::{LearnedFrom, SHOWN_FROM};
use crate::reflect::remembered::{Detail, MemoryKind, Remembered};
use crate::reflect::tellable::HELD_BACK;
use crate::screen;

/// The most different words of a query that are looked up.
const WORDS: usize = 32;
/// The number of best matches by words that are scored at first.
const CANDIDATES: u64 = 400;
/// The age in milliseconds (90 days) at which a memory has half its weight by age.
const HALF_AGE: &str = "7776000000.0";

/// A question about what was learned, for either store.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Question {
    Recall(RecallQuery),
    /// Looks up an error by any of its keys or names; without `project` in all projects.
    Seen {
        keys: Vec<Signature>,
        project: Option<String>,
    },
    Stats {
        project: Option<String>,
    },
}

impl Question {
    pub(crate) fn project(&mut self) -> &mut Option<String> {
        match self {
            Self::Recall(RecallQuery { project, .. })
            | Self::Seen { project, .. }
            | Self::Stats { project } => project,
        }
    }
}

/// The answer to one kind of question.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Answer {
    pub memories: Vec<Remembered>,
    /// The memories about an error, each with its keys.
    pub errors: Vec<(Remembered, Vec<Signature>)>,
    pub stats: LearnedStats,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RecallQuery {
    /// The words to look for, or the id of a memory of any project; `None` returns the best of all.
    pub text: Option<String>,
    pub kinds: Vec<MemoryKind>,
    pub project: Option<String>,
    pub min_importance: f64,
    pub tags: Vec<String>,
    pub outcome: Option<String>,
    /// Lower limit of the last time it was learned or shown.
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub limit: u64,
}

impl RecallQuery {
    pub fn best(limit: u64) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct SeenError {
    /// The number of occurrences, over all projects asked for.
    pub occurrences: u64,
    pub first: Timestamp,
    pub last: Timestamp,
    /// The error by project, the last seen first.
    pub errors: Vec<Remembered>,
    /// The reflections, strategies and lessons about it, the most important first.
    pub lessons: Vec<Remembered>,
}

impl SeenError {
    /// Groups memories about one error, given the most important first; `None` without any.
    pub fn of(all: Vec<Remembered>) -> Option<Self> {
        let is_error = |memory: &Remembered| memory.kind == MemoryKind::Error;
        let (mut errors, lessons): (Vec<_>, Vec<_>) = all.into_iter().partition(is_error);
        errors.sort_by_key(|error| std::cmp::Reverse(error.last_seen));
        // Without errors, the times of reflections count.
        let known = if errors.is_empty() { &lessons } else { &errors };
        Some(Self {
            occurrences: known.iter().map(|memory| memory.occurrences).sum(),
            first: known.iter().map(|memory| memory.created).min()?,
            last: known.iter().map(|memory| memory.last_seen).max()?,
            errors,
            lessons,
        })
    }
}

const MEMORIES: &str = "memories m";
const NO_SCORE: &str = "0.0";

/// A session's quality by the evaluator's five criteria, each 0 to 1.
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PartEnding {
    pub(crate) time: Timestamp,
    pub(crate) session: String,
    /// The ending: `success`, `failure`, …; `None` for a part that was not judged.
    pub(crate) ended: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EvaluationAverage {
    pub(crate) from: Timestamp,
    pub sessions: u64,
    #[serde(flatten)]
    pub average: Evaluation,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LearnedStats {
    pub reflections: u64,
    /// All reflections ever counted, identical ones included (spec/4 `total_reflections`).
    pub total_reflections: u64,
    pub strategies: u64,
    #[serde(rename = "lessons_stored")]
    pub lessons: u64,
    /// The mean effectiveness of the lessons; 0 without any.
    pub average_lesson_effectiveness: f64,
    pub errors: u64,
    pub error_occurrences: u64,
    pub shown: u64,
}

impl LearnedStats {
    /// Sets the figures of a kind from `[kept, occurrences, shown]` and the mean effectiveness.
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
    pub fn ask(&self, question: &Question, now: Timestamp) -> Result<Answer, MemoryError> {
        let mut answer = Answer::default();
        match question {
            Question::Recall(query) => {
                let id = query.text.as_deref().map(str::trim);
                let named = id.map(|id| self.find(id)).transpose()?.flatten();
                answer.memories = match named {
                    Some(named) => vec![named],
                    None => self.recall(query, now)?,
                };
            }
            Question::Seen { keys, project } => {
                answer.errors = self.seen(keys, project.as_deref())?;
            }
            Question::Stats { project } => answer.stats = self.stats(project.as_deref())?,
        }
        Ok(answer)
    }

    pub fn recall(
        &self,
        query: &RecallQuery,
        now: Timestamp,
    ) -> Result<Vec<Remembered>, MemoryError> {
        let found = self.read("recall", |connection| recall(connection, query, now))?;
        Ok(self.shown(found))
    }

    /// Finds errors by any of their keys or names, each with its keys; without `project` in all
    /// projects.
    pub fn seen(
        &self,
        keys: &[Signature],
        project: Option<&str>,
    ) -> Result<Vec<(Remembered, Vec<Signature>)>, MemoryError> {
        let which = "WHERE m.signature IN (SELECT value FROM json_each(?1) UNION
                 SELECT e.signature FROM error_keys k JOIN memories e ON e.id = k.memory
                 WHERE k.hash IN (SELECT value FROM json_each(?1)))
             AND (?2 IS NULL OR p.name = ?2)
             ORDER BY m.importance DESC, m.last_seen DESC, m.id";
        let keys: Vec<i64> = keys.iter().map(|key| key.to_bits().cast_signed()).collect();
        let found = self.read("look up error", |connection| {
            let params = (Value::from(keys).to_string(), project);
            read_memories(connection, (NO_SCORE, MEMORIES, which), params)
        })?;
        let sql = "SELECT k.hash FROM error_keys k JOIN memories m ON m.id = k.memory
             WHERE m.key = ?1";
        let with_keys = |memory: Remembered| {
            let keys = self.all("look up keys", sql, [&memory.id], |row| {
                Ok(Signature::from_bits(row.get::<_, i64>(0)?.cast_unsigned()))
            })?;
            Ok((memory, keys))
        };
        self.shown(found).into_iter().map(with_keys).collect()
    }

    pub fn find(&self, id: &str) -> Result<Option<Remembered>, MemoryError> {
        let which = "WHERE m.key = ?1";
        let found = self.read("look up memory", |connection| {
            read_memories(connection, (NO_SCORE, MEMORIES, which), [id])
        })?;
        Ok(self.shown(found).pop())
    }

    fn shown(&self, mut found: Vec<Remembered>) -> Vec<Remembered> {
        for memory in &mut found {
            self.outlet.memory(memory);
        }
        found
    }

    pub fn stats(&self, project: Option<&str>) -> Result<LearnedStats, MemoryError> {
        let kinds = "SELECT m.kind, count(*), sum(m.occurrences), avg(m.effectiveness),
                 sum(m.times_applied)
             FROM memories m JOIN projects p ON p.id = m.project
             WHERE ?1 IS NULL OR p.name = ?1 GROUP BY m.kind";
        let mut stats = LearnedStats::default();
        self.all("read statistics", kinds, [project], |row| {
            let kind = word(row, 0, MemoryKind::from_word)?;
            let counts = [counted(row, 1)?, counted(row, 2)?, counted(row, 4)?];
            stats.count(kind, counts, row.get(3)?);
            Ok(())
        })?;
        Ok(stats)
    }

    /// Takes `starts` in ascending order. The last span is open; empty ones are left out.
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

    /// Stores the evaluation and ending of a session without a job of ours.
    pub(crate) fn judge(
        &mut self,
        source: &LearnedFrom,
        evaluation: &Evaluation,
        ended: &str,
    ) -> Result<(), MemoryError> {
        self.write("store evaluation", Durability::PowerCut, |transaction| {
            let project = project_number(transaction, &source.project)?;
            put_evaluation(transaction, project, source, evaluation, Some(ended))
        })
    }

    /// Leaves out what looks like an attack: agents read the hint. The most effective come first.
    pub fn corrections(&self, project: &str) -> Result<Corrections, MemoryError> {
        let which = "WHERE p.name = ?1 AND m.signature IS NOT NULL
                 AND m.kind = 'lesson' AND m.effectiveness >= ?2
             ORDER BY m.last_seen DESC, m.id LIMIT ?3";
        let memories = self.read("read lessons", |connection| {
            let params = (project, SHOWN_FROM, int(MAX_NOTES));
            read_memories(connection, (NO_SCORE, MEMORIES, which), params)
        })?;
        let mut memories = self.shown(memories);
        memories.retain(|memory| memory.text != HELD_BACK);
        memories.sort_by(|a, b| b.effectiveness.total_cmp(&a.effectiveness));
        let mut by_error: BTreeMap<Signature, Vec<Correction>> = BTreeMap::new();
        for memory in memories {
            let Detail::Lesson { correction, .. } = &memory.detail else {
                continue;
            };
            let text = clean_text(correction);
            let is_fit = !text.is_empty() && screen::suspicions(&text).is_empty();
            if let Some(error) = memory.signature.filter(|_| is_fit) {
                let id = memory.id;
                by_error
                    .entry(error)
                    .or_default()
                    .push(Correction { id, text });
            }
        }
        Ok(Corrections::new(by_error))
    }
}

fn recall(
    connection: &Connection,
    query: &RecallQuery,
    now: Timestamp,
) -> rusqlite::Result<Vec<Remembered>> {
    let project: Option<i64> = match &query.project {
        None => None,
        Some(name) => {
            let sql = "SELECT id FROM projects WHERE name = ?1";
            match rows(connection, sql, [name], |row| row.get(0))?.first() {
                None => return Ok(Vec::new()),
                found => found.copied(),
            }
        }
    };
    let Some(text) = &query.text else {
        return select(connection, query, project, now, None);
    };
    let Some(words) = match_words(text, project, &query.kinds) else {
        return Ok(Vec::new());
    };
    let some = select(connection, query, project, now, Some((&words, CANDIDATES)))?;
    // The filters may have excluded the best matches.
    if some.len() as u64 >= query.limit {
        return Ok(some);
    }
    select(connection, query, project, now, Some((&words, u64::MAX)))
}

fn select(
    connection: &Connection,
    query: &RecallQuery,
    project: Option<i64>,
    now: Timestamp,
    words: Option<(&str, u64)>,
) -> rusqlite::Result<Vec<Remembered>> {
    let kinds: Vec<_> = query.kinds.iter().map(|kind| kind.word()).collect();
    let tags: Vec<_> = query
        .tags
        .iter()
        .map(|tag| tag.trim().to_lowercase())
        .collect();
    let mut values: Vec<Sql> = vec![
        millis(now).into(),
        project.into(),
        Value::from(kinds).to_string().into(),
        query.min_importance.into(),
        query.outcome.clone().into(),
        query.since.map(millis).into(),
        Value::from(tags).to_string().into(),
        int(query.limit).into(),
        query.until.map(millis).into(),
    ];
    let (source, fit) = match words {
        None => (MEMORIES, "1.0"),
        Some((words, candidates)) => {
            values.extend([words.to_owned().into(), int(candidates).into()]);
            // The scope column has weight 0. `ORDER BY rank` would sort all matches before applying
            // the limit.
            let source = "(SELECT rowid AS found, bm25(recall, 1.0, 0.0) AS fit FROM recall
                  WHERE recall MATCH ?10 ORDER BY fit LIMIT ?11)
                  JOIN memories m ON m.id = found";
            (source, "-fit")
        }
    };
    let score = format!(
        "{fit} * (0.5 + 0.5 * m.importance) * (0.5 + 0.5 * m.confidence)
             * (0.5 + m.effectiveness)
             * (0.5 + 0.5 * {HALF_AGE} / ({HALF_AGE} + max(?1 - m.last_seen, 0)))"
    );
    let rest = "WHERE (?2 IS NULL OR m.project = ?2)
             AND (json_array_length(?3) = 0 OR m.kind IN (SELECT value FROM json_each(?3)))
             AND m.importance >= ?4
             AND (?5 IS NULL OR m.outcome = ?5) AND (?6 IS NULL OR m.last_seen >= ?6)
             AND (?9 IS NULL OR m.last_seen <= ?9)
             AND NOT EXISTS (SELECT 1 FROM json_each(?7)
                 WHERE value NOT IN (SELECT tag FROM tags WHERE memory = m.id))
         ORDER BY score DESC, m.last_seen DESC, m.id LIMIT ?8";
    let values = params_from_iter(values);
    read_memories(connection, (&score, source, rest), values)
}

/// Returns the words by which a query is looked up: only letters and digits, so that none is read
/// as an operator. Stop words count only if there are no others.
pub fn words_of(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let word = word.to_lowercase();
        if !word.is_empty() && words.len() < WORDS && !words.contains(&word) {
            words.push(word);
        }
    }
    if !words.iter().all(|word| STOP_WORDS.has(word)) {
        words.retain(|word| !STOP_WORDS.has(word));
    }
    words
}

/// Returns a query in FTS5 syntax for any of the words; `None` if the text has no word.
fn match_words(text: &str, project: Option<i64>, kinds: &[MemoryKind]) -> Option<String> {
    let words = words_of(text);
    if words.is_empty() {
        return None;
    }
    let mut query = format!("body : (\"{}\")", words.join("\" OR \""));
    if let Some(project) = project {
        query = format!("{query} AND scope : {}", learning::project_word(project));
    }
    if !kinds.is_empty() {
        let kinds: Vec<_> = kinds
            .iter()
            .map(|kind| learning::kind_word(*kind))
            .collect();
        query = format!("{query} AND scope : ({})", kinds.join(" OR "));
    }
    Some(query)
}

/// Reads the memories of `source`, which must name `memories m`, narrowed and ordered by `rest`.
/// `score` is the SQL expression of the score.
fn read_memories(
    connection: &Connection,
    (score, source, rest): (&str, &str, &str),
    params: impl Params,
) -> rusqlite::Result<Vec<Remembered>> {
    let sql = format!(
        "SELECT m.id, m.key, m.kind, p.name, m.tenant, m.session, m.job, m.text, m.outcome,
             m.category, m.signature, m.importance, m.confidence, m.effectiveness,
             m.occurrences, m.times_applied, m.created, m.last_seen, {score} AS score
         FROM {source} JOIN projects p ON p.id = m.project {rest}"
    );
    rows(connection, &sql, params, |row| {
        let memory: i64 = row.get(0)?;
        let kind = word(row, 2, MemoryKind::from_word)?;
        let signature: Option<i64> = row.get(10)?;
        let tags = "SELECT tag FROM tags WHERE memory = ?1 ORDER BY tag";
        Ok(Remembered {
            id: row.get(1)?,
            kind,
            project: row.get(3)?,
            tenant: row.get(4)?,
            session: row.get(5)?,
            job: row.get(6)?,
            text: row.get(7)?,
            outcome: row.get(8)?,
            category: row.get(9)?,
            signature: signature.map(|bits| Signature::from_bits(bits.cast_unsigned())),
            importance: row.get(11)?,
            confidence: row.get(12)?,
            effectiveness: row.get(13)?,
            occurrences: counted(row, 14)?,
            times_applied: counted(row, 15)?,
            tags: rows(connection, tags, [memory], |row| row.get(0))?,
            created: time(row, 16)?,
            last_seen: time(row, 17)?,
            score: row.get(18)?,
            detail: detail(connection, memory, kind)?,
        })
    })
}

fn detail(connection: &Connection, memory: i64, kind: MemoryKind) -> rusqlite::Result<Detail> {
    let sql = match kind {
        MemoryKind::Reflection | MemoryKind::Strategy => {
            "SELECT task, event_ids, event_count, related, correction FROM reflections
             WHERE memory = ?1"
        }
        MemoryKind::Lesson => {
            "SELECT task_type, mistake, correction, context_hash FROM lessons WHERE memory = ?1"
        }
        MemoryKind::Error => "SELECT error_type FROM errors WHERE memory = ?1",
    };
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_row([memory], |row| {
        Ok(match kind {
            MemoryKind::Reflection | MemoryKind::Strategy => Detail::Reflection {
                task: row.get(0)?,
                event_ids: words(row, 1)?,
                event_count: counted(row, 2)?,
                related: words(row, 3)?,
                correction: json(row, 4)?.and_then(|c| serde_json::from_value(c).ok()),
            },
            MemoryKind::Lesson => Detail::Lesson {
                task_type: row.get(0)?,
                mistake: row.get(1)?,
                correction: row.get(2)?,
                context_hash: row.get(3)?,
            },
            MemoryKind::Error => Detail::Error {
                error_type: row.get(0)?,
            },
        })
    })
}

/// Stores a session's evaluation; the first of a job stays.
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
