//! Finds secrets by their place: what a secret's name has for a value is one, whatever it looks
//! like.
//!
//! `leads` of the table say what ties a name to its value. The line around the name says which
//! place that is, and each place has one end of a value, and one measure of trust in it.

use std::ops::Range;
use std::sync::LazyLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};
use serde::Deserialize;

use super::names::{Kind, Name};
use super::rule::{all_of, bytes};
use super::table::TABLE;
use super::value::{self, Open, Quote};
use crate::clip::{boundary_after, boundary_before, head, tail};

/// The part of a line before a name that is looked at.
const BEFORE_BYTES: usize = 400;
/// The part of a text behind a name that a lead is looked for in.
const LEAD_BYTES: usize = 400;

/// The tie between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Lead {
    /// What looks like a tie and has no value: `token::parse`.
    No,
    /// `value:` behind the name.
    Pair,
    /// A method of a field with that name: `.fill(`.
    Method,
    /// `==`.
    Compare,
    /// `:-`, in the expansion of a variable.
    Default,
    /// `:=`, `??=`, or a type and `=`: only code has it.
    Assign,
    /// `=>`.
    Arrow,
    /// `||`, `??`, `or`.
    Fallback,
    Equals,
    Colon,
    Argument,
    Call,
    /// The end of an XML tag.
    Tag,
    /// The end of a table's cell.
    Cell,
    /// `is`, in a sentence.
    Said,
    Blank,
}

/// A kind of lead with its pattern, as the table has it.
#[derive(Debug, Deserialize)]
pub(super) struct LeadPattern {
    pub(super) lead: Lead,
    pub(super) regex: String,
}

/// The place of an unquoted value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// An option, or a variable of a shell: a word.
    Word,
    /// The query of an address.
    Query,
    /// A connection string, where this sign parts the settings.
    Dsn(u8),
    Header,
    /// A member of JSON, which has only numbers without quotation marks.
    Json,
    /// A line of a file of settings.
    Line,
    /// A member of a printed structure, or of a map on one line.
    Member,
    Prose,
    /// Only literals are values.
    Code,
}

/// The trust in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Anything but a placeholder is a value.
    Sure,
    /// Expressions are none; a literal needs a name that says a secret of what.
    Data,
    /// Nor are plain words; a literal has to look random.
    Doubt,
}

