//! Merges two playbooks with a common ancestor, as if one had learned both sides' changes.
//!
//! Points are matched by name and text. The changes of a counter are added; a job that both sides
//! applied counts once, since the file records each job's votes. If both added the same text, it is
//! one point. If both added different texts under one name, the later one gets a new number. If
//! both edited a text, the later side wins, and the note keeps the other. A point that one side
//! removed stays if the other edited it or voted on it. Unknown fields are merged by key, as git
//! would. `docs/branches.md` lists what the files cannot decide.

mod conflict;
mod points;
#[cfg(test)]
mod tests;

pub use conflict::{Sides, has_markers, sides};

use std::collections::{BTreeMap, BTreeSet, HashSet};

use jiff::Timestamp;
use playbook_core::worded;
use serde_json::{Map, Value};

use self::points::{Points, PointsMerge, Side, follow_renumbered, new_names};
use super::change::PointState;
use super::id::raise;
use super::model::{APPLIED_KEPT, LAST_UPDATED, Meta, Playbook, VERSION, VERSION_KEY};
use super::read::{Defect, migrate};

#[derive(Debug, Clone)]
pub struct Merged {
    pub playbook: Playbook,
    /// The decisions of the merge, in sentences for the user.
    pub decided: Vec<String>,
}

worded! {
    /// One of the three files of a merge.
    pub enum MergeFile {
        Base = "the base",
        Ours = "our side",
        Theirs = "their side",
    }
}

/// The reason why files are not merged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unmergeable {
    #[error("{}: {flaw}", file.word())]
    Unreadable { file: MergeFile, flaw: Defect },
    /// A newer version wrote one of the files.
    #[error("its format is version {0}, and this program knows {VERSION}")]
    Newer(String),
}

/// Merges two files with their common ancestor, which may be missing or empty.
///
/// A base with conflict markers is git's combination of several bases: it counts as their merge.
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

/// Returns the changed value; of two changes, the later side's. Between a change and a removal the
/// change wins.
pub(super) fn pick<'v, T: PartialEq>(
    base: Option<&'v T>,
    [later, earlier]: [Option<&'v T>; 2],
) -> Option<&'v T> {
    if later == base {
        earlier
    } else if earlier == base {
        later
    } else {
        later.or(earlier)
    }
}

/// Picks the value of each key: first the keys of the later side in their order, then the other's.
/// If one side changed nothing, returns the other.
pub(super) fn pick_each(
    base: &Map<String, Value>,
    [later, earlier]: [&Map<String, Value>; 2],
) -> Map<String, Value> {
    if later == base {
        return earlier.clone();
    }
    let more = earlier.keys().filter(|key| !later.contains_key(*key));
    let picked = later.keys().chain(more).filter_map(|key| {
        let picked = pick(base.get(key), [later.get(key), earlier.get(key)])?;
        Some((key.clone(), picked.clone()))
    });
    picked.collect()
}

/// Merges two sides; without a base, their common content counts as one.
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
        // Between changes in the same second the bytes decide, so that both sides get the same
        // result.
        let mut sides = sides;
        if (updated(sides[0]), ours) < (updated(sides[1]), theirs) {
            sides.reverse();
        }
        return Ok(both(base, sides));
    };
    Ok(Merged {
        playbook: unchanged.clone(),
        decided: Vec::new(),
    })
}

fn updated(playbook: &Playbook) -> Option<Timestamp> {
    playbook.root.get(LAST_UPDATED)?.as_str()?.parse().ok()
}

fn both(base: Option<&Playbook>, sides: [&Playbook; 2]) -> Merged {
    let empty = Playbook::empty();
    let before = base.unwrap_or(&empty);
    let mut highest: BTreeMap<String, u64> = BTreeMap::new();
    for playbook in [before, sides[0], sides[1]] {
        for (series, number) in playbook.highest_numbers() {
            raise(&mut highest, &series, number);
        }
    }
    let mut old = base.map_or_else(Side::default, Side::of);
    let mut new = sides.map(Side::of);
    follow_renumbered(&mut old, &mut new, &mut highest);
    let names = new_names(
        &old.points,
        new.each_ref().map(|side| &side.points),
        &mut highest,
    );
    for (side, names) in new.iter_mut().zip(&names) {
        side.rename(names);
    }
    let mut decided = Vec::new();
    let points = PointsMerge::new(base.map(|_| &old), &new).points(&mut decided);
    for (old, new) in names.iter().flatten() {
        decided.push(if points.contains_key(old) {
            format!("{old} of one side is {new} now: both sides had given that number")
        } else {
            format!("{old} and {new} said the same: they are {new} now")
        });
    }
    let mut root = pick_each(&before.root, sides.map(|side| &side.root));
    if let Some(last) = sides.map(updated).into_iter().max().flatten() {
        root.insert(LAST_UPDATED.to_owned(), last.to_string().into());
    }
    let playbook = Playbook {
        root,
        sections: sections(before, sides, &points),
        meta: merged_meta(&before.meta, &new, points),
        ..sides[0].clone()
    };
    Merged { playbook, decided }
}

/// Returns the sections with the merged points: those of the base in its order, then new ones by
/// age.
fn sections(base: &Playbook, sides: [&Playbook; 2], points: &Points) -> Map<String, Value> {
    let [later, earlier] = sides.map(|side| &side.sections);
    let mut merged = pick_each(&base.sections, [later, earlier]);
    for state in points.values() {
        let section = merged.entry(&state.section);
        section.or_insert(Value::Array(Vec::new()));
    }
    let known: HashSet<&str> = base.names().collect();
    for (title, value) in &mut merged {
        let is_list = |map: &Map<String, Value>| map.get(title).is_none_or(Value::is_array);
        if !value.is_array() || !is_list(later) || !is_list(earlier) {
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
    merged
}

/// Returns the entries of a section that are no key points: the common ones, and those either side
/// added.
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

fn merged_meta(base: &Meta, sides: &[Side; 2], points: Points) -> Meta {
    let [later, earlier] = sides.each_ref().map(|side| &side.meta);
    let mut next = later.next.clone();
    for (series, number) in &earlier.next {
        raise(&mut next, series, *number);
    }
    let mut aliases = earlier.aliases.clone();
    aliases.extend(later.aliases.clone());
    // The new names of one branch become aliases for the other, which still uses the old ones.
    let is_shared = |name: &String| sides.iter().any(|side| side.shared.contains(name));
    aliases
        .retain(|name, target| name != target && (!points.contains_key(name) || is_shared(name)));
    // A job of the base that one side lacks was reverted there, or that side cherry-picked a later
    // one without it. Its votes are missing there.
    let of_both = |job: &&String| later.applied.contains(job) && earlier.applied.contains(job);
    let applied: BTreeSet<&String> = later.applied.iter().chain(&earlier.applied).collect();
    let applied = applied.into_iter();
    let applied = applied.filter(|job| of_both(job) || !base.applied.contains(job));
    // Job ids begin with their times.
    let mut applied: Vec<String> = applied.cloned().collect();
    applied.drain(..applied.len().saturating_sub(APPLIED_KEPT));
    let mut votes = later.votes.clone();
    votes.extend(earlier.votes.clone());
    votes.retain(|job, _| applied.contains(job));
    let notes = points.into_iter().map(|(name, state)| (name, state.note));
    Meta {
        next,
        aliases,
        points: notes.filter(|(_, note)| !note.is_blank()).collect(),
        applied,
        votes,
        rest: pick_each(&base.rest, [&later.rest, &earlier.rest]),
    }
}
