//! Takes in what a job teaches, and counts it once.

use std::cell::Cell;

use rusqlite::{OptionalExtension, Transaction};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::convert;
use super::effect::{BIRTH, moved, moved_by_successes};
use super::kind::MemoryKind;
use super::learned::{ARROW, Learned, NewError, NewFix, NewLesson, NewReflection, Shown, Source};
use super::record;
use super::signature::Signature;
use super::stale;

/// How much more a strategy weighs than its reflection (spec/3: + 10 %, at most 1).
const STRATEGY_BOOST: f64 = 1.1;
/// So many fixes of one error are kept, the most effective.
const FIXES: u64 = 5;
/// Texts are kept up to so many characters (spec/5 cuts queries and contexts at 200).
const SHORT: usize = 200;
/// Reflections, lessons, examples and fixes are kept up to so many characters.
const LONG: usize = 2000;
/// Bytes of a hash that an id shows, two digits each.
const ID_BYTES: usize = 6;

/// Takes in what `source` teaches, in at most `rows` new rows; what it has taught before is
/// not counted again, and what only raises a count takes no row.
///
/// Returns the ids under which it is found, one per reflection (and one more per
/// strategy), lesson and error, in order.
pub(super) fn learn(
    transaction: &Transaction<'_>,
    source: &Source,
    learned: &[Learned],
    rows: u64,
) -> rusqlite::Result<Vec<String>> {
    let project = record::project(transaction, &source.project)?;
    let desk = Desk {
        transaction,
        source,
        project,
        rows: Cell::new(rows),
    };
    let mut ids = Vec::new();
    for (seq, item) in learned.iter().enumerate() {
        let first_time = transaction
            .prepare_cached("INSERT OR IGNORE INTO learned (job, seq, time) VALUES (?1, ?2, ?3)")?
            .execute((
                &source.job,
                convert::int(seq as u64),
                convert::millis(source.time),
            ))?;
        if first_time == 0 {
            ids.extend(desk.kept(item)?);
            continue;
        }
        stale::mark(transaction, project)?;
        match item {
            Learned::Reflection(reflection) => desk.reflection(reflection)?,
            Learned::Lesson(lesson) => desk.lesson(lesson)?,
            Learned::Error(error) => desk.error(error)?,
            Learned::Shown(shown) => desk.shown(shown)?,
        }
        ids.extend(desk.kept(item)?);
    }
    Ok(ids)
}

struct Desk<'t> {
    transaction: &'t Transaction<'t>,
    source: &'t Source,
    project: i64,
    /// How many more rows may be added.
    rows: Cell<u64>,
}

/// What all kinds of memories have.
struct Common<'m> {
    kind: MemoryKind,
    key: String,
    tenant: &'m str,
    text: String,
    outcome: Option<&'m str>,
    category: Option<&'m str>,
    signature: Option<Signature>,
    importance: f64,
    confidence: f64,
    times: u64,
    tags: &'m [String],
    /// What is searched beside the text and the tags.
    words: &'m str,
}

