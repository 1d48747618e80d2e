//! The output of commands: data on stdout, messages on stderr, colour only on a terminal, lines as
//! wide as the screen.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io::{self, BufRead as _, IsTerminal, Write as _};
use std::os::fd::AsFd;

use anstream::adapter::strip_str;
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use textwrap::{Options, WordSeparator, WordSplitter};
use unicode_width::UnicodeWidthChar as _;

use super::doctor::off_by;
use super::session::NamedSession;
use crate::config::ConfigError;
use crate::env::{Env, name};
use crate::fsx;
use crate::memory::MemoryError;
use crate::paths::NoFolders;
use crate::redact::PatternError;
use crate::setup::SetupError;
pub(super) use crate::shown::{counted, grouped, one_line, plain};
use crate::state_guard::Breach;
use crate::store::{StoreError, WAYS_BACK};

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default();
pub(super) const NAME: Style = AnsiColor::Cyan.on_default();

/// Prints a line of data; on a terminal it keeps its colours and is wrapped between words.
macro_rules! say {
    ($($arg:tt)*) => {
        $crate::cli::output::line(format_args!($($arg)*))?
    };
}
pub(super) use say;

pub(super) fn line(text: fmt::Arguments<'_>) -> io::Result<()> {
    match of_terminal(io::stdout()) {
        None => whole(text),
        Some(width) => whole(format_args!("{}", hang(&text.to_string(), width))),
    }
}

/// Prints a line without wrapping, for texts that another program reads.
pub(super) fn whole(text: fmt::Arguments<'_>) -> io::Result<()> {
    anstream::stdout()
        .lock()
        .write_fmt(format_args!("{text}\n"))
}

pub(super) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut line = serde_json::to_string(value)?;
    line.push('\n');
    io::stdout().lock().write_all(line.as_bytes())?;
    Ok(())
}

/// Returns an error's message and its causes, without repetitions.
pub(super) fn told(error: &anyhow::Error) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        if !messages.iter().any(|known| known.contains(&cause)) {
            messages.push(cause);
        }
    }
    messages
}

pub(super) fn error(error: &anyhow::Error) {
    let bad = BAD.bold();
    let mut text = String::new();
    for (n, message) in told(error).iter().enumerate() {
        // Writing to a string cannot fail.
        _ = match n {
            0 => writeln!(text, "{bad}error{bad:#}: {}", plain(message)),
            _ => writeln!(text, "caused by: {}", plain(message)),
        };
    }
    if let Some(hint) = hint(error) {
        _ = writeln!(text, "{BOLD}hint{BOLD:#}: {hint}");
    }
    talk(&text);
}

pub(super) fn note(what: &str) {
    talk(&format!("{BOLD}note{BOLD:#}: {}\n", plain(what)));
}

fn talk(text: &str) {
    let text = match of_terminal(io::stderr()) {
        None => text.to_owned(),
        Some(width) => hang(text, width),
    };
    // With stderr closed, the message is lost.
    _ = anstream::stderr().lock().write_all(text.as_bytes());
}

pub(super) fn hint(error: &anyhow::Error) -> Option<Cow<'static, str>> {
    if let Some(error) = error.downcast_ref::<MemoryError>() {
        return error.hint().map(Cow::Owned).or(Some(LET_US.into()));
    }
    let of_store = || {
        Some(match error.downcast_ref()? {
            StoreError::Corrupt { .. } => {
                "`playbook undo --to` brings the last good one back, or mend it by hand; jobs wait"
            }
            StoreError::InMerge { .. } => {
                "finish the merge by hand, or take one side with `git checkout --ours` (or \
                 `--theirs`) and `git add`; jobs wait"
            }
            StoreError::Away { .. } => WAYS_BACK,
            StoreError::Locked { .. } => "wait for the other process, then try again",
            _ => return None,
        })
    };
    let of_settings = || match error.downcast_ref()? {
        ConfigError::Content { .. } => Some("correct the line, or remove it to get the default"),
        ConfigError::Read(_) => None,
    };
    let of_pattern = "correct the pattern, or remove it; `playbook config path` names the file";
    let known = error.downcast_ref::<Hinted>().map(|error| error.hint);
    let known = known
        .or_else(|| error.downcast_ref::<Breach>().map(|error| error.hint))
        .or_else(|| error.downcast_ref::<SetupError>()?.hint())
        .or_else(|| error.downcast_ref().map(NoFolders::hint))
        .or_else(|| error.is::<PatternError>().then_some(of_pattern))
        .or_else(of_store)
        .or_else(of_settings);
    let of_system = || {
        let mut causes = error.chain().filter_map(|cause| cause.downcast_ref());
        causes.find_map(of_system)
    };
    known.or_else(of_system).map(Cow::Borrowed)
}

const LET_US: &str = "the file and its folder must be yours and writable: `ls -ld` shows them";

