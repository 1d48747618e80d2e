//! The playbook as a value: typed views of the file's own JSON, so that unknown keys and the order
//! of keys are kept.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use super::change::PointState;
use super::clean::clean_text;
use super::entry;
use super::id::Section;
use super::read::{self, Defect, kind};
use crate::cue::Cue;
use crate::redact::Masker;

pub(super) const SECTIONS: &str = "sections";
pub(super) const VERSION_KEY: &str = "version";
pub(super) const LAST_UPDATED: &str = "last_updated";
pub(super) const VERSION: &str = "1.0";
/// Our only top-level key.
const META: &str = "playbook";
/// The number of remembered job ids, so that a restarted job is not applied twice.
pub(crate) const APPLIED_KEPT: usize = 256;
/// The number of unused days after which a point is stale.
pub const STALE_DAYS: i64 = 90;
const DAY_SECS: i64 = 86_400;
/// The longest chain of aliases that is followed; a longer one is a hand-made loop.
const MAX_ALIASES: usize = 64;

/// Invalid entries in a section (strings, objects without a name) are kept and skipped; a job
/// neither fails for them nor removes them.
#[derive(Debug, Clone)]
pub struct Playbook {
    /// The top-level keys in their order; null in place of the sections and of `meta`.
    pub(super) root: Map<String, Value>,
    pub(super) sections: Map<String, Value>,
    pub(super) meta: Meta,
    /// Set for the user's own playbook, which has ids such as `my-001` in each section.
    pub(super) is_own: bool,
    pub(super) final_newline: bool,
}

/// The value of the key `playbook`: `{"next": {"pat": 8}, "aliases": {"pat-002": "pat-005"},
/// "points": {"pat-005": {"added": time, "used": time, "pinned": true, "when": {"command": words},
/// "guard": true}}, "applied": [job ids], "votes": {job id: "pat-005 +1"}}`. Keys of later versions
/// are kept.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Meta {
    /// The numbers are by slug.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) next: BTreeMap<String, u64>,
    /// Names of merged points, each with the name of the point that replaced it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) aliases: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) points: BTreeMap<String, Note>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) applied: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) votes: BTreeMap<String, String>,
    #[serde(flatten)]
    pub(super) rest: Map<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Note {
    #[serde(deserialize_with = "time", skip_serializing_if = "Option::is_none")]
    pub added: Option<Timestamp>,
    /// The time at which a session last cited or judged it.
    #[serde(deserialize_with = "time", skip_serializing_if = "Option::is_none")]
    pub used: Option<Timestamp>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    #[serde(flatten)]
    pub due: Due,
    #[serde(flatten)]
    pub(super) rest: Map<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Due {
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Cue::is_empty")]
    pub when: Cue,
    /// Set if the command is turned back once before it runs.
    #[serde(
        deserialize_with = "lenient",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub guard: bool,
}

impl Due {
    pub fn is_blank(&self) -> bool {
        *self == Self::default()
    }

    /// Returns for example `at command "make proto", before it runs`.
    pub fn told(&self) -> String {
        let guard = if self.guard { ", before it runs" } else { "" };
        format!("at {}{guard}", self.when.told())
    }
}

/// Keeps the old value for `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DueChange {
    pub when: Option<Cue>,
    pub guard: Option<bool>,
}

impl DueChange {
    pub fn read(operation: &Value) -> Self {
        let when = operation.get("when").filter(|when| !when.is_null());
        let when = when.map(|when| {
            let mut cue = Cue::deserialize(when).unwrap_or_default();
            cue.each_text(clean_text);
            cue
        });
        Self {
            when,
            guard: operation.get("guard").and_then(Value::as_bool),
        }
    }

    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Returns `due` after this change; only a command can be guarded.
    #[must_use]
    pub fn of(&self, due: &Due) -> Due {
        let when = self.when.clone().unwrap_or_else(|| due.when.clone());
        let guard = self.guard.unwrap_or(due.guard) && when.command.is_some();
        Due { when, guard }
    }
}

/// A value of another shape counts as absent.
fn lenient<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    Ok(T::deserialize(Value::deserialize(from)?).unwrap_or_default())
}

impl Note {
    pub(super) fn is_blank(&self) -> bool {
        *self == Self::default()
    }
}

/// An unreadable time counts as unknown.
fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    Ok(text.and_then(|text| text.parse().ok()))
}

