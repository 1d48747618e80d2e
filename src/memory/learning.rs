//! Stores what a job or another memory teaches, and counts it once. What was learned here waits in
//! the outbox for others.
//!
//! The id of a memory is a hash of its project and content.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Transaction};
use serde_json::Value;

use super::database::{Durability, Memory, MemoryError, counted, int, millis, rows, run};
use super::notes::{self, NotePlace};
use super::records::project_number;
use crate::errors::Signature;
use crate::reflect::learned::{
    Arrival, BIRTH, EffectWhenShown, Learned, LearnedFrom, NewError, NewLesson, NewReflection,
    NoteDetail, SharedRecord, error_id, memory_id, moved,
};
use crate::reflect::note::text_of;
use crate::reflect::remembered::{Detail, MemoryKind};
use crate::transcript::error_keys;

/// The factor of a strategy's importance over its reflection's (spec/3: + 10 %, at most 1).
const STRATEGY_BOOST: f64 = 1.1;
/// The most characters of reflections, lessons and examples.
const LONG: usize = 2000;
/// The most characters of other texts (spec/5 cuts queries and contexts at 200).
const SHORT: usize = 200;

#[derive(Debug, Clone, PartialEq)]
pub struct MemoryRow {
    /// The id: `ref-…`, `les-…` or `err-…`.
    pub id: String,
    pub kind: MemoryKind,
    tenant: String,
    pub text: String,
    pub outcome: Option<String>,
    pub category: Option<String>,
    pub signature: Option<Signature>,
    pub importance: f64,
    pub confidence: f64,
    /// The number of times it was learned in one step.
    pub times: u64,
    /// The topics, in lower case.
    pub tags: Vec<String>,
    /// Further searchable words, in addition to the text and the tags.
    pub words: String,
    pub detail: Detail,
    /// The keys by which `seen` recognises an error.
    pub keys: Vec<Signature>,
    note: Option<NoteDetail>,
}

impl MemoryRow {
    /// `ids` replace the computed ids for items from elsewhere; a strategy follows its reflection.
    pub fn of(project: &str, item: &Learned, ids: &[String]) -> Vec<Self> {
        let named = |place: usize, own: String| ids.get(place).cloned().unwrap_or(own);
        match item {
            Learned::Reflection(new) => {
                let (id, strategy) = reflection_ids(project, new);
                let strategy = strategy.map(|id| named(1, id));
                reflected(new, named(0, id), strategy)
            }
            Learned::Lesson(new) => {
                let texts = [&new.mistake, &new.correction].map(|text| identity(&cut(text, LONG)));
                let parts = ["lesson", &new.task_type, &texts[0], &texts[1]];
                vec![lesson(new, named(0, memory_id(project, "les", &parts)))]
            }
            Learned::Error(new) => {
                let id = named(0, error_id(project, new.signature));
                vec![error(new, id)]
            }
            Learned::Shown(_) => Vec::new(),
        }
    }
}

struct LearnTx<'t> {
    transaction: &'t Transaction<'t>,
    source: &'t LearnedFrom,
    project: i64,
    /// The time of recording, however long ago it happened.
    recorded: Timestamp,
    arrival: Option<&'t Arrival>,
}

impl LearnTx<'_> {
    /// Records a step; returns `true` if it is new.
    fn is_first_time(&self, seq: u64) -> rusqlite::Result<bool> {
        let added = run(
            self.transaction,
            "INSERT OR IGNORE INTO learned (job, seq, time) VALUES (?1, ?2, ?3)",
            (&self.source.job, int(seq), millis(self.recorded)),
        )?;
        Ok(added > 0)
    }

    /// Returns an item's memories, and stores them the first time.
    fn item(
        &mut self,
        (seq, item): (u64, &Learned),
        is_first_time: bool,
    ) -> rusqlite::Result<Vec<MemoryRow>> {
        let ids = self.arrival.map_or(&[][..], |arrival| &arrival.ids);
        let all = MemoryRow::of(&self.source.project, item, ids);
        if is_first_time {
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

    fn put(&mut self, seq: u64, new: &MemoryRow) -> rusqlite::Result<()> {
        let is_new = !self.is_known(&new.id)?;
        // An id that another member uses for another kind is not stored.
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
            let scope = format!("{} {}", project_word(self.project), kind_word(new.kind));
            let body = [&*new.text, &new.tags.join(" "), &new.words].join("\n");
            let sql = "INSERT OR REPLACE INTO recall (rowid, body, scope) VALUES (?1, ?2, ?3)";
            run(self.transaction, sql, (memory, body, scope))?;
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
                // Serializing texts and numbers cannot fail.
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
                // Lessons from others are no notes of this user's sessions.
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
                let sql = "INSERT OR IGNORE INTO error_keys (hash, memory) VALUES (?1, ?2)";
                for key in &new.keys {
                    run(self.transaction, sql, (key.to_bits().cast_signed(), memory))?;
                }
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
}

/// The position of a memory in the log through which it is shared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogPosition {
    /// The name of this memory among the others.
    pub origin: String,
    pub position: u64,
}

/// A record from others, masked and screened.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrived {
    pub origin: String,
    pub record: SharedRecord,
}

