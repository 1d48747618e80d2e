//! Finds secrets by their place: what a secret's name, option or header has for a value is one,
//! whatever it looks like.

use std::ops::Range;
use std::sync::LazyLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

use super::names::{Kind, Name};
use super::rule::bytes;
use super::table::TABLE;
use super::value::{self, Quote};
use crate::clip::{boundary_after, boundary_before};

/// The part of a line before a name that is looked at.
const BEFORE_BYTES: usize = 240;
/// The part of an expression that is searched for a literal.
const EXPRESSION_BYTES: usize = 400;
/// The lines around one of a settings file that are looked at.
const LINES_BYTES: usize = 400;

/// How a value is tied to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    Equals,
    Colon,
    /// `:=`, `=>`, `||=`: only code has it.
    Assign,
    /// `==`, or an argument behind the name.
    Compare,
    /// Only a blank, in prose.
    Beside,
    /// An argument of a function of that name, or like it.
    None,
}

/// The trust in an unquoted value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Anything but a placeholder is a value.
    Strict,
    /// Expressions are none.
    Settings,
    /// Nor are words.
    Prose,
    /// Only literals are.
    Code,
}

/// A secret in a text, and the name of the rule for its place.
pub(super) type Found<'f> = &'f mut dyn FnMut(Range<usize>, &'static str);

/// Calls `found` with the values of the names around `seeds`, in order.
pub(super) fn find(text: &str, seeds: &[usize], found: Found<'_>) {
    let mut done = 0;
    for &seed in seeds {
        if seed < done {
            continue;
        }
        if let Some(name) = Name::around(text, seed).filter(|name| name.range.start >= done) {
            done = name.range.end;
            let place = Place::new(text, name);
            place.find(&mut |range, id| {
                done = done.max(range.end);
                found(range, id);
            });
        }
    }
}

/// The surroundings of a name.
struct Place<'t> {
    text: &'t str,
    name: Name,
    /// The beginning of the word that the name ends, such as `--db.password`.
    word: usize,
    /// The line before that word, without numbers, marks of a diff, and the like.
    before: &'t str,
    /// The quotation mark that closes behind the name.
    closed: Option<Quote>,
    /// The whole of the line before the name, empty where it is long.
    line: &'t str,
}

impl<'t> Place<'t> {
    fn new(text: &'t str, name: Name) -> Self {
        let bytes = text.as_bytes();
        let floor = boundary_after(text, name.range.start.saturating_sub(BEFORE_BYTES));
        let is_word = |b: &&u8| b.is_ascii_alphanumeric() || b"_-.:/#@$?&%[".contains(b);
        let mut word = name.range.start;
        word -= bytes[floor..word].iter().rev().take_while(is_word).count();
        if word > floor && bytes[word - 1] == b'\\' && matches!(bytes[word], b'n' | b'r' | b't') {
            word += 1;
        }
        let head = &text[floor..word];
        let escaped = [r"\n", r"\r"]
            .iter()
            .filter_map(|line| head.rfind(line))
            .max();
        let line = head
            .rfind('\n')
            .map(|at| at + 1)
            .max(escaped.map(|at| at + 2));
        let before = without_marks(&head[line.unwrap_or_default()..]);
        let closed =
            Quote::at(text, name.range.end).filter(|_| !text[name.range.end..].starts_with("'s "));
        let start = head.rfind('\n').map(|at| floor + at + 1);
        let line = start
            .or((floor == 0).then_some(0))
            .map_or("", |start| &text[start..name.range.start]);
        Self {
            text,
            name,
            word,
            before,
            closed: closed.map(|(quote, _)| quote),
            line,
        }
    }

