//! The file itself: how it is made, opened, read and written.

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
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension as _, Params, Row, Transaction,
    TransactionBehavior,
};

use super::convert::counted;
use super::error::MemoryError;
use super::schema;
use crate::fault;
use crate::fsx::lock::{Lock, lock_path};
use crate::fsx::{self, FsContext};

/// How long a statement waits for another process's transaction.
const BUSY: Duration = Duration::from_secs(10);
/// `SQLite`'s page cache, in KiB: the inner pages of 2 million record hashes and more.
const CACHE_KIB: i64 = 16 * 1024;
/// The write-ahead log is cut back to this size after a checkpoint.
const WAL_LIMIT: i64 = 8 * 1024 * 1024;
/// The pause between two tries to switch to the write-ahead log against other processes that open
/// the same new file: `SQLite` does not always wait there by itself.
const WAL_PAUSE: Duration = Duration::from_millis(20);

/// The ending of a file that could not be read, with the time at which it was renamed.
const BEFORE: &str = ".before-%Y-%m-%dT%H%M%SZ";

/// What a committed transaction must survive.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// A kill or crash of ours (`synchronous=NORMAL`): what can be found again or may be
    /// missing after a power cut.
    Crash,
    /// A power cut (`synchronous=FULL`): what is the only trace left once a job's file is
    /// removed.
    PowerCut,
}

/// The open memory; one per process is enough.
///
/// The file is 0600 in a 0700 folder, in WAL mode. Transactions that only add what can
/// be found again are not synced; [`Memory::record`] and all that must outlive a job's
/// file are, so that a caller may remove the file as soon as they return. Any number of
/// processes may have it open: writers take turns, readers never wait.
#[derive(Debug)]
pub struct Memory {
    path: PathBuf,
    connection: Connection,
    /// Shared with the connections that were made from this one: what one meets, all have met.
    is_broken: Arc<AtomicBool>,
}

impl Memory {
    /// Opens the database at `path`, and makes it, or tables that it lacks, when missing.
    ///
    /// A file that is damaged, another program's, newer or too old is an error that
    /// names it ([`MemoryError::hint`] says the way out) and is left as it is.
    pub fn open(path: &Path) -> Result<Self, MemoryError> {
        prepare_file(path)?;
        let failed = |source| MemoryError::new("open memory", path, source);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(BUSY).map_err(failed)?;
        if let Some(refusal) = schema::refusal(&mut connection, path).map_err(failed)? {
            // Without this, closing would fold a left-over write-ahead log into the file.
            let keep = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            connection.set_db_config(keep, true).map_err(failed)?;
            return Err(refusal);
        }
        set_up(&mut connection).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            connection,
            is_broken: Arc::default(),
        })
    }

    /// Renames a file that could not be opened because it is damaged or too old to
    /// `NAME.before-TIME`; another `error` comes back. What the file had counted never counts
    /// again, as with one that is gone.
    pub(crate) fn set_aside(
        path: &Path,
        error: MemoryError,
        now: Timestamp,
    ) -> Result<(), MemoryError> {
        if !error.is_of_the_file() {
            return Err(error);
        }
        // Of two workers, the later must not rename what the earlier has made.
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

    /// Returns the files that were renamed since a moment, because they could not be read.
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

    /// Reads all rows of a query.
    pub(super) fn all<T>(
        &self,
        action: &'static str,
        sql: &str,
        params: impl Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, MemoryError> {
        self.read(action, |connection| rows(connection, sql, params, row))
    }

    /// Reads the row of a query that has one at most.
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

    /// Reads the number that a query answers with; 0 where it has no row.
    pub(super) fn count(
        &self,
        action: &'static str,
        sql: &str,
        params: impl Params,
    ) -> Result<u64, MemoryError> {
        let found = self.one(action, sql, params, |row| counted(row, 0))?;
        Ok(found.unwrap_or(0))
    }

    /// Tells whether a query has a row.
    pub(super) fn has(
        &self,
        action: &'static str,
        sql: &str,
        params: impl Params,
    ) -> Result<bool, MemoryError> {
        Ok(self.one(action, sql, params, |_| Ok(()))?.is_some())
    }

    /// Runs one statement in a transaction of its own and tells how many rows it changed.
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

    /// Runs `change` in one transaction, which is undone when it fails.
    ///
    /// The write lock is taken at once (`BEGIN IMMEDIATE`): a transaction that begins as
    /// a reader and then writes can fail without ever having waited.
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

    /// As [`write`](Self::write), and leaves nothing readable of what was deleted: the index of
    /// words and the write-ahead log are folded up.
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
        // A reader elsewhere only puts this off.
        self.read(action, |connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
        })?;
        result
    }

    /// The connection, for what lives longer than one query.
    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Names the action and our path of `SQLite`'s error.
    pub(super) fn failed(&self, action: &'static str, source: rusqlite::Error) -> MemoryError {
        let error = MemoryError::new(action, &self.path, source);
        self.note(&error);
        error
    }

    /// Opens one more connection to the same database.
    pub(crate) fn another(&self) -> Result<Self, MemoryError> {
        // `SQLite` shares what it knows of a file among the connections of a process.
        let another = self.is_there().and_then(|()| Self::open(&self.path));
        let another = another.inspect_err(|error| self.note(error))?;
        Ok(Self {
            is_broken: Arc::clone(&self.is_broken),
            ..another
        })
    }

    /// An empty file is one that was emptied under this connection: another would wait for the
    /// locks that this one has.
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

    /// Tells whether this connection has met what no later use of it can get over: files of the
    /// database that were removed or cut under it. Opened anew by another process it may be well.
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

/// Runs a statement of a transaction and tells how many rows it changed.
pub(super) fn run(
    transaction: &Transaction<'_>,
    sql: &str,
    params: impl Params,
) -> rusqlite::Result<usize> {
    transaction.prepare_cached(sql)?.execute(params)
}

/// Sees to an existing private file, so that `SQLite` need not make one readable by others.
///
/// An existing one is looked at without opening it: closing it again would drop the locks
/// that another connection of this process holds on it.
fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

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
    // Bytes that are freed are overwritten.
    connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    synchronous(connection, Durability::PowerCut)?;
    schema::complete(connection)
}

/// Switches to the write-ahead log; a file system without shared memory keeps its journal.
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

/// The error of a full disk, as `SQLite` gives it.
pub(super) fn full(_: std::io::Error) -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL);
    rusqlite::Error::SqliteFailure(code, None)
}

/// Says what the next transaction must survive; `SQLite` allows it only between two.
fn synchronous(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    let level = match durability {
        Durability::Crash => "NORMAL",
        Durability::PowerCut => "FULL",
    };
    connection.pragma_update(None, "synchronous", level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_was_emptied_in_use_breaks_at_once_and_waits_for_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("memory.db");
        let memory = Memory::open(&file).unwrap();
        let emptied = fs::OpenOptions::new().write(true).open(&file).unwrap();
        emptied.set_len(0).unwrap();
        let error = memory.another().unwrap_err().to_string();
        assert!(error.contains("emptied while in use"), "{error}");
        assert!(memory.is_broken());
    }

    #[test]
    fn what_breaks_one_connection_is_known_to_the_one_it_was_made_from() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("memory.db");
        let memory = Memory::open(&file).unwrap();
        let another = memory.another().unwrap();
        assert!(!memory.is_broken());
        let corrupt = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        let error = rusqlite::Error::SqliteFailure(corrupt, None);
        let read = another.read("read", |_| Err::<(), _>(error));
        assert!(read.is_err());
        assert!(memory.is_broken());
    }
}
