//! What is forgotten: by rule, and by the user's wish.

use jiff::{SignedDuration, Timestamp};
use rusqlite::Transaction;

use super::convert;
use super::kind::MemoryKind;
use super::stale;

/// How much is kept of what was learned, per project.
///
/// Two rules. What has neither been learned again nor shown for [`unused`](Self::unused)
/// leaves, unless its importance is 0.8 or more (spec/3: always stored). Of each kind at
/// most so many stay: the least important leave first, of those the least effective, of
/// those the ones seen longest ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Reflections and strategies, each.
    pub reflections: u64,
    /// Lessons (spec/4 `reflection_bank_size`).
    pub lessons: u64,
    /// Errors.
    pub errors: u64,
    /// How long something may go unused.
    pub unused: SignedDuration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            reflections: 10_000,
            lessons: 100,
            errors: 10_000,
            unused: SignedDuration::from_hours(180 * 24),
        }
    }
}

/// From this importance on nothing leaves for its age alone.
const ALWAYS_KEPT: f64 = 0.8;

/// What the user wants forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forget {
    /// One memory or one fix, by its id.
    Id(String),
    /// All that was learned in a project, and how good its sessions were.
    Project(String),
    /// All that was last seen before a time, of one project or of all, and how good the
    /// sessions before it were.
    OlderThan {
        /// The time.
        time: Timestamp,
        /// The project; `None` for all.
        project: Option<String>,
    },
}

/// How much was forgotten, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Reflections.
    pub reflections: u64,
    /// Strategies.
    pub strategies: u64,
    /// Lessons.
    pub lessons: u64,
    /// Errors, with their fixes.
    pub errors: u64,
    /// Fixes forgotten alone.
    pub fixes: u64,
    /// Evaluations of sessions.
    pub evaluations: u64,
}

impl Forgotten {
    /// How much was forgotten in all.
    pub fn total(&self) -> u64 {
        self.reflections
            + self.strategies
            + self.lessons
            + self.errors
            + self.fixes
            + self.evaluations
    }

    fn count(&mut self, kind: MemoryKind, number: u64) {
        *match kind {
            MemoryKind::Reflection => &mut self.reflections,
            MemoryKind::Strategy => &mut self.strategies,
            MemoryKind::Lesson => &mut self.lessons,
            MemoryKind::Error => &mut self.errors,
        } += number;
    }
}

pub(super) fn forget(transaction: &Transaction<'_>, what: &Forget) -> rusqlite::Result<Forgotten> {
    let mut gone = Forgotten::default();
    for kind in MemoryKind::ALL {
        let of_kind = "DELETE FROM memories WHERE kind = ?1";
        let word = kind.word();
        let number = match what {
            Forget::Id(id) => {
                transaction.execute(&format!("{of_kind} AND key = ?2"), (word, id))?
            }
            Forget::Project(project) => transaction.execute(
                &format!("{of_kind} AND project = (SELECT id FROM projects WHERE name = ?2)"),
                (word, project),
            )?,
            Forget::OlderThan { time, project } => transaction.execute(
                &format!(
                    "{of_kind} AND last_seen < ?2 AND (?3 IS NULL
                         OR project = (SELECT id FROM projects WHERE name = ?3))"
                ),
                (word, convert::millis(*time), project),
            )?,
        };
        gone.count(kind, number as u64);
    }
    match what {
        Forget::Id(id) => {
            gone.fixes = transaction.execute("DELETE FROM fixes WHERE key = ?1", [id])? as u64;
        }
        Forget::Project(project) => {
            gone.evaluations = transaction.execute(
                "DELETE FROM evaluations WHERE project = (SELECT id FROM projects WHERE name = ?1)",
                [project],
            )? as u64;
        }
        Forget::OlderThan { time, project } => {
            gone.evaluations = transaction.execute(
                "DELETE FROM evaluations WHERE time < ?1 AND (?2 IS NULL
                     OR project = (SELECT id FROM projects WHERE name = ?2))",
                (convert::millis(*time), project),
            )? as u64;
        }
    }
    Ok(gone)
}

pub(super) fn prune(
    transaction: &Transaction<'_>,
    limits: &Limits,
    now: Timestamp,
) -> rusqlite::Result<Forgotten> {
    let mut gone = Forgotten::default();
    let oldest = now
        .checked_sub(limits.unused)
        .map_or(i64::MIN, convert::millis);
    for kind in MemoryKind::ALL {
        let cap = match kind {
            MemoryKind::Reflection | MemoryKind::Strategy => limits.reflections,
            MemoryKind::Lesson => limits.lessons,
            MemoryKind::Error => limits.errors,
        };
        let unused = transaction.execute(
            "DELETE FROM memories WHERE kind = ?1 AND last_seen < ?2 AND importance < ?3",
            (kind.word(), oldest, ALWAYS_KEPT),
        )?;
        let over = transaction.execute(
            "DELETE FROM memories WHERE id IN (
                 SELECT id FROM (
                     SELECT id, row_number() OVER (
                         PARTITION BY project
                         ORDER BY importance DESC, effectiveness DESC, last_seen DESC, id
                     ) AS place FROM memories WHERE kind = ?1
                 ) WHERE place > ?2)",
            (kind.word(), convert::int(cap)),
        )?;
        gone.count(kind, (unused + over) as u64);
    }
    if gone.total() > 0 {
        stale::mark_all(transaction)?;
    }
    Ok(gone)
}
