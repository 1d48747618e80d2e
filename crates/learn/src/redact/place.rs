//! Finds secrets by their place: what a secret's name has for a value is one, whatever it looks
//! like.
//!
//! The table's `ties` say what ties a name to a value, how far the value reaches, and how much it
//! is trusted. Only `=` and `:` mean something else in each kind of file (`Spot::setting`).

use std::ops::Range;
use std::sync::LazyLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};
use serde::Deserialize;

use super::names::{Kind, Name};
use super::rule::{Pattern, short};
use super::setting::{self, opens};
use super::table::TABLE;
use super::value::{self, Open, Quote};
use crate::clip::{boundary_after, boundary_before, head, tail};

/// The part of a line before a name that is looked at.
const BEFORE_BYTES: usize = 400;
/// The part of a text behind a name that a tie is looked for in.
pub(super) const TIE_BYTES: usize = 400;

/// The most of a literal.
const LITERAL_BYTES: usize = 128 << 10;

/// A tie between a name and its value.
#[derive(Debug, Deserialize)]
pub(super) struct Tie {
    /// The pattern of what is behind the name.
    pub(super) after: Pattern,
    /// The pattern of the line up to the end of the name; any without.
    #[serde(default)]
    before: Pattern,
    /// The pattern of what has to be behind a literal.
    #[serde(default)]
    behind: Pattern,
    /// The only kind of name that has it.
    kind: Option<Kind>,
    /// Set for the names of options.
    #[serde(default)]
    flag: bool,
    take: Take,
    /// The signs that end an unquoted value; a blank ends it, too.
    #[serde(default)]
    ends: String,
    #[serde(default)]
    trust: Trust,
    /// The trust in a literal, where it differs.
    literal: Option<Trust>,
}

#[cfg(test)]
impl Tie {
    /// Returns true if its patterns can be compiled.
    pub(super) fn can_be_used(&self) -> bool {
        let mut patterns = [&self.after, &self.before, &self.behind].into_iter();
        patterns.all(|pattern| short(&[pattern.text()]).is_some())
    }
}

/// The reach of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Take {
    Nothing,
    Literal,
    /// A literal, or a word as a shell has it.
    Word,
    /// A literal, or the rest of the line.
    Line,
    /// A literal, or all up to one of `ends`.
    Until,
    /// The value of a header, behind its scheme.
    Header,
    /// The value of each pair in a cookie.
    Pairs,
    /// The literals of an expression.
    Code,
    /// The kind of file decides.
    Setting,
}

/// The trust in a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Trust {
    /// Anything but a placeholder is a value.
    #[default]
    Sure,
    /// Expressions stay, and so do literals behind a bare name such as `secret`.
    Data,
    /// Nor are plain words.
    Doubt,
    /// It has to look random.
    Random,
}

/// Receives a secret in a text, and the name of the rule for its place.
pub(super) type Found<'f> = &'f mut dyn FnMut(Range<usize>, &'static str);

/// Calls `found` with the values of the names around `seeds`, in order.
pub(super) fn find(text: &str, seeds: &[usize], found: Found<'_>) {
    let (mut done, mut masked) = (0, 0);
    let mut line = Line::default();
    for &seed in seeds {
        let name = Some(seed).filter(|seed| *seed >= done);
        let name = name.and_then(|seed| Name::around(text, seed));
        // In a value only a name at its end matters, whose own value is behind it.
        if let Some(name) = name.filter(|name| name.range.end + 2 >= masked) {
            done = name.range.end;
            line.go_to(text, name.range.start);
            Spot::new(text, name, &line).find(&mut |range, id| {
                masked = masked.max(range.end);
                found(range, id);
            });
        }
    }
}

/// The line of the last name. It is read once, from left to right.
#[derive(Default)]
struct Line {
    at: usize,
    start: usize,
    end: usize,
    open: Open,
}

impl Line {
    fn go_to(&mut self, text: &str, to: usize) {
        if let Some(newline) = memchr::memrchr(b'\n', &text.as_bytes()[self.at..to]) {
            self.start = self.at + newline + 1;
            self.at = self.start;
            self.open = Open::default();
        }
        self.open.read(text, self.at..to);
        self.at = to;
        if self.end <= to {
            self.end = value::line_end(text, to);
        }
    }
}

/// A name and its surroundings.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is another fact about the place"
)]
pub(super) struct Spot<'t> {
    pub(super) text: &'t str,
    pub(super) name: Name,
    /// The beginning of the word that the name ends, such as `--db.password`.
    pub(super) word: usize,
    /// The line before that word, without numbers, marks of a diff, and the like.
    pub(super) before: &'t str,
    /// The quotation marks that are open around the value.
    open: Open,
    /// The end of the name, with the mark that closes behind it.
    pub(super) end: usize,
    line_end: usize,
    pub(super) is_quoted: bool,
    /// Set where only marks are before the word.
    pub(super) is_alone: bool,
    /// Set where a string begins with the word.
    pub(super) is_first: bool,
    is_flag: bool,
}

