//! What hooks must know of a project, drawn from the store.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::convert::int;
use super::database::Memory;
use super::error::MemoryError;
use super::index_content::IndexContent;
use super::recall::RecallQuery;
use super::remembered::{self, MEMORIES, NO_SCORE};
use crate::hint::{self, Hint, MemoryKind, SHOWN_FROM, Signature};
use crate::reflect::remembered::{Detail, Remembered};

/// A fix is told when so many sessions found it: what worked once may have been chance.
const SESSIONS: u64 = 2;

impl Memory {
    /// Returns what hooks must know about a project, best first.
    pub fn index(&self, project: &str, now: Timestamp) -> Result<IndexContent, MemoryError> {
        let query = RecallQuery {
            kinds: vec![MemoryKind::Lesson, MemoryKind::Strategy],
            project: Some(project.to_owned()),
            ..RecallQuery::best(hint::HINTS)
        };
        let by_words = self.recall(&query, now)?;
        Ok(IndexContent {
            by_signature: self.by_signature(project)?,
            by_words: by_words.iter().flat_map(hints).collect(),
        })
    }

    fn by_signature(&self, project: &str) -> Result<Vec<(Signature, Vec<Hint>)>, MemoryError> {
        let told = "WHERE p.name = ?1 AND m.signature IS NOT NULL
                 AND (m.kind = 'lesson' AND m.effectiveness >= ?2 OR EXISTS (
                     SELECT 1 FROM fixes f WHERE f.error = m.id AND f.effectiveness >= ?2
                         AND (SELECT count(*) FROM fix_sessions s WHERE s.fix = f.id) >= ?3))
             ORDER BY m.last_seen DESC, m.id LIMIT ?4";
        let memories = self.read("read lessons", |connection| {
            let params = (project, SHOWN_FROM, int(SESSIONS), int(hint::ERRORS));
            remembered::select(connection, (NO_SCORE, MEMORIES, told), params)
        })?;
        let mut found: BTreeMap<Signature, Vec<Hint>> = BTreeMap::new();
        let mut left = hint::ERRORS;
        for memory in &memories {
            if let Some(signature) = memory.signature
                && left > 0
            {
                let hints = hints(memory);
                left = left.saturating_sub(hints.len() as u64);
                found.entry(signature).or_default().extend(hints);
            }
        }
        Ok(found.into_iter().collect())
    }
}

/// What is told of a memory: of an error its fixes.
fn hints(memory: &Remembered) -> Vec<Hint> {
    let hint = |id: &str, text: &str, effectiveness| Hint {
        id: id.to_owned(),
        kind: memory.kind,
        text: text.to_owned(),
        occurrences: memory.occurrences,
        last_seen: memory.last_seen,
        effectiveness,
    };
    let mut hints: Vec<Hint> = match &memory.detail {
        Detail::Error { fixes, .. } => {
            let found = fixes.iter().filter(|fix| fix.sessions >= SESSIONS);
            found
                .map(|fix| hint(&fix.id, &fix.text, fix.effectiveness))
                .collect()
        }
        _ => vec![hint(&memory.id, &memory.text, memory.effectiveness)],
    };
    hints.retain(|hint| hint.effectiveness >= SHOWN_FROM);
    hints
}
