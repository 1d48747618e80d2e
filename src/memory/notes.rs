//! The notes of sessions: those that wait for the curator, the notebook, and the settled ones.
//!
//! A row is one note of one session. The rows of a line say the same: the curator joined them, or
//! several sessions taught the same lesson. A line has the number of its first row.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use rusqlite::{Row, Transaction};
use serde_json::Value;

use super::database::{Memory, MemoryError, counted, int, json, millis, rows, run, time, words};
use crate::errors::Signature;
use crate::playbook::Skipped;
use crate::reflect::curator::{ListedNote, NoteState, NoteUpdate};
use crate::reflect::learned::{LearnedFrom, NoteDetail};
use crate::reflect::note::{NewOutdated, NoteId};
use crate::reflect::tellable::HELD_BACK;

const READ: &str = "read notes";
const SELECT: &str = "SELECT n.line, n.root, n.state, n.quote, n.is_outside, n.hosts,
         coalesce(n.text, m.text, ''), m.importance, n.time, n.is_unattended
     FROM notes n JOIN projects p ON p.id = n.project LEFT JOIN memories m ON m.id = n.memory
     WHERE p.name = ?1 AND n.point IS NULL";

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct NoteLine {
    pub(crate) note: ListedNote,
    pub(crate) state: NoteState,
    pub(crate) importance: f64,
    pub(crate) taught: Option<Timestamp>,
}

/// A note that a session showed a key point to be wrong.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OutdatedNote {
    pub(crate) id: NoteId,
    pub(crate) session: String,
    pub(crate) is_outside: bool,
    pub(crate) time: Timestamp,
    pub(crate) what: NewOutdated,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct WaitingNotes {
    /// The lines, and the rows about outdated key points, oldest first.
    pub(crate) ids: Vec<NoteId>,
    /// The number of sessions that taught them.
    pub(crate) sessions: usize,
    pub(crate) has_said: bool,
    pub(crate) has_outdated: bool,
    pub(crate) since: Option<Timestamp>,
}

/// A rule in the user's words that no key point states yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnsettledQuote {
    pub(crate) quote: String,
    pub(crate) since: Timestamp,
}

