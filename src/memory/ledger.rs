//! Where the tokens went.

use jiff::Timestamp;
use rusqlite::{Row, Transaction};

use super::convert;
use super::database::{Durability, Memory};
use super::error::MemoryError;
use super::record;

/// What pays a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Purse {
    /// The budgets of the day.
    #[default]
    Day,
    /// What the user agreed to for `playbook bootstrap`; the day's budgets know nothing of it.
    Agreed,
}

impl Purse {
    fn number(self) -> i64 {
        match self {
            Self::Day => 0,
            Self::Agreed => 1,
        }
    }
}

/// A step of a job that asked a model, with all its attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The job.
    pub job: String,
    /// Its place among the job's calls; job and place together name it for ever.
    pub seq: u64,
    /// The project.
    pub project: String,
    /// When it ended.
    pub time: Timestamp,
    /// What answered: `anthropic`, `claude-cli`, …
    pub backend: String,
    /// The model that answered.
    pub model: String,
    /// Requests sent, retries included.
    pub attempts: u64,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens got.
    pub output_tokens: u64,
    /// What paid it.
    pub purse: Purse,
}

impl Memory {
    /// Notes a call as soon as it has ended, before its job does.
    ///
    /// Not synced: the job's [`record`](super::Record) brings it once more.
    pub fn add_call(&mut self, call: &Call) -> Result<(), MemoryError> {
        self.write("record call", Durability::Crash, |transaction| {
            add(transaction, std::slice::from_ref(call))
        })
    }
}

/// What one model of one backend cost one project in a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spending {
    /// The project.
    pub project: String,
    /// What answered: `anthropic`, `claude-cli`, …
    pub(crate) backend: String,
    pub(crate) model: String,
    /// Steps of jobs that asked it.
    pub calls: u64,
    /// Requests sent, retries included.
    pub attempts: u64,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens got.
    pub output_tokens: u64,
}

impl Memory {
    /// Returns what was spent from `from` until before `until`, by project, backend and
    /// model; the caller knows where its days begin.
    pub fn spending(
        &self,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<Spending>, MemoryError> {
        // Whatever paid.
        self.spending_where("?3 = ?3", (from, until), Purse::Day)
    }

    /// Returns what one purse paid from `from` until before `until`, by project, backend and
    /// model.
    pub(crate) fn spending_of(
        &self,
        purse: Purse,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<Spending>, MemoryError> {
        self.spending_where("c.purse = ?3", (from, until), purse)
    }

    fn spending_where(
        &self,
        filter: &str,
        (from, until): (Timestamp, Timestamp),
        purse: Purse,
    ) -> Result<Vec<Spending>, MemoryError> {
        self.read("read ledger", |connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT p.name, c.backend, c.model, count(*), sum(c.attempts), sum(c.input),
                         sum(c.output)
                     FROM calls c JOIN projects p ON p.id = c.project
                     WHERE c.time >= ?1 AND c.time < ?2 AND {filter}
                     GROUP BY p.name, c.backend, c.model ORDER BY p.name, c.backend, c.model"
                ))?
                .query_map(
                    (
                        convert::millis(from),
                        convert::millis(until),
                        purse.number(),
                    ),
                    spending,
                )?
                .collect()
        })
    }

    /// Returns the place of a job's next call among its calls.
    pub(crate) fn next_call(&self, job: &str) -> Result<u64, MemoryError> {
        self.read("read ledger", |connection| {
            connection
                .prepare_cached("SELECT coalesce(max(seq) + 1, 0) FROM calls WHERE job = ?1")?
                .query_row([job], |row| convert::counted(row, 0))
        })
    }
}

fn spending(row: &Row<'_>) -> rusqlite::Result<Spending> {
    Ok(Spending {
        project: row.get(0)?,
        backend: row.get(1)?,
        model: row.get(2)?,
        calls: convert::counted(row, 3)?,
        attempts: convert::counted(row, 4)?,
        input_tokens: convert::counted(row, 5)?,
        output_tokens: convert::counted(row, 6)?,
    })
}

/// Adds calls; those that are there already stay.
pub(super) fn add(transaction: &Transaction<'_>, calls: &[Call]) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(
        "INSERT OR IGNORE INTO calls
             (job, seq, project, time, backend, model, attempts, input, output, purse)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    for call in calls {
        insert.execute((
            &call.job,
            convert::int(call.seq),
            record::project(transaction, &call.project)?,
            convert::millis(call.time),
            &call.backend,
            &call.model,
            convert::int(call.attempts),
            convert::int(call.input_tokens),
            convert::int(call.output_tokens),
            call.purse.number(),
        ))?;
    }
    Ok(())
}
