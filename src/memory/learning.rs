//! Takes in what a job teaches, and counts it once.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Transaction};
use serde_json::Value;

use super::convert::{int, millis};
use super::database::{Durability, Memory, rows, run};
use super::error::MemoryError;
use super::memories::MemoryRow;
use super::notes::{self, NotePlace};
use super::{projects, sharing};
use crate::hint::{BIRTH, EffectWhenShown, MemoryKind, moved};
use crate::reflect::learned::{Arrival, Learned, LearnedFrom};
use crate::reflect::remembered::Detail;

impl Memory {
    /// Takes in what `source` teaches; repeating it changes nothing.
    ///
    /// Returns the ids of its reflections (each followed by its strategy's), lessons and
    /// errors, in order. A worker's jobs bring theirs with [`Memory::record`] instead.
    pub fn learn(
        &mut self,
        source: &LearnedFrom,
        learned: &[Learned],
    ) -> Result<Vec<String>, MemoryError> {
        self.write("store lessons", Durability::PowerCut, |transaction| {
            learn(transaction, source, learned, u64::MAX, source.time)
        })
    }
}

/// Takes in what `source` teaches, in at most `rows` new rows beside its lessons: each of those is
/// a note that waits. What it has taught before is not counted again, and what only raises a count
/// takes no row. Returns the ids of what is kept.
pub(super) fn learn(
    transaction: &Transaction<'_>,
    source: &LearnedFrom,
    learned: &[Learned],
    rows: u64,
    recorded: Timestamp,
) -> rusqlite::Result<Vec<String>> {
    let mut desk = Desk {
        transaction,
        source,
        project: projects::number(transaction, &source.project)?,
        recorded,
        rows,
        arrival: None,
    };
    let mut ids = Vec::new();
    for (seq, item) in learned.iter().enumerate() {
        let seq = seq as u64;
        let is_first_time = desk.is_first_time(seq)?;
        if is_first_time {
            sharing::put_out(transaction, source, seq, item)?;
        }
        for new in desk.item((seq, item), is_first_time)? {
            if desk.is_known(&new.id)? {
                ids.push(new.id);
            }
        }
    }
    Ok(ids)
}

/// Takes in what others learned, once. Returns whether it was new.
pub(super) fn take(
    transaction: &Transaction<'_>,
    (source, seq): (&LearnedFrom, u64),
    item: &Learned,
    arrival: &Arrival,
    recorded: Timestamp,
) -> rusqlite::Result<bool> {
    let mut desk = Desk {
        transaction,
        source,
        project: projects::number(transaction, &source.project)?,
        recorded,
        rows: u64::MAX,
        arrival: Some(arrival),
    };
    let is_first_time = desk.is_first_time(seq)?;
    desk.item((seq, item), is_first_time)?;
    Ok(is_first_time)
}

struct Desk<'t> {
    transaction: &'t Transaction<'t>,
    source: &'t LearnedFrom,
    project: i64,
    /// When it is recorded, however long ago it happened.
    recorded: Timestamp,
    /// How many more rows may be added that are no lessons.
    rows: u64,
    /// Where it came from, if others learned it.
    arrival: Option<&'t Arrival>,
}

