//! Citations: the ids of key points that an assistant names in brackets.
//!
//! `\[((?:pat|mis|pref|ctx|oth)-\d+|kpt_\d+)\]` with ASCII digits (REQ-REFL-001), found by
//! looking only at the bytes after a `[`. Those of the user's own points are left out.

use std::collections::HashSet;

use serde_json::Value;

use crate::playbook::Id;

/// The number of citations of one text that are kept.
const MAX_CITES: usize = 2_000;

/// Returns each id cited in `text`, in order, repeated ones included.
fn all(text: &str) -> impl Iterator<Item = Id> {
    memchr::memchr_iter(b'[', text.as_bytes()).filter_map(|open| {
        let rest = &text[open + 1..];
        let is_in_id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let after = rest.trim_start_matches(is_in_id);
        let id = &rest[..rest.len() - after.len()];
        let id = after.starts_with(']').then(|| Id::parse(id)).flatten();
        id.filter(|id| !id.is_own())
    })
}

/// Returns the key points that a text cites, each once.
pub(crate) fn cites(text: &str) -> Vec<Id> {
    let mut seen = HashSet::new();
    let new = all(text).filter(|id| seen.insert(id.clone()));
    new.take(MAX_CITES).collect()
}

/// Returns the ids cited by the assistant in `messages`, each once, in order of first
/// appearance (REQ-REFL-001, INV-REFL-001).
///
/// They are the ids of a project's points; those of the user's own are none of REQ-REFL-001's.
/// Only text counts: a string, or the text blocks of a list. What is not a message
/// is passed over.
pub fn extract_cited_ids(messages: &[Value]) -> Vec<Id> {
    let mut texts = Vec::new();
    for message in messages.iter().filter(|m| m["role"] == "assistant") {
        match &message["content"] {
            Value::String(text) => texts.push(text.as_str()),
            Value::Array(blocks) => texts.extend(blocks.iter().filter_map(|block| match block {
                Value::String(text) => Some(text.as_str()),
                _ if block["type"] == "text" => block["text"].as_str(),
                _ => None,
            })),
            _ => {}
        }
    }
    let mut seen = HashSet::new();
    let cited = texts.into_iter().flat_map(all);
    cited.filter(|id| seen.insert(id.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn cited(text: &str) -> Vec<String> {
        all(text).map(|id| id.to_string()).collect()
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
