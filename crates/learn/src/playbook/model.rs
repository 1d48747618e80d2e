//! The playbook as a value: the file's own JSON tree, so that unknown keys and the order
//! of keys survive, with typed views of what we read and write in it.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::entry;
use super::json::{self, Defect, kind};
use super::meta::{self, Meta, Note};
use super::section::Section;
use crate::redact::Masker;

pub(super) const SECTIONS: &str = "sections";
pub(super) const VERSION_KEY: &str = "version";
pub(super) const LAST_UPDATED: &str = "last_updated";
/// The version of the file format; existing files have the same.
pub(super) const VERSION: &str = "1.0";

/// The key points of one project.
///
/// Wrong entries inside a section (strings, objects without a name) are kept and passed
/// over; they never make a job fail or disappear.
#[derive(Debug, Clone)]
pub struct Playbook {
    pub(super) root: Map<String, Value>,
    pub(super) meta: Meta,
    /// Whether it is the user's own, with ids such as `my-001` in each section.
    pub(super) is_own: bool,
    final_newline: bool,
}

/// A key point as it is in the file.
#[derive(Debug, Clone, Copy)]
pub struct Point<'a> {
    /// Its name: mostly an [`Id`](super::Id), in older files any text.
    pub name: &'a str,
    pub section: Section,
    /// The text as it is in the file; not cleaned.
    pub text: &'a str,
    /// The number of helpful votes.
    pub helpful: u64,
    /// The number of harmful votes.
    pub harmful: u64,
    /// The note that our own part of the file has of it.
    pub note: Option<&'a Note>,
}

/// The place of an entry: the section's title as in the file, and the index in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PointPlace {
    pub(super) title: String,
    pub(super) index: usize,
}

impl PointPlace {
    pub(super) fn end_of(section: Section) -> Self {
        Self {
            title: section.title().to_owned(),
            index: usize::MAX,
        }
    }
}

impl Playbook {
    /// Returns the playbook of a project that has none yet.
    pub fn empty() -> Self {
        let mut root = Map::new();
        root.insert(VERSION_KEY.to_owned(), VERSION.into());
        root.insert(LAST_UPDATED.to_owned(), Value::Null);
        let sections = Section::ALL.map(|s| (s.title().to_owned(), Value::Array(Vec::new())));
        root.insert(
            SECTIONS.to_owned(),
            Value::Object(sections.into_iter().collect()),
        );
        Self {
            root,
            meta: Meta::default(),
            is_own: false,
            final_newline: true,
        }
    }

    /// Reads a playbook file: one JSON object whose `sections`, if there are any, are an object.
    ///
    /// A byte order mark is passed over. Text after the object, a key that is there twice,
    /// nesting deeper than 100 and a `playbook` key that is not ours are flaws.
    pub fn parse(bytes: &[u8]) -> Result<Self, Defect> {
        let root = json::object(bytes)?;
        if let Some(sections) = root.get(SECTIONS)
            && !sections.is_object()
        {
            return Err(Defect::at(
                format!("`{SECTIONS}`"),
                format!("expected an object, found {}", kind(sections)),
            ));
        }
        let meta = root.get(meta::KEY).map(Meta::parse);
        let meta = meta.transpose()?.unwrap_or_default();
        Ok(Self {
            root,
            meta,
            is_own: false,
            final_newline: bytes.last() == Some(&b'\n'),
        })
    }

    /// Returns it as the user's own playbook: new ids are of the series `my-001`.
    #[must_use]
    pub fn into_own(self) -> Self {
        Self {
            is_own: true,
            ..self
        }
    }