fn of_system(error: &io::Error) -> Option<&'static str> {
    use io::ErrorKind as Kind;
    match error.kind() {
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => Some(LET_US),
        Kind::NotFound => Some("check the path: there is nothing at it"),
        Kind::StorageFull | Kind::QuotaExceeded => Some("make room on the disk, then try again"),
        Kind::IsADirectory | Kind::NotADirectory => {
            Some("check the path: there is a folder where a file belongs, or the other way round")
        }
        _ if fsx::is_irregular(error) => {
            Some("only a plain file is read; a folder, a device or a pipe is none")
        }
        _ => None,
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(super) struct Hinted {
    pub(super) what: String,
    pub(super) hint: &'static str,
}

impl Hinted {
    pub(super) fn error(what: impl Into<String>, hint: &'static str) -> anyhow::Error {
        let what = what.into();
        Self { what, hint }.into()
    }
}

pub(super) fn bar(template: &str, length: usize) -> ProgressBar {
    let style = ProgressStyle::with_template(template);
    ProgressBar::new(length as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref());
    causes.any(|error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Asks a question whose default is no; `None` without a terminal.
pub(super) fn confirm(question: &str) -> io::Result<Option<bool>> {
    if !io::stdin().is_terminal() {
        return Ok(None);
    }
    let answer = ask(&format!("{question} [y/N]"))?.unwrap_or_default();
    let answer = answer.to_ascii_lowercase();
    Ok(Some(matches!(answer.as_str(), "y" | "yes")))
}

pub(super) fn ask(question: &str) -> io::Result<Option<String>> {
    let mut stderr = io::stderr().lock();
    write!(stderr, "{question} ")?;
    stderr.flush()?;
    let mut answer = String::new();
    let is_answered = io::stdin().lock().read_line(&mut answer)? > 0;
    Ok(is_answered.then(|| answer.trim().to_owned()))
}

pub(super) const NO_MODEL: &str = "no model is asked until it is on again";

/// If reflection is off, nothing is applied and no model is asked, not even by hand.
pub(super) fn refuse_if_off(session: &NamedSession, hint: &'static str) -> anyhow::Result<()> {
    off_by(session).map_or(Ok(()), |by| {
        let what = format!("reflection is switched off by {by}");
        Err(Hinted::error(what, hint))
    })
}

const USUAL: usize = 80;
const LEAST: usize = 40;
/// The width of a terminal below which lines are not wrapped.
const NARROWEST: usize = 20;
const STEP: usize = 2;
const MOST: usize = 100;

pub(super) fn of_screen(env: &Env) -> usize {
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let from_env = || env.get(name::COLUMNS)?.parse().ok();
    terminal
        .filter(|width| *width > 0)
        .or_else(from_env)
        .unwrap_or(USUAL)
        .clamp(LEAST, MOST)
}

/// Returns the width of the terminal that a stream leads to; `None` if text must not be wrapped.
fn of_terminal(end: impl IsTerminal + AsFd) -> Option<usize> {
    let (width, _) = end
        .is_terminal()
        .then(|| terminal_size::terminal_size_of(end))??;
    Some(usize::from(width.0)).filter(|width| *width >= NARROWEST)
}

/// Places the rest of a wide line below the last column if that begins in the first half, else
/// slightly indented. A word that is too wide stays whole, because it may be copied.
pub(super) fn hang(text: &str, width: usize) -> String {
    let lines = text.split('\n').map(|line| hang_line(line, width));
    lines.collect::<Vec<_>>().join("\n")
}

fn hang_line(line: &str, width: usize) -> String {
    if cells(line) <= width {
        return line.to_owned();
    }
    let text = line.trim_start_matches(' ');
    let beneath = " ".repeat(indent(&strip_str(line).to_string(), width / 2));
    let options = Options::new(width)
        .initial_indent(&line[..line.len() - text.len()])
        .subsequent_indent(&beneath)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::fill(text, options)
}

/// Returns the start of the last column at `most` or before; it follows two or more spaces.
fn indent(line: &str, most: usize) -> usize {
    let begin = line.len() - line.trim_start_matches(' ').len();
    let mut column = begin;
    let mut spaces = 0;
    let mut at = 0;
    for c in line.chars() {
        if c != ' ' && spaces > 1 && at <= most {
            column = at;
        }
        spaces = if c == ' ' { spaces + 1 } else { 0 };
        at += c.width().unwrap_or_default();
    }
    if column == begin {
        begin.min(most) + STEP
    } else {
        column
    }
}

/// Returns the width of a text on the screen; colours count nothing.
pub(super) fn cells(text: &str) -> usize {
    textwrap::core::display_width(text)
}

pub(super) fn fit(text: &str, width: usize) -> String {
    if cells(text) <= width {
        return text.to_owned();
    }
    let mut fitting = String::new();
    let mut taken = 0;
    for c in text.chars() {
        taken += c.width().unwrap_or_default();
        // One cell is reserved for `…`.
        if taken >= width {
            break;
        }
        fitting.push(c);
    }
    format!("{}…", fitting.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::fits("abc", 3, "abc")]
    #[case::too_long("abcdef", 4, "abc…")]
    #[case::wide("日本語文字", 5, "日本…")]
    #[case::space_at_the_cut("ab cdef", 4, "ab…")]
    fn what_does_not_fit_is_cut_with_a_sign(
        #[case] text: &str,
        #[case] width: usize,
        #[case] fitting: &str,
    ) {
        assert_eq!(fit(text, width), fitting);
    }

    #[rstest]
    #[case::fits("ok     hooks", 12, "ok     hooks")]
    #[case::below_its_column(
        "ok     hooks are all there",
        18,
        "ok     hooks are\n       all there"
    )]
    #[case::no_column("one two three four", 9, "one two\n  three\n  four")]
    #[case::a_column_too_far_right(
        "a.long.key.name  value of it",
        18,
        "a.long.key.name\n  value of it"
    )]
    #[case::indented("    do: this and that", 14, "    do: this\n      and that")]
    #[case::a_long_word_stays_whole(
        "see /a/very/long/path here",
        12,
        "see\n  /a/very/long/path\n  here"
    )]
    #[case::colours_take_no_place(
        "\u{1b}[32mok\u{1b}[0m     hooks",
        12,
        "\u{1b}[32mok\u{1b}[0m     hooks"
    )]
    fn a_line_goes_on_below_its_last_column(
        #[case] text: &str,
        #[case] width: usize,
        #[case] expected: &str,
    ) {
        assert_eq!(hang(text, width), expected);
    }
}
