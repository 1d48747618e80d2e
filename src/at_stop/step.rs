//! The part of a transcript that belongs to one prompt, read from the file's end.

use std::path::Path;

use memchr::{memchr, memmem, memrchr};

use crate::fsx::{self, FsError};
use crate::transcript::{self, EventKind, ReadOptions, Via};

/// The most bytes read from the end of a transcript; a longer turn is not judged.
const MOST: u64 = 4 << 20;

/// Reads whole lines from a prompt's line to the end of the file. The line is the first that names
/// `prompt`, or a person's last prompt if the client gives no id. Returns `None` if it is not
/// found.
///
/// The client writes the prompt's id into each record of the user's side, and the prompt's own
/// record comes first.
pub(super) fn read(transcript: &Path, prompt: Option<&str>) -> Result<Option<Vec<u8>>, FsError> {
    let bytes = match fsx::read_tail(transcript, MOST) {
        Err(error) if error.is_missing() => return Ok(None),
        bytes => bytes?,
    };
    Ok(of(&bytes, prompt).map(<[u8]>::to_vec))
}

fn of<'a>(tail: &'a [u8], prompt: Option<&str>) -> Option<&'a [u8]> {
    let is_cut = tail.len() as u64 >= MOST;
    // The first line of a partly read file may be cut.
    let start = if is_cut { memchr(b'\n', tail)? + 1 } else { 0 };
    let end = memrchr(b'\n', tail)? + 1;
    let whole = tail.get(start..end)?;
    let line = match prompt {
        None => last_prompt(whole)?,
        Some(prompt) => {
            let id = serde_json::to_string(prompt).ok()?;
            let at = memmem::find(whole, id.as_bytes())?;
            memrchr(b'\n', &whole[..at]).map_or(0, |end| end + 1)
        }
    };
    Some(&whole[line..])
}

fn last_prompt(whole: &[u8]) -> Option<usize> {
    let mut end = whole.len();
    while end > 0 {
        let start = memrchr(b'\n', &whole[..end - 1]).map_or(0, |end| end + 1);
        let line = &whole[start..end];
        let has = |what: &str| memmem::find(line, what.as_bytes()).is_some();
        if has("\"user\"") && !has("\"tool_use_id\"") && is_prompt(line) {
            return Some(start);
        }
        end = start;
    }
    None
}

fn is_prompt(line: &[u8]) -> bool {
    let mut found = false;
    let see = &mut |event: &transcript::Event<'_>| {
        found |= matches!(&event.kind, EventKind::Prompt(it) if is_of_person(it.via));
    };
    transcript::each_event(line, &ReadOptions::default(), see).is_ok() && found
}

pub(super) fn is_of_person(via: Via<'_>) -> bool {
    matches!(via, Via::Typed | Via::Plan | Via::Command(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "{\"promptId\":\"p1\",\"n\":1}\n{\"promptId\":\"p2\",\"n\":2}\n{\"n\":3}\n{\"promptId\":\"p2\",\"n\":4}\n{\"n\":5";

    #[test]
    fn a_step_begins_with_the_line_of_its_prompt_and_ends_with_a_whole_line() {
        let step = |prompt| of(LINES.as_bytes(), Some(prompt)).map(String::from_utf8_lossy);
        let second = LINES.find("{\"promptId\":\"p2\"").unwrap();
        let end = LINES.rfind('{').unwrap();
        assert_eq!(step("p2").unwrap(), LINES[second..end]);
        assert_eq!(step("p1").unwrap(), LINES[..end]);
        assert_eq!(step("p"), None);
        assert_eq!(of(b"no line", Some("p1")), None);
    }

    #[test]
    fn what_lies_further_back_than_is_read_is_not_found() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("t.jsonl");
        let filler = format!("{{\"x\":\"{}\"}}\n", "x".repeat(1 << 20));
        std::fs::write(
            &file,
            format!("{}{}", LINES.replace("{\"n\":5", ""), filler.repeat(4)),
        )
        .unwrap();
        assert_eq!(read(&file, Some("p2")).unwrap(), None);
        let near = format!("{}{}", filler.repeat(4), LINES);
        std::fs::write(&file, near).unwrap();
        assert!(
            read(&file, Some("p2"))
                .unwrap()
                .unwrap()
                .starts_with(b"{\"promptId\":\"p2\",\"n\":2}")
        );
        assert_eq!(read(&dir.path().join("none"), Some("p2")).unwrap(), None);
    }
}
