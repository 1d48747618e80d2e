//! The part of a transcript that belongs to one prompt, read from the file's end.

use std::path::Path;

use memchr::{memchr, memmem, memrchr};

use crate::fsx::{self, FsError};

/// The part of a transcript's end that is read: what begins further back is not judged.
const MOST: u64 = 4 << 20;

/// Reads from the first line on that names the prompt, whole lines only; `None` where none does,
/// or where lines before the end of what is read may name it, too.
///
/// The client writes the id of the prompt into each record of the user's side that belongs to
/// it, and a prompt's own record comes first.
pub(super) fn read(transcript: &Path, prompt: &str) -> Result<Option<Vec<u8>>, FsError> {
    let bytes = match fsx::read_tail(transcript, MOST) {
        Err(error) if error.is_missing() => return Ok(None),
        bytes => bytes?,
    };
    Ok(of(&bytes, prompt).map(<[u8]>::to_vec))
}

fn of<'a>(tail: &'a [u8], prompt: &str) -> Option<&'a [u8]> {
    let is_cut = tail.len() as u64 >= MOST;
    // Of a part of the file the first line may be cut.
    let start = if is_cut { memchr(b'\n', tail)? + 1 } else { 0 };
    let end = memrchr(b'\n', tail)? + 1;
    let whole = tail.get(start..end)?;
    let id = serde_json::to_string(prompt).ok()?;
    let at = memmem::find(whole, id.as_bytes())?;
    let line = memrchr(b'\n', &whole[..at]).map_or(0, |end| end + 1);
    Some(&whole[line..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "{\"promptId\":\"p1\",\"n\":1}\n{\"promptId\":\"p2\",\"n\":2}\n{\"n\":3}\n{\"promptId\":\"p2\",\"n\":4}\n{\"n\":5";

    #[test]
    fn a_step_begins_with_the_line_of_its_prompt_and_ends_with_a_whole_line() {
        let step = |prompt| of(LINES.as_bytes(), prompt).map(String::from_utf8_lossy);
        let second = LINES.find("{\"promptId\":\"p2\"").unwrap();
        let end = LINES.rfind('{').unwrap();
        assert_eq!(step("p2").unwrap(), LINES[second..end]);
        assert_eq!(step("p1").unwrap(), LINES[..end]);
        assert_eq!(step("p"), None);
        assert_eq!(of(b"no line", "p1"), None);
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
        assert_eq!(read(&file, "p2").unwrap(), None);
        let near = format!("{}{}", filler.repeat(4), LINES);
        std::fs::write(&file, near).unwrap();
        assert!(
            read(&file, "p2")
                .unwrap()
                .unwrap()
                .starts_with(b"{\"promptId\":\"p2\",\"n\":2}")
        );
        assert_eq!(read(&dir.path().join("none"), "p2").unwrap(), None);
    }
}
