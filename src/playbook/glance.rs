//! A quick read of a playbook file for session-start: only what is shown, borrowed from
//! the bytes, in one pass and without a JSON tree.
//!
//! A wrong entry is passed over; a file that is no playbook is an error, as for
//! [`Playbook::parse`](super::Playbook::parse).

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::entry::Counter;
use super::flaw::Flaw;
use super::json::without_bom;
use super::migrate::{FlatNames, KEY_POINTS, SCORE};
use super::section::Section;
use super::worth::Standing;
use super::{entry, meta, model};
use crate::loose::{Loose, Take, Text};

#[derive(Default)]
pub(super) struct Glance<'a> {
    pub(super) sections: [Vec<Entry<'a>>; Section::ALL.len()],
    /// What is known of points by name, in the file's order.
    pub(super) notes: Vec<(Cow<'a, str>, Dates<'a>)>,
    /// Whether there are `sections`; files of the earlier format have none.
    has_sections: bool,
    flat: Vec<Flat<'a>>,
}

struct Flat<'a> {
    name: Option<Cow<'a, str>>,
    text: Option<Cow<'a, str>>,
    helpful: Option<u64>,
    harmful: Option<u64>,
    score: f64,
}

pub(super) struct Entry<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) text: Cow<'a, str>,
    pub(super) helpful: u64,
    pub(super) harmful: u64,
}

/// What decides the recency of a point; times are still text, most are never needed.
#[derive(Default)]
pub(super) struct Dates<'a> {
    pub(super) added: Option<Cow<'a, str>>,
    pub(super) used: Option<Cow<'a, str>>,
    pub(super) pinned: bool,
}

impl Dates<'_> {
    /// Reads the later of the two times; our own times have one form, in which the later
    /// text is the later time.
    pub(super) fn standing(&self) -> Standing {
        let last = self.used.as_deref().max(self.added.as_deref());
        Standing {
            last: last.and_then(|time| time.parse().ok()),
            pinned: self.pinned,
        }
    }
}

impl<'a> Glance<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, Flaw> {
        // Checked once here, not once for each string.
        let text =
            std::str::from_utf8(without_bom(bytes)).map_err(|e| Flaw::not_utf8(&e, bytes))?;
        let mut reader = serde_json::Deserializer::from_str(text);
        let glance = reader
            .deserialize_map(Root)
            .map_err(|e| Flaw::from_json(&e))?;
        reader.end().map_err(|e| Flaw::from_json(&e))?;
        Ok(if glance.has_sections {
            glance
        } else {
            glance.migrated()
        })
    }
}

impl Glance<'_> {
    /// Shows a file of the earlier format as it will be migrated.
    fn migrated(mut self) -> Self {
        let given = self.flat.iter().filter_map(|item| item.name.as_deref());
        let mut names = FlatNames::new(given);
        for item in std::mem::take(&mut self.flat) {
            let name = names.next(item.name.as_deref());
            let Some(text) = item.text else {
                continue;
            };
            let (helpful, harmful) = item.helpful.zip(item.harmful).unwrap_or((
                entry::whole(item.score.max(0.0)),
                entry::whole((-item.score).max(0.0)),
            ));
            self.sections[Section::Others as usize].push(Entry {
                name: name.into(),
                text,
                helpful,
                harmful,
            });
        }
        self
    }
}

struct Root;

impl<'de> Visitor<'de> for Root {
    type Value = Glance<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut glance = Glance::default();
        while let Some(Text(key)) = map.next_key()? {
            if key == model::SECTIONS {
                if glance.has_sections {
                    return Err(de::Error::duplicate_field(model::SECTIONS));
                }
                glance.has_sections = true;
                let Sections(sections) = map.next_value()?;
                glance.sections = sections;
            } else if key == meta::KEY {
                let Notes(notes) = map.next_value()?;
                glance.notes = notes;
            } else if key == KEY_POINTS {
                let Loose(flat) = map.next_value::<Loose<FlatList<'de>>>()?;
                glance.flat = flat.map(|FlatList(items)| items).unwrap_or_default();
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(glance)
    }
}

struct Sections<'a>([Vec<Entry<'a>>; Section::ALL.len()]);

impl<'de> Deserialize<'de> for Sections<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ByTitle;
        impl<'de> Visitor<'de> for ByTitle {
            type Value = Sections<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "`{}` to be an object", model::SECTIONS)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut lists: [Option<Vec<Entry<'de>>>; Section::ALL.len()] = Default::default();
                while let Some(Text(key)) = map.next_key()? {
                    let Some(section) = Section::from_key(&key) else {
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    };
                    let list = &mut lists[section as usize];
                    if list.is_some() {
                        return Err(de::Error::duplicate_field(section.title()));
                    }
                    let Loose(entries) = map.next_value::<Loose<Entries<'de>>>()?;
                    *list = Some(entries.unwrap_or_default().0);
                }
                Ok(Sections(lists.map(Option::unwrap_or_default)))
            }
        }
        deserializer.deserialize_map(ByTitle)
    }
}

