//! Finds names in the files of one commit, in one pass.

use std::collections::{HashMap, HashSet};

use aho_corasick::AhoCorasick;

use super::count::Count;
use super::manifest::{self, declared, of_place};
use super::names::PointName;
use crate::transcript::words::{DEFINES, NOT_LOOKED_THROUGH, PAGES};

/// A file with a zero byte in so many first ones is no text.
const TELLS_BINARY: usize = 8 << 10;

/// What is looked for.
#[derive(Debug)]
pub struct Search<'n> {
    names: &'n HashSet<PointName>,
    paths: HashSet<&'n str>,
    words: Vec<&'n PointName>,
    finder: Option<AhoCorasick>,
    has_targets: bool,
}

/// What was found of it, in some of the files or in all.
#[derive(Debug, Clone, Default)]
pub struct FoundIn {
    standing: HashSet<PointName>,
    counts: HashMap<PointName, Count>,
    lacks_manifest: bool,
    /// Whether the text of a file was left out.
    lacks_text: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    /// It is there, an identifier so often.
    There(Count),
    Absent,
    /// Not all that could have told was read.
    Unknown,
}

impl<'n> Search<'n> {
    /// A search for `names`.
    pub fn new(names: &'n HashSet<PointName>) -> Self {
        let mut words: Vec<&PointName> = Vec::new();
        let mut patterns: Vec<&str> = Vec::new();
        let mut paths = HashSet::new();
        for name in names {
            match name {
                PointName::Path(path) => _ = paths.insert(path.as_str()),
                PointName::Word(word) | PointName::Defined(word) => {
                    words.push(name);
                    patterns.push(word);
                }
                PointName::Target(..) | PointName::Program(_) => {}
            }
        }
        let finder = (!patterns.is_empty()).then(|| AhoCorasick::new(&patterns));
        Self {
            has_targets: names
                .iter()
                .any(|name| matches!(name, PointName::Target(..) | PointName::Program(_))),
            names,
            paths,
            words,
            // Only patterns beyond all bounds cannot be compiled; then no word is judged.
            finder: finder.and_then(Result::ok),
        }
    }

    /// Takes note of a file that there is.
    pub fn file(&self, path: &str, found: &mut FoundIn) {
        let ends = |at: usize| at == path.len() || path.as_bytes()[at] == b'/';
        let slashes = path.match_indices('/').map(|(at, _)| at + 1);
        for start in std::iter::once(0).chain(slashes) {
            for end in (start + 1..=path.len()).filter(|&end| ends(end)) {
                if let Some(&known) = self.paths.get(&path[start..end]) {
                    let name = PointName::Path(known.to_owned());
                    found.standing.insert(name);
                }
            }
        }
        found.stands(self, of_place(path));
        found.lacks_text |= self.finder.is_none() && !self.words.is_empty();
    }

    /// Tells whether the text of a file may say something.
    pub fn wants(&self, path: &str) -> bool {
        (self.has_targets && manifest::is_manifest(path))
            || (self.finder.is_some() && ending(path).is_none_or(|e| !NOT_LOOKED_THROUGH.has(e)))
    }

    /// Looks through the text of a file.
    pub fn text(&self, path: &str, bytes: &[u8], found: &mut FoundIn) {
        let start = &bytes[..bytes.len().min(TELLS_BINARY)];
        if memchr::memchr(0, start).is_some() {
            return;
        }
        if self.has_targets && manifest::is_manifest(path) {
            match std::str::from_utf8(bytes).map(|text| declared(path, text)) {
                Ok(Ok(names)) => found.stands(self, names),
                Ok(Err(_)) | Err(_) => found.lacks_manifest = true,
            }
        }
        let Some(finder) = self.finder.as_ref() else {
            return;
        };
        let mut uses: HashMap<usize, u32> = HashMap::new();
        for hit in finder.find_overlapping_iter(bytes) {
            let name = self.words[hit.pattern().as_usize()];
            let (before, after) = (&bytes[..hit.start()], &bytes[hit.end()..]);
            let is_whole = !before.last().copied().is_some_and(is_inside)
                && !after.first().copied().is_some_and(is_inside);
            if is_whole && (matches!(name, PointName::Word(_)) || is_defined(before)) {
                *uses.entry(hit.pattern().as_usize()).or_default() += 1;
            }
        }
        // A name without an ending in capitals is a page: CHANGELOG, README.
        let is_prose = ending(path).is_none_or(|ending| PAGES.has(ending));
        for (word, uses) in uses {
            let count = found.counts.entry(self.words[word].clone()).or_default();
            *count = count.plus(Count::of_file(uses, is_prose));
        }
    }
}

