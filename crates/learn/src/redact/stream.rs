//! Masks a stream of any length in bounded memory.

use std::io::{self, BufRead, Write};

use super::{Counts, Masker, private};

/// The most that is held and masked at a time, where no secret is longer.
const WINDOW_BYTES: usize = 1 << 20;
/// The part of a window, at its end, that is masked with the next one, as a secret may reach into it.
const OVERLAP: usize = 16;

const ESCAPE: u8 = 0x1b;

/// The reason why a stream was not masked to its end.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    #[error("could not read the input: {0}")]
    Read(io::Error),
    #[error("could not write the output: {0}")]
    Write(#[source] io::Error),
}

/// Copies `input` to `output` without its secrets, and counts them by rule.
///
/// The colours of a terminal are dropped, as they can part a name from its value. Bytes that are
/// no UTF-8 become U+FFFD. A private part may have any length. A secret that is longer than
/// 64 KB, or farther from its name, can be missed where two windows meet. Windows meet at line
/// breaks, else behind a secret or a blank.
pub fn filter(
    masker: &Masker,
    input: impl BufRead,
    output: impl Write,
) -> Result<Counts, StreamError> {
    filter_in(WINDOW_BYTES, masker, input, output)
}

/// Does the same in windows of a size.
pub(super) fn filter_in(
    size: usize,
    masker: &Masker,
    mut input: impl BufRead,
    mut output: impl Write,
) -> Result<Counts, StreamError> {
    let mut counts = Counts::new();
    let mut held: Vec<u8> = Vec::new();
    let mut colours = Colours::default();
    // The number of open private parts whose beginning has been written.
    let mut depth = 0;
    let mut window = size;
    loop {
        let chunk = input.fill_buf().map_err(StreamError::Read)?;
        let length = chunk.len();
        colours.drop_from(chunk, &mut held);
        input.consume(length);
        if length > 0 && held.len() < window {
            continue;
        }
        let is_end = length == 0;
        if is_end {
            colours.end(&mut held);
        }
        let whole = if is_end { held.len() } else { whole(&held) };
        let text = String::from_utf8_lossy(&held[..whole]);
        let mut text = text.as_ref();
        if depth > 0 {
            text = match private::close(text, &mut depth) {
                Some(end) => &text[end..],
                None => private::begun_tag(text),
            };
        }
        let (passed, rest) = if depth > 0 {
            (String::new(), text)
        } else if is_end {
            (masker.mask_counting(text, &mut counts).into_owned(), "")
        } else {
            let wanted = text.len().saturating_sub(size / OVERLAP);
            let (passed, cut) = masker.mask_part(text, wanted, &mut counts);
            if let Some(cut) = cut {
                (passed, &text[cut..])
            } else {
                private::close(text, &mut depth);
                (passed, private::begun_tag(text))
            }
        };
        output
            .write_all(passed.as_bytes())
            .map_err(StreamError::Write)?;
        if is_end {
            output.flush().map_err(StreamError::Write)?;
            return Ok(counts);
        }
        let mut next = rest.as_bytes().to_vec();
        next.extend_from_slice(&held[whole..]);
        held = next;
        // What is kept is read again, so that a secret that goes on takes linear time.
        window = size.max(2 * held.len());
    }
}

/// Returns the number of bytes that are whole characters. More of the last one may follow.
fn whole(bytes: &[u8]) -> usize {
    let last = bytes
        .iter()
        .rposition(|b| b & 0xC0 != 0x80)
        .unwrap_or_default();
    let read = std::str::from_utf8(&bytes[last..]);
    let is_begun = read.is_err_and(|e| e.error_len().is_none());
    if is_begun { last } else { bytes.len() }
}

/// The position of a stream in a control sequence, such as `ESC [ 3 1 m`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Colours {
    #[default]
    Outside,
    /// Just behind an escape character.
    Escape,
    /// Behind `ESC [`.
    Sequence,
}

impl Colours {
    /// Adds the next bytes of the stream to `kept`, without the sequences in them.
    pub(super) fn drop_from(&mut self, bytes: &[u8], kept: &mut Vec<u8>) {
        for byte in bytes {
            *self = match (*self, byte) {
                (Self::Escape, b'[') | (Self::Sequence, b' '..=b'?') => Self::Sequence,
                (Self::Sequence, b'@'..=b'~') => Self::Outside,
                (_, &ESCAPE) => {
                    self.end(kept);
                    Self::Escape
                }
                _ => {
                    self.end(kept);
                    kept.push(*byte);
                    Self::Outside
                }
            };
        }
    }

    /// Adds an escape character that nothing followed, or no sequence.
    pub(super) fn end(&mut self, kept: &mut Vec<u8>) {
        if *self == Self::Escape {
            kept.push(ESCAPE);
        }
        *self = Self::Outside;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    fn kept(chunks: &[&[u8]]) -> Vec<u8> {
        let (mut colours, mut kept) = (Colours::default(), Vec::new());
        for chunk in chunks {
            colours.drop_from(chunk, &mut kept);
        }
        colours.end(&mut kept);
        kept
    }

    #[rstest]
    #[case::colours(b"a\x1b[1;31mb\x1b[0mc", b"abc")]
    #[case::no_sequence(b"a\x1b]8;;x\x1b\x1b[mb\x1b", b"a\x1b]8;;x\x1bb\x1b")]
    #[case::broken_off(b"a\x1b[31\nb\x1b[3", b"a\nb")]
    fn all_else_stays(#[case] text: &[u8], #[case] want: &[u8]) {
        assert_eq!(kept(&[text]), want);
    }

    proptest! {
        #[test]
        fn it_matters_not_where_a_chunk_ends(text in "[\x1b\\[3ma]{0,20}", at in 0_usize..20) {
            let text = text.as_bytes();
            let (head, tail) = text.split_at(at.min(text.len()));
            prop_assert_eq!(kept(&[head, tail]), kept(&[text]));
        }
    }
}
