//! Replaces in a headline what depends on the place.

use super::Normalised;
use super::frames::{self, NAME_MARK, NUMBER_MARK};
use super::phrases;
use super::tokens::{
    after_process, apostrophe_end, bound_end, call_length, is_delimiter, is_message, is_plain_word,
    is_quote, quoted,
};
use super::words::{self, Kind};
use crate::clip;

/// Quotations within quotations are followed so deep.
const DEPTH: u8 = 2;
/// A normalised text has at most so many bytes.
const LENGTH: usize = 400;
/// So many names are kept.
const NAMES: usize = 16;
/// A name is kept up to so many bytes.
const NAME: usize = 120;

/// Normalises one headline.
pub(super) fn normalise(headline: &str) -> Normalised {
    let mut scan = Scan {
        pieces: Vec::new(),
        names: Vec::new(),
        labels: Vec::new(),
    };
    scan.text(headline, 0);
    let text = finish(&scan.pieces, &scan.labels);
    Normalised {
        text,
        names: scan.names,
    }
}

/// A part of the result: a word as it is to be shown, or punctuation.
#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Space,
    Mark(char),
    Word(String),
    /// A word that its tool wrote as the key of a value.
    Key(String),
    Number,
    Name,
}

struct Scan {
    pieces: Vec<Piece>,
    names: Vec<String>,
    /// Words before the message that tell who says it: `psql: …`.
    labels: Vec<String>,
}

impl Scan {
    fn text(&mut self, text: &str, depth: u8) {
        let mut rest = text;
        let mut before = ' ';
        while let Some(c) = rest.chars().next() {
            let used = match c {
                '"' | '\'' | '`' | '‘' | '“' | '«' => self.quotation(rest, c, before, depth),
                // One that closes nothing.
                '’' | '”' | '»' => c.len_utf8(),
                c if c.is_whitespace() => {
                    self.pieces.push(Piece::Space);
                    c.len_utf8()
                }
                c if is_delimiter(c) => {
                    self.pieces.push(Piece::Mark(c));
                    c.len_utf8()
                }
                _ => self.word(rest),
            };
            before = rest[..used].chars().next_back().unwrap_or(' ');
            rest = &rest[used..];
        }
    }

    /// Takes a quotation at the start of `rest`; returns how many bytes it used.
    fn quotation(&mut self, rest: &str, open: char, before: char, depth: u8) -> usize {
        let open_len = open.len_utf8();
        // An apostrophe: `can't`.
        let apostrophe = open == '\'' && before.is_alphanumeric();
        let Some((inside, used)) = (!apostrophe).then(|| quoted(rest, open)).flatten() else {
            return open_len;
        };
        let after = rest[used..].trim_start();
        let brackets = ["{}", "()", "[]"].iter().any(|pair| inside.contains(pair));
        if !brackets && !inside.chars().any(char::is_alphanumeric) {
            // `;` and `}` name what was expected or found.
            self.pieces.extend(inside.chars().map(Piece::Mark));
        } else if open == '"' && after.starts_with(':') && is_plain_word(inside) {
            self.pieces.push(Piece::Key(inside.to_lowercase()));
        } else if words::is_builtin_type(inside) && self.tells_a_type(after) {
            // `'NoneType' object is not iterable` is another error than of a `'dict'`.
            self.pieces.push(Piece::Word(inside.to_lowercase()));
        } else if depth < DEPTH && (is_message(inside) || self.tells_a_message()) {
            self.text(inside, depth + 1);
        } else {
            self.name(inside);
        }
        used
    }

    /// The last thing was `"message":` or the like.
    fn tells_a_message(&self) -> bool {
        const KEYS: [&str; 9] = [
            "message", "error", "msg", "reason", "detail", "title", "code", "status", "type",
        ];
        let mut last = self.pieces.iter().rev().filter(|p| **p != Piece::Space);
        matches!(last.next(), Some(Piece::Mark(':' | '=')))
            && matches!(last.next(), Some(Piece::Key(key)) if KEYS.contains(&key.as_str()))
    }

    /// An exception tells what it met: `TypeError: 'NoneType' object …`, `… of type 'int' …`.
    fn tells_a_type(&self, after: &str) -> bool {
        let is_exception = matches!(self.pieces.first(),
            Some(Piece::Word(word)) if word.len() > "error".len() && word.ends_with("error"));
        let mut last = self.pieces.iter().rev().filter(|p| **p != Piece::Space);
        let is_type = matches!(last.next(), Some(Piece::Word(word)) if word == "type");
        is_exception && (is_type || after.starts_with("object"))
    }

    fn name(&mut self, name: &str) {
        if self.names.len() < NAMES {
            self.names.push(clip::head(name, NAME).to_owned());
        }
        self.pieces.push(Piece::Name);
    }

