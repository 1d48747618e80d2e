//! A forgiving JSON reader: what models write, not only what the standard allows.
//!
//! Beyond the standard it takes trailing commas, raw control characters and bare quotes in
//! strings, keys without quotes, `//`, `#` and `/* */` comments, single and typographic quotes, Python's `True`, `False` and
//! `None`, `NaN` and infinities (read as null), unknown escapes (kept as written) and lone
//! surrogates (U+FFFD). On standard JSON it gives what `serde_json` gives.
//!
//! It reads one object from a given place and, on the way, notes every object that holds
//! an expected key, so that the caller can pick one without reading the text again.

use serde_json::{Map, Number, Value};

/// How deep containers may nest; the limit of `serde_json`.
const MAX_DEPTH: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JsonSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) keys: usize,
}

pub(super) struct JsonReader<'a> {
    text: &'a str,
    expected: &'a [&'a str],
    pos: usize,
    depth: usize,
    /// Where each object opened that was begun, whole or not.
    pub(super) opened: Vec<usize>,
    /// Whole objects with an expected key; of nested ones with no more keys than the
    /// object around them, only the outer.
    pub(super) spans: Vec<JsonSpan>,
    /// The most expected keys that an object had that did not come to its end.
    pub(super) lost_keys: usize,
}

impl<'a> JsonReader<'a> {
    pub(super) fn new(text: &'a str, start: usize, expected: &'a [&'a str]) -> Self {
        Self {
            text,
            expected,
            pos: start,
            depth: 0,
            opened: Vec::new(),
            spans: Vec::new(),
            lost_keys: 0,
        }
    }

    /// Reads the object; `None` when it is broken or cut off.
    pub(super) fn read(&mut self) -> Option<Map<String, Value>> {
        match self.peek() {
            Some('{') => self.object(),
            _ => None,
        }
    }

    pub(super) fn end(&self) -> usize {
        self.pos
    }

    pub(super) fn is_cut_off(&self) -> bool {
        self.pos >= self.text.len()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.pos += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.pos += wanted.len_utf8();
        }
        found
    }