    fn rest(&self, at: usize) -> &'t str {
        &self.text[at..]
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(b'\n')
    }

    fn blanks(&self, at: usize) -> usize {
        let rest = &self.text.as_bytes()[at..];
        at + rest
            .iter()
            .take(40)
            .take_while(|b| matches!(b, b' ' | b'\t'))
            .count()
    }

    /// Returns true for a part of an address, of the name of a resource, or of the output of tests.
    fn is_inner(&self, rest: &str) -> bool {
        let word = &self.text[self.word..self.name.range.start];
        let is_tight = rest.starts_with(':') && !rest.starts_with(": ");
        let name = &self.text[self.name.range.clone()];
        is_tight && (word.contains("://") || word.ends_with(':'))
            || rest.starts_with(':') && name == "PASS"
    }

    /// Returns true for "pass", which is mostly a verb in prose, and for the end of a path.
    fn is_verb(&self) -> bool {
        let name = &self.text[self.name.range.clone()];
        !self.is_flag()
            && name.eq_ignore_ascii_case("pass")
            && !["db ", "smtp ", "user ", "root ", "my "]
                .iter()
                .any(|of| self.before.ends_with(of))
            || self.word < self.name.range.start && self.byte(self.name.range.start - 1) == b'/'
    }

    fn is_flag(&self) -> bool {
        let word = &self.text[self.word..self.name.range.start];
        word.starts_with('-') && !word.contains(['$', '%', '&']) && !word.contains("env.")
    }

    fn is_query(&self) -> bool {
        self.name
            .range
            .start
            .checked_sub(1)
            .is_some_and(|at| matches!(self.byte(at), b'?' | b'&' | b'#'))
    }

    /// Returns true if a quotation mark behind the name closes what was opened before it.
    fn closes(&self, quote: Quote) -> bool {
        let bytes = self.line.as_bytes();
        let is_word = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
        let marks = memchr::memchr_iter(quote.sign, bytes).filter(|at| {
            let escapes = bytes[..*at]
                .iter()
                .rev()
                .take_while(|b| **b == b'\\')
                .count();
            escapes == quote.escapes
                && !(quote.sign == b'\'' && *at > 0 && is_word(at - 1) && is_word(at + 1))
        });
        !bytes.is_empty() && (marks.count() % 2 == 1) != (self.closed == Some(quote))
    }

    fn id(&self, link: Link) -> &'static str {
        match self.name.kind {
            Kind::Authorization => "authorization",
            Kind::Cookie => "cookie",
            _ if self.is_flag() => "flag-secret",
            _ if self.name.is_upper && link == Link::Equals => "env-secret",
            Kind::Password => "password",
            Kind::Secret | Kind::Weak => "secret",
        }
    }

    /// Calls `found` with the values of the name.
    #[expect(
        clippy::too_many_lines,
        reason = "one look after the other, in this order"
    )]
    fn find(&self, found: Found<'_>) {
        let mut at = self.name.range.end;
        let is_quoted = self.closed.is_some();
        at += self.closed.map_or(0, |quote| quote.escapes + 1);
        if is_quoted && let Some(value) = lead(&PAIR, self.text, at) {
            self.pair(value, found);
            return;
        }
        let bracket = at;
        while at < bracket + 2 && matches!(self.byte(at), b']' | b')') {
            at += 1;
        }
        let is_closed = at > bracket;
        if is_closed && let Some(value) = lead(&METHOD, self.text, at) {
            self.literal(value, Link::Compare, found);
            return;
        }
        while matches!(self.byte(at), b'*' | b'_') && !self.rest(at).starts_with("**/") {
            at += 1;
        }
        let start = self.blanks(at);
        let rest = self.rest(start);
        let is_spaced = start > at;
        let (link, length) = if rest.starts_with("==") || rest.starts_with("!=") {
            (
                Link::Compare,
                if rest[2..].starts_with('=') { 3 } else { 2 },
            )
        } else if let Some(length) = [":=", "=>", "||=", "??=", "?=", "→", "："]
            .iter()
            .find_map(|sign| rest.starts_with(sign).then_some(sign.len()))
        {
            let is_arm = rest.starts_with("=>") && !is_quoted && self.byte(self.word) != b':';
            let link = if is_arm { Link::Beside } else { Link::Assign };
            (
                if rest.starts_with(['→', '：']) {
                    Link::Colon
                } else {
                    link
                },
                length,
            )
        } else if rest.starts_with(":-") {
            (Link::None, 2)
        } else if let Some(length) = ["||", "??", "or "]
            .iter()
            .find_map(|sign| rest.starts_with(sign).then_some(sign.len()))
            .filter(|length| *length < 3 || is_closed)
        {
            self.literal(self.blanks(start + length), Link::None, found);
            return;
        } else if rest.starts_with("::")
            || rest.starts_with("+=")
            || rest.starts_with(":?")
            || self.is_inner(rest)
        {
            return;
        } else if rest.starts_with('=') {
            (Link::Equals, 1)
        } else if rest.starts_with(':') {
            (Link::Colon, 1)
        } else if rest.starts_with(',') && !is_spaced {
            self.argument(start + 1, is_quoted, found);
            return;
        } else if rest.starts_with('(') && !is_spaced && !is_quoted {
            self.call(start + 1, found);
            return;
        } else if rest.starts_with('>') && !is_spaced {
            return self.tag(start + 1, found);
        } else if rest.starts_with('|') {
            return self.cell(start + 1, found);
        } else {
            if let Some(value) = lead(&PAIR, self.text, start) {
                return self.pair(value, found);
            }
            if let Some(value) = lead(&TYPED, self.text, at).filter(|_| !self.is_flag()) {
                return self.literals(value, found);
            }
            return self.blank(start, is_spaced, is_quoted, found);
        };
        if self.name.kind == Kind::Cookie && !matches!(link, Link::Equals | Link::Colon) {
            return;
        }
        let mut value = start + length;
        let typed = || lead(&TYPED, self.text, value);
        let is_typed = link == Link::Colon && self.name.kind != Kind::Authorization;
        if is_typed && let Some(typed) = typed() {
            return self.literals(typed, found);
        }
        if link == Link::None {
            let end = value::word_end(self.text, value, value::line_end(self.text, value), b"}");
            return self.accept(value..end, link, Trust::Strict, found);
        }
        while matches!(self.byte(value), b'*' | b'_')
            && value < start + length + 2
            && matches!(self.byte(value + 1), b'*' | b' ')
        {
            value += 1;
        }
        let from = self.blanks(value);
        if link == Link::Compare {
            self.literal(from, link, found);
            return;
        }
        self.value(from, link, is_spaced || from > value, found);
    }

    /// Reads what `value:` has beside the name.
    fn pair(&self, from: usize, found: Found<'_>) {
        if !self.literal(from, Link::Colon, found) {
            let line = value::trimmed(self.text, from..value::line_end(self.text, from));
            self.accept(line, Link::Colon, Trust::Strict, found);
        }
    }

    /// Reads the value that begins at a place.
    fn value(&self, from: usize, link: Link, is_spaced: bool, found: Found<'_>) {
        if self.name.kind == Kind::Cookie {
            return self.cookie(from, found);
        }
        if self.byte(from) == b'`' && link == Link::Equals && !is_spaced {
            return;
        }
        let from = if self.name.kind == Kind::Authorization {
            self.scheme(from)
        } else {
            from
        };
        if self.literal(from, link, found) {
            return;
        }
        if let Some(inner) = lead(&BLOCK, self.text, from) {
            let end = value::line_end(self.text, inner);
            return self.accept(
                value::trimmed(self.text, inner..end),
                link,
                Trust::Strict,
                found,
            );
        }
        let (range, mut trust) = self.unquoted(from, link, is_spaced);
        if self.closed.is_some() && !self.text[range.clone()].bytes().all(|b| b.is_ascii_digit()) {
            trust = Trust::Code;
        }
        if trust == Trust::Code
            || trust != Trust::Strict && value::is_expression(&self.text[range.clone()])
        {
            return self.literals(from, found);
        }
        self.accept(range, link, trust, found);
    }

    /// Reads a quoted value; false where there is none.
    fn literal(&self, from: usize, link: Link, found: Found<'_>) -> bool {
        let prefix = self
            .rest(from)
            .bytes()
            .take(2)
            .take_while(|b| b"bBrRuUfFNL@&".contains(b))
            .count();
        let Some((quote, mut start)) = Quote::at(self.text, from + prefix) else {
            return false;
        };
        if self.closes(quote) {
            return true;
        }
        let (range, _) = quote.content(self.text, start);
        if self.text[range.clone()].matches('\n').count() > 1 {
            return true;
        }
        if self.name.kind == Kind::Authorization {
            start = self.scheme(start).min(range.end);
        }
        let value = &self.text[start..range.end];
        if prefix > 0 && quote.sign == b'\'' && self.byte(from) == b'&'
            || value::is_command(quote, value)
        {
            return true;
        }
        let is_doubtful = link == Link::Beside
            || link == Link::Compare && self.name.kind != Kind::Password && !self.name.is_compound;
        if link == Link::Beside && value::is_expression(value) {
            return true;
        }
        let is_random = || {
            value.len() >= 6 && value.bytes().any(|b| b.is_ascii_digit())
                || value.len() > 11 && value::has_sign(value)
                || value.len() > 200
        };
        if self.is_value(value) && !value::is_message(value) && (!is_doubtful || is_random()) {
            found(start..range.end, self.id(link));
        }
        true
    }

    /// Returns true unless a value stands for a secret, or repeats its name.
    fn is_value(&self, value: &str) -> bool {
        let has_digit = || value.bytes().any(|b| b.is_ascii_digit());
        let is_random = || value.len() >= 8 && has_digit() || value.len() > 200;
        !value::is_placeholder(value)
            && !value::is_stock_word(value)
            && (self.name.kind != Kind::Weak || is_random())
            && !(value.starts_with('/') && self.name.range.len() == 3)
    }

    fn accept(&self, range: Range<usize>, link: Link, trust: Trust, found: Found<'_>) {
        let value = &self.text[range.clone()];
        let is_value = self.is_value(value)
            && match trust {
                // Where more words follow, it is a sentence about the header.
                Trust::Strict if self.name.kind == Kind::Authorization => {
                    let rest = self.rest(range.end).trim_start_matches([' ', '\t']);
                    value::has_sign(value) || !rest.starts_with(|c: char| c.is_alphanumeric())
                }
                Trust::Strict => true,
                Trust::Settings => !value::is_expression(value) && !value::is_message(value),
                Trust::Prose => {
                    let digits = value.bytes().filter(u8::is_ascii_digit).count();
                    let is_count = digits == value.len()
                        && (digits < 6
                            || self.name.kind != Kind::Password && !self.name.is_compound);
                    value::has_sign(value)
                        && value.len() > 3
                        && !is_count
                        && !value::is_expression(value)
                        && !value::is_word(value)
                }
                Trust::Code => false,
            };
        if is_value {
            found(range, self.id(link));
        }
    }

    /// Returns an unquoted value, and how far to trust it.
    fn unquoted(&self, from: usize, link: Link, is_spaced: bool) -> (Range<usize>, Trust) {
        let text = self.text;
        let end = value::line_end(text, from);
        let rest = &text[from..end];
        let word = |ends: &[u8]| value::trimmed(text, from..value::word_end(text, from, end, ends));
        if self.is_flag() {
            return (word(b"|<>;&)"), Trust::Strict);
        }
        if self.is_query() {
            return (
                from..value::word_end(text, from, end, b"&#<>;"),
                Trust::Strict,
            );
        }
        let whole = || {
            let comment = rest
                .find(" #")
                .or_else(|| rest.find("\t#"))
                .unwrap_or(rest.len());
            value::trimmed(text, from..from + rest[..comment].trim_end().len())
        };
        let before = self.before;
        let behind = self.word.checked_sub(1).map(|at| self.byte(at));
        let pairs = before.rsplit(['"', '\'']).next().unwrap_or_default();
        let in_pairs = pairs.contains('=');
        if link == Link::Equals
            && !is_spaced
            && ((behind == Some(b';') || before.ends_with("; ")) && in_pairs)
        {
            let end = (from..end)
                .find(|at| matches!(self.byte(*at), b';' | b'"' | b'\''))
                .unwrap_or(end);
            let slashes = text[from..end]
                .bytes()
                .rev()
                .take_while(|b| *b == b'\\')
                .count();
            return (from..end - slashes, Trust::Strict);
        }
        let is_alone =
            before.trim().is_empty() || before.ends_with(['"', '\'']) && before.len() < 3;
        let name = &text[self.name.range.clone()];
        let is_listed = name.starts_with('a') && rest.trim_end().ends_with([',', ';']);
        let is_header = link == Link::Colon
            && (self.name.kind == Kind::Authorization && !is_listed || self.is_header(is_alone));
        if self.name.kind == Kind::Authorization && !is_header {
            return (from..from, Trust::Code);
        }
        if is_header {
            return (self.header_end(from, end), Trust::Strict);
        }
        let word_text = &text[self.word..self.name.range.start];
        let is_member = word_text.contains(['$', '@']) && !word_text.starts_with("$env:")
            || word_text.ends_with("->")
            || word_text.starts_with("self.")
            || word_text.starts_with("this.");
        let is_code = is_member || is_code(before, rest, link);
        match link {
            Link::Equals if !is_spaced && self.name.is_upper && !before.ends_with(['(', ',']) => {
                let is_file = is_alone && self.is_among(b"=");
                (if is_file { whole() } else { word(b"") }, Trust::Strict)
            }
            Link::Equals if is_alone && !is_code => {
                if self.is_below_header() {
                    return (whole(), Trust::Strict);
                }
                if !is_spaced && self.is_among(b"=") {
                    return (whole(), Trust::Settings);
                }
                let is_one = !rest.trim().contains(' ');
                let is_plain = is_one && self.name.is_upper && !value::is_word(rest.trim());
                let is_settings = is_one && !is_spaced || is_plain;
                let range = if is_one { whole() } else { word(b"") };
                (
                    range,
                    if is_settings {
                        Trust::Settings
                    } else {
                        Trust::Prose
                    },
                )
            }
            Link::Equals if !is_spaced && !is_code => (word(b">)"), Trust::Settings),
            Link::Colon if is_alone && is_spaced && !is_code => {
                if self.is_among(b":") {
                    return (whole(), Trust::Settings);
                }
                let is_one = !rest.trim().contains(' ');
                (if is_one { whole() } else { word(b"") }, Trust::Prose)
            }
            _ if is_code => (from..from, Trust::Code),
            Link::Colon if before.contains('{') => (word(b",})"), Trust::Prose),
            _ => (word(b""), Trust::Prose),
        }
    }

    /// Returns true for the name of a header.
    fn is_header(&self, is_alone: bool) -> bool {
        let name = &self.text[self.name.range.clone()];
        let is_known = TABLE.names.headers.iter().any(|header| {
            if header.contains('-') {
                name.eq_ignore_ascii_case(header)
            } else {
                name == header && is_alone
            }
        });
        let is_first = self
            .word
            .checked_sub(1)
            .is_some_and(|at| matches!(self.byte(at), b'"' | b'\''));
        is_known
            || (is_first || is_alone)
                && name.contains('-')
                && name.starts_with(|c: char| c.is_ascii_uppercase() || c == 'x')
            || is_first && self.before.contains("-H ")
    }

    fn header_end(&self, from: usize, end: usize) -> Range<usize> {
        let line = &self.text[from..end];
        let quote = self
            .word
            .checked_sub(1)
            .map(|at| self.byte(at))
            .filter(|b| matches!(b, b'"' | b'\''));
        let close = quote.and_then(|quote| memchr::memchr(quote, line.as_bytes()));
        let end = close.map_or_else(
            || value::word_end(self.text, from, end, b""),
            |at| from + at,
        );
        let slashes = self.text[from..end]
            .bytes()
            .rev()
            .take_while(|b| *b == b'\\')
            .count();
        from..end - slashes
    }

    /// Returns the beginning of the credentials behind their scheme.
    fn scheme(&self, from: usize) -> usize {
        let start = Quote::at(self.text, from).map_or(from, |(_, behind)| behind);
        lead(&SCHEME, self.text, start).map_or(from, |at| if start == from { at } else { from })
    }

    fn cookie(&self, from: usize, found: Found<'_>) {
        if self.is_flag() {
            return;
        }
        let start = Quote::at(self.text, from).map_or(from, |(_, behind)| behind);
        let end = value::line_end(self.text, start);
        let Some(value) = lead(&COOKIE, self.text, start) else {
            return;
        };
        let quote = Quote::at(self.text, from)
            .map(|(quote, _)| quote.sign)
            .or_else(|| self.word.checked_sub(1).map(|at| self.byte(at)));
        let line = &self.text.as_bytes()[start..end];
        let mut end = quote
            .filter(|b| matches!(b, b'"' | b'\'' | b'`'))
            .and_then(|quote| memchr::memchr(quote, line))
            .or_else(|| {
                memchr::memchr3(b'"', b'\'', b'`', line)
                    .filter(|at| line.get(at + 1).is_none_or(|b| !b.is_ascii_alphanumeric()))
            })
            .map_or(end, |at| start + at);
        end -= self.text[start..end]
            .bytes()
            .rev()
            .take_while(|b| *b == b'\\')
            .count();
        let is_set = self.name.range.len() > "cookie".len();
        let range = if is_set {
            let first = memchr::memchr(b';', &self.text.as_bytes()[value..end]);
            value..first.map_or(end, |at| value + at)
        } else {
            start..end
        };
        let first = self.text[value..end].split(';').next().unwrap_or_default();
        if range.start < range.end && self.is_value(first) {
            found(range, "cookie");
        }
    }

    /// Reads an argument behind a name that is one itself: `set("password", "…")`.
    fn argument(&self, from: usize, is_quoted: bool, found: Found<'_>) {
        let from = self.blanks(from);
        let opens = self.text[..self.word].trim_end_matches(['"', '\'', '`', '\\']);
        let is_call = is_quoted
            && opens.ends_with('(')
            && opens[..opens.len() - 1]
                .ends_with(|c: char| c.is_alphanumeric() || "!?_".contains(c));
        let is_test = !is_quoted
            && ["assert", "expect(", "equal", "Equal"]
                .iter()
                .any(|word| self.before.contains(word));
        if is_call {
            let callee = opens[..opens.len() - 1].to_ascii_lowercase();
            let sets = TABLE
                .names
                .setters
                .iter()
                .any(|setter| callee.ends_with(&**setter));
            self.literal(from, if sets { Link::None } else { Link::Compare }, found);
        } else if is_test {
            self.literal(from, Link::Compare, found);
        }
    }

    /// Reads the argument of a function with the name of a secret: `set_password("…")`.
    fn call(&self, from: usize, found: Found<'_>) {
        let from = self.blanks(from);
        let Some((quote, start)) = Quote::at(self.text, from) else {
            return;
        };
        let (range, is_closed) = quote.content(self.text, start);
        let value = &self.text[range.clone()];
        let behind = self.rest((range.end + 1 + quote.escapes).min(self.text.len()));
        if is_closed
            && behind.trim_start().starts_with(')')
            && (self.name.kind == Kind::Password || value.len() > 5)
        {
            self.literal(from, Link::Compare, found);
        }
    }

    /// Reads the content of an element of XML.
    fn tag(&self, from: usize, found: Found<'_>) {
        let start = self.name.range.start;
        let opens = start
            .checked_sub(1)
            .is_some_and(|at| matches!(self.byte(at), b'<' | b':' | b'.'));
        let limit = boundary_before(self.text, from + 4_096);
        if !opens {
            return;
        }
        if let Some(end) = memchr::memchr(b'<', &self.text.as_bytes()[from..limit]) {
            let value = &self.text[from..from + end];
            if self.rest(from + end).starts_with("</") && value.trim().lines().count() < 2 {
                let trimmed = value.trim_start();
                let start = from + value.len() - trimmed.len();
                self.accept(
                    start..start + trimmed.trim_end().len(),
                    Link::None,
                    Trust::Strict,
                    found,
                );
            }
        }
    }

    /// Reads the next cell of a table.
    fn cell(&self, from: usize, found: Found<'_>) {
        let is_table = self.before.starts_with('|') || self.before.ends_with("| ");
        let end = value::line_end(self.text, from);
        let line = &self.text[from..end];
        let Some(close) = line.find(" |").filter(|_| is_table) else {
            return;
        };
        let cell = line[..close].trim_matches([' ', '`', '*']);
        let start = from + line[..close].find(cell).unwrap_or_default();
        let is_code = line.contains('`');
        if !cell.contains(' ') && !value::is_word(cell) && (is_code || value::has_sign(cell)) {
            self.accept(
                start..start + cell.len(),
                Link::None,
                if is_code {
                    Trust::Settings
                } else {
                    Trust::Prose
                },
                found,
            );
        }
    }

    /// Reads what follows a name with a blank between.
    fn blank(&self, from: usize, is_spaced: bool, is_quoted: bool, found: Found<'_>) {
        let is_said = is_spaced || self.rest(from).starts_with("'s ");
        if !is_said || self.is_query() || self.name.kind == Kind::Cookie || self.is_verb() {
            return;
        }
        let end = value::line_end(self.text, from);
        let word = || {
            value::trimmed(
                self.text,
                from..value::word_end(self.text, from, end, b"|<>)"),
            )
        };
        if self.is_flag() {
            if from == self.name.range.end + 1 && !self.literal(from, Link::None, found) {
                let range = word();
                if !TABLE.names.stops.contains(&self.text[range.clone()])
                    && !is_option(&self.text[range.clone()])
                {
                    self.accept(range, Link::None, Trust::Strict, found);
                }
            }
            return;
        }
        if lead_ends(&DIRECTIVE, self.before) && !is_quoted {
            if !self.literal(from, Link::None, found) && !is_option(&self.text[word()]) {
                self.accept(word(), Link::None, Trust::Strict, found);
            }
            return;
        }
        let is_login = self.name.kind == Kind::Password
            && (self.before.contains("login ")
                || self.before.contains("machine ")
                || self.is_alone_in_netrc());
        if is_login && !is_quoted {
            let range = word();
            if !TABLE.names.stops.contains(&self.text[range.clone()]) {
                return self.accept(
                    from..value::word_end(self.text, from, end, b""),
                    Link::None,
                    Trust::Strict,
                    found,
                );
            }
        }
        let is_statement = self.name.is_upper || self.before.trim().is_empty();
        if self.name.kind == Kind::Password && is_statement && Quote::at(self.text, from).is_some()
        {
            self.literal(from, Link::None, found);
            return;
        }
        if self.byte(from) == b'(' {
            let end = self.text[from..end].find(')').map_or(from, |at| from + at);
            let inner = &self.text[from + 1..end.max(from + 1)];
            if inner.bytes().any(|b| b.is_ascii_digit()) && !inner.contains(' ') {
                self.accept(from + 1..end, Link::None, Trust::Prose, found);
            }
            return;
        }
        let Some(value) = lead(&SAID, self.text, from) else {
            if self.literal(from, Link::Beside, found) {
                return;
            }
            if self.name.kind == Kind::Password || self.name.kind == Kind::Secret {
                let range = word();
                let value = &self.text[range.clone()];
                let is_random = value.len() >= 8
                    && value.bytes().any(|b| b.is_ascii_digit())
                    && value.bytes().any(|b| b.is_ascii_alphabetic());
                if is_random && self.before.contains(' ') {
                    self.accept(range, Link::None, Trust::Prose, found);
                }
            }
            return;
        };
        if let Some((quote, start)) = Quote::at(self.text, value) {
            let (range, is_closed) = quote.content(self.text, start);
            if is_closed && (3..2_000).contains(&range.len()) {
                self.literal(value, Link::Compare, found);
            }
        } else {
            let range = value::trimmed(
                self.text,
                value..value::word_end(self.text, value, end, b""),
            );
            self.accept(range, Link::None, Trust::Prose, found);
        }
    }

    fn is_alone_in_netrc(&self) -> bool {
        let head = &self.text[boundary_after(self.text, self.word.saturating_sub(160))..self.word];
        self.before.trim().is_empty() && head.contains("login ")
    }

    /// Returns true if a line next to this one is a setting too.
    fn is_among(&self, sign: &[u8]) -> bool {
        let text = self.text;
        let head = &text[boundary_after(text, self.word.saturating_sub(LINES_BYTES))..self.word];
        let tail =
            &text[self.name.range.end..boundary_before(text, self.name.range.end + LINES_BYTES)];
        let is_setting = |line: &str| is_setting(line, sign[0]);
        let lines = |part: &'t str| part.split('\n').flat_map(|line| line.split(r"\n"));
        lines(tail).nth(1).is_some_and(is_setting) || {
            let before: Vec<&str> = lines(head).collect();
            before.len() > 1 && is_setting(before[before.len() - 2])
        }
    }

    /// Returns true below the `[header]` of a section.
    fn is_below_header(&self) -> bool {
        let head = &self.text
            [boundary_after(self.text, self.word.saturating_sub(LINES_BYTES * 2))..self.word];
        let lines = head
            .rsplit('\n')
            .skip(1)
            .take_while(|line| !line.trim().is_empty());
        lines.take(20).any(|line| {
            let line = without_marks(line).trim();
            line.starts_with('[') && line.ends_with(']') && line.len() > 2
        })
    }

    /// Finds the literals of an expression that can be values: not the names of what is read.
    fn literals(&self, from: usize, found: Found<'_>) {
        let text = self.text;
        let limit = boundary_before(
            text,
            value::line_end(text, from).min(from + EXPRESSION_BYTES),
        );
        let bytes = text.as_bytes();
        // Each open bracket, with what its function does with arguments.
        let mut open: Vec<(u8, bool, bool)> = Vec::new();
        let mut arguments = 0;
        let mut is_joined = false;
        let mut at = from;
        while at < limit {
            let byte = bytes[at];
            let is_lifetime = byte == b'\'' && at > from && matches!(bytes[at - 1], b'<' | b'&');
            if let Some((quote, start)) = Quote::at(text, at).filter(|_| !is_lifetime) {
                if self.closes(quote) {
                    return;
                }
                let (range, _) = quote.content(text, start);
                at = range.end + quote.escapes + 1;
                is_joined |= text[at.min(limit)..limit].trim_start().starts_with('+');
                let link = match open.last() {
                    _ if is_joined => Some(Link::Beside),
                    None => Some(Link::None),
                    Some((b'(', _, true)) if arguments > 0 && range.len() > 3 => Some(Link::None),
                    Some((b'(', true, _)) if arguments == 0 => Some(Link::None),
                    Some((b'(', false, false)) if arguments == 0 => Some(Link::Beside),
                    Some((b'[', ..)) if self.name.is_plural && open.len() == 1 => {
                        Some(Link::Beside)
                    }
                    Some(_) => None,
                };
                if let Some(link) = link {
                    self.literal(start - quote.escapes - 1, link, found);
                }
                continue;
            }
            match byte {
                b'(' | b'[' | b'{' => {
                    let (wraps, reads) = TABLE.names.function(&text[from..at]);
                    open.push((byte, wraps, reads));
                    arguments = 0;
                }
                b')' | b']' | b'}' => {
                    if open.pop().is_none() {
                        return;
                    }
                    arguments = 0;
                }
                b',' | b';' if open.is_empty() => return,
                b',' => arguments += 1,
                b'+' => is_joined = true,
                b'=' if bytes.get(at + 1) == Some(&b'=') => return,
                _ => {}
            }
            at += 1;
        }
    }
}

