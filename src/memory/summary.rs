//! What hooks must know of a project, drawn from the store.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::Connection;

use super::convert;
use super::effect::SHOWN_FROM;
use super::index::{self, Hint, IndexContent};
use super::kind::MemoryKind;
use super::recall::{self, RecallQuery};
use super::remembered::{self, Detail, Remembered};
use super::signature::Signature;

/// All that is effective enough to be shown.
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
         WHERE p.name = ?1 AND m.signature IS NOT NULL AND m.kind <> 'reflection'
         ORDER BY m.last_seen DESC, m.id LIMIT ?2"
    ))?;
    let mut rows = statement.query((project, convert::int(index::SIGNATURES)))?;
    let mut found: BTreeMap<Signature, Vec<Hint>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let memory = remembered::read(connection, row, 0.0)?;
        let Some(signature) = memory.signature else {
            continue;
        };
        let hints = match &memory.detail {
            Detail::Error { .. } => fixes(&memory),
            _ => hint(memory).into_iter().collect(),
        };
        if !hints.is_empty() {
            found.entry(signature).or_default().extend(hints);
        }
    }
    Ok(found.into_iter().collect())
}

/// The fixes of an error that are effective enough to be shown.
fn fixes(error: &Remembered) -> Vec<Hint> {
    let Detail::Error { fixes, .. } = &error.detail else {
        return Vec::new();
    };
    fixes
        .iter()
        .filter(|fix| fix.effectiveness >= SHOWN_FROM)
        .map(|fix| Hint {
            id: fix.id.clone(),
            kind: MemoryKind::Error,
            text: fix.text.clone(),
            occurrences: error.occurrences,
            last_seen: error.last_seen,
            effectiveness: fix.effectiveness,
            names: fix.names.clone(),
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
        names: Vec::new(),
    })
}
