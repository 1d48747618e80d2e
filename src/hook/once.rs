//! Things that happen once, or once in a while: an injection, a notice to the user, a hint.

use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use crate::fsx::{self, Context as _, FsError};

/// Tells whether this is the first time, and remembers having been asked: `file` is made.
///
/// Of several hooks that ask at once, one is told yes.
pub(super) fn is_first(file: &Path) -> Result<bool, FsError> {
    if let Some(folder) = file.parent() {
        fsx::ensure_dir(folder)?;
    }
    fsx::create_new(file, b"")
}

/// Tells whether `pause` has passed since this last said yes, and remembers saying it.
///
/// The time stands in `file`, which is locked while it is asked: of two hooks that ask
/// at once, one is told yes.
pub(super) fn ask(file: &Path, now: Timestamp, pause: SignedDuration) -> Result<bool, FsError> {
    if let Some(folder) = file.parent() {
        fsx::ensure_dir(folder)?;
    }
    let mut handle = fsx::open_lock_file(file)?;
    if fs2::FileExt::try_lock_exclusive(&handle).is_err() {
        return Ok(false);
    }
    let answer = (|| {
        let mut text = String::new();
        handle.read_to_string(&mut text)?;
        if let Ok(last) = text.trim().parse::<i64>()
            && let age = now.as_millisecond().saturating_sub(last)
            && (0..i64::try_from(pause.as_millis()).unwrap_or(i64::MAX)).contains(&age)
        {
            return Ok(false);
        }
        handle.rewind()?;
        handle.set_len(0)?;
        handle.write_all(now.as_millisecond().to_string().as_bytes())?;
        Ok(true)
    })();
    answer.context("update", file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_once_in_a_while_and_again_after_the_clock_went_back() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        let at = |s| Timestamp::from_second(s).unwrap();
        let pause = SignedDuration::from_secs(10);
        let answers: Vec<_> = [100, 105, 109, 110, 50, 55]
            .map(|s| ask(&file, at(s), pause).unwrap())
            .into();
        assert_eq!(answers, [true, false, false, true, true, false]);
    }

    #[test]
    fn of_many_that_ask_at_once_one_is_told_yes() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        let now = Timestamp::from_second(100).unwrap();
        let yes: usize = std::thread::scope(|s| {
            let asks: Vec<_> = (0..16)
                .map(|_| s.spawn(|| ask(&file, now, SignedDuration::from_secs(10)).unwrap()))
                .collect();
            asks.into_iter()
                .map(|a| usize::from(a.join().unwrap()))
                .sum()
        });
        assert_eq!(yes, 1);
    }
}
