//! Limits how often something happens: an injection, a notice to the user, a hint.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use crate::fsx::lock::try_lock;
use crate::fsx::{self, FsError};

/// Returns `true` the first time; of several simultaneous hooks, exactly one gets it.
pub(super) fn is_first(file: &Path) -> Result<bool, FsError> {
    if let Some(folder) = file.parent() {
        fsx::ensure_dir(folder)?;
    }
    fsx::mark_new(file)
}

/// Returns `true` if `pause` has passed since the last `true`. Of several simultaneous hooks, one
/// gets `true`; if nothing can be recorded, all do.
pub fn is_due(file: &Path, now: Timestamp, pause: SignedDuration) -> bool {
    let mut is_due = false;
    // The closure cannot fail.
    _ = unless_done(file, now, pause, "", || {
        is_due = true;
        Ok(())
    });
    is_due
}

/// The time that the second of two simultaneous hooks waits for the first.
const PATIENCE: Duration = Duration::from_millis(200);
const LOOK: Duration = Duration::from_millis(1);
/// The longest record of a time and an action, in bytes.
const LONGEST: usize = 1 << 10;

/// Makes one of two simultaneous hooks wait for the other, and act if that one failed or was killed.
pub(super) fn unless_done(
    file: &Path,
    now: Timestamp,
    pause: SignedDuration,
    what: &str,
    act: impl FnOnce() -> Result<(), FsError>,
) -> Result<(), FsError> {
    // Doing it twice is better than not at all.
    let Some(handle) = locked(file) else {
        return act();
    };
    let mut bytes = [0; LONGEST];
    let length = handle.read_at(&mut bytes, 0).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[..length]);
    let last = text.split_once(' ').filter(|(_, last)| *last == what);
    if last.is_some_and(|(at, _)| is_within(at, now, pause)) {
        return Ok(());
    }
    act()?;
    let new = format!("{} {what}", now.as_millisecond());
    // The action counts even if it cannot be recorded. A truncated file would be flushed to disk on
    // close, which takes longer than everything else here. So the new text overwrites the old, and
    // only a longer rest is cut off.
    _ = handle.write_all_at(new.as_bytes(), 0).and_then(|()| {
        if new.len() < length {
            handle.set_len(new.len() as u64)?;
        }
        Ok(())
    });
    Ok(())
}

fn locked(file: &Path) -> Option<File> {
    fsx::ensure_dir(file.parent()?).ok()?;
    let handle = fsx::open_lock_file(file).ok()?;
    let deadline = Instant::now() + PATIENCE;
    while !try_lock(&handle).ok()? {
        if Instant::now() >= deadline {
            return None;
        }
        std::thread::sleep(LOOK);
    }
    Some(handle)
}

fn is_within(at: &str, now: Timestamp, pause: SignedDuration) -> bool {
    // Of two simultaneous hooks, the second may have read the clock first.
    let apart = at
        .trim()
        .parse::<i64>()
        .map(|at| now.as_millisecond().abs_diff(at));
    apart.is_ok_and(|apart| u128::from(apart) < pause.unsigned_abs().as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsx::FsContext as _;

    #[test]
    fn yes_once_in_a_while_and_again_after_the_clock_went_back() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        let at = |s| Timestamp::from_second(s).unwrap();
        let pause = SignedDuration::from_secs(10);
        let answers: Vec<_> = [100, 105, 109, 110, 50, 55, 49]
            .map(|s| is_due(&file, at(s), pause))
            .into();
        assert_eq!(answers, [true, false, false, true, true, false, false]);
    }

    #[test]
    fn of_many_that_come_at_once_one_acts_and_what_failed_is_done_by_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        let now = Timestamp::from_second(100).unwrap();
        let pause = SignedDuration::from_secs(10);
        let acts = std::sync::atomic::AtomicU32::new(0);
        let act = |what: &str| {
            unless_done(&file, now, pause, what, || {
                match acts.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
                    0 => Err(std::io::Error::other("no")).context("do", &file),
                    _ => Ok(()),
                }
            })
        };
        let failed: usize = std::thread::scope(|s| {
            let all: Vec<_> = (0..16).map(|_| s.spawn(|| act("a"))).collect();
            all.into_iter()
                .map(|one| usize::from(one.join().unwrap().is_err()))
                .sum()
        });
        assert_eq!(
            (failed, acts.load(std::sync::atomic::Ordering::Relaxed)),
            (1, 2)
        );
        act("b").unwrap();
        assert_eq!(acts.into_inner(), 3, "something else is done as well");
    }
}
