//! What is kept of a tool call.

use std::borrow::Cow;

use super::errors::MAX_INPUT;
use super::event::Call;
use super::json::{self, Raw};
use super::mask::Mask;

/// The part of what a tool would write that is kept, in bytes.
pub(crate) const MAX_DETAIL: usize = 600;
/// The tools that send an agent.
pub(crate) const AGENT_TOOLS: &[&str] = &["Task", "Agent"];
/// The keys of the texts before and after a change; a plan is what it would write.
const OLD: &str = "old_string";
const NEW: [&str; 4] = ["plan", "new_string", "new_source", "content"];

/// What a call would change: the text before, which only an edit names, and after.
pub(crate) type FileChange<'a> = [Cow<'a, str>; 2];

/// Returns a call as it is kept, what it would change, and whether it is about a file that is
/// never to be read.
pub(crate) fn call<'a>(
    name: &str,
    input: Raw<'a>,
    mask: &mut Mask,
) -> (Call, FileChange<'a>, bool) {
    let mut texts = json::texts(input);
    let is_private = texts.iter().any(|(key, text)| mask.is_private(key, text));
    let old = texts.remove(OLD).unwrap_or_default();
    let new = NEW
        .map(|key| texts.remove(key))
        .into_iter()
        .flatten()
        .next();
    let mut call = Call {
        tool: name.to_owned(),
        ..Call::default()
    };
    let mut kept = |text: &str| mask.head(text, MAX_INPUT).trim().to_owned();
    if let Some((key, text)) = texts.iter().min_by_key(|(key, _)| telling_rank(key)) {
        call.input = kept(text);
        if let Some(place) = texts.get("path").filter(|_| telling_rank(key) == SEARCH) {
            call.looked_in = kept(place);
        }
    }
    (call, [old, new.unwrap_or_default()], is_private)
}

/// The rank of what a search looks for.
const SEARCH: u8 = 2;

/// Ranks the keys of a tool's input by how much they say of what the call is about.
fn telling_rank(key: &str) -> u8 {
    match key {
        "command" => 0,
        "file_path" | "notebook_path" => 1,
        "pattern" | "query" | "url" | "skill" => SEARCH,
        "path" | "description" => 3,
        "prompt" | "name" => 4,
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn value(json: &str) -> Raw<'_> {
        serde_json::from_str(json).unwrap()
    }

    #[rstest]
    #[case::command(r#"{"description":"list","command":"ls -l"}"#, "ls -l")]
    #[case::file(r#"{"old_string":"a","file_path":"/a.rs"}"#, "/a.rs")]
    #[case::no_text(r#"{"n":1}"#, "")]
    fn a_call_is_known_by_its_telling_input(#[case] json: &str, #[case] want: &str) {
        assert_eq!(call("", value(json), &mut Mask::default()).0.input, want);
    }

    #[rstest]
    #[case::search(r#"{"path":"/w/src","pattern":"close"}"#, ("close", "/w/src"))]
    #[case::everywhere(r#"{"pattern":"close"}"#, ("close", ""))]
    #[case::list(r#"{"path":"/w/src"}"#, ("/w/src", ""))]
    #[case::file(r#"{"path":"/w","file_path":"/w/a.rs"}"#, ("/w/a.rs", ""))]
    fn of_a_search_is_kept_where_it_looks(#[case] json: &str, #[case] want: (&str, &str)) {
        let (call, ..) = call("Grep", value(json), &mut Mask::default());
        assert_eq!((call.input.as_str(), call.looked_in.as_str()), want);
    }
}