impl Meta {
    /// Returns the point that another was merged into, directly or in several steps.
    pub(super) fn heir(&self, name: &str, is_there: impl Fn(&str) -> bool) -> Option<&str> {
        let steps = std::iter::successors(self.aliases.get(name), |name| self.aliases.get(*name));
        let mut steps = steps.take(MAX_ALIASES).map(String::as_str);
        steps.find(|name| is_there(name))
    }
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Point<'a> {
    /// The name: usually an [`Id`](super::Id), in older files any text.
    pub name: &'a str,
    pub section: Section,
    /// The text is not cleaned.
    pub text: &'a str,
    pub helpful: u64,
    pub harmful: u64,
    #[serde(skip)]
    pub note: Option<&'a Note>,
}

impl<'a> Point<'a> {
    /// Returns `None` for an entry without a name or text.
    fn of(meta: &'a Meta, section: Section, value: &'a Value) -> Option<Self> {
        let fields = value.as_object()?;
        let name = entry::name(fields)?;
        Some(Self {
            name,
            section,
            text: entry::text(fields)?,
            helpful: entry::count(fields, entry::HELPFUL),
            harmful: entry::count(fields, entry::HARMFUL),
            note: meta.points.get(name),
        })
    }

    /// A pinned point is never pruned and always comes first.
    pub fn is_pinned(&self) -> bool {
        self.note.is_some_and(|note| note.pinned)
    }

    pub fn due(&self) -> Option<&'a Due> {
        let due = self.note.map(|note| &note.due);
        due.filter(|due| !due.is_blank())
    }

    pub fn last(&self) -> Option<Timestamp> {
        self.note.and_then(|note| note.used.max(note.added))
    }

    /// Returns `true` if it was unused for [`STALE_DAYS`]; `false` without a date.
    pub fn is_stale(&self, now: Timestamp) -> bool {
        self.last().is_some_and(|last| {
            now.as_second().saturating_sub(last.as_second()) >= STALE_DAYS * DAY_SECS
        })
    }
}

/// The title of a section, an index in it and the entry there.
type Found<'a> = (&'a str, usize, &'a Map<String, Value>);

impl Playbook {
    pub fn empty() -> Self {
        let root = json!({VERSION_KEY: VERSION, LAST_UPDATED: null});
        let mut empty = Self {
            root: root.as_object().cloned().unwrap_or_default(),
            sections: Map::new(),
            meta: Meta::default(),
            is_own: false,
            final_newline: true,
        };
        empty.complete_sections();
        empty
    }

    /// Skips a byte order mark. Text after the object, a duplicate key, nesting deeper than 100 and
    /// a foreign `playbook` key are errors.
    pub fn parse(bytes: &[u8]) -> Result<Self, Defect> {
        let mut root = read::object(bytes)?;
        let sections = match root.get_mut(SECTIONS).map(Value::take) {
            None => Map::new(),
            Some(Value::Object(sections)) => sections,
            Some(other) => {
                let flaw = format!("expected an object, found {}", kind(&other));
                return Err(Defect::at(format!("`{SECTIONS}`"), flaw));
            }
        };
        let meta = root.get_mut(META).map(Value::take);
        let meta = meta.map(serde_json::from_value).transpose();
        let meta = meta.map_err(|e| Defect::at(format!("key `{META}`"), e.to_string()))?;
        Ok(Self {
            root,
            sections,
            meta: meta.unwrap_or_default(),
            is_own: false,
            final_newline: bytes.last() == Some(&b'\n'),
        })
    }

    /// Converts it to the user's own playbook: new ids are of the series `my-001`.
    #[must_use]
    pub fn into_own(self) -> Self {
        Self {
            is_own: true,
            ..self
        }
    }