impl FoundIn {
    /// Takes note that the text of a file could not be looked through.
    pub fn lacks(&mut self, path: &str) {
        self.lacks_text = true;
        self.lacks_manifest |= manifest::is_manifest(path);
    }

    /// Adds what was found in other files.
    pub fn join(&mut self, other: Self) {
        self.standing.extend(other.standing);
        for (name, more) in other.counts {
            let count = self.counts.entry(name).or_default();
            *count = count.plus(more);
        }
        self.lacks_manifest |= other.lacks_manifest;
        self.lacks_text |= other.lacks_text;
    }

    fn stands(&mut self, search: &Search<'_>, names: impl IntoIterator<Item = PointName>) {
        self.standing
            .extend(names.into_iter().filter(|name| search.names.contains(name)));
    }

    pub(super) fn of(&self, name: &PointName) -> Sight {
        let is_word = matches!(name, PointName::Word(_) | PointName::Defined(_));
        let is_told = match name {
            PointName::Path(_) => true,
            PointName::Target(..) | PointName::Program(_) => !self.lacks_manifest,
            PointName::Word(_) | PointName::Defined(_) => !self.lacks_text,
        };
        match self.counts.get(name) {
            _ if self.standing.contains(name) => Sight::There(Count::default()),
            _ if !is_told => Sight::Unknown,
            Some(&count) if is_word => Sight::There(count),
            _ => Sight::Absent,
        }
    }
}

fn ending(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    name.rsplit_once('.').map(|(_, ending)| ending)
}

fn is_inside(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Tells whether what follows is being defined.
fn is_defined(before: &[u8]) -> bool {
    let head = before.trim_ascii_end();
    let start = head
        .iter()
        .rposition(|byte| !is_inside(*byte))
        .map_or(0, |at| at + 1);
    let word = std::str::from_utf8(&head[start..]);
    head.len() < before.len() && word.is_ok_and(|word| DEFINES.has(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::freshness::names_in;
    use rstest::rstest;

    /// Which of the names in a text are found in files, with the number of files.
    fn found(text: &str, files: &[(&str, &str)]) -> Vec<String> {
        let names: HashSet<PointName> = names_in(text).into_iter().collect();
        let search = Search::new(&names);
        let mut found = FoundIn::default();
        for (path, text) in files {
            search.file(path, &mut found);
            if search.wants(path) {
                search.text(path, text.as_bytes(), &mut found);
            }
        }
        let mut told: Vec<String> = names
            .iter()
            .filter_map(|name| match found.of(name) {
                Sight::There(count) if count == Count::default() => Some(format!("{name}")),
                Sight::There(count) => Some(format!("{name} in {}", count.files())),
                Sight::Absent | Sight::Unknown => None,
            })
            .collect();
        told.sort();
        told
    }

    #[rstest]
    #[case::its_end("`release.sh` `bin/release.sh`", &[("tools/release.sh", "")], &["release.sh"])]
    #[case::a_folder("`src/queue/`", &[("a/src/queue/x.rs", "")], &["src/queue"])]
    #[case::no_part_of_a_name("`src/que/`", &[("src/queue/x.rs", "")], &[])]
    #[case::by_case("`Docs/Guide.md`", &[("docs/guide.md", "")], &[])]
    #[case::whole_words("`parse_line`", &[("a.rs", "parse_lines my_parse_line"), ("b.rs", "x.parse_line(")], &["parse_line in 1"])]
    #[case::one_in_another("`entire/sessions` `my_sessions`", &[("a.go", "x entire/sessions my_sessions")], &["entire/sessions in 1", "my_sessions in 1"])]
    #[case::only_defined("`enqueue` `release`", &[("a.rs", "pub fn enqueue(\nrelease release")], &["enqueue in 1"])]
    #[case::no_text("`parse_line`", &[("a.rs", "\0 parse_line")], &[])]
    #[case::a_target("`make lint` `make docs`", &[("Makefile", "lint: x\n")], &["make lint"])]
    fn names_are_found(#[case] text: &str, #[case] files: &[(&str, &str)], #[case] names: &[&str]) {
        assert_eq!(found(text, files), names);
    }

    #[test]
    fn what_was_not_read_says_nothing_of_what_is_missing() {
        let names = HashSet::from([
            PointName::Word("parse_line".to_owned()),
            PointName::Program("x".to_owned()),
        ]);
        let search = Search::new(&names);
        let mut found = FoundIn::default();
        assert!(names.iter().all(|name| found.of(name) == Sight::Absent));
        search.text("package.json", b"{", &mut found);
        found.lacks("src/large.rs");
        assert!(names.iter().all(|name| found.of(name) == Sight::Unknown));
    }
}
