//! Recorded replies: the same prompt gets the same completion, without a network.
//!
//! A file has one JSON object per line, `{"prompt_hash", "completion"}`, with a [`prompt_hash`].

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use serde::Deserialize;

use super::message::reply;
use super::prompt_hash::{fixture_key, prompt_hash};
use super::{
    Ask, Backend, BackendFailure, BackendName, BackendReply, BackendResult, FailureKind, TokenCount,
};
use crate::fsx;

const MAX_FILE: u64 = 64 << 20;
const MODEL: &str = "fixtures";

#[derive(Debug)]
pub(crate) struct Fixtures {
    path: PathBuf,
    completions: HashMap<String, String>,
}

#[derive(Deserialize)]
struct FixtureLine {
    prompt_hash: String,
    completion: String,
}

impl Fixtures {
    /// Loads a fixtures file; of two lines for one prompt, the later one wins.
    pub(crate) fn load(path: &Path) -> anyhow::Result<Self> {
        let bytes = fsx::read(path, MAX_FILE)?;
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        let mut completions = HashMap::new();
        for (place, line) in bytes.split(|b| *b == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let (hash, completion) = parse_line(line).map_err(|reason| {
                let (path, line) = (path.display(), place + 1);
                anyhow!("could not read fixtures: {path}:{line}: {reason}")
            })?;
            completions.insert(hash, completion);
        }
        Ok(Self {
            path: path.to_owned(),
            completions,
        })
    }

    fn find(&self, ask: &Ask<'_>) -> Result<BackendReply, BackendFailure> {
        let hash = prompt_hash(ask);
        let Some(text) = self.completions.get(&hash) else {
            return Err(BackendFailure::new(
                FailureKind::FixtureMissing,
                format!(
                    "could not find fixture {} for the {}: {}: no line has the `prompt_hash` {hash}",
                    fixture_key(&hash),
                    ask.step.word(),
                    self.path.display(),
                ),
            ));
        };
        reply(None, text, (Some(MODEL), TokenCount::default()), ask)
            .map_err(|flaw| flaw.of(&self.path.display().to_string()))
    }
}

fn parse_line(line: &[u8]) -> Result<(String, String), String> {
    let line: FixtureLine = serde_json::from_slice(line).map_err(|e| e.to_string())?;
    let hash = line.prompt_hash.to_ascii_lowercase();
    if hash.len() != 64 || !hash.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err("`prompt_hash` is not 64 hexadecimal digits".to_owned());
    }
    Ok((hash, line.completion))
}

impl Backend for Fixtures {
    fn name(&self) -> BackendName {
        BackendName::Fixtures
    }

    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> BackendResult<'a> {
        Box::pin(std::future::ready(self.find(ask)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::tests::ASK;
    use rstest::rstest;
    use serde_json::json;

    #[test]
    fn a_recorded_reply_is_given_and_the_later_line_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replies.jsonl");
        let line = |hash: &str, text: &str| json!({"prompt_hash": hash, "completion": text});
        let (hash, other) = (prompt_hash(&ASK), "0".repeat(64));
        let lines = [
            line(&other, "x"),
            line(&hash, "first"),
            line(&hash, "second\nline é"),
        ];
        // An editor may have put a byte order mark in front, and no line end behind.
        let text = format!("\u{feff}{}", lines.map(|line| line.to_string()).join("\n"));
        fsx::quick(&path, text.as_bytes()).unwrap();
        let fixtures = Fixtures::load(&path).unwrap();
        assert_eq!(fixtures.completions.len(), 2);
        assert_eq!(fixtures.find(&ASK).unwrap().text, "second\nline é");
    }

    #[rstest]
    #[case::not_json("\n\nnope", ":3: ")]
    #[case::short_hash("{\"prompt_hash\":\"00\",\"completion\":\"x\"}", ":1: `prompt_hash`")]
    fn a_bad_line_is_named(#[case] text: &str, #[case] named: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replies.jsonl");
        fsx::quick(&path, text.as_bytes()).unwrap();
        let error = Fixtures::load(&path).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
        assert!(error.contains("replies.jsonl"), "{error}");
    }
}
