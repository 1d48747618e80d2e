//! Finds the line of an error text that names the error.
//!
//! Build tools surround it with progress, source excerpts, stack frames and summaries.
//! Every line gets a [`Rank`]; the first of the highest rank wins. Two shapes are known
//! as such: a Python traceback ends with its exception, and a line that ends with a colon
//! goes on in the next.

use super::stamps::{self, Severity};
use super::{phrases, words};
use crate::clip;

/// A line is looked at up to this many bytes.
const LINE: usize = 1000;
/// How many lines stand for a text in which no headline says anything.
const FIRST_LINES: usize = 3;

/// How likely a line names the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Source code, stack frames, warnings, hints.
    Noise,
    /// Says what is being done: `Installing dependencies from lock file`.
    Progress,
    /// Nothing speaks for it or against it.
    Plain,
    /// Says that something failed, as the last of several lines: `make: *** … Error 2`.
    Summary,
    /// Has the words of a failure: `not found`, `refused`.
    Worded,
    /// Has an error's name somewhere: `… (NoMethodError)`.
    Mentioned,
    /// Has an error's name where a message begins: `error[E0382]: …`.
    Named,
}

/// Returns the headline of `lines`, with its continuation and its last cause.
pub(super) fn choose(lines: &[&str]) -> String {
    if let Some(exception) = last_exception(lines) {
        return with_next(lines, exception);
    }
    let of_command = lines
        .first()
        .is_some_and(|line| words::exit_code(line).is_some());
    let mut best: Option<(Rank, usize)> = None;
    for (at, line) in lines.iter().enumerate() {
        let rank = rank(line);
        let better = match best {
            // Of a command's output that says nothing the last is nearest to the failure.
            Some((Rank::Plain, _)) if of_command => rank >= Rank::Plain,
            Some((highest, _)) => rank > highest,
            None => !words::bare(line).is_empty(),
        };
        if better && !words::bare(line).is_empty() {
            best = Some((rank, at));
        }
        if rank == Rank::Named {
            break;
        }
    }
    let Some((_, at)) = best else {
        return String::new();
    };
    let mut headline = with_next(lines, at);
    if is_vague(&headline)
        && let Some(telling) = lines[at + 1..].iter().find_map(|line| telling(line))
    {
        headline.push_str(" / ");
        headline.push_str(telling);
    }
    if let Some(cause) = last_cause(&lines[at + 1..]) {
        headline.push_str(" / ");
        headline.push_str(&cause);
    }
    headline
}

/// A code of npm's that stands for many errors.
fn is_vague(headline: &str) -> bool {
    const CODES: [&str; 4] = ["EUSAGE", "ELIFECYCLE", "EUNKNOWN", "UNKNOWN"];
    headline
        .strip_prefix("code ")
        .is_some_and(|code| CODES.contains(&code))
}

/// A line that says something, beside npm's fields of an error: `syscall spawn`.
fn telling(line: &str) -> Option<&str> {
    const FIELDS: [&str; 6] = ["errno", "syscall", "path", "command", "cwd", "dest"];
    let line = cut(words::bare(line));
    let first = line.split(' ').next()?;
    let is_word = |word: &&str| {
        let word = word.trim_end_matches([',', '.', ':']);
        word.len() > 1 && word.chars().all(char::is_alphabetic)
    };
    let says = line.split(' ').filter(is_word).nth(1).is_some();
    (says && !FIELDS.contains(&first)).then_some(line)
}

/// Returns the first lines that hold anything, as one.
pub(super) fn first_lines(lines: &[&str]) -> String {
    let filled: Vec<&str> = lines
        .iter()
        .map(|line| cut(words::bare(line)))
        .filter(|line| !line.is_empty())
        .take(FIRST_LINES)
        .collect();
    filled.join(" / ")
}

