//! Replaces in a headline what depends on the place.

use super::Normalised;
use super::frames::{self, NAME_MARK, NUMBER_MARK};
use super::words::{self, Kind};

/// A quotation is looked for within so many characters.
const QUOTED: usize = 400;
/// A quotation of so many words is a message, not a name.
const MESSAGE_WORDS: usize = 3;
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
    };
    scan.text(headline, 0);
    let text = finish(&scan.pieces);
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

    fn name(&mut self, name: &str) {
        if self.names.len() < NAMES {
            self.names.push(words::head(name, NAME).to_owned());
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
fn finish(pieces: &[Piece]) -> String {
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
    let text = frames::settle(&text);
    words::head(&text, LENGTH)
        .trim_end_matches(['.', ':', ';', ',', '!', ' ', '"', '\''])
        .to_owned()
}

fn is_delimiter(c: char) -> bool {
    matches!(
        c,
        ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '<' | '>'
    )
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '‘' | '’' | '“' | '”' | '«' | '»')
}

/// The end of `foo<=1.0`, given where its first delimiter stands.
fn bound_end(rest: &str, end: usize) -> usize {
    let tail = &rest[end..];
    match tail.strip_prefix("<=").or(tail.strip_prefix(">=")) {
        Some(version) if end > 0 => {
            let more = version.find(|c: char| c.is_whitespace() || is_delimiter(c) || is_quote(c));
            rest.len() - version.len() + more.unwrap_or(version.len())
        }
        _ => end,
    }
}

/// The end of a word with apostrophes, given where its first quotation mark stands.
fn apostrophe_end(rest: &str, end: usize) -> usize {
    let tail = &rest[end..];
    let mut chars = tail.chars();
    let short =
        matches!(chars.next(), Some('\'' | '’')) && chars.next().is_some_and(char::is_alphabetic);
    if !short {
        return end;
    }
    let first = tail.chars().next().map_or(0, char::len_utf8);
    let letters = tail[first..]
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(tail.len() - first);
    end + first + letters
}

/// The inside of the quotation that begins `rest`, and its whole length.
fn quoted(rest: &str, open: char) -> Option<(&str, usize)> {
    let start = open.len_utf8();
    let inside = words::head(&rest[start..], QUOTED);
    let closes = |c: char| match open {
        '`' => c == '`' || c == '\'',
        '‘' => c == '’',
        '“' => c == '”',
        '«' => c == '»',
        open => c == open,
    };
    inside
        .char_indices()
        .find(|(at, c)| {
            let next = inside[at + c.len_utf8()..].chars().next();
            // The closing mark of `'it isn't'` is not followed by a letter.
            closes(*c) && (*c != '\'' || !next.is_some_and(char::is_alphanumeric))
        })
        .map(|(at, c)| (&inside[..at], start + at + c.len_utf8()))
}

fn is_plain_word(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

/// Several words, mostly of letters.
fn is_message(text: &str) -> bool {
    let is_word = |w: &&str| {
        w.len() > 1
            && w.trim_end_matches([':', ',', '.'])
                .chars()
                .all(char::is_alphabetic)
    };
    text.split_whitespace().filter(is_word).count() >= MESSAGE_WORDS
}

/// The length of the brackets of a call, `(a, b)`, that follow `word` at once.
fn call_length(word: &str, after: &str) -> Option<usize> {
    if !after.starts_with('(') || !word.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let mut depth = 0_usize;
    for (at, c) in after.char_indices().take(QUOTED) {
        match c {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    let inside = &after[1..at];
                    let plural = inside == "s" || inside == "es";
                    let tail = after[at + 1..]
                        .find(|c: char| c.is_whitespace() || matches!(c, ':' | ',' | '`' | '\''))
                        .unwrap_or(after.len() - at - 1);
                    return (!plural).then_some(at + 1 + tail);
                }
            }
            _ => {}
        }
    }
    None
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
