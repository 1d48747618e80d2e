//! What was learned, behind a trait that another database can serve.

use jiff::Timestamp;
use rusqlite::OptionalExtension;

use super::database::{Durability, Memory};
use super::error::MemoryError;
use super::forget::{self, Forget, Forgotten, Limits};
use super::index::IndexContent;
use super::learned::{Learned, Source};
use super::learning;
use super::lookup;
use super::recall::{self, RecallQuery, Seen};
use super::remembered::Remembered;
use super::signature::Signature;
use super::stats::{self, EvaluationAverage, Stats};
use super::summary;

/// A store of reflections, strategies, lessons and errors.
pub trait Store {
    /// What can go wrong.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Takes in what `source` teaches; repeating it changes nothing.
    ///
    /// Returns the ids of its reflections (each followed by its strategy's), lessons and
    /// errors, in order. A worker's jobs bring theirs with [`Memory::record`] instead.
    fn learn(&mut self, source: &Source, learned: &[Learned]) -> Result<Vec<String>, Self::Error>;

    /// Finds what fits best, best first.
    fn recall(&self, query: &RecallQuery, now: Timestamp) -> Result<Vec<Remembered>, Self::Error>;

    /// Tells what is known about an error, in one project or in all; `None` for a new one.
    fn seen(
        &self,
        signature: Signature,
        project: Option<&str>,
    ) -> Result<Option<Seen>, Self::Error>;

    /// Returns the memory of this id; for the id of a fix the error it helped against.
    fn find(&self, id: &str) -> Result<Option<Remembered>, Self::Error>;

    /// Returns the projects of which something was learned, by name.
    fn projects(&self) -> Result<Vec<String>, Self::Error>;

    /// Returns what has met errors: programs with their subcommands, and tools.
    fn error_types(&self) -> Result<Vec<String>, Self::Error>;

    /// Returns how sure the project's last reflection was.
    fn last_confidence(&self, project: &str) -> Result<Option<f64>, Self::Error>;

    /// Returns figures about one project or all.
    fn stats(&self, project: Option<&str>) -> Result<Stats, Self::Error>;

    /// Returns the averages of the evaluations in the spans that begin at `starts`
    /// (ascending), those without any left out.
    fn evaluations(
        &self,
        project: Option<&str>,
        starts: &[Timestamp],
    ) -> Result<Vec<EvaluationAverage>, Self::Error>;

    /// Forgets what the user wants forgotten, also on disk.
    fn forget(&mut self, what: &Forget) -> Result<Forgotten, Self::Error>;

    /// Keeps what was learned within `limits`.
    fn prune(&mut self, limits: &Limits, now: Timestamp) -> Result<Forgotten, Self::Error>;

    /// Returns what hooks must know about a project, best first.
    fn index(&self, project: &str, now: Timestamp) -> Result<IndexContent, Self::Error>;
}

impl Store for Memory {
    type Error = MemoryError;

    fn learn(&mut self, source: &Source, learned: &[Learned]) -> Result<Vec<String>, MemoryError> {
        self.write("store lessons", Durability::PowerCut, |transaction| {
            learning::learn(transaction, source, learned, u64::MAX)
        })
    }

    fn recall(&self, query: &RecallQuery, now: Timestamp) -> Result<Vec<Remembered>, MemoryError> {
        self.read("recall", |connection| {
            recall::recall(connection, query, now)
        })
    }

    fn seen(
        &self,
        signature: Signature,
        project: Option<&str>,
    ) -> Result<Option<Seen>, MemoryError> {
        self.read("look up error", |connection| {
            recall::seen(connection, signature, project)
        })
    }

    fn find(&self, id: &str) -> Result<Option<Remembered>, MemoryError> {
        self.read("look up memory", |connection| lookup::find(connection, id))
    }

    fn projects(&self) -> Result<Vec<String>, MemoryError> {
        self.read("list projects", lookup::projects)
    }

    fn error_types(&self) -> Result<Vec<String>, MemoryError> {
        self.read("list error types", lookup::error_types)
    }

    fn last_confidence(&self, project: &str) -> Result<Option<f64>, MemoryError> {
        self.read("read reflections", |connection| {
            connection
                .query_row(
                    "SELECT m.confidence FROM memories m JOIN projects p ON p.id = m.project
                     WHERE p.name = ?1 AND m.kind = 'reflection'
                     ORDER BY m.last_seen DESC, m.id DESC LIMIT 1",
                    [project],
                    |row| row.get(0),
                )
                .optional()
        })
    }

    fn stats(&self, project: Option<&str>) -> Result<Stats, MemoryError> {
        self.read("read statistics", |connection| {
            stats::stats(connection, project)
        })
    }

    fn evaluations(
        &self,
        project: Option<&str>,
        starts: &[Timestamp],
    ) -> Result<Vec<EvaluationAverage>, MemoryError> {
        self.read("read evaluations", |connection| {
            stats::evaluations(connection, project, starts)
        })
    }

    fn forget(&mut self, what: &Forget) -> Result<Forgotten, MemoryError> {
        self.erase("forget", |transaction| forget::forget(transaction, what))
    }

    fn prune(&mut self, limits: &Limits, now: Timestamp) -> Result<Forgotten, MemoryError> {
        self.write("prune memory", Durability::Crash, |transaction| {
            forget::prune(transaction, limits, now)
        })
    }

    fn index(&self, project: &str, now: Timestamp) -> Result<IndexContent, MemoryError> {
        self.read("read lessons", |connection| {
            summary::content(connection, project, now)
        })
    }
}
