//! The log files; writing needs no more than the state folder.

use jiff::Timestamp;

use crate::fsx;
use crate::paths::Paths;
use crate::rfc3339;

/// The log of errors, one line each.
pub const LOG: &str = "playbook.log";
/// The size in bytes at which a log is rotated.
pub const MAX_LOG: u64 = 10 << 20;

/// Masks nothing: these are our own words and file names, which hold no secrets.
pub fn note(paths: &Paths, now: Timestamp, who: &str, what: &str) {
    let what = what.replace(['\n', '\r'], " ");
    append(
        paths,
        LOG,
        &format!("{} {who}: {what}", rfc3339::millis(now)),
    );
}

/// Appends a line to a log, ignoring errors: a job must not fail for its log.
pub fn append(paths: &Paths, log: &str, text: &str) {
    // A state folder that was removed is not recreated.
    if paths.state().is_dir() {
        _ = fsx::ensure_dir(&paths.logs());
        _ = fsx::append_line(&paths.log(log), text, MAX_LOG);
    }
}
