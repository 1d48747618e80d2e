//! Takes the secrets out of every text before anything else sees it.
//!
//! A text is masked whole, or cut first where no secret can be cut with it: at a blank or
//! a sign that stands in none, and at its tail at the start of a line.

use std::borrow::Cow;

use super::json::Raw;
use super::tool_answer;
use crate::clip::head;
use crate::redact::{Counts, Secrecy};

/// How much more than what is kept is looked at, in bytes.
pub(crate) const MARGIN: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct Mask {
    secrecy: Secrecy,
    counts: Counts,
}

impl Mask {
    pub(crate) fn new(secrecy: Secrecy) -> Self {
        Self {
            secrecy,
            counts: Counts::new(),
        }
    }

    /// Returns how often each rule masked something.
    pub(crate) fn into_counts(self) -> Counts {
        self.counts
    }

    pub(crate) fn text<'t>(&mut self, text: Cow<'t, str>) -> Cow<'t, str> {
        match self.secrecy.masker.mask_counting(&text, &mut self.counts) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => Cow::Owned(masked),
        }
    }

    /// Returns about the first `max` bytes of a text, masked.
    pub(crate) fn head(&mut self, text: &str, max: usize) -> String {
        let mut looked_at = head(text, max + MARGIN);
        if looked_at.len() < text.len() {
            looked_at = without_last_word(looked_at);
        }
        head(&self.text(looked_at.into()), max).to_owned()
    }

    /// Returns the text of a tool's answer, masked; of a long one about the first and the
    /// last `max` bytes.
    pub(crate) fn answer<'t>(&mut self, content: Raw<'t>, max: usize) -> Cow<'t, str> {
        self.text(tool_answer::answer(content, max))
    }

    /// Returns `true` if a call is about a file that is never to be read, by the text of its
    /// input under `key`.
    pub(crate) fn is_private(&self, key: &str, text: &str) -> bool {
        // A path is at the start of its text; a command may be long.
        let text = head(text, MAX_COMMAND);
        match key {
            "file_path" | "notebook_path" | "path" => self.secrecy.never_read.has(text),
            "command" | "pattern" | "glob" => self.secrecy.never_read.is_named_in(text),
            _ => false,
        }
    }
}

/// Hides the values of `NAME=value` lines, and the text that an edit did not find: the error
/// of a call about a file that is never to be read is told, and what it may show of the file
/// is not.
pub(crate) fn without_values(text: &str) -> String {
    let text = text.split_once("\nString: ").map_or(text, |(said, _)| said);
    let is_name = |name: &str| !name.is_empty() && !name.contains(char::is_whitespace);
    let lines = text.lines().map(|line| match line.split_once('=') {
        Some((name, _)) if is_name(name.trim().trim_start_matches("export ")) => {
            Cow::Owned(format!("{name}=[not read]"))
        }
        _ => Cow::Borrowed(line),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The part of a command that is looked at for the files it names, in bytes.
const MAX_COMMAND: usize = 16 << 10;

/// Drops the last word of a text that was cut, which may be half of a secret.
pub(crate) fn without_last_word(text: &str) -> &str {
    let ends = |c: char| c.is_whitespace() || "\"'`,;&|<>(){}[]\\".contains(c);
    match text.char_indices().rev().find(|(_, c)| ends(*c)) {
        Some((at, c)) => &text[..at + c.len_utf8()],
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wherever a text is cut, no part of a secret is left.
    #[test]
    fn a_secret_at_the_cut_of_a_head_is_gone() {
        let secret = concat!("ghp_", "0123456789abcdefghijABCDEFGHIJ012345");
        for before in 0..1_300 {
            let text = format!("{}{secret}{}", "a ".repeat(before), " b".repeat(900));
            let kept = Mask::default().head(&text, 300);
            assert!(!kept.contains("ghp_") && !kept.contains("ABCDEF"), "{kept}");
        }
    }

    #[test]
    fn an_error_about_a_file_that_is_never_read_is_told_without_values() {
        let text = "Exit code 1\nexport A=b\n B = c\nenv: x=y is no name\n.env: no such file";
        let want = "Exit code 1\nexport A=[not read]\n B =[not read]\nenv: x=y is no name\n.env: no such file";
        assert_eq!(without_values(text), want);
        let edit = "String to replace not found in file.\nString: one\ntwo";
        assert_eq!(without_values(edit), "String to replace not found in file.");
    }

    #[test]
    fn a_named_secret_in_one_long_line_of_json_is_gone() {
        for before in 0..400 {
            let pad = "x".repeat(before);
            let text = format!(
                r#"{{"a":"{pad}","password":"hunter2hunter2","b":"{}"}}"#,
                "y".repeat(2_000)
            );
            let kept = Mask::default().head(&text, 100);
            assert!(!kept.contains("hunter"), "{kept}");
        }
    }
}