impl Memory {
    /// Repeating it changes nothing. Returns the ids of its reflections (each followed by its
    /// strategy's), lessons and errors, in order. A worker's jobs use [`Memory::record`] instead.
    pub fn learn(
        &mut self,
        source: &LearnedFrom,
        learned: &[Learned],
    ) -> Result<Vec<String>, MemoryError> {
        self.write("store lessons", Durability::PowerCut, |transaction| {
            learn(transaction, source, learned, source.time)
        })
    }

    /// Queues everything that is learned and forgotten from now on in the outbox. `name` becomes
    /// this memory's name, unless it has one.
    pub fn share(&mut self, name: &str) -> Result<(), MemoryError> {
        if self.has("share memory", "SELECT 1 FROM sharing", ())? {
            return Ok(());
        }
        let sql = "INSERT OR IGNORE INTO sharing (one, origin) VALUES (1, ?1)";
        self.change("share memory", Durability::PowerCut, sql, [name])
            .map(drop)
    }

    /// Returns this memory's position in a log; `None` while it is not shared.
    pub fn place(&self, log: &str) -> Result<Option<LogPosition>, MemoryError> {
        let sql = "SELECT origin, coalesce((SELECT position FROM read_logs WHERE log = ?1), 0)
             FROM sharing";
        self.one("share memory", sql, [log], |row| {
            Ok(LogPosition {
                origin: row.get(0)?,
                position: counted(row, 1)?,
            })
        })
    }

    /// Returns the oldest records that wait to be sent, at most `limit`, with their numbers.
    pub(crate) fn outbox(&self, limit: u64) -> Result<Vec<(u64, SharedRecord)>, MemoryError> {
        let sql = "SELECT id, record FROM outbox ORDER BY id LIMIT ?1";
        let found = self.all("read outbox", sql, [int(limit)], |row| {
            Ok((counted(row, 0)?, row.get::<_, String>(1)?))
        })?;
        // An unreadable record is not ours; it is removed with the next one sent.
        let read = |(id, text): (u64, String)| Some((id, serde_json::from_str(&text).ok()?));
        Ok(found.into_iter().filter_map(read).collect())
    }

    pub fn unsent(&self) -> Result<u64, MemoryError> {
        self.count("read outbox", "SELECT count(*) FROM outbox", ())
    }

    /// Removes sent records from the outbox, up to a number.
    pub fn sent(&mut self, last: u64) -> Result<(), MemoryError> {
        let sql = "DELETE FROM outbox WHERE id <= ?1";
        self.change("empty outbox", Durability::PowerCut, sql, [int(last)])
            .map(drop)
    }

    /// Moves to the new position in the same transaction; returns how many records were new.
    pub fn take(
        &mut self,
        arrived: &[Arrived],
        (log, position): (&str, u64),
        now: Timestamp,
    ) -> Result<u64, MemoryError> {
        self.write(
            "take in what others learned",
            Durability::PowerCut,
            |transaction| {
                let mut new = 0;
                for arrived in arrived {
                    new += u64::from(take(transaction, arrived, now)?);
                }
                let sql = "INSERT OR REPLACE INTO read_logs (log, position) VALUES (?1, ?2)";
                run(transaction, sql, (log, int(position)))?;
                Ok(new)
            },
        )
    }