/// Returns true for an option of a command.
fn is_option(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    name.len() < word.len()
        && !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b == b'-' || b == b'=')
}

/// Returns true for a line that sets something, in a file that is no code.
fn is_setting(line: &str, sign: u8) -> bool {
    let line = without_marks(line.trim_end_matches('\\')).trim();
    let Some((name, value)) = line.split_once(char::from(sign)) else {
        return sign == b':' && line.starts_with("- ") && !line.ends_with([',', ';']);
    };
    let name = name
        .trim()
        .trim_start_matches("export ")
        .trim_matches(['"', '\'']);
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_-./ ".contains(&b))
        && !name.trim().contains(' ');
    is_name
        && !line.ends_with([',', ';', '{', '(', '['])
        && (sign == b'=' || value.is_empty() || value.starts_with(' '))
        && !value.contains(['(', '{'])
}

/// Returns true where an unquoted word is code.
fn is_code(before: &str, rest: &str, link: Link) -> bool {
    let rest = rest.trim_end();
    let statement = before.rsplit(';').next().unwrap_or_default().trim();
    let first = statement.split([' ', '(']).next().unwrap_or_default();
    link == Link::Assign
        || CODE_WORDS.contains(&first) && !statement.ends_with(':')
        || rest.ends_with([';', '{'])
            && (link != Link::Equals || rest.starts_with(' ') || !rest.contains(' '))
        || rest.ends_with(',') && !before.contains('{')
        || rest.starts_with(['(', '&', '['])
        || before.ends_with(['(', '<']) && link == Link::Equals
        || before.trim_end().ends_with(',') && before.contains('(') && link == Link::Equals
}