    /// Writes the file: two spaces of indentation, non-ASCII as it is.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut root = self.root.clone();
        let meta = serde_json::to_value(&self.meta).unwrap_or_default();
        if root.contains_key(meta::KEY) || meta.as_object().is_some_and(|m| !m.is_empty()) {
            root.insert(meta::KEY.to_owned(), meta);
        }
        let mut bytes = serde_json::to_vec_pretty(&root).unwrap_or_default();
        if self.final_newline {
            bytes.push(b'\n');
        }
        bytes
    }

    /// A playbook of these parts that ends its file as `like` does.
    pub(super) fn made(root: Map<String, Value>, meta: Meta, like: &Self) -> Self {
        Self {
            root,
            meta,
            is_own: like.is_own,
            final_newline: like.final_newline,
        }
    }

    /// Returns the top-level values as they were read, our own key included.
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.root
    }

    /// Takes the sections of `other`, as a restore does. What is known of numbers, merged
    /// names and jobs stays, so that no id is given twice and no job applied twice.
    pub fn take_sections(&mut self, other: Self) {
        let names: Vec<String> = self.names().map(str::to_owned).collect();
        for name in &names {
            self.note_given(name);
        }
        if let Some(sections) = other.root.get(SECTIONS) {
            self.root.insert(SECTIONS.to_owned(), sections.clone());
        }
        for (name, note) in other.meta.points {
            self.meta.points.entry(name).or_insert(note);
        }
        let live: Vec<String> = self.places().into_keys().collect();
        self.meta.aliases.retain(|name, _| !live.contains(name));
    }

    /// Returns the points of the five sections in canonical order, each section in the
    /// file's order; entries without a name or text are passed over.
    pub fn points(&self) -> impl Iterator<Item = Point<'_>> {
        Section::ALL.into_iter().flat_map(move |section| {
            self.list(section.title())
                .iter()
                .filter_map(move |value| self.point(section, value))
        })
    }

    /// Leaves out the points that are not to be looked at; all else stays.
    pub fn keep(&mut self, wanted: impl Fn(&Point<'_>) -> bool) {
        for section in Section::ALL {
            let list = self.list(section.title());
            let is_kept = |value: &&Value| self.point(section, value).is_none_or(|p| wanted(&p));
            let kept: Vec<Value> = list.iter().filter(is_kept).cloned().collect();
            if kept.len() < list.len() {
                self.set_list(section, kept);
            }
        }
    }

    /// The typed view of an entry; none where it has no name or text.
    pub(super) fn point<'a>(&'a self, section: Section, value: &'a Value) -> Option<Point<'a>> {
        let fields = value.as_object()?;
        let name = entry::name(fields)?;
        Some(Point {
            name,
            section,
            text: entry::text(fields)?,
            helpful: entry::count(fields, entry::HELPFUL),
            harmful: entry::count(fields, entry::HARMFUL),
            note: self.meta.points.get(name),
        })
    }

    /// Finds a point by its name; a name that was merged away finds the point that took it in.
    pub fn named(&self, name: &str) -> Option<Point<'_>> {
        let find = |name: &str| self.points().filter(|point| point.name == name).last();
        find(name).or_else(|| find(self.meta.resolve(name)))
    }

    /// Returns true if no section has a point to show.
    pub fn is_empty(&self) -> bool {
        self.points().next().is_none()
    }

    /// Returns true if this file has the changes of `job`.
    pub fn is_applied(&self, job: &str) -> bool {
        self.meta.applied.iter().any(|known| known == job)
    }

    /// The jobs that were applied last, the oldest first.
    pub fn applied(&self) -> impl Iterator<Item = &str> {
        self.meta.applied.iter().map(String::as_str)
    }

    /// Sets `last_updated`, to the second.
    pub fn set_last_updated(&mut self, now: Timestamp) {
        self.root
            .insert(LAST_UPDATED.to_owned(), to_second(now).to_string().into());
    }

    /// Remembers that a session used these points; names that are not there are passed
    /// over, and a use is never moved back in time.
    pub(crate) fn mark_used<'a>(
        &mut self,
        names: impl IntoIterator<Item = &'a str>,
        now: Timestamp,
    ) {
        let now = to_second(now);
        let places = self.places();
        for name in names {
            let name = self.current_name(&places, name).to_owned();
            if places.contains_key(&name) {
                let note = self.meta.points.entry(name).or_default();
                note.used = note.used.max(Some(now));
            }
        }
    }

    /// Describes the entries of the five sections that are no key points: their number, and the
    /// place and flaw of the first.
    pub fn odd_entries(&self) -> Option<String> {
        let mut odd = Section::ALL.into_iter().flat_map(|section| {
            let entries = (1..).zip(self.list(section.title()));
            entries.filter_map(move |(number, value)| {
                let flaw = flaw(value)?;
                Some(format!("{section}, entry {number}: {flaw}"))
            })
        });
        let first = odd.next()?;
        Some(match 1 + odd.count() {
            1 => format!("1 entry is no key point and is kept as it is ({first})"),
            count => {
                format!("{count} entries are no key points and are kept as they are ({first})")
            }
        })
    }

    /// Masks the secrets in all texts of the file, also below unknown keys. Returns true if there
    /// were any.
    pub fn mask_secrets(&mut self, masker: &Masker) -> bool {
        let mut any = false;
        for value in self.root.values_mut() {
            any |= masker.mask_value(value);
        }
        let notes = self.meta.points.values_mut();
        for value in notes.flat_map(|note| note.rest.values_mut()) {
            any |= masker.mask_value(value);
        }
        any
    }

    fn sections_mut(&mut self) -> Option<&mut Map<String, Value>> {
        let sections = self.root.entry(SECTIONS);
        let sections = sections.or_insert_with(|| Value::Object(Map::new()));
        sections.as_object_mut()
    }

    pub(super) fn set_list(&mut self, section: Section, entries: Vec<Value>) {
        if let Some(sections) = self.sections_mut() {
            sections.insert(section.title().to_owned(), entries.into());
        }
    }

    /// Adds the sections that are missing; returns true if there were any.
    pub(super) fn complete_sections(&mut self) -> bool {
        let missing = |s: &Section| self.sections().is_none_or(|m| !m.contains_key(s.title()));
        let missing: Vec<Section> = Section::ALL.into_iter().filter(missing).collect();
        for &section in &missing {
            self.set_list(section, Vec::new());
        }
        !missing.is_empty()
    }

    /// Returns the entries of all sections, unknown ones too, that are objects, in the file's order.
    pub(super) fn entries(&self) -> impl Iterator<Item = (PointPlace, &Map<String, Value>)> {
        let lists = self.sections().into_iter().flatten();
        lists.flat_map(|(title, list)| {
            let entries = list.as_array().into_iter().flatten().enumerate();
            entries.filter_map(|(index, entry)| {
                let title = title.clone();
                Some((PointPlace { title, index }, entry.as_object()?))
            })
        })
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries().filter_map(|(_, fields)| entry::name(fields))
    }

    /// Returns the entries of a section; none where it is missing or no list.
    pub(super) fn list(&self, title: &str) -> &[Value] {
        self.sections()
            .and_then(|sections| sections.get(title))
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    pub(super) fn sections(&self) -> Option<&Map<String, Value>> {
        self.root.get(SECTIONS).and_then(Value::as_object)
    }

    /// Returns the place of every named entry of all sections, unknown ones too; of two with one
    /// name the last counts (REQ-REFL-007).
    pub(super) fn places(&self) -> HashMap<String, PointPlace> {
        let named = self.entries();
        let named = named.filter_map(|(place, fields)| Some((entry::name(fields)?, place)));
        named
            .map(|(name, place)| (name.to_owned(), place))
            .collect()
    }

    /// Returns the name under which `name` is known now: itself where it is there, else what its
    /// alias says.
    pub(super) fn current_name<'a>(
        &'a self,
        places: &HashMap<String, PointPlace>,
        name: &'a str,
    ) -> &'a str {
        if places.contains_key(name) {
            name
        } else {
            self.meta.resolve(name)
        }
    }

    pub(super) fn entry(&self, place: &PointPlace) -> Option<&Map<String, Value>> {
        self.list(&place.title).get(place.index)?.as_object()
    }

    pub(super) fn entry_mut(&mut self, place: &PointPlace) -> Option<&mut Map<String, Value>> {
        self.list_mut(&place.title)?
            .get_mut(place.index)?
            .as_object_mut()
    }

    fn list_mut(&mut self, title: &str) -> Option<&mut Vec<Value>> {
        self.root.get_mut(SECTIONS)?.get_mut(title)?.as_array_mut()
    }

    /// Returns the list of a section, which is made where there is none. What is no list is left
    /// alone and named.
    pub(super) fn open(&mut self, title: &str) -> Result<&mut Vec<Value>, String> {
        let sections = self.sections_mut().ok_or("`sections` is no object")?;
        let section = sections.entry(title).or_insert(Value::Null);
        if section.is_null() {
            *section = Value::Array(Vec::new());
        }
        match section {
            Value::Array(list) => Ok(list),
            other => Err(format!("section {title} is {}", kind(other))),
        }
    }

    /// Puts an entry into a section, past its end means at its end, and returns its place.
    pub(super) fn insert(
        &mut self,
        mut place: PointPlace,
        entry: Value,
    ) -> Result<PointPlace, String> {
        let list = self.open(&place.title)?;
        place.index = place.index.min(list.len());
        list.insert(place.index, entry);
        Ok(place)
    }

    pub(super) fn take(&mut self, place: &PointPlace) -> Option<Value> {
        let list = self.list_mut(&place.title)?;
        (place.index < list.len()).then(|| list.remove(place.index))
    }
}

