//! Citations: the ids of key points that an assistant names in brackets.
//!
//! `\[((?:pat|mis|pref|ctx|oth)-\d+|kpt_\d+)\]` with ASCII digits (REQ-REFL-001), found by
//! looking only at the bytes after a `[`. Those of the user's own points are left out.

use std::collections::HashSet;

use serde_json::Value;

use crate::playbook::Id;

/// How many citations of one text are kept.
const MAX_CITES: usize = 2_000;

/// Calls `found` with each id cited in `text`, in order, repeated ones included.
fn each(text: &str, mut found: impl FnMut(Id)) {
    let bytes = text.as_bytes();
    for open in memchr::memchr_iter(b'[', bytes) {
        let rest = &bytes[open + 1..];
        let length = rest
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
            .count();
        if rest.get(length) == Some(&b']')
            && let Some(id) = Id::parse(&text[open + 1..=open + length])
            && !id.is_own()
        {
            found(id);
        }
    }
}

/// Returns the key points that a text cites, each once.
pub(crate) fn cites(text: &str) -> Vec<Id> {
    let mut cites: Vec<Id> = Vec::new();
    let mut seen = HashSet::new();
    each(text, |id| {
        if cites.len() < MAX_CITES && seen.insert(id.clone()) {
            cites.push(id);
        }
    });
    cites
}

/// Returns the ids cited by the assistant in `messages`, each once, in order of first
/// appearance (REQ-REFL-001, INV-REFL-001).
///
/// They are the ids of a project's points; those of the user's own are none of REQ-REFL-001's.
/// Only text counts: a string, or the text blocks of a list. What is not a message
/// is passed over.
pub fn extract_cited_ids(messages: &[Value]) -> Vec<Id> {
    let mut ids = Vec::new();
    let mut seen = HashSet::new();
    let mut note = |text: &str| {
        each(text, |id| {
            if !id.is_own() && seen.insert(id.clone()) {
                ids.push(id);
            }
        });
    };
    for message in messages.iter().filter(|m| m["role"] == "assistant") {
        match &message["content"] {
            Value::String(text) => note(text),
            Value::Array(blocks) => {
                for block in blocks {
                    let text = match block {
                        Value::String(text) => Some(text.as_str()),
                        _ if block["type"] == "text" => block["text"].as_str(),
                        _ => None,
                    };
                    text.into_iter().for_each(&mut note);
                }
            }
            _ => {}
        }
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn cited(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        each(text, |id| out.push(id.to_string()));
        out
    }

    #[rstest]
    #[case::the_users_own("[my-001] [My-1] [my_1]", &[])]
    #[case::all_slugs("[pat-1] [mis-22] [pref-333] [ctx-4] [oth-05] [kpt_006]", &["pat-1", "mis-22", "pref-333", "ctx-4", "oth-05", "kpt_006"])]
    #[case::nested("[[pat-001]] [a[mis-002]b]", &["pat-001", "mis-002"])]
    #[case::restarted("[pat-[pat-001]", &["pat-001"])]
    #[case::repeated("[pat-1][pat-1]", &["pat-1", "pat-1"])]
    #[case::other_shapes("[kpt-1] [pat_1] [PAT-1] [ pat-1] [pat-1a] [pat-] [pat-1, mis-2]", &[])]
    #[case::other_digits("[pat-٣] [pat-１]", &[])]
    #[case::cut_off("[pat-001", &[])]
    fn only_ids_in_brackets_are_citations(#[case] text: &str, #[case] ids: &[&str]) {
        assert_eq!(cited(text), ids);
    }
}