impl Memory {
    /// Returns the lines of a project that are not settled, and the `wanted` ones in any state.
    pub(crate) fn note_lines(
        &self,
        project: &str,
        wanted: &[NoteId],
    ) -> Result<Vec<NoteLine>, MemoryError> {
        let sql = format!(
            "{SELECT} AND n.line IN (SELECT line FROM notes WHERE state <> 'settled'
                 UNION SELECT value FROM json_each(?2)) ORDER BY n.line, n.id"
        );
        self.lines(&sql, (project, numbers(wanted)))
    }

    pub(crate) fn important_lines(
        &self,
        project: &str,
        since: Timestamp,
        count: usize,
    ) -> Result<Vec<NoteLine>, MemoryError> {
        let sql = format!("{SELECT} AND n.time >= ?2 ORDER BY n.line, n.id");
        let mut lines = self.lines(&sql, (project, millis(since)))?;
        lines.sort_by(|a, b| b.importance.total_cmp(&a.importance));
        lines.truncate(count);
        Ok(lines)
    }

    fn lines(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
    ) -> Result<Vec<NoteLine>, MemoryError> {
        let found = self.all(READ, sql, params, |row| {
            let mut line = line(row)?;
            self.outlet.text(&mut line.note.text);
            line.note
                .quote
                .iter_mut()
                .for_each(|it| self.outlet.text(it));
            Ok((counted(row, 0)?, line))
        })?;
        let mut lines: BTreeMap<u64, NoteLine> = BTreeMap::new();
        for (id, row) in found {
            match lines.get_mut(&id) {
                Some(line) => line.join(row),
                None => _ = lines.insert(id, row),
            }
        }
        Ok(lines.into_values().collect())
    }

    /// Returns the notes on wrong key points that no run has settled, oldest first.
    pub(crate) fn outdated(&self, project: &str) -> Result<Vec<OutdatedNote>, MemoryError> {
        let sql = "SELECT n.id, n.root, n.is_outside, n.time, n.point, n.text, n.kinds
             FROM notes n JOIN projects p ON p.id = n.project
             WHERE p.name = ?1 AND n.point IS NOT NULL AND n.state <> 'settled' ORDER BY n.id";
        self.all(READ, sql, [project], |row| {
            let is_outside = row.get(2)?;
            Ok(OutdatedNote {
                id: NoteId(counted(row, 0)?),
                session: row.get(1)?,
                is_outside,
                time: time(row, 3)?,
                what: NewOutdated {
                    point: row.get(4)?,
                    why: self.shown_text(row, 5)?,
                    kinds: words(row, 6)?,
                    is_outside,
                },
            })
        })
    }

    /// Returns the notes of a project that no run has seen.
    pub(crate) fn waiting_notes(&self, project: &str) -> Result<WaitingNotes, MemoryError> {
        let sql = "SELECT n.line, n.root, n.quote IS NOT NULL, n.point IS NOT NULL, n.since
             FROM notes n JOIN projects p ON p.id = n.project
             WHERE p.name = ?1 AND n.state = 'waiting' ORDER BY n.id";
        let found = self.all(READ, sql, [project], |row| {
            let flags: (bool, bool) = (row.get(2)?, row.get(3)?);
            Ok((counted(row, 0)?, row.get(1)?, flags, time(row, 4)?))
        })?;
        let mut waiting = WaitingNotes::default();
        let mut roots: BTreeSet<String> = BTreeSet::new();
        for (id, root, (is_said, is_outdated), since) in found {
            if !waiting.ids.contains(&NoteId(id)) {
                waiting.ids.push(NoteId(id));
            }
            roots.insert(root);
            waiting.has_said |= is_said;
            waiting.has_outdated |= is_outdated;
            waiting.since = Some(waiting.since.map_or(since, |first| first.min(since)));
        }
        waiting.sessions = roots.len();
        Ok(waiting)
    }

    /// Returns the user's rules that neither a key point nor the instructions are known to state.
    pub(crate) fn unsettled_quotes(
        &self,
        project: &str,
    ) -> Result<Vec<UnsettledQuote>, MemoryError> {
        let sql = "SELECT n.quote, max(n.since) FROM notes n JOIN projects p ON p.id = n.project
             WHERE p.name = ?1 AND n.quote IS NOT NULL AND n.state <> 'settled'
             GROUP BY n.quote ORDER BY min(n.id)";
        self.all(READ, sql, [project], |row| {
            Ok(UnsettledQuote {
                quote: self.shown_text(row, 0)?,
                since: time(row, 1)?,
            })
        })
    }

    /// Returns each key point with a root session of its notes and that session's newest note.
    pub(crate) fn teachers(
        &self,
        project: &str,
    ) -> Result<Vec<(String, String, NoteId)>, MemoryError> {
        let sql = "SELECT h.point, n.root, max(n.id) FROM note_points h
             JOIN notes n ON n.id = h.note JOIN projects p ON p.id = n.project
             WHERE p.name = ?1 GROUP BY h.point, n.root";
        self.all(READ, sql, [project], |row| {
            Ok((row.get(0)?, row.get(1)?, NoteId(counted(row, 2)?)))
        })
    }

    /// Returns the newest note of each root session of a project, in ascending order.
    pub(crate) fn newest_notes(&self, project: &str) -> Result<Vec<NoteId>, MemoryError> {
        let sql = "SELECT max(n.id) AS newest FROM notes n JOIN projects p ON p.id = n.project
             WHERE p.name = ?1 GROUP BY n.root ORDER BY newest";
        self.all(READ, sql, [project], |row| Ok(NoteId(counted(row, 0)?)))
    }

    pub(crate) fn notes_in(&self, project: &str, state: NoteState) -> Result<u64, MemoryError> {
        let sql = "SELECT count(*) FROM notes n JOIN projects p ON p.id = n.project
             WHERE p.name = ?1 AND n.state = ?2";
        self.count(READ, sql, (project, state.word()))
    }

    pub(crate) fn last_note(&self) -> Result<NoteId, MemoryError> {
        let sql = "SELECT coalesce(max(id), 0) FROM notes";
        Ok(NoteId(self.count(READ, sql, ())?))
    }

    pub(crate) fn refused_last(&self, project: &str) -> Result<Vec<Skipped>, MemoryError> {
        let sql = "SELECT j.dropped FROM jobs j JOIN projects p ON p.id = j.project
             WHERE p.name = ?1 AND j.event = 'curate' AND j.outcome = 'applied'
             ORDER BY j.id DESC LIMIT 1";
        let read = |row: &Row<'_>| Ok(json(row, 0)?.unwrap_or_default());
        let refused = self.one("read jobs", sql, [project], read)?;
        let mut refused: Vec<Skipped> = refused.unwrap_or_default();
        for one in &mut refused {
            self.outlet.text(&mut one.what);
        }
        Ok(refused)
    }

    fn shown_text(&self, row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
        let mut text: String = row.get(column)?;
        self.outlet.text(&mut text);
        Ok(text)
    }

    pub(crate) fn last_curator_job(&self, project: &str) -> Result<Option<String>, MemoryError> {
        let sql = "SELECT j.job FROM jobs j JOIN projects p ON p.id = j.project
             WHERE p.name = ?1 AND j.event = 'curate' ORDER BY j.id DESC LIMIT 1";
        self.one("read jobs", sql, [project], |row| row.get(0))
    }

    /// Puts notes about these errors first, newest first, then those of the same kinds of task.
    pub(crate) fn notes_on(
        &self,
        project: &str,
        errors: &[Signature],
        count: usize,
    ) -> Result<Vec<String>, MemoryError> {
        let errors: Vec<i64> = errors.iter().map(|e| e.to_bits().cast_signed()).collect();
        let errors = Value::from(errors).to_string();
        // One note of a line is enough, and what a key point states is left out.
        let lessons = "SELECT m.text FROM memories m JOIN lessons l ON l.memory = m.id
             JOIN projects p ON p.id = m.project LEFT JOIN notes n ON n.memory = m.id
             WHERE p.name = ?1
             AND coalesce(n.id, 0) NOT IN (SELECT note FROM note_points) AND";
        let same = "m.signature IN (SELECT value FROM json_each(?2))";
        let order = "GROUP BY coalesce(n.line, -m.id)
             ORDER BY max(m.last_seen) DESC, max(m.id) DESC LIMIT ?3";
        let params = (project, &errors, int(count as u64));
        let mut found: Vec<String> =
            self.all(READ, &format!("{lessons} {same} {order}"), params, |row| {
                self.shown_text(row, 0)
            })?;
        let like = format!(
            "{lessons} NOT coalesce({same}, 0) AND l.task_type <> '' AND l.task_type IN (
                 SELECT l.task_type FROM lessons l JOIN memories m ON m.id = l.memory
                 JOIN projects p ON p.id = m.project
                 WHERE p.name = ?1 AND {same}) {order}"
        );
        found.extend(self.all(READ, &like, params, |row| self.shown_text(row, 0))?);
        found.retain(|text| text != HELD_BACK);
        found.truncate(count);
        Ok(found)
    }
}

