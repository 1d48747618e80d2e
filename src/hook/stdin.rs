//! Reads the one JSON value that the client sends, without trusting it to end.

use std::io::{self, Read as _};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::de::IgnoredAny;

/// The most that is read.
const MAX_INPUT: usize = 8 << 20;
/// How long we wait for it.
const MAX_WAIT: Duration = Duration::from_millis(500);
/// Bytes read at a time.
const CHUNK: usize = 64 << 10;

/// Reads stdin until a whole value has arrived, or the end, or the limits.
///
/// What has arrived by then is returned: an incomplete value is the parser's to refuse.
pub(super) fn read() -> io::Result<Vec<u8>> {
    let stdin = io::stdin();
    let deadline = Instant::now() + MAX_WAIT;
    let mut bytes = Vec::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if !is_readable(&stdin, left)? {
            return Ok(bytes);
        }
        let n = stdin.lock().read(&mut chunk)?;
        bytes.extend_from_slice(&chunk[..n]);
        if n == 0 || is_whole(&bytes) {
            return Ok(bytes);
        }
        if bytes.len() > MAX_INPUT {
            return Err(io::Error::other(format!("more than {MAX_INPUT} bytes")));
        }
    }
}

fn is_readable(stdin: &io::Stdin, wait: Duration) -> io::Result<bool> {
    let timeout = Timespec::try_from(wait).map_err(io::Error::other)?;
    let mut fds = [PollFd::new(stdin, PollFlags::IN)];
    match poll(&mut fds, Some(&timeout)) {
        Ok(n) => Ok(n > 0),
        Err(rustix::io::Errno::INTR) => Ok(true),
        Err(e) => Err(e.into()),
    }
}

/// Tells whether a value is complete; only asked when the last byte can end one.
fn is_whole(bytes: &[u8]) -> bool {
    bytes.trim_ascii_end().last() == Some(&b'}')
        && serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}
