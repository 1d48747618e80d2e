//! Where the parts of a JSON text stand, without changing a byte of it.
//!
//! The text has been checked to be JSON: nothing here fails, and nothing recurses.

use std::ops::Range;

/// A member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// The key with its quotes.
    pub(super) key: Range<usize>,
    /// The value.
    pub(super) value: Range<usize>,
}

/// Where the one value of `text` stands.
pub(super) fn root(text: &str, from: usize) -> Range<usize> {
    let mut cursor = Cursor::new(text, from);
    cursor.skip_space();
    cursor.value()
}

/// The members of the object at `object`; none when something else stands there.
pub(super) fn members(text: &str, object: &Range<usize>) -> Vec<Member> {
    let mut members = Vec::new();
    let mut cursor = Cursor::new(text, object.start);
    if !cursor.take(b'{') {
        return members;
    }
    loop {
        cursor.skip_space();
        if cursor.at >= object.end || cursor.peek() == Some(b'}') {
            return members;
        }
        let key = cursor.value();
        cursor.skip_space();
        cursor.take(b':');
        cursor.skip_space();
        let value = cursor.value();
        members.push(Member { key, value });
        cursor.skip_space();
        if !cursor.take(b',') {
            return members;
        }
    }
}

/// The items of the array at `array`; none when something else stands there.
pub(super) fn items(text: &str, array: &Range<usize>) -> Vec<Range<usize>> {
    let mut items = Vec::new();
    let mut cursor = Cursor::new(text, array.start);
    if !cursor.take(b'[') {
        return items;
    }
    loop {
        cursor.skip_space();
        if cursor.at >= array.end || cursor.peek() == Some(b']') {
            return items;
        }
        items.push(cursor.value());
        cursor.skip_space();
        if !cursor.take(b',') {
            return items;
        }
    }
}

/// The value of the member `name` of the object at `object`, the last of that name as
/// every parser sees it.
pub(super) fn member(text: &str, object: &Range<usize>, name: &str) -> Option<Member> {
    members(text, object)
        .into_iter()
        .rfind(|member| string(text, &member.key).as_deref() == Some(name))
}

/// The string at `span`, without its escapes.
pub(super) fn string(text: &str, span: &Range<usize>) -> Option<String> {
    serde_json::from_str(text.get(span.clone())?).ok()
}

/// Tells whether the value at `span` begins with `byte`: what kind of value it is.
pub(super) fn begins(text: &str, span: &Range<usize>, byte: u8) -> bool {
    text.as_bytes().get(span.start) == Some(&byte)
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a str, at: usize) -> Self {
        Self {
            bytes: text.as_bytes(),
            at,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    /// Passes over one value and returns where it stands.
    fn value(&mut self) -> Range<usize> {
        let start = self.at;
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.skip_string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                _ if depth > 0 => self.at += 1,
                _ => self.skip_word(),
            }
            if depth == 0 {
                break;
            }
        }
        start..self.at
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'"' => return,
                b'\\' => self.at += 1,
                _ => {}
            }
        }
    }

    /// Passes over a number, `true`, `false` or `null`; at least one byte.
    fn skip_word(&mut self) {
        self.at += 1;
        while self
            .peek()
            .is_some_and(|b| !is_space(b) && !matches!(b, b',' | b':' | b'}' | b']'))
        {
            self.at += 1;
        }
    }
}

/// What JSON allows between its parts.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_whatever_stands_in_strings_and_between() {
        let text = " {\"a\" :[1, \"]}\\\"\",{}, -2e9 ] ,\r\n\"\\u0061\": {\"b\":null}} ";
        let root = root(text, 0);
        assert_eq!(root, 1..text.len() - 1);
        let parts: Vec<_> = members(text, &root)
            .iter()
            .map(|m| (&text[m.key.clone()], &text[m.value.clone()]))
            .collect();
        assert_eq!(
            parts,
            [
                ("\"a\"", "[1, \"]}\\\"\",{}, -2e9 ]"),
                ("\"\\u0061\"", "{\"b\":null}")
            ]
        );
        let first = members(text, &root).remove(0).value;
        let items: Vec<_> = items(text, &first)
            .into_iter()
            .map(|item| &text[item])
            .collect();
        assert_eq!(items, ["1", "\"]}\\\"\"", "{}", "-2e9"]);
        // The last of two members of one name counts.
        let a = member(text, &root, "a").unwrap();
        assert_eq!(&text[a.value], "{\"b\":null}");
    }

    #[test]
    fn empty_containers_have_no_parts() {
        for text in ["{}", "{ \n}", "[]", "[ ]", "7", "\"{\""] {
            let root = root(text, 0);
            assert_eq!(&text[root.clone()], text);
            assert!(
                members(text, &root).is_empty() && items(text, &root).is_empty(),
                "{text}"
            );
        }
    }
}