/// Returns a line without what tools write before each: numbers, names of files, marks of a diff.
fn without_marks(line: &str) -> &str {
    static MARKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        bytes(r#"^(?:\s*\d{1,6}(?:\t|\xE2\x86\x92|:\s?|\|)|[\w./-]+[:-]\d+[:-])?\s*(?:[-+*>]\s+|[+-])?(?:[<>]\s)?\s*(?:\*\*|__|"|'|`)?(?:export\s+|declare -x\s+|\$env:|\$)?"#).ok()
    });
    lead(&MARKS, line, 0).map_or(line, |at| &line[boundary_after(line, at)..])
}

/// Returns the end of a pattern that matches at a place.
fn lead(regex: &LazyLock<Option<Regex>>, text: &str, at: usize) -> Option<usize> {
    let regex = regex.as_ref()?;
    let input = Input::new(&text[at..]).anchored(Anchored::Yes);
    let input = input.range(..boundary_before(&text[at..], 240));
    let end = at + regex.search(&input)?.end();
    text.is_char_boundary(end).then_some(end)
}

fn lead_ends(regex: &LazyLock<Option<Regex>>, text: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

macro_rules! patterns {
    ($($name:ident = $pattern:expr;)*) => {
        $(static $name: LazyLock<Option<Regex>> = LazyLock::new(|| bytes($pattern).ok());)*
    };
}

patterns! {
    // The value beside a name: `"name": N, "value": "…"`, `variable "n" { default = "…"`.
    PAIR = r#"(?i)(?:,|/?>)?(?:\s|\\+[nrt])*(?:\\*["'])?value\\*["']?\s{0,3}[:=]\s{0,3}|\s?\{[^{}]{0,120}?\bdefault\s{0,9}=\s{0,9}"#;
    // A type, up to the sign behind it.
    TYPED = r"[?!]?[ \t]{0,3}(?::[ \t]{0,2})?(?:\{[ a-z;]{1,40}\}|(?:[&*]|'\w+ |mut |const |readonly |dyn )*(?:\[\w{0,8}\])?[\w.:]*(?:<[^=\n]{0,40}>|\[\w*\]| ?[*?!]| \| \w+){0,4})\]?[ \t]=[ \t]{1,3}";
    // `.fill("…")` behind the name of a field.
    METHOD = r"\.(?:fill|type|typeText|send_?[kK]eys|set_?[vV]alue|set_?[tT]ext|enter|input|press_?[sS]equentially|val|value)\(";
    // The beginning of a block in YAML.
    BLOCK = r"[|>][+-]?\d?[ \t]*(?:\r?\n|\\+n)[ \t]+";
    SCHEME = r"(?i)(?:bearer|token|basic|apikey|api-key|digest|negotiate|key|[A-Za-z][A-Za-z0-9_-]{1,30})[ \t]{1,2}(?:token=\\?\x22?)?";
    COOKIE = r"[\w.$%-]+=";
    DIRECTIVE = r#"(?:^|[\s;&|"`])(?:ENV|ARG|setx?|set -\w+|#define)\s+(?:\w+=\S+\s+)*$|\b(?:config(?:ure)?|secrets?|user-secrets|env|vars?)\s+(?:set|create|add|put|--\S+)\s+(?:[^\s='\x22]+\s+){0,2}$"#;
    // What is said of a secret before its value is.
    SAID = r"(?:for|of|to|has|was|is|on|in|at|now|should|will)\b[ \w'-]{0,40}?[ \t](?:is|to|be|now)\b:?[ \t]{1,2}|(?:'s|is|are|was|to|ist|est|es)\b:?[ \t]{1,2}";
}

const CODE_WORDS: [&str; 22] = [
    "let",
    "const",
    "var",
    "val",
    "return",
    "if",
    "elif",
    "else",
    "while",
    "for",
    "assert",
    "def",
    "fn",
    "func",
    "public",
    "private",
    "static",
    "final",
    "pub",
    "type",
    "readonly",
    "protected",
];
