//! What is kept of a tool call.

use super::call::{Call, MAX_INPUT};
use super::json::{Raw, Str, each_field};
use super::mask::Mask;

/// How much of what a tool would write is kept, in bytes.
pub(crate) const MAX_DETAIL: usize = 600;
/// The tools that send an agent.
pub(crate) const AGENT_TOOLS: &[&str] = &["Task", "Agent"];
/// How much of the task of an agent is read for the commands in it, in bytes.
const MAX_TASK: usize = 4_000;
/// How many commands of a task are kept, and how long each may be, in bytes.
const TASK_COMMANDS: usize = 4;
const MAX_TASK_COMMAND: usize = 100;

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
    let (mut task, mut place) = (None, None);
    let mut see = |key: &str, text: Str<'a>| {
        is_private |= mask.is_private(key, text);
        if key == "prompt" && AGENT_TOOLS.contains(&call.tool.as_str()) {
            task = Some(text);
        }
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
    if let Some(input) = input {
        each_field(input, |key, value| {
            if let Some(text) = Str::of(value) {
                see(key, text);
            }
        });
    }
    if let Some((rank, text)) = telling {
        let head = mask.head(text, MAX_INPUT);
        head.trim().clone_into(&mut call.input);
        if let Some(place) = place.filter(|_| rank == SEARCH) {
            let head = mask.head(place, MAX_INPUT);
            head.trim().clone_into(&mut call.looked_in);
        }
    }
    if let Some(task) = task {
        let task = mask.head(task, MAX_TASK);
        let commands = commands_of(&task).take(TASK_COMMANDS);
        call.sent_to_run = commands.map(str::to_owned).collect();
    }
    (call, change, is_private)
}

/// Returns the commands that the task of an agent says are to be run: what stands in backticks
/// behind "run", or alone in a line or an item of a list. What it quotes besides is none.
fn commands_of(task: &str) -> impl Iterator<Item = &str> {
    task.lines().flat_map(|line| {
        let mut found = Vec::new();
        let mut rest = line;
        let mut is_order = true;
        while let Some((before, span, after)) = quoted(rest) {
            let before = before.trim().trim_end_matches(':').to_lowercase();
            let mark = |c: char| c.is_ascii_digit() || "-*.)".contains(c);
            let last = before.split_whitespace().last().unwrap_or_default();
            let mut words = before.split_whitespace();
            let is_forbidden = words.any(|word| ["not", "never", "don't"].contains(&word));
            is_order = match last {
                _ if is_forbidden => false,
                "run" | "execute" | "rerun" => true,
                // As the ones before it.
                "and" | "then" | "," => is_order,
                _ => before.chars().all(mark) && rest.len() == line.len(),
            };
            if is_order && is_command(span) {
                found.push(span.trim());
            }
            rest = after;
        }
        found
    })
}

fn quoted(line: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = line.split_once('`')?;
    let (span, after) = rest.split_once('`')?;
    Some((before, span, after))
}

/// Tells whether a text may be a program with its arguments.
fn is_command(text: &str) -> bool {
    let is_part = |b: u8| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/');
    let program = text.trim().split_once(' ').map(|(program, _)| program);
    text.len() <= MAX_TASK_COMMAND && program.is_some_and(|program| program.bytes().all(is_part))
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

    #[rstest]
    #[case::behind_run("Run `make format`, then `make prettier -- docs` and report.", &["make format", "make prettier -- docs"])]
    #[case::items("Run these:\n1. `make lint`\n- `ruff check src`", &["make lint", "ruff check src"])]
    #[case::quoted("The page says: use `make release` for it. Is that so?", &[])]
    #[case::forbidden("Run `make lint -k` and do NOT run `make format -a`.", &["make lint -k"])]
    #[case::quoted_order("It asks to `skip linting when in a hurry`.", &[])]
    #[case::identifiers("Run it after `Node(...)`, `A b` and look for `retrack_branch`.", &[])]
    #[case::open("Don`t run lint checks", &[])]
    #[case::secret("Run `curl -H ghp_0123456789abcdefghijABCDEFGHIJ012345 x`", &["curl -H [masked github-token] x"])]
    fn what_an_agent_is_sent_to_run_is_kept_masked(#[case] prompt: &str, #[case] want: &[&str]) {
        let input = serde_json::json!({"prompt": prompt, "description": "Format"}).to_string();
        let called = |tool: &str| call(Some(tool), value(&input), &mut Mask::default()).0;
        assert_eq!(called("Task").sent_to_run, want);
        assert_eq!(called("Task").input, "Format");
        assert!(called("Ask").sent_to_run.is_empty());
    }
}
