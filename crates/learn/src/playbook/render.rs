//! Shows the key points: all of them in a prompt, and the most valuable ones to a new session,
//! within the client's limit.
//!
//! Pinned points come first, then those in the user's words, then those the user added by hand.
//! Among equals helpful minus harmful votes decides, then the newest, then the file's order.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use jiff::Timestamp;

use super::clean::clean_text;
use super::id::Section;
use super::model::{Playbook, Point};
use super::votes::UsageRecord;
use crate::clip::units;
use crate::digest::name_of;
use crate::prepared::CuedPoint;
use crate::shown_record::ShownPoints;

/// The built-in template, which explains the key points to the model and how to cite them
/// (REQ-REFL-002).
pub const TEMPLATE: &str = include_str!("../../templates/playbook.txt");
/// The template that is used if the other one leaves no space for a point.
const SHORT_TEMPLATE: &str =
    "Playbook: learned earlier here; cite the ID of what helps.\n\n{key_points}";
const OWN_TEMPLATE: &str = "# OF YOUR USER, FOR EVERY PROJECT\n\n{key_points}";
const PROJECT_TITLE: &str = "# OF THIS PROJECT";
/// The opening of the built-in templates.
const VOICE: &str = "Playbook: ";
/// Keeps other braces in a template.
const PLACEHOLDER: &str = "{key_points}";
/// The separator before each heading but the first.
const BLANK_LINE: &str = "\n\n";
const HEADING: &str = "## ";
const MAX_NAME: usize = 64;
/// The number of points that are ranked: a session's start may wait for this.
const MAX_RANKED: usize = 1_000;
/// The number of cues that are compared with a prompt or a call.
const MAX_CUED: usize = 300;
/// The divisor of the space for the user's own points.
const OWN_SHARE: usize = 4;

/// Fills the template with all key points; empty without any (REQ-REFL-002).
///
/// Each section with points starts with `## TITLE`, and each point is a line
/// `[pat-001] helpful=3 harmful=1 :: text`. Sections and points are in canonical order, texts
/// cleaned.
pub fn format_playbook(playbook: &Playbook, template: &str) -> String {
    let block = block_of_all(playbook, LineStyle::WithVotes);
    if block.is_empty() {
        block
    } else {
        template.replace(PLACEHOLDER, &block)
    }
}

/// The space for key points at a session's start, in UTF-16 units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartRoom {
    pub for_points: usize,
    pub taken: usize,
}