impl Desk<'_> {
    /// Notes a step, whether or not it has been seen before.
    fn is_first_time(&self, seq: u64) -> rusqlite::Result<bool> {
        let added = run(
            self.transaction,
            "INSERT OR IGNORE INTO learned (job, seq, time) VALUES (?1, ?2, ?3)",
            (&self.source.job, int(seq), millis(self.recorded)),
        )?;
        Ok(added > 0)
    }

    /// Counts an item if this is the first time; what it is remembered as.
    fn item(
        &mut self,
        (seq, item): (u64, &Learned),
        is_first_time: bool,
    ) -> rusqlite::Result<Vec<MemoryRow>> {
        let ids = self.arrival.map_or(&[][..], |arrival| &arrival.ids);
        let all = MemoryRow::of(&self.source.project, item, ids);
        if is_first_time {
            projects::mark_stale(self.transaction, Some(self.project))?;
            if let Learned::Shown(shown) = item {
                self.shown(shown)?;
            }
            for new in &all {
                self.put(seq, new)?;
            }
        }
        Ok(all)
    }

    fn is_known(&self, id: &str) -> rusqlite::Result<bool> {
        self.transaction
            .prepare_cached("SELECT 1 FROM memories WHERE key = ?1")?
            .exists([id])
    }

    /// Writes a memory, or raises its occurrences when it is there; a new one only while rows
    /// may be added.
    fn put(&mut self, seq: u64, new: &MemoryRow) -> rusqlite::Result<()> {
        let is_new = !self.is_known(&new.id)?;
        if is_new && new.kind != MemoryKind::Lesson {
            let Some(fewer) = self.rows.checked_sub(1) else {
                return Ok(());
            };
            self.rows = fewer;
        }
        // What another member names as something of another kind is not taken.
        let memory: Option<i64> = self
            .transaction
            .prepare_cached(
                "INSERT INTO memories (key, kind, project, tenant, session, job, text, outcome,
                     category, signature, importance, confidence, effectiveness, occurrences,
                     times_applied, created, last_seen, origin)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 0, ?15, ?15,
                     ?16)
                 ON CONFLICT (key) DO UPDATE SET
                     occurrences = occurrences + excluded.occurrences,
                     importance = max(importance, excluded.importance),
                     confidence = excluded.confidence,
                     signature = coalesce(signature, excluded.signature),
                     outcome = coalesce(excluded.outcome, outcome),
                     category = coalesce(excluded.category, category),
                     last_seen = max(last_seen, excluded.last_seen)
                 WHERE kind = excluded.kind
                 RETURNING id",
            )?
            .query_row(
                rusqlite::params![
                    new.id,
                    new.kind.word(),
                    self.project,
                    new.tenant,
                    self.source.session,
                    self.source.job,
                    new.text,
                    new.outcome,
                    new.category,
                    new.signature.map(|s| s.to_bits().cast_signed()),
                    new.importance,
                    new.confidence,
                    BIRTH,
                    int(new.times),
                    millis(self.source.time),
                    self.arrival.map(|arrival| &arrival.origin),
                ],
                |row| row.get(0),
            )
            .optional()?;
        let Some(memory) = memory else {
            return Ok(());
        };
        let tag = "INSERT OR IGNORE INTO tags (memory, tag) VALUES (?1, ?2)";
        for name in &new.tags {
            run(self.transaction, tag, (memory, name))?;
        }
        if is_new {
            self.index_words(memory, new, &new.words)?;
        }
        self.put_own((memory, seq), new)
    }

    fn put_own(&self, (memory, seq): (i64, u64), new: &MemoryRow) -> rusqlite::Result<()> {
        match &new.detail {
            Detail::Reflection {
                task,
                event_ids,
                event_count,
                related,
                correction,
            } => {
                let events = Value::from(event_ids.as_slice()).to_string();
                let related = Value::from(related.as_slice()).to_string();
                // Texts and numbers can always be written.
                let correction = correction.as_ref();
                let correction = correction.and_then(|c| serde_json::to_string(c).ok());
                let count = int(*event_count);
                run(
                    self.transaction,
                    "INSERT OR IGNORE INTO reflections
                         (memory, task, event_ids, event_count, related, correction)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    (memory, task, events, count, related, correction),
                )?;
            }
            Detail::Lesson {
                task_type,
                mistake,
                correction,
                context_hash,
            } => {
                run(
                    self.transaction,
                    "INSERT OR IGNORE INTO lessons
                         (memory, task_type, mistake, correction, context_hash)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                    (memory, task_type, mistake, correction, context_hash),
                )?;
                // What others learned is no note of this user's sessions.
                if let Some(note) = new.note.as_ref().filter(|_| self.arrival.is_none()) {
                    let place = NotePlace {
                        project: self.project,
                        source: self.source,
                        recorded: self.recorded,
                    };
                    notes::add(self.transaction, place, (memory, seq), note)?;
                }
            }
            Detail::Error { error_type, .. } => {
                run(
                    self.transaction,
                    "INSERT OR IGNORE INTO errors (memory, error_type, example)
                     VALUES (?1, ?2, ?3)",
                    (memory, error_type, &new.text),
                )?;
            }
        }
        Ok(())
    }

    fn shown(&self, shown: &EffectWhenShown) -> rusqlite::Result<()> {
        let known = "SELECT effectiveness FROM memories WHERE key = ?1";
        let noted = "UPDATE memories SET times_applied = times_applied + 1, effectiveness = ?2,
                 last_seen = max(last_seen, ?3) WHERE key = ?1";
        for effectiveness in rows(self.transaction, known, [&shown.id], |row| row.get(0))? {
            let effectiveness = moved(effectiveness, shown.effect);
            let now = millis(self.source.time);
            run(self.transaction, noted, (&shown.id, effectiveness, now))?;
        }
        Ok(())
    }

    /// Makes a memory be found by its text, its tags and more words.
    fn index_words(&self, memory: i64, new: &MemoryRow, more: &str) -> rusqlite::Result<()> {
        let scope = format!("{} {}", project_word(self.project), kind_word(new.kind));
        let body = [&new.text, &new.tags.join(" "), more].join("\n");
        let sql = "INSERT OR REPLACE INTO recall (rowid, body, scope) VALUES (?1, ?2, ?3)";
        run(self.transaction, sql, (memory, body, scope)).map(drop)
    }
}

/// Moves all memories of one project to another, where they are found by words as before.
pub(super) fn move_project(
    transaction: &Transaction<'_>,
    from: i64,
    to: i64,
) -> rusqlite::Result<()> {
    let words = "INSERT OR REPLACE INTO recall (rowid, body, scope)
         SELECT id, text || char(10)
             || coalesce((SELECT group_concat(tag, ' ') FROM tags WHERE memory = m.id), '')
             || char(10) || coalesce((SELECT task FROM reflections WHERE memory = m.id),
                 (SELECT task_type FROM lessons WHERE memory = m.id), ''),
             ?2 || ' kind' || kind || 'x'
         FROM memories m WHERE project = ?1";
    run(transaction, words, (from, project_word(to)))?;
    for table in ["memories", "notes"] {
        let moved = format!("UPDATE {table} SET project = ?2 WHERE project = ?1");
        run(transaction, &moved, (from, to))?;
    }
    projects::mark_stale(transaction, Some(to))
}

pub(super) fn project_word(project: i64) -> String {
    format!("project{project}x")
}

pub(super) fn kind_word(kind: MemoryKind) -> String {
    format!("kind{}x", kind.word())
}
