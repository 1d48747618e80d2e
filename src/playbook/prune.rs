//! What leaves the playbook by itself: points that harm, and the least valuable ones when
//! it is full.

use jiff::Timestamp;
use serde_json::Value;

use super::change::{Change, ChangeKind};
use super::edit::{Cause, Editor};
use super::entry::{self, Counter};
use super::model::{Place, Playbook};
use super::section::Section;
use super::worth::{Standing, Worth};

/// From how many harmful votes on a point may be pruned.
pub const PRUNE_FROM: u64 = 3;

/// How large a playbook may grow.
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

/// Removes every point that harmed at least [`PRUNE_FROM`] times and more often than it
/// helped, in all sections; pinned ones stay.
pub fn prune(playbook: &mut Playbook, now: Timestamp) -> Vec<Change> {
    let mut editor = Editor::new(playbook, now);
    let titles: Vec<String> = editor.playbook.titles().map(str::to_owned).collect();
    for title in titles {
        let mut index = 0;
        while let Some(value) = editor.playbook.list(&title).get(index) {
            let votes = harm(value).filter(|_| !is_pinned(editor.playbook, value));
            let Some((helpful, harmful)) = votes else {
                index += 1;
                continue;
            };
            let place = Place {
                title: title.clone(),
                index,
            };
            let reason = format!("harmful {harmful} times, helpful {helpful} times");
            let cause = Cause::new(ChangeKind::Prune, &reason);
            editor.remove(&place, None, &cause);
        }
    }
    editor.done.changes
}

/// The votes of a point that does more harm than good.
fn harm(value: &Value) -> Option<(u64, u64)> {
    let fields = value.as_object()?;
    let helpful = entry::count(fields, Counter::Helpful);
    let harmful = entry::count(fields, Counter::Harmful);
    (harmful >= PRUNE_FROM && harmful > helpful).then_some((helpful, harmful))
}

fn is_pinned(playbook: &Playbook, value: &Value) -> bool {
    entry::name(value)
        .and_then(|name| playbook.meta.points.get(name))
        .is_some_and(|note| note.pinned)
}

/// Makes the points that are worth least leave (see [`Worth`]) until the playbook is
/// within its caps, pinned ones excepted.
///
/// A playbook that was over a cap `before` the job is kept from growing, never cut: what
/// leaves makes room for what came, no more. Votes and dates never make a point leave.
pub fn enforce(
    playbook: &mut Playbook,
    before: &Playbook,
    caps: Caps,
    now: Timestamp,
) -> Vec<Change> {
    let mut editor = Editor::new(playbook, now);
    let old = Size::of(before);
    while let Some(reason) = caps.exceeded(editor.playbook, old) {
        let Some(place) = least(editor.playbook, now) else {
            break;
        };
        let cause = Cause::new(ChangeKind::Evict, &reason);
        editor.remove(&place, None, &cause);
    }
    editor.done.changes
}

impl Caps {
    /// Why a point has to leave, if one has to.
    fn exceeded(self, playbook: &Playbook, old: Size) -> Option<String> {
        let size = Size::of(playbook);
        if size.points > self.points && size.points > old.points {
            return Some(format!("the playbook is full: {} key points", self.points));
        }
        if size.text > old.text && playbook.to_bytes().len() > self.bytes {
            return Some(format!("the playbook is full: {} bytes", self.bytes));
        }
        None
    }
}

/// What grows when points come in or get longer, but not by votes and dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    points: usize,
    text: usize,
}

impl Size {
    fn of(playbook: &Playbook) -> Self {
        let mut size = Self { points: 0, text: 0 };
        for point in playbook.points() {
            size.points += 1;
            size.text += point.name.len() + point.text.len();
        }
        size
    }
}

/// The place of the point that is worth least and not pinned; of equal ones the last.
fn least(playbook: &Playbook, now: Timestamp) -> Option<Place> {
    let mut least: Option<(Worth, Place)> = None;
    for section in Section::ALL {
        for (index, value) in playbook.list(section.title()).iter().enumerate() {
            let Some(point) = playbook.point(section, value) else {
                continue;
            };
            let standing = point.note.map(Standing::from).unwrap_or_default();
            if standing.pinned {
                continue;
            }
            let worth = Worth::of(point.helpful, point.harmful, standing, now);
            if least
                .as_ref()
                .is_none_or(|(known, _)| worth.compare(known).is_le())
            {
                let title = section.title().to_owned();
                least = Some((worth, Place { title, index }));
            }
        }
    }
    least.map(|(_, place)| place)
}
