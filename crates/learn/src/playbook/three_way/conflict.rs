//! Finds the two sides of a file in which version control left conflict markers.

/// The least length of a marker; where merges are nested, those outside are longer.
const MIN_MARKER: usize = 7;

/// The versions that a file with conflict markers was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sides {
    /// The file as this side would have it.
    pub ours: Vec<u8>,
    /// The file as the other side would have it.
    pub theirs: Vec<u8>,
    /// The file before both, where every conflict says what that was.
    pub base: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConflictPart {
    Common,
    Ours,
    Base,
    Theirs,
}

/// Returns true if a file has conflict markers, be they whole or not. No playbook has a line that
/// begins so.
pub fn has_markers(file: &[u8]) -> bool {
    let has = |wanted: u8| {
        let mut lines = file.split(|byte| *byte == b'\n');
        lines.any(|line| marker(line).is_some_and(|(first, _)| first == wanted))
    };
    has(b'<') && has(b'>')
}

/// Takes a file with conflict markers apart; `None` where it has none that are whole.
///
/// A marker is the same character seven times or more at the beginning of a line, and then a
/// space or the end of the line. No line within a string of a JSON file begins so: a string has
/// no line break.
pub fn sides(file: &[u8]) -> Option<Sides> {
    use ConflictPart::{Base, Common, Ours, Theirs};
    let [mut ours, mut base, mut theirs] = [const { Vec::new() }; 3];
    let (mut part, mut length) = (Common, 0);
    let (mut conflicts, mut bases) = (0, 0);
    for line in file.split_inclusive(|byte| *byte == b'\n') {
        let marker = marker(line).filter(|(_, found)| part == Common || *found == length);
        part = match (marker, part) {
            (Some((b'<', found)), Common) => {
                length = found;
                conflicts += 1;
                Ours
            }
            (Some((b'|', _)), Ours) => {
                bases += 1;
                Base
            }
            (Some((b'=', _)), Ours | Base) => Theirs,
            (Some((b'>', _)), Theirs) => Common,
            (Some(_), _) => return None,
            (None, part) => {
                for (file, own) in [(&mut ours, Ours), (&mut base, Base), (&mut theirs, Theirs)] {
                    if part == Common || part == own {
                        file.extend_from_slice(line);
                    }
                }
                part
            }
        };
    }
    (part == Common && conflicts > 0).then(|| Sides {
        ours,
        theirs,
        base: (bases == conflicts).then_some(base),
    })
}

/// Returns the character of a marker line and the marker's length.
fn marker(line: &[u8]) -> Option<(u8, usize)> {
    let first = *line.first()?;
    let length = line.iter().take_while(|byte| **byte == first).count();
    let is_marker = b"<|=>".contains(&first)
        && length >= MIN_MARKER
        && line[length..].first().is_none_or(u8::is_ascii_whitespace);
    is_marker.then_some((first, length))
}
