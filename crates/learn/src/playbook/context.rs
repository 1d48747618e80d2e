//! Selects the most valuable key points for a new session, within the client's limit.
//!
//! Pinned points come first, then those in the user's words, then those the user added by hand.
//! Among equals helpful minus harmful votes decides, then the newest. Points equal in all of this
//! keep the file's order. The lowest ranked are dropped first.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use jiff::Timestamp;

use super::clean::clean_text;
use super::id::Section;
use super::model::{Playbook, Point};
use super::render::{
    BLANK_LINE, LineStyle, PLACEHOLDER, SHORT_TEMPLATE, TEMPLATE, block, heading_units,
    is_showable, show,
};
use super::votes::UsageRecord;
use crate::clip::units;
use crate::digest::name_of;
use crate::prepared::CuedPoint;

/// The number of points that are ranked: a session's start may wait for this.
const MAX_RANKED: usize = 1_000;
/// The number of cues that are compared with a prompt or a call.
const MAX_CUED: usize = 300;
/// The divisor of the space for the user's own points.
const OWN_SHARE: usize = 4;
const OWN_TEMPLATE: &str = "# OF YOUR USER, FOR EVERY PROJECT\n\n{key_points}";
const PROJECT_TITLE: &str = "# OF THIS PROJECT";

/// The space that key points may take in the client's context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InjectionLimits {
    /// The longest text in UTF-16 units; the client cuts at 10,000.
    pub units: usize,
    pub points: usize,
}

impl InjectionLimits {
    pub const FULL: Self = Self {
        units: 4_000,
        points: usize::MAX,
    };
    /// The limits after a compaction, in a continuing conversation.
    pub const COMPACT: Self = Self {
        units: 2_500,
        points: 10,
    };
}

/// The decision to give a key point to a session, or the reason against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    Given,
    /// The screen held it back for the user.
    Held,
    /// The point was never screened.
    Unknown,
    /// The point names something that is gone from the project's files.
    Stale,
}

/// The rank of a key point; the greater one is placed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    pinned: bool,
    said: bool,
    by_hand: bool,
    balance: i128,
    added: Option<Timestamp>,
}

impl Rank {
    pub(super) fn of(point: &Point<'_>, usage: &UsageRecord) -> Self {
        Self {
            pinned: point.is_pinned(),
            said: usage.said.contains(point.name),
            by_hand: usage.by_hand.contains(point.name),
            balance: i128::from(point.helpful) - i128::from(point.harmful),
            added: point.note.and_then(|note| note.added),
        }
    }
}

/// Returns the indexes of the points, highest rank first.
pub(super) fn by_rank(points: &[Point<'_>], usage: &UsageRecord) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_cached_key(|&index| std::cmp::Reverse(Rank::of(&points[index], usage)));
    order.truncate(MAX_RANKED);
    order
}

/// The text for a session, and the omitted points.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointsToShow {
    /// The filled template; `None` when there is nothing to show.
    pub text: Option<String>,
    /// The names of points that were never screened.
    pub unknown: Vec<String>,
    /// A hash of their sections, names and texts, which changes with them.
    pub unknown_hash: u64,
    /// A description of the entries that are no key points, if there are any.
    pub odd: Option<String>,
    /// The number of points that may be given and have no room.
    pub left_out: usize,
}

#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// The template, with a placeholder for the key points.
    pub template: &'a str,
    /// The user's own key points from [`own_points`], which come last; may be empty.
    pub own: &'a str,
}

impl<'a> Frame<'a> {
    /// Returns a frame without points of the user's own playbook.
    pub fn of(template: &'a str) -> Self {
        Self { template, own: "" }
    }

    /// Returns the style of the points in the template: a user's template shows votes.
    fn line(&self) -> LineStyle {
        if self.template.trim() == TEMPLATE.trim() {
            LineStyle::Plain
        } else {
            LineStyle::WithVotes
        }
    }