/// Receives a secret in a text, and the name of the rule for its place.
pub(super) type Found<'f> = &'f mut dyn FnMut(Range<usize>, &'static str);

/// Calls `found` with the values of the names around `seeds`, in order.
pub(super) fn find(text: &str, seeds: &[usize], found: Found<'_>) {
    let (mut done, mut masked) = (0, 0);
    let mut line = Line::default();
    for &seed in seeds {
        let name = Some(seed).filter(|seed| *seed >= done.max(masked));
        if let Some(name) = name.and_then(|seed| Name::around(text, seed)) {
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
    }
}

/// A name and its surroundings.
struct Spot<'t> {
    text: &'t str,
    name: Name,
    /// The beginning of the word that the name ends, such as `--db.password`.
    word: usize,
    /// The line before that word, without numbers, marks of a diff, and the like.
    before: &'t str,
    /// The quotation marks that are open around the value.
    open: Open,
    /// The end of the name, with the mark that closes behind it.
    end: usize,
    is_quoted: bool,
    /// Set where only marks are before the word.
    is_alone: bool,
    /// Set where a string begins with the word.
    is_first: bool,
    is_flag: bool,
}

impl<'t> Spot<'t> {
    fn new(text: &'t str, name: Name, line: &Line) -> Self {
        let start = name.range.start;
        let mut line_start =
            boundary_after(text, line.start.max(start.saturating_sub(BEFORE_BYTES)));
        let around = &text[line_start..start];
        let escaped = [r"\n", r"\r"].iter().filter_map(|sign| around.rfind(sign));
        let escaped = escaped
            .max()
            .map(|at| at + 2)
            .filter(|at| *at <= around.len());
        line_start += escaped.unwrap_or(0);
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
        let is_flag = prefix.starts_with('-') && !is_mark && !prefix.contains(['$', '%', '&']);
        Self {
            text,
            name,
            word,
            before,
            open,
            end,
            is_quoted: quote.is_some(),
            is_alone,
            is_first,
            is_flag,
        }
    }

    fn name(&self) -> &'t str {
        &self.text[self.name.range.clone()]
    }

    /// Returns the part of the word before the name.
    fn prefix(&self) -> &'t str {
        &self.text[self.word..self.name.range.start]
    }

    fn is_password(&self) -> bool {
        self.name.kind == Kind::Password
    }

    /// Returns the rule for the place.
    fn id(&self, lead: Lead) -> &'static str {
        match self.name.kind {
            Kind::Authorization => "authorization",
            Kind::Cookie => "cookie",
            _ if self.is_flag => "flag-secret",
            _ if self.name.is_upper && lead == Lead::Equals => "env-secret",
            Kind::Password => "password",
            Kind::Secret | Kind::Weak => "secret",
        }
    }

    /// Returns the end of what the value can reach into.
    fn limit(&self, from: usize) -> usize {
        self.open
            .close(self.text, from, value::line_end(self.text, from))
    }

    fn word_at(&self, from: usize, ends: &[u8]) -> Range<usize> {
        value::word(self.text, from, self.limit(from), ends)
    }

    /// Calls `found` with the values of the name.
    fn find(&self, found: Found<'_>) {
        static LEADS: LazyLock<Option<Regex>> =
            LazyLock::new(|| all_of(TABLE.leads.iter().map(|lead| &*lead.regex)).ok());
        let rest = head(&self.text[self.end..], LEAD_BYTES);
        let input = Input::new(rest).anchored(Anchored::Yes);
        let Some(matched) = LEADS.as_ref().and_then(|leads| leads.search(&input)) else {
            return;
        };
        let lead = TABLE.leads[matched.pattern().as_usize()].lead;
        let sign = &rest[..boundary_after(rest, matched.end())];
        let from = self.end + sign.len();
        let is_spaced = sign.contains([' ', '\t']);
        if self.name.kind == Kind::Cookie {
            if matches!(lead, Lead::Equals | Lead::Colon | Lead::Argument) {
                self.cookie(from, found);
            }
            return;
        }
        match lead {
            Lead::No => {}
            Lead::Pair => self.pair(sign, from, found),
            Lead::Method if self.is_quoted || sign.starts_with([']', ')', '"', '\'']) => {
                self.literal(from, lead, Trust::Sure, found);
            }
            Lead::Compare => {
                let is_text = self.is_flag || self.name.is_upper || !self.open.0.is_empty();
                if !self.literal(from, lead, Trust::Data, found) && is_text && sign == "==" {
                    self.value(self.end + 1, Lead::Equals, false, found);
                }
            }
            Lead::Default
                if self.text[..self.word].ends_with("${") || self.prefix().contains("${") =>
            {
                self.accept(self.word_at(from, b"}"), lead, Trust::Sure, found);
            }
            Lead::Argument => self.argument(from, found),
            Lead::Call => self.call(from, found),
            Lead::Tag
                if self.is_quoted && is_match(&NAMED, self.before)
                    || self.before.ends_with('<')
                    || self.prefix().contains([':', '.']) =>
            {
                self.element(from, found);
            }
            Lead::Cell => self.cell(from, found),
            Lead::Said => self.said(from, found),
            Lead::Blank => self.blank(from, found),
            Lead::Fallback if sign.contains("or") => {
                self.literal(from, lead, Trust::Sure, found);
            }
            Lead::Assign | Lead::Fallback if !self.is_flag => self.literals(from, found),
            Lead::Arrow if self.is_quoted || self.prefix().starts_with(':') => {
                self.literals(from, found);
            }
            Lead::Arrow
                if !self.literal(from, lead, Trust::Doubt, found) && !self.name.is_upper =>
            {
                let range = value::trimmed(self.text, self.word_at(from, b""));
                self.accept(range, lead, Trust::Doubt, found);
            }
            Lead::Equals | Lead::Colon if !self.is_inner(lead, is_spaced) => {
                self.value(from, lead, is_spaced, found);
            }
            _ => {}
        }
    }

    /// Returns true for a part of an address, of the name of a resource, or of a test's result.
    fn is_inner(&self, lead: Lead, is_spaced: bool) -> bool {
        let is_address = || self.prefix().contains("://") || self.prefix().ends_with(':');
        lead == Lead::Colon && (!is_spaced && is_address() || self.name() == "PASS")
    }

    /// Returns true for "pass" in a sentence, unless it says of what.
    fn is_verb(&self) -> bool {
        self.name().eq_ignore_ascii_case("pass") && !self.before.contains("login")
    }

    /// Reads the value beside a name that is one itself: `name: DB_PASSWORD`.
    fn pair(&self, sign: &str, from: usize, found: Found<'_>) {
        let opener = self.before.trim_end_matches(['"', '\'', '\\', ' ']);
        let is_named = opener.ends_with([':', '=', '>']) || self.prefix().ends_with(['/', ':']);
        if !sign.contains("default") && !is_named {
            return;
        }
        if sign.ends_with('>') {
            self.element(from, found);
        } else if !self.literal(from, Lead::Pair, Trust::Sure, found) && !opens(&self.text[from..])
        {
            let range = self.rest_of_line(from);
            let is_code = self.text[range.clone()].ends_with([',', ';']);
            let trust = if is_code { Trust::Doubt } else { Trust::Sure };
            self.accept(range, Lead::Pair, trust, found);
        }
    }

    /// Reads the value that begins at a place.
    fn value(&self, from: usize, lead: Lead, is_spaced: bool, found: Found<'_>) {
        let rest = &self.text[from..];
        if rest.starts_with('`') && self.name.is_upper && !is_spaced {
            return;
        }
        let from = match self.name.kind {
            Kind::Authorization => behind(&SCHEME, self.text, from).unwrap_or(from),
            // The anchor or type of a value in YAML.
            _ if lead == Lead::Colon && is_spaced => behind(&TAG, self.text, from).unwrap_or(from),
            _ => from,
        };
        let place = self.place(from, lead, is_spaced);
        if place != Place::Word && self.quote_at(from).is_some() {
            return self.literals(from, found);
        }
        if let Some(inner) = behind(&BLOCK, self.text, from) {
            return self.accept(self.rest_of_line(inner), lead, Trust::Sure, found);
        }
        let Some((range, trust)) = self.bare(place, from, lead, is_spaced) else {
            return self.literals(from, found);
        };
        if trust != Trust::Sure && value::is_expression(&self.text[range.clone()]) {
            return self.literals(from, found);
        }
        self.accept(range, lead, trust, found);
    }

    /// Returns the quotation mark of a literal at a place, and the place behind it.
    fn quote_at(&self, from: usize) -> Option<(Quote, usize)> {
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
            self.text.len()
        } else {
            self.limit(start)
        };
        quote.content(self.text, start, limit)
    }

    /// Reads a quoted value; false where there is none.
    fn literal(&self, from: usize, lead: Lead, trust: Trust, found: Found<'_>) -> bool {
        let Some((quote, start)) = self.quote_at(from) else {
            return false;
        };
        let (range, _) = self.content(quote, start);
        let is_command = quote.is_command(&self.text[range.clone()]);
        let mut start = range.start;
        if self.name.kind == Kind::Authorization {
            start = behind(&SCHEME, self.text, start)
                .unwrap_or(start)
                .min(range.end);
        }
        let value = &self.text[start..range.end];
        let inner = value.trim_matches(['\\', '"', '\'']);
        let start = start + (value.len() - value.trim_start_matches(['\\', '"', '\'']).len());
        let end = start + inner.len();
        let is_sure = match trust {
            Trust::Sure => true,
            Trust::Data => self.is_password() || self.name.is_compound,
            Trust::Doubt => false,
        };
        let is_random = || value::looks_random(inner) && !value::is_expression(inner);
        if !is_command
            && self.is_value(inner)
            && !value::is_message(inner)
            && (is_sure || is_random())
        {
            found(start..end, self.id(lead));
        }
        true
    }

    /// Returns true unless a value stands for a secret, or repeats its name.
    fn is_value(&self, value: &str) -> bool {
        let has_digit = || value.bytes().any(|b| b.is_ascii_digit());
        let is_random = || value.len() >= 8 && has_digit() || value.len() > 200;
        let is_folder = value.starts_with('/') && self.name().eq_ignore_ascii_case("pwd");
        !value.is_empty()
            && !value::is_placeholder(value)
            && !value.eq_ignore_ascii_case(self.name())
            && (self.name.kind != Kind::Weak || is_random())
            && !(is_folder && !self.before.contains(';'))
    }

    fn accept(&self, range: Range<usize>, lead: Lead, trust: Trust, found: Found<'_>) {
        let value = &self.text[range.clone()];
        let is_number = value.bytes().all(|b| b.is_ascii_digit());
        // A token of one plain word names a token: `--secret=db`.
        let is_reference = !self.is_password()
            && !self.name.is_compound
            && value
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b"-_".contains(&b));
        let is_code = || value::is_expression(value) || value::is_message(value);
        let is_secret = match trust {
            Trust::Sure => true,
            Trust::Data => !is_code(),
            Trust::Doubt => {
                let is_sure = self.is_password() || self.name.is_compound;
                let is_short = is_number && (!is_sure || value.len() < 6 && lead != Lead::Said);
                let word = value.trim_end_matches(['?', '!']);
                value.len() > 3
                    && word.chars().any(|c| !c.is_alphabetic())
                    && !is_short
                    && !is_code()
                    && !value::is_plain_word(value)
            }
        };
        let is_count = self.name.is_plural && is_number;
        if is_secret && !is_count && !is_reference && self.is_value(value) {
            found(range, self.id(lead));
        }
    }

    /// Returns the rest of the line of a settings file, without a comment.
    fn rest_of_line(&self, from: usize) -> Range<usize> {
        let line = &self.text[from..self.limit(from)];
        let comment = line.find(" #").or_else(|| line.find("\t#"));
        from..from + line[..comment.unwrap_or(line.len())].trim_end().len()
    }

    /// Returns the place of a value.
    fn place(&self, from: usize, lead: Lead, is_spaced: bool) -> Place {
        let line = &self.text[from..self.limit(from)];
        let prefix = self.prefix();
        let before = self.before.trim_end();
        let is_equals = lead == Lead::Equals;
        let is_inline = is_equals && !is_spaced;
        if self.is_flag {
            return Place::Word;
        }
        if prefix.ends_with(['?', '&']) || prefix.ends_with('#') && prefix.len() > 1 {
            return Place::Query;
        }
        let is_dsn = before.contains('=') || self.open.0.len() == 1 && before.contains(':');
        match before.as_bytes().last() {
            Some(sign @ (b';' | b','))
                if is_inline && is_dsn && before.len() == self.before.len() =>
            {
                return Place::Dsn(*sign);
            }
            _ => {}
        }
        if !is_equals && self.is_header(line) {
            return Place::Header;
        }
        if self.name.kind == Kind::Authorization {
            return Place::Code;
        }
        if self.is_quoted {
            return Place::Json;
        }
        let end = line.trim_end();
        let is_member = prefix.starts_with(['$', '@']) && !prefix.starts_with("$env")
            || prefix.ends_with("->")
            || ["self.", "this."].contains(&prefix);
        let is_call = self.before.ends_with(['(', ',']) || prefix.contains(['(', '[']);
        let is_shouted = self.name.is_upper || self.name().contains('-');
        let is_statement = is_match(&CODE, self.before)
            || end.ends_with([';', '{']) && (!is_inline || !end.contains(' '))
            || end.ends_with(',') && !self.before.contains(['{', '(']);
        if is_inline && line.starts_with([']', ')', '}', ',', ';', '>']) {
            return Place::Code;
        }
        if is_inline && (self.is_first || self.name.is_upper && !is_call) {
            return Place::Word;
        }
        if is_member || is_statement && !(is_shouted && self.is_alone) {
            return Place::Code;
        }
        let is_structure = self.before.contains(['{', '(', '[']);
        if self.is_alone {
            let is_title = !is_equals
                && !self.name.is_upper
                && self.name().starts_with(|c: char| c.is_ascii_uppercase());
            let is_file = is_shouted
                || prefix.contains(['.', '/'])
                || self.name.is_compound
                || is_inline
                || self.text[..self.word].ends_with("  ")
                || !end.contains([' ', '\t']);
            if is_inline && end.contains([' ', '\t']) && end.contains('=') {
                return Place::Word;
            }
            if opens(line) || !is_equals && line.contains(" = ") {
                return Place::Code;
            }
            if is_listed(self, is_equals) || is_file && !is_title && (is_spaced || is_equals) {
                return Place::Line;
            }
        } else if is_structure && (!is_equals || !is_spaced) {
            return Place::Member;
        } else if is_inline {
            return Place::Word;
        }
        Place::Prose
    }

    /// Returns the unquoted value at a place, and the trust in it; None where only literals count.
    fn bare(
        &self,
        place: Place,
        from: usize,
        lead: Lead,
        is_spaced: bool,
    ) -> Option<(Range<usize>, Trust)> {
        let limit = self.limit(from);
        let line = &self.text[from..limit];
        let whole = self.rest_of_line(from);
        let is_one = !self.text[whole.clone()].contains([' ', '\t']);
        let is_equals = lead == Lead::Equals;
        let data = |is_sure| if is_sure { Trust::Sure } else { Trust::Data };
        Some(match place {
            Place::Word if self.is_flag => (self.word_at(from, b"|<>;)"), Trust::Sure),
            Place::Word if self.is_first => {
                let is_word = is_one || line.contains('=') || self.before.ends_with('`');
                (
                    if is_word {
                        self.word_at(from, b"")
                    } else {
                        from..limit
                    },
                    Trust::Sure,
                )
            }
            Place::Word if self.name.is_upper => {
                let is_text = self.is_alone && !is_one && !is_match(&COMMAND, line);
                let is_text = is_text && self.quote_at(from).is_none() && is_listed(self, true);
                (
                    if is_text {
                        whole
                    } else {
                        self.word_at(from, b"")
                    },
                    Trust::Sure,
                )
            }
            Place::Word => {
                let is_among = self.before.contains('=') || !is_one && line.contains('=');
                let ends: &[u8] = if is_among { b"" } else { b">)" };
                let range = value::trimmed(self.text, self.word_at(from, ends));
                let is_path = self.text[range.clone()].contains(['.', '(', '[', ':', '{']);
                (range, data(is_among || !is_path))
            }
            Place::Query => (self.word_at(from, b"&#<>;"), Trust::Sure),
            Place::Dsn(sign) => {
                let end = line
                    .find([char::from(sign), '"'])
                    .map_or(limit, |at| from + at);
                let end = end - value::backslashes(&self.text[from..], end - from);
                (from..end, Trust::Sure)
            }
            Place::Header => {
                let is_whole = self.name.kind != Kind::Authorization || is_one;
                let is_all = self.is_first && is_whole;
                let range = if is_all {
                    from..limit
                } else {
                    self.word_at(from, b"")
                };
                let has_sign = self.text[range.clone()].chars().any(|c| !c.is_alphabetic());
                return (is_whole || self.is_first || has_sign).then_some((range, Trust::Sure));
            }
            Place::Json => {
                let end = line.bytes().take_while(u8::is_ascii_digit).count();
                let behind = line[end..].trim_start();
                let is_number =
                    end > 3 && (behind.is_empty() || behind.starts_with([',', '}', ']']));
                return is_number.then_some((from..from + end, Trust::Sure));
            }
            Place::Line => {
                let is_shouted = self.name.is_upper || self.name().contains('-');
                let is_sure = if is_equals {
                    !is_spaced && (is_shouted || self.prefix().contains(['.', '/']))
                        || is_listed(self, true)
                } else {
                    is_shouted || is_listed(self, false)
                };
                let value = &self.text[whole.clone()];
                let is_path = value.contains("::")
                    || value.ends_with("()")
                    || value.ends_with(']') && value.contains('[');
                if is_equals && is_spaced && !is_sure {
                    return Some((
                        value::trimmed(self.text, self.word_at(from, b"")),
                        Trust::Doubt,
                    ));
                }
                (whole, data(is_sure && is_one && !is_path))
            }
            Place::Member => {
                let ends: &[u8] = if self.before.contains('{') {
                    b",}"
                } else {
                    b",)]"
                };
                let range = value::trimmed(self.text, self.word_at(from, ends));
                let is_map =
                    !self.before.contains('(') && !line[..range.end - from].contains(['(', '.']);
                (
                    range,
                    if is_map || is_equals || !is_spaced {
                        Trust::Data
                    } else {
                        Trust::Doubt
                    },
                )
            }
            Place::Prose => (
                value::trimmed(self.text, self.word_at(from, b"")),
                Trust::Doubt,
            ),
            Place::Code => return None,
        })
    }

    /// Returns true for the name of a header.
    fn is_header(&self, line: &str) -> bool {
        let name = self.name();
        let is_listed = || line.trim_end().ends_with([',', ';']) && !line.trim().contains(' ');
        if self.is_quoted || self.name.kind == Kind::Authorization {
            return !self.is_quoted && !is_listed();
        }
        let is_title = name.starts_with(|c: char| c.is_ascii_uppercase() || c == 'x');
        let is_option = self.is_first && is_match(&HEADER, self.before);
        let is_start = self.is_first || self.is_alone;
        is_option
            || is_start && (name.contains('-') && is_title || matches!(name, "apikey" | "api-key"))
    }

    fn cookie(&self, from: usize, found: Found<'_>) {
        let (start, limit) = match self.quote_at(from) {
            Some((quote, start)) => (start, self.content(quote, start).0.end),
            None => (from, self.limit(from)),
        };
        let is_set = self.name.range.len() > "cookie".len();
        let mut part = start;
        for pair in self.text[start..limit].split_inclusive(';') {
            let value = pair.trim_end_matches(';');
            if let Some(at) = value.find('=').filter(|_| !self.is_flag) {
                let range = part + at + 1..part + value.len();
                let value = &self.text[range.clone()];
                if value.len() > 3
                    && !value.contains(' ')
                    && self.is_value(value)
                    && !value.bytes().all(|b| b.is_ascii_alphabetic())
                {
                    found(range, "cookie");
                }
            }
            part += pair.len();
            if is_set {
                return;
            }
        }
    }

    /// Reads an argument behind a name that is one itself: `set("password", "…")`.
    fn argument(&self, from: usize, found: Found<'_>) {
        if self.prefix().contains('/') || self.text[..self.end].ends_with('`') {
            return;
        }
        if !self.is_quoted {
            if is_match(&TESTS, self.before) {
                self.literal(from, Lead::Compare, Trust::Data, found);
            }
            return;
        }
        let opens = self.text[..self.word].trim_end_matches(['"', '\'', '`', '\\']);
        let is_set =
            is_match(&SETTER, tail(opens, 40)) || self.prefix().starts_with(['#', '.', '[']);
        let trust = match (is_set, opens.ends_with(['(', '[', ','])) {
            (true, _) => Trust::Sure,
            (_, true) => Trust::Doubt,
            _ if opens.ends_with(", ") => Trust::Doubt,
            _ => return,
        };
        self.literal(from, Lead::Argument, trust, found);
    }

    /// Reads the argument of a function with the name of a secret: `set_password("…")`.
    fn call(&self, from: usize, found: Found<'_>) {
        let Some((quote, start)) = self.quote_at(from).filter(|_| !self.is_quoted) else {
            return;
        };
        let (range, end) = self.content(quote, start);
        let is_only = self.text[end..].trim_start().starts_with([')', '}']);
        if is_only && (self.is_password() || range.len() > 3) {
            self.literal(from, Lead::Call, Trust::Data, found);
        }
    }

    /// Reads the content of an element of XML.
    fn element(&self, from: usize, found: Found<'_>) {
        let rest = head(&self.text[from..], 2_000);
        let end = rest.find("]]>").or_else(|| rest.find('<')).unwrap_or(0);
        let value = rest[..end].trim();
        let start = from + end - rest[..end].trim_start().len();
        if !value.contains('\n')
            && (rest[end..].starts_with("</") || rest[end..].starts_with("]]>"))
        {
            self.accept(start..start + value.len(), Lead::Tag, Trust::Sure, found);
        }
    }

    /// Reads the next cell of a table.
    fn cell(&self, from: usize, found: Found<'_>) {
        let is_table =
            self.before.starts_with('|') || self.before.ends_with("| ") || self.before.is_empty();
        let line = &self.text[from..value::line_end(self.text, from)];
        let Some(end) = line.find(" |").filter(|_| is_table) else {
            return;
        };
        let cell = line[..end].trim_matches([' ', '`', '*']);
        let start = from + line[..end].find(cell).unwrap_or_default();
        let trust = if line[..end].contains('`') {
            Trust::Data
        } else {
            Trust::Doubt
        };
        if !cell.contains(' ') && !value::is_plain_word(cell) {
            self.accept(start..start + cell.len(), Lead::Cell, trust, found);
        }
    }

    /// Reads what a sentence says that a secret is.
    fn said(&self, from: usize, found: Found<'_>) {
        if self.prefix().ends_with('/') || self.is_verb() {
            return;
        }
        if !self.literal(from, Lead::Said, Trust::Data, found) {
            let word = value::trimmed(self.text, self.word_at(from, b""));
            self.accept(word, Lead::Said, Trust::Doubt, found);
        }
    }

    /// Reads what follows a name with a blank between.
    fn blank(&self, from: usize, found: Found<'_>) {
        let rest = &self.text[from..];
        let is_spoken = is_match(&SPOKEN, head(rest, 40));
        if self.is_flag {
            if !is_spoken {
                self.accept(
                    self.word_at(from, b"|<>;)"),
                    Lead::Blank,
                    Trust::Sure,
                    found,
                );
            }
            return;
        }
        if self.is_verb() || self.prefix().ends_with(['/', '?', '&']) {
            return;
        }
        let is_kind = matches!(self.name.kind, Kind::Password | Kind::Secret);
        if rest.starts_with('(') && is_kind {
            let inner = value::word(self.text, from + 1, self.limit(from), b")<>");
            return self.accept(inner, Lead::Said, Trust::Doubt, found);
        }
        let before = tail(&self.text[..self.word], 160);
        let is_netrc = self.is_password()
            && (self.before.contains("login ")
                || self.before.contains("machine ")
                || self.is_alone && before.contains("login "));
        if !self.is_quoted && (is_match(&DIRECTIVE, self.before) || is_netrc) {
            if !is_spoken {
                let range = if is_netrc {
                    from..from
                        + rest[..self.limit(from) - from]
                            .find([' ', '\t'])
                            .unwrap_or(self.limit(from) - from)
                } else {
                    self.word_at(from, b"")
                };
                let range = if self.quote_at(from).is_some() {
                    self.word_at(from, b"")
                } else {
                    range
                };
                self.accept(range, Lead::Blank, Trust::Sure, found);
            }
            return;
        }
        let is_statement = self.name.is_upper || self.is_alone || self.prefix().starts_with(':');
        let is_span = rest.starts_with('`') && !is_statement;
        let trust = if is_span || self.is_quoted {
            Trust::Doubt
        } else {
            Trust::Data
        };
        if self.literal(from, Lead::Blank, trust, found) {
            return;
        }
        let word = value::trimmed(self.text, self.word_at(from, b"|<>)"));
        let value = &self.text[word.clone()];
        let is_last = self.is_alone && self.limit(from) == word.end;
        let has = |is: fn(&u8) -> bool| value.bytes().any(|b| is(&b));
        let is_random = value.len() >= 8 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
        if is_kind && (is_random && self.before.contains(' ') || is_last && !is_spoken) {
            self.accept(word, Lead::Blank, Trust::Doubt, found);
        }
    }

    /// Returns true for the last of several variables that are set at once.
    fn is_last_target(&self) -> bool {
        let is_part = |b: u8| b.is_ascii_alphanumeric() || b"_, ".contains(&b);
        self.before.ends_with(", ") && self.before.bytes().all(is_part)
    }

    /// Finds the literals of an expression that can be values: not the names of what is read.
    fn literals(&self, from: usize, found: Found<'_>) {
        let text = self.text;
        let end = boundary_before(text, from + LEAD_BYTES);
        let is_list = text[from..end].starts_with('[') && self.name.is_plural;
        let limit = if is_list {
            end
        } else {
            end.min(self.limit(from))
        };
        // Each open bracket: if its function wraps a value, if it reads one that has a fallback.
        let mut open: Vec<(u8, bool, bool)> = Vec::new();
        let (mut arguments, mut is_joined, mut at) = (0, false, from);
        // The other targets of `user, password = "…", "…"`.
        let is_tuple = self.is_last_target();
        let mut others = if is_tuple {
            self.before.matches(',').count()
        } else {
            0
        };
        while at < limit {
            let byte = text.as_bytes()[at];
            let is_mark = matches!(byte, b'"' | b'\'' | b'`' | b'\\')
                && !text[from..at].ends_with(['<', '&']);
            if let Some((quote, start)) = Quote::at(text, at).filter(|_| is_mark) {
                if self.open.0.contains(&quote) {
                    return;
                }
                let (range, end) = self.content(quote, start);
                is_joined |= text[end..].trim_start().starts_with('+');
                let trust = match open.last() {
                    _ if is_joined => Some(Trust::Doubt),
                    None => Some(Trust::Sure),
                    Some((b'(', _, true)) if arguments > 0 && range.len() > 3 => Some(Trust::Sure),
                    Some((b'(', true, _)) if arguments == 0 => Some(Trust::Sure),
                    Some((b'(', false, false)) if arguments == 0 => Some(Trust::Doubt),
                    Some((b'[', ..)) if is_list && self.is_quoted => Some(Trust::Sure),
                    Some((b'[', ..)) if is_list => Some(Trust::Doubt),
                    Some(_) => None,
                };
                if let Some(trust) = trust.filter(|_| others == 0) {
                    self.literal(at, Lead::Equals, trust, found);
                }
                at = end.max(at + 1);
                continue;
            }
            match byte {
                b'(' | b'[' | b'{' => {
                    let callee = tail(&text[from..at], 40);
                    open.push((byte, is_match(&WRAPPER, callee), is_match(&READER, callee)));
                    arguments = 0;
                }
                b')' | b']' | b'}' => {
                    if open.pop().is_none() {
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

/// Returns true if a line next to this one is a setting too, or the header of a section is above.
fn is_listed(spot: &Spot<'_>, is_equals: bool) -> bool {
    let before = lines(tail(&spot.text[..spot.word], LEAD_BYTES));
    let behind = lines(head(&spot.text[spot.end..], LEAD_BYTES));
    let sign = if is_equals { '=' } else { ':' };
    let last = before.iter().rev().nth(1);
    let next = behind.get(1);
    let mut section = before
        .iter()
        .rev()
        .skip(1)
        .map(|line| without_marks(line).trim());
    next.into_iter()
        .chain(last)
        .any(|line| is_setting(line, sign))
        || is_equals
            && section.any(|line| line.starts_with('[') && line.ends_with(']') && line.len() > 2)
}

/// Returns true for the beginning of a map, a list or an expression.
fn opens(rest: &str) -> bool {
    rest.starts_with(['{', '[', '('])
}

/// Returns the lines of a part, also those that JSON has.
fn lines(part: &str) -> Vec<&str> {
    part.split('\n')
        .flat_map(|line| line.split(r"\n"))
        .collect()
}

/// Returns true for a line that sets something, in a file that is no code.
fn is_setting(line: &str, sign: char) -> bool {
    let line = without_marks(line)
        .trim_end_matches(['\\', '"', '\'', '\r', ' '])
        .trim_start();
    let Some((name, value)) = line.split_once(sign) else {
        return sign == ':' && line.starts_with("- ") && !line.ends_with([',', ';']);
    };
    let name = name.trim_end().trim_matches(['"', '\'']);
    let is_part = |b: u8| b.is_ascii_alphanumeric() || b"_-./".contains(&b);
    !name.is_empty()
        && name.bytes().all(is_part)
        && !line.ends_with([',', ';', '{', '(', '['])
        && (sign == '=' || value.is_empty() || value.starts_with(' '))
        && !value.contains(['(', '{'])
        && !value::is_expression(value.trim())
        && !value::is_stock_word(value.trim())
}

/// Returns a line without what tools write before each: numbers, names of files, marks of a diff.
fn without_marks(line: &str) -> &str {
    behind(&MARKS, line, 0).map_or(line, |at| &line[at..])
}

/// Returns the end of a pattern that matches at a place.
fn behind(regex: &LazyLock<Option<Regex>>, text: &str, at: usize) -> Option<usize> {
    let rest = head(&text[at..], LEAD_BYTES);
    let input = Input::new(rest).anchored(Anchored::Yes);
    let end = regex.as_ref()?.search(&input)?.end();
    Some(at + boundary_before(rest, end))
}

fn is_match(regex: &LazyLock<Option<Regex>>, text: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

macro_rules! patterns {
    ($($name:ident = $pattern:expr;)*) => {
        $(static $name: LazyLock<Option<Regex>> = LazyLock::new(|| bytes($pattern).ok());)*
    };
}

patterns! {
    NAMED = r#"(?i)\b(?:name|key|id)=\\*["']$"#;
    CODE = r"(?:^|;)\s*(?:(?:let|const|var|val|return|if|elif|else|while|for|assert|def|fn|func|public|static|final|pub|type|readonly|protected)[ (](?:[^;]*[^:;\s])?|private\s+[^:;\s](?:[^;]*[^:;\s])?)\s*$";
    TESTS = r"(?i)assert|expect\(|equal";
    HEADER = r#"(?i)(?:-H|--header)[ =]?\\*["']$"#;
    COMMAND = r"\s(?:-{1,2}[a-z]|[|<>]|\S*/|\$)|[;&|]";
    BLOCK = r"[|>][+-]?\d?[ \t]*(?:\r?\n|\\+n)[ \t]+";
    TAG = r"(?:&\w+|!!\w+)[ \t]+";
    SCHEME = r"(?i)(?:[A-Za-z][A-Za-z0-9_-]{1,30})[ \t]{1,2}(?:token=\\?\x22?)?";
    DIRECTIVE = r#"(?:^|[\s;&|"`])(?:ENV|ARG|setx?|set -\w+|#define)\s+(?:\w+=\S+\s+)*$|(?i)\b(?:config(?:ure)?|secrets?|user-secrets|env|vars?|kv)\s+(?:set|create|put|--\S+)\s+(?:[^\s='\x22]+\s+){0,2}$"#;
    SPOKEN = r"^(?:(?:to|is|and|or|for|in|with|as|flags?|options?|arguments?|was|when|if|can|on|from|are|must|not|the|an?|into|instead|via|too|also|has|will|parameter|field|of|at|by)(?:[\s.,;:!?)]|$)|-{1,2}[a-z][a-z-]*(?:[\s=]|$)|<)";
    SETTER = r"(?i)(?:put|set|env|add|define|insert|append|header|property|string|var|fetch|option|default|text|config|get|item)_?\($|[^\w]\($|^\($";
    WRAPPER = r"(?:^|[^\w])(?:from|Some|Ok|new|Box|Arc|Cow|bytes|byte|bytearray|String|str|CString|Secret\w*|Password|Buffer|of|just|unwrap_or\w*|\w*[oO]r_?[eE]lse|or|default|to_bytes|wrap|NSString|s)?!?$";
    READER = r"(?:^|[^\w])(?:include_\w+|open|read|load|require|import|env|getenv|Getenv|fetch|get\w*|var|lookup\w*|Lookup\w*|String\w*|setdefault|pop|option|config|str|dig)$";
    MARKS = r#"(?:\s*\d{1,6}(?:\t|\xE2\x86\x92|:\s?|\|)|[\w./-]+[:-]\d+[:-])?\s*(?:[-+*>]\s+|[+-])?(?:[<>]\s)?\s*(?:\*\*|__|"|'|`)?(?:export\s+|declare -x\s+|\$env:|\$)?"#;
}
