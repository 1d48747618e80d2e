//! Chooses the key points that a new session is given: those worth most, within the client's limit.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::frame::Frame;
use super::json::Defect;
use super::migrate::migrate;
use super::model::Point;
use super::ranking::by_rank;
use super::render::{
    BLANK_LINE, LineStyle, PLACEHOLDER, SHORT_TEMPLATE, TEMPLATE, block, heading_units,
    is_showable, show,
};
use super::section::Section;
use super::usage::UsageRecord;
use crate::clip::units;

/// The most of the client's context that the key points may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InjectionLimits {
    /// The most UTF-16 units of the whole text; the client cuts at 10,000.
    pub units: usize,
    /// The most key points.
    pub points: usize,
}

impl InjectionLimits {
    /// At the start of a session.
    pub const FULL: Self = Self {
        units: 4_000,
        points: usize::MAX,
    };
    /// After a compaction, where the conversation goes on.
    pub const COMPACT: Self = Self {
        units: 2_500,
        points: 10,
    };
}

/// The reason for which a key point is given to a session or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    Given,
    /// It was screened and waits for the user.
    Held,
    /// It was never screened.
    Unknown,
    /// It names something that is gone from the project's files.
    Stale,
}

/// The text for a session, and the points that are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointsToShow {
    /// The filled template; `None` when there is nothing to show.
    pub text: Option<String>,
    /// The names of points that have never been screened.
    pub unknown: Vec<String>,
    /// A number for their sections, names and texts: with others it is another one.
    pub unknown_hash: u64,
    /// A description of the entries that are no key points, if there are any.
    pub odd: Option<String>,
}