impl StartRoom {
    /// Measures the key points as a start shows them in the built-in template.
    pub fn of(playbook: &Playbook, max_units: usize) -> Self {
        let frame = units(TEMPLATE).saturating_sub(units(PLACEHOLDER));
        Self {
            for_points: max_units.saturating_sub(frame),
            taken: units(&block_of_all(playbook, LineStyle::Plain)),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineStyle {
    /// The form of REQ-REFL-002: `[pat-001] helpful=3 harmful=1 :: text`.
    WithVotes,
    /// `[pat-001] text`: for a session's start, where votes do not help.
    Plain,
}

fn show(point: &Point<'_>, line: LineStyle) -> String {
    let (name, text) = (point.name, clean_text(point.text));
    let [helpful, harmful] = [point.helpful, point.harmful];
    match line {
        LineStyle::WithVotes => format!("[{name}] helpful={helpful} harmful={harmful} :: {text}"),
        LineStyle::Plain => format!("[{name}] {text}"),
    }
}

/// Returns `true` if a name cannot be mistaken for other text; other entries are not shown.
fn is_showable(name: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_plain)
}

fn showable(playbook: &Playbook) -> impl Iterator<Item = Point<'_>> {
    playbook.points().filter(|point| is_showable(point.name))
}

fn block_of_all(playbook: &Playbook, line: LineStyle) -> String {
    block(showable(playbook).map(|point| (point.section, show(&point, line))))
}

/// Expects lines that are ordered by section.
fn block(lines: impl Iterator<Item = (Section, String)>) -> String {
    let mut out = String::new();
    let mut current = None;
    for (section, line) in lines {
        if current != Some(section) {
            if current.is_some() {
                out.push_str(BLANK_LINE);
            }
            out.push_str(HEADING);
            out.push_str(section.title());
            current = Some(section);
        }
        out.push('\n');
        out.push_str(&line);
    }
    out
}

/// Finds the key points in a text that a session was given, with any template.
pub fn in_text(text: &str) -> ShownPoints {
    let mut shown = ShownPoints::default();
    // Any text may have lines that begin with a word in brackets.
    let is_built_in = text.trim_start().starts_with(VOICE);
    for line in text.lines() {
        let Some((name, rest)) = line.strip_prefix('[').and_then(|l| l.split_once("] ")) else {
            continue;
        };
        let text = without_votes(rest).or(is_built_in.then_some(rest));
        if let Some(text) = text.filter(|_| is_showable(name)) {
            shown.insert(name, name_of(text.as_bytes()));
        }
    }
    shown
}

fn without_votes(line: &str) -> Option<&str> {
    let (votes, text) = line.strip_prefix("helpful=")?.split_once(" :: ")?;
    let (helpful, harmful) = votes.split_once(" harmful=")?;
    let is_count = |text: &str| text.parse::<u64>().is_ok();
    (is_count(helpful) && is_count(harmful)).then_some(text)
}

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

/// The rank of a key point: pinned, said, by hand, votes, time; the greater one is placed first.
pub(super) type Rank = (bool, bool, bool, i128, Option<Timestamp>);

pub(super) fn rank(point: &Point<'_>, usage: &UsageRecord) -> Rank {
    (
        point.is_pinned(),
        usage.said.contains(point.name),
        usage.by_hand.contains(point.name),
        i128::from(point.helpful) - i128::from(point.harmful),
        point.note.and_then(|note| note.added),
    )
}

fn by_rank(points: &[Point<'_>], usage: &UsageRecord) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_cached_key(|&index| std::cmp::Reverse(rank(&points[index], usage)));
    order.truncate(MAX_RANKED);
    order
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointsToShow {
    /// The filled template; `None` when there is nothing to show.
    pub text: Option<String>,
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
    pub template: &'a str,
    /// The user's own key points from [`own_points`], which come last; may be empty.
    pub own: &'a str,
}

impl<'a> Frame<'a> {
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

/// The user's own points follow those of a project and get a quarter of the space.
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
    let text = shown.text;
    shown.text = text.map(|text| text.replace(PLACEHOLDER, "{key points}"));
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
    let points: Vec<Point<'_>> = showable(playbook).collect();
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
    let chosen = ChosenPoints {
        points: &points,
        order: &order,
        total,
    };
    for (template, line) in templates {
        let Some((text, lines)) = chosen.fit(template, *line, limits) else {
            continue;
        };
        let has_best = lines.contains_key(&order[0]);
        if has_best || shown.text.is_none() {
            shown.left_out = total - lines.len();
            shown.text = Some(text);
        }
        if has_best {
            break;
        }
    }
    shown
}

/// The keys are the points' indexes.
type Lines = BTreeMap<usize, String>;
type Filled = (String, Lines);

struct ChosenPoints<'a> {
    points: &'a [Point<'a>],
    /// The indexes of the points, highest rank first.
    order: &'a [usize],
    /// The number of points that may be shown.
    total: usize,
}

impl ChosenPoints<'_> {
    /// Returns `None` when not one point fits.
    fn fit(&self, template: &str, line: LineStyle, limits: InjectionLimits) -> Option<Filled> {
        let copies = template.matches(PLACEHOLDER).count();
        let frame = units(template) - units(PLACEHOLDER) * copies;
        let within = |reserved: usize| {
            let left = limits.units.checked_sub(frame + reserved)?;
            // The first heading has no blank line before it.
            let left = left / copies.max(1) + BLANK_LINE.len();
            Some(self.lines_within(line, left, limits.points))
        };
        let mut lines = within(0)?;
        let mut last_line = String::new();
        if lines.len() < self.total {
            lines = within(units(&left_out(self.total, self.total)))?;
            last_line = left_out(self.total - lines.len(), self.total);
        }
        if lines.is_empty() {
            return None;
        }
        let shown = lines
            .iter()
            .map(|(at, line)| (self.points[*at].section, line.clone()));
        let mut text = template.replace(PLACEHOLDER, &block(shown));
        if !last_line.is_empty() {
            text.truncate(text.trim_end().len());
            text.push_str(&last_line);
        }
        Some((text, lines))
    }

