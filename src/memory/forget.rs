//! What is forgotten: by rule, and by the user's wish.

use jiff::{SignedDuration, Timestamp};

use super::caps;
use super::convert::{int, millis};
use super::database::{Durability, Memory, rows, run};
use super::error::MemoryError;
use super::{projects, sharing};
use crate::hint::MemoryKind;

/// How much is kept of what was learned, per project.
///
/// Two rules. What has neither been learned again nor shown for [`unused`](Self::unused)
/// leaves, unless its importance is 0.8 or more (spec/3: always stored) or it is a note. Of each kind at
/// most so many stay: the least important leave first, of those the least effective, of
/// those the ones seen longest ago. A note that is not
/// settled stays in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub reflections: u64,
    /// Lessons (spec/4 `reflection_bank_size`).
    pub lessons: u64,
    pub errors: u64,
    pub unused: SignedDuration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            reflections: 10_000,
            lessons: 10_000,
            errors: 10_000,
            unused: SignedDuration::from_hours(180 * 24),
        }
    }
}

/// From this importance on nothing leaves for its age alone.
const ALWAYS_KEPT: f64 = 0.8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetWhat {
    /// One memory, by its id.
    Id(String),
    /// All that was learned in a project, and how good its sessions were.
    Project(String),
    /// All that was last seen before a time, of one project or of all, and how good the
    /// sessions before it were.
    OlderThan {
        time: Timestamp,
        project: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub reflections: u64,
    pub strategies: u64,
    pub lessons: u64,
    pub errors: u64,
    pub evaluations: u64,
}

impl Forgotten {
    pub fn total(&self) -> u64 {
        self.reflections + self.strategies + self.lessons + self.errors + self.evaluations
    }

    fn count(&mut self, kind: MemoryKind, number: usize) {
        *match kind {
            MemoryKind::Reflection => &mut self.reflections,
            MemoryKind::Strategy => &mut self.strategies,
            MemoryKind::Lesson => &mut self.lessons,
            MemoryKind::Error => &mut self.errors,
        } += number as u64;
    }
}

impl Memory {
    /// Forgets what the user wants forgotten, also on disk.
    pub fn forget(&mut self, what: &ForgetWhat, now: Timestamp) -> Result<Forgotten, MemoryError> {
        let (id, project, before) = match what {
            ForgetWhat::Id(id) => (Some(id), None, None),
            ForgetWhat::Project(project) => (None, Some(project), None),
            ForgetWhat::OlderThan { time, project } => {
                (None, project.as_ref(), Some(millis(*time)))
            }
        };
        let within = "(?2 IS NULL OR project = (SELECT id FROM projects WHERE name = ?2))";
        let which =
            format!("(?1 IS NULL OR key = ?1) AND {within} AND (?3 IS NULL OR last_seen < ?3)");
        // What others learned is theirs to take back.
        let own = format!("SELECT key FROM memories WHERE origin IS NULL AND {which}");
        let memories = format!("DELETE FROM memories WHERE {which} AND kind = ?4");
        let evaluations = format!(
            "DELETE FROM evaluations WHERE ?1 IS NULL AND {within} AND (?3 IS NULL OR time < ?3)"
        );
        // Those of a lesson leave with it.
        let notes = format!(
            "DELETE FROM notes WHERE memory IS NULL AND ?1 IS NULL AND {within}
                 AND (?3 IS NULL OR time < ?3)"
        );
        self.erase("forget", |transaction| {
            let ids = rows(transaction, &own, (id, project, before), |row| row.get(0))?;
            sharing::put_out_forgotten(transaction, ids, now)?;
            let mut gone = Forgotten::default();
            for kind in MemoryKind::ALL {
                let params = (id, project, before, kind.word());
                gone.count(kind, run(transaction, &memories, params)?);
            }
            run(transaction, &notes, (id, project, before))?;
            gone.evaluations = run(transaction, &evaluations, (id, project, before))? as u64;
            Ok(gone)
        })
    }

    /// Keeps what was learned within `limits`.
    pub fn prune(&mut self, limits: &Limits, now: Timestamp) -> Result<Forgotten, MemoryError> {
        self.write("prune memory", Durability::Crash, |transaction| {
            let now = caps::believed(transaction, now)?;
            let oldest = now.checked_sub(limits.unused).map_or(i64::MIN, millis);
            let mut gone = Forgotten::default();
            for kind in MemoryKind::ALL {
                let cap = match kind {
                    MemoryKind::Reflection | MemoryKind::Strategy => limits.reflections,
                    MemoryKind::Lesson => limits.lessons,
                    MemoryKind::Error => limits.errors,
                };
                let unused = run(
                    transaction,
                    "DELETE FROM memories WHERE kind = ?1 AND last_seen < ?2 AND importance < ?3
                         AND id NOT IN (SELECT memory FROM notes WHERE memory IS NOT NULL)",
                    (kind.word(), oldest, ALWAYS_KEPT),
                )?;
                let over = run(
                    transaction,
                    "DELETE FROM memories WHERE id IN (
                         SELECT id FROM (
                             SELECT id, row_number() OVER (
                                 PARTITION BY project
                                 ORDER BY importance DESC, effectiveness DESC, last_seen DESC, id
                             ) AS place FROM memories WHERE kind = ?1
                         ) WHERE place > ?2)
                         AND id NOT IN (SELECT memory FROM notes
                                        WHERE memory IS NOT NULL AND state <> 'settled')",
                    (kind.word(), int(cap)),
                )?;
                gone.count(kind, unused + over);
            }
            if gone.total() > 0 {
                projects::mark_stale(transaction, None)?;
            }
            Ok(gone)
        })
    }
}
