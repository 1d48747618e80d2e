//! A JSON text that is edited in places; all the rest of it stays, byte for byte.
//!
//! The text has been checked to be JSON, so to look at it cannot fail; what is no object has no
//! members, and what is no array has no items.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize as _};
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::value::RawValue;

use crate::playbook::Defect;

const BOM: char = '\u{feff}';
const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];
/// The indentation where a text does not show its own.
const UNIT: &str = "  ";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Document {
    text: String,
}

impl Document {
    /// Takes a text that is JSON, or empty; a flaw says where it is not.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Defect> {
        let text = std::str::from_utf8(bytes).map_err(|e| Defect::not_utf8(&e, bytes))?;
        let document = Self {
            text: text.to_owned(),
        };
        if !document.is_blank() {
            let json = &text[document.start()..];
            serde_json::from_str::<IgnoredAny>(json).map_err(|e| Defect::from_json(&e))?;
        }
        Ok(document)
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text[self.start()..].trim_matches(SPACE).is_empty()
    }

    pub(super) fn is_empty_object(&self) -> bool {
        let root = self.root();
        self.is_object(&root) && self.members(&root).is_empty()
    }

    pub(super) fn start(&self) -> usize {
        let json = self.text.strip_prefix(BOM);
        json.map_or(0, |_| BOM.len_utf8())
    }

    pub(super) fn root(&self) -> Range<usize> {
        let json = self.text[self.start()..].trim_start_matches(SPACE);
        let start = self.text.len() - json.len();
        start..start + json.trim_end_matches(SPACE).len()
    }

    pub(super) fn members(&self, object: &Range<usize>) -> Vec<Member> {
        let Ok(Values(values)) = serde_json::from_str(&self.text[object.clone()]) else {
            return Vec::new();
        };
        // Behind the brace.
        let mut end = object.start + 1;
        let member = |value: &RawValue| {
            let value = self.place(value);
            let before =
                self.text[end..value.start].trim_start_matches([' ', '\t', '\n', '\r', ',']);
            let key = before.trim_end_matches([' ', '\t', '\n', '\r', ':']);
            let start = value.start - before.len();
            end = value.end;
            Member {
                key: start..start + key.len(),
                value,
            }
        };
        values.into_iter().map(member).collect()
    }

    /// The member of a name, the last where there are two, as every parser sees it.
    pub(super) fn member(&self, object: &Range<usize>, name: &str) -> Option<Member> {
        let mut members = self.members(object).into_iter();
        members.rfind(|member| self.string(&member.key).as_deref() == Some(name))
    }

    pub(super) fn items(&self, array: &Range<usize>) -> Vec<Range<usize>> {
        let items: Vec<&RawValue> =
            serde_json::from_str(&self.text[array.clone()]).unwrap_or_default();
        items.into_iter().map(|item| self.place(item)).collect()
    }

    fn place(&self, part: &RawValue) -> Range<usize> {
        let start = part.get().as_ptr().addr() - self.text.as_ptr().addr();
        start..start + part.get().len()
    }

    pub(super) fn string(&self, span: &Range<usize>) -> Option<String> {
        serde_json::from_str(self.text.get(span.clone())?).ok()
    }

    pub(super) fn is_object(&self, span: &Range<usize>) -> bool {
        self.text[span.clone()].starts_with('{')
    }

    pub(super) fn is_array(&self, span: &Range<usize>) -> bool {
        self.text[span.clone()].starts_with('[')
    }

    /// The line on which `at` stands, counted from 1.
    pub(super) fn line_of(&self, at: usize) -> usize {
        1 + memchr::memchr_iter(b'\n', &self.text.as_bytes()[..at]).count()
    }

    pub(super) fn replace(&mut self, span: Range<usize>, with: &str) {
        self.text.replace_range(span, with);
    }

    /// Where each member of an object or item of an array stands, its key included.
    fn parts(&self, container: &Range<usize>) -> Vec<Range<usize>> {
        if !self.is_object(container) {
            return self.items(container);
        }
        let members = self.members(container).into_iter();
        members.map(|it| it.key.start..it.value.end).collect()
    }

    /// Adds a part behind the last of a container: a member of an object has a key.
    pub(super) fn add(&mut self, container: &Range<usize>, key: Option<&str>, value: &Value) {
        let root = self.root();
        let first = self.members(&root).into_iter().next();
        let gap = first.map(|first| &self.text[root.start + 1..first.key.start]);
        let style = Style::of(&self.text, gap);
        let parts = self.parts(container);
        let (span, new) = if let Some(last) = parts.last() {
            let before = parts.len().checked_sub(2);
            let from = before.map_or(container.start + 1, |n| parts[n].end);
            let between = &self.text[from..last.start];
            let gap = between.rsplit(',').next().unwrap_or_default();
            (last.end..last.end, style.behind(gap, key, value))
        } else {
            let outer = indent_of_line(&self.text, container.start);
            let new = style.within(outer, key, value);
            (container.start + 1..container.end - 1, new)
        };
        self.replace(span, &new);
    }

    pub(super) fn count(&self, container: &Range<usize>) -> usize {
        self.parts(container).len()
    }

    /// Removes one part of a container with the comma and the space that came with it.
    pub(super) fn remove(&mut self, container: &Range<usize>, index: usize) {
        let parts = self.parts(container);
        let span = match &parts[..] {
            [] => return,
            [_] => container.start + 1..container.end - 1,
            [first, second, ..] if index == 0 => first.start..second.start,
            _ => parts[index - 1].end..parts[index].end,
        };
        self.replace(span, "");
    }
}

/// The values of an object's members in their order, two of one name included.
struct Values<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Values<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Values<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut values = Vec::new();
                while let Some((_, value)) = map.next_entry::<IgnoredAny, _>()? {
                    values.push(value);
                }
                Ok(Values(values))
            }
        }
        from.deserialize_map(InOrder)
    }
}

/// How a JSON text is laid out, so that what we add looks like the rest.
struct Style {
    newline: &'static str,
    /// One step of indentation; `None` for a text on one line.
    unit: Option<String>,
}

impl Style {
    /// Reads the style of a text by what stands in front of its first member, if it has one.
    fn of(text: &str, gap: Option<&str>) -> Self {
        let indent = gap.map_or(Some(""), indent_in);
        Self {
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
            unit: indent.map(|own| if own.is_empty() { UNIT } else { own }.to_owned()),
        }
    }

    /// What to write behind the last part of a container to add one. `gap` is what stands in
    /// front of that last part.
    fn behind(&self, gap: &str, key: Option<&str>, value: &Value) -> String {
        let indent = indent_in(gap);
        let part = self.render(key, value, indent);
        match indent {
            Some(indent) => format!(",{}{indent}{part}", self.newline),
            None => format!(", {part}"),
        }
    }

    /// What to write between the brackets of an empty container whose own line is indented
    /// by `outer`.
    fn within(&self, outer: &str, key: Option<&str>, value: &Value) -> String {
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
fn indent_of_line(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[start..at];
    let rest = line.trim_start_matches([' ', '\t']);
    &line[..line.len() - rest.len()]
}