/// The line at `at`, and the next one when it ends with a colon or names only a place.
fn with_next(lines: &[&str], at: usize) -> String {
    let mut line = cut(words::bare(lines[at]));
    let mut open = line.ends_with(':') || line.ends_with(']');
    if let Some((_, place)) = line.split_once("panicked at ") {
        // The place stands here and the message in the next line; once it was quoted here.
        open = !place.starts_with('\'');
        line = if open { "panicked:" } else { place };
    }
    let next = lines[at + 1..]
        .iter()
        .map(|line| cut(words::bare(line)))
        .find(|line| !line.is_empty())
        .filter(|line| open && !words::is_excerpt(line) && !words::is_frame(line));
    match next {
        Some(next) => format!("{line} {next}"),
        None => line.to_owned(),
    }
}

/// The exception of the last Python traceback: the first line after its frames that is
/// not indented.
fn last_exception(lines: &[&str]) -> Option<usize> {
    let start = lines.iter().rposition(|line| {
        line.trim_start()
            .starts_with("Traceback (most recent call last)")
    })?;
    let indent = indentation(lines[start]);
    lines[start + 1..]
        .iter()
        .position(|line| !line.trim().is_empty() && indentation(line) <= indent)
        .map(|offset| start + 1 + offset)
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The last cause, as Java, Node and Rust's error chains print it.
fn last_cause(lines: &[&str]) -> Option<String> {
    let own = |line: &str| {
        ["Caused by:", "[cause]:"]
            .iter()
            .find_map(|start| words::bare(line).strip_prefix(start))
            .map(|cause| cut(cause.trim()).to_owned())
    };
    let at = lines.iter().rposition(|line| own(line).is_some())?;
    own(lines[at])
        .filter(|cause| !cause.is_empty())
        .or_else(|| {
            // A chain lists its causes below; the last is the root.
            lines[at + 1..]
                .iter()
                .map(|line| words::bare(line))
                .take_while(|line| !line.is_empty() && !line.starts_with("Stack backtrace"))
                .last()
                .map(|line| cut(line).to_owned())
        })
}

fn cut(line: &str) -> &str {
    clip::head(line, LINE)
}

fn rank(raw: &str) -> Rank {
    let raw = cut(raw);
    let line = words::bare(raw);
    if line.is_empty() || words::is_excerpt(line) || words::is_frame(line) || is_header(line) {
        return Rank::Noise;
    }
    let lower = line.to_lowercase();
    if is_aside(raw, line, &lower) {
        return Rank::Noise;
    }
    if words::exit_code(line).is_some() || is_summary(&lower) {
        return Rank::Summary;
    }
    if is_code(line) {
        return Rank::Noise;
    }
    if names_an_error(line) || raw.starts_with("E  ") || line.starts_with("expect(") {
        return Rank::Named;
    }
    if mentions_an_error(raw, line, &lower) {
        return Rank::Mentioned;
    }
    if phrases::FAILURES.are_in(&lower) || words::starts_with_place(line) {
        return Rank::Worded;
    }
    if is_progress(line) {
        return Rank::Progress;
    }
    Rank::Plain
}

/// The names of a table's columns: `NAME  READY  STATUS`.
fn is_header(line: &str) -> bool {
    line.contains("  ")
        && line.split_whitespace().nth(2).is_some()
        && line
            .bytes()
            .all(|b| b.is_ascii_uppercase() || matches!(b, b' ' | b'-' | b'(' | b')'))
}

/// What is being done, or how far it has come: `Creating virtualenv …`, `Step 2/9 : …`.
fn is_progress(line: &str) -> bool {
    const NO_DEEDS: [&str; 6] = [
        "nothing",
        "something",
        "everything",
        "anything",
        "string",
        "during",
    ];
    let count = |word: &str| {
        let word = word.trim_matches(['[', ']', '(', ')', ':', '#']);
        word.split_once('/').is_some_and(|(done, all)| {
            [done, all]
                .iter()
                .all(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        })
    };
    let mut first = line.split_whitespace().take(2);
    let is_deed = line.split_whitespace().next().is_some_and(|word| {
        let word = word.to_lowercase();
        word.len() > 4 && word.ends_with("ing") && !NO_DEEDS.contains(&word.as_str())
    });
    is_deed || line.ends_with("...") || line.ends_with('…') || first.any(count)
}

/// Warnings, notes and hints accompany errors.
fn is_aside(raw: &str, line: &str, lower: &str) -> bool {
    matches!(stamps::klog(raw.trim()), Some((Severity::Aside, _)))
        || phrases::ASIDES.iter().any(|start| lower.starts_with(start))
        || (line.contains(':')
            && [": warning: ", ": note: ", "Warning: "]
                .iter()
                .any(|part| line.contains(part)))
}

/// Lines that report a failure that another line names.
fn is_summary(lower: &str) -> bool {
    phrases::SUMMARIES.are_in(lower)
        || (lower.starts_with("make") && lower.contains("***") && lower.contains("] error "))
        || lower.starts_with("failed ")
        || lower.starts_with("--- fail")
        || lower == "fail"
        || lower.starts_with("fail\t")
        || (lower.starts_with("found ") && lower.contains(" error"))
}

/// A line of a program, as excerpts without line numbers show it.
fn is_code(line: &str) -> bool {
    const STARTS: [&str; 8] = [
        "throw ", "raise ", "return ", "import ", "from ", "const ", "let ", "if (",
    ];
    let first = line
        .trim_start_matches('[')
        .split(|c: char| c == ':' || c.is_whitespace())
        .next()
        .unwrap_or_default();
    // Node prints `[Error: …] {` before an error's fields.
    (line.ends_with(['{', ';']) && !words::is_error_name(first) && !words::starts_with_place(line))
        || STARTS.iter().any(|start| line.starts_with(start))
}

/// An error's name with a message after it: `TypeError: …`, `error[E0382]: …`,
/// `error TS2304: …`, `fatal: …`, `main.c:3:5: error: …`.
fn names_an_error(line: &str) -> bool {
    if line.contains("panicked at ") {
        return true;
    }
    if line
        .strip_prefix("code E")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    {
        return true;
    }
    for at in memchr::memchr3_iter(b':', b'[', b'(', line.as_bytes()) {
        let head = line[..at].trim_end();
        if ends_as_error(head) || ends_with_coded_error(head) {
            return true;
        }
    }
    // `ValueError` alone, without a message.
    !line.contains(' ') && words::is_error_name(line)
}

/// The last word is an error's name.
fn ends_as_error(head: &str) -> bool {
    const WORDS: [&str; 4] = ["error", "fatal", "panic", "exception"];
    let word = last_word(head);
    words::is_error_name(word) || WORDS.iter().any(|w| word.eq_ignore_ascii_case(w))
}

/// `error TS2304`, `error CS0103`, `ERROR 1045`: the last word is the error's number.
fn ends_with_coded_error(head: &str) -> bool {
    let code = last_word(head);
    let before = head[..head.len() - code.len()].trim_end();
    code.bytes().any(|b| b.is_ascii_digit())
        && code.bytes().all(|b| b.is_ascii_alphanumeric())
        && last_word(before).eq_ignore_ascii_case("error")
}

fn last_word(text: &str) -> &str {
    let start = text
        .rfind(|c: char| {
            c.is_whitespace() || matches!(c, '[' | '(' | ']' | ')' | '"' | '\'' | ':' | '/')
        })
        .map_or(0, |at| {
            at + text[at..].chars().next().map_or(0, char::len_utf8)
        });
    &text[start..]
}

/// An error's name anywhere in a line that is not indented, or a known way to begin.
fn mentions_an_error(raw: &str, line: &str, lower: &str) -> bool {
    const STARTS: [&str; 8] = [
        "error ",
        "fatal ",
        "e: ",
        "! [",
        "conflict (",
        "curl: (",
        "an error occurred",
        "err ",
    ];
    STARTS.iter().any(|start| lower.starts_with(start))
        || raw.trim_start().starts_with("[ERROR]")
        || line.contains("  error  ")
        || (!raw.starts_with([' ', '\t'])
            && line
                .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')))
                .any(words::is_error_name))
}
