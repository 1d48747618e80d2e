//! The database file: creating, opening, reading and writing it, and its errors.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use rusqlite::config::DbConfig;
use rusqlite::types::Type;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension as _, Params, Row, Transaction,
    TransactionBehavior,
};
use serde::de::DeserializeOwned;

use crate::fault;
use crate::fsx::lock::{Lock, lock_path};
use crate::fsx::{self, FsContext, FsError};
use crate::redact::Masker;
use crate::reflect::tellable::Outlet;

/// The longest wait for another process's transaction.
const BUSY: Duration = Duration::from_secs(10);
/// `SQLite`'s page cache, in KiB: enough for the inner pages of over 2 million record hashes.
const CACHE_KIB: i64 = 16 * 1024;
/// The size in bytes to which a checkpoint cuts the write-ahead log.
const WAL_LIMIT: i64 = 8 * 1024 * 1024;
/// The pause between two tries to switch to the write-ahead log while other processes open the same
/// new file. `SQLite` does not always wait there by itself.
const WAL_PAUSE: Duration = Duration::from_millis(20);

/// The suffix for a file that could not be read, with the time of its renaming.
const BEFORE: &str = ".before-%Y-%m-%dT%H%M%SZ";

/// The failures that a committed transaction must survive.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// A crash of our process (`synchronous=NORMAL`): the data can be found again or done without.
    Crash,
    /// A power cut (`synchronous=FULL`): the data is the only trace once a job's file is removed.
    PowerCut,
}

/// One per process is enough. The file is 0600 in a 0700 folder, in WAL mode. [`Memory::record`]
/// and all else that must outlive a job's file is synced, so a caller may remove the file as soon
/// as it returns. Any number of processes may have the memory open: writers take turns, readers
/// never wait.
#[derive(Debug)]
pub struct Memory {
    path: PathBuf,
    connection: Connection,
    /// Shared among all connections of this process: an error on one concerns all.
    is_broken: Arc<AtomicBool>,
    pub(super) outlet: Outlet,
}

/// The mark of our databases (`PRAGMA application_id`): "plbk".
const APPLICATION_ID: i64 = 0x706c_626b;
const SCHEMA: &str = include_str!("../../data/schema.sql");
/// The version (`PRAGMA user_version`) of a file in which [`SCHEMA`] has run.
const VERSION: i64 = 27;
/// The older version that [`SCHEMA`] completes: that of commit 0b44ef9b.
const COMPLETED: i64 = 19;

#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The file or its folder could not be created or inspected.
    #[error(transparent)]
    File(#[from] FsError),
    /// A newer version of Playbook wrote the file, which is left as it is.
    #[error(
        "could not open memory: {}: written by a newer version (schema {found}, this one knows {known})",
        path.display()
    )]
    Newer {
        path: PathBuf,
        found: i64,
        known: i64,
    },
    #[error(
        "could not open memory: {}: written by an older version (schema {found}, this one knows {known})",
        path.display()
    )]
    Older {
        path: PathBuf,
        found: i64,
        known: i64,
    },
    #[error("could not open memory: {}: a database of another program", path.display())]
    Foreign { path: PathBuf },
    #[error("could not {}: {}: damaged database: {}", .0.action, .0.path.display(), .0.source)]
    Damaged(Failed),
    /// Any other error: locked for too long, disk full, not writable, an I/O error.
    #[error("could not {}: {}: {}", .0.action, .0.path.display(), .0.source)]
    Database(Failed),
}

/// The failed action (`record job`), the file, and `SQLite`'s reason.
#[derive(Debug)]
pub struct Failed {
    action: &'static str,
    path: PathBuf,
    source: rusqlite::Error,
}

impl MemoryError {
    fn new(action: &'static str, path: &Path, source: rusqlite::Error) -> Self {
        use ErrorCode::{DatabaseCorrupt, NotADatabase};
        let is_damaged = matches!(
            source.sqlite_error_code(),
            Some(DatabaseCorrupt | NotADatabase)
        );
        let failed = Failed {
            action,
            path: path.to_owned(),
            source,
        };
        if is_damaged {
            Self::Damaged(failed)
        } else {
            Self::Database(failed)
        }
    }

