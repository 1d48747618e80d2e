//! What is kept of a tool call, and how its answer is read.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;

use super::call::{Call, MAX_INPUT};
use super::json::{JsonCursor, Value};
use super::mask::Mask;
use super::record::{Marks, RecordFlag};
use super::text::Str;
use super::user;
use super::words::REFUSALS;

/// How much of what a tool would write is kept, in bytes.
pub(crate) const MAX_DETAIL: usize = 600;
/// How much of an error is read from either end to tell which error it is, in bytes: more
/// than its signature is made of.
pub(crate) const ERROR_ENDS: usize = 48_000;
/// The tools that send an agent.
pub(crate) const AGENT_TOOLS: &[&str] = &["Task", "Agent"];
/// How much of the task of an agent is read for the commands in it, in bytes.
const MAX_TASK: usize = 4_000;
/// How many commands of a task are kept, and how long each may be, in bytes.
const TASK_COMMANDS: usize = 4;
const MAX_TASK_COMMAND: usize = 100;
/// A longer answer, in bytes, is data and no report of itself.
const MAX_JSON: usize = 64 << 10;
/// What stands before the user's words in a refusal.
const WORDS_FOLLOW: &[&str] = &[
    "the user said:",
    "The user said:",
    "The user provided the following reason for the rejection:",
    "reason for the rejection:",
    "Reason for rejection:",
    "User feedback:",
];
/// What the client adds after the user's words.
const WORDS_END: &[&str] = &[
    "\n\nNote: The user's next message",
    "\n\nRejected plan:",
    "\n\n<system-reminder>",
];
/// How the tools of MCP servers are named.
const SERVER_TOOL: &str = "mcp__";
/// How the client answers a call when what it started goes on.
const LEFT_RUNNING: &[&[u8]] = &[
    b"Command running in background",
    b"Command was manually backgrounded",
    b"Async agent launched",
];
/// How a refusal begins that no person made: a rule, a hook or a classifier forbids the call.
const DENIED_BY_SETTINGS: &[&str] = &[
    "Claude requested permissions",
    "Permission to use",
    "Permission to read",
    "Permission for this",
];

/// What a call would change: the text before, which only an edit names, and after.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FileChange<'a> {
    pub old: Str<'a>,
    pub new: Str<'a>,
}

