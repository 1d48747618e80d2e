//! Stores what a job teaches, and counts it once.
//!
//! The id of a memory is a hash of its project and content. Ids that the database of `memory.url`
//! does not have yet are in the table `unsent`.

use jiff::Timestamp;
use rusqlite::Transaction;
use serde_json::Value;

use super::database::{Durability, Memory, MemoryError, counted, int, millis, rows, run};
use super::notes::{self, NotePlace};
use super::records::project_number;
use crate::errors::{Signature, is_exact};
use crate::reflect::learned::{
    BIRTH, EffectWhenShown, Learned, LearnedFrom, NewError, NewLesson, NewReflection, NoteDetail,
    error_id, memory_id, moved,
};
use crate::reflect::note::text_of;
use crate::reflect::remembered::{Detail, MemoryKind, Remembered};
use crate::transcript::error_keys;

/// The factor of a strategy's importance over its reflection's (spec/3: + 10 %, at most 1).
const STRATEGY_BOOST: f64 = 1.1;
/// The most characters of reflections, lessons and examples.
const LONG: usize = 2000;
/// The most characters of other texts (spec/5 cuts queries and contexts at 200).
const SHORT: usize = 200;

/// A memory with what one step counts for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Taught {
    pub memory: Remembered,
    /// The keys by which `seen` recognises an error.
    pub keys: Vec<Signature>,
    /// Further searchable words, in addition to the text and the tags.
    words: String,
    note: Option<NoteDetail>,
}

impl Taught {
    /// Returns a reflection followed by its strategy, a lesson, or an error.
    pub fn of(source: &LearnedFrom, item: &Learned) -> Vec<Self> {
        match item {
            Learned::Reflection(new) => reflected(source, new),
            Learned::Lesson(new) => vec![lesson(source, new)],
            Learned::Error(new) => vec![error(source, new)],
            Learned::Shown(_) => Vec::new(),
        }
    }
}

impl From<Remembered> for Taught {
    fn from(memory: Remembered) -> Self {
        Self {
            memory,
            keys: Vec::new(),
            words: String::new(),
            note: None,
        }
    }
}