fn flaw(value: &Value) -> Option<String> {
    let Some(fields) = value.as_object() else {
        return Some(format!("expected an object, found {}", kind(value)));
    };
    let mut keys = [entry::NAME, entry::TEXT].into_iter();
    keys.find_map(|key| match fields.get(key) {
        Some(Value::String(_)) => None,
        Some(other) => Some(format!("`{key}` is {}", kind(other))),
        None => Some(format!("no `{key}`")),
    })
}

/// Cuts a time to the second: finer does not help anyone who reads the file.
pub(super) fn to_second(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn now() -> Timestamp {
        "2026-11-21T10:20:30.9Z".parse().unwrap()
    }

    const FILE: &str = r#"{
  "custom": 1.5,
  "version": "1.0",
  "sections": {
    "OTHERS": [
      {
        "text": "é🙂",
        "name": "kpt_001",
        "harmful": 1,
        "tags": [
          "x"
        ]
      },
      "a string"
    ],
    "MINE": null,
    "PATTERNS & APPROACHES": [
      {
        "name": "pat-001",
        "text": "first",
        "helpful": 2,
        "harmful": 0
      }
    ]
  },
  "last_updated": null
}"#;

    #[test]
    fn a_file_survives_a_round_trip_byte_for_byte() {
        for end in ["", "\n"] {
            let file = format!("{FILE}{end}");
            let playbook = Playbook::parse(file.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(playbook.to_bytes()).unwrap(), file);
        }
    }

    #[rstest]
    #[case::empty("", "line 1, column 0: EOF while parsing a value")]
    #[case::cut("{\n\"sections\": {", "line 2, column 13: EOF while parsing an object")]
    #[case::conflict("{\n<<<<<<< HEAD\n}", "line 2, column 1: key must be a string")]
    #[case::tail("{}\n{}", "line 2, column 1: trailing characters")]
    #[case::twice(
        "{\"a\": {\"b\": 1,\n \"b\": 2}}",
        "line 2, column 4: key `b` stands here twice"
    )]
    #[case::list("[]", "the file: expected an object, found a list")]
    #[case::sections("{\"sections\": []}", "`sections`: expected an object, found a list")]
    #[case::ours(
        "{\"playbook\": {\"next\": 1}}",
        "key `playbook`: invalid type: integer `1`, expected a map"
    )]
    fn a_file_that_is_no_playbook_is_told_with_its_place(#[case] file: &str, #[case] flaw: &str) {
        assert_eq!(
            Playbook::parse(file.as_bytes()).unwrap_err().to_string(),
            flaw
        );
    }

    #[test]
    fn what_we_know_of_a_point_survives_and_so_do_keys_of_later_versions() {
        let file = r#"{"sections": {"OTHERS": [{"name": "oth-001", "text": "a"}]}, "playbook": {
            "aliases": {"oth-000": "oth-001"},
            "points": {"oth-001": {"added": "2026-01-01T00:00:00Z", "colour": "red"}},
            "later": true}}"#;
        let mut playbook = Playbook::parse(file.as_bytes()).unwrap();
        playbook.mark_used(["oth-000", "gone"], now());
        playbook.set_last_updated(now());
        let written: Value = serde_json::from_slice(&playbook.to_bytes()).unwrap();
        let expected = serde_json::json!({
            "aliases": {"oth-000": "oth-001"},
            "points": {"oth-001": {"added": "2026-01-01T00:00:00Z",
                "used": "2026-11-21T10:20:30Z", "colour": "red"}},
            "later": true});
        assert_eq!(written["playbook"], expected);
        assert_eq!(written["last_updated"], "2026-11-21T10:20:30Z");
        assert_eq!(playbook.named("oth-000").unwrap().name, "oth-001");
    }

    #[test]
    fn what_a_merge_kept_of_the_other_side_loses_its_secrets_too() {
        let key = ["sk-ant-", "api03-", "Zx8Kq2Lw9Vt4Rb7Np1Ym5Hc3Jd6Fg0Sa"].concat();
        let file = serde_json::json!({
            "sections": {"OTHERS": [{"name": "oth-001", "text": "ours"}]},
            "playbook": {"points": {"oth-001": {"other_text": format!("the key is {key}")}}}});
        let mut playbook = Playbook::parse(file.to_string().as_bytes()).unwrap();
        assert!(playbook.mask_secrets(&Masker::default()));
        let bytes = String::from_utf8(playbook.to_bytes()).unwrap();
        assert!(
            bytes.contains("other_text") && !bytes.contains(&key),
            "{bytes}"
        );
        assert!(
            !playbook.mask_secrets(&Masker::default()),
            "there is nothing left"
        );
    }
}