    fn breaks_connection(&self) -> bool {
        let failed = match self {
            Self::Damaged(_) => return true,
            Self::Database(failed) => failed,
            _ => return false,
        };
        failed.source.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
    }

    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Self::Database(failed)
            if failed.source.sqlite_error_code() == Some(ErrorCode::DatabaseBusy))
    }

    /// Returns advice for a `hint:` line; `None` if waiting helps.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::File(_) | Self::Database(_) => None,
            Self::Newer { .. } => Some("update playbook; the file was left as it is".to_owned()),
            Self::Foreign { path } => Some(format!(
                "move {} away, or set PLAYBOOK_STATE_DIR to another folder",
                path.display()
            )),
            Self::Older { .. } => Some(BEGIN_ANEW.to_owned()),
            Self::Damaged(Failed { path, .. }) => Some(format!(
                "`sqlite3 {} .recover` may save its content; {BEGIN_ANEW}",
                path.display()
            )),
        }
    }

    /// Returns `true` if no later try can read the file: it is damaged or too old.
    fn is_of_the_file(&self) -> bool {
        matches!(self, Self::Damaged(_) | Self::Older { .. })
    }
}

const BEGIN_ANEW: &str = "`playbook worker` renames it and begins with an empty one; the \
    playbooks stay, and what counted does not count again";

