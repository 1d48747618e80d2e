//! Masks a stream of any length in bounded memory.

use std::io::{self, BufRead, Write};

use super::{Counts, Masker};

/// How much is held and masked at a time.
const WINDOW: usize = 1 << 20;
/// How much of a window's end waits for what follows it: secrets may go on there.
const OVERLAP: usize = 64 << 10;

/// Why a stream was not masked to its end.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The input.
    #[error("could not read the input: {0}")]
    Read(io::Error),
    /// The output.
    #[error("could not write the output: {0}")]
    Write(#[source] io::Error),
}

/// Copies `input` to `output` without its secrets, and counts them by rule.
///
/// What is no UTF-8 becomes U+FFFD. A secret longer than 64 KB, or whose name stands
/// farther from it, can be missed where two windows meet; windows meet at line breaks
/// wherever there are any.
pub fn filter(
    masker: &Masker,
    mut input: impl BufRead,
    mut output: impl Write,
) -> Result<Counts, StreamError> {
    let mut counts = Counts::new();
    let mut held: Vec<u8> = Vec::new();
    loop {
        let chunk = input.fill_buf().map_err(StreamError::Read)?;
        let length = chunk.len();
        held.extend_from_slice(chunk);
        input.consume(length);
        if length > 0 && held.len() < WINDOW {
            continue;
        }
        let is_end = length == 0;
        let whole = if is_end { held.len() } else { whole(&held) };
        let text = String::from_utf8_lossy(&held[..whole]);
        let passed = if is_end {
            masker.mask_counting(&text, &mut counts).into_owned()
        } else {
            let cut = masker.safe_cut(&text, text.len().saturating_sub(OVERLAP));
            let passed = masker.mask_counting(&text[..cut], &mut counts).into_owned();
            let mut rest = text.as_bytes()[cut..].to_vec();
            rest.extend_from_slice(&held[whole..]);
            held = rest;
            passed
        };
        output
            .write_all(passed.as_bytes())
            .map_err(StreamError::Write)?;
        if is_end {
            output.flush().map_err(StreamError::Write)?;
            return Ok(counts);
        }
    }
}

/// How many bytes hold whole characters; the rest of the last one may be still to come.
fn whole(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(4);
    match std::str::from_utf8(&bytes[tail..]) {
        Ok(_) => bytes.len(),
        Err(e) if e.error_len().is_none() => tail + e.valid_up_to(),
        Err(_) => bytes
            .iter()
            .rposition(|b| b & 0xC0 != 0x80)
            .filter(|start| bytes.len() - start < 4 && bytes[*start] >= 0xC0)
            .unwrap_or(bytes.len()),
    }
}
