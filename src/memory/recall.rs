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
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use super::convert;
use super::kind::MemoryKind;
use super::learning;
use super::remembered::{self, Remembered};
use super::signature::Signature;

/// So many different words of a query are looked up.
const WORDS: usize = 32;
/// So many memories that fit best by their words are weighed at first.
const CANDIDATES: u64 = 1000;
/// A memory of this age in milliseconds (90 days) has half its weight by age.
const HALF_AGE: &str = "7776000000.0";

/// What is wanted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecallQuery {
    /// Words to look for; `None` for the best of all.
    pub text: Option<String>,
    /// Only of these kinds; empty for all.
    pub kinds: Vec<MemoryKind>,
    /// Only of this project.
    pub project: Option<String>,
    /// Only of this tenant.
    pub tenant: Option<String>,
    /// At least so important.
    pub min_importance: f64,
    /// With all of these tags.
    pub tags: Vec<String>,
    /// Of sessions that ended so.
    pub outcome: Option<String>,
    /// Learned or shown since.
    pub since: Option<Timestamp>,
    /// At most so many.
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

/// An error that struck before.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// How often it struck, over all projects asked for.
    pub occurrences: u64,
    /// When first.
    pub first: Timestamp,
    /// When last.
    pub last: Timestamp,
    /// The error by project, the one seen last first, each with its fixes.
    pub errors: Vec<Remembered>,
    /// Reflections, strategies and lessons about it, the most important first.
    pub lessons: Vec<Remembered>,
}

pub(super) fn recall(
    connection: &Connection,
    query: &RecallQuery,
    now: Timestamp,
) -> rusqlite::Result<Vec<Remembered>> {
    let project = match &query.project {
        None => None,
        Some(name) => match project(connection, name)? {
            None => return Ok(Vec::new()),
            found => found,
        },
    };
    let some = select(connection, query, project, now, CANDIDATES)?;
    // The filters may have refused what fits best.
    if query.text.is_none() || some.len() as u64 >= query.limit {
        return Ok(some);
    }
    select(connection, query, project, now, u64::MAX)
}

fn select(
    connection: &Connection,
    query: &RecallQuery,
    project: Option<i64>,
    now: Timestamp,
    candidates: u64,
) -> rusqlite::Result<Vec<Remembered>> {
    let Some((sql, values)) = statement(query, project, now, candidates) else {
        return Ok(Vec::new());
    };
    connection
        .prepare_cached(&sql)?
        .query_map(params_from_iter(values), |row| {
            remembered::read(connection, row, row.get(remembered::WIDTH)?)
        })?
        .collect()
}

fn project(connection: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    connection
        .query_row("SELECT id FROM projects WHERE name = ?1", [name], |row| {
            row.get(0)
        })
        .optional()
}