impl Memory {
    /// Creates a missing file or table. A file that is damaged, another program's, newer or too old
    /// is an error that names it, and is left as it is.
    pub fn open(path: &Path) -> Result<Self, MemoryError> {
        prepare_file(path)?;
        let failed = |source| MemoryError::new("open memory", path, source);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(BUSY).map_err(failed)?;
        if let Some(refusal) = refusal(&mut connection, path).map_err(failed)? {
            // Otherwise closing would write a remaining write-ahead log into the file.
            let keep = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            connection.set_db_config(keep, true).map_err(failed)?;
            return Err(refusal);
        }
        set_up(&mut connection).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            connection,
            is_broken: Arc::default(),
            outlet: Outlet::default(),
        })
    }

    /// Also masks the user's own patterns in what is read.
    #[must_use]
    pub fn masked_by(mut self, masker: Masker) -> Self {
        self.outlet = Outlet::new(masker);
        self
    }

    /// Renames a damaged or too old file to `NAME.before-TIME`; returns any other `error`. Records
    /// that the file had counted never count again, as for a file that was removed.
    pub(crate) fn set_aside(
        path: &Path,
        error: MemoryError,
        now: Timestamp,
    ) -> Result<(), MemoryError> {
        if !error.is_of_the_file() {
            return Err(error);
        }
        // A second worker must not rename the file that the first has created.
        let Some(lock) = Lock::acquire(&lock_path(path), BUSY)? else {
            return Err(error);
        };
        if Self::open(path).is_err_and(|error| error.is_of_the_file()) {
            let before = now.strftime(BEFORE).to_string();
            for side in ["-shm", "-wal", ""] {
                let file = with_ending(path, side);
                if file.exists() {
                    fsx::rename(&file, &with_ending(path, &format!("{before}{side}")))?;
                }
            }
        }
        Ok(lock.remove()?)
    }

    pub(crate) fn set_aside_since(path: &Path, since: Timestamp) -> Vec<PathBuf> {
        let entries = path.parent().map(fs::read_dir).into_iter().flatten();
        let files = entries.flatten().flatten().map(|entry| entry.path());
        let is_recent = |file: &PathBuf| {
            let name = file.to_str().zip(path.to_str());
            let ending = name.and_then(|(file, path)| file.strip_prefix(path));
            let time = ending.and_then(|ending| DateTime::strptime(BEFORE, ending).ok());
            time.and_then(|time| time.to_zoned(TimeZone::UTC).ok())
                .is_some_and(|time| time.timestamp() >= since)
        };
        files.filter(is_recent).collect()
    }

    /// Runs a query; `action` completes "could not …".
    pub(super) fn read<T>(
        &self,
        action: &'static str,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, MemoryError> {
        query(&self.connection).map_err(|e| self.failed(action, e))
    }

    pub(super) fn all<T>(
        &self,
        action: &'static str,
        sql: &str,
        params: impl Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, MemoryError> {
        self.read(action, |connection| rows(connection, sql, params, row))
    }

    pub(super) fn one<T>(
        &self,
        action: &'static str,
        sql: &str,
        params: impl Params,
        row: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, MemoryError> {
        self.read(action, |connection| {
            let mut statement = connection.prepare_cached(sql)?;
            statement.query_row(params, row).optional()
        })
    }

    /// Reads the number that a query returns; 0 if it has no row.
    pub(super) fn count(
        &self,
        action: &'static str,
        sql: &str,
        params: impl Params,
    ) -> Result<u64, MemoryError> {
        let found = self.one(action, sql, params, |row| counted(row, 0))?;
        Ok(found.unwrap_or(0))
    }

    pub(super) fn has(
        &self,
        action: &'static str,
        sql: &str,
        params: impl Params,
    ) -> Result<bool, MemoryError> {
        Ok(self.one(action, sql, params, |_| Ok(()))?.is_some())
    }

    /// Runs one statement in its own transaction; returns the number of changed rows.
    pub(super) fn change(
        &mut self,
        action: &'static str,
        durability: Durability,
        sql: &str,
        params: impl Params,
    ) -> Result<usize, MemoryError> {
        self.write(action, durability, |transaction| {
            run(transaction, sql, params)
        })
    }

    /// Takes the write lock immediately (`BEGIN IMMEDIATE`): a transaction that starts as a reader
    /// and then writes can fail without waiting.
    pub(super) fn write<T>(
        &mut self,
        action: &'static str,
        durability: Durability,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, MemoryError> {
        let connection = &mut self.connection;
        let run = || {
            synchronous(connection, durability)?;
            fault::write("begin").map_err(full)?;
            let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
            let result = change(&transaction)?;
            fault::write("commit").map_err(full)?;
            transaction.commit()?;
            Ok(result)
        };
        let result = run();
        result.map_err(|e| self.failed(action, e))
    }

    /// Leaves deleted text unreadable on disk: merges the word index and truncates the log.
    pub(super) fn erase<T>(
        &mut self,
        action: &'static str,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, MemoryError> {
        let result = self.write(action, Durability::PowerCut, |transaction| {
            let result = change(transaction)?;
            transaction.execute("INSERT INTO recall (recall) VALUES ('optimize')", ())?;
            Ok(result)
        });
        // A reader elsewhere only delays this.
        self.read(action, |connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
        })?;
        result
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(super) fn failed(&self, action: &'static str, source: rusqlite::Error) -> MemoryError {
        let error = MemoryError::new(action, &self.path, source);
        self.note(&error);
        error
    }

    pub(crate) fn another(&self) -> Result<Self, MemoryError> {
        // `SQLite` shares its state of a file among the connections of a process.
        let another = self.is_there().and_then(|()| Self::open(&self.path));
        let another = another.inspect_err(|error| self.note(error))?;
        Ok(Self {
            is_broken: Arc::clone(&self.is_broken),
            outlet: self.outlet.clone(),
            ..another
        })
    }

    /// Returns an error for an empty file, which was emptied under this connection. Opening another
    /// one would wait for the locks that this one holds.
    fn is_there(&self) -> Result<(), MemoryError> {
        let is_empty = fs::metadata(&self.path).is_ok_and(|file| file.len() == 0);
        if is_empty {
            let cut = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR_SHORT_READ);
            let why = Some("it was emptied while in use".to_owned());
            let cut = rusqlite::Error::SqliteFailure(cut, why);
            return Err(MemoryError::new("open memory", &self.path, cut));
        }
        Ok(())
    }

    fn note(&self, error: &MemoryError) {
        self.is_broken
            .fetch_or(error.breaks_connection(), Ordering::Relaxed);
    }

    /// Returns `true` if this connection cannot recover: the database's files were removed or cut
    /// while it was open. Another process may be able to open them.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }
}

pub(super) fn rows<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_map(params, row)?.collect()
}

pub(super) fn run(
    transaction: &Transaction<'_>,
    sql: &str,
    params: impl Params,
) -> rusqlite::Result<usize> {
    transaction.prepare_cached(sql)?.execute(params)
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Creates a missing file as private: `SQLite` might create one that others can read. Does not open
/// an existing one: closing it would drop the locks of this process's other connections.
fn prepare_file(path: &Path) -> Result<(), MemoryError> {
    if let Some(folder) = path.parent() {
        fsx::ensure_dir(folder)?;
    }
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(()),
        Ok(_) => Err(std::io::Error::other("not a regular file")),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            fsx::create_new(path, b"")?;
            Ok(())
        }
        Err(e) => Err(e),
    }
    .context("open memory", path)
    .map_err(MemoryError::from)
}

