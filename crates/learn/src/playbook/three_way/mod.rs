//! Merges two playbooks that grew from one: as if both sides had learned in turn.
//!
//! Points are matched by name and text. What a side added to a counter is added; a job that both
//! sides applied counts once, since the file knows what each did (`job_votes`). A text that both
//! added is one point; two texts that both added under one name are two, and the one that was
//! added later gets a new number. A text that both edited is that of the later side, and remembers
//! the other. A point that one side took away stays where the other edited it or voted on it.
//! What we know nothing of is merged by key, as git would.
//!
//! | Case | What is decided |
//! |---|---|
//! | a job that an older version applied on both sides | counts twice: its votes are not in the file |
//! | no base, and jobs that are no longer known | of two counts the larger one |
//! | a counter that one side changed by hand | its difference is added like a vote |
//! | a point that both sides merged away, each into another | its votes go with the later merge |
//! | a point that one side picked from the other, and one of them edited | both wordings stay |
//! | a point of each side edited to say the same | two points that say the same; the curator may join them |

mod conflict;
mod names;
mod points;
#[cfg(test)]
mod tests;

pub use conflict::{Sides, has_markers, sides};

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

use jiff::Timestamp;
use serde_json::{Map, Value};

use self::points::{Points, PointsMerge, Side};
use super::change::PointState;
use super::id::raise;
use super::json::Defect;
use super::meta::{self, Meta};
use super::migrate::migrate;
use super::model::{LAST_UPDATED, Playbook, SECTIONS, VERSION, VERSION_KEY};

/// Two playbooks as one.
#[derive(Debug, Clone)]
pub struct Merged {
    pub playbook: Playbook,
    /// What had to be decided, in sentences for the user.
    pub decided: Vec<String>,
}

/// One of the three files of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeFile {
    Base,
    Ours,
    Theirs,
}

impl fmt::Display for MergeFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Base => "the base",
            Self::Ours => "our side",
            Self::Theirs => "their side",
        })
    }
}

/// Why files are not merged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unmergeable {
    /// One of them is no playbook.
    #[error("{file}: {flaw}")]
    Unreadable { file: MergeFile, flaw: Defect },
    /// A newer version wrote one of them.
    #[error("its format is version {0}, and this program knows {VERSION}")]
    Newer(String),
}

/// Merges what two files made of a third, if there is one and it is not empty.
///
/// A base with conflict markers is what git made of several bases: it counts as their merge.
pub fn merge_files(base: Option<&[u8]>, ours: &[u8], theirs: &[u8]) -> Result<Merged, Unmergeable> {
    let read = |file, bytes: &[u8]| match migrate(bytes) {
        Ok(migrated) => Ok(migrated.playbook),
        Err(flaw) => Err(Unmergeable::Unreadable { file, flaw }),
    };
    let read_base = |bytes: &[u8]| match sides(bytes) {
        None => read(MergeFile::Base, bytes),
        Some(Sides { ours, theirs, .. }) => {
            let [ours, theirs] = [ours, theirs].map(|side| read(MergeFile::Base, &side));
            Ok(merge(None, [&ours?, &theirs?])?.playbook)
        }
    };
    let base = base.filter(|bytes| !bytes.is_empty());
    let base = base.map(read_base).transpose()?;
    let ours = read(MergeFile::Ours, ours)?;
    let theirs = read(MergeFile::Theirs, theirs)?;
    merge(base.as_ref(), [&ours, &theirs])
}

/// The side whose word counts where both have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Later {
    Ours,
    Theirs,
}

impl Later {
    /// Returns the later of two sides first.
    fn first<T>(self, [ours, theirs]: [T; 2]) -> [T; 2] {
        match self {
            Self::Ours => [ours, theirs],
            Self::Theirs => [theirs, ours],
        }
    }
}

/// Returns the value of the side that changed it; of two changes that of the later side. Of a
/// value and its removal the value stays.
pub(super) fn pick<'v, T: PartialEq>(
    base: Option<&'v T>,
    [ours, theirs]: [Option<&'v T>; 2],
    later: Later,
) -> Option<&'v T> {
    if ours == theirs || theirs == base {
        ours
    } else if ours == base {
        theirs
    } else {
        let [first, second] = later.first([ours, theirs]);
        first.or(second)
    }
}

