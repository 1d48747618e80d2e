//! A JSON text that is edited in places; all the rest of it stays, byte for byte.

use std::ops::Range;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::layout::{Style, indent_of_line};
use super::spans::{self, Member};
use crate::playbook::Defect;

const BOM: char = '\u{feff}';

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
        let style = Style::of(&self.text, &self.root());
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