    fn lines_within(&self, style: LineStyle, room: usize, most: usize) -> Lines {
        let mut lines = Lines::new();
        let mut opened = [false; Section::ALL.len()];
        let mut used = 0;
        for &index in self.order {
            if lines.len() >= most {
                break;
            }
            let point = &self.points[index];
            let line = show(point, style);
            let mut with = used + "\n".len() + units(&line);
            if !opened[point.section as usize] {
                with += BLANK_LINE.len() + HEADING.len() + point.section.title().len();
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

fn left_out(count: usize, all: usize) -> String {
    format!("\n\n({count} of {all} key points left out; `playbook show` lists all)\n")
}

/// Lists the highest rank first.
pub fn cued_points(
    playbook: &Playbook,
    usage: &UsageRecord,
    admit: impl Fn(&Point<'_>) -> bool,
) -> Vec<CuedPoint> {
    let points = showable(playbook).filter(|point| point.due().is_some() && admit(point));
    let points: Vec<Point<'_>> = points.collect();
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
    use serde_json::{Value, json};

    /// The length is in UTF-16 units.
    fn point(number: usize, length: usize, helpful: usize) -> Value {
        let name = format!("oth-{number:03}");
        json!({"name": name, "text": format!("é🙂{}", "x".repeat(length - 3)), "helpful": helpful})
    }

    fn given(
        points: &[Value],
        notes: &Value,
        frame: Frame<'_>,
        units: usize,
        points_at_most: usize,
    ) -> String {
        let limits = InjectionLimits {
            units,
            points: points_at_most,
        };
        let file = json!({"sections": {"OTHERS": points}, "playbook": {"points": notes}});
        let playbook = Playbook::parse(file.to_string().as_bytes()).unwrap();
        let usage = UsageRecord::default();
        let shown = context(&playbook, frame, limits, &usage, |_| Admission::Given);
        let text = shown.text.unwrap_or_default();
        assert!(super::units(&text) <= units);
        text
    }

    fn shown(text: &str) -> String {
        let points = in_text(text);
        let names = points.each().map(|(name, _)| &name[4..]);
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn points_of_highest_rank_stay_in_the_order_of_the_file() {
        let votes = [0, 9, 1, 0, 9, 0, 1];
        let mut points: Vec<Value> = (1..)
            .zip(votes)
            .map(|(n, votes)| point(n, 3, votes))
            .collect();
        points[3]["harmful"] = 9.into();
        points[5]["harmful"] = 2.into();
        let notes = json!({
            "oth-001": {"added": "2026-11-20T00:00:00Z"},
            "oth-005": {"added": "2026-01-01T00:00:00Z", "used": "2026-08-01T00:00:00Z"},
            "oth-006": {"added": "2026-01-01T00:00:00Z", "pinned": true}});
        let keep = |most| shown(&given(&points, &notes, Frame::of(TEMPLATE), 4_000, most));
        let kept = [1, 2, 3, 6].map(keep);
        let expected = ["006", "005 006", "002 005 006", "001 002 003 005 006 007"];
        assert_eq!(kept, expected);
    }

    #[test]
    fn the_room_is_used_to_the_last_unit_and_a_long_point_leaves_it_to_smaller_ones() {
        let points: Vec<Value> = (1..=20).map(|n| point(n, n * 10, n % 7)).collect();
        let within = |units| given(&points, &json!({}), Frame::of(TEMPLATE), units, 20);
        let text = within(4_000);
        let exact = units(&text);
        assert_eq!(within(exact), text);
        assert_ne!(within(exact - 1), text);
        let lengths = [30, 400, 30, 400, 30, 30];
        let points = (1..)
            .zip(lengths)
            .map(|(n, length)| point(n, length, 9 - n));
        let points: Vec<Value> = points.collect();
        let within = |units| shown(&given(&points, &json!({}), Frame::of(TEMPLATE), units, 9));
        assert_eq!(within(900), "001 002 003 005 006");
        assert_eq!(within(520), "001 003 005 006");
        assert_eq!(within(200), "001");
    }

    /// The settings accept 200 units or more.
    #[test]
    fn a_template_without_room_for_the_best_point_gives_way_to_a_shorter_one() {
        let points = [point(1, 100, 9), point(2, 3, 0)];
        let [long, huge] = [250, 9_000].map(|n| format!("{}{PLACEHOLDER}", "y".repeat(n)));
        for (template, units) in [(TEMPLATE, 200), (&long, 400), (&huge, 400)] {
            let text = given(&points, &json!({}), Frame::of(template), units, 9);
            assert!(text.starts_with(VOICE), "{text}");
            assert!(shown(&text).starts_with("001"), "{text}");
        }
    }

    #[test]
    fn a_placeholder_in_the_users_own_points_is_not_filled() {
        let own =
            json!({"sections": {"OTHERS": [{"name": "my-001", "text": "keep {key_points}"}]}});
        let own = Playbook::parse(own.to_string().as_bytes()).unwrap();
        let template = Frame::of(TEMPLATE);
        let (limits, usage) = (InjectionLimits::FULL, UsageRecord::default());
        let own = own_points(&own, template, limits, &usage, |_| Admission::Given);
        let own = &own.text.unwrap();
        let text = given(
            &[point(1, 3, 0)],
            &json!({}),
            Frame { own, ..template },
            4_000,
            9,
        );
        assert_eq!(text.matches("[oth-001]").count(), 1);
        assert_eq!(text.matches("[my-001]").count(), 1);
    }

    #[test]
    fn only_lines_of_key_points_are_read_and_those_without_votes_below_the_built_in_words_alone() {
        let text = "cite its ID, e.g. [pat-001].\n[pat-002] helpful=x harmful=0 :: a\n\
                    [a b] helpful=0 harmful=0 :: a\n[pat-004] helpful=0 harmful=0: a\n[pat-005] a";
        assert_eq!(in_text(text), ShownPoints::default());
        let points = "[pat-001] run the tests\n[a b] no name\n";
        assert_eq!(shown(&TEMPLATE.replace(PLACEHOLDER, points)), "001");
    }
}
