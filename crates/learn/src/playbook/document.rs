//! The JSON tree under a playbook: where entries stand, how they come in and go out.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::entry;
use super::json::kind;
use super::model::{Playbook, SECTIONS};
use super::section::Section;

/// Where an entry stands: the section's title as in the file, and the index in it.
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
    pub(super) fn set_list(&mut self, section: Section, entries: Vec<Value>) {
        let sections = self
            .root
            .entry(SECTIONS)
            .or_insert_with(|| Value::Object(Map::new()));
        sections[section.title()] = Value::Array(entries);
    }

    pub(super) fn complete_sections(&mut self) -> bool {
        let missing = |s: &Section| self.sections().is_none_or(|m| !m.contains_key(s.title()));
        let missing: Vec<Section> = Section::ALL.into_iter().filter(missing).collect();
        for &section in &missing {
            self.set_list(section, Vec::new());
        }
        !missing.is_empty()
    }

    /// The entries of all sections, unknown ones too, that are objects, in the file's order:
    /// title, index and fields.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, usize, &Map<String, Value>)> {
        let lists = self.sections().into_iter().flatten();
        lists.flat_map(|(title, list)| {
            let entries = list.as_array().into_iter().flatten().enumerate();
            entries.filter_map(|(index, entry)| Some((title.as_str(), index, entry.as_object()?)))
        })
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries()
            .filter_map(|(_, _, fields)| entry::name(fields))
    }

    /// The entries of a section; none where it is missing or no list.
    pub(super) fn list(&self, title: &str) -> &[Value] {
        self.sections()
            .and_then(|sections| sections.get(title))
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    pub(super) fn sections(&self) -> Option<&Map<String, Value>> {
        self.root.get(SECTIONS).and_then(Value::as_object)
    }

    /// The place of every named entry of all sections, unknown ones too; of two with one
    /// name the last counts (REQ-REFL-007).
    pub(super) fn places(&self) -> HashMap<String, PointPlace> {
        let named = self.entries().filter_map(|(title, index, fields)| {
            let title = title.to_owned();
            Some((entry::name(fields)?.to_owned(), PointPlace { title, index }))
        });
        named.collect()
    }

    /// The name under which `name` is known now: itself where it is there, else what its
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

    /// Makes sure that a section is a list; one that holds something else is left alone and
    /// named.
    pub(super) fn open(&mut self, title: &str) -> Result<(), String> {
        let sections = self
            .root
            .entry(SECTIONS)
            .or_insert_with(|| Value::Object(Map::new()));
        let Some(sections) = sections.as_object_mut() else {
            return Err(format!("`{SECTIONS}` is {}", kind(sections)));
        };
        let section = sections.entry(title).or_insert(Value::Null);
        match section {
            Value::Array(_) => {}
            Value::Null => *section = Value::Array(Vec::new()),
            other => return Err(format!("section {title} is {}", kind(other))),
        }
        Ok(())
    }

    /// Puts an entry into a section that is a list; past its end means at its end.
    /// Returns where it is now.
    pub(super) fn insert(&mut self, mut place: PointPlace, entry: Value) -> Option<PointPlace> {
        let list = self.list_mut(&place.title)?;
        place.index = place.index.min(list.len());
        list.insert(place.index, entry);
        Some(place)
    }

    pub(super) fn take(&mut self, place: &PointPlace) -> Option<Value> {
        let list = self.list_mut(&place.title)?;
        (place.index < list.len()).then(|| list.remove(place.index))
    }
}