/// A counter: a number that is not negative, whole.
struct Count(u64);

impl Take<'_> for Count {
    fn number(number: f64) -> Option<Self> {
        Some(Self(entry::whole(number)))
    }
}

struct Score(f64);

impl Take<'_> for Score {
    fn number(number: f64) -> Option<Self> {
        Some(Self(number))
    }
}

struct FlatList<'a>(Vec<Flat<'a>>);

impl<'de> Take<'de> for FlatList<'de> {
    fn list<A: SeqAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        let mut list = Vec::new();
        while let Some(Loose(item)) = items.next_element::<Loose<Flat<'de>>>()? {
            list.extend(item);
        }
        Ok(Some(Self(list)))
    }
}

impl<'de> Take<'de> for Flat<'de> {
    fn string(text: Cow<'de, str>) -> Option<Self> {
        Some(Self {
            name: None,
            text: Some(text),
            helpful: None,
            harmful: None,
            score: 0.0,
        })
    }

    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        let mut item = Self {
            name: None,
            text: None,
            helpful: None,
            harmful: None,
            score: 0.0,
        };
        while let Some(Text(key)) = map.next_key()? {
            if key == entry::NAME {
                item.name = map.next_value::<Loose<Text<'de>>>()?.0.map(|t| t.0);
            } else if key == entry::TEXT {
                item.text = map.next_value::<Loose<Text<'de>>>()?.0.map(|t| t.0);
            } else if key == Counter::Helpful.key() {
                item.helpful = map.next_value::<Loose<Count>>()?.0.map(|Count(n)| n);
            } else if key == Counter::Harmful.key() {
                item.harmful = map.next_value::<Loose<Count>>()?.0.map(|Count(n)| n);
            } else if key == SCORE {
                item.score = map
                    .next_value::<Loose<Score>>()?
                    .0
                    .map_or(0.0, |Score(s)| s);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Some(item))
    }
}

#[derive(Default)]
struct Entries<'a>(Vec<Entry<'a>>);

impl<'de> Take<'de> for Entries<'de> {
    fn list<A: SeqAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        let mut entries = Vec::new();
        while let Some(Loose(entry)) = items.next_element::<Loose<Entry<'de>>>()? {
            entries.extend(entry);
        }
        Ok(Some(Self(entries)))
    }
}

impl<'de> Take<'de> for Entry<'de> {
    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        let (mut name, mut text) = (None, None);
        let (mut helpful, mut harmful) = (0, 0);
        while let Some(Text(key)) = map.next_key()? {
            if key == entry::NAME {
                name = map.next_value::<Loose<Text<'de>>>()?.0;
            } else if key == entry::TEXT {
                text = map.next_value::<Loose<Text<'de>>>()?.0;
            } else if key == Counter::Helpful.key() {
                helpful = map.next_value::<Loose<Count>>()?.0.map_or(0, |Count(n)| n);
            } else if key == Counter::Harmful.key() {
                harmful = map.next_value::<Loose<Count>>()?.0.map_or(0, |Count(n)| n);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(name.zip(text).map(|(Text(name), Text(text))| Self {
            name,
            text,
            helpful,
            harmful,
        }))
    }
}

struct Notes<'a>(Vec<(Cow<'a, str>, Dates<'a>)>);

impl<'de> Deserialize<'de> for Notes<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Loose(notes) = Loose::<Self>::deserialize(deserializer)?;
        Ok(notes.unwrap_or(Self(Vec::new())))
    }
}

impl<'de> Take<'de> for Notes<'de> {
    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        let mut notes = Vec::new();
        while let Some(Text(key)) = map.next_key()? {
            if key == meta::POINTS {
                let Loose(points) = map.next_value::<Loose<ByName<'de>>>()?;
                notes = points.map(|ByName(points)| points).unwrap_or_default();
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Some(Self(notes)))
    }
}

struct ByName<'a>(Vec<(Cow<'a, str>, Dates<'a>)>);

impl<'de> Take<'de> for ByName<'de> {
    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        let mut notes = Vec::new();
        while let Some(Text(name)) = map.next_key()? {
            let Loose(dates) = map.next_value::<Loose<Dates<'de>>>()?;
            notes.extend(dates.map(|dates| (name, dates)));
        }
        Ok(Some(Self(notes)))
    }
}

impl<'de> Take<'de> for Dates<'de> {
    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        let mut dates = Self::default();
        while let Some(Text(key)) = map.next_key()? {
            match key.as_ref() {
                "added" => dates.added = map.next_value::<Loose<Text<'de>>>()?.0.map(|t| t.0),
                "used" => dates.used = map.next_value::<Loose<Text<'de>>>()?.0.map(|t| t.0),
                "pinned" => dates.pinned = map.next_value::<Loose<bool>>()?.0.unwrap_or(false),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Some(dates))
    }
}
