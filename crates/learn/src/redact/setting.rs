//! Reads unquoted values behind `=` and `:`. The kind of place decides where a value ends and how
//! far it is trusted.

use std::ops::Range;
use std::sync::LazyLock;

use regex_automata::meta::Regex;

use super::place::{Spot, TIE_BYTES, Trust, is_match};
use super::rule::short;
use super::value;
use crate::clip::{head, tail};

/// The kinds of place that an unquoted value has behind `=` or `:`.
#[derive(Clone, Copy)]
enum Place {
    /// `"pin": 1234`, as JSON has only numbers without quotation marks.
    Json,
    /// `"PASSWORD=…"`: a string begins with the name.
    Quoted,
    /// The same with a text of several words.
    QuotedText,
    /// `PASSWORD=…`, also before a command.
    Env,
    /// `pass_word = …` among other lines of a file of settings, or in capitals.
    Setting,
    /// A line that can be one of settings.
    Line,
    /// `{ password: … }`
    Member,
    /// `(password=…)`
    Argument,
    /// `(password: …)`, which can be the type of a parameter.
    Parameter,
    /// `user=app password=…`
    Row,
    /// `password=…` in other text.
    Inline,
    /// The same with the signs of an expression.
    Expression,
    /// `password: …` in other text.
    Prose,
    /// A statement, in which only literals are values.
    Code,
}

