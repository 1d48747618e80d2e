//! The logs as files: who writes a line needs no more than the folder of state.

use jiff::Timestamp;

use crate::fsx;
use crate::paths::Paths;
use crate::rfc3339;

/// What went wrong, one line each.
pub const LOG: &str = "playbook.log";
/// The number of bytes that a log has before it is put aside.
pub const MAX_LOG: u64 = 10 << 20;

/// Writes a line to the log: time, who, what. These are words of our own and names of our own
/// files, in which no secret can be: nothing here is masked.
pub fn note(paths: &Paths, now: Timestamp, who: &str, what: &str) {
    let what = what.replace(['\n', '\r'], " ");
    append(
        paths,
        LOG,
        &format!("{} {who}: {what}", rfc3339::millis(now)),
    );
}

/// Appends a line to a log. One that cannot be written is no error: it is no job.
pub fn append(paths: &Paths, log: &str, text: &str) {
    // Of a state folder that was taken away nothing is made anew.
    if paths.state().is_dir() {
        _ = fsx::ensure_dir(&paths.logs());
        _ = fsx::append_line(&paths.log(log), text, MAX_LOG);
    }
}