impl NoteLine {
    fn join(&mut self, row: Self) {
        let note = &mut self.note;
        note.sessions.extend(row.note.sessions);
        note.quote = note.quote.take().or(row.note.quote);
        note.is_outside &= row.note.is_outside;
        note.is_unattended &= row.note.is_unattended;
        for host in row.note.hosts {
            if !note.hosts.contains(&host) {
                note.hosts.push(host);
            }
        }
        self.state = match (self.state, row.state) {
            (NoteState::Waiting, _) | (_, NoteState::Waiting) => NoteState::Waiting,
            (NoteState::Settled, other) => other,
            (state, _) => state,
        };
        self.importance = self.importance.max(row.importance);
        self.taught = self.taught.max(row.taught);
    }
}

fn line(row: &Row<'_>) -> rusqlite::Result<NoteLine> {
    let root: String = row.get(1)?;
    let state: String = row.get(2)?;
    Ok(NoteLine {
        note: ListedNote {
            id: NoteId(counted(row, 0)?),
            text: row.get(6)?,
            sessions: Some(root)
                .filter(|root| !root.is_empty())
                .into_iter()
                .collect(),
            quote: row.get(3)?,
            is_outside: row.get(4)?,
            is_unattended: row.get(9)?,
            hosts: words(row, 5)?,
        },
        state: NoteState::from_word(&state).unwrap_or_default(),
        importance: row.get::<_, Option<f64>>(7)?.unwrap_or_default(),
        taught: Some(time(row, 8)?),
    })
}

