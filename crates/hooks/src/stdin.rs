//! Reads the client's one JSON object without relying on it to end.

use std::io;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

const MAX_INPUT: usize = 8 << 20;
const MAX_WAIT: Duration = Duration::from_millis(500);
const CHUNK: usize = 64 << 10;
/// The number of reads of already received input after the deadline: a process without CPU time
/// must not lose it.
const MAX_LATE: usize = MAX_INPUT / CHUNK;

/// Returns what has arrived up to the object's end or a limit: the parser refuses an incomplete
/// value.
pub(super) fn read() -> io::Result<Vec<u8>> {
    let stdin = io::stdin();
    let deadline = Instant::now() + MAX_WAIT;
    let mut late = 0;
    let mut bytes = Vec::new();
    let mut object = Object::default();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        late += usize::from(left.is_zero());
        if late > MAX_LATE || !is_readable(&stdin, left)? {
            return Ok(bytes);
        }
        // Reads into uninitialized memory: zeroing a chunk first would take a twentieth of a hook's
        // time.
        bytes.reserve(CHUNK);
        let n = match rustix::io::read(&stdin, spare_capacity(&mut bytes)) {
            Err(rustix::io::Errno::INTR) => continue,
            read => read?,
        };
        if n == 0 || object.ends_in(&bytes[bytes.len() - n..]) {
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

/// Examines each byte once.
#[derive(Debug, Default)]
struct Object {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
}

impl Object {
    /// Consumes the bytes; returns `true` if the object ends in them.
    fn ends_in(&mut self, bytes: &[u8]) -> bool {
        bytes.iter().any(|byte| self.ends_with(*byte))
    }

    fn ends_with(&mut self, byte: u8) -> bool {
        match byte {
            _ if std::mem::take(&mut self.is_escaped) => {}
            b'\\' if self.is_in_string => self.is_escaped = true,
            b'"' => self.is_in_string = !self.is_in_string,
            _ if self.is_in_string => {}
            b'{' => self.depth += 1,
            b'}' => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::empty("{}", Some(2))]
    #[case::nested(r#" {"a": {"b": [{}]}} "#, Some(19))]
    #[case::braces_in_a_string(r#"{"a": "}{", "b": 1}"#, Some(19))]
    #[case::quotes_in_a_string(r#"{"a": "\"}", "b\\": 1}"#, Some(22))]
    #[case::half(r#"{"a": {}"#, None)]
    #[case::in_a_string(r#"{"a": "}"#, None)]
    #[case::another_after_it("{},{}", Some(2))]
    #[case::no_object("[1, 2]", None)]
    #[case::nothing(" \n", None)]
    fn an_object_ends_with_its_brace_however_it_arrives(
        #[case] text: &str,
        #[case] end: Option<usize>,
    ) {
        for size in 1..=text.len() {
            let mut object = Object::default();
            let mut chunks = text.as_bytes().chunks(size);
            let chunk = chunks.position(|chunk| object.ends_in(chunk));
            assert_eq!(chunk, end.map(|end| (end - 1) / size), "{size}");
        }
    }
}