impl Desk<'_> {
    /// The ids of what an item is remembered as, where it was kept.
    fn kept(&self, item: &Learned) -> rusqlite::Result<Vec<String>> {
        let mut kept = Vec::new();
        for id in self.ids(item) {
            if self.is_known(&id)? {
                kept.push(id);
            }
        }
        Ok(kept)
    }

    fn is_known(&self, id: &str) -> rusqlite::Result<bool> {
        self.transaction
            .prepare_cached("SELECT 1 FROM memories WHERE key = ?1")?
            .exists([id])
    }

    /// The ids of what an item is remembered as.
    fn ids(&self, item: &Learned) -> Vec<String> {
        match item {
            Learned::Reflection(new) => {
                let mut ids = vec![self.reflection_id(new, MemoryKind::Reflection, &new.text)];
                let strategy = new.strategy.iter();
                ids.extend(strategy.map(|s| self.reflection_id(new, MemoryKind::Strategy, s)));
                ids
            }
            Learned::Lesson(new) => vec![self.lesson_id(new)],
            Learned::Error(new) => vec![error_id(&self.source.project, new.signature)],
            Learned::Shown(_) => Vec::new(),
        }
    }

    fn reflection_id(&self, new: &NewReflection, kind: MemoryKind, text: &str) -> String {
        reflection_id(&self.source.project, new, kind, text)
    }

    fn lesson_id(&self, new: &NewLesson) -> String {
        let texts = [&new.mistake, &new.correction].map(|text| identity(&cut(text, LONG)));
        let parts = ["lesson", &new.task_type, &texts[0], &texts[1]];
        id(&self.source.project, "les", &parts)
    }

    fn reflection(&self, new: &NewReflection) -> rusqlite::Result<()> {
        let text = cut(&new.text, LONG);
        let key = self.reflection_id(new, MemoryKind::Reflection, &text);
        let common = |kind, key: &str, text, importance| Common {
            kind,
            key: key.to_owned(),
            tenant: &new.tenant,
            text,
            outcome: new.outcome.as_deref(),
            category: new.error_category.as_deref(),
            signature: new.signature,
            importance,
            confidence: new.confidence,
            times: 1,
            tags: &new.tags,
            words: &new.task,
        };
        let importance = share(new.importance);
        let Some(memory) = self.put(&common(MemoryKind::Reflection, &key, text, importance))?
        else {
            return Ok(());
        };
        self.put_reflection(memory, new, &new.related)?;
        if let Some(strategy) = &new.strategy {
            let text = cut(strategy, LONG);
            let own = self.reflection_id(new, MemoryKind::Strategy, &text);
            let boosted = share(importance * STRATEGY_BOOST);
            let mut common = common(MemoryKind::Strategy, &own, text, boosted);
            let mut tags = new.tags.clone();
            tags.push(MemoryKind::Strategy.word().to_owned());
            common.tags = &tags;
            if let Some(memory) = self.put(&common)? {
                self.put_reflection(memory, new, &[key])?;
            }
        }
        Ok(())
    }

    fn put_reflection(
        &self,
        memory: i64,
        new: &NewReflection,
        related: &[String],
    ) -> rusqlite::Result<()> {
        self.transaction
            .prepare_cached(
                "INSERT OR IGNORE INTO reflections (memory, task, event_ids, event_count, related)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute((
                memory,
                cut(&new.task, SHORT),
                Value::from(new.event_ids.as_slice()).to_string(),
                convert::int(new.event_count),
                Value::from(related).to_string(),
            ))?;
        Ok(())
    }

    fn lesson(&self, new: &NewLesson) -> rusqlite::Result<()> {
        let (mistake, correction) = (cut(&new.mistake, LONG), cut(&new.correction, LONG));
        let lesson = self.put(&Common {
            kind: MemoryKind::Lesson,
            key: self.lesson_id(new),
            tenant: "",
            text: format!("{mistake}{ARROW}{correction}"),
            outcome: None,
            category: None,
            signature: new.signature,
            importance: share(new.importance),
            confidence: BIRTH,
            times: 1,
            tags: &new.tags,
            words: &new.task_type,
        })?;
        let Some(memory) = lesson else {
            return Ok(());
        };
        self.transaction
            .prepare_cached(
                "INSERT OR IGNORE INTO lessons
                     (memory, task_type, mistake, correction, context_hash)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute((
                memory,
                cut(&new.task_type, SHORT),
                mistake,
                correction,
                &new.context_hash,
            ))?;
        Ok(())
    }

    fn error(&self, new: &NewError) -> rusqlite::Result<()> {
        let example = cut(&new.example, LONG);
        let key = error_id(&self.source.project, new.signature);
        let error = self.put(&Common {
            kind: MemoryKind::Error,
            key: key.clone(),
            tenant: "",
            text: example.clone(),
            outcome: new.outcome.as_deref(),
            category: Some(&new.category),
            signature: Some(new.signature),
            importance: share(new.importance),
            confidence: BIRTH,
            times: new.occurrences,
            tags: &new.tags,
            words: "",
        })?;
        let Some(memory) = error else {
            return Ok(());
        };
        self.transaction
            .prepare_cached(
                "INSERT OR IGNORE INTO errors (memory, error_type, example) VALUES (?1, ?2, ?3)",
            )?
            .execute((memory, &new.error_type, &example))?;
        if let Some(fix) = &new.fix {
            self.fix(memory, &key, fix)?;
            let fixes: String = self.transaction.query_row(
                "SELECT group_concat(fix, ' ') FROM fixes WHERE error = ?1",
                [memory],
                |row| row.get(0),
            )?;
            let tags = new.tags.join(" ");
            self.index_words(memory, MemoryKind::Error, &[&example, &tags, &fixes])?;
        }
        Ok(())
    }

    /// Notes a fix. Found the first time it is born; each time it is found again without
    /// having been shown, it has proved itself. What was shown counts by what it did then.
    fn fix(&self, error: i64, key: &str, fix: &NewFix) -> rusqlite::Result<()> {
        let text = cut(&fix.text, LONG);
        let own = fix_id(&self.source.project, key, &text);
        let known = self
            .transaction
            .query_row(
                "SELECT effectiveness, occurrences FROM fixes WHERE key = ?1",
                [&own],
                |row| Ok((row.get(0)?, convert::counted(row, 1)?)),
            )
            .optional()?;
        let (effectiveness, before) = known.unwrap_or((BIRTH, 0));
        let after = before.saturating_add(fix.times);
        let again = after.saturating_sub(before.max(1));
        self.transaction
            .prepare_cached(
                "INSERT INTO fixes (key, error, fix, names, effectiveness, occurrences,
                     times_applied, created, last_seen)
                 VALUES (?1, ?2, ?3, '[]', ?4, ?5, 0, ?6, ?6)
                 ON CONFLICT (key) DO UPDATE SET
                     effectiveness = excluded.effectiveness,
                     occurrences = excluded.occurrences,
                     last_seen = max(last_seen, excluded.last_seen)",
            )?
            .execute((
                &own,
                error,
                text,
                moved_by_successes(effectiveness, again),
                convert::int(after),
                convert::millis(self.source.time),
            ))?;
        if fix.times > 0 {
            // What the model was told shows nothing that was not known.
            self.transaction
                .prepare_cached(
                    "INSERT OR IGNORE INTO fix_sessions (fix, session)
                     SELECT id, ?2 FROM fixes WHERE key = ?1",
                )?
                .execute((&own, &self.source.session))?;
        }
        self.transaction.execute(
            "DELETE FROM fixes WHERE error = ?1 AND id NOT IN (
                 SELECT id FROM fixes WHERE error = ?1
                 ORDER BY effectiveness DESC, last_seen DESC, id DESC LIMIT ?2)",
            (error, convert::int(FIXES)),
        )?;
        Ok(())
    }

    fn shown(&self, shown: &Shown) -> rusqlite::Result<()> {
        for table in ["memories", "fixes"] {
            let known: Option<f64> = self
                .transaction
                .query_row(
                    &format!("SELECT effectiveness FROM {table} WHERE key = ?1"),
                    [&shown.id],
                    |row| row.get(0),
                )
                .optional()?;
            if let Some(effectiveness) = known {
                self.transaction.execute(
                    &format!(
                        "UPDATE {table} SET times_applied = times_applied + 1,
                             effectiveness = ?2, last_seen = max(last_seen, ?3) WHERE key = ?1"
                    ),
                    (
                        &shown.id,
                        moved(effectiveness, shown.effect),
                        convert::millis(self.source.time),
                    ),
                )?;
            }
        }
        Ok(())
    }

    /// Writes a memory, or raises its occurrences when it is there, and returns its number;
    /// `None` for a new one when no more rows may be added.
    fn put(&self, new: &Common<'_>) -> rusqlite::Result<Option<i64>> {
        let is_new = !self.is_known(&new.key)?;
        if is_new {
            match self.rows.get().checked_sub(1) {
                Some(left) => self.rows.set(left),
                None => return Ok(None),
            }
        }
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
                    new.key,
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
                    share(new.confidence),
                    BIRTH,
                    convert::int(new.times),
                    convert::millis(self.source.time),
                ],
                |row| row.get(0),
            )?;
        let mut tag = self
            .transaction
            .prepare_cached("INSERT OR IGNORE INTO tags (memory, tag) VALUES (?1, ?2)")?;
        for name in new.tags {
            tag.execute((memory, name.trim().to_lowercase()))?;
        }
        if is_new {
            let tags = new.tags.join(" ");
            self.index_words(memory, new.kind, &[&new.text, &tags, new.words])?;
        }
        Ok(Some(memory))
    }

    /// Makes a memory be found by the words of `texts`.
    fn index_words(&self, memory: i64, kind: MemoryKind, texts: &[&str]) -> rusqlite::Result<()> {
        let scope = format!("{} {}", project_word(self.project), kind_word(kind));
        self.transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO recall (rowid, body, scope) VALUES (?1, ?2, ?3)",
            )?
            .execute((memory, texts.join("\n"), scope))?;
        Ok(())
    }
}