fn numbers(ids: &[NoteId]) -> String {
    let ids: Vec<u64> = ids.iter().map(|id| id.0).collect();
    Value::from(ids).to_string()
}

#[derive(Clone, Copy)]
pub(super) struct NotePlace<'a> {
    pub(super) project: i64,
    pub(super) source: &'a LearnedFrom,
    pub(super) recorded: Timestamp,
}

/// Adds the note for the lesson of row `memory`. It waits, and so does the line of the same lesson.
pub(super) fn add(
    transaction: &Transaction<'_>,
    place: NotePlace<'_>,
    (memory, seq): (i64, u64),
    note: &NoteDetail,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO notes
             (project, memory, job, seq, root, time, since, kinds, hosts, quote, is_outside,
              is_unattended, line, state)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,
             coalesce((SELECT line FROM notes WHERE memory = ?2 ORDER BY id DESC LIMIT 1), 0),
             'waiting')";
    let row = rusqlite::params![
        place.project,
        memory,
        place.source.job,
        int(seq),
        place.source.root,
        millis(place.source.time),
        millis(place.recorded),
        Value::from(note.kinds.as_slice()).to_string(),
        Value::from(note.hosts.as_slice()).to_string(),
        note.quote,
        note.is_outside,
        note.is_unattended,
    ];
    run(transaction, sql, row)?;
    number_lines(transaction)
}

pub(super) fn add_outdated(
    transaction: &Transaction<'_>,
    place: NotePlace<'_>,
    outdated: &[NewOutdated],
) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO notes
             (project, job, seq, root, time, since, kinds, hosts, is_outside, point, text, line,
              state)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, '[]', ?8, ?9, ?10, 0, 'waiting')";
    for (at, one) in (1_i64..).zip(outdated) {
        let row = rusqlite::params![
            place.project,
            place.source.job,
            // Negative, so that it differs from the numbers of the notes.
            -at,
            place.source.root,
            millis(place.source.time),
            millis(place.recorded),
            Value::from(one.kinds.as_slice()).to_string(),
            one.is_outside,
            one.point,
            one.why,
        ];
        run(transaction, sql, row)?;
    }
    number_lines(transaction)
}

fn number_lines(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    run(transaction, "UPDATE notes SET line = id WHERE line = 0", ()).map(drop)
}