/// The end of an unquoted value.
enum End {
    Digits,
    Line,
    /// The closing quotation mark.
    Quote,
    /// A blank, or one of these signs.
    Word(&'static [u8]),
    /// The same, without what closes the sentence or the list around it.
    Token(&'static [u8]),
}

impl Place {
    /// Returns the end of a value and the trust in it.
    fn rule(self) -> Option<(End, Trust)> {
        Some(match self {
            Self::Json => (End::Digits, Trust::Sure),
            Self::Quoted | Self::Env => (End::Word(b""), Trust::Sure),
            Self::QuotedText => (End::Quote, Trust::Sure),
            Self::Setting => (End::Line, Trust::Sure),
            Self::Line => (End::Line, Trust::Data),
            Self::Member => (End::Token(b",}"), Trust::Data),
            Self::Argument => (End::Token(b",)]"), Trust::Data),
            Self::Parameter => (End::Token(b",)]}"), Trust::Doubt),
            Self::Row => (End::Token(b""), Trust::Sure),
            Self::Inline => (End::Token(b">)"), Trust::Sure),
            Self::Expression => (End::Token(b">)"), Trust::Data),
            Self::Prose => (End::Token(b""), Trust::Doubt),
            Self::Code => return None,
        })
    }
}

/// What is behind a name and `=` or `:`.
struct Bare<'s, 't> {
    spot: &'s Spot<'t>,
    from: usize,
    is_equals: bool,
    is_spaced: bool,
    /// The rest of the line, and the same without a comment.
    line: &'t str,
    value: &'t str,
}

/// Returns the unquoted value at a place, and the trust in it; None where only literals are values.
pub(super) fn bare(spot: &Spot<'_>, tied: &str, from: usize) -> Option<(Range<usize>, Trust)> {
    let (text, limit) = (spot.text, spot.limit(from));
    let bare = Bare {
        spot,
        from,
        is_equals: tied.contains('='),
        is_spaced: tied.contains([' ', '\t']),
        line: &text[from..limit],
        value: &text[spot.rest_of_line(from)],
    };
    let (end, trust) = bare.place().rule()?;
    let range = match end {
        End::Digits => from..from + bare.digits()?,
        End::Line => from..from + bare.value.len(),
        End::Quote => from..limit,
        End::Word(ends) => spot.word_at(from, ends),
        End::Token(ends) => value::trimmed(text, spot.word_at(from, ends)),
    };
    Some((range, trust))
}

impl Bare<'_, '_> {
    fn place(&self) -> Place {
        let Spot { name, before, .. } = self.spot;
        let is_glued = self.is_glued();
        if self.spot.is_quoted {
            Place::Json
        } else if is_glued && self.spot.is_first && !self.is_empty() {
            let is_word = self.is_one() || self.line.contains('=') || before.ends_with('`');
            if is_word {
                Place::Quoted
            } else {
                Place::QuotedText
            }
        } else if is_glued && self.line.starts_with(CLOSING) {
            Place::Code
        } else if is_glued && name.is_upper && !self.is_argument() {
            if self.is_text() {
                Place::Setting
            } else {
                Place::Env
            }
        } else if ["#", ";"].contains(&before.trim()) {
            let is_setting = self.is_one() && self.is_listed();
            if is_setting {
                Place::Setting
            } else {
                Place::Prose
            }
        } else if self.is_statement() {
            Place::Code
        } else if self.spot.is_alone && !self.is_row() {
            self.on_a_line()
        } else if before.contains(['{', '(', '['])
            && (!self.is_equals || !self.is_spaced)
            && !self.is_row()
        {
            self.in_brackets()
        } else if is_glued {
            let word = &self.spot.text
                [value::trimmed(self.spot.text, self.spot.word_at(self.from, b">)"))];
            if word.trim_end_matches([',', ')']).ends_with('(') {
                Place::Expression
            } else if before.contains('=') || self.is_row() {
                Place::Row
            } else if word.contains(['.', '(', '[', ':', '{']) {
                Place::Expression
            } else {
                Place::Inline
            }
        } else if self.spot.is_alone || !self.spot.is_verb() {
            Place::Prose
        } else {
            Place::Code
        }
    }

    /// Returns the place of a value whose name begins a line.
    fn on_a_line(&self) -> Place {
        let prefix = self.spot.prefix();
        if opens(self.line) || !self.is_equals && self.line.contains(" = ") {
            return Place::Code;
        }
        let name = self.spot.name();
        let is_title = !self.is_equals
            && !self.spot.name.is_upper
            && name.starts_with(|c: char| c.is_ascii_uppercase());
        let is_key = self.is_shouted()
            || prefix.contains(['.', '/'])
            || self.spot.name.is_compound
            || self.is_glued()
            || self.spot.text[..self.spot.word].ends_with("  ")
            || self.is_one();
        let is_likely = self.is_shouted() && self.is_spaced != self.is_equals
            || self.is_glued() && prefix.contains(['.', '/']);
        let is_key = is_key && !is_title && (self.is_spaced || self.is_equals);
        let is_listed = self.is_listed();
        if !is_listed && (!is_key || self.is_equals && self.is_spaced && !is_likely) {
            return Place::Prose;
        }
        let ends = ["()", "]"].iter().any(|end| self.value.ends_with(end));
        let is_path = self.value.contains("::") || ends;
        if self.is_one() && !is_path && (is_likely || is_listed) {
            Place::Setting
        } else {
            Place::Line
        }
    }

    /// Returns the place of a value behind an open bracket.
    fn in_brackets(&self) -> Place {
        let before = self.spot.before;
        let place = if before.contains('{') {
            Place::Member
        } else {
            Place::Argument
        };
        let word = &self.spot.text[self.spot.word_at(self.from, b",})]")];
        let is_path = before.contains('(') || word.contains(['(', '.']);
        if is_path && !self.is_equals && self.is_spaced {
            Place::Parameter
        } else {
            place
        }
    }

    fn digits(&self) -> Option<usize> {
        let digits = self.line.bytes().take_while(u8::is_ascii_digit).count();
        let behind = self.line[digits..].trim_start();
        let is_end = behind.is_empty() || behind.starts_with([',', '}', ']']);
        (is_end && digits > 3).then_some(digits)
    }

    fn is_glued(&self) -> bool {
        self.is_equals && !self.is_spaced
    }

    /// Returns true for the end of a list or call, without a value.
    fn is_empty(&self) -> bool {
        let word = self.line.split([' ', '\t']).next().unwrap_or_default();
        word.starts_with(CLOSING) && (word.len() < 6 || word.contains('='))
    }

    /// Returns true for a value of one word.
    fn is_one(&self) -> bool {
        !self.value.contains([' ', '\t'])
    }

    /// Returns true for a name as files of settings have them, not code.
    fn is_shouted(&self) -> bool {
        self.spot.name.is_upper || self.spot.name().contains('-')
    }

    fn is_argument(&self) -> bool {
        self.spot.before.ends_with(['(', ',']) || self.spot.prefix().contains(['(', '['])
    }

    /// Returns true for words in a file of settings, which are no command.
    fn is_text(&self) -> bool {
        self.spot.is_alone
            && !self.is_one()
            && !is_match(&COMMAND, self.line)
            && self.spot.quote_at(self.from).is_none()
            && self.is_listed()
    }

    /// Returns true for the first of several pairs: `password=a user=b`.
    fn is_row(&self) -> bool {
        self.is_glued() && !self.is_one() && self.line.contains('=')
    }

    /// Returns true for an assignment in code, but to a name in capitals or with a dash.
    fn is_statement(&self) -> bool {
        let (before, prefix, end) = (self.spot.before, self.spot.prefix(), self.line.trim_end());
        let is_member = prefix.starts_with(['$', '@']) && !prefix.starts_with("$env")
            || prefix.ends_with("->")
            || ["self.", "this."].contains(&prefix);
        let is_statement = is_match(&CODE, before)
            || end.ends_with([';', '{']) && (!self.is_glued() || !end.contains(' '))
            || end.ends_with(',') && !before.contains(['{', '(']);
        is_member || is_statement && !(self.is_shouted() && self.spot.is_alone)
    }

    /// Returns true if a line next to this one is a setting too, or the header of a section is above.
    fn is_listed(&self) -> bool {
        let before = lines(tail(&self.spot.text[..self.spot.word], TIE_BYTES));
        let behind = lines(head(&self.spot.text[self.spot.end..], TIE_BYTES));
        let sign = if self.is_equals { '=' } else { ':' };
        let mut above = before.iter().rev().skip(1);
        let mut beside = behind.get(1).into_iter().chain(above.clone().next());
        beside.any(|line| is_setting(line, sign))
            || self.is_equals
                && above.any(|line| {
                    let line = super::place::without_marks(line).trim();
                    line.starts_with('[') && line.ends_with(']')
                })
    }
}

/// Signs that cannot begin a value.
const CLOSING: [char; 6] = [']', ')', '}', ',', ';', '>'];

/// Returns true for the beginning of a map, a list or an expression.
pub(super) fn opens(rest: &str) -> bool {
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
    let line = super::place::without_marks(line)
        .trim_end_matches(['\\', '"', '\'', '\r', ' '])
        .trim_start();
    let Some((name, value)) = line.split_once(sign) else {
        return sign == ':' && line.starts_with("- ") && !line.ends_with([',', ';']);
    };
    let is_apart = value.is_empty() || value.starts_with(' ');
    let (name, value) = (name.trim_end().trim_matches(['"', '\'']), value.trim());
    let is_part = |b: u8| b.is_ascii_alphanumeric() || b"_-./".contains(&b);
    let is_path = value.starts_with('/') && !value.contains(' ');
    !name.is_empty()
        && name.bytes().all(is_part)
        && !line.ends_with([',', ';', '{', '(', '['])
        && (sign == '=' || is_apart)
        && !value.contains(['(', '{'])
        && (is_path || !value::is_expression(value))
        && !value::is_stock_word(value)
}

patterns! {
    CODE = r"(?:^|;)\s*(?:(?:let|const|var|val|return|if|elif|else|while|for|assert|def|fn|func|public|static|final|pub|type|readonly|protected)[ (](?:[^;]*[^:;\s])?|private\s+[^:;\s](?:[^;]*[^:;\s])?)\s*$";
    COMMAND = r"\s(?:-{1,2}[a-z]|[|<>]|\S*/|\$)|[;&|]";
}
