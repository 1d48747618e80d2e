//! What identifies a prompt, whoever asks it and when.
//!
//! The hash is that of the canonical prompt (spec/2, section 4.3): JSON with sorted keys and
//! no spaces, all but ASCII escaped, white space in its texts collapsed, and the marker
//! replaced by `{nonce}`. Model and token limit are no part of it: a recorded reply
//! stands for the prompt, whoever answered it.

use std::fmt;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::Ask;

const PROMPT_VERSION: u32 = 1;
const NONCE: &str = "{nonce}";
/// How many digits of a hash make a fixture's key in logs.
const KEY_DIGITS: usize = 12;

/// The SHA-256 of a canonical prompt, as 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PromptHash(String);

impl PromptHash {
    /// Returns the hash of an ask's prompt.
    pub fn of(ask: &Ask<'_>) -> Self {
        Self::of_json(&canonical_prompt(ask))
    }

    /// Returns the first 12 digits: the `fixture_key` of logs.
    pub fn key(&self) -> &str {
        &self.0[..KEY_DIGITS]
    }

    fn of_json(json: &str) -> Self {
        let digest = Sha256::digest(json.as_bytes());
        let mut digits = String::new();
        push_hex(&mut digits, &digest);
        Self(digits)
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_hash = text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
        is_hash.then(|| Self(text.to_ascii_lowercase()))
    }
}

impl fmt::Display for PromptHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn canonical_prompt(ask: &Ask<'_>) -> String {
    let text = |text: &str| match ask.marker {
        "" => collapse(text),
        marker => collapse(&text.replace(marker, NONCE)),
    };
    canonical_json(&json!({
        "task": ask.step.as_str(),
        "version": PROMPT_VERSION,
        "system": text(ask.system),
        "prompt": text(ask.prompt),
    }))
}

/// Makes one space of every run of white space, and none at the ends.
fn collapse(text: &str) -> String {
    // The four separators that Python counts as white space and Unicode does not.
    let is_space = |c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
    let words: Vec<_> = text.split(is_space).filter(|w| !w.is_empty()).collect();
    words.join(" ")
}

/// Writes JSON as Python's `json.dumps(…, sort_keys=True, separators=(",", ":"))`.
fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    write_json(value, &mut out);
    out
}

fn write_json(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (place, (key, value)) in entries.into_iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                write_json(value, out);
            }
            out.push('}');
        }
        Value::Array(values) => {
            out.push('[');
            for (place, value) in values.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write_json(value, out);
            }
            out.push(']');
        }
        Value::String(text) => write_string(text, out),
        Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str("\\u");
                    push_hex(out, &unit.to_be_bytes());
                }
            }
        }
    }
    out.push('"');
}

fn push_hex(out: &mut String, bytes: &[u8]) {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Step;
    use rstest::rstest;

    const ASK: Ask<'static> = Ask {
        step: Step::Reflector,
        system: "Judge.",
        prompt: "a \n\t b\u{1f}c  0123456789abcdef é😀\u{7f}\"\\ 0123456789abcdef\n",
        model: "m",
        max_tokens: 1,
        marker: "0123456789abcdef",
        attempts: u32::MAX,
        deadline: None,
    };

    /// The example of spec/2, section 4.3, and what its Python prints.
    #[test]
    fn the_canonical_form_is_that_of_the_helper_in_spec_2() {
        let json = canonical_json(&json!({
            "agent": "unknown", "plan_reflection": false, "snippets": ["example snippet"],
            "summary_tokens": 128, "task": "reflect_summary", "turn": 0,
            "utter": "assistant: summary: . next: question", "version": 1,
        }));
        assert_eq!(
            PromptHash::of_json(&json).to_string(),
            "3482df95edf61a9160ee3b7284d0500bca8da41db91462b657c115bad495b5b1"
        );
    }

    /// Computed with Python: `json.dumps` and `hashlib` over `" ".join(text.split())`.
    #[test]
    fn a_prompts_hash_is_what_python_computes() {
        assert_eq!(
            PromptHash::of(&ASK).to_string(),
            "8227c5407a3eff38f02838f33e12bb5989888cc2698108c3964d762a8fdb22c1"
        );
    }

    #[rstest]
    #[case::other_marker("x fedcba9876543210 y", "fedcba9876543210", true)]
    #[case::other_white_space(" x\n0123456789abcdef\t\ty", "0123456789abcdef", true)]
    #[case::no_marker_is_not_everywhere("x {nonce} y", "", true)]
    #[case::other_words("x 0123456789abcdef z", "0123456789abcdef", false)]
    fn only_what_the_prompt_says_is_hashed(
        #[case] prompt: &str,
        #[case] marker: &str,
        #[case] same: bool,
    ) {
        let first = Ask {
            prompt: "x 0123456789abcdef y",
            ..ASK
        };
        let second = Ask {
            prompt,
            marker,
            model: "other",
            ..first
        };
        assert_eq!(PromptHash::of(&first) == PromptHash::of(&second), same);
        let curator = Ask {
            step: Step::Curator,
            ..first
        };
        assert_ne!(PromptHash::of(&first), PromptHash::of(&curator));
    }
}
