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
    Json,
    Quoted,
    QuotedText,
    Env,
    Setting,
    Line,
    Member,
    Argument,
    Parameter,
    Row,
    Inline,
    Expression,
    Prose,
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
            // `"pin": 1234`, as JSON has only numbers without quotation marks.
            Self::Json => (End::Digits, Trust::Sure),
            // `PASSWORD=…`, also before a command, and a string that begins so: `"password=a b"`.
            Self::Env | Self::Quoted => (End::Word(b""), Trust::Sure),
            Self::QuotedText => (End::Quote, Trust::Sure),
            // `pass_word = …` among other lines of a file of settings, or a line that can be one.
            Self::Setting => (End::Line, Trust::Sure),
            Self::Line => (End::Line, Trust::Data),
            // `{ password: … }`, `(password=…)`, and `(password: …)`, which can be a type.
            Self::Member => (End::Token(b",}"), Trust::Data),
            Self::Argument => (End::Token(b",)]"), Trust::Data),
            Self::Parameter => (End::Token(b",)]}"), Trust::Doubt),
            // `user=app password=…`, `password=…` in other text, also with signs of an expression.
            Self::Row => (End::Token(b""), Trust::Sure),
            Self::Inline => (End::Token(b">)"), Trust::Sure),
            Self::Expression => (End::Token(b">)"), Trust::Data),
            // `password: …` in other text.
            Self::Prose => (End::Token(b""), Trust::Doubt),
            // A statement, in which only literals are values.
            Self::Code => return None,
        })
    }
}

/// A value without quotation marks, behind a name and `=` or `:`.
struct Bare<'s, 't> {
    spot: &'s Spot<'t>,
    from: usize,
    /// `=` or `:`, or a blank.
    sign: char,
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
        sign: match tied {
            tied if tied.contains('=') => '=',
            tied if tied.trim().is_empty() => ' ',
            _ => ':',
        },
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
    /// Returns the kind of place: the first that fits counts.
    fn place(&self) -> Place {
        let Spot { name, before, .. } = self.spot;
        let is_first = self.spot.is_first && !self.is_empty();
        let is_remark = self.sign == ' ' || ["#", ";"].contains(&before.trim());
        let is_apart = self.is_equals() && self.is_spaced;
        match self.is_glued() {
            _ if self.is_quoted_key() => Place::Prose,
            _ if self.spot.is_quoted => Place::Json,
            true if is_first && self.is_words() => Place::QuotedText,
            true if is_first => Place::Quoted,
            true if self.line.starts_with(CLOSING) => Place::Code,
            true if name.is_upper && !self.is_argument() && self.is_text() => Place::Setting,
            true if name.is_upper && !self.is_argument() => Place::Env,
            _ if is_remark && self.is_one() && self.is_listed() => Place::Setting,
            _ if is_remark => Place::Prose,
            _ if self.is_statement() => Place::Code,
            _ if self.spot.is_alone && !self.is_row() => self.on_a_line(),
            _ if before.contains(OPENING) && !is_apart && !self.is_row() => self.in_brackets(),
            true => self.in_text(),
            false if self.spot.is_alone || !self.spot.is_verb() => Place::Prose,
            false => Place::Code,
        }
    }

    /// Returns the place of a value whose name begins a line.
    fn on_a_line(&self) -> Place {
        let (name, prefix) = (self.spot.name(), self.spot.prefix());
        let is_dotted = prefix.contains(['.', '/']);
        let is_title = !self.spot.name.is_upper && name.starts_with(|c: char| c.is_uppercase());
        let is_indented = self.spot.text[..self.spot.word].ends_with("  ");
        let is_plain = !is_dotted && !self.spot.name.is_compound && !is_indented;
        let is_key = !is_plain || self.is_shouted() || self.is_glued() || self.is_one();
        let is_key = is_key && (self.is_equals() || self.is_spaced && !is_title);
        let is_likely = name.contains('-')
            || self.is_shouted() && self.is_spaced != self.is_equals()
            || self.is_glued() && is_dotted;
        let is_doubtful = self.is_equals() && self.is_spaced && !is_likely;
        let is_listed = self.is_listed();
        let ends = ["()", "]"].iter().any(|end| self.value.ends_with(end));
        let is_path = self.value.contains("::") || ends;
        match self.sign {
            _ if opens(self.line) => Place::Code,
            ':' if self.line.contains(" = ") => Place::Code,
            '=' if self.is_glued() && value::is_message(self.value) => Place::Prose,
            _ if !is_listed && (!is_key || is_doubtful) => Place::Prose,
            _ if self.is_one() && !is_path && (is_likely || is_listed) => Place::Setting,
            _ => Place::Line,
        }
    }

