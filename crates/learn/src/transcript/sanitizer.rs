//! What is done to every text before it is kept: blobs out, secrets masked, the home
//! folder shown as `~`, control characters gone, cut to size.

use std::borrow::Cow;

use memchr::memmem;

use super::cut;
use crate::redact::Masker;
use crate::shown::without_controls;

/// The part of a text that is looked at; what lies beyond, in the middle, is never kept.
const LOOKED_AT: usize = 64_000;

/// Keeps texts of one session.
///
/// What arrives is masked already, whole ([`super::session`]); here it is masked once more
/// where it had escapes or characters that are not seen, which may have hidden a secret.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sanitizer {
    masker: Masker,
    home: Option<String>,
    /// The session's folder; what lies in it is shown relative to it.
    folder: Option<String>,
}

impl Sanitizer {
    pub(crate) fn new(home: Option<&str>, masker: Masker) -> Self {
        let home = home
            .map(|h| h.trim_end_matches('/'))
            .filter(|h| !h.is_empty());
        Self {
            masker,
            home: home.map(str::to_owned),
            folder: None,
        }
    }

    pub(crate) fn work_in(&mut self, folder: &str) {
        if folder.len() > 1 && folder.starts_with('/') {
            self.folder = Some(folder.trim_end_matches('/').to_owned());
        }
    }

    /// Returns what is kept of `text`, in about `max` bytes.
    pub(crate) fn text(&self, text: &str, max: usize) -> String {
        cut::middle(self.clean(text).trim(), max).into_owned()
    }

    pub(crate) fn line(&self, text: &str, max: usize) -> String {
        cut::one_line(&self.clean(text), max)
    }

    /// Takes out what is not to be seen before anything is cut.
    fn clean(&self, text: &str) -> String {
        let text = cut::middle(text, LOOKED_AT);
        let text = match without_controls(&text) {
            // What is not seen may have hidden a secret.
            Cow::Owned(bare) => self.masker.mask(&bare).into_owned(),
            Cow::Borrowed(same) => same.to_owned(),
        };
        let mut text = cut::without_blobs(&text).into_owned();
        for (folder, short) in [(&self.folder, "."), (&self.home, "~")] {
            if let Some(folder) = folder {
                text = shortened(text, folder, short);
            }
        }
        text
    }
}

/// Writes `short` for `folder` wherever that stands as a whole path or the start of one;
/// what lies in `.` is shown without it.
fn shortened(text: String, folder: &str, short: &str) -> String {
    let mut out = String::new();
    let mut from = 0;
    for at in memmem::find_iter(text.as_bytes(), folder) {
        let after = &text[at + folder.len()..];
        let named_on =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | '-') || (c == '.' && short == "~");
        let inside = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '.');
        if at < from || inside || after.starts_with(named_on) {
            continue;
        }
        out.push_str(&text[from..at]);
        from = at + folder.len();
        match after.strip_prefix('/') {
            Some(name) if short == "." && name.starts_with(|c: char| !c.is_whitespace()) => {
                from += 1;
            }
            _ => out.push_str(short),
        }
    }
    if from == 0 {
        return text;
    }
    out.push_str(&text[from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::inside("see /home/u/a.rs", "see ~/a.rs")]
    #[case::another_user("/home/user2/a", "/home/user2/a")]
    #[case::escapes("\u{1b}[1mbold\u{1b}[22m\u{7} done", "bold done")]
    #[case::unseen("a\u{200b}b\u{202e}c\u{e0041}", "abc")]
    #[case::secret(
        "TOK\u{200b}EN=abcdefghijklmnop /home/u/x",
        "TOKEN=[masked env-secret] ~/x"
    )]
    fn a_kept_text_shows_no_home_no_escapes_and_no_hidden_secret(
        #[case] text: &str,
        #[case] want: &str,
    ) {
        assert_eq!(
            Sanitizer::new(Some("/home/u/"), Masker::default()).text(text, 1000),
            want
        );
    }

    #[rstest]
    #[case::file("cat /home/u/proj/src/a.rs", "cat src/a.rs")]
    #[case::folder_itself("cd /home/u/proj && ls", "cd . && ls")]
    #[case::neighbour("/home/u/project2/a", "~/project2/a")]
    #[case::elsewhere("/mnt/home/u/proj/a", "/mnt/home/u/proj/a")]
    fn paths_are_shown_relative_to_the_sessions_folder(#[case] text: &str, #[case] want: &str) {
        let mut sanitizer = Sanitizer::new(Some("/home/u"), Masker::default());
        sanitizer.work_in("/home/u/proj");
        assert_eq!(sanitizer.text(text, 1000), want);
    }
}