/// The statement and its values; no statement for a text without words.
fn statement(
    query: &RecallQuery,
    project: Option<i64>,
    now: Timestamp,
    candidates: u64,
) -> Option<(String, Vec<Sql>)> {
    let mut values = vec![Sql::Integer(convert::millis(now))];
    let mut bind = |value: Sql| {
        values.push(value);
        format!("?{}", values.len())
    };
    let mut filters = Vec::new();
    let (source, fit) = match &query.text {
        None => ("memories m".to_owned(), "1.0"),
        Some(text) => {
            let words = bind(Sql::Text(match_words(text, project, &query.kinds)?));
            let candidates = bind(Sql::Integer(convert::int(candidates)));
            // The scope's own weight is none.
            let source = format!(
                "(SELECT rowid AS found, rank AS fit FROM recall
                  WHERE recall MATCH {words} AND rank MATCH 'bm25(1.0, 0.0)'
                  ORDER BY rank LIMIT {candidates}) JOIN memories m ON m.id = found"
            );
            (source, "-fit")
        }
    };
    if let Some(project) = project {
        filters.push(format!("m.project = {}", bind(Sql::Integer(project))));
    }
    if !query.kinds.is_empty() {
        let kinds: Vec<String> = query
            .kinds
            .iter()
            .map(|kind| bind(Sql::Text(kind.word().to_owned())))
            .collect();
        filters.push(format!("m.kind IN ({})", kinds.join(", ")));
    }
    if let Some(tenant) = &query.tenant {
        filters.push(format!("m.tenant = {}", bind(Sql::Text(tenant.clone()))));
    }
    if query.min_importance > 0.0 {
        filters.push(format!(
            "m.importance >= {}",
            bind(Sql::Real(query.min_importance))
        ));
    }
    if let Some(outcome) = &query.outcome {
        filters.push(format!("m.outcome = {}", bind(Sql::Text(outcome.clone()))));
    }
    if let Some(since) = query.since {
        filters.push(format!(
            "m.last_seen >= {}",
            bind(Sql::Integer(convert::millis(since)))
        ));
    }
    for tag in &query.tags {
        let tag = bind(Sql::Text(tag.trim().to_lowercase()));
        filters.push(format!(
            "EXISTS (SELECT 1 FROM tags WHERE memory = m.id AND tag = {tag})"
        ));
    }
    let filter = if filters.is_empty() {
        "1".to_owned()
    } else {
        filters.join(" AND ")
    };
    let limit = bind(Sql::Integer(convert::int(query.limit)));
    let columns = remembered::COLUMNS;
    let sql = format!(
        "SELECT {columns}, {fit} * (0.5 + 0.5 * m.importance) * (0.5 + 0.5 * m.confidence)
             * (0.5 + m.effectiveness)
             * (0.5 + 0.5 * {HALF_AGE} / ({HALF_AGE} + max(?1 - m.last_seen, 0))) AS score
         FROM {source} JOIN projects p ON p.id = m.project
         WHERE {filter} ORDER BY score DESC, m.last_seen DESC, m.id LIMIT {limit}"
    );
    Some((sql, values))
}

/// A query in the index's own language: any of the words, within the scope; `None` when
/// the text has no word. Words are quoted, so nothing in the text is taken as a command.
fn match_words(text: &str, project: Option<i64>, kinds: &[MemoryKind]) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let word = word.to_lowercase();
        if !word.is_empty() && words.len() < WORDS && !words.contains(&word) {
            words.push(word);
        }
    }
    let telling: Vec<String> = words
        .iter()
        .filter(|word| !super::index::is_stop_word(word))
        .map(|word| format!("\"{word}\""))
        .collect();
    let words: Vec<String> = if telling.is_empty() {
        words.iter().map(|word| format!("\"{word}\"")).collect()
    } else {
        telling
    };
    if words.is_empty() {
        return None;
    }
    let mut query = format!("body : ({})", words.join(" OR "));
    if let Some(project) = project {
        query.push_str(" AND scope : ");
        query.push_str(&learning::project_word(project));
    }
    if !kinds.is_empty() {
        let kinds: Vec<String> = kinds
            .iter()
            .map(|kind| learning::kind_word(*kind))
            .collect();
        query.push_str(" AND scope : (");
        query.push_str(&kinds.join(" OR "));
        query.push(')');
    }
    Some(query)
}

pub(super) fn seen(
    connection: &Connection,
    signature: Signature,
    project: Option<&str>,
) -> rusqlite::Result<Option<Seen>> {
    let columns = remembered::COLUMNS;
    let all: Vec<Remembered> = connection
        .prepare_cached(&format!(
            "SELECT {columns} FROM memories m JOIN projects p ON p.id = m.project
             WHERE m.signature = ?1 AND (?2 IS NULL OR p.name = ?2)
             ORDER BY m.importance DESC, m.last_seen DESC, m.id"
        ))?
        .query_map((signature.to_bits().cast_signed(), project), |row| {
            remembered::read(connection, row, 0.0)
        })?
        .collect::<rusqlite::Result<_>>()?;
    let (mut errors, lessons): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|memory| memory.kind == MemoryKind::Error);
    errors.sort_by_key(|error| std::cmp::Reverse(error.last_seen));
    // What was only reflected on has been seen as well.
    let known = if errors.is_empty() { &lessons } else { &errors };
    let Some((first, last)) = known
        .iter()
        .map(|memory| memory.created)
        .min()
        .zip(known.iter().map(|memory| memory.last_seen).max())
    else {
        return Ok(None);
    };
    Ok(Some(Seen {
        occurrences: known.iter().map(|memory| memory.occurrences).sum(),
        first,
        last,
        errors,
        lessons,
    }))
}