    fn space(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            self.pos += rest.len() - trimmed.len();
            let after = if trimmed.starts_with("//") || trimmed.starts_with('#') {
                trimmed.find('\n')
            } else if let Some(block) = trimmed.strip_prefix("/*") {
                block.find("*/").map(|at| at + 4)
            } else {
                return;
            };
            self.pos += after.unwrap_or(trimmed.len());
        }
    }

    fn object(&mut self) -> Option<Map<String, Value>> {
        let start = self.pos;
        self.opened.push(start);
        let mut map = Map::new();
        let done = self.deeper(|reader| reader.members(&mut map));
        let keys = self
            .expected
            .iter()
            .filter(|k| map.contains_key(**k))
            .count();
        if done.is_none() {
            self.lost_keys = self.lost_keys.max(keys);
            return None;
        }
        if keys > 0 {
            let first_inner = self.spans.partition_point(|span| span.start < start);
            let mut inner = self.spans.split_off(first_inner);
            inner.retain(|span| span.keys > keys);
            self.spans.push(JsonSpan {
                start,
                end: self.pos,
                keys,
            });
            self.spans.append(&mut inner);
        }
        Some(map)
    }

    fn members(&mut self, map: &mut Map<String, Value>) -> Option<()> {
        self.next();
        loop {
            self.space();
            if self.eat('}') {
                return Some(());
            }
            let key = self.key(map)?;
            self.space();
            if !self.eat(':') {
                return None;
            }
            self.space();
            let value = self.value();
            let broken = value.is_none();
            // Also of a broken value the key stays: it tells what the object was to be.
            map.insert(key, value.unwrap_or_default());
            if broken {
                return None;
            }
            self.space();
            if !self.eat(',') {
                return self.eat('}').then_some(());
            }
        }
    }

    /// A key, of the object whose members so far are `map`.
    fn key(&mut self, map: &Map<String, Value>) -> Option<String> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$');
        let bare = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        if bare.is_empty() {
            return self.string();
        }
        // Code such as `{x: 1}` is no answer; one without quotes begins with a key asked for.
        let is_answer = |key: &&str| *key == bare || map.contains_key(*key);
        if self.depth == 1 && !self.expected.iter().any(is_answer) {
            return None;
        }
        self.pos += bare.len();
        Some(bare.to_owned())
    }

    fn array(&mut self) -> Option<Vec<Value>> {
        let mut items = Vec::new();
        self.deeper(|reader| {
            reader.next();
            loop {
                reader.space();
                if reader.eat(']') {
                    return Some(());
                }
                items.push(reader.value()?);
                reader.space();
                if !reader.eat(',') {
                    return reader.eat(']').then_some(());
                }
            }
        })?;
        Some(items)
    }

    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let done = read(self);
        self.depth -= 1;
        done
    }

    fn value(&mut self) -> Option<Value> {
        match self.peek()? {
            '{' => self.object().map(Value::Object),
            '[' => self.array().map(Value::Array),
            c if Quote::opened_by(c).is_some() => self.string().map(Value::String),
            _ => self.word(),
        }
    }

    /// A number or a name such as `null` or `True`.
    fn word(&mut self) -> Option<Value> {
        let rest = self.rest();
        let len = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
            .unwrap_or(rest.len());
        let word = &rest[..len];
        self.pos += len;
        let value = match word {
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            "null" | "None" | "NULL" | "undefined" | "NaN" | "nan" | "Infinity" | "-Infinity" => {
                Value::Null
            }
            number => parse_number(number)?,
        };
        Some(value)
    }

    fn string(&mut self) -> Option<String> {
        let quote = Quote::opened_by(self.peek()?)?;
        self.next();
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let Some(at) = rest.find(|c| c == '\\' || quote.may_close(c)) else {
                self.pos = self.text.len();
                return None;
            };
            out.push_str(&rest[..at]);
            self.pos += at;
            match self.next()? {
                '\\' => self.escape(&mut out)?,
                _ if self.string_may_end() => return Some(out),
                inner => out.push(inner),
            }
        }
    }

    /// Tells whether what follows could follow a string: an apostrophe inside a
    /// single-quoted string does not close it, nor does a quote that was not escaped.
    fn string_may_end(&self) -> bool {
        let rest = self.rest().trim_start();
        rest.is_empty()
            || rest.starts_with([':', ',', '}', ']', '#'])
            || rest.starts_with("//")
            || rest.starts_with("/*")
    }

    fn escape(&mut self, out: &mut String) -> Option<()> {
        match self.next()? {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'u' => self.unicode(out),
            c @ ('"' | '\\' | '/' | '\'' | '\n') => out.push(c),
            c => out.extend(['\\', c]),
        }
        Some(())
    }

    fn unicode(&mut self, out: &mut String) {
        let Some(first) = self.hex4() else {
            out.push_str("\\u");
            return;
        };
        let mut unit = u32::from(first);
        if (0xd800..0xdc00).contains(&unit) && self.rest().starts_with("\\u") {
            let back = self.pos;
            self.pos += 2;
            match self.hex4().map(u32::from) {
                Some(low) if (0xdc00..0xe000).contains(&low) => {
                    unit = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                }
                _ => self.pos = back,
            }
        }
        out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
    }

    fn hex4(&mut self) -> Option<u16> {
        let digits = self.rest().get(..4)?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        self.pos += 4;
        u16::from_str_radix(digits, 16).ok()
    }
}

/// Decodes `text` when it is one JSON string and nothing else.
pub(super) fn read_string(text: &str) -> Option<String> {
    let mut reader = JsonReader::new(text, 0, &[]);
    let out = reader.string()?;
    reader.is_cut_off().then_some(out)
}

fn parse_number(word: &str) -> Option<Value> {
    if !word.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Ok(number) = serde_json::from_str::<Number>(word) {
        return Some(Value::Number(number));
    }
    let float: f64 = word.parse().ok()?;
    Some(Number::from_f64(float).map_or(Value::Null, Value::Number))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    Double,
    Single,
    Typographic,
    TypographicSingle,
}

impl Quote {
    fn opened_by(c: char) -> Option<Self> {
        Some(match c {
            '"' => Self::Double,
            '\'' => Self::Single,
            '“' | '”' | '„' | '‟' => Self::Typographic,
            '‘' | '’' | '‚' | '‛' => Self::TypographicSingle,
            _ => return None,
        })
    }

    fn may_close(self, c: char) -> bool {
        Self::opened_by(c) == Some(self)
    }
}