    /// Takes a word at the start of `rest`; returns how many bytes it used.
    fn word(&mut self, rest: &str) -> usize {
        let end = rest
            .find(|c: char| c.is_whitespace() || is_delimiter(c) || is_quote(c))
            .unwrap_or(rest.len());
        let end = bound_end(rest, end);
        // `can't` is one word.
        let end = apostrophe_end(rest, end);
        let token = &rest[..end];
        let word = token.trim_end_matches(['.', ':', '!', '?', '…']);
        let marks = &token[word.len()..];
        let mut used = end;
        if word.is_empty() {
            self.pieces.extend(marks.chars().map(Piece::Mark));
            return used;
        }
        let said = match marks {
            ":" => Some(&rest[end..]),
            "" => after_process(&rest[end..]),
            _ => None,
        };
        if said.is_some_and(|said| self.is_label(word, said)) {
            self.labels.push(word.to_owned());
        }
        if let Some(call) = call_length(word, &rest[end..]).filter(|_| marks.is_empty()) {
            used += call;
            if token == "expect" {
                // Jest names the assertion so.
                self.pieces.push(Piece::Word(rest[..used].to_lowercase()));
            } else {
                self.name(word);
            }
            return used;
        }
        if let Some(version) = word.strip_prefix("HTTP/") {
            let rest = version.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            self.pieces
                .push(Piece::Word(format!("http{}", rest.to_lowercase())));
        } else if let Some((key, value)) = assignment(word) {
            self.pieces.push(Piece::Key(key.to_lowercase()));
            self.pieces.push(Piece::Mark('='));
            self.classified(value, &rest[end..]);
        } else {
            self.classified(word, &rest[end..]);
        }
        self.pieces.extend(marks.chars().map(Piece::Mark));
        used
    }

    fn classified(&mut self, word: &str, after: &str) {
        match words::kind(word) {
            Kind::Number if self.names_the_error(word, after) => {
                self.pieces.push(Piece::Word(word.to_lowercase()));
            }
            // A result code of Windows.
            Kind::Name if word.starts_with("0x8") && self.names_the_error(word, after) => {
                self.pieces.push(Piece::Word(word.to_lowercase()));
            }
            Kind::Number => self.pieces.push(Piece::Number),
            Kind::Name => self.name(word),
            Kind::Code => self.pieces.push(Piece::Word(word.to_lowercase())),
            Kind::Word => self.pieces.push(Piece::Word(without_digits(word))),
        }
    }

    /// The tool or the part of it that says what follows, in lower case before any message;
    /// `undefined: total` is a message.
    fn is_label(&self, word: &str, after: &str) -> bool {
        // `bash: line 3: cd: …`
        let is_before = |before: &String| before == "line" || self.labels.contains(before);
        let is_first = !self
            .pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Word(word) if !is_before(word)));
        let is_plain = word.starts_with(|c: char| c.is_ascii_lowercase())
            && word
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b));
        let is_word = |w: &&str| w.len() > 1 && w.chars().all(char::is_alphabetic);
        is_first
            && is_plain
            && !phrases::FAILURES.are_in(word)
            && after.split_whitespace().filter(is_word).nth(1).is_some()
    }

    /// A number after `errno`, `status`, `signal`, … or an HTTP status names the error.
    fn names_the_error(&self, number: &str, after: &str) -> bool {
        let digits = number.trim_start_matches(['-', '#']);
        let plain = digits.bytes().all(|b| b.is_ascii_alphanumeric());
        let mut colon = false;
        let mut word = "";
        for piece in self.pieces.iter().rev() {
            match piece {
                Piece::Mark(':') => colon = true,
                Piece::Space | Piece::Mark('(' | '[' | '=' | '#' | '"') => {}
                // `status code is 404`
                Piece::Word(w) if w == "is" || w == "with" || w == "of" || w == "a" => {}
                Piece::Word(w) | Piece::Key(w) => {
                    word = w;
                    break;
                }
                _ => break,
            }
        }
        let next = after
            .split(|c: char| !c.is_alphanumeric())
            .find(|w| !w.is_empty())
            .unwrap_or_default()
            .to_lowercase();
        let status = words::is_http_failure(digits);
        if word == "error" && colon && !status {
            // `error: 3 tests failed`
            return false;
        }
        let announced = match word {
            "returned" | "response" | "got" | "server" | "received" | "failed" | "failure"
            | "request" | "fetch" | "api" | "answered" | "replied" => status,
            "curl" => true,
            _ => words::announces_a_code(word),
        };
        plain && (announced || (status && words::follows_a_status(&next)))
    }
}

/// Puts the pieces together, with runs of placeholders as one.
fn finish(pieces: &[Piece], labels: &[String]) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Space if text.is_empty() || text.ends_with(' ') => {}
            Piece::Space => text.push(' '),
            // `make[2]:` and `sshd[811]:` are numbers of processes.
            Piece::Mark(':') if text.ends_with("[<n>]") => {
                text.truncate(text.len() - "[<n>]".len());
                text.push(':');
            }
            Piece::Mark(c) => text.push(*c),
            Piece::Word(word) | Piece::Key(word) => text.push_str(word),
            Piece::Number => text.push_str(NUMBER_MARK),
            Piece::Name => text.push_str(NAME_MARK),
        }
    }
    let text = frames::settle(&text, labels);
    clip::head(&text, LENGTH)
        .trim_end_matches(['.', ':', ';', ',', '!', ' ', '"', '\''])
        .to_owned()
}

/// `level=error`: a key and its value.
fn assignment(word: &str) -> Option<(&str, &str)> {
    let (key, value) = word.split_once('=')?;
    let plain = !key.is_empty()
        && key.chars().all(char::is_alphabetic)
        && !value.is_empty()
        && !value.starts_with('=');
    plain.then_some((key, value))
}

/// `worker3` is `worker<n>`, in lower case.
fn without_digits(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    let mut digits = false;
    for c in word.chars() {
        if c.is_ascii_digit() {
            if !digits {
                plain.push_str(NUMBER_MARK);
            }
            digits = true;
        } else {
            digits = false;
            plain.extend(c.to_lowercase());
        }
    }
    plain
}