/// Changes notes up to row `until`, the last that the run has seen. Settled notes stay settled;
/// lines that were joined or removed meanwhile stay as they are.
pub(super) fn update(
    transaction: &Transaction<'_>,
    updates: &[NoteUpdate],
    until: NoteId,
) -> rusqlite::Result<()> {
    let state = "UPDATE notes SET state = ?2
         WHERE line = ?1 AND id <= ?3 AND state <> 'settled'";
    let text = "UPDATE notes SET text = ?2 WHERE id = ?1";
    let holder = "INSERT OR REPLACE INTO note_points (note, point)
         SELECT id, ?2 FROM notes WHERE line = ?1 AND id <= ?3";
    let mut joined: BTreeMap<NoteId, Vec<NoteId>> = BTreeMap::new();
    for update in updates {
        let id = int(update.id.0);
        run(transaction, state, (id, update.state.word(), int(until.0)))?;
        if let Some(new) = &update.text {
            run(transaction, text, (id, new))?;
        }
        if let Some(point) = &update.point {
            run(transaction, holder, (id, point, int(until.0)))?;
        }
        if update.line != update.id {
            joined.entry(update.line).or_default().push(update.id);
        }
    }
    for (line, others) in joined {
        join(transaction, line, &others)?;
    }
    Ok(())
}