impl<'t> Spot<'t> {
    fn new(text: &'t str, name: Name, line: &Line) -> Self {
        let start = name.range.start;
        let mut line_start =
            boundary_after(text, line.start.max(start.saturating_sub(BEFORE_BYTES)));
        let bytes = &text.as_bytes()[line_start..start];
        let mut slashes = memchr::memrchr_iter(b'\\', bytes);
        let escaped = slashes.find(|at| matches!(bytes.get(at + 1), Some(b'n' | b'r')));
        line_start += escaped.map_or(0, |at| at + 2);
        let around = &text[line_start..start];
        let is_word = |c: char| c.is_ascii_alphanumeric() || "_-.:/#@$?&%[".contains(c);
        let before = around.trim_end_matches(is_word);
        let word = line_start + before.len();
        let prefix = &text[word..start];
        let is_first = before.ends_with(['"', '\'', '`']);
        let mut open = line.open.clone();
        let mut end = name.range.end;
        let quote = Quote::at(text, end).filter(|(quote, _)| open.0.last() == Some(quote));
        if let Some((_, behind)) = quote {
            open.0.pop();
            end = behind;
        }
        let is_start = before.is_empty();
        let before = without_marks(before);
        let is_alone = before.trim().is_empty() || is_first && before.trim().len() == 1;
        // A dash at the start of a line is the mark of a diff.
        let is_mark = prefix == "-" && is_start;
        let is_dashed = prefix.starts_with('-') && !is_mark && !prefix.contains(['$', '%', '&']);
        let is_flag = is_dashed || prefix == "/" && !is_start && text[end..].starts_with(':');
        Self {
            text,
            name,
            word,
            before,
            open,
            end,
            line_end: line.end,
            is_quoted: quote.is_some(),
            is_alone,
            is_first,
            is_flag,
        }
    }

