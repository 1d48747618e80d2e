//! Which key points have a place in what a session is given, and the template filled with them.

use super::context::InjectionLimits;
use super::model::Point;
use super::render::{BLANK_LINE, LineStyle, PLACEHOLDER, block, heading_units, show};
use super::section::Section;
use crate::clip::units;

/// The points that may be shown, in the order of preference.
pub(super) struct ChosenPoints {
    pub(super) order: Vec<usize>,
    /// How many points there are without those that must not be shown.
    pub(super) total: usize,
}

/// Whether the point worth most has a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BestPoint {
    Told,
    TooLong,
}

/// Fills the template with as many points as fit, in the given order of preference;
/// `None` when not one does.
pub(super) fn fit(
    points: &[Point<'_>],
    chosen: &ChosenPoints,
    template: &str,
    room: Room,
) -> Option<(String, BestPoint)> {
    let total = chosen.total;
    let copies = template.matches(PLACEHOLDER).count();
    let frame = units(template) - units(PLACEHOLDER) * copies;
    let within = |reserved: usize| {
        let left = room.limits.units.checked_sub(frame + reserved)?;
        // The first heading has no blank line in front.
        let left = left / copies.max(1) + BLANK_LINE.len();
        Some(room.taken(points, &chosen.order, left))
    };
    let count = |lines: &[Option<String>]| lines.iter().flatten().count();
    let all = within(0)?;
    let (kept, left) = if count(&all) == total {
        (all, None)
    } else {
        let some = within(units(&left_out(total, total)))?;
        let left = left_out(total - count(&some), total);
        (some, Some(left))
    };
    if count(&kept) == 0 {
        return None;
    }
    let best = chosen.order.first().and_then(|&best| kept[best].as_ref());
    let best = best.map_or(BestPoint::TooLong, |_| BestPoint::Told);
    let stay = points
        .iter()
        .zip(kept)
        .filter_map(|(point, shown)| Some((point.section, shown?)));
    let mut text = template.replace(PLACEHOLDER, &block(stay));
    if let Some(left) = left {
        text.truncate(text.trim_end().len());
        text.push_str(&left);
    }
    Some((text, best))
}

/// What decides which points have a place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub(super) limits: InjectionLimits,
    pub(super) line: LineStyle,
}

impl Room {
    /// The lines of those points that have a place in so many units, each at its point's index.
    fn taken(&self, points: &[Point<'_>], order: &[usize], room: usize) -> Vec<Option<String>> {
        let mut kept: Vec<Option<String>> = vec![None; points.len()];
        let mut opened = [false; Section::ALL.len()];
        let (mut used, mut count) = (0, 0);
        for &index in order {
            if count >= self.limits.points {
                break;
            }
            let point = &points[index];
            let shown = show(point, self.line);
            let mut with = used + "\n".len() + units(&shown);
            if !opened[point.section as usize] {
                with += heading_units(point.section);
            }
            if with > room {
                continue;
            }
            opened[point.section as usize] = true;
            kept[index] = Some(shown);
            used = with;
            count += 1;
        }
        kept
    }
}

/// The last line of a text in which not all points fit.
fn left_out(count: usize, all: usize) -> String {
    format!("\n\n({count} of {all} key points left out; `playbook show` lists all)\n")
}
