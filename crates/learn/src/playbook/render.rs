//! Formats the key points for prompts, and parses the lines of single points.

use super::clean::clean;
use super::id::Section;
use super::model::{Playbook, Point};
use crate::clip::units;
use crate::digest::name_of;
use crate::shown_record::ShownPoints;

/// The built-in template, which explains the key points to the model and how to cite them
/// (REQ-REFL-002).
pub const TEMPLATE: &str = include_str!("../../templates/playbook.txt");
/// The template that is used if the other one leaves no space for a point.
pub(super) const SHORT_TEMPLATE: &str =
    "Playbook: learned earlier here; cite the ID of what helps.\n\n{key_points}";
/// The opening of the built-in templates.
pub(super) const VOICE: &str = "Playbook: ";
/// The placeholder for the key points in a template; other braces are kept.
pub(super) const PLACEHOLDER: &str = "{key_points}";
/// The separator before each heading but the first.
pub(super) const BLANK_LINE: &str = "\n\n";
const MAX_NAME: usize = 64;

/// Fills the template with all key points; empty without any (REQ-REFL-002).
///
/// Each section with points starts with `## TITLE`, and each point is a line
/// `[pat-001] helpful=3 harmful=1 :: text`. Sections and points are in canonical order, texts
/// cleaned.
pub fn format_playbook(playbook: &Playbook, template: &str) -> String {
    let points = playbook.points().filter(|point| is_showable(point.name));
    let block = block(points.map(|point| (point.section, show(&point, LineStyle::WithVotes))));
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
        let points = playbook.points().filter(|point| is_showable(point.name));
        let block = block(points.map(|point| (point.section, show(&point, LineStyle::Plain))));
        let frame = units(TEMPLATE).saturating_sub(units(PLACEHOLDER));
        Self {
            for_points: max_units.saturating_sub(frame),
            taken: units(&block),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineStyle {
    /// `[pat-001] helpful=3 harmful=1 :: text`, as REQ-REFL-002 defines it: in questions, and in a
    /// user's template.
    WithVotes,
    /// `[pat-001] text`: for a session's start, where votes do not help.
    Plain,
}

pub(super) fn show(point: &Point<'_>, line: LineStyle) -> String {
    let Point {
        name,
        helpful,
        harmful,
        ..
    } = point;
    let text = clean(point.text);
    match line {
        LineStyle::WithVotes => format!("[{name}] helpful={helpful} harmful={harmful} :: {text}"),
        LineStyle::Plain => format!("[{name}] {text}"),
    }
}

/// Returns `true` if a name cannot be mistaken for other text; other entries are not shown.
pub(super) fn is_showable(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// Joins lines, which are ordered by section.
pub(super) fn block(lines: impl Iterator<Item = (Section, String)>) -> String {
    let mut out = String::new();
    let mut current = None;
    for (section, line) in lines {
        if current != Some(section) {
            if current.is_some() {
                out.push_str(BLANK_LINE);
            }
            out.push_str("## ");
            out.push_str(section.title());
            current = Some(section);
        }
        out.push('\n');
        out.push_str(&line);
    }
    out
}

/// Returns the length of a section's heading, including the blank line before it.
pub(super) fn heading_units(section: Section) -> usize {
    BLANK_LINE.len() + "## ".len() + section.title().len()
}

/// Finds the key points in a text that a session was given, with any template.
pub fn in_text(text: &str) -> ShownPoints {
    let mut shown = ShownPoints::default();
    // Any text may have lines that begin with a word in brackets.
    let is_built_in = text.trim_start().starts_with(VOICE);
    let read = |line| read_line(line).or_else(|| read_plain_line(line).filter(|_| is_built_in));
    for (name, text) in text.lines().filter_map(read) {
        shown.insert(name, name_of(text.as_bytes()));
    }
    shown
}

/// Parses the name and the text of a key point from a line of [`show`] without votes.
pub(super) fn read_plain_line(line: &str) -> Option<(&str, &str)> {
    let (name, text) = line.strip_prefix('[')?.split_once("] ")?;
    is_showable(name).then_some((name, text))
}

/// Parses the name and the text of a key point from a line of [`show`] with votes.
pub(super) fn read_line(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix('[')?.split_once("] helpful=")?;
    let (votes, text) = rest.split_once(" :: ")?;
    let (helpful, harmful) = votes.split_once(" harmful=")?;
    let is_count = |text: &str| text.parse::<u64>().is_ok();
    (is_showable(name) && is_count(helpful) && is_count(harmful)).then_some((name, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_key_points_are_read() {
        let text = "cite its ID, e.g. [pat-001].\n[pat-002] helpful=x harmful=0 :: a\n \
                    [pat-003] helpful=0 harmful=0 :: a\n[a b] helpful=0 harmful=0 :: a\n\
                    [pat-004] helpful=0 harmful=0: a";
        assert_eq!(in_text(text), ShownPoints::default());
    }

    #[test]
    fn lines_without_votes_are_read_below_the_built_in_words_alone() {
        let points = "[pat-001] run the tests\n[a b] no name\n";
        assert_eq!(in_text(points), ShownPoints::default());
        let shown = in_text(&TEMPLATE.replace("{key_points}", points));
        let names: Vec<&str> = shown.each().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["pat-001"]);
    }
}
