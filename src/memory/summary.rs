//! What hooks must know of a project, drawn from the store.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::Connection;

use super::effect::SHOWN_FROM;
use super::index::{self, Hint, IndexContent};
use super::kind::MemoryKind;
use super::recall::{self, RecallQuery};
use super::remembered::{self, Detail, Remembered};
use super::signature::Signature;

/// A fix is told when so many sessions found it: what worked once may have been chance.
const SESSIONS: u64 = 2;

pub(super) fn content(
    connection: &Connection,
    project: &str,
    now: Timestamp,
) -> rusqlite::Result<IndexContent> {
    let query = RecallQuery {
        kinds: vec![MemoryKind::Lesson, MemoryKind::Strategy],
        project: Some(project.to_owned()),
        ..RecallQuery::best(index::HINTS)
    };
    let by_words = recall::recall(connection, &query, now)?;
    Ok(IndexContent {
        by_signature: by_signature(connection, project)?,
        by_words: by_words.into_iter().filter_map(hint).collect(),
    })
}

fn by_signature(
    connection: &Connection,
    project: &str,
) -> rusqlite::Result<Vec<(Signature, Vec<Hint>)>> {
    let columns = remembered::COLUMNS;
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {columns} FROM memories m JOIN projects p ON p.id = m.project
         WHERE p.name = ?1 AND m.signature IS NOT NULL AND (m.kind = 'lesson' OR EXISTS (
             SELECT 1 FROM fixes f JOIN fix_sessions s ON s.fix = f.id WHERE f.error = m.id))
         ORDER BY m.last_seen DESC, m.id"
    ))?;
    let mut rows = statement.query([project])?;
    let mut found: BTreeMap<Signature, Vec<Hint>> = BTreeMap::new();
    let mut left = index::ERRORS;
    while left > 0
        && let Some(row) = rows.next()?
    {
        let memory = remembered::read(connection, row, 0.0)?;
        let Some(signature) = memory.signature else {
            continue;
        };
        let hints = match &memory.detail {
            Detail::Error { .. } => fixes(&memory),
            _ => hint(memory).into_iter().collect(),
        };
        left = left.saturating_sub(hints.len());
        if !hints.is_empty() {
            found.entry(signature).or_default().extend(hints);
        }
    }
    Ok(found.into_iter().collect())
}

fn fixes(error: &Remembered) -> Vec<Hint> {
    let Detail::Error { fixes, .. } = &error.detail else {
        return Vec::new();
    };
    fixes
        .iter()
        .filter(|fix| fix.effectiveness >= SHOWN_FROM && fix.sessions >= SESSIONS)
        .map(|fix| Hint {
            id: fix.id.clone(),
            kind: MemoryKind::Error,
            text: fix.text.clone(),
            occurrences: error.occurrences,
            last_seen: error.last_seen,
            effectiveness: fix.effectiveness,
        })
        .collect()
}

fn hint(memory: Remembered) -> Option<Hint> {
    (memory.effectiveness >= SHOWN_FROM).then_some(Hint {
        id: memory.id,
        kind: memory.kind,
        text: memory.text,
        occurrences: memory.occurrences,
        last_seen: memory.last_seen,
        effectiveness: memory.effectiveness,
    })
}
