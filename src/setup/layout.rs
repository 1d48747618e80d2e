//! How a JSON text is laid out, so that what we add looks like the rest.

use std::ops::Range;

use serde_json::Value;

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

impl Style {
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

    /// The layout of what stands on lines of its own, indented by `indent`.
    fn block(&self, indent: &str) -> Layout<'_> {
        Layout {
            style: self,
            indent: Some(indent.to_owned()),
        }
    }

    /// The layout of what stands on the line of its neighbours.
    fn line(&self) -> Layout<'_> {
        Layout {
            style: self,
            indent: None,
        }
    }

    /// What to write behind the last part of a container, at `last`, to add a part. `gap` is
    /// what stands in front of that last part.
    pub(super) fn behind(&self, gap: &str, part: &Part<'_>) -> String {
        match indent_in(gap) {
            Some(indent) => format!(
                ",{}{indent}{}",
                self.newline,
                part.render(&self.block(indent))
            ),
            None => format!(",{}{}", self.space, part.render(&self.line())),
        }
    }

    /// What to write between the brackets of an empty container whose own line is indented
    /// by `outer`.
    pub(super) fn within(&self, outer: &str, part: &Part<'_>) -> String {
        match &self.unit {
            Some(unit) => {
                let inner = format!("{outer}{unit}");
                let newline = self.newline;
                let part = part.render(&self.block(&inner));
                format!("{newline}{inner}{part}{newline}{outer}")
            }
            None => part.render(&self.line()),
        }
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
    let end = line
        .find(|c: char| c != ' ' && c != '\t')
        .unwrap_or(line.len());
    &line[..end]
}

pub(super) enum Part<'a> {
    Member(&'a str, &'a Value),
    Item(&'a Value),
}

impl Part<'_> {
    fn render(&self, layout: &Layout<'_>) -> String {
        match self {
            Self::Member(key, value) => layout.member(key, value),
            Self::Item(value) => layout.value(value),
        }
    }
}

struct Layout<'a> {
    style: &'a Style,
    /// The indentation of the line it begins on; `None` on one line.
    indent: Option<String>,
}

impl Layout<'_> {
    fn member(&self, key: &str, value: &Value) -> String {
        let space = if self.indent.is_some() {
            " "
        } else {
            self.style.space
        };
        format!("{}:{space}{}", Value::from(key), self.value(value))
    }

    /// Writes a value of ours: a few levels, so recursion is no danger.
    fn value(&self, value: &Value) -> String {
        let inner = Layout {
            style: self.style,
            indent: self.indent.as_ref().map(|indent| {
                let unit = self.style.unit.as_deref().unwrap_or(UNIT);
                format!("{indent}{unit}")
            }),
        };
        match value {
            Value::Object(map) if !map.is_empty() => {
                let parts = map.iter().map(|(key, value)| inner.member(key, value));
                self.wrapped('{', &parts.collect::<Vec<_>>(), '}', &inner)
            }
            Value::Array(items) if !items.is_empty() => {
                let parts = items.iter().map(|item| inner.value(item));
                self.wrapped('[', &parts.collect::<Vec<_>>(), ']', &inner)
            }
            other => other.to_string(),
        }
    }

    fn wrapped(&self, open: char, parts: &[String], close: char, inner: &Layout<'_>) -> String {
        if let (Some(outer), Some(indent)) = (&self.indent, &inner.indent) {
            let newline = self.style.newline;
            let parts = parts.join(&format!(",{newline}{indent}"));
            format!("{open}{newline}{indent}{parts}{newline}{outer}{close}")
        } else {
            let parts = parts.join(&format!(",{}", self.style.space));
            format!("{open}{parts}{close}")
        }
    }
}
