//! A quick read of a playbook file for session-start: only what is shown, borrowed from
//! the bytes, and without a JSON tree.
//!
//! A wrong entry is passed over; a file that is no playbook is an error, as for
//! [`Playbook::parse`](super::Playbook::parse).

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::entry;
use super::flaw::Flaw;
use super::json::without_bom;
use super::migrate::FlatNames;
use super::section::Section;
use super::worth::Standing;
use crate::loose::{items, loose, object, read};

pub(super) struct Glance<'a> {
    /// The entries with a name and text, by section in canonical order.
    pub(super) sections: [Vec<Entry<'a>>; Section::ALL.len()],
    pub(super) notes: Vec<(Cow<'a, str>, Dates<'a>)>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct File<'a> {
    #[serde(borrow, default, deserialize_with = "sections")]
    sections: Option<Sections<'a>>,
    #[serde(borrow, default, deserialize_with = "loose")]
    playbook: Option<Ours<'a>>,
    /// The flat list of the earlier format.
    #[serde(borrow, default, deserialize_with = "items")]
    key_points: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Sections<'a> {
    #[serde(rename = "PATTERNS & APPROACHES")]
    #[serde(borrow, default, deserialize_with = "items")]
    patterns: Vec<Entry<'a>>,
    #[serde(rename = "MISTAKES TO AVOID")]
    #[serde(borrow, default, deserialize_with = "items")]
    mistakes: Vec<Entry<'a>>,
    #[serde(rename = "USER PREFERENCES")]
    #[serde(borrow, default, deserialize_with = "items")]
    preferences: Vec<Entry<'a>>,
    #[serde(rename = "PROJECT CONTEXT")]
    #[serde(borrow, default, deserialize_with = "items")]
    context: Vec<Entry<'a>>,
    #[serde(rename = "OTHERS")]
    #[serde(borrow, default, deserialize_with = "items")]
    others: Vec<Entry<'a>>,
}

fn sections<'de: 'a, 'a, D: Deserializer<'de>>(from: D) -> Result<Option<Sections<'a>>, D::Error> {
    object(from).map(Some)
}

#[derive(Deserialize)]
pub(super) struct Entry<'a> {
    #[serde(borrow)]
    pub(super) name: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) text: Cow<'a, str>,
    #[serde(default, deserialize_with = "count")]
    pub(super) helpful: u64,
    #[serde(default, deserialize_with = "count")]
    pub(super) harmful: u64,
}

fn count<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    Ok(loose(from)?.map_or(0, entry::whole))
}

/// An item of the flat list of the earlier format that is no mere text.
#[derive(Default, Deserialize)]
struct Flat {
    #[serde(default, deserialize_with = "loose")]
    name: Option<String>,
    #[serde(default, deserialize_with = "loose")]
    text: Option<String>,
    #[serde(default, deserialize_with = "loose")]
    helpful: Option<f64>,
    #[serde(default, deserialize_with = "loose")]
    harmful: Option<f64>,
    #[serde(default, deserialize_with = "loose")]
    score: Option<f64>,
}

/// The value of the key `playbook`.
#[derive(Deserialize)]
struct Ours<'a> {
    #[serde(borrow, default, deserialize_with = "loose")]
    points: Option<BTreeMap<Cow<'a, str>, &'a RawValue>>,
}

/// What decides the recency of a point; times are still text, most are never needed.
#[derive(Deserialize)]
pub(super) struct Dates<'a> {
    #[serde(borrow, default, deserialize_with = "loose")]
    added: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose")]
    used: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "loose")]
    pinned: Option<bool>,
}

impl Dates<'_> {
    /// Reads the later of the two times; our own times have one form, in which the later
    /// text is the later time.
    pub(super) fn standing(&self) -> Standing {
        let last = self.used.as_deref().max(self.added.as_deref());
        Standing {
            last: last.and_then(|time| time.parse().ok()),
            pinned: self.pinned == Some(true),
        }
    }
}

impl<'a> Glance<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, Flaw> {
        // Checked once here, not once for each string.
        let text =
            std::str::from_utf8(without_bom(bytes)).map_err(|e| Flaw::not_utf8(&e, bytes))?;
        if text.trim_start().starts_with('[') {
            return Err(Flaw::at("the file", "expected an object, found a list"));
        }
        let file: File<'_> = serde_json::from_str(text).map_err(|e| Flaw::from_json(&e))?;
        let sections = match file.sections {
            Some(s) => [s.patterns, s.mistakes, s.preferences, s.context, s.others],
            None => migrated(&file.key_points),
        };
        let points = file.playbook.and_then(|ours| ours.points);
        let notes = points.into_iter().flatten();
        Ok(Self {
            sections,
            notes: notes
                .filter_map(|(name, note)| Some((name, read(note)?)))
                .collect(),
        })
    }
}

/// The points of a file of the earlier format as they will be migrated.
fn migrated<'a>(list: &[&RawValue]) -> [Vec<Entry<'a>>; Section::ALL.len()] {
    let text = |item| {
        read(item).map(|text| Flat {
            text,
            ..Flat::default()
        })
    };
    let items: Vec<Flat> = list
        .iter()
        .filter_map(|item| text(item).or_else(|| read(item)))
        .collect();
    let mut names = FlatNames::new(items.iter().filter_map(|item| item.name.as_deref()));
    let mut sections: [Vec<Entry<'a>>; Section::ALL.len()] = Default::default();
    for item in items {
        let name = names.next(item.name.as_deref());
        let Some(text) = item.text else {
            continue;
        };
        let score = item.score.unwrap_or_default();
        let votes = item.helpful.zip(item.harmful);
        let (helpful, harmful) = votes.unwrap_or((score.max(0.0), (-score).max(0.0)));
        sections[Section::Others as usize].push(Entry {
            name: name.into(),
            text: text.into(),
            helpful: entry::whole(helpful),
            harmful: entry::whole(harmful),
        });
    }
    sections
}