    pub(super) fn name(&self) -> &'t str {
        &self.text[self.name.range.clone()]
    }

    /// Returns the part of the word before the name.
    pub(super) fn prefix(&self) -> &'t str {
        &self.text[self.word..self.name.range.start]
    }

    /// Returns the rule for the place.
    fn id(&self) -> &'static str {
        match self.name.kind {
            Kind::Authorization => "authorization",
            Kind::Cookie => "cookie",
            _ if self.is_flag => "flag-secret",
            _ if self.name.is_upper && self.text[self.end..].starts_with('=') => "env-secret",
            Kind::Password => "password",
            Kind::Secret | Kind::Weak => "secret",
        }
    }

    /// Returns the end of what the value can reach into.
    pub(super) fn limit(&self, from: usize) -> usize {
        let end = Some(self.line_end).filter(|end| from <= *end);
        let end = end.unwrap_or_else(|| value::line_end(self.text, from));
        self.open.close(self.text, from, end)
    }

    pub(super) fn word_at(&self, from: usize, ends: &[u8]) -> Range<usize> {
        value::word(self.text, from, self.limit(from), ends)
    }

    /// Returns the text of a line up to the end of the name.
    fn lead_in(&self) -> &'t str {
        &self.text[self.word - self.before.len()..self.end]
    }

    /// Calls `found` with the values of the name.
    fn find(&mut self, found: Found<'_>) {
        static AFTER: LazyLock<Option<Regex>> = LazyLock::new(|| {
            let patterns = TABLE.ties.iter().map(|tie| tie.after.text());
            short(&patterns.collect::<Vec<_>>())
        });
        let rest = head(&self.text[self.end..], TIE_BYTES);
        let input = Input::new(rest).anchored(Anchored::Yes);
        let Some(first) = AFTER.as_ref().and_then(|after| after.search(&input)) else {
            return;
        };
        let is_cookie = self.name.kind == Kind::Cookie;
        let ties = &TABLE.ties[first.pattern().as_usize()..];
        let of_name = ties.iter().filter(|tie| {
            tie.flag == self.is_flag && tie.kind.map_or(!is_cookie, |kind| kind == self.name.kind)
        });
        let fits = |tie: &&Tie| tie.before.is_match(self.lead_in());
        let mut ends = of_name.filter_map(|tie| Some((tie, tie.after.end(rest)?)));
        if let Some((tie, end)) = ends.find(|(tie, _)| fits(tie)) {
            let end = boundary_after(rest, end);
            self.open.read(self.text, self.end..self.end + end);
            self.take(tie, &rest[..end], self.end + end, found);
        }
    }

    /// Reads the value behind a tie.
    fn take(&self, tie: &Tie, tied: &str, from: usize, found: Found<'_>) {
        if tie.take == Take::Nothing || self.is_verb() && tie.trust >= Trust::Doubt {
            return;
        }
        if self.is_package() || self.is_flag && self.is_mentioned(tied, from) {
            return;
        }
        match tie.take {
            Take::Pairs => return self.pairs(from, found),
            Take::Code => return self.literals(from, found),
            Take::Setting => return self.setting(tied, from, found),
            _ => {}
        }
        if let Some((quote, start)) = self.quote_at(from) {
            let behind = &self.text[self.content(quote, start).1..];
            if tie.behind.is_match(head(behind, 40)) {
                let trust = tie.literal.unwrap_or(tie.trust);
                self.literal(from, trust, found);
            }
            return;
        }
        let range = match tie.take {
            Take::Word => self.word_at(from, tie.ends.as_bytes()),
            Take::Line if !opens(&self.text[from..]) => self.rest_of_line(from),
            Take::Until => {
                // The text of an element may have single quotation marks.
                let line_end = value::line_end(self.text, from);
                let limit = if tie.ends.contains('<') {
                    line_end
                } else {
                    self.limit(from)
                };
                let rest = self.text[from..limit]
                    .split(|c| tie.ends.contains(c))
                    .next();
                let rest = rest.unwrap_or_default();
                if !tie.behind.is_match(&self.text[from + rest.len()..]) {
                    return;
                }
                let start = from + rest.len() - rest.trim_start().len();
                start..start.max(from + rest.trim_end_matches(['\\', ' ']).len())
            }
            Take::Header => self.header(from),
            _ => return,
        };
        let trimmed = value::trimmed(self.text, range.clone());
        let range = if tie.trust == Trust::Sure {
            range
        } else {
            trimmed
        };
        self.accept(range, tie.trust, found);
    }

    /// Returns the value of a header, behind its scheme.
    fn header(&self, from: usize) -> Range<usize> {
        let is_whole = self.name.kind != Kind::Authorization;
        let line = &self.text[self.rest_of_line(from)];
        let is_code = line.ends_with([',', ';', ')']) && !line.contains(' ');
        if line.starts_with("= ") || !is_whole && is_code {
            return from..from;
        }
        let scheme = behind(&SCHEME, self.text, from).filter(|_| !is_whole);
        let start = scheme.unwrap_or(from);
        let is_one = !self.text[self.rest_of_line(start)].contains(' ');
        if self.is_first && (is_one || is_whole) {
            return start..self.limit(start);
        }
        let range = self.word_at(start, b"");
        let has_sign = self.text[range.clone()].chars().any(|c| !c.is_alphabetic());
        let is_value = is_whole || is_one || self.is_first || has_sign;
        if is_value { range } else { start..start }
    }

    /// Returns true for the name of a package, such as `"@acme/password"`.
    fn is_package(&self) -> bool {
        self.is_quoted && self.prefix().starts_with('@') && self.prefix().contains('/')
    }

    /// Returns true for an option that a sentence is about, as in `'--password' found`, or that help
    /// shows with a name for its value.
    fn is_mentioned(&self, tied: &str, from: usize) -> bool {
        let word = &self.text[self.word_at(from, b"")];
        let is_of_name = |b: u8| b.is_ascii_uppercase() || b == b'_';
        let is_name = word == "VALUE" || word.contains('_') && value::is_expression(word);
        let is_in_sentence = self.is_quoted && tied.starts_with([' ', '\t']);
        is_in_sentence && self.quote_at(from).is_none() || is_name && word.bytes().all(is_of_name)
    }

    /// Returns true for "pass" in a sentence.
    pub(super) fn is_verb(&self) -> bool {
        let is_field = self.before.contains("login") || self.is_quoted;
        self.name().eq_ignore_ascii_case("pass") && !is_field
    }

    /// Returns the quotation mark of a literal at a place, and the place behind it.
    pub(super) fn quote_at(&self, from: usize) -> Option<(Quote, usize)> {
        let rest = self.text[from..].bytes().take(3);
        let prefix = rest.take_while(|b| b"bBrRuUfFNL@&$#".contains(b)).count();
        let (quote, start) = Quote::at(self.text, from + prefix)?;
        // A lifetime of Rust is no literal.
        let is_lifetime = prefix > 0 && self.text[from..].starts_with("&'");
        (!is_lifetime && !self.open.0.contains(&quote)).then_some((quote, start))
    }

    /// Returns the content of a literal, and the place behind it.
    fn content(&self, quote: Quote, start: usize) -> (Range<usize>, usize) {
        let limit = if self.open.0.is_empty() {
            let rest = head(&self.text[start..], LITERAL_BYTES);
            start + memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len())
        } else {
            self.limit(start)
        };
        quote.content(self.text, start, limit)
    }

    /// Reads the literal at a place.
    fn literal(&self, from: usize, trust: Trust, found: Found<'_>) {
        let Some((quote, start)) = self.quote_at(from) else {
            return;
        };
        let (mut range, _) = self.content(quote, start);
        let content = &self.text[range.clone()];
        let is_format = self.text[from..start].starts_with(['f', 'F']) && content.contains('{');
        if self.name.kind == Kind::Authorization {
            let scheme = behind(&SCHEME, self.text, range.start);
            range.start = scheme.unwrap_or(range.start).min(range.end);
        }
        let value = &self.text[range.clone()];
        let is_code = quote.is_command(value) || quote.is_tag(content) || is_format;
        let inner = value.trim_start_matches(['\\', '"', '\'']);
        range.start = range.end - inner.len();
        let value = inner.trim_end_matches(['\\', '"', '\'']);
        let is_random = || value::looks_random(value) && !value::is_expression(value);
        let is_secret = match trust {
            Trust::Sure => true,
            Trust::Data => self.says_what() || is_random(),
            Trust::Doubt | Trust::Random => is_random(),
        };
        if is_secret && !is_code && !value::is_message(value) && self.is_value(value) {
            found(range.start..range.start + value.len(), self.id());
        }
    }

    /// Returns true for the name of a password, or one that says of what it is a secret.
    fn says_what(&self) -> bool {
        self.name.kind == Kind::Password || self.name.is_compound
    }

    /// Returns false for a placeholder, and for a value that repeats its name.
    fn is_value(&self, value: &str) -> bool {
        let has_digit = || value.bytes().any(|b| b.is_ascii_digit());
        let is_random = || value.len() >= 8 && has_digit() || value.len() > 200;
        let is_folder = value.starts_with('/') && self.name().eq_ignore_ascii_case("pwd");
        !value.is_empty()
            && !value::is_placeholder(value)
            && !value.eq_ignore_ascii_case(self.name())
            && (self.name.kind != Kind::Weak || is_random())
            && !is_folder
    }

    fn accept(&self, range: Range<usize>, trust: Trust, found: Found<'_>) {
        let value = &self.text[range.clone()];
        let has = |is: fn(&u8) -> bool| value.bytes().any(|b| is(&b));
        let is_number = value.bytes().all(|b| b.is_ascii_digit());
        let is_lower = |b: u8| b.is_ascii_lowercase() || b"-_".contains(&b);
        // A secret of one plain word names one: `--secret=db`, `token=eos`.
        let is_short = value.len() < 4 || self.name().eq_ignore_ascii_case("secret");
        let is_reference = !self.says_what() && is_short && value.bytes().all(is_lower);
        let is_reference = is_reference && !self.prefix().contains('.');
        let is_command = self.text[..range.start].ends_with('`') && value.contains(' ');
        let is_code = || value::is_expression(value) || value::is_message(value);
        let is_random =
            || value.len() >= 8 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
        let word = value.trim_end_matches(['?', '!']);
        let is_secret = match trust {
            Trust::Sure => true,
            Trust::Data => !is_code(),
            Trust::Doubt | Trust::Random => {
                (trust == Trust::Doubt || is_random())
                    && value.len() > 3
                    && word.chars().any(|c| !c.is_alphabetic())
                    && (!is_number
                        || self.name.kind == Kind::Password
                        || self.says_what() && value.len() > 5)
                    && !is_code()
                    && !value::is_plain_word(value)
            }
        };
        let is_count = self.name.is_plural && is_number;
        if is_secret && !is_count && !is_reference && !is_command && self.is_value(value) {
            found(range, self.id());
        }
    }

    /// Returns the rest of the line of a settings file, without a comment.
    pub(super) fn rest_of_line(&self, from: usize) -> Range<usize> {
        let line = &self.text[from..self.limit(from)];
        let mut signs = memchr::memchr_iter(b'#', line.as_bytes());
        let comment = signs.find(|at| line[..*at].ends_with([' ', '\t']));
        let line = line[..comment.unwrap_or(line.len())].trim_end();
        from..from + line.strip_suffix(" \\").unwrap_or(line).trim_end().len()
    }

    /// Reads the value behind `=` or `:`.
    fn setting(&self, tied: &str, from: usize, found: Found<'_>) {
        if tied.trim().is_empty() && self.quote_at(from).is_some() {
            if !self.is_verb() {
                self.literal(from, Trust::Data, found);
            }
            return;
        }
        let is_equals = tied.contains('=');
        let is_spaced = tied.contains([' ', '\t']);
        let is_inner = self.prefix().contains("://") || self.prefix().ends_with(':');
        if !is_equals && (is_inner && !is_spaced || self.name() == "PASS") {
            return;
        }
        // The anchor or type of a value in YAML, and a comparison without blanks.
        let from = behind(&TAG, self.text, from).unwrap_or(from);
        let is_compared = self.text[from..].starts_with('=') && self.quote_at(from + 1).is_some();
        let from = from + usize::from(is_compared);
        if let Some(inner) = behind(&BLOCK, self.text, from) {
            return self.accept(self.rest_of_line(inner), Trust::Sure, found);
        }
        let is_key = is_equals || (self.is_alone || self.is_quoted) && !tied.contains(')');
        if let Some(next) = behind(&BREAK, self.text, from)
            && is_key
            && self.quote_at(next).is_some()
            && !self.text[next..].starts_with("\"\"\"")
        {
            return self.literal(next, Trust::Data, found);
        }
        let is_env = is_equals && !is_spaced && self.name.is_upper;
        let bare = Some(()).filter(|()| is_env || self.quote_at(from).is_none());
        match bare.and_then(|()| setting::bare(self, tied, from)) {
            Some((range, trust))
                if trust == Trust::Sure || !value::is_expression(&self.text[range.clone()]) =>
            {
                self.accept(range, trust, found);
            }
            Some(_) if tied.trim().is_empty() => {}
            _ => self.literals(from, found),
        }
    }

    /// Reads the values of a cookie; of one that is set, only the first.
    fn pairs(&self, from: usize, found: Found<'_>) {
        let (from, limit) = match self.quote_at(from) {
            Some((quote, start)) => (start, self.content(quote, start).0.end),
            None => (from, self.limit(from)),
        };
        let is_set = self.name.range.len() > "cookie".len();
        let mut start = from;
        for pair in self.text[from..limit]
            .split_inclusive(';')
            .take(if is_set { 1 } else { 99 })
        {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let at = start + pair.len() - value.len();
            let value = value
                .split([';', ' ', '"', '\''])
                .next()
                .unwrap_or_default();
            let is_word = value.bytes().all(|b| b.is_ascii_alphabetic());
            if value.len() > 3 && !is_match(&ATTRIBUTE, key) && !is_word && self.is_value(value) {
                found(at..at + value.len(), self.id());
            }
            start += pair.len();
        }
    }

    /// Finds the literals of an expression that can be values: not the names of what is read.
    fn literals(&self, from: usize, found: Found<'_>) {
        let text = self.text;
        let end = boundary_before(text, from + TIE_BYTES);
        let is_list = is_match(&LIST, &text[from..end]);
        let limit = if is_list {
            end
        } else {
            end.min(self.limit(from))
        };
        // Each open bracket, and its place.
        let mut open: Vec<(u8, usize)> = Vec::new();
        let (mut arguments, mut is_joined, mut at) = (0, false, from);
        // The other targets of `user, password = "…", "…"`.
        let targets = self
            .before
            .strip_suffix(", ")
            .filter(|before| is_match(&TARGETS, before));
        let mut others = targets.map_or(0, |targets| 1 + targets.matches(',').count());
        while at < limit {
            let byte = text.as_bytes()[at];
            let is_generic = at > from && matches!(text.as_bytes()[at - 1], b'<' | b'&');
            let is_mark = matches!(byte, b'"' | b'\'' | b'`' | b'\\') && !is_generic;
            if let Some((quote, start)) = Quote::at(text, at).filter(|_| is_mark) {
                if self.open.0.contains(&quote) {
                    return;
                }
                let (range, end) = self.content(quote, start);
                is_joined |= text[end..].trim_start().starts_with('+');
                let callee = |at: usize| tail(&text[from..at], 40);
                let trust = match open.last() {
                    _ if is_joined => Some(Trust::Random),
                    Some((b'(', _)) if text[from..at].ends_with("default=") => Some(Trust::Data),
                    None => Some(Trust::Sure),
                    Some((b'(', at)) if arguments > 0 => {
                        (range.len() > 3 && is_match(&READER, callee(*at))).then_some(Trust::Sure)
                    }
                    Some((b'(', at)) if is_match(&WRAPPER, callee(*at)) => Some(Trust::Sure),
                    Some((b'(', at)) if is_match(&READER, callee(*at)) => None,
                    Some((b'(', _)) => Some(Trust::Random),
                    Some((b'[', _)) if is_list && self.name.is_plural && self.is_quoted => {
                        Some(Trust::Sure)
                    }
                    Some((b'[', open)) if is_list => {
                        let is_only = open + 1 == at && text[end..].starts_with(']');
                        Some(if is_only { Trust::Data } else { Trust::Random })
                    }
                    Some(_) => None,
                };
                if let Some(trust) = trust.filter(|_| others == 0) {
                    self.literal(at, trust, found);
                }
                at = end.max(at + 1);
                if open.is_empty() && others == 0 && !is_match(&GOES_ON, &text[at..limit.max(at)]) {
                    return;
                }
                continue;
            }
            match byte {
                b'(' | b'[' | b'{' => {
                    open.push((byte, at));
                    arguments = 0;
                }
                b')' | b']' | b'}' => {
                    if open.pop().is_none() || open.is_empty() && is_list {
                        return;
                    }
                    arguments = 0;
                }
                b',' if open.is_empty() && others > 0 => others -= 1,
                b',' | b';' if open.is_empty() => return,
                b',' => arguments += 1,
                b'+' => is_joined = true,
                b'=' if text.as_bytes().get(at + 1) == Some(&b'=') => return,
                _ => {}
            }
            at += 1;
        }
    }
}