/// Fills the template for a new session from the file's bytes, within `limits`, with the
/// points that `admit` lets pass.
///
/// `None` when there is nothing to show. A file of the earlier format is shown as it will
/// be migrated. When not all points fit, those of the highest rank stay (see [`super::ranking`]),
/// in the file's order, and the last line says how many were left out. A point that is too long
/// for the room leaves it to those behind it. A template that leaves no room for the first point
/// gives way to the built-in one, and that to a short one.
pub fn context(
    bytes: &[u8],
    frame: Frame<'_>,
    limits: InjectionLimits,
    usage: &UsageRecord,
    admit: impl Fn(&Point<'_>) -> Admission,
) -> Result<PointsToShow, Defect> {
    let templates = [
        (frame.template, frame.line()),
        (TEMPLATE, LineStyle::Plain),
        (SHORT_TEMPLATE, LineStyle::Plain),
    ];
    let templates = templates.map(|(template, line)| (frame.with_own(template), line));
    let mut shown = fill(bytes, &templates, limits, usage, admit)?;
    shown.text = shown.text.or_else(|| frame.alone(limits));
    Ok(shown)
}

/// Fills the first of `templates` that leaves room for the first point, else for any.
pub(super) fn fill<T: AsRef<str>>(
    bytes: &[u8],
    templates: &[(T, LineStyle)],
    limits: InjectionLimits,
    usage: &UsageRecord,
    admit: impl Fn(&Point<'_>) -> Admission,
) -> Result<PointsToShow, Defect> {
    let playbook = migrate(bytes)?.playbook;
    let points: Vec<Point<'_>> = playbook
        .points()
        .filter(|point| is_showable(point.name))
        .collect();
    let order = by_rank(&points, usage);
    let (chosen, shown) = admitted(&points, &order, admit);
    let mut text = None;
    for (template, line) in templates {
        let room = Room {
            limits,
            line: *line,
        };
        let Some((filled, best)) = fit(&points, &chosen, template.as_ref(), room) else {
            continue;
        };
        if best == BestPoint::Shown {
            text = Some(filled);
            break;
        }
        text.get_or_insert(filled);
    }
    Ok(PointsToShow {
        text,
        odd: playbook.odd_entries(),
        ..shown
    })
}

/// Asks for each point whether it may be shown, and collects those that were never screened.
fn admitted(
    points: &[Point<'_>],
    by_rank: &[usize],
    admit: impl Fn(&Point<'_>) -> Admission,
) -> (ChosenPoints, PointsToShow) {
    let mut chosen = ChosenPoints {
        order: Vec::new(),
        total: points.len(),
    };
    let mut unknown = Vec::new();
    let mut hasher = DefaultHasher::new();
    for &index in by_rank {
        let point = &points[index];
        match admit(point) {
            Admission::Given => chosen.order.push(index),
            Admission::Held | Admission::Stale => chosen.total -= 1,
            Admission::Unknown => {
                chosen.total -= 1;
                (point.section, point.name, point.text).hash(&mut hasher);
                unknown.push(point.name.to_owned());
            }
        }
    }
    let shown = PointsToShow {
        text: None,
        unknown,
        unknown_hash: hasher.finish(),
        odd: None,
    };
    (chosen, shown)
}

/// The points that may be shown, in the order of preference.
struct ChosenPoints {
    order: Vec<usize>,
    /// The number of points, without those that must not be shown.
    total: usize,
}

/// The outcome for the point worth most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BestPoint {
    Shown,
    TooLong,
}

/// Fills the template with as many points as fit, in the given order of preference;
/// `None` when not one does.
fn fit(
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
    let best = best.map_or(BestPoint::TooLong, |_| BestPoint::Shown);
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

/// The limits that decide which points have a place.
#[derive(Debug, Clone, Copy)]
struct Room {
    limits: InjectionLimits,
    line: LineStyle,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::render::VOICE;
    use serde_json::{Value as Json, json};

    fn file(points: &Json, notes: &Json) -> Vec<u8> {
        json!({"sections": {"OTHERS": points}, "playbook": {"points": notes}})
            .to_string()
            .into_bytes()
    }

    fn many(count: usize) -> Vec<u8> {
        let point = |n: usize| {
            let text = format!("é🙂 {}", "x".repeat(n % 200));
            json!({"name": format!("oth-{n:03}"), "text": text, "helpful": n % 7})
        };
        file(&(1..=count).map(point).collect(), &json!({}))
    }

    /// Returns the text for a playbook whose points are all known.
    fn given(bytes: &[u8], template: &str, limits: InjectionLimits) -> String {
        let shown = context(
            bytes,
            Frame::of(template),
            limits,
            &UsageRecord::default(),
            |_| Admission::Given,
        );
        shown.unwrap().text.unwrap()
    }

    fn shown(text: &str) -> Vec<&str> {
        text.lines()
            .filter_map(|line| line.strip_prefix('[')?.split_once(']'))
            .map(|(name, _)| name)
            .collect()
    }

    #[test]
    fn wrong_entries_are_passed_over_and_their_neighbours_shown() {
        let points = json!(["x", null, 5, [1], {"name": 3, "text": "n"}, {"name": "oth-001"},
            {"name": "oth-002", "text": "kept", "more": {"a": [1]}},
            {"name": "x]\n[y", "text": "forged name"}]);
        let text = given(
            &file(&points, &json!({})),
            PLACEHOLDER,
            InjectionLimits::FULL,
        );
        assert_eq!(text, "## OTHERS\n[oth-002] helpful=0 harmful=0 :: kept");
    }

    #[test]
    fn the_limit_is_used_to_the_last_unit() {
        let text = given(&many(20), TEMPLATE, InjectionLimits::FULL);
        let with_units = |units| InjectionLimits { units, points: 20 };
        let exact = units(&text);
        assert_eq!(given(&many(20), TEMPLATE, with_units(exact)), text);
        let less = given(&many(20), TEMPLATE, with_units(exact - 1));
        assert!(shown(&less).len() < 20);
    }

    #[test]
    fn points_of_highest_rank_stay_in_the_order_of_the_file() {
        let votes = [(0, 0), (9, 0), (5, 4), (0, 9), (9, 0), (0, 2), (1, 0)];
        let points = votes.iter().enumerate().map(|(n, (helpful, harmful))| {
            let name = format!("oth-{:03}", n + 1);
            json!({"name": name, "text": "t", "helpful": helpful, "harmful": harmful})
        });
        let notes = json!({
            "oth-001": {"added": "2026-11-20T00:00:00Z"},
            "oth-005": {"added": "2026-01-01T00:00:00Z", "used": "2026-08-01T00:00:00Z"},
            "oth-006": {"added": "2026-01-01T00:00:00Z", "pinned": true}});
        let bytes = file(&points.collect(), &notes);
        let keep = |points| {
            let units = InjectionLimits::FULL.units;
            shown(&given(&bytes, TEMPLATE, InjectionLimits { units, points })).join(" ")
        };
        assert_eq!(keep(1), "oth-006");
        assert_eq!(keep(2), "oth-005 oth-006");
        assert_eq!(keep(3), "oth-002 oth-005 oth-006");
        assert_eq!(keep(6), "oth-001 oth-002 oth-003 oth-005 oth-006 oth-007");
    }

    #[test]
    fn an_edited_template_that_leaves_no_room_gives_way_to_the_built_in_one() {
        let huge = format!("{}{PLACEHOLDER}", "y".repeat(20_000));
        assert_eq!(
            shown(&given(&many(3), &huge, InjectionLimits::FULL)).len(),
            3
        );
    }

    #[test]
    fn a_point_that_is_too_long_leaves_its_room_to_smaller_ones_behind_it() {
        let lengths = [30, 400, 30, 400, 30, 30];
        let points = lengths.iter().enumerate().map(|(n, length)| {
            let name = format!("oth-{:03}", n + 1);
            json!({"name": name, "text": "x".repeat(*length), "helpful": 9 - n})
        });
        let bytes = file(&points.collect(), &json!({}));
        let within = |most| {
            let limits = InjectionLimits {
                units: most,
                points: usize::MAX,
            };
            let text = given(&bytes, TEMPLATE, limits);
            assert!(units(&text) <= most);
            shown(&text).join(" ")
        };
        assert_eq!(within(4_000).split(' ').count(), lengths.len());
        assert_eq!(within(900), "oth-001 oth-002 oth-003 oth-005 oth-006");
        assert_eq!(within(520), "oth-001 oth-003 oth-005 oth-006");
        assert_eq!(within(200), "oth-001");
    }

    /// The fewest units that the settings take.
    #[test]
    fn where_no_other_template_has_room_for_the_best_point_a_short_one_has() {
        let points = json!([{"name": "oth-001", "text": "x".repeat(100), "helpful": 9}]);
        let limits = InjectionLimits {
            units: 200,
            points: 9,
        };
        let text = given(&file(&points, &json!({})), TEMPLATE, limits);
        assert!(text.starts_with(VOICE), "{text}");
        assert_eq!(shown(&text), ["oth-001"]);
        let small = json!({"name": "oth-002", "text": "t"});
        let points = json!([points[0], small]);
        let ours = format!("{}{PLACEHOLDER}", "y".repeat(250));
        let limits = InjectionLimits {
            units: 400,
            points: 9,
        };
        let text = given(&file(&points, &json!({})), &ours, limits);
        assert_eq!(shown(&text), ["oth-001", "oth-002"]);
    }

    #[test]
    fn only_admitted_points_are_shown_and_unknown_ones_named() {
        let admit = |point: &Point<'_>| match point.name {
            "oth-007" | "oth-008" => Admission::Unknown,
            "oth-009" => Admission::Held,
            _ => Admission::Given,
        };
        let of = |points| {
            let units = InjectionLimits::FULL.units;
            context(
                &many(30),
                Frame::of(TEMPLATE),
                InjectionLimits { units, points },
                &UsageRecord::default(),
                admit,
            )
            .unwrap()
        };
        let all = of(usize::MAX);
        assert_eq!(shown(&all.text.unwrap()).len(), 27);
        let more_worth_first = ["oth-008", "oth-007"];
        assert_eq!(all.unknown, more_worth_first);
        let text = of(26).text.unwrap();
        assert!(text.contains("(1 of 27 key points left out"), "{text}");
    }
}