    /// Moves what others learned in a project from its shared name to its local one.
    pub(crate) fn rename_project(&mut self, shared: &str, own: &str) -> Result<(), MemoryError> {
        let sql = "SELECT 1 FROM projects WHERE name = ?1";
        if !self.has("rename project", sql, [shared])? {
            return Ok(());
        }
        self.write("rename project", Durability::PowerCut, |transaction| {
            let (from, to) = (
                project_number(transaction, shared)?,
                project_number(transaction, own)?,
            );
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
            Ok(())
        })
    }
}

fn reflected(new: &NewReflection, id: String, strategy: Option<String>) -> Vec<MemoryRow> {
    let importance = share(new.importance);
    let detail = |related| Detail::Reflection {
        task: cut(&new.task, SHORT),
        event_ids: new.event_ids.clone(),
        event_count: new.event_count,
        related,
        correction: new.correction.clone(),
    };
    let reflection = MemoryRow {
        id,
        kind: MemoryKind::Reflection,
        tenant: new.tenant.clone(),
        text: cut(&new.text, LONG),
        outcome: new.outcome.clone(),
        category: new.error_category.clone(),
        signature: new.signature,
        importance,
        confidence: share(new.confidence),
        times: 1,
        tags: lower(&new.tags),
        words: new.task.clone(),
        detail: detail(new.related.clone()),
        keys: Vec::new(),
        note: None,
    };
    let strategy = strategy.zip(new.strategy.as_ref());
    let strategy = strategy.map(|(id, text)| MemoryRow {
        id,
        kind: MemoryKind::Strategy,
        text: cut(text, LONG),
        importance: share(importance * STRATEGY_BOOST),
        tags: [
            reflection.tags.clone(),
            lower([MemoryKind::Strategy.word()]),
        ]
        .concat(),
        detail: detail(vec![reflection.id.clone()]),
        ..reflection.clone()
    });
    [Some(reflection), strategy].into_iter().flatten().collect()
}

fn lesson(new: &NewLesson, id: String) -> MemoryRow {
    let (mistake, correction) = (cut(&new.mistake, LONG), cut(&new.correction, LONG));
    MemoryRow {
        id,
        kind: MemoryKind::Lesson,
        tenant: String::new(),
        text: text_of(&mistake, &correction),
        outcome: None,
        category: None,
        signature: new.signature,
        importance: share(new.importance),
        confidence: BIRTH,
        times: 1,
        tags: lower(&new.tags),
        words: new.task_type.clone(),
        detail: Detail::Lesson {
            task_type: cut(&new.task_type, SHORT),
            mistake,
            correction,
            context_hash: new.context_hash.clone(),
        },
        keys: Vec::new(),
        note: Some(new.note.clone()),
    }
}

fn error(new: &NewError, id: String) -> MemoryRow {
    let mut keys: Vec<Signature> = new.keys.iter().copied().collect();
    if keys.is_empty() {
        keys = error_keys(&new.example);
    }
    MemoryRow {
        id,
        kind: MemoryKind::Error,
        tenant: String::new(),
        text: cut(&new.example, LONG),
        outcome: new.outcome.clone(),
        category: Some(new.category.clone()),
        signature: Some(new.signature),
        importance: share(new.importance),
        confidence: BIRTH,
        times: new.occurrences,
        tags: lower(&new.tags),
        words: String::new(),
        detail: Detail::Error {
            error_type: new.error_type.clone(),
        },
        keys,
        note: None,
    }
}

pub(crate) fn reflection_ids(project: &str, new: &NewReflection) -> (String, Option<String>) {
    let id = |kind: MemoryKind, text: &String| {
        let text = identity(&cut(text, LONG));
        memory_id(project, "ref", &[kind.word(), &new.tenant, &text])
    };
    let strategy = new.strategy.as_ref();
    (
        id(MemoryKind::Reflection, &new.text),
        strategy.map(|text| id(MemoryKind::Strategy, text)),
    )
}

