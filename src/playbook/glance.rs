//! A quick read of a playbook file for session-start: only what is shown, borrowed from
//! the bytes, in one pass and without a JSON tree.
//!
//! A wrong entry is passed over; a file that is no playbook is an error, as for
//! [`Playbook::parse`](super::Playbook::parse).

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::entry::Counter;
use super::flaw::Flaw;
use super::json::without_bom;
use super::section::Section;
use super::worth::Standing;
use super::{entry, meta, model};

/// What session-start needs of a file.
#[derive(Default)]
pub(super) struct Glance<'a> {
    /// The entries with a name and text, by section in canonical order.
    pub(super) sections: [Vec<Entry<'a>>; Section::ALL.len()],
    /// What is known of points by name, in the file's order.
    pub(super) notes: Vec<(Cow<'a, str>, Dates<'a>)>,
    /// Whether there are `sections`; files of the earlier format have none.
    pub(super) has_sections: bool,
}

/// A key point as it is shown.
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
        let mut reader = serde_json::Deserializer::from_slice(without_bom(bytes));
        let glance = reader
            .deserialize_map(Root)
            .map_err(|e| Flaw::from_json(&e))?;
        reader.end().map_err(|e| Flaw::from_json(&e))?;
        Ok(glance)
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

/// A value that is taken where it has the right type, and passed over where it has not.
struct Loose<T>(Option<T>);

/// What a [`Loose`] value may be made of.
trait Take<'de>: Sized {
    fn string(_: Cow<'de, str>) -> Option<Self> {
        None
    }
    fn number(_: u64) -> Option<Self> {
        None
    }
    fn boolean(_: bool) -> Option<Self> {
        None
    }
    fn list<A: SeqAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

impl<'de, T: Take<'de>> Deserialize<'de> for Loose<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<T>(PhantomData<T>);
        impl<'de, T: Take<'de>> Visitor<'de> for Any<T> {
            type Value = Option<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
                Ok(T::boolean(value))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
                Ok(T::number(value))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
                Ok(T::number(u64::try_from(value).unwrap_or(0)))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
                Ok(T::number(entry::whole(value)))
            }
            fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
                Ok(T::string(Cow::Owned(value.to_owned())))
            }
            fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
                Ok(T::string(Cow::Borrowed(value)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
                T::list(items)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::object(map)
            }
        }
        deserializer.deserialize_any(Any(PhantomData)).map(Self)
    }
}

/// A string, borrowed where it has no escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de> Take<'de> for Text<'de> {
    fn string(text: Cow<'de, str>) -> Option<Self> {
        Some(Self(text))
    }
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Loose(text) = Loose::<Self>::deserialize(deserializer)?;
        text.ok_or_else(|| de::Error::custom("expected a string"))
    }
}

impl Take<'_> for u64 {
    fn number(number: u64) -> Option<Self> {
        Some(number)
    }
}

impl Take<'_> for bool {
    fn boolean(value: bool) -> Option<Self> {
        Some(value)
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
                helpful = map.next_value::<Loose<u64>>()?.0.unwrap_or(0);
            } else if key == Counter::Harmful.key() {
                harmful = map.next_value::<Loose<u64>>()?.0.unwrap_or(0);
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

/// The notes inside the key `playbook`.
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