fn set_up(connection: &mut Connection) -> rusqlite::Result<()> {
    write_ahead(connection)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "journal_size_limit", WAL_LIMIT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Freed bytes are overwritten.
    connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    synchronous(connection, Durability::PowerCut)?;
    complete(connection)
}

/// Switches to the write-ahead log; without shared memory, a file system keeps its journal.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let switch = || connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()));
    let is_busy = |e: &rusqlite::Error| e.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
    let deadline = Instant::now() + BUSY;
    loop {
        match switch() {
            Err(e) if is_busy(&e) && Instant::now() < deadline => thread::sleep(WAL_PAUSE),
            done => return done,
        }
    }
}

fn full(_: std::io::Error) -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL);
    rusqlite::Error::SqliteFailure(code, None)
}

/// Sets what the next transaction must survive; `SQLite` allows this only between two.
fn synchronous(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    let level = match durability {
        Durability::Crash => "NORMAL",
        Durability::PowerCut => "FULL",
    };
    connection.pragma_update(None, "synchronous", level)
}

/// Returns the reason why we cannot use a file, without changing it; `None` if we can.
fn refusal(connection: &mut Connection, path: &Path) -> rusqlite::Result<Option<MemoryError>> {
    // One snapshot, because another process may be creating the file.
    let snapshot = connection.transaction()?;
    let found = version(&snapshot)?;
    let id: i64 = snapshot.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 =
        snapshot.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    let (path, known) = (path.to_owned(), VERSION);
    Ok(match id {
        APPLICATION_ID if found > known => Some(MemoryError::Newer { path, found, known }),
        APPLICATION_ID if found < known && found != COMPLETED => {
            Some(MemoryError::Older { path, found, known })
        }
        APPLICATION_ID => None,
        0 if tables == 0 => None,
        _ => Some(MemoryError::Foreign { path }),
    })
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Reads the version again inside the transaction: another process may have been first.
fn complete(connection: &mut Connection) -> rusqlite::Result<()> {
    if version(connection)? >= VERSION {
        return Ok(());
    }
    fault::write("schema: begin").map_err(full)?;
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    if version(&transaction)? < VERSION {
        transaction.execute_batch(SCHEMA)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    fault::write("schema: commit").map_err(full)?;
    transaction.commit()
}

/// Converts a count for storage; larger ones become `SQLite`'s greatest integer.
pub(super) fn int(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Converts a time to milliseconds, the precision of transcripts.
pub(super) fn millis(time: Timestamp) -> i64 {
    time.as_millisecond()
}

pub(super) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    let stored: i64 = row.get(column)?;
    Timestamp::from_millisecond(stored)
        .map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, stored))
}

/// Reads a column as a count; a negative number, which we never write, is 0.
pub(super) fn counted(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get(column)
        .map(|stored: i64| u64::try_from(stored).unwrap_or(0))
}

pub(super) fn json<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<T>> {
    let stored: Option<String> = row.get(column)?;
    stored
        .map(|text| serde_json::from_str(&text))
        .transpose()
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, e.into()))
}

pub(super) fn words(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    Ok(json(row, column)?.unwrap_or_default())
}

pub(super) fn word<T>(
    row: &Row<'_>,
    column: usize,
    parse: impl FnOnce(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let stored: String = row.get(column)?;
    parse(&stored).ok_or_else(|| {
        let reason = format!("unknown word `{stored}`");
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, reason.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened() -> (tempfile::TempDir, PathBuf, Memory) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("memory.db");
        let memory = Memory::open(&file).unwrap();
        (folder, file, memory)
    }

    #[test]
    fn one_that_was_emptied_in_use_breaks_at_once_and_waits_for_nobody() {
        let (_folder, file, memory) = opened();
        let emptied = fs::OpenOptions::new().write(true).open(&file).unwrap();
        emptied.set_len(0).unwrap();
        let error = memory.another().unwrap_err().to_string();
        assert!(error.contains("emptied while in use"), "{error}");
        assert!(memory.is_broken());
    }

    #[test]
    fn what_breaks_one_connection_is_known_to_the_one_it_was_made_from() {
        let (_folder, _, memory) = opened();
        let another = memory.another().unwrap();
        assert!(!memory.is_broken());
        let corrupt = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        let error = rusqlite::Error::SqliteFailure(corrupt, None);
        let read = another.read("read", |_| Err::<(), _>(error));
        assert!(read.is_err());
        assert!(memory.is_broken());
    }
}