fn identity(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

fn lower(tags: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
    let tags = tags.into_iter();
    tags.map(|tag| tag.as_ref().trim().to_lowercase()).collect()
}

fn cut(text: &str, characters: usize) -> String {
    text.trim().chars().take(characters).collect()
}

fn share(value: f64) -> f64 {
    if value.is_finite() {
        value.clamp(0.0, 1.0)
    } else {
        BIRTH
    }
}

/// Returns the ids of what is kept. Steps that were counted before are not counted again.
pub(super) fn learn(
    transaction: &Transaction<'_>,
    source: &LearnedFrom,
    learned: &[Learned],
    recorded: Timestamp,
) -> rusqlite::Result<Vec<String>> {
    let mut tx = LearnTx {
        transaction,
        source,
        project: project_number(transaction, &source.project)?,
        recorded,
        arrival: None,
    };
    let mut ids = Vec::new();
    for (seq, item) in learned.iter().enumerate() {
        let seq = seq as u64;
        let is_first_time = tx.is_first_time(seq)?;
        if is_first_time {
            put_out(transaction, || record_of(source, seq, item))?;
        }
        for new in tx.item((seq, item), is_first_time)? {
            if tx.is_known(&new.id)? {
                ids.push(new.id);
            }
        }
    }
    Ok(ids)
}

pub(super) fn project_word(project: i64) -> String {
    format!("project{project}x")
}

pub(super) fn kind_word(kind: MemoryKind) -> String {
    format!("kind{}x", kind.word())
}

fn take(
    transaction: &Transaction<'_>,
    Arrived { origin, record }: &Arrived,
    now: Timestamp,
) -> rusqlite::Result<bool> {
    let Some(item) = &record.what else {
        return take_back(transaction, origin, &record.ids);
    };
    let source = LearnedFrom {
        project: record.project.clone(),
        session: String::new(),
        // No session of this user taught it, so it does not count as a recurrence.
        root: String::new(),
        job: record.job.clone(),
        // Another machine's fast clock gives no time after now.
        time: record.time.min(now),
    };
    let arrival = Arrival {
        origin: origin.clone(),
        ids: record.ids.clone(),
    };
    let mut tx = LearnTx {
        transaction,
        source: &source,
        project: project_number(transaction, &source.project)?,
        recorded: now,
        arrival: Some(&arrival),
    };
    let is_first_time = tx.is_first_time(record.seq)?;
    tx.item((record.seq, item), is_first_time)?;
    Ok(is_first_time)
}

/// Removes memories that their own origin has forgotten; those also learned here stay.
fn take_back(
    transaction: &Transaction<'_>,
    origin: &str,
    ids: &[String],
) -> rusqlite::Result<bool> {
    let mut gone = 0;
    for id in ids {
        let sql = "DELETE FROM memories WHERE key = ?1 AND origin = ?2";
        gone += run(transaction, sql, (id, origin))?;
    }
    Ok(gone > 0)
}

pub fn records_of(source: &LearnedFrom, learned: &[Learned]) -> Vec<SharedRecord> {
    let numbered = learned.iter().enumerate();
    numbered
        .map(|(seq, item)| record_of(source, seq as u64, item))
        .collect()
}

fn record_of(source: &LearnedFrom, seq: u64, item: &Learned) -> SharedRecord {
    let rows = MemoryRow::of(&source.project, item, &[]).into_iter();
    let ids = rows.map(|row| row.id).collect();
    let mut what = item.clone();
    // The user's words and a note's state stay on this machine.
    if let Learned::Lesson(lesson) = &mut what {
        lesson.note = NoteDetail::default();
    }
    SharedRecord {
        job: source.job.clone(),
        seq,
        project: source.project.clone(),
        time: source.time,
        ids,
        what: Some(what),
    }
}

pub(super) fn put_out_forgotten(
    transaction: &Transaction<'_>,
    ids: Vec<String>,
    now: Timestamp,
) -> rusqlite::Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    put_out(transaction, || SharedRecord {
        job: format!("forgotten-{:016x}", rand::random::<u64>()),
        seq: 0,
        project: String::new(),
        time: now,
        ids,
        what: None,
    })
}

/// Queues a record in the outbox, if the memory is shared.
fn put_out(
    transaction: &Transaction<'_>,
    record: impl FnOnce() -> SharedRecord,
) -> rusqlite::Result<()> {
    let is_shared = transaction
        .prepare_cached("SELECT 1 FROM sharing")?
        .exists(())?;
    // Serializing texts and numbers cannot fail.
    if is_shared && let Ok(text) = serde_json::to_string(&record()) {
        let sql = "INSERT INTO outbox (record) VALUES (?1)";
        run(transaction, sql, [text])?;
    }
    Ok(())
}