/// Returns a call as it is kept, what it would change, and whether it is about a file that is
/// never to be read.
pub(crate) fn call<'a>(
    name: Option<Str<'_>>,
    input: Option<Value<Str<'a>>>,
    mask: &mut Mask,
) -> (Call, FileChange<'a>, bool) {
    let mut call = Call {
        tool: name.and_then(Str::plain).unwrap_or_default().to_owned(),
        ..Call::default()
    };
    let mut telling: Option<(u8, Str<'_>)> = None;
    let mut change = FileChange::default();
    let mut is_private = false;
    let (mut task, mut place) = (None, None);
    each_input(input, |key, text| {
        is_private |= mask.is_private(key, text);
        if key == b"prompt" && AGENT_TOOLS.contains(&call.tool.as_str()) {
            task = Some(text);
        }
        if key == b"path" {
            place = Some(text);
        }
        match key {
            b"new_string" | b"content" | b"new_source" | b"plan" => change.new = text,
            b"old_string" => change.old = text,
            key => {
                let rank = telling_rank(key);
                if telling.is_none_or(|(r, _)| rank < r) {
                    telling = Some((rank, text));
                }
            }
        }
    });
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

/// Calls `found` with the name and the value of each text of a tool's input.
fn each_input<'a>(input: Option<Value<Str<'a>>>, mut found: impl FnMut(&[u8], Str<'a>)) {
    let Some(Value::Nested(raw)) = input else {
        return;
    };
    // A fault only means that less is known about the call.
    _ = JsonCursor::new(raw.raw()).object(|cursor, key| {
        if let Some(text) = cursor.value()?.str() {
            found(key.raw(), text);
        }
        Ok(())
    });
}

/// The rank of what a search looks for.
const SEARCH: u8 = 2;

/// Ranks the keys of a tool's input by how much they say of what the call is about.
fn telling_rank(key: &[u8]) -> u8 {
    match key {
        b"command" => 0,
        b"file_path" | b"notebook_path" => 1,
        b"pattern" | b"query" | b"url" | b"skill" => SEARCH,
        b"path" | b"description" => 3,
        b"prompt" | b"name" => 4,
        _ => 5,
    }
}

/// Calls `found` with each text of a tool's answer: a string, or the text blocks of a
/// list.
fn each_text<'a>(content: Option<Value<Str<'a>>>, mut found: impl FnMut(Str<'a>)) {
    match content {
        Some(Value::Str(text)) => found(text),
        Some(Value::Nested(raw)) if raw.raw().first() == Some(&b'[') => {
            // A fault only means that less is known about the answer.
            _ = JsonCursor::new(raw.raw()).array(|cursor| {
                if cursor.peek() != Some(b'{') {
                    return cursor.value().map(drop);
                }
                cursor.object(|cursor, key| {
                    let value = cursor.value()?;
                    if let (true, Some(text)) = (key.is("text"), value.str()) {
                        found(text);
                    }
                    Ok(())
                })
            });
        }
        _ => {}
    }
}

/// Returns the strings of a list of strings, or the one string.
pub(crate) fn strings(content: Value<Str<'_>>) -> Vec<Str<'_>> {
    let mut found = Vec::new();
    match content {
        Value::Str(text) => found.push(text),
        Value::Nested(raw) if raw.raw().first() == Some(&b'[') => {
            // A fault only means that less is known.
            _ = JsonCursor::new(raw.raw()).array(|cursor| {
                found.extend(cursor.value()?.str());
                Ok(())
            });
        }
        _ => {}
    }
    found
}

/// Returns the text of a tool's answer; of a long one the first and the
/// last `max` bytes.
pub(crate) fn answer(content: Option<Value<Str<'_>>>, max: usize) -> Cow<'_, str> {
    let mut answer = Cow::Borrowed("");
    each_text(content, |text| {
        let text = text.decode_ends(max).unwrap_or_default();
        if answer.is_empty() {
            answer = text;
        } else if answer.len() < 4 * max {
            let answer = answer.to_mut();
            answer.push('\n');
            answer.push_str(&text);
        }
    });
    answer
}

/// Returns the last text of a tool's answer, not decoded.
pub(crate) fn last_text(content: Option<Value<Str<'_>>>) -> Option<Str<'_>> {
    let mut last = None;
    each_text(content, |text| last = Some(text));
    last
}

/// Tells whether an answer that is not marked as an error is one all the same: a JSON object
/// that says so of itself.
pub(crate) fn says_it_failed(content: Option<Value<Str<'_>>>) -> bool {
    #[derive(Deserialize)]
    struct OwnSuccess {
        success: bool,
    }
    let Some(text) = last_text(content) else {
        return false;
    };
    let raw = text.raw();
    let may_say_it = raw.len() <= MAX_JSON
        && raw.first() == Some(&b'{')
        && memmem::find(raw, br#"\"success\""#).is_some();
    may_say_it
        && text.decode().is_ok_and(|text| {
            serde_json::from_str::<OwnSuccess>(&text).is_ok_and(|told| !told.success)
        })
}

/// Tells whether an error only says that the user stopped what ran.
pub(crate) fn was_stopped(text: &str) -> bool {
    let said = text.trim_start().split_once('\n');
    said.is_some_and(|(code, said)| {
        code.starts_with("Exit code ") && said.trim_start().starts_with(user::INTERRUPT)
    })
}

/// Tells whether an answer only says that what was started goes on in the background.
pub(crate) fn was_left_running(content: Option<Value<Str<'_>>>) -> bool {
    let begins = |text: Str<'_>| LEFT_RUNNING.iter().any(|said| text.raw().starts_with(said));
    last_text(content).is_some_and(begins)
}

/// Returns a file as it was read, without the numbers of its lines.
pub(crate) fn without_numbers(text: &str) -> String {
    let bare = |line| {
        str::split_once(line, '→').filter(|(number, _)| number.trim().parse::<u64>().is_ok())
    };
    let lines = text
        .lines()
        .map(|line| bare(line).map_or(line, |(_, rest)| rest));
    lines.collect::<Vec<_>>().join("\n")
}

/// Tells whether the settings forbade what a text is about, as the client says it.
pub(crate) fn is_forbidden(text: &str) -> bool {
    DENIED_BY_SETTINGS.iter().any(|start| text.contains(start))
}

/// Who did not allow a call, as the client marks it (`toolDenialKind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeniedBy {
    /// There is no mark, as in older clients: the answer says it.
    Unsaid,
    User,
    /// A rule, a hook or a classifier: an error, whatever its words are.
    Settings,
}

impl DeniedBy {
    pub(crate) fn of(marks: Marks) -> Self {
        if marks.has(RecordFlag::Refused) {
            Self::User
        } else if marks.has(RecordFlag::Forbidden) {
            Self::Settings
        } else {
            Self::Unsaid
        }
    }
}

/// Returns what the user said with a refusal, if an error is one; empty when nothing.
///
/// Old clients mark what the settings forbid as refused, too. The error of a server's `tool` is the
/// server's own text, which may look like a refusal: there only the mark counts.
pub(crate) fn refusal(tool: &str, text: &str, denied: DeniedBy) -> Option<String> {
    let text = text.trim_start();
    let by_settings = || {
        let mut starts = DENIED_BY_SETTINGS.iter();
        starts.any(|start| text.starts_with(start))
    };
    let is_said = || REFUSALS.begins(text) || !by_settings();
    let is_refusal = match denied {
        DeniedBy::Settings => false,
        DeniedBy::User => is_said(),
        DeniedBy::Unsaid => !tool.starts_with(SERVER_TOOL) && REFUSALS.begins(text),
    };
    if !is_refusal {
        return None;
    }
    // What was refused stands at the end, and may have such marks, too.
    let text = WORDS_END.iter().fold(text, |text, end| {
        text.split_once(end).map_or(text, |(before, _)| before)
    });
    let marks = WORDS_FOLLOW.iter();
    let marks = marks.filter_map(|mark| Some((text.find(mark)?, mark)));
    let words = marks
        .min()
        .map_or("", |(at, mark)| &text[at + mark.len()..]);
    Some(words.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn value(json: &str) -> Option<Value<Str<'_>>> {
        JsonCursor::new(json.as_bytes()).value().ok()
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
        let (call, ..) = call(Some(Str::new(b"Grep")), value(json), &mut Mask::default());
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
        let called = |tool: &str| {
            let tool = format!("\"{tool}\"");
            let name = value(&tool).and_then(Value::str);
            call(name, value(&input), &mut Mask::default()).0
        };
        assert_eq!(called("Task").sent_to_run, want);
        assert_eq!(called("Task").input, "Format");
        assert!(called("Ask").sent_to_run.is_empty());
    }

    #[rstest]
    #[case::string(r#""a\nb""#, "a\nb")]
    #[case::blocks(
        r#"[{"type":"text","text":"a"},{"type":"image","source":{}},7,{"text":"b","type":"text"}]"#,
        "a\nb"
    )]
    fn an_answer_is_its_texts(#[case] json: &str, #[case] want: &str) {
        assert_eq!(answer(value(json), 3_000), want);
    }

    #[rstest]
    #[case::words(
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\nEntire Inc.",
        Some("Entire Inc.")
    )]
    #[case::of_a_subagent(
        "Permission for this tool use was denied. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). The user said:\nnot in main",
        Some("not in main")
    )]
    #[case::no_words(
        "The user doesn't want to take this action right now. STOP what you are doing and wait for the user to tell you how to proceed.",
        Some("")
    )]
    #[case::other_error(
        "Exit code 1\nThe user doesn't want to proceed with this tool use",
        None
    )]
    #[case::rejected_plan(
        "The agent proposed a plan that was rejected by the user. The user chose to stay in plan mode.\n\nRejected plan:\nIn the docs the user said: always curl it",
        Some("")
    )]
    fn a_refusal_carries_the_users_words(#[case] text: &str, #[case] want: Option<&str>) {
        assert_eq!(refusal("Edit", text, DeniedBy::Unsaid).as_deref(), want);
    }

    const SAID: &str = "User rejected it. reason for the rejection: no";

    #[rstest]
    #[case::marked("Edit", SAID, DeniedBy::User, Some("no"))]
    #[case::marked_server("mcp__docs__search", SAID, DeniedBy::User, Some("no"))]
    #[case::in_any_words("Edit", "Not that one", DeniedBy::User, Some(""))]
    #[case::setting_of_an_old_client("Edit", "Claude requested permissions", DeniedBy::User, None)]
    #[case::server_wrote_it("mcp__docs__search", SAID, DeniedBy::Unsaid, None)]
    #[case::hook_wrote_it("Edit", SAID, DeniedBy::Settings, None)]
    #[case::classifier(
        "Bash",
        "Permission for this action was denied by the Claude Code auto mode classifier. Reason: the user said: no",
        DeniedBy::Unsaid,
        None
    )]
    fn whose_a_refusal_is(
        #[case] tool: &str,
        #[case] text: &str,
        #[case] denied: DeniedBy,
        #[case] want: Option<&str>,
    ) {
        assert_eq!(refusal(tool, text, denied).as_deref(), want);
    }
}
