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
//! | a job that an older version applied on both sides | counts twice: its votes do not stand in the file |
//! | no base, and jobs that are no longer known | of two counts the larger one |
//! | a counter that one side changed by hand | its difference is added like a vote |
//! | a point that both sides merged away, each into another | its votes go with the later merge |
//! | a point that one side picked from the other, and one of them edited | both wordings stay |
//! | a point of each side edited to say the same | two points that say the same; `playbook merge` joins them |

mod conflict;
mod files;
mod keys;
mod names;
mod points;
#[cfg(test)]
mod tests;

pub use conflict::{Sides, has_markers, sides};
pub use files::{MergeFile, Unmergeable, merge_files};

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Map, Value};

use self::names::{Naming, Renames, Renumbered};
use self::points::{MergedPoints, Points, PointsMerge};
use super::change::PointState;
use super::entry;
use super::job_votes::renamed;
use super::meta::{self, Meta, Note};
use super::model::{LAST_UPDATED, Playbook, SECTIONS, VERSION, VERSION_KEY};

/// Two playbooks as one.
#[derive(Debug, Clone)]
pub struct Merged {
    pub playbook: Playbook,
    /// What had to be decided, in sentences for the user.
    pub decided: Vec<String>,
}

/// A side was written by a newer version, whose format is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("its format is version {0}, and this program knows {VERSION}")]
pub struct NewerFormat(String);

/// The side whose word counts where both have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Later {
    Ours,
    Theirs,
}

impl Later {
    /// The later of two sides first.
    fn first<T>(self, [ours, theirs]: [T; 2]) -> [T; 2] {
        match self {
            Self::Ours => [ours, theirs],
            Self::Theirs => [theirs, ours],
        }
    }

    /// By the time of the last change; of two of the same second by what they say, so that it
    /// does not matter which side asks.
    fn of(sides: [&Playbook; 2]) -> Self {
        let [ours, theirs] = sides.map(|side| (updated(side), side.to_bytes()));
        if ours > theirs {
            Self::Ours
        } else {
            Self::Theirs
        }
    }
}

/// Merges what two sides made of `base`; without one, what both have counts as theirs in common.
pub fn merge(base: Option<&Playbook>, sides: [&Playbook; 2]) -> Result<Merged, NewerFormat> {
    for side in sides.into_iter().chain(base) {
        match side.root.get(VERSION_KEY).and_then(Value::as_str) {
            Some(VERSION) | None => {}
            Some(other) => return Err(NewerFormat(other.to_owned())),
        }
    }
    let [ours, theirs] = sides.map(Playbook::to_bytes);
    let base_bytes = base.map(Playbook::to_bytes);
    let only = |playbook: &Playbook| Merged {
        playbook: playbook.clone(),
        decided: Vec::new(),
    };
    Ok(if ours == theirs || base_bytes.as_ref() == Some(&theirs) {
        only(sides[0])
    } else if base_bytes.as_ref() == Some(&ours) {
        only(sides[1])
    } else {
        both(base, sides)
    })
}