struct LearnTx<'t> {
    transaction: &'t Transaction<'t>,
    source: &'t LearnedFrom,
    project: i64,
    /// The time of recording, however long ago it happened.
    recorded: Timestamp,
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

    fn is_known(&self, id: &str) -> rusqlite::Result<bool> {
        self.transaction
            .prepare_cached("SELECT 1 FROM memories WHERE key = ?1")?
            .exists([id])
    }

    fn put(&self, seq: u64, taught: &Taught) -> rusqlite::Result<()> {
        let new = &taught.memory;
        let is_new = !self.is_known(&new.id)?;
        let memory: i64 = self
            .transaction
            .prepare_cached(
                "INSERT INTO memories (key, kind, project, tenant, session, job, text, outcome,
                     category, signature, importance, confidence, effectiveness, occurrences,
                     times_applied, created, last_seen)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 0, ?15, ?15)
                 ON CONFLICT (key) DO UPDATE SET
                     occurrences = occurrences + excluded.occurrences,
                     importance = max(importance, excluded.importance),
                     confidence = excluded.confidence,
                     signature = coalesce(signature, excluded.signature),
                     outcome = coalesce(excluded.outcome, outcome),
                     category = coalesce(excluded.category, category),
                     last_seen = max(last_seen, excluded.last_seen)
                 RETURNING id",
            )?
            .query_row(
                rusqlite::params![
                    new.id,
                    new.kind.word(),
                    self.project,
                    new.tenant,
                    new.session,
                    new.job,
                    new.text,
                    new.outcome,
                    new.category,
                    new.signature.map(|s| s.to_bits().cast_signed()),
                    new.importance,
                    new.confidence,
                    new.effectiveness,
                    int(new.occurrences),
                    millis(new.last_seen),
                ],
                |row| row.get(0),
            )?;
        let tag = "INSERT OR IGNORE INTO tags (memory, tag) VALUES (?1, ?2)";
        for name in &new.tags {
            run(self.transaction, tag, (memory, name))?;
        }
        if is_new {
            let scope = format!("{} {}", project_word(self.project), kind_word(new.kind));
            let body = [&*new.text, &new.tags.join(" "), &taught.words].join("\n");
            let sql = "INSERT OR REPLACE INTO recall (rowid, body, scope) VALUES (?1, ?2, ?3)";
            run(self.transaction, sql, (memory, body, scope))?;
        }
        self.put_own((memory, seq), taught)
    }

    fn put_own(&self, (memory, seq): (i64, u64), new: &Taught) -> rusqlite::Result<()> {
        match &new.memory.detail {
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
                if let Some(note) = &new.note {
                    let place = NotePlace {
                        project: self.project,
                        source: self.source,
                        recorded: self.recorded,
                    };
                    notes::add(self.transaction, place, (memory, seq), note)?;
                }
            }
            Detail::Error { error_type, .. } => {
                let sql = "INSERT OR IGNORE INTO errors (memory, error_type, example)
                     VALUES (?1, ?2, ?3)";
                let values = (memory, error_type, &new.memory.text);
                let is_new = run(self.transaction, sql, values)? == 1;
                let sql = "INSERT OR IGNORE INTO error_keys (hash, memory) VALUES (?1, ?2)";
                // The lines of several texts are the lines of no error.
                for key in new.keys.iter().filter(|key| is_new || is_exact(**key)) {
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

/// The id of a memory that the database of `memory.url` does not have as it is here, with the memory
/// and its [`Taught::keys`] unless it was forgotten.
pub(crate) type Unsent = (String, Option<(Remembered, Vec<Signature>)>);

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

    /// Has everything wait for the database of `memory.url`: what is here, and what is learned and
    /// forgotten from now on. Returns the number of memories that are here.
    pub fn send_all(&mut self) -> Result<u64, MemoryError> {
        let machine = "INSERT OR IGNORE INTO machine (one, name) VALUES (1, ?1)";
        // A new number, so that no sender at work with the former database takes it off the list.
        let all = "INSERT OR REPLACE INTO unsent (key) SELECT key FROM memories ORDER BY id";
        self.write(WAITING, Durability::PowerCut, |transaction| {
            run(
                transaction,
                machine,
                [format!("{:016x}", rand::random::<u64>())],
            )?;
            Ok(run(transaction, all, ())? as u64)
        })
    }

    /// Returns this machine's name in that database; `None` before [`Memory::send_all`].
    pub fn machine(&self) -> Result<Option<String>, MemoryError> {
        let sql = "SELECT name FROM machine";
        self.one(WAITING, sql, (), |row| row.get(0))
    }

    pub fn unsent(&self) -> Result<u64, MemoryError> {
        self.count(WAITING, "SELECT count(*) FROM unsent", ())
    }

    /// Returns the number of the newest memory that waits; 0 if none waits.
    pub(crate) fn last_unsent(&self) -> Result<u64, MemoryError> {
        self.count(WAITING, "SELECT coalesce(max(id), 0) FROM unsent", ())
    }

    /// Returns the oldest memories that wait, up to the number `until` and at most `limit`, and the
    /// number of the last.
    pub(crate) fn outgoing(
        &self,
        until: u64,
        limit: u64,
    ) -> Result<(Vec<Unsent>, Option<u64>), MemoryError> {
        let waiting = "SELECT id, key FROM unsent WHERE id <= ?1 ORDER BY id LIMIT ?2";
        let keys = "SELECT k.hash FROM error_keys k JOIN memories m ON m.id = k.memory
             WHERE m.key = ?1";
        // One snapshot: another process may forget a memory between two queries.
        let _snapshot = self.read(WAITING, |_| self.connection().unchecked_transaction())?;
        let found = self.all(WAITING, waiting, (int(until), int(limit)), |row| {
            Ok((counted(row, 0)?, row.get::<_, String>(1)?))
        })?;
        let last = found.last().map(|(number, _)| *number);
        let mut all = Vec::new();
        for (_, id) in found {
            let keys = self.all(WAITING, keys, [&id], |row| {
                Ok(Signature::from_bits(row.get::<_, i64>(0)?.cast_unsigned()))
            })?;
            let memory = self.find(&id)?.map(|memory| (memory, keys));
            all.push((id, memory));
        }
        Ok((all, last))
    }

    /// Takes memories off the list, up to a number.
    pub(crate) fn sent(&mut self, last: u64) -> Result<(), MemoryError> {
        let sql = "DELETE FROM unsent WHERE id <= ?1";
        self.change(WAITING, Durability::PowerCut, sql, [int(last)])
            .map(drop)
    }
}

const WAITING: &str = "read what waits for the database";

fn taught(source: &LearnedFrom, id: String, kind: MemoryKind, detail: Detail) -> Taught {
    Taught::from(Remembered {
        id,
        kind,
        text: String::new(),
        score: 0.0,
        importance: BIRTH,
        confidence: BIRTH,
        effectiveness: BIRTH,
        occurrences: 1,
        times_applied: 0,
        tags: Vec::new(),
        outcome: None,
        category: None,
        signature: None,
        project: source.project.clone(),
        tenant: String::new(),
        session: source.session.clone(),
        job: source.job.clone(),
        created: source.time,
        last_seen: source.time,
        detail,
    })
}

fn reflected(source: &LearnedFrom, new: &NewReflection) -> Vec<Taught> {
    let (id, strategy) = reflection_ids(&source.project, new);
    let about = |id: &String, kind, text: &str, related| {
        let detail = Detail::Reflection {
            task: cut(&new.task, SHORT),
            event_ids: new.event_ids.clone(),
            event_count: new.event_count,
            related,
            correction: new.correction.clone(),
        };
        let mut taught = taught(source, id.clone(), kind, detail);
        taught.words.clone_from(&new.task);
        taught.memory = Remembered {
            text: cut(text, LONG),
            importance: share(new.importance),
            confidence: share(new.confidence),
            tags: lower(&new.tags),
            outcome: new.outcome.clone(),
            category: new.error_category.clone(),
            signature: new.signature,
            tenant: new.tenant.clone(),
            ..taught.memory
        };
        taught
    };
    let kind = MemoryKind::Reflection;
    let mut all = vec![about(&id, kind, &new.text, new.related.clone())];
    if let Some((other, text)) = strategy.zip(new.strategy.as_ref()) {
        let kind = MemoryKind::Strategy;
        let mut strategy = about(&other, kind, text, vec![id]);
        let memory = &mut strategy.memory;
        memory.importance = share(memory.importance * STRATEGY_BOOST);
        memory.tags.extend(lower([kind.word()]));
        all.push(strategy);
    }
    all
}

fn lesson(source: &LearnedFrom, new: &NewLesson) -> Taught {
    let (mistake, correction) = (cut(&new.mistake, LONG), cut(&new.correction, LONG));
    let texts = [&mistake, &correction].map(|text| identity(text));
    let parts = ["lesson", &new.task_type, &texts[0], &texts[1]];
    let id = memory_id(&source.project, "les", &parts);
    let text = text_of(&mistake, &correction);
    let detail = Detail::Lesson {
        task_type: cut(&new.task_type, SHORT),
        mistake,
        correction,
        context_hash: new.context_hash.clone(),
    };
    let mut taught = taught(source, id, MemoryKind::Lesson, detail);
    taught.memory = Remembered {
        text,
        importance: share(new.importance),
        tags: lower(&new.tags),
        signature: new.signature,
        ..taught.memory
    };
    Taught {
        words: new.task_type.clone(),
        note: Some(new.note.clone()),
        ..taught
    }
}

fn error(source: &LearnedFrom, new: &NewError) -> Taught {
    let id = error_id(&source.project, new.signature);
    let error_type = new.error_type.clone();
    let mut taught = taught(source, id, MemoryKind::Error, Detail::Error { error_type });
    taught.memory = Remembered {
        text: cut(&new.example, LONG),
        importance: share(new.importance),
        occurrences: new.occurrences,
        tags: lower(&new.tags),
        outcome: new.outcome.clone(),
        category: Some(new.category.clone()),
        signature: Some(new.signature),
        ..taught.memory
    };
    taught.keys = new.keys.iter().copied().collect();
    if taught.keys.is_empty() {
        taught.keys = error_keys(&new.example);
    }
    taught
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
    let tx = LearnTx {
        transaction,
        source,
        project: project_number(transaction, &source.project)?,
        recorded,
    };
    let mut ids = Vec::new();
    for (seq, item) in (0..).zip(learned) {
        let is_first_time = tx.is_first_time(seq)?;
        if let Learned::Shown(shown) = item
            && is_first_time
        {
            tx.shown(shown)?;
        }
        for new in Taught::of(source, item) {
            if is_first_time {
                tx.put(seq, &new)?;
            }
            if tx.is_known(&new.memory.id)? {
                ids.push(new.memory.id);
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
