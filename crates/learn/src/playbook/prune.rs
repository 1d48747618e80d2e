//! What leaves the playbook by itself: points that harm, and the least valuable ones when
//! it is full.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::change::{ChangeKind, PointChange};
use super::edit::Editor;
use super::entry::{self, COUNTERS};
use super::model::{Playbook, PointPlace};
use super::ranking::Rank;
use super::usage::UsageRecord;

/// From how many harmful votes on a point may be pruned.
pub(crate) const PRUNE_FROM: u64 = 3;

/// How large a playbook may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// The most key points.
    pub points: usize,
    /// The most bytes of the file.
    pub bytes: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            points: 1_000,
            bytes: 512 * 1024,
        }
    }
}

/// Removes every point that harmed at least `PRUNE_FROM` times and more often than it
/// helped, in all sections; pinned ones stay.
pub fn prune(playbook: &mut Playbook, now: Timestamp) -> Vec<PointChange> {
    let harm = |fields: &Map<String, Value>| {
        let [helpful, harmful] = COUNTERS.map(|counter| entry::count(fields, counter));
        let pinned = entry::name(fields)
            .and_then(|name| playbook.meta.points.get(name))
            .is_some_and(|note| note.pinned);
        (harmful >= PRUNE_FROM && harmful > helpful && !pinned)
            .then(|| format!("harmful {harmful} times, helpful {helpful} times"))
    };
    let gone = playbook.entries();
    let gone = gone.filter_map(|(place, fields)| Some((place, harm(fields)?)));
    let mut gone: Vec<(PointPlace, String)> = gone.collect();
    // From the end, so that the indexes in front stay right.
    gone.reverse();
    let mut editor = Editor::new(playbook, "", now);
    for (place, reason) in gone {
        editor.reason = reason;
        editor.remove(&place, None, ChangeKind::Prune);
    }
    editor.done.changes
}

/// Removes the lowest ranked points until the playbook is within its caps, pinned ones excepted.
///
/// A playbook that was over a cap `before` the job is kept from growing, never cut: what
/// leaves makes room for what came, no more. Votes and dates never make a point leave.
pub fn enforce(
    playbook: &mut Playbook,
    before: &Playbook,
    caps: Caps,
    now: Timestamp,
) -> Vec<PointChange> {
    let mut editor = Editor::new(playbook, "", now);
    let old = size(before);
    while let Some(reason) = caps.exceeded(editor.playbook, old) {
        let Some(place) = least(editor.playbook) else {
            break;
        };
        editor.reason = reason;
        editor.remove(&place, None, ChangeKind::Evict);
    }
    editor.done.changes
}

impl Caps {
    fn exceeded(self, playbook: &Playbook, old: (usize, usize)) -> Option<String> {
        let (points, text) = size(playbook);
        if points > self.points && points > old.0 {
            return Some(format!("the playbook is full: {} key points", self.points));
        }
        if text > old.1 && playbook.to_bytes().len() > self.bytes {
            return Some(format!("the playbook is full: {} bytes", self.bytes));
        }
        None
    }
}

/// Returns the number of points and the length of their names and texts, which votes and dates
/// leave as they are.
fn size(playbook: &Playbook) -> (usize, usize) {
    let lengths = playbook.points().map(|p| p.name.len() + p.text.len());
    lengths.fold((0, 0), |(count, sum), length| (count + 1, sum + length))
}

/// Returns the place of the lowest ranked point that is not pinned; of equal ones the last.
fn least(playbook: &Playbook) -> Option<PointPlace> {
    let usage = UsageRecord::default();
    let points = playbook.points();
    let free = points.filter(|point| !point.is_pinned());
    let ranked = free.map(|point| (std::cmp::Reverse(Rank::of(&point, &usage)), point.name));
    let (_, name) = ranked.max_by_key(|(rank, _)| *rank)?;
    playbook.places().remove(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    const A: &str = "a 0/2 11-01";
    const B: &str = "b 5/0 11-01";
    const C: &str = "c 0/0 01-01";
    const D: &str = "d 0/0 11-21";

    fn now() -> Timestamp {
        "2026-11-21T10:00:00Z".parse().unwrap()
    }

    /// Makes a playbook of points by name, votes and the day of 2026 on which they were added; `c`
    /// is pinned.
    fn playbook(points: &[&str]) -> Playbook {
        let mut list = Vec::new();
        let mut notes = json!({});
        for point in points {
            let [name, votes, day] = point.split(' ').collect::<Vec<_>>().try_into().unwrap();
            let votes: Vec<u64> = votes
                .split('/')
                .map(|votes| votes.parse().unwrap())
                .collect();
            list.push(json!({"name": name, "text": "x".repeat(100),
                "helpful": votes[0], "harmful": votes[1]}));
            notes[name] = json!({"added": format!("2026-{day}T00:00:00Z"), "pinned": name == "c"});
        }
        let file = json!({"sections": {"OTHERS": list}, "playbook": {"points": notes}});
        Playbook::parse(file.to_string().as_bytes()).unwrap()
    }

    #[rstest]
    #[case::the_least_valuable(&[A, B, C], &[A, B, C, D], 3, "b c d", "a")]
    #[case::of_equal_votes_the_oldest(
        &["a 1/0 03-01", "b 1/0 10-01"], &["a 1/0 03-01", "b 1/0 10-01", "d 1/0 11-20"], 2, "b d", "a"
    )]
    fn at_the_cap_it_leaves_and_pinned_ones_never(
        #[case] before: &[&str],
        #[case] after: &[&str],
        #[case] points: usize,
        #[case] kept: &str,
        #[case] gone: &str,
    ) {
        let mut after = playbook(after);
        let caps = Caps {
            points,
            ..Caps::default()
        };
        let changes = enforce(&mut after, &playbook(before), caps, now());
        let names: Vec<_> = after.points().map(|p| p.name).collect();
        assert_eq!(names.join(" "), kept);
        assert_eq!(
            (changes[0].kind, &*changes[0].id),
            (ChangeKind::Evict, gone)
        );
        let reason = format!("the playbook is full: {points} key points");
        assert_eq!(changes[0].reason, reason);
    }

    #[test]
    fn a_playbook_over_its_caps_is_kept_from_growing_but_never_cut() {
        let before = playbook(&[A, B, C]);
        let caps = Caps {
            points: 2,
            bytes: 100,
        };
        let mut voted = before.clone();
        voted.mark_used(["a"], now());
        voted.mark_applied_to(&before, "a job with a long name");
        assert!(enforce(&mut voted, &before, caps, now()).is_empty());
        let mut grown = playbook(&[A, B, C, D]);
        enforce(&mut grown, &before, caps, now());
        assert_eq!(grown.points().count(), 3);
    }

    #[test]
    fn the_file_stays_within_its_bytes() {
        let before = playbook(&[A, B]);
        let bytes = before.to_bytes().len() + 50;
        let caps = Caps {
            points: 1_000,
            bytes,
        };
        let mut after = playbook(&[A, B, C, D]);
        let changes = enforce(&mut after, &before, caps, now());
        assert!(after.to_bytes().len() <= bytes && changes.len() <= 3);
        let reason = format!("the playbook is full: {bytes} bytes");
        assert_eq!(changes[0].reason, reason);
    }
}
