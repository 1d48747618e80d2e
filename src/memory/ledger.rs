//! Where the tokens went.

use jiff::Timestamp;
use rusqlite::{Row, Transaction};

use super::convert::{counted, int, millis};
use super::database::{Durability, Memory, run};
use super::error::MemoryError;
use super::projects;

/// What pays a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BudgetKind {
    #[default]
    Day,
    /// What the user agreed to for `playbook bootstrap`; the day's budgets know nothing of it.
    Agreed,
}

impl BudgetKind {
    fn number(self) -> i64 {
        i64::from(self == Self::Agreed)
    }
}

/// A step of a job that asked a model, with all its attempts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelCall {
    pub job: String,
    /// Its place among the job's calls; job and place together name it for ever.
    pub seq: u64,
    pub project: String,
    pub time: Timestamp,
    pub backend: String,
    pub model: String,
    /// Requests sent, retries included.
    pub attempts: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub budget_kind: BudgetKind,
}

impl Memory {
    /// Notes a call as soon as it has ended, before its job does.
    ///
    /// Not synced: the job's [`record`](super::JobRecord) brings it once more.
    pub fn add_call(&mut self, call: &ModelCall) -> Result<(), MemoryError> {
        self.write("record call", Durability::Crash, |transaction| {
            add(transaction, std::slice::from_ref(call))
        })
    }
}

/// What one model of one backend cost one project in a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spending {
    pub project: String,
    pub(crate) backend: String,
    pub(crate) model: String,
    pub calls: u64,
    /// Requests sent, retries included.
    pub attempts: u64,
    pub input_tokens: u64,
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
        self.spending_of(None, from, until)
    }

    /// As [`spending`](Self::spending), of what one budget paid, or any.
    pub(crate) fn spending_of(
        &self,
        kind: impl Into<Option<BudgetKind>>,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<Spending>, MemoryError> {
        let sql = "SELECT p.name, c.backend, c.model, count(*), sum(c.attempts), sum(c.input),
                 sum(c.output)
             FROM calls c JOIN projects p ON p.id = c.project
             WHERE c.time >= ?1 AND c.time < ?2 AND (?3 IS NULL OR c.purse = ?3)
             GROUP BY p.name, c.backend, c.model ORDER BY p.name, c.backend, c.model";
        let params = (
            millis(from),
            millis(until),
            kind.into().map(BudgetKind::number),
        );
        self.all("read ledger", sql, params, |row| {
            Ok(Spending {
                project: row.get(0)?,
                backend: row.get(1)?,
                model: row.get(2)?,
                calls: counted(row, 3)?,
                attempts: counted(row, 4)?,
                input_tokens: counted(row, 5)?,
                output_tokens: counted(row, 6)?,
            })
        })
    }

    /// Returns how many calls of a job were answered, and their tokens.
    pub(crate) fn answered_calls(&self, job: &str) -> Result<(u64, u64), MemoryError> {
        let sql = "SELECT count(*), ifnull(sum(input + output), 0) FROM calls
             WHERE job = ?1 AND input + output > 0";
        let read = |row: &Row<'_>| Ok((counted(row, 0)?, counted(row, 1)?));
        let found = self.one("read ledger", sql, [job], read)?;
        Ok(found.unwrap_or_default())
    }

    /// Returns the place of a job's next call among its calls.
    pub(crate) fn next_call(&self, job: &str) -> Result<u64, MemoryError> {
        let sql = "SELECT max(seq) + 1 FROM calls WHERE job = ?1 HAVING count(*) > 0";
        self.count("read ledger", sql, [job])
    }
}

/// Adds calls; those that are there already stay.
pub(super) fn add(transaction: &Transaction<'_>, calls: &[ModelCall]) -> rusqlite::Result<()> {
    for call in calls {
        run(
            transaction,
            "INSERT OR IGNORE INTO calls
                 (job, seq, project, time, backend, model, attempts, input, output, purse)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            (
                &call.job,
                int(call.seq),
                projects::number(transaction, &call.project)?,
                millis(call.time),
                &call.backend,
                &call.model,
                int(call.attempts),
                int(call.input_tokens),
                int(call.output_tokens),
                call.budget_kind.number(),
            ),
        )?;
    }
    Ok(())
}