fn both(base: Option<&Playbook>, sides: [&Playbook; 2]) -> Merged {
    let later = Later::of(sides);
    let empty = Playbook::empty();
    let before = base.unwrap_or(&empty);
    let mut highest = highest(sides.into_iter().chain(base));
    let as_is = sides.map(Points::of);
    let base_points = base.map(Points::of);
    let numbers = Renumbered::of(
        base_points.as_ref().unwrap_or(&Points::default()),
        [&as_is[0], &as_is[1]],
        sides.map(|side| &side.meta.aliases),
        &mut highest,
    );
    let base_points = base_points.map(|points| points.renamed(&numbers.base));
    let points: [Points; 2] = std::array::from_fn(|at| as_is[at].renamed(&numbers.sides[at]));
    let Renames(names) = Naming {
        base: base_points.as_ref().unwrap_or(&Points::default()),
        sides: [&points[0], &points[1]],
        highest,
    }
    .renames();
    let points: [Points; 2] = std::array::from_fn(|at| points[at].renamed(&names[at]));
    let metas: [Meta; 2] = std::array::from_fn(|at| {
        let meta = with_names(&sides[at].meta, &numbers.sides[at]);
        with_names(&meta, &names[at])
    });
    let jobs = JobVotes::of(before, &metas);
    let MergedPoints {
        points,
        mut decided,
    } = PointsMerge {
        base: base_points.as_ref(),
        sides: [&points[0], &points[1]],
        own: [&jobs.own[0], &jobs.own[1]],
        common: &jobs.common,
        aliases: [&metas[0].aliases, &metas[1].aliases],
        later,
    }
    .points();
    for (old, new) in names.iter().flatten() {
        decided.push(if points.0.contains_key(old) {
            format!("{old} of one side is {new} now: both sides had given that number")
        } else {
            format!("{old} and {new} said the same: they are {new} now")
        });
    }
    let mut root = keys::map(&before.root, sides.map(|side| &side.root), later);
    let last = sides.map(updated).into_iter().max().flatten();
    if let Some(last) = last {
        root.insert(LAST_UPDATED.to_owned(), last.to_string().into());
    }
    root.insert(SECTIONS.to_owned(), sections(before, sides, &points, later));
    // The new names of one branch are told to the other, which gives the old ones on.
    let mut shared: BTreeSet<&String> = numbers
        .sides
        .iter()
        .chain(&names)
        .flat_map(BTreeMap::keys)
        .collect();
    for (side, points) in sides.iter().zip(&as_is) {
        let aliases = side.meta.aliases.keys();
        shared.extend(aliases.filter(|name| points.0.contains_key(*name)));
    }
    let mut meta = merged_meta(&before.meta, &metas, later);
    let is_free = |name: &String| !points.0.contains_key(name) || shared.contains(name);
    meta.aliases
        .retain(|name, target| is_free(name) && name != target);
    meta.points = notes(&points);
    Merged {
        playbook: Playbook::made(root, meta, sides[0]),
        decided,
    }
}

fn updated(playbook: &Playbook) -> Option<Timestamp> {
    let last = playbook.root.get(LAST_UPDATED)?;
    last.as_str()?.parse().ok()
}

fn highest<'p>(all: impl Iterator<Item = &'p Playbook>) -> BTreeMap<String, u64> {
    let mut highest: BTreeMap<String, u64> = BTreeMap::new();
    for (slug, number) in all.flat_map(Playbook::highest_numbers) {
        let known = highest.entry(slug).or_default();
        *known = number.max(*known);
    }
    highest
}

/// What a side knows, with the new names of its points. An old name that no point has any more
/// stays as an alias.
fn with_names(meta: &Meta, names: &BTreeMap<String, String>) -> Meta {
    let mut meta = meta.clone();
    for votes in meta.votes.values_mut().filter(|_| !names.is_empty()) {
        *votes = renamed(votes, names);
    }
    for target in meta.aliases.values_mut() {
        if let Some(new) = names.get(target) {
            target.clone_from(new);
        }
    }
    meta.aliases.extend(names.clone());
    meta
}

/// What jobs did to the counters: those of one side alone, and those of both.
struct JobVotes {
    own: [super::job_votes::Moves; 2],
    common: super::job_votes::Moves,
}

impl JobVotes {
    fn of(base: &Playbook, metas: &[Meta; 2]) -> Self {
        let known: BTreeSet<&String> = base.meta.applied.iter().collect();
        let [ours, theirs] = metas.each_ref().map(|meta| {
            let jobs = meta.applied.iter();
            jobs.filter(|job| !known.contains(job))
                .collect::<BTreeSet<_>>()
        });
        let own = |at: usize, jobs: &BTreeSet<&String>, others: &BTreeSet<&String>| {
            metas[at].moves_of(jobs.difference(others).copied())
        };
        Self {
            own: [own(0, &ours, &theirs), own(1, &theirs, &ours)],
            common: metas[0].moves_of(ours.intersection(&theirs).copied()),
        }
    }
}

