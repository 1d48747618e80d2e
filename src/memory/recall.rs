//! Finding what was learned.
//!
//! A query's words are looked up in the index of words; a memory's score is
//!
//! ```text
//! BM25 · (0.5 + 0.5 · importance) · (0.5 + 0.5 · confidence) · (0.5 + effectiveness)
//!      · (0.5 + 0.5 · 90 / (90 + age in days))
//! ```
//!
//! so that of two that fit alike the more important, surer, more helpful and younger one
//! comes first, and none of these can hide one that fits much better. Weighed are the
//! [`CANDIDATES`] that fit best by their words, all when these do not suffice. Without
//! words the score is the same with 1 for BM25.

use jiff::Timestamp;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, params_from_iter};
use serde_json::Value;

use super::convert::{int, millis};
use super::database::{Memory, rows};
use super::error::MemoryError;
use super::learning;
use super::remembered::{self, MEMORIES, NO_SCORE};
use crate::hint::{MemoryKind, STOP_WORDS, Signature};
use crate::reflect::remembered::Remembered;

/// So many different words of a query are looked up.
const WORDS: usize = 32;
/// So many memories that fit best by their words are weighed at first.
const CANDIDATES: u64 = 400;
/// A memory of this age in milliseconds (90 days) has half its weight by age.
const HALF_AGE: &str = "7776000000.0";

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecallQuery {
    /// Words to look for; `None` for the best of all.
    pub text: Option<String>,
    /// Only of these kinds; empty for all.
    pub kinds: Vec<MemoryKind>,
    pub project: Option<String>,
    pub min_importance: f64,
    pub tags: Vec<String>,
    pub outcome: Option<String>,
    /// Learned or shown last since.
    pub since: Option<Timestamp>,
    /// Learned or shown last until.
    pub until: Option<Timestamp>,
    pub limit: u64,
}

impl RecallQuery {
    /// The best `limit` memories of all, to be narrowed.
    pub fn best(limit: u64) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct SeenError {
    /// How often it struck, over all projects asked for.
    pub occurrences: u64,
    pub first: Timestamp,
    pub last: Timestamp,
    /// The error by project, the one seen last first.
    pub errors: Vec<Remembered>,
    /// Reflections, strategies and lessons about it, the most important first.
    pub lessons: Vec<Remembered>,
}

impl SeenError {
    /// What memories about one error say of it, the most important first; `None` for none.
    pub fn of(all: Vec<Remembered>) -> Option<Self> {
        let is_error = |memory: &Remembered| memory.kind == MemoryKind::Error;
        let (mut errors, lessons): (Vec<_>, Vec<_>) = all.into_iter().partition(is_error);
        errors.sort_by_key(|error| std::cmp::Reverse(error.last_seen));
        // What was only reflected on has been seen as well.
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

impl Memory {
    /// Finds what fits best, best first.
    pub fn recall(
        &self,
        query: &RecallQuery,
        now: Timestamp,
    ) -> Result<Vec<Remembered>, MemoryError> {
        self.read("recall", |connection| recall(connection, query, now))
    }

    /// Tells what is known about an error, in one project or in all; `None` for a new one.
    pub fn seen(
        &self,
        signature: Signature,
        project: Option<&str>,
    ) -> Result<Option<SeenError>, MemoryError> {
        let which = "WHERE m.signature = ?1 AND (?2 IS NULL OR p.name = ?2)
             ORDER BY m.importance DESC, m.last_seen DESC, m.id";
        let all = self.read("look up error", |connection| {
            let params = (signature.to_bits().cast_signed(), project);
            remembered::select(connection, (NO_SCORE, MEMORIES, which), params)
        })?;
        Ok(SeenError::of(all))
    }

    /// Returns the memory of this id.
    pub fn find(&self, id: &str) -> Result<Option<Remembered>, MemoryError> {
        let which = "WHERE m.key = ?1";
        self.read("look up memory", |connection| {
            let found = remembered::select(connection, (NO_SCORE, MEMORIES, which), [id])?;
            Ok(found.into_iter().next())
        })
    }

    /// Returns what has met errors: programs with their subcommands, and tools.
    pub fn error_types(&self) -> Result<Vec<String>, MemoryError> {
        // From one type to the next by the index, however many errors have it.
        let sql = "WITH RECURSIVE types (type) AS (
                 SELECT min(error_type) FROM errors UNION ALL
                 SELECT (SELECT min(error_type) FROM errors WHERE error_type > type)
                 FROM types WHERE type IS NOT NULL)
             SELECT type FROM types WHERE type IS NOT NULL";
        self.all("list error types", sql, (), |row| row.get(0))
    }
}

pub(super) fn recall(
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
    // The filters may have refused what fits best.
    if some.len() as u64 >= query.limit {
        return Ok(some);
    }
    select(connection, query, project, now, Some((&words, u64::MAX)))
}

/// Weighs all memories, or so many of those that have some of the words.
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
            // The scope's own weight is none.
            // Not `ORDER BY rank`, which sorts all that match before it looks at the limit.
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
    remembered::select(connection, (&score, source, rest), values)
}

/// The words that a query is looked up by: letters and digits alone, so that nothing in them is
/// taken as a command. Those that are in most texts do not count beside others.
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

/// A query in the index's own language: any of the words, within the scope; `None` when
/// the text has no word.
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
