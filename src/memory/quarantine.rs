//! What was held back: key points and operations that wait for the user's word.

use jiff::Timestamp;
use rusqlite::{Row, Transaction};
use serde_json::Value;

use super::convert::{counted, int, json, millis, time};
use super::database::{Durability, Memory, rows, run};
use super::error::MemoryError;
use super::projects;

/// How many texts of one project may wait; more is an attack on the disk.
const MAX_WAITING: u64 = 2_000;
const NOTE: &str = "note what is held back";
/// How many bytes they may take.
const MAX_BYTES: u64 = 4 << 20;

/// Something that is held back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Held {
    /// What names it within its project for ever: a job and a place in it, or a point's hash.
    pub(crate) key: String,
    /// Empty when it stood in the file.
    pub(crate) job: String,
    /// What it is, in the caller's own form.
    pub(crate) what: Value,
    pub(crate) text: String,
    pub(crate) reasons: String,
}

/// Something that is held back, as it is remembered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HeldRow {
    /// Its number, by which the user names it.
    pub(crate) id: u64,
    pub(crate) since: Timestamp,
    pub(crate) held: Held,
}

const SELECT: &str = "SELECT q.id, q.since, q.key, q.job, q.what, q.text, q.reasons
     FROM quarantine q JOIN projects p ON p.id = q.project";

impl Memory {
    pub(crate) fn quarantine(&self, project: &str) -> Result<Vec<HeldRow>, MemoryError> {
        let sql = format!("{SELECT} WHERE p.name = ?1 AND q.is_waiting ORDER BY q.id");
        self.all("read what is held back", &sql, [project], from_row)
    }

    /// Returns by project how much waits for the user.
    pub(crate) fn quarantine_counts(&self) -> Result<Vec<(String, u64)>, MemoryError> {
        self.counts("q.is_waiting")
    }

    /// Returns by project how much waits that the screen of today lets pass, and that the user
    /// has not been shown since.
    pub(crate) fn passing_counts(&self) -> Result<Vec<(String, u64)>, MemoryError> {
        self.counts("q.is_waiting AND q.screened = 'passes'")
    }

    fn counts(&self, which: &str) -> Result<Vec<(String, u64)>, MemoryError> {
        let sql = format!(
            "SELECT p.name, count(*) FROM quarantine q JOIN projects p ON p.id = q.project
             WHERE {which} GROUP BY p.name ORDER BY p.name"
        );
        let row = |row: &Row<'_>| Ok((row.get(0)?, counted(row, 1)?));
        self.all("read what is held back", &sql, (), row)
    }

    /// Returns what waits and was not judged by the screen of today yet.
    pub(crate) fn held_by_earlier_rules(&self) -> Result<Vec<HeldRow>, MemoryError> {
        let sql = format!("{SELECT} WHERE q.is_waiting AND q.screened IS NULL ORDER BY q.id");
        self.all("read what is held back", &sql, (), from_row)
    }

    /// Notes what the screen of today says of these rows: those with the numbers `passing` may
    /// be offered to the user, the others stay as they are.
    pub(crate) fn screened_anew(
        &mut self,
        rows: &[HeldRow],
        passing: &[u64],
    ) -> Result<(), MemoryError> {
        self.write(NOTE, Durability::PowerCut, |transaction| {
            for row in rows {
                let sql = if passing.contains(&row.id) {
                    "UPDATE quarantine SET screened = 'passes',
                     reasons = 'passes now; earlier rules said: ' || reasons WHERE id = ?1"
                } else {
                    "UPDATE quarantine SET screened = 'held' WHERE id = ?1"
                };
                run(transaction, sql, [int(row.id)])?;
            }
            Ok(())
        })
    }

    /// Returns how much of a project passes now and is shown to the user for the first time;
    /// from then on no notice tells of it.
    pub(crate) fn offer_passing(&mut self, project: &str) -> Result<usize, MemoryError> {
        let sql = "UPDATE quarantine SET screened = 'offered'
             WHERE screened = 'passes' AND is_waiting
                 AND project = (SELECT id FROM projects WHERE name = ?1)";
        self.change(NOTE, Durability::PowerCut, sql, [project])
    }

    pub(crate) fn waiting(&self, project: &str) -> Result<Vec<String>, MemoryError> {
        let rows = self.quarantine(project)?.into_iter();
        Ok(rows.map(|row| row.held.key).collect())
    }

