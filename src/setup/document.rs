//! A JSON text that is edited in places and otherwise stays the same, byte for byte.
//!
//! `jsonc-parser` finds the places. Its editable tree is not used: it reformats an object that the
//! user wrote on one line.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::Serialize as _;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use crate::playbook::Defect;

const BOM: &str = "\u{feff}";
const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];
/// The indentation for a text without any.
const UNIT: &str = "  ";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Document {
    has_bom: bool,
    json: String,
}

impl Document {
    /// Accepts JSON or an empty text; the defect names the place of a mistake.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Defect> {
        let text = std::str::from_utf8(bytes).map_err(|e| Defect::not_utf8(&e, bytes))?;
        let json = text.strip_prefix(BOM);
        let document = Self {
            has_bom: json.is_some(),
            json: json.unwrap_or(text).to_owned(),
        };
        if !document.is_blank() {
            let checked = serde_json::from_str::<IgnoredAny>(&document.json);
            checked.map_err(|e| Defect::from_json(&e))?;
        }
        Ok(document)
    }

    pub(super) fn text(&self) -> String {
        let bom = if self.has_bom { BOM } else { "" };
        format!("{bom}{}", self.json)
    }

    pub(super) fn is_blank(&self) -> bool {
        self.json.trim_matches(SPACE).is_empty()
    }

    pub(super) fn is_left_over(&self) -> bool {
        let mut left = self.json.chars().filter(|c| !SPACE.contains(c));
        left.all(|c| "{}".contains(c))
    }

    pub(super) fn make_object(&mut self) {
        if self.is_blank() {
            "{}\n".clone_into(&mut self.json);
        }
    }

    /// Calls `look` with the root of the text's tree; `None` for a blank text.
    pub(super) fn look<T>(&self, look: impl FnOnce(Option<&Node<'_>>) -> T) -> T {
        // The parser refuses half a surrogate pair, which JSON allows. The replacement moves no
        // offset, and strings are read from the original text.
        let readable = self.json.replace("\\ud", "\\u0").replace("\\uD", "\\u0");
        let options = ParseOptions::default();
        let parsed = parse_to_ast(&readable, &CollectOptions::default(), &options);
        look(parsed.ok().and_then(|parsed| parsed.value).as_ref())
    }

    pub(super) fn read<T: serde::de::DeserializeOwned>(&self, at: &Range<usize>) -> Option<T> {
        serde_json::from_str(self.json.get(at.clone())?).ok()
    }

    /// Returns the member of a name; the last of several, as every JSON parser does.
    pub(super) fn member<'a, 'b>(
        &self,
        object: &'b Object<'a>,
        name: &str,
    ) -> Option<(usize, &'b Node<'a>)> {
        let mut members = object.properties.iter().enumerate();
        let (index, member) = members.rfind(|(_, it)| self.name(it).as_deref() == Some(name))?;
        Some((index, &member.value))
    }

    pub(super) fn name(&self, member: &ObjectProp<'_>) -> Option<String> {
        self.read(&place(&member.name))
    }

    /// Returns the line number of a byte offset, from 1.
    pub(super) fn line_of(&self, at: usize) -> usize {
        1 + memchr::memchr_iter(b'\n', &self.json.as_bytes()[..at]).count()
    }

    pub(super) fn replace(&mut self, at: Range<usize>, with: &str) {
        self.json.replace_range(at, with);
    }

    /// Formats the part like the rest of the text. A member of an object has a key.
    pub(super) fn add(&mut self, container: &Container, key: Option<&str>, value: &Value) {
        let newline = if self.json.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        // One level of indentation; `None` for a text on one line.
        let first = self.look(|root| root.and_then(Container::of)?.parts.first().cloned());
        let unit = first.map_or(Some(UNIT), |first| self.indent_before(first.start));
        let unit = unit.map(|unit| if unit.is_empty() { UNIT } else { unit });
        let render = |indent: Option<&str>| {
            let value = match indent {
                Some(indent) => {
                    pretty(value, unit.unwrap_or(UNIT)).replace('\n', &format!("{newline}{indent}"))
                }
                None => value.to_string(),
            };
            key.map_or(String::new(), |key| format!("{}: ", Value::from(key))) + &value
        };
        let (at, new) = match (container.parts.last(), unit) {
            (Some(last), _) => {
                let indent = self.indent_before(last.start);
                let gap = indent.map_or(" ".to_owned(), |indent| format!("{newline}{indent}"));
                (last.end..last.end, format!(",{gap}{}", render(indent)))
            }
            (None, Some(unit)) => {
                let outer = self.indent_of_line(container.place.start);
                let inner = format!("{outer}{unit}");
                let part = render(Some(&inner));
                let new = format!("{newline}{inner}{part}{newline}{outer}");
                (container.inside(), new)
            }
            (None, None) => (container.inside(), render(None)),
        };
        self.replace(at, &new);
    }

    /// Returns the indentation of the part at `at`; `None` if it is not the first on its line.
    fn indent_before(&self, at: usize) -> Option<&str> {
        let (_, line) = self.json[..at].rsplit_once('\n')?;
        line.trim_start_matches(SPACE).is_empty().then_some(line)
    }

    fn indent_of_line(&self, at: usize) -> &str {
        let line = self.json[..at].rsplit('\n').next().unwrap_or_default();
        &line[..line.len() - line.trim_start_matches(SPACE).len()]
    }
}

/// The place of an object or list, and the places of its members (with keys) or items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Container {
    place: Range<usize>,
    parts: Vec<Range<usize>>,
}

impl Container {
    fn of(node: &Node<'_>) -> Option<Self> {
        match node {
            Node::Object(object) => Some(object.into()),
            Node::Array(list) => Some(list.into()),
            _ => None,
        }
    }

    pub(super) fn inside(&self) -> Range<usize> {
        self.place.start + 1..self.place.end - 1
    }

    /// The place includes a comma and white space; `None` for the only part.
    pub(super) fn removal(&self, index: usize) -> Option<Range<usize>> {
        match &self.parts[..] {
            [] | [_] => None,
            [first, second, ..] if index == 0 => Some(first.start..second.start),
            parts => Some(parts[index - 1].end..parts[index].end),
        }
    }
}

impl From<&Object<'_>> for Container {
    fn from(object: &Object<'_>) -> Self {
        Self {
            place: place(object),
            parts: object.properties.iter().map(place).collect(),
        }
    }
}

impl From<&Array<'_>> for Container {
    fn from(list: &Array<'_>) -> Self {
        Self {
            place: place(list),
            parts: list.elements.iter().map(place).collect(),
        }
    }
}

pub(super) fn place(part: &impl Ranged) -> Range<usize> {
    part.start()..part.end()
}

fn pretty(value: &Value, unit: &str) -> String {
    let mut bytes = Vec::new();
    let form = PrettyFormatter::with_indent(unit.as_bytes());
    // Writing to memory cannot fail.
    _ = value.serialize(&mut Serializer::with_formatter(&mut bytes, form));
    String::from_utf8_lossy(&bytes).into_owned()
}