/// The sections with the merged points: those of the base in its order, then what is new by age.
fn sections(base: &Playbook, sides: [&Playbook; 2], points: &Points, later: Later) -> Value {
    let nothing = Map::new();
    let of = |playbook: &'_ Playbook| playbook.sections().cloned().unwrap_or_default();
    let maps = sides.map(of);
    let before = base.sections().unwrap_or(&nothing);
    let mut merged = keys::map(before, [&maps[0], &maps[1]], later);
    for entry in points.0.values() {
        merged
            .entry(&entry.section)
            .or_insert(Value::Array(Vec::new()));
    }
    for (title, value) in &mut merged {
        let is_list = |map: &Map<String, Value>| map.get(title).is_none_or(Value::is_array);
        if !value.is_array() || !maps.iter().all(is_list) {
            continue;
        }
        let mut here: Vec<(&String, &PointState)> = points.0.iter().collect();
        here.retain(|(_, entry)| entry.section == *title);
        here.sort_by_key(|(name, entry)| {
            let is_old = base.names().any(|known| known == name.as_str());
            let place = if is_old { entry.index } else { usize::MAX };
            (!is_old, place, entry.note.added, (*name).clone())
        });
        let mut list: Vec<Value> = here
            .into_iter()
            .map(|(_, entry)| Value::Object(entry.entry.clone()))
            .collect();
        list.extend(odd(title, base, sides));
        *value = Value::Array(list);
    }
    Value::Object(merged)
}

/// What stands in a section and is no key point: what both have, and what either added.
fn odd(title: &str, base: &Playbook, sides: [&Playbook; 2]) -> Vec<Value> {
    let of = |playbook: &Playbook| -> Vec<Value> {
        let points = Points::of(playbook);
        let is_point = |index: usize, value: &Value| {
            let name = value.as_object().and_then(entry::name);
            let entry = name.and_then(|name| points.0.get(name));
            entry.is_some_and(|entry| entry.section == title && entry.index == index)
        };
        let list = playbook.list(title).iter().enumerate();
        let odd = list.filter(|(index, value)| !is_point(*index, value));
        odd.map(|(_, value)| value.clone()).collect()
    };
    let count = |list: &[Value], value: &Value| list.iter().filter(|v| *v == value).count();
    let (before, [ours, theirs]) = (of(base), sides.map(of));
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

fn notes(points: &Points) -> BTreeMap<String, Note> {
    let notes = points.0.iter().filter(|(_, entry)| !entry.note.is_blank());
    notes
        .map(|(name, entry)| (name.clone(), entry.note.clone()))
        .collect()
}

/// What both sides know beside their points.
fn merged_meta(base: &Meta, [ours, theirs]: &[Meta; 2], later: Later) -> Meta {
    let mut next = ours.next.clone();
    for (slug, number) in &theirs.next {
        let known = next.entry(slug.clone()).or_default();
        *known = (*known).max(*number);
    }
    let [first, second] = later.first([&ours.aliases, &theirs.aliases]);
    let mut aliases = second.clone();
    aliases.extend(first.clone());
    // A job of the base that one side lacks was reverted there, or that side picked a later one
    // without it: its votes do not stand there.
    let of_both = |job: &&String| ours.applied.contains(job) && theirs.applied.contains(job);
    let applied: BTreeSet<&String> = ours.applied.iter().chain(&theirs.applied).collect();
    let applied = applied.into_iter();
    let applied: BTreeSet<&String> = applied
        .filter(|job| of_both(job) || !base.applied.contains(job))
        .collect();
    let surplus = applied.len().saturating_sub(meta::APPLIED_KEPT);
    // Their ids begin with their times.
    let applied: Vec<String> = applied.into_iter().skip(surplus).cloned().collect();
    let mut votes = ours.votes.clone();
    votes.extend(theirs.votes.clone());
    votes.retain(|job, _| applied.contains(job));
    Meta {
        next,
        aliases,
        points: BTreeMap::new(),
        applied,
        votes,
        rest: keys::map(&base.rest, [&ours.rest, &theirs.rest], later),
    }
}
