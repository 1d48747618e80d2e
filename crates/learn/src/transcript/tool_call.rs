//! What is kept of a tool call.

use super::call::{Call, MAX_INPUT};
use super::json::{self, Raw, Str};
use super::mask::Mask;

/// How much of what a tool would write is kept, in bytes.
pub(crate) const MAX_DETAIL: usize = 600;
/// The tools that send an agent.
pub(crate) const AGENT_TOOLS: &[&str] = &["Task", "Agent"];

/// What a call would change: the text before, which only an edit names, and after.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FileChange<'a> {
    pub old: Str<'a>,
    pub new: Str<'a>,
}

/// Returns a call as it is kept, what it would change, and whether it is about a file that is
/// never to be read.
pub(crate) fn call<'a>(
    name: Option<&str>,
    input: Raw<'a>,
    mask: &mut Mask,
) -> (Call, FileChange<'a>, bool) {
    let mut call = Call {
        tool: name.unwrap_or_default().to_owned(),
        ..Call::default()
    };
    let mut telling: Option<(u8, Str<'_>)> = None;
    let mut change = FileChange::default();
    let mut is_private = false;
    let mut place = None;
    let mut see = |key: &str, text: Str<'a>| {
        is_private |= mask.is_private(key, text);
        if key == "path" {
            place = Some(text);
        }
        match key {
            "new_string" | "content" | "new_source" | "plan" => change.new = text,
            "old_string" => change.old = text,
            key => {
                let rank = telling_rank(key);
                if telling.is_none_or(|(r, _)| rank < r) {
                    telling = Some((rank, text));
                }
            }
        }
    };
    for (key, value) in input.map(json::fields).unwrap_or_default() {
        if let Some(text) = Str::of(value) {
            see(&key, text);
        }
    }
    if let Some((rank, text)) = telling {
        let head = mask.head(text, MAX_INPUT);
        head.trim().clone_into(&mut call.input);
        if let Some(place) = place.filter(|_| rank == SEARCH) {
            let head = mask.head(place, MAX_INPUT);
            head.trim().clone_into(&mut call.looked_in);
        }
    }
    (call, change, is_private)
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
        assert_eq!(call(None, value(json), &mut Mask::default()).0.input, want);
    }

    #[rstest]
    #[case::search(r#"{"path":"/w/src","pattern":"close"}"#, ("close", "/w/src"))]
    #[case::everywhere(r#"{"pattern":"close"}"#, ("close", ""))]
    #[case::list(r#"{"path":"/w/src"}"#, ("/w/src", ""))]
    #[case::file(r#"{"path":"/w","file_path":"/w/a.rs"}"#, ("/w/a.rs", ""))]
    fn of_a_search_is_kept_where_it_looks(#[case] json: &str, #[case] want: (&str, &str)) {
        let (call, ..) = call(Some("Grep"), value(json), &mut Mask::default());
        assert_eq!((call.input.as_str(), call.looked_in.as_str()), want);
    }
}