    /// Returns the text for a session if the project has no points.
    pub fn alone(&self, limits: InjectionLimits) -> Option<String> {
        let templates = [self.template, TEMPLATE, SHORT_TEMPLATE].into_iter();
        let mut filled = templates
            .filter(|template| template.contains(PLACEHOLDER) && !self.own.is_empty())
            .map(|template| template.replace(PLACEHOLDER, self.own));
        filled.find(|text| units(text) <= limits.units)
    }
}

/// Fills the template for a new session, within `limits`, with the points that `admit` accepts.
///
/// If not all points fit, the highest ranked remain, in the file's order, and the last line gives
/// the number of omitted ones. A point that is too long makes way for later ones. If a template
/// leaves no space for the first point, the built-in one is used, and then a short one.
pub fn context(
    playbook: &Playbook,
    frame: Frame<'_>,
    limits: InjectionLimits,
    usage: &UsageRecord,
    admit: impl Fn(&Point<'_>) -> Admission,
) -> PointsToShow {
    let points = match frame.own {
        "" => PLACEHOLDER.to_owned(),
        own => format!("{PROJECT_TITLE}{BLANK_LINE}{PLACEHOLDER}{BLANK_LINE}{own}"),
    };
    let templates = [
        (frame.template, frame.line()),
        (TEMPLATE, LineStyle::Plain),
        (SHORT_TEMPLATE, LineStyle::Plain),
    ];
    let templates =
        templates.map(|(template, line)| (template.replacen(PLACEHOLDER, &points, 1), line));
    fill(playbook, &templates, limits, usage, admit)
}

/// Renders the user's own key points, which follow those of a project and get a quarter of the
/// space.
pub fn own_points(
    playbook: &Playbook,
    frame: Frame<'_>,
    limits: InjectionLimits,
    usage: &UsageRecord,
    admit: impl Fn(&Point<'_>) -> Admission,
) -> PointsToShow {
    let limits = InjectionLimits {
        units: limits.units / OWN_SHARE,
        ..limits
    };
    let templates = [(OWN_TEMPLATE.to_owned(), frame.line())];
    let mut shown = fill(playbook, &templates, limits, usage, admit);
    // A placeholder for the project's points may only be in the template.
    shown.text = shown
        .text
        .map(|text| text.replace(PLACEHOLDER, "{key points}"));
    shown
}

/// Fills the first of `templates` that has space for the first point, else for any.
fn fill(
    playbook: &Playbook,
    templates: &[(String, LineStyle)],
    limits: InjectionLimits,
    usage: &UsageRecord,
    admit: impl Fn(&Point<'_>) -> Admission,
) -> PointsToShow {
    let points: Vec<Point<'_>> = playbook
        .points()
        .filter(|point| is_showable(point.name))
        .collect();
    let mut shown = PointsToShow {
        odd: playbook.odd_entries(),
        ..PointsToShow::default()
    };
    let mut total = points.len();
    let mut order = Vec::new();
    let mut hasher = DefaultHasher::new();
    for index in by_rank(&points, usage) {
        let point = &points[index];
        let admission = admit(point);
        if admission == Admission::Given {
            order.push(index);
            continue;
        }
        total -= 1;
        if admission == Admission::Unknown {
            (point.section, point.name, point.text).hash(&mut hasher);
            shown.unknown.push(point.name.to_owned());
        }
    }
    shown.unknown_hash = hasher.finish();
    for (template, line) in templates {
        let chosen = ChosenPoints {
            points: &points,
            order: &order,
            total,
            line: *line,
        };
        let Some(filled) = chosen.fit(template, limits) else {
            continue;
        };
        if filled.has_best || shown.text.is_none() {
            shown.text = Some(filled.text);
            shown.left_out = filled.left_out;
        }
        if filled.has_best {
            break;
        }
    }
    shown
}

/// A template with the points that have room in it.
struct FilledTemplate {
    text: String,
    /// Whether the point worth most is among them.
    has_best: bool,
    left_out: usize,
}

/// The points that may be shown, and how.
struct ChosenPoints<'a> {
    points: &'a [Point<'a>],
    /// The indexes of the points, highest rank first.
    order: &'a [usize],
    /// The number of points that may be shown.
    total: usize,
    line: LineStyle,
}

impl ChosenPoints<'_> {
    /// Fills the template with as many points as fit; `None` when not one does.
    fn fit(&self, template: &str, limits: InjectionLimits) -> Option<FilledTemplate> {
        let copies = template.matches(PLACEHOLDER).count();
        let frame = units(template) - units(PLACEHOLDER) * copies;
        let within = |reserved: usize| {
            let left = limits.units.checked_sub(frame + reserved)?;
            // The first heading has no blank line before it.
            let left = left / copies.max(1) + BLANK_LINE.len();
            Some(self.lines_within(left, limits.points))
        };
        let mut lines = within(0)?;
        let mut last_line = String::new();
        if lines.len() < self.total {
            lines = within(units(&left_out(self.total, self.total)))?;
            last_line = left_out(self.total - lines.len(), self.total);
        }
        let left_out = self.total - lines.len();
        let has_best = lines.contains_key(self.order.first()?);
        if lines.is_empty() {
            return None;
        }
        let lines = lines
            .into_iter()
            .map(|(index, line)| (self.points[index].section, line));
        let mut text = template.replace(PLACEHOLDER, &block(lines));
        if !last_line.is_empty() {
            text.truncate(text.trim_end().len());
            text.push_str(&last_line);
        }
        Some(FilledTemplate {
            text,
            has_best,
            left_out,
        })
    }

    /// Returns the lines that fit into `room` units, at most `most`, by the points' indexes.
    fn lines_within(&self, room: usize, most: usize) -> BTreeMap<usize, String> {
        let mut lines = BTreeMap::new();
        let mut opened = [false; Section::ALL.len()];
        let mut used = 0;
        for &index in self.order {
            if lines.len() >= most {
                break;
            }
            let point = &self.points[index];
            let line = show(point, self.line);
            let mut with = used + "\n".len() + units(&line);
            if !opened[point.section as usize] {
                with += heading_units(point.section);
            }
            if with <= room {
                opened[point.section as usize] = true;
                lines.insert(index, line);
                used = with;
            }
        }
        lines
    }
}

