//! A JSON text that is edited in places; all the rest of it stays, byte for byte.

use std::ops::Range;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::layout::{Part, Style, indent_of_line};
use super::spans::{self, Member};
use crate::playbook::Flaw;

const BOM: char = '\u{feff}';

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Edit {
    /// Where, in bytes of the text as it was then; `None` when that says nothing any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<usize>,
    pub(super) removed: String,
    pub(super) inserted: String,
}

/// A text and what was changed in it, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Document {
    text: String,
    edits: Vec<Edit>,
}

impl Document {
    /// Takes a text that is JSON, or empty; a flaw says where it is not.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Flaw> {
        let text = std::str::from_utf8(bytes).map_err(|e| Flaw::not_utf8(&e, bytes))?;
        let document = Self {
            text: text.to_owned(),
            edits: Vec::new(),
        };
        if !document.is_blank() {
            let json = &text[document.start()..];
            serde_json::from_str::<IgnoredAny>(json).map_err(|e| Flaw::from_json(&e))?;
        }
        Ok(document)
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn into_parts(self) -> (String, Vec<Edit>) {
        (self.text, self.edits)
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text[self.start()..]
            .trim_matches(spans::SPACE)
            .is_empty()
    }

    pub(super) fn is_empty_object(&self) -> bool {
        let root = self.root();
        self.is_object(&root) && self.members(&root).is_empty()
    }

    pub(super) fn start(&self) -> usize {
        if self.text.starts_with(BOM) {
            BOM.len_utf8()
        } else {
            0
        }
    }

    pub(super) fn root(&self) -> Range<usize> {
        spans::root(&self.text, self.start())
    }

    pub(super) fn members(&self, object: &Range<usize>) -> Vec<Member> {
        spans::members(&self.text, object)
    }

    /// The member of a name, the last where there are two, as every parser sees it.
    pub(super) fn member(&self, object: &Range<usize>, name: &str) -> Option<Member> {
        let mut members = self.members(object).into_iter();
        members.rfind(|member| self.string(&member.key).as_deref() == Some(name))
    }

    /// Tells whether another member of the object has the name of this one.
    pub(super) fn has_twin(&self, object: &Range<usize>, index: usize) -> bool {
        let members = self.members(object);
        let name = |member: &Member| self.string(&member.key);
        let own = members.get(index).map(name);
        members
            .iter()
            .filter(|other| Some(name(other)) == own)
            .count()
            > 1
    }

    pub(super) fn items(&self, array: &Range<usize>) -> Vec<Range<usize>> {
        spans::items(&self.text, array)
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
        self.edits.push(Edit {
            at: Some(span.start),
            removed: self.text[span.clone()].to_owned(),
            inserted: with.to_owned(),
        });
        self.text.replace_range(span, with);
    }

    /// Adds a member behind the last of the object at `object`.
    pub(super) fn add_member(&mut self, object: &Range<usize>, key: &str, value: &Value) {
        let members = self.members(object);
        let before_last = members.len().checked_sub(2).map(|n| &members[n].value);
        let last = members.last().map(|last| (&last.key, last.value.end));
        self.add(object, before_last, last, &Part::Member(key, value));
    }

    /// Adds an item behind the last of the array at `array`.
    pub(super) fn add_item(&mut self, array: &Range<usize>, value: &Value) {
        let items = self.items(array);
        let before_last = items.len().checked_sub(2).map(|n| &items[n]);
        let last = items.last().map(|last| (last, last.end));
        self.add(array, before_last, last, &Part::Item(value));
    }

    /// Adds a part to a container whose last part begins with the first span of `last` and
    /// ends at the number.
    fn add(
        &mut self,
        container: &Range<usize>,
        before_last: Option<&Range<usize>>,
        last: Option<(&Range<usize>, usize)>,
        part: &Part<'_>,
    ) {
        let style = Style::of(&self.text, &self.root());
        let (span, new) = if let Some((begin, end)) = last {
            let from = before_last.map_or(container.start + 1, |before| before.end);
            let between = &self.text[from..begin.start];
            let gap = between.rsplit(',').next().unwrap_or_default();
            (end..end, style.behind(gap, part))
        } else {
            let outer = indent_of_line(&self.text, container.start);
            let new = style.within(outer, part);
            (container.start + 1..container.end - 1, new)
        };
        self.replace(span, &new);
    }

    pub(super) fn remove_member(&mut self, object: &Range<usize>, index: usize) {
        let parts: Vec<_> = self
            .members(object)
            .into_iter()
            .map(|member| member.key.start..member.value.end)
            .collect();
        self.remove(object, &parts, index);
    }

    pub(super) fn remove_item(&mut self, array: &Range<usize>, index: usize) {
        let parts = self.items(array);
        self.remove(array, &parts, index);
    }

    /// Removes one of the `parts` of a container with the comma and the space that came
    /// with it.
    fn remove(&mut self, container: &Range<usize>, parts: &[Range<usize>], index: usize) {
        let Some(part) = parts.get(index) else {
            return;
        };
        let span = match (
            index.checked_sub(1).map(|n| &parts[n]),
            parts.get(index + 1),
        ) {
            (Some(before), _) => before.end..part.end,
            (None, Some(next)) => part.start..next.start,
            (None, None) => container.start + 1..container.end - 1,
        };
        self.replace(span, "");
    }
}