/// Returns a line without what tools write before each: numbers, names of files, marks of a diff.
pub(super) fn without_marks(line: &str) -> &str {
    behind(&MARKS, line, 0).map_or(line, |at| &line[at..])
}

/// Returns the end of a pattern that matches at a place.
fn behind(regex: &LazyLock<Option<Regex>>, text: &str, at: usize) -> Option<usize> {
    let rest = head(&text[at..], TIE_BYTES);
    let input = Input::new(rest).anchored(Anchored::Yes);
    let end = regex.as_ref()?.search(&input)?.end();
    Some(at + boundary_before(rest, end))
}

pub(super) fn is_match(regex: &LazyLock<Option<Regex>>, text: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

patterns! {
    GOES_ON = r"^\s*(?:[-+.|?:)%#]|or\b|if\b|else\b)";
    ATTRIBUTE = r"(?i)^\s*(?:domain|path|expires|max-age|samesite)$";
    TARGETS = r"^[\w, ]*$";
    LIST = r#"^\[\s*\\*["']"#;
    BREAK = r"\(?[ \t]*\\?(?:\r?\n|\\+n)[ \t]*";
    BLOCK = r"[|>][+-]?\d?[ \t]*(?:\r?\n|\\+n)[ \t]+";
    TAG = r"(?:&\w+|!!\w+)[ \t]+";
    SCHEME = r"(?i)(?:[A-Za-z][A-Za-z0-9_-]{1,30})[ \t]{1,2}(?:token=\\?\x22?)?";
    WRAPPER = r"(?:^|[^\w])(?:from|Some|Ok|new|Box|Arc|Cow|bytes|byte|bytearray|String|str|CString|Secret\w*|Password|Buffer|string|of|just|unwrap_or\w*|\w*[oO]r_?[eE]lse|or|default|to_bytes|wrap|NSString|s)?!?$";
    READER = r"(?:^|[^\w])(?:include_\w+|open|read|load|require|import|env|getenv|Getenv|fetch|get\w*|var|lookup\w*|Lookup\w*|String\w*|setdefault|pop|option|config|str|dig)$";
    MARKS = r#"(?:\s*\d{1,6}(?:\t|\xE2\x86\x92|:\s?|\|)|[\w./-]+[:-]\d+[:-])?\s*(?:[-+*>]\s+|[+-])?(?:[<>]\s)?\s*(?:\*\*|__|"|'|`)?(?:export\s+|declare -x\s+|\$env:|\$\b)?"#;
}