/// Gives the line's lesson the sum of all uses and the mean effectiveness (spec/4).
fn join(transaction: &Transaction<'_>, line: NoteId, others: &[NoteId]) -> rusqlite::Result<()> {
    let first = "SELECT m.id, m.times_applied, m.effectiveness FROM notes n
         JOIN memories m ON m.id = n.memory
         WHERE n.id IN (SELECT min(id) FROM notes
                        WHERE line IN (SELECT value FROM json_each(?1)) GROUP BY line)
         ORDER BY n.id";
    let all = [&[line], others].concat();
    let lessons: Vec<(i64, i64, f64)> = rows(transaction, first, [numbers(&all)], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    let moved = run(
        transaction,
        "UPDATE notes SET line = ?1 WHERE line IN (SELECT value FROM json_each(?2))",
        (int(line.0), numbers(others)),
    )?;
    if moved == 0 || lessons.len() < 2 {
        return Ok(());
    }
    let uses: i64 = lessons.iter().map(|(_, uses, _)| uses).sum();
    let worth: f64 = lessons.iter().map(|(.., worth)| worth).sum();
    #[expect(
        clippy::cast_precision_loss,
        reason = "a run joins a hundred lines at most"
    )]
    let mean = worth / lessons.len() as f64;
    let sql = "UPDATE memories SET times_applied = ?2, effectiveness = ?3 WHERE id = ?1";
    run(transaction, sql, (lessons[0].0, uses, mean)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::super::{FinishedJob, ForgetWhat, JobRecord, Limits};
    use super::*;
    use crate::reflect::learned::{Learned, NewLesson};

    const PROJECT: &str = "/p";

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn memory() -> (tempfile::TempDir, Memory) {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(&dir.path().join("memory.db")).unwrap();
        (dir, memory)
    }

    fn taught(session: &str, correction: &str) -> JobRecord {
        let mut record = JobRecord::new(FinishedJob {
            id: format!("job of {session}"),
            project: PROJECT.to_owned(),
            session: session.to_owned(),
            finished: at(0),
            ..FinishedJob::default()
        });
        session.clone_into(&mut record.root);
        record.learned = vec![Learned::Lesson(NewLesson {
            correction: correction.to_owned(),
            ..NewLesson::default()
        })];
        record.outdated = vec![NewOutdated {
            point: "pat-001".to_owned(),
            why: "it is gone".to_owned(),
            ..NewOutdated::default()
        }];
        record
    }

    fn settled(memory: &mut Memory, updates: &[(u64, NoteState, u64)]) {
        let mut record = JobRecord::new(FinishedJob {
            id: format!("run {updates:?}"),
            project: PROJECT.to_owned(),
            finished: at(1),
            ..FinishedJob::default()
        });
        let update = |(id, state, line): &(u64, NoteState, u64)| NoteUpdate {
            id: NoteId(*id),
            state: *state,
            line: NoteId(*line),
            text: None,
            point: (*state == NoteState::Settled).then(|| "pat-002".to_owned()),
        };
        record.note_updates = updates.iter().map(update).collect();
        record.seen_until = memory.last_note().unwrap();
        for _ in 0..2 {
            memory.record(&record).unwrap();
        }
    }

    fn lines(memory: &Memory) -> Vec<(u64, NoteState, usize)> {
        let lines = memory.note_lines(PROJECT, &[]).unwrap().into_iter();
        let plain = |line: NoteLine| (line.note.id.0, line.state, line.note.sessions.len());
        lines.map(plain).collect()
    }

    #[test]
    fn a_repeated_job_adds_nothing_and_what_is_taught_again_comes_back() {
        let (_dir, mut memory) = memory();
        for session in ["a", "a", "b"] {
            memory.record(&taught(session, session)).unwrap();
        }
        let b = lines(&memory)[1].0;
        let (waits, is_kept) = (NoteState::Waiting, NoteState::Notebook);
        assert_eq!(lines(&memory), [(1, waits, 1), (b, waits, 1)]);
        let waiting = memory.waiting_notes(PROJECT).unwrap();
        assert_eq!((waiting.ids.len(), waiting.sessions), (4, 2));
        let done = [(1, NoteState::Settled, 1), (b, is_kept, b)];
        settled(&mut memory, &done);
        assert_eq!(lines(&memory), [(b, is_kept, 1)]);
        let teachers = memory.teachers(PROJECT).unwrap();
        assert_eq!(
            teachers,
            [("pat-002".to_owned(), "a".to_owned(), NoteId(1))]
        );
        assert_eq!(memory.newest_notes(PROJECT).unwrap().len(), 2);
        memory.record(&taught("c", "a")).unwrap();
        assert_eq!(lines(&memory), [(1, waits, 2), (b, is_kept, 1)]);
    }

    #[test]
    fn lines_that_are_joined_have_the_sum_and_the_mean_once() {
        let (_dir, mut memory) = memory();
        for session in ["a", "b"] {
            memory.record(&taught(session, session)).unwrap();
        }
        let worth = "UPDATE memories SET times_applied = id, effectiveness = id / 4.0";
        memory
            .change("set", super::super::database::Durability::Crash, worth, ())
            .unwrap();
        settled(
            &mut memory,
            &[(1, NoteState::Notebook, 1), (3, NoteState::Notebook, 1)],
        );
        assert_eq!(lines(&memory), [(1, NoteState::Notebook, 2)]);
        let sql = "SELECT times_applied, effectiveness FROM memories ORDER BY id LIMIT 1";
        let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, f64>(1)?));
        assert_eq!(memory.one("read", sql, (), read).unwrap(), Some((3, 0.375)));
    }

    #[test]
    fn of_what_notes_say_alike_one_is_given_and_nothing_that_a_point_says() {
        let (_dir, mut memory) = memory();
        let error = Signature::from_bits(7);
        for session in ["a", "b", "c"] {
            let mut record = taught(session, session);
            if let [Learned::Lesson(lesson)] = &mut record.learned[..] {
                lesson.signature = Some(error);
            }
            memory.record(&record).unwrap();
        }
        let given = |memory: &Memory| memory.notes_on(PROJECT, &[error], 5).unwrap().len();
        assert_eq!(given(&memory), 3);
        settled(
            &mut memory,
            &[(1, NoteState::Notebook, 1), (3, NoteState::Notebook, 1)],
        );
        assert_eq!(given(&memory), 2);
        settled(&mut memory, &[(5, NoteState::Settled, 5)]);
        assert_eq!(given(&memory), 1);
    }

    #[test]
    fn only_the_user_takes_away_a_note() {
        let (_dir, mut memory) = memory();
        memory.record(&taught("a", "a")).unwrap();
        settled(&mut memory, &[(1, NoteState::Settled, 1)]);
        let unused = jiff::SignedDuration::ZERO;
        let none = Limits {
            unused,
            ..Limits::default()
        };
        assert_eq!(memory.prune(&none, at(9)).unwrap().lessons, 0);
        memory
            .forget(&ForgetWhat::Project(PROJECT.to_owned()))
            .unwrap();
        assert_eq!(memory.last_note().unwrap(), NoteId(0));
    }
}