    /// The format has two spaces of indentation and unescaped non-ASCII.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut root = self.root.clone();
        let meta = json!(self.meta);
        for (key, value) in [(SECTIONS, json!(self.sections)), (META, meta)] {
            if root.contains_key(key) || value.as_object().is_some_and(|map| !map.is_empty()) {
                root.insert(key.to_owned(), value);
            }
        }
        let mut bytes = serde_json::to_vec_pretty(&root).unwrap_or_default();
        if self.final_newline {
            bytes.push(b'\n');
        }
        bytes
    }

    /// Keeps numbers, aliases and applied jobs, so that no id is reused and no job applied twice.
    pub fn take_sections(&mut self, other: Self) {
        let highest = self.highest_numbers();
        self.never_below(&highest);
        if other.root.contains_key(SECTIONS) {
            self.sections = other.sections;
        }
        for (name, note) in other.meta.points {
            let due = note.due.clone();
            self.meta.points.entry(name).or_insert(note).due = due;
        }
        let live: HashSet<String> = self.names().map(str::to_owned).collect();
        self.meta.aliases.retain(|name, _| !live.contains(name));
    }

    /// Skips entries without a name or text. The sections are in canonical order.
    pub fn points(&self) -> impl Iterator<Item = Point<'_>> {
        Section::ALL.into_iter().flat_map(move |section| {
            let list = self.list(section.title()).iter();
            list.filter_map(move |value| Point::of(&self.meta, section, value))
        })
    }

    pub fn keep(&mut self, wanted: impl Fn(&Point<'_>) -> bool) {
        for section in Section::ALL {
            if let Some(Value::Array(list)) = self.sections.get_mut(section.title()) {
                list.retain(|value| {
                    Point::of(&self.meta, section, value).is_none_or(|point| wanted(&point))
                });
            }
        }
    }

    /// Finds a point by its name, or by the name of a point that was merged into it.
    pub fn named(&self, name: &str) -> Option<Point<'_>> {
        let find = |name: &str| self.points().filter(|point| point.name == name).last();
        find(name).or_else(|| find(self.meta.heir(name, |heir| find(heir).is_some())?))
    }

    pub fn is_empty(&self) -> bool {
        self.points().next().is_none()
    }

    pub fn is_applied(&self, job: &str) -> bool {
        self.applied().any(|known| known == job)
    }

    /// Lists the oldest first.
    pub fn applied(&self) -> impl Iterator<Item = &str> {
        self.meta.applied.iter().map(String::as_str)
    }

    pub fn set_last_updated(&mut self, now: Timestamp) {
        let now = to_second(now).to_string();
        self.root.insert(LAST_UPDATED.to_owned(), now.into());
    }

    /// Skips unknown names; a use never moves back in time.
    pub(crate) fn mark_used<'a>(
        &mut self,
        names: impl IntoIterator<Item = &'a str>,
        now: Timestamp,
    ) {
        let now = to_second(now);
        for name in names {
            if let Some(mut state) = self.find(name) {
                state.note.used = state.note.used.max(Some(now));
                self.set_note(&state);
            }
        }
    }

    /// Gives their number, and the place and flaw of the first.
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

    /// Includes unknown keys. Returns `true` if there were secrets.
    pub fn mask_secrets(&mut self, masker: &Masker) -> bool {
        let Meta { points, rest, .. } = &mut self.meta;
        let mut is_cue_masked = false;
        for note in points.values_mut() {
            note.due.when.each_text(|text| {
                let clean = masker.mask(text);
                is_cue_masked |= clean != text;
                clean.into_owned()
            });
        }
        let notes = points.values_mut().map(|note| &mut note.rest);
        let maps = [&mut self.root, &mut self.sections, rest].into_iter();
        let values = maps.chain(notes).flat_map(Map::values_mut);
        let found = values.map(|value| masker.mask_value(value));
        found.filter(|any| *any).count() > 0 || is_cue_masked
    }

    /// Returns `true` if a section was missing.
    pub(super) fn complete_sections(&mut self) -> bool {
        let count = self.sections.len();
        for section in Section::ALL {
            self.sections.entry(section.title()).or_insert(json!([]));
        }
        self.root.entry(SECTIONS).or_insert(Value::Null);
        self.sections.len() > count
    }

    /// Includes unknown sections, in the file's order.
    pub(super) fn objects(&self) -> impl Iterator<Item = Found<'_>> {
        self.sections.iter().flat_map(|(title, list)| {
            let entries = list.as_array().into_iter().flatten().enumerate();
            entries.filter_map(|(index, entry)| Some((title.as_str(), index, entry.as_object()?)))
        })
    }

    fn state_of(&self, (title, index, fields): Found<'_>) -> PointState {
        PointState {
            section: title.to_owned(),
            index,
            entry: fields.clone(),
            note: self.note(entry::name(fields).unwrap_or_default()),
        }
    }

    /// Includes entries without a name.
    pub(super) fn entries(&self) -> impl Iterator<Item = PointState> {
        self.objects().map(|found| self.state_of(found))
    }

    /// Returns the entries with a name; of two with one name the last counts (REQ-REFL-007).
    pub(super) fn states(&self) -> impl Iterator<Item = PointState> {
        let last: HashMap<&str, (&str, usize)> = self
            .objects()
            .filter_map(|(title, index, fields)| Some((entry::name(fields)?, (title, index))))
            .collect();
        self.entries()
            .filter(move |state| last.get(state.name()) == Some(&(&*state.section, state.index)))
    }

    pub(super) fn state(&self, name: &str) -> Option<PointState> {
        let named = self
            .objects()
            .filter(|found| entry::name(found.2) == Some(name));
        named.last().map(|found| self.state_of(found))
    }

    /// Finds a point by its name or an alias.
    pub(super) fn find(&self, name: &str) -> Option<PointState> {
        let heir = || {
            self.meta
                .heir(name, |heir| self.names().any(|name| name == heir))
        };
        self.state(name).or_else(|| self.state(heir()?))
    }

    pub(super) fn note(&self, name: &str) -> Note {
        self.meta.points.get(name).cloned().unwrap_or_default()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.objects()
            .filter_map(|(_, _, fields)| entry::name(fields))
    }

    pub(super) fn list(&self, title: &str) -> &[Value] {
        let list = self.sections.get(title).and_then(Value::as_array);
        list.map_or(&[], Vec::as_slice)
    }

    /// Returns the values of a section that are not in [`states`](Self::states).
    pub(super) fn odd(&self, title: &str) -> Vec<&Value> {
        let states = self.states().filter(|state| state.section == title);
        let named: HashSet<usize> = states.map(|state| state.index).collect();
        let list = self.list(title).iter().enumerate();
        let odd = list.filter(|(index, _)| !named.contains(index));
        odd.map(|(_, value)| value).collect()
    }

    /// Returns the current name for `name`: itself if it is in `names`, else the target of its
    /// alias.
    pub(super) fn current_name<'a>(&'a self, names: &HashSet<&str>, name: &'a str) -> &'a str {
        if names.contains(name) {
            name
        } else {
            let heir = self.meta.heir(name, |heir| names.contains(heir));
            heir.unwrap_or(name)
        }
    }

    /// Creates a missing list. Anything but a list is kept, and named in the error.
    pub(super) fn open(&mut self, title: &str) -> Result<&mut Vec<Value>, String> {
        let section = self.sections.entry(title).or_insert(Value::Null);
        if section.is_null() {
            *section = json!([]);
        }
        match section {
            Value::Array(list) => Ok(list),
            other => Err(format!("section {title} is {}", kind(other))),
        }
    }

    /// An index past the end means the end.
    pub(super) fn insert(&mut self, state: &mut PointState) -> Result<(), String> {
        let list = self.open(&state.section)?;
        state.index = state.index.min(list.len());
        list.insert(state.index, Value::Object(state.entry.clone()));
        self.set_note(state);
        Ok(())
    }

    pub(super) fn take(&mut self, state: &PointState) {
        let list = self
            .sections
            .get_mut(&state.section)
            .and_then(Value::as_array_mut);
        if let Some(list) = list.filter(|list| state.index < list.len()) {
            list.remove(state.index);
        }
    }

    /// Replaces the entry at the place of `state`.
    pub(super) fn set(&mut self, state: &PointState) {
        let list = self
            .sections
            .get_mut(&state.section)
            .and_then(Value::as_array_mut);
        if let Some(entry) = list.and_then(|list| list.get_mut(state.index)) {
            *entry = Value::Object(state.entry.clone());
        }
        self.set_note(state);
    }

    fn set_note(&mut self, state: &PointState) {
        let name = state.name();
        if name.is_empty() || self.note(name) == state.note {
            return;
        }
        if state.note.is_blank() {
            self.meta.points.remove(name);
        } else {
            self.meta.points.insert(name.to_owned(), state.note.clone());
        }
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

/// A second is fine enough for readers of the file.
pub(super) fn to_second(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_facts_and_keys_of_later_versions_survive_and_a_cue_of_another_shape_counts_as_none() {
        let file = r#"{"sections": {"OTHERS": [{"name": "oth-001", "text": "a"}]}, "playbook": {
            "aliases": {"oth-000": "oth-001"},
            "points": {"oth-001": {"added": "2026-01-01T00:00:00Z", "colour": "red",
                "when": {"command": "make proto"}, "guard": true},
                "oth-002": {"when": {"command": 1, "file": []}, "guard": "yes", "colour": "red"}},
            "later": true}}"#;
        let mut playbook = Playbook::parse(file.as_bytes()).unwrap();
        let now = "2026-11-21T10:20:30.9Z".parse().unwrap();
        playbook.mark_used(["oth-000", "gone"], now);
        playbook.set_last_updated(now);
        let written: Value = serde_json::from_slice(&playbook.to_bytes()).unwrap();
        let expected = serde_json::json!({
            "aliases": {"oth-000": "oth-001"},
            "points": {"oth-001": {"added": "2026-01-01T00:00:00Z",
                "used": "2026-11-21T10:20:30Z", "colour": "red",
                "when": {"command": "make proto"}, "guard": true}, "oth-002": {"colour": "red"}},
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
            "playbook": {"points": {"oth-001": {"other_text": format!("the key is {key}"),
                "when": {"command": format!("login {key}")}}}}});
        let mut playbook = Playbook::parse(file.to_string().as_bytes()).unwrap();
        assert!(playbook.mask_secrets(&Masker::default()));
        let bytes = String::from_utf8(playbook.to_bytes()).unwrap();
        assert!(bytes.contains("other_text") && !bytes.contains(&key));
        assert!(!playbook.mask_secrets(&Masker::default()));
    }
}
