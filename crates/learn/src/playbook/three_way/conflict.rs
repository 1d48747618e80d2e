//! Separates the two sides of a file with conflict markers of version control.

/// The least length of a marker; nested merges use longer ones outside.
const MIN_MARKER: usize = 7;

/// The versions in a file with conflict markers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sides {
    pub ours: Vec<u8>,
    pub theirs: Vec<u8>,
    /// The common ancestor, if every conflict includes it.
    pub base: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConflictPart {
    Common,
    Ours,
    Base,
    Theirs,
}

/// Returns `true` if a file has conflict markers, even incomplete ones. No line of a playbook
/// begins like one.
pub fn has_markers(file: &[u8]) -> bool {
    let has = |wanted: u8| {
        let mut lines = file.split(|byte| *byte == b'\n');
        lines.any(|line| marker(line).is_some_and(|(first, _)| first == wanted))
    };
    has(b'<') && has(b'>')
}

/// Separates the sides of a file; `None` without complete conflict markers.
///
/// A marker is the same character seven times or more at the beginning of a line, followed by a
/// space or the end of the line. No line within a JSON string begins like that, since a string has
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

fn marker(line: &[u8]) -> Option<(u8, usize)> {
    let first = *line.first()?;
    let length = line.iter().take_while(|byte| **byte == first).count();
    let is_marker = b"<|=>".contains(&first)
        && length >= MIN_MARKER
        && line[length..].first().is_none_or(u8::is_ascii_whitespace);
    is_marker.then_some((first, length))
}