    /// Returns the place of a value behind an open bracket.
    fn in_brackets(&self) -> Place {
        let is_call = self.spot.before.contains('(');
        let word = &self.spot.text[self.spot.word_at(self.from, b",})]")];
        let is_path = is_call || word.contains(['(', '.']);
        // A variable with a short name.
        let is_variable = word.len() < 5 && word.bytes().all(|b| b.is_ascii_alphabetic());
        match self.is_equals() {
            true if is_call && is_variable => Place::Code,
            false if is_path && self.is_spaced => Place::Parameter,
            _ if self.spot.before.contains('{') => Place::Member,
            _ => Place::Argument,
        }
    }

    /// Returns the place of `password=…` that no line begins with.
    fn in_text(&self) -> Place {
        let word = self.spot.word_at(self.from, b">)");
        let word = &self.spot.text[value::trimmed(self.spot.text, word)];
        let all = &self.spot.text[self.spot.word_at(self.from, b"")];
        let is_call = all.trim_end_matches([',', ')']).ends_with('(');
        let is_row = !is_call && (self.spot.before.contains('=') || self.is_row());
        match is_call || word.contains(['.', '(', '[', ':', '{']) {
            _ if is_row => Place::Row,
            true => Place::Expression,
            false => Place::Inline,
        }
    }

    fn digits(&self) -> Option<usize> {
        let digits = self.line.bytes().take_while(u8::is_ascii_digit).count();
        let behind = self.line[digits..].trim_start();
        let is_end = behind.is_empty() || behind.starts_with([',', '}', ']']);
        (is_end && digits > 3).then_some(digits)
    }

    /// Returns true for a line such as `"password": x`, as YAML has it.
    fn is_quoted_key(&self) -> bool {
        let is_line = self.spot.is_alone && self.is_one() && !self.value.ends_with([',', '}']);
        self.spot.is_quoted
            && is_line
            && self.is_spaced
            && self.sign == ':'
            && self.digits().is_none()
    }

    fn is_equals(&self) -> bool {
        self.sign == '='
    }

    fn is_glued(&self) -> bool {
        self.is_equals() && !self.is_spaced
    }

    /// Returns true for the end of a list or call.
    fn is_empty(&self) -> bool {
        let word = self.line.split([' ', '\t']).next().unwrap_or_default();
        word.starts_with(CLOSING) && (word.len() < 6 || word.contains('='))
    }

    /// Returns true for a value of one word.
    fn is_one(&self) -> bool {
        !self.value.contains([' ', '\t'])
    }

    /// Returns true for a text of several words in a string.
    fn is_words(&self) -> bool {
        !self.is_one() && !self.line.contains('=') && !self.spot.before.ends_with('`')
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
        let word = self.value.split([' ', '\t']).next().unwrap_or_default();
        let is_argument = self.spot.before.contains('(') && word.ends_with(',');
        self.is_glued() && !self.is_one() && self.line.contains('=') && !is_argument
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
        let mut above = before.iter().rev().skip(1);
        let mut beside = behind.get(1).into_iter().chain(above.clone().next());
        beside.any(|line| is_setting(line, self.sign))
            || self.is_equals()
                && above.any(|line| {
                    let line = super::place::without_marks(line).trim();
                    line.starts_with('[') && line.ends_with(']')
                })
    }
}

/// Brackets around members, arguments and elements.
const OPENING: [char; 3] = ['{', '(', '['];

/// Signs that cannot begin a value.
const CLOSING: [char; 6] = [']', ')', '}', ',', ';', '>'];

/// Returns true for the beginning of a map, a list or an expression.
pub(super) fn opens(rest: &str) -> bool {
    rest.starts_with(OPENING)
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
    let can_be_value = match sign {
        '=' => true,
        ':' => value.is_empty() || value.starts_with(' '),
        _ => !value.is_empty() && !value.contains(' ') && !value.ends_with(['.', ':', '!', '?']),
    };
    let (name, value) = (name.trim_end().trim_matches(['"', '\'']), value.trim());
    let is_part = |b: u8| b.is_ascii_alphanumeric() || b"_-./".contains(&b);
    let is_path = value.starts_with('/') && !value.contains(' ');
    let is_plain = is_path
        || ["true", "false"].contains(&value)
        || sign == ':' && !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
    !name.is_empty()
        && name.bytes().all(is_part)
        && !line.ends_with([',', ';', '{', '(', '['])
        && can_be_value
        && !value.contains(['(', '{'])
        && (is_plain || !value::is_expression(value) && !value::is_stock_word(value))
}

patterns! {
    CODE = r"(?:^|;)\s*(?:(?:let|const|var|val|return|if|elif|else|while|for|assert|def|fn|func|public|static|final|pub|type|readonly|protected)[ (](?:[^;]*[^:;\s])?|private\s+[^:;\s](?:[^;]*[^:;\s])?)\s*$";
    COMMAND = r"\s(?:-{1,2}[a-z]|[|<>]|\S*/|\$)|[;&|]";
}