/// Picks for each key: first the keys of our side in their order, then those that only the other
/// has. A side that changed nothing leaves the other as it is.
pub(super) fn pick_each(
    base: &Map<String, Value>,
    [ours, theirs]: [&Map<String, Value>; 2],
    later: Later,
) -> Map<String, Value> {
    if ours == base {
        return theirs.clone();
    }
    let more = theirs.keys().filter(|key| !ours.contains_key(*key));
    let picked = ours.keys().chain(more).filter_map(|key| {
        let picked = pick(base.get(key), [ours.get(key), theirs.get(key)], later)?;
        Some((key.clone(), picked.clone()))
    });
    picked.collect()
}

/// Merges what two sides made of `base`; without one, what both have counts as theirs in common.
fn merge(base: Option<&Playbook>, sides: [&Playbook; 2]) -> Result<Merged, Unmergeable> {
    for side in sides.into_iter().chain(base) {
        match side.root.get(VERSION_KEY).and_then(Value::as_str) {
            Some(VERSION) | None => {}
            Some(other) => return Err(Unmergeable::Newer(other.to_owned())),
        }
    }
    let [ours, theirs] = sides.map(Playbook::to_bytes);
    let base_bytes = base.map(Playbook::to_bytes);
    let unchanged = if ours == theirs || base_bytes.as_ref() == Some(&theirs) {
        sides[0]
    } else if base_bytes.as_ref() == Some(&ours) {
        sides[1]
    } else {
        // Of two changes in one second their bytes decide, so that both sides find the same.
        let is_ours_later = (updated(sides[0]), ours) > (updated(sides[1]), theirs);
        let later = if is_ours_later {
            Later::Ours
        } else {
            Later::Theirs
        };
        return Ok(both(base, sides, later));
    };
    Ok(Merged {
        playbook: unchanged.clone(),
        decided: Vec::new(),
    })
}

fn updated(playbook: &Playbook) -> Option<Timestamp> {
    playbook.root.get(LAST_UPDATED)?.as_str()?.parse().ok()
}

fn both(base: Option<&Playbook>, sides: [&Playbook; 2], later: Later) -> Merged {
    let empty = Playbook::empty();
    let before = base.unwrap_or(&empty);
    let mut highest: BTreeMap<String, u64> = BTreeMap::new();
    for playbook in [before, sides[0], sides[1]] {
        raise(&mut highest, as_numbers(&playbook.highest_numbers()));
    }
    let mut old = base.map_or_else(Side::default, Side::of);
    let mut new = sides.map(Side::of);
    names::follow_renumbered(&mut old, &mut new, &mut highest);
    let [ours, theirs] = &mut new;
    let names = names::new_names(&old.points, [&ours.points, &theirs.points], &mut highest);
    ours.rename(&names[0]);
    theirs.rename(&names[1]);
    let mut decided = Vec::new();
    let points = PointsMerge::new(base.map(|_| &old), &new, later).points(&mut decided);
    for (old, new) in names.iter().flatten() {
        decided.push(if points.contains_key(old) {
            format!("{old} of one side is {new} now: both sides had given that number")
        } else {
            format!("{old} and {new} said the same: they are {new} now")
        });
    }
    let mut root = pick_each(&before.root, sides.map(|side| &side.root), later);
    if let Some(last) = sides.map(updated).into_iter().max().flatten() {
        root.insert(LAST_UPDATED.to_owned(), last.to_string().into());
    }
    root.insert(SECTIONS.to_owned(), sections(before, sides, &points, later));
    let meta = merged_meta(&before.meta, &new, points, later);
    Merged {
        playbook: Playbook::made(root, meta, sides[0]),
        decided,
    }
}

fn as_numbers(map: &BTreeMap<String, u64>) -> impl Iterator<Item = (&str, u64)> {
    map.iter()
        .map(|(series, number)| (series.as_str(), *number))
}

