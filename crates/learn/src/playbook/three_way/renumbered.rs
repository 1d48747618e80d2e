//! Points that an earlier merge gave a new number, while the other branch went on under the old
//! one: all three playbooks get to call them by one name before they are compared.
//!
//! Main and a branch both gave `pat-002`, and a merge into main made `pat-003` of the branch's.
//! On the branch it is `pat-002` still. What the branch does to it is done to `pat-003`.

use std::collections::BTreeMap;

use super::names::{next_name, said};
use super::points::Points;

/// New names for the base and for each side, by their old ones.
#[derive(Debug, Default)]
pub(super) struct Renumbered {
    pub(super) base: BTreeMap<String, String>,
    pub(super) sides: [BTreeMap<String, String>; 2],
}

impl Renumbered {
    /// Finds them; a point that has one of their names for itself gets a number above `highest`.
    pub(super) fn of(
        base: &Points,
        sides: [&Points; 2],
        aliases: [&BTreeMap<String, String>; 2],
        highest: &mut BTreeMap<String, u64>,
    ) -> Self {
        let mut renumbered = Self::default();
        for (name, entry) in &base.0 {
            let found: [Option<&String>; 2] = std::array::from_fn(|at| {
                let here = sides[at].0.get(name)?;
                if said(here) == said(entry) {
                    return None;
                }
                let is_new =
                    |new: &&String| !base.0.contains_key(*new) && sides[at].0.contains_key(*new);
                let text = said(entry);
                let by_text = sides[at].0.iter().filter(|(_, other)| said(other) == text);
                let by_text = by_text.map(|(new, _)| new).find(is_new);
                by_text.or_else(|| aliases[at].get(name).filter(is_new))
            });
            let Some(new) = found.iter().flatten().min().copied() else {
                continue;
            };
            renumbered.base.insert(name.clone(), new.clone());
            for (at, side) in sides.iter().enumerate() {
                let now = found[at].unwrap_or(name);
                if now == new || !side.0.contains_key(now) {
                    continue;
                }
                if let Some(other) = side.0.get(new) {
                    let next = next_name(highest, new, other);
                    renumbered.sides[at].insert(new.clone(), next);
                }
                renumbered.sides[at].insert(now.clone(), new.clone());
            }
        }
        renumbered
    }
}
