//! How a JSON text is laid out, so that what we add looks like the rest.

use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

/// The indentation where a text does not show its own.
const UNIT: &str = "  ";

pub(super) struct Style {
    newline: &'static str,
    /// One step of indentation; `None` for a text on one line.
    unit: Option<String>,
}

impl Style {
    /// Reads the style of a text by what stands in front of its first member, if it has one.
    pub(super) fn of(text: &str, gap: Option<&str>) -> Self {
        let indent = gap.map_or(Some(""), indent_in);
        Self {
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
            unit: indent.map(|own| if own.is_empty() { UNIT } else { own }.to_owned()),
        }
    }

    /// What to write behind the last part of a container to add one. `gap` is what stands in
    /// front of that last part.
    pub(super) fn behind(&self, gap: &str, key: Option<&str>, value: &Value) -> String {
        let indent = indent_in(gap);
        let part = self.render(key, value, indent);
        match indent {
            Some(indent) => format!(",{}{indent}{part}", self.newline),
            None => format!(", {part}"),
        }
    }

    /// What to write between the brackets of an empty container whose own line is indented
    /// by `outer`.
    pub(super) fn within(&self, outer: &str, key: Option<&str>, value: &Value) -> String {
        match &self.unit {
            Some(unit) => {
                let inner = format!("{outer}{unit}");
                let newline = self.newline;
                let part = self.render(key, value, Some(&inner));
                format!("{newline}{inner}{part}{newline}{outer}")
            }
            None => self.render(key, value, None),
        }
    }

    /// Writes a part of ours that begins on a line indented by `indent`, or else on the line
    /// of its neighbours.
    fn render(&self, key: Option<&str>, value: &Value, indent: Option<&str>) -> String {
        let value = match indent {
            Some(indent) => self.pretty(value, indent),
            None => value.to_string(),
        };
        key.map_or(String::new(), |key| format!("{}: ", Value::from(key))) + &value
    }

    fn pretty(&self, value: &Value, indent: &str) -> String {
        let mut bytes = Vec::new();
        let unit = self.unit.as_deref().unwrap_or(UNIT);
        let form = PrettyFormatter::with_indent(unit.as_bytes());
        // Writing to memory cannot fail.
        _ = value.serialize(&mut Serializer::with_formatter(&mut bytes, form));
        // A line break within a text is written as `\n`.
        let newline = format!("{}{indent}", self.newline);
        String::from_utf8_lossy(&bytes).replace('\n', &newline)
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