/// Returns the sections with the merged points: those of the base in its order, then what is new
/// by age.
fn sections(base: &Playbook, sides: [&Playbook; 2], points: &Points, later: Later) -> Value {
    let [before, ours, theirs] =
        [base, sides[0], sides[1]].map(|playbook| playbook.sections().cloned().unwrap_or_default());
    let mut merged = pick_each(&before, [&ours, &theirs], later);
    for state in points.values() {
        let section = merged.entry(&state.section);
        section.or_insert(Value::Array(Vec::new()));
    }
    let known: HashSet<&str> = base.names().collect();
    for (title, value) in &mut merged {
        let is_list = |map: &Map<String, Value>| map.get(title).is_none_or(Value::is_array);
        if !value.is_array() || !is_list(&ours) || !is_list(&theirs) {
            continue;
        }
        let here = points.iter().filter(|(_, state)| state.section == *title);
        let mut here: Vec<(&String, &PointState)> = here.collect();
        here.sort_by_key(|(name, state)| {
            let is_old = known.contains(name.as_str());
            let place = if is_old { state.index } else { usize::MAX };
            (!is_old, place, state.note.added, *name)
        });
        let entries = here
            .into_iter()
            .map(|(_, state)| Value::Object(state.entry.clone()));
        *value = entries.chain(odd_entries(title, base, sides)).collect();
    }
    Value::Object(merged)
}

/// Returns the entries of a section that are no key points: those of both, and what either added.
fn odd_entries(title: &str, base: &Playbook, sides: [&Playbook; 2]) -> Vec<Value> {
    let [before, ours, theirs] = [base, sides[0], sides[1]].map(|playbook| {
        let places = playbook.places().into_values();
        let named = places.filter(|place| place.title == title);
        let named: HashSet<usize> = named.map(|place| place.index).collect();
        let list = playbook.list(title).iter().enumerate();
        let odd = list.filter(|(index, _)| !named.contains(index));
        odd.map(|(_, value)| value.clone()).collect::<Vec<Value>>()
    });
    let count = |list: &[Value], value: &Value| list.iter().filter(|v| *v == value).count();
    let mut merged: Vec<Value> = Vec::new();
    let mut all: Vec<&Value> = before.iter().chain(&ours).chain(&theirs).collect();
    all[before.len()..].sort_by_key(ToString::to_string);
    for value in all {
        let [was, one, other] = [&before, &ours, &theirs].map(|list| count(list, value));
        let wanted = if one == other {
            one
        } else {
            (one + other).saturating_sub(was)
        };
        while count(&merged, value) < wanted {
            merged.push(value.clone());
        }
    }
    merged
}

/// Returns what both sides know of points and jobs.
fn merged_meta(base: &Meta, sides: &[Side; 2], points: Points, later: Later) -> Meta {
    let [ours, theirs] = sides.each_ref().map(|side| &side.meta);
    let mut next = ours.next.clone();
    raise(&mut next, as_numbers(&theirs.next));
    let [first, second] = later.first([&ours.aliases, &theirs.aliases]);
    let mut aliases = second.clone();
    aliases.extend(first.clone());
    // The new names of one branch are told to the other, which gives the old ones on.
    let is_shared = |name: &String| sides.iter().any(|side| side.shared.contains(name));
    aliases
        .retain(|name, target| name != target && (!points.contains_key(name) || is_shared(name)));
    // A job of the base that one side lacks was reverted there, or that side picked a later one
    // without it: its votes are not there.
    let of_both = |job: &&String| ours.applied.contains(job) && theirs.applied.contains(job);
    let applied: BTreeSet<&String> = ours.applied.iter().chain(&theirs.applied).collect();
    let applied = applied.into_iter();
    let applied = applied.filter(|job| of_both(job) || !base.applied.contains(job));
    // Their ids begin with their times.
    let mut applied: Vec<String> = applied.cloned().collect();
    applied.drain(..applied.len().saturating_sub(meta::APPLIED_KEPT));
    let mut votes = ours.votes.clone();
    votes.extend(theirs.votes.clone());
    votes.retain(|job, _| applied.contains(job));
    let notes = points.into_iter().map(|(name, state)| (name, state.note));
    Meta {
        next,
        aliases,
        points: notes.filter(|(_, note)| !note.is_blank()).collect(),
        applied,
        votes,
        rest: pick_each(&base.rest, [&ours.rest, &theirs.rest], later),
    }
}
