//! What a new session is given: the key points worth most, within the client's limit.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use jiff::Timestamp;

use super::clean::MAX_CHARS;
use super::defect::Defect;
use super::frame::Frame;
use super::migrate::migrate;
use super::model::Point;
use super::order::{UntriedRoom, by_turn};
use super::proof::ProofRecord;
use super::render::{
    BLANK_LINE, LineStyle, PLACEHOLDER, TEMPLATE, block, heading_units, is_showable, show,
};
use super::section::Section;
use crate::clip::units;

/// How much of the client's context the key points may take.
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

/// Whether a key point may be given to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It may.
    Given,
    /// It was screened and waits for the user.
    Held,
    /// It was never screened.
    Unknown,
    /// What it names is gone from the project's files.
    Stale,
    /// Many sessions had no use for it.
    Resting,
}

/// What a session is given, and what not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointsToShow {
    /// The filled template; `None` when there is nothing to show.
    pub text: Option<String>,
    /// The names of points that would have had a place and have never been screened.
    pub unknown: Vec<String>,
    /// A number for their sections, names and texts: with others it is another one.
    pub unknown_hash: u64,
    /// What stands among the key points and is none, if anything does.
    pub odd: Option<String>,
}

/// Fills the template for a new session from the file's bytes, within `limits`, with the
/// points that `admit` lets pass.
///
/// `None` when there is nothing to show. A file of the earlier format is shown as it will
/// be migrated. When not all points fit, those worth most stay (see `Worth`), a fifth of the room
/// being for those on probation, in the file's order, up to the first that does not fit, and the last line says how many were left out.
/// Those that a model learned and that nothing speaks for yet have no more than that fifth.
/// A template that leaves no room for a point gives way to the built-in one.
pub fn context(
    bytes: &[u8],
    frame: Frame<'_>,
    limits: InjectionLimits,
    proof: (Timestamp, &ProofRecord),
    admit: impl Fn(&Point<'_>) -> Admission,
) -> Result<PointsToShow, Defect> {
    let templates = [frame.template, TEMPLATE].map(|template| frame.with_own(template));
    let templates = [
        (&*templates[0], frame.line()),
        (&*templates[1], LineStyle::Plain),
    ];
    let mut shown = fill(bytes, &templates, limits, proof, admit)?;
    shown.text = shown.text.or_else(|| frame.alone(limits));
    Ok(shown)
}

/// Fills the first of `templates` that leaves room for a point.
pub(super) fn fill(
    bytes: &[u8],
    templates: &[(&str, LineStyle)],
    limits: InjectionLimits,
    (now, proof): (Timestamp, &ProofRecord),
    admit: impl Fn(&Point<'_>) -> Admission,
) -> Result<PointsToShow, Defect> {
    let playbook = migrate(bytes)?.playbook;
    let points: Vec<Point<'_>> = playbook
        .points()
        .filter(|point| is_showable(point.name))
        .collect();
    let order = by_turn(&points, now, proof);
    let mut untried = UntriedRoom::default();
    let has_place = |point: &Point<'_>| untried.has_place(point, proof, limits.units);
    let (chosen, shown) = admitted(&points, limits, &order, has_place, admit);
    let mut texts = templates
        .iter()
        .filter_map(|template| fit(&points, &chosen, *template, limits));
    Ok(PointsToShow {
        text: texts.next(),
        odd: playbook.odd_entries(),
        ..shown
    })
}

/// The points that may be shown, in the order of preference.
struct ChosenPoints {
    order: Vec<usize>,
    /// How many points there are without those that must not be shown.
    total: usize,
}

/// Asks for each point whether it may be shown, those worth most first, up to where no
/// further one has a place; with those that were never screened.
fn admitted(
    points: &[Point<'_>],
    limits: InjectionLimits,
    by_turn: &[usize],
    mut has_place: impl FnMut(&Point<'_>) -> bool,
    admit: impl Fn(&Point<'_>) -> Admission,
) -> (ChosenPoints, PointsToShow) {
    /// The most bytes of UTF-8 that one UTF-16 unit stands for.
    const BYTES_OF_UNIT: usize = 3;
    let mut room = limits.units.saturating_mul(BYTES_OF_UNIT);
    let mut chosen = ChosenPoints {
        order: Vec::new(),
        total: points.len(),
    };
    let mut unknown = Vec::new();
    let mut hasher = DefaultHasher::new();
    for &index in by_turn {
        let point = &points[index];
        match admit(point) {
            Admission::Given if !has_place(point) => {}
            Admission::Given => {
                chosen.order.push(index);
                room = room.saturating_sub(point.text.len().min(MAX_CHARS));
            }
            Admission::Held | Admission::Stale | Admission::Resting => chosen.total -= 1,
            Admission::Unknown => {
                chosen.total -= 1;
                (point.section, point.name, point.text).hash(&mut hasher);
                unknown.push(point.name.to_owned());
            }
        }
        if room == 0 || chosen.order.len() >= limits.points {
            break;
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

/// Fills the template with as many points as fit, in the given order of preference;
/// `None` when not one does.
fn fit(
    points: &[Point<'_>],
    chosen: &ChosenPoints,
    (template, line): (&str, LineStyle),
    limits: InjectionLimits,
) -> Option<String> {
    let ChosenPoints { order, total } = chosen;
    if order.is_empty() {
        return None;
    }
    let copies = template.matches(PLACEHOLDER).count();
    let frame = units(template) - units(PLACEHOLDER) * copies;
    let room = |reserved: usize| {
        let left = limits.units.checked_sub(frame + reserved)?;
        // The first heading has no blank line in front.
        Some(left / copies.max(1) + BLANK_LINE.len())
    };
    let room_for_all = room(0)?;
    let room_for_some = room(units(&left_out(*total, *total))).unwrap_or(0);

    let mut kept: Vec<Option<String>> = vec![None; points.len()];
    let mut opened = [false; Section::ALL.len()];
    let mut used = 0;
    let mut some = 0;
    let mut count = 0;
    for &index in order.iter().take(limits.points) {
        let point = &points[index];
        let shown = show(point, line);
        used += "\n".len() + units(&shown);
        if !std::mem::replace(&mut opened[point.section as usize], true) {
            used += heading_units(point.section);
        }
        if used > room_for_all {
            break;
        }
        kept[index] = Some(shown);
        count += 1;
        if used <= room_for_some {
            some = count;
        }
    }
    let all = count == *total;
    if !all {
        for &index in &order[some..count] {
            kept[index] = None;
        }
        if some == 0 {
            return None;
        }
    }
    let stay = points
        .iter()
        .zip(kept)
        .filter_map(|(point, shown)| Some((point.section, shown?)));
    let mut text = template.replace(PLACEHOLDER, &block(stay));
    if !all {
        text.truncate(text.trim_end().len());
        text.push_str(&left_out(total - some, *total));
    }
    Some(text)
}

/// The last line of a text in which not all points fit.
fn left_out(count: usize, all: usize) -> String {
    format!("\n\n({count} of {all} key points left out; `playbook show` lists all)\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn now() -> Timestamp {
        "2026-11-21T00:00:00Z".parse().unwrap()
    }

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

    /// What a session is given of a playbook whose points are all known.
    fn given(bytes: &[u8], template: &str, limits: InjectionLimits) -> String {
        let shown = context(
            bytes,
            Frame::of(template),
            limits,
            (now(), &ProofRecord::default()),
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
    fn those_worth_most_stay_in_the_order_of_the_file() {
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
        assert_eq!(keep(2), "oth-002 oth-006");
        assert_eq!(keep(3), "oth-002 oth-006 oth-007");
        assert_eq!(keep(6), "oth-001 oth-002 oth-003 oth-004 oth-006 oth-007");
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
                (now(), &ProofRecord::default()),
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
