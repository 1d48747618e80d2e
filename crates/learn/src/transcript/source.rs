//! Where the bytes of a transcript come from.

use std::io::{self, Read};

/// Bytes of a transcript; who opens a file knows of its holes.
///
/// A sparse file may claim to have any size. Its holes read as zeros, which are no record;
/// inside a line that is too long anyway they are jumped over instead of read.
pub trait TranscriptSource: Read {
    /// Moves to the next byte that is not in a hole; returns how many were jumped over.
    fn skip_hole(&mut self) -> io::Result<u64> {
        Ok(0)
    }
}

impl TranscriptSource for &[u8] {}
