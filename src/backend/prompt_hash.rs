//! The hash that identifies a prompt, independent of who asks it and when.
//!
//! It is taken over the canonical prompt (spec/2, section 4.3): JSON with sorted keys and no
//! spaces, non-ASCII escaped, white space collapsed, and the marker replaced by `{nonce}`. Model
//! and token limit are left out, so a recorded reply fits any model.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::Ask;
use crate::digest::hex;

const PROMPT_VERSION: u32 = 1;
const NONCE: &str = "{nonce}";
const KEY_DIGITS: usize = 12;

pub(crate) fn prompt_hash(ask: &Ask<'_>) -> String {
    let text = |text: &str| match ask.marker {
        "" => collapse(text),
        marker => collapse(&text.replace(marker, NONCE)),
    };
    hash_of(json!({
        "task": ask.step.word(),
        "version": PROMPT_VERSION,
        "system": text(ask.system),
        "prompt": text(ask.prompt),
    }))
}

pub(crate) fn fixture_key(hash: &str) -> &str {
    &hash[..KEY_DIGITS]
}

fn collapse(text: &str) -> String {
    // The four separators that Python counts as white space and Unicode does not.
    let is_space = |c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
    let words: Vec<_> = text.split(is_space).filter(|w| !w.is_empty()).collect();
    words.join(" ")
}

/// Hashes JSON as Python's `json.dumps(…, sort_keys=True, separators=(",", ":"))` writes it.
fn hash_of(mut value: Value) -> String {
    value.sort_all_objects();
    let mut out = String::new();
    for c in value.to_string().chars() {
        if matches!(c, ' '..='~') {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            _ = write!(out, "\\u{unit:04x}");
        }
    }
    hex(&Sha256::digest(out.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::tests::ASK;

    /// The example of spec/2, section 4.3, and what its Python prints.
    #[test]
    fn the_canonical_form_is_that_of_the_helper_in_spec_2() {
        let hash = hash_of(json!({
            "agent": "unknown", "plan_reflection": false, "snippets": ["example snippet"],
            "summary_tokens": 128, "task": "reflect_summary", "turn": 0,
            "utter": "assistant: summary: . next: question", "version": 1,
        }));
        assert_eq!(
            hash,
            "3482df95edf61a9160ee3b7284d0500bca8da41db91462b657c115bad495b5b1"
        );
    }

    /// Computed with Python: `json.dumps` and `hashlib` over `" ".join(text.split())`.
    #[test]
    fn a_prompts_hash_is_what_python_computes() {
        assert_eq!(
            prompt_hash(&ASK),
            "8227c5407a3eff38f02838f33e12bb5989888cc2698108c3964d762a8fdb22c1"
        );
    }
}
