//! Between our values and `SQLite`'s, whose only integer is `i64`.

use jiff::Timestamp;
use rusqlite::types::Type;
use serde::de::DeserializeOwned;

/// Stores a count; what exceeds `SQLite`'s integers is kept at their highest.
pub(super) fn int(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Stores a time in milliseconds, the precision of transcripts.
pub(super) fn millis(time: Timestamp) -> i64 {
    time.as_millisecond()
}

pub(super) fn time(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    let stored: i64 = row.get(column)?;
    Timestamp::from_millisecond(stored)
        .map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, stored))
}

/// Reads column `column` as a count; a negative one, which we never write, is 0.
pub(super) fn counted(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get(column)
        .map(|stored: i64| u64::try_from(stored).unwrap_or(0))
}

/// Reads column `column` as JSON that may be missing.
pub(super) fn json<T: DeserializeOwned>(
    row: &rusqlite::Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<T>> {
    let stored: Option<String> = row.get(column)?;
    stored
        .map(|text| serde_json::from_str(&text))
        .transpose()
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, e.into()))
}

/// Reads column `column` as one of a closed set of words.
pub(super) fn word<T>(
    row: &rusqlite::Row<'_>,
    column: usize,
    parse: impl FnOnce(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let stored: String = row.get(column)?;
    parse(&stored).ok_or_else(|| {
        let reason = format!("unknown word `{stored}`");
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, reason.into())
    })
}