    /// Holds back what came with a project's file and lets go of what `has_left` it; what is
    /// known already stays as it is.
    pub(crate) fn hold_back(
        &mut self,
        project: &str,
        held: &[Held],
        has_left: &dyn Fn(&str) -> bool,
        now: Timestamp,
    ) -> Result<(), MemoryError> {
        self.write("hold back", Durability::PowerCut, |transaction| {
            let project = projects::number(transaction, project)?;
            let waiting =
                "SELECT key FROM quarantine WHERE project = ?1 AND job = '' AND is_waiting";
            let waiting: Vec<String> = rows(transaction, waiting, [project], |row| row.get(0))?;
            let gone = "DELETE FROM quarantine WHERE project = ?1 AND key = ?2";
            for key in waiting.iter().filter(|key| has_left(key)) {
                run(transaction, gone, (project, key))?;
            }
            add(transaction, project, held, now)
        })
    }

    /// The user has decided on something: it waits no more, and is not asked again. Of what
    /// it was nothing is kept but its key.
    pub(crate) fn decided(&mut self, id: u64) -> Result<(), MemoryError> {
        let sql = "UPDATE quarantine SET is_waiting = 0, what = 'null', text = '' WHERE id = ?1";
        self.change(NOTE, Durability::PowerCut, sql, [int(id)])
            .map(drop)
    }

    pub(crate) fn quarantined(
        &self,
        project: &str,
        id: u64,
    ) -> Result<Option<HeldRow>, MemoryError> {
        let mut rows = self.quarantine(project)?.into_iter();
        Ok(rows.find(|row| row.id == id))
    }
}

/// Adds what is held back; what is there already, decided on or not, stays. Only what stands
/// in the file waits anew: it was dropped, and has come back.
pub(super) fn add(
    transaction: &Transaction<'_>,
    project: i64,
    held: &[Held],
    now: Timestamp,
) -> rusqlite::Result<()> {
    let (mut waiting, mut bytes) = transaction.query_row(
        "SELECT count(*), coalesce(sum(octet_length(what) + octet_length(text)), 0)
         FROM quarantine WHERE project = ?1 AND is_waiting",
        [project],
        |row| Ok((counted(row, 0)?, counted(row, 1)?)),
    )?;
    for held in held {
        let what = held.what.to_string();
        let size = (what.len() + held.text.len()) as u64;
        if waiting >= MAX_WAITING || bytes + size > MAX_BYTES {
            continue;
        }
        let added = run(
            transaction,
            "INSERT INTO quarantine (project, key, job, what, text, reasons, since, is_waiting)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1)
             ON CONFLICT (project, key) DO UPDATE SET what = excluded.what, text = excluded.text,
                 reasons = excluded.reasons, since = excluded.since, is_waiting = 1,
                 screened = NULL
             WHERE excluded.job = '' AND NOT is_waiting",
            (
                project,
                &held.key,
                &held.job,
                what,
                &held.text,
                &held.reasons,
                millis(now),
            ),
        )? as u64;
        waiting += added;
        bytes += added * size;
    }
    Ok(())
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<HeldRow> {
    Ok(HeldRow {
        id: counted(row, 0)?,
        since: time(row, 1)?,
        held: Held {
            key: row.get(2)?,
            job: row.get(3)?,
            what: json(row, 4)?.unwrap_or_default(),
            text: row.get(5)?,
            reasons: row.get(6)?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_is_decided_only_the_key_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = Memory::open(&dir.path().join("memory.db")).unwrap();
        let held = Held {
            key: "job:0".to_owned(),
            job: "job".to_owned(),
            what: serde_json::json!({"memory": {"text": "an attack"}}),
            text: "an attack".to_owned(),
            reasons: "r".to_owned(),
        };
        let now = Timestamp::UNIX_EPOCH;
        let keep_back = |memory: &mut Memory| {
            let held = std::slice::from_ref(&held);
            memory.hold_back("/p", held, &|_| false, now).unwrap();
            memory.quarantine("/p").unwrap()
        };
        let waiting = keep_back(&mut memory);
        assert_eq!(waiting[0].held, held);
        memory.decided(waiting[0].id).unwrap();
        let sql = "SELECT key || what || text FROM quarantine";
        let kept: Vec<String> = memory.all("look", sql, (), |row| row.get(0)).unwrap();
        assert_eq!(kept, ["job:0null"]);
        let asked_again = keep_back(&mut memory);
        assert_eq!(asked_again, []);
    }

    #[test]
    fn a_project_holds_back_so_many_bytes_and_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = Memory::open(&dir.path().join("memory.db")).unwrap();
        let held = |n: usize| Held {
            key: format!("job:{n}"),
            job: "job".to_owned(),
            what: Value::Null,
            text: "x".repeat(1 << 20),
            reasons: String::new(),
        };
        let held: Vec<Held> = (0..9).map(held).collect();
        let now = Timestamp::UNIX_EPOCH;
        for some in held.chunks(2) {
            memory.hold_back("/p", some, &|_| false, now).unwrap();
        }
        assert_eq!(memory.quarantine_counts().unwrap(), [("/p".to_owned(), 3)]);
    }
}