/// Returns the last line of a text in which not all points fit.
fn left_out(count: usize, all: usize) -> String {
    format!("\n\n({count} of {all} key points left out; `playbook show` lists all)\n")
}

/// Returns the points with a cue that `admit` accepts, highest rank first.
pub fn cued_points(
    playbook: &Playbook,
    usage: &UsageRecord,
    admit: impl Fn(&Point<'_>) -> bool,
) -> Vec<CuedPoint> {
    let points: Vec<Point<'_>> = playbook
        .points()
        .filter(|point| point.due().is_some() && is_showable(point.name) && admit(point))
        .collect();
    let ranked = by_rank(&points, usage).into_iter().take(MAX_CUED);
    let compiled = ranked.filter_map(|index| {
        let point = &points[index];
        let due = point.due()?;
        let text = clean_text(point.text);
        Some(CuedPoint {
            name: point.name.to_owned(),
            hash: name_of(text.as_bytes()),
            text,
            guard: due.guard,
            // Only a file from outside can hold a cue that is too wide.
            cue: due.when.compile().ok()?,
        })
    });
    compiled.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::read::migrate;
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

    /// Returns the text for a playbook whose points are all given.
    fn given(bytes: &[u8], frame: Frame<'_>, units: usize, points: usize) -> String {
        let limits = InjectionLimits { units, points };
        let usage = UsageRecord::default();
        let playbook = migrate(bytes).unwrap().playbook;
        let shown = context(&playbook, frame, limits, &usage, |_| Admission::Given);
        let text = shown.text.unwrap_or_default();
        assert!(super::units(&text) <= units);
        text
    }

    fn shown(text: &str) -> String {
        let lines = text.lines();
        let points = lines.filter_map(|line| line.strip_prefix('[')?.split_once(']'));
        points.map(|(name, _)| name).collect::<Vec<_>>().join(" ")
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
        let keep = |points| shown(&given(&bytes, Frame::of(TEMPLATE), 4_000, points));
        assert_eq!(keep(1), "oth-006");
        assert_eq!(keep(2), "oth-005 oth-006");
        assert_eq!(keep(3), "oth-002 oth-005 oth-006");
        assert_eq!(keep(6), "oth-001 oth-002 oth-003 oth-005 oth-006 oth-007");
    }

    #[test]
    fn the_room_is_used_to_the_last_unit_and_a_long_point_leaves_it_to_smaller_ones() {
        let text = given(&many(20), Frame::of(TEMPLATE), 4_000, 20);
        let exact = units(&text);
        assert_eq!(given(&many(20), Frame::of(TEMPLATE), exact, 20), text);
        assert_ne!(given(&many(20), Frame::of(TEMPLATE), exact - 1, 20), text);
        let points = [30, 400, 30, 400, 30, 30]
            .iter()
            .enumerate()
            .map(|(n, length)| {
                let name = format!("oth-{:03}", n + 1);
                json!({"name": name, "text": "x".repeat(*length), "helpful": 9 - n})
            });
        let bytes = file(&points.collect(), &json!({}));
        let within = |units| shown(&given(&bytes, Frame::of(TEMPLATE), units, 9));
        assert_eq!(within(900), "oth-001 oth-002 oth-003 oth-005 oth-006");
        assert_eq!(within(520), "oth-001 oth-003 oth-005 oth-006");
        assert_eq!(within(200), "oth-001");
    }

    /// The settings accept 200 units or more.
    #[test]
    fn a_template_without_room_for_the_best_point_gives_way_to_a_shorter_one() {
        let huge = format!("{}{PLACEHOLDER}", "y".repeat(20_000));
        let text = given(&many(3), Frame::of(&huge), 4_000, 9);
        assert_eq!(shown(&text), "oth-001 oth-002 oth-003");
        let best = json!({"name": "oth-001", "text": "x".repeat(100), "helpful": 9});
        let bytes = file(&json!([best]), &json!({}));
        let text = given(&bytes, Frame::of(TEMPLATE), 200, 9);
        assert!(text.starts_with(VOICE), "{text}");
        assert_eq!(shown(&text), "oth-001");
        let ours = format!("{}{PLACEHOLDER}", "y".repeat(250));
        let points = json!([best, {"name": "oth-002", "text": "t"}]);
        let text = given(&file(&points, &json!({})), Frame::of(&ours), 400, 9);
        assert_eq!(shown(&text), "oth-001 oth-002");
    }

    #[test]
    fn the_users_own_points_have_a_quarter_of_the_room_and_leave_the_projects_in_their_place() {
        let point = |n: usize| {
            let text = format!("write {{key_points}} so {}", "own ".repeat(30));
            json!({"name": format!("my-{n:03}"), "text": text})
        };
        let bytes = file(&(1..=50).map(point).collect(), &json!({}));
        let (limits, usage) = (InjectionLimits::FULL, UsageRecord::default());
        let template = Frame::of(TEMPLATE);
        let playbook = migrate(&bytes).unwrap().playbook;
        let own = own_points(&playbook, template, limits, &usage, |_| Admission::Given);
        let own = &own.text.unwrap();
        assert!(units(own) <= limits.units / OWN_SHARE);
        assert!(own.matches("[my-").count() > 3);
        let text = given(&many(2), Frame { own, ..template }, 4_000, 9);
        assert_eq!(text.matches("[oth-001]").count(), 1);
    }
}
