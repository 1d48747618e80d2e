//! How a JSON text is laid out, so that what we add looks like the rest.

use std::io;
use std::ops::Range;

use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use super::spans;

/// The indentation where a text does not show its own.
const UNIT: &str = "  ";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Style {
    newline: &'static str,
    /// One step of indentation; `None` for a text on one line.
    unit: Option<String>,
    /// What stands behind a colon and a comma on one line.
    space: &'static str,
}

pub(super) enum Part<'a> {
    Member(&'a str, &'a Value),
    Item(&'a Value),
}

impl Style {
    /// Reads the style of the object at `root`.
    pub(super) fn of(text: &str, root: &Range<usize>) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let Some(first) = spans::members(text, root).into_iter().next() else {
            return Self {
                newline,
                unit: Some(UNIT.to_owned()),
                space: " ",
            };
        };
        let gap = &text[root.start + 1..first.key.start];
        let unit = indent_in(gap).map(|indent| match indent {
            "" => UNIT.to_owned(),
            indent => indent.to_owned(),
        });
        let colon = &text[first.key.end..first.value.start];
        let space = if colon.ends_with(':') { "" } else { " " };
        Self {
            newline,
            unit,
            space,
        }
    }

    /// What to write behind the last part of a container, at `last`, to add a part. `gap` is
    /// what stands in front of that last part.
    pub(super) fn behind(&self, gap: &str, part: &Part<'_>) -> String {
        let indent = indent_in(gap);
        let part = self.render(part, indent);
        match indent {
            Some(indent) => format!(",{}{indent}{part}", self.newline),
            None => format!(",{}{part}", self.space),
        }
    }

    /// What to write between the brackets of an empty container whose own line is indented
    /// by `outer`.
    pub(super) fn within(&self, outer: &str, part: &Part<'_>) -> String {
        match &self.unit {
            Some(unit) => {
                let inner = format!("{outer}{unit}");
                let newline = self.newline;
                let part = self.render(part, Some(&inner));
                format!("{newline}{inner}{part}{newline}{outer}")
            }
            None => self.render(part, None),
        }
    }

    /// Writes a part of ours that begins on a line indented by `indent`, or else on the line
    /// of its neighbours.
    fn render(&self, part: &Part<'_>, indent: Option<&str>) -> String {
        let space = if indent.is_some() { " " } else { self.space };
        match part {
            Part::Item(value) => self.value(value, indent),
            Part::Member(key, value) => {
                let value = self.value(value, indent);
                format!("{}:{space}{value}", Value::from(*key))
            }
        }
    }

    fn value(&self, value: &Value, indent: Option<&str>) -> String {
        let mut bytes = Vec::new();
        let unit = self.unit.as_deref().unwrap_or(UNIT);
        let pretty = PrettyFormatter::with_indent(unit.as_bytes());
        let line = OnOneLine(self.space);
        // Writing to memory cannot fail.
        _ = match indent {
            Some(_) => value.serialize(&mut Serializer::with_formatter(&mut bytes, pretty)),
            None => value.serialize(&mut Serializer::with_formatter(&mut bytes, line)),
        };
        let text = String::from_utf8_lossy(&bytes);
        // A line break within a text is written as `\n`.
        let newline = format!("{}{}", self.newline, indent.unwrap_or_default());
        text.replace('\n', &newline)
    }
}

/// JSON on one line, with this behind each colon and comma.
struct OnOneLine(&'static str);

impl OnOneLine {
    fn comma<W: ?Sized + io::Write>(&self, writer: &mut W, is_first: bool) -> io::Result<()> {
        if is_first {
            return Ok(());
        }
        write!(writer, ",{}", self.0)
    }
}

impl Formatter for OnOneLine {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        to: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.comma(to, first)
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        to: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.comma(to, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, to: &mut W) -> io::Result<()> {
        write!(to, ":{}", self.0)
    }
}

/// The indentation behind the last line break of a gap; `None` without one.
fn indent_in(gap: &str) -> Option<&str> {
    gap.rfind('\n').map(|at| &gap[at + 1..])
}

/// The indentation of the line on which the byte at `at` stands.
pub(super) fn indent_of_line(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[start..at];
    let rest = line.trim_start_matches([' ', '\t']);
    &line[..line.len() - rest.len()]
}
