//! Finds the two sides of a file in which version control left conflict markers.

use std::ops::ControlFlow;

/// The least length of a marker; where merges are nested, those outside are longer.
const LEAST: usize = 7;

/// What a file with conflict markers was made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sides {
    /// The file as this side would have it.
    pub ours: Vec<u8>,
    /// The file as the other side would have it.
    pub theirs: Vec<u8>,
    /// The file before both, where every conflict says what that was.
    pub base: Option<Vec<u8>>,
}

/// Where a line stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ConflictPart {
    #[default]
    Common,
    Ours,
    Base,
    Theirs,
}

/// Tells whether a file has conflict markers, be they whole or not. No playbook has a line that
/// begins so.
pub fn has_markers(file: &[u8]) -> bool {
    let is_there = |wanted: u8| {
        let mut lines = file.split(|byte| *byte == b'\n');
        lines.any(|line| marker(line).is_some_and(|(first, _)| first == wanted))
    };
    is_there(b'<') && is_there(b'>')
}

/// Takes a file with conflict markers apart; `None` where it has none that are whole.
///
/// A marker is the same character seven times or more at the beginning of a line, and then a
/// space or the end of the line. No line within a string of a JSON file begins so: a string has
/// no line break.
pub fn sides(file: &[u8]) -> Option<Sides> {
    let mut found = FoundConflict::default();
    let lines = file.split_inclusive(|byte| *byte == b'\n');
    let read = lines.into_iter().try_for_each(|line| found.read(line));
    let is_whole = read.is_continue() && found.part == ConflictPart::Common && found.conflicts > 0;
    is_whole.then(|| Sides {
        base: (found.bases == found.conflicts).then_some(found.base),
        ours: found.ours,
        theirs: found.theirs,
    })
}

#[derive(Default)]
struct FoundConflict {
    part: ConflictPart,
    /// How long the markers of this conflict are.
    length: usize,
    conflicts: usize,
    bases: usize,
    ours: Vec<u8>,
    base: Vec<u8>,
    theirs: Vec<u8>,
}

impl FoundConflict {
    fn read(&mut self, line: &[u8]) -> ControlFlow<()> {
        let marker = marker(line).filter(|(_, length)| match self.part {
            ConflictPart::Common => true,
            _ => *length == self.length,
        });
        match (marker, self.part) {
            (Some((b'<', length)), ConflictPart::Common) => {
                self.part = ConflictPart::Ours;
                self.length = length;
                self.conflicts += 1;
            }
            (Some((b'|', _)), ConflictPart::Ours) => {
                self.part = ConflictPart::Base;
                self.bases += 1;
            }
            (Some((b'=', _)), ConflictPart::Ours | ConflictPart::Base) => {
                self.part = ConflictPart::Theirs;
            }
            (Some((b'>', _)), ConflictPart::Theirs) => self.part = ConflictPart::Common,
            (Some(_), _) => return ControlFlow::Break(()),
            (None, _) => self.keep(line),
        }
        ControlFlow::Continue(())
    }

    fn keep(&mut self, line: &[u8]) {
        let files: &mut [&mut Vec<u8>] = match self.part {
            ConflictPart::Common => &mut [&mut self.ours, &mut self.base, &mut self.theirs],
            ConflictPart::Ours => &mut [&mut self.ours],
            ConflictPart::Base => &mut [&mut self.base],
            ConflictPart::Theirs => &mut [&mut self.theirs],
        };
        for file in files {
            file.extend_from_slice(line);
        }
    }
}

/// The character of a marker line and how often it stands there.
fn marker(line: &[u8]) -> Option<(u8, usize)> {
    let first = *line.first()?;
    let length = line.iter().take_while(|byte| **byte == first).count();
    let is_marker = b"<|=>".contains(&first)
        && length >= LEAST
        && line[length..].first().is_none_or(u8::is_ascii_whitespace);
    is_marker.then_some((first, length))
}
