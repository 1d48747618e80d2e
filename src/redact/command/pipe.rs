//! Passwords that a command is fed with: `echo secret | sudo -S …`, `… <<< secret`.

use std::ops::Range;

use super::words::{self, word_at};
use super::{MAX_BEFORE, MIN_SECRET, line};
use crate::clip::tail;
use crate::redact::spans::NOTE;
use crate::redact::value::is_placeholder;

/// What takes a password from its input.
pub(in crate::redact) const RECEIVERS: &[&str] = &[
    "chpasswd",
    "cryptsetup",
    "--password-stdin",
    "passwd --stdin",
    "sudo -S",
    "sudo --stdin",
    "--with-token",
    "secret put",
    "secret set",
    "vercel env add",
    "smbpasswd",
    "kinit",
    "--pass-stdin",
    "--passphrase-fd",
    "ssh-add",
];

/// Looks at what takes a password from its input.
pub(in crate::redact) fn look(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    if let Some(given) = piped(text, at.start).or_else(|| here(text, at.end)) {
        let value = &text[given.clone()];
        let is_note = text[..given.start].ends_with(NOTE);
        let is_secret =
            !is_note && value.len() >= MIN_SECRET && !is_placeholder(value) && !value.contains(' ');
        if is_secret {
            // `user:secret`
            let is_pair = text[at].eq_ignore_ascii_case("chpasswd");
            let user = value
                .find(':')
                .filter(|_| is_pair)
                .map_or(0, |colon| colon + 1);
            found(given.start + user..given.end);
        }
    }
}

/// Finds the last word of the `echo` or `printf` that is piped into a command.
fn piped(text: &str, at: usize) -> Option<Range<usize>> {
    let before = tail(&text[..at], MAX_BEFORE);
    let start = at - before.len();
    let line = before.rfind(['\n', ';']).map_or(0, |i| i + 1);
    let pipe = before.rfind('|').filter(|pipe| *pipe >= line)?;
    let command = &before[line..pipe];
    let says = ["echo ", "printf "].iter();
    let from = says
        .filter_map(|says| Some(command.rfind(says)? + says.len()))
        .max()?;
    let word = words::of(&command[from..]).last()?.range;
    let offset = start + line + from;
    let value = text[offset + word.start..offset + word.end].trim_end_matches("\\n");
    Some(offset + word.start..offset + word.start + value.len())
}

/// Finds the word after a `<<<`.
fn here(text: &str, at: usize) -> Option<Range<usize>> {
    const HERE: &str = "<<<";
    let line = line(text, at);
    let from = line.find(HERE)? + HERE.len();
    let from = from + line[from..].len() - line[from..].trim_start().len();
    let word = word_at(line.as_bytes(), from).range;
    Some(at + word.start..at + word.end)
}