pub(crate) fn reflection_ids(project: &str, new: &NewReflection) -> (String, Option<String>) {
    let id = |kind, text: &String| reflection_id(project, new, kind, text);
    let strategy = new.strategy.as_ref();
    (
        id(MemoryKind::Reflection, &new.text),
        strategy.map(|text| id(MemoryKind::Strategy, text)),
    )
}

fn reflection_id(project: &str, new: &NewReflection, kind: MemoryKind, text: &str) -> String {
    let text = identity(&cut(text, LONG));
    id(project, "ref", &[kind.word(), &new.tenant, &text])
}

pub(crate) fn error_id(project: &str, signature: Signature) -> String {
    id(project, "err", &[&signature.to_string()])
}

/// The id of what helped against the error `error`.
pub(super) fn fix_id(project: &str, error: &str, text: &str) -> String {
    id(project, "les", &["fix", error, &identity(text)])
}

/// An id that is the same for the same content of the same project.
fn id(project: &str, prefix: &str, parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in [project].iter().chain(parts) {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    let digest = hash.finalize();
    let bits = digest.iter().take(ID_BYTES);
    let number = bits.fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    format!("{prefix}-{number:0width$x}", width = 2 * ID_BYTES)
}

/// The word by which a search keeps to a project.
pub(super) fn project_word(project: i64) -> String {
    format!("project{project}x")
}

/// The word by which a search keeps to a kind.
pub(super) fn kind_word(kind: MemoryKind) -> String {
    format!("kind{}x", kind.word())
}

/// What two texts have in common that say the same: case and white space aside.
fn identity(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

fn cut(text: &str, characters: usize) -> String {
    text.trim().chars().take(characters).collect()
}

/// A share between 0 and 1; what is no number is [`BIRTH`].
fn share(value: f64) -> f64 {
    if value.is_finite() {
        value.clamp(0.0, 1.0)
    } else {
        BIRTH
    }
}
