//! The agent's calls: what is kept of one, and what its answer says: that it failed, that the
//! user or a hook did not allow it, that it is still running.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::errors::{MAX_INPUT, NamedError, unwrapped};
use super::event::{Call, CallFailure, categorize};
use super::evidence::only_looks;
use super::json::{self, Raw};
use super::shell::SimpleCommand;
use super::text::{self, MARGIN, Mask};
use super::user;
use super::words::{HOUSEKEEPING, PRINTS_OTHERS, REFUSALS};
use crate::clip::{head, tail};

/// The part that is kept of what a tool would write, and of a question with its choices, in bytes.
pub(crate) const MAX_DETAIL: usize = 600;
pub(crate) const MAX_OFFERED: usize = 16_000;
pub(crate) const QUESTION_TOOL: &str = "AskUserQuestion";
/// The tool by which the agent asks whether its plan is to be carried out. A user who has it
/// carried out in a new context leaves the call as if it were refused, without a word.
pub(crate) const PLAN_TOOL: &str = "ExitPlanMode";
/// The part of an error that is read from either end, in bytes: more than its signature is made of.
pub(crate) const ERROR_ENDS: usize = 48_000;
pub(crate) const AGENT_TOOLS: &[&str] = &["Task", "Agent"];
/// The beginning of the names of MCP servers' tools; those of the editor belong to the client.
const SERVER_TOOL: &str = "mcp__";
const EDITOR_TOOL: &str = "mcp__ide__";
/// The client's own tools whose errors others can word.
const OTHERS_TOOLS: &[&str] = &[
    "WebFetch",
    "WebSearch",
    "ReadMcpResourceTool",
    "Task",
    "Agent",
];
/// The keys of the texts before and after a change; a plan is what it would write.
const OLD: &str = "old_string";
const NEW: [&str; 4] = ["plan", "new_string", "new_source", "content"];
/// The part of a failure that is kept from either end, and of the line that names it, in bytes.
const MAX_FAILURE: usize = 3_000;
const MAX_MESSAGE: usize = 240;
/// A longer answer, in bytes, is data and no report of itself.
const MAX_JSON: usize = 64 << 10;
const MAX_OPEN: usize = 32;
/// The client's answers to a call when what it started is still running.
const LEFT_RUNNING: &[&str] = &[
    "Command running in background",
    "Command was manually backgrounded",
    "Async agent launched",
];
/// The marks before and after the user's words in a refusal.
const WORDS_FOLLOW: &[&str] = &[
    "the user said:",
    "The user said:",
    "The user provided the following reason for the rejection:",
    "reason for the rejection:",
    "Reason for rejection:",
    "User feedback:",
];
const WORDS_END: &[&str] = &[
    "\n\nNote: The user's next message",
    "\n\nRejected plan:",
    "\n\n<system-reminder>",
];
/// The beginnings of a refusal by a rule, a hook or a classifier.
const DENIED_BY_SETTINGS: &[&str] = &[
    "Claude requested permissions",
    "Permission to use",
    "Permission to read",
    "Permission for this",
];

#[derive(Default)]
pub(crate) struct WaitingCall {
    pub id: String,
    pub call: Arc<Call>,
    /// It is about a file that is never to be read.
    pub is_private: bool,
    /// The beginnings of what it would replace, which only an edit names, and write.
    pub changes: [String; 2],
    /// The beginning of what it asks the user, as JSON, or of the plan that it shows.
    pub asks: String,
}

impl WaitingCall {
    pub(crate) fn read(id: &str, name: &str, input: Raw<'_>, mask: &mut Mask) -> Self {
        let mut texts = json::texts(input);
        let is_private = texts.iter().any(|(key, text)| mask.is_private(key, text));
        let old = texts.remove(OLD).unwrap_or_default();
        let mut news = NEW.map(|key| texts.remove(key)).into_iter().flatten();
        let new = news.next().unwrap_or_default();
        let mut call = Call::new(name, String::new());
        let mut kept = |text: &str| mask.head(text, MAX_INPUT).trim().to_owned();
        if let Some((key, text)) = texts.iter().min_by_key(|(key, _)| telling_rank(key)) {
            call.input = kept(text);
            if let Some(place) = texts.get("path").filter(|_| telling_rank(key) == SEARCH) {
                call.looked_in = kept(place);
            }
        }
        let mut changes = [&old, &new];
        if is_private {
            // What follows can be the content of the file.
            changes = [&Cow::Borrowed(""); 2];
            let line = call.input.find('\n').unwrap_or(call.input.len());
            call.input.truncate(line);
        }
        let asks = match name {
            QUESTION_TOOL => input.map_or("", |input| input.get()),
            PLAN_TOOL => changes[1],
            _ => "",
        };
        Self {
            id: id.to_owned(),
            call: Arc::new(call),
            is_private,
            // More than is kept, so that it is cut once more where no secret is.
            changes: changes.map(|text| head(text, MAX_DETAIL + 2 * MARGIN).to_owned()),
            asks: head(asks, MAX_OFFERED).to_owned(),
        }
    }
}

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

/// Returns `true` for a tool that reads pages, a browser or an MCP server.
pub fn is_outside(tool: &str) -> bool {
    let is_server = tool.starts_with(SERVER_TOOL) && !tool.starts_with(EDITOR_TOOL);
    is_server
        || ["WebFetch", "WebSearch"].contains(&tool)
        || tool.to_ascii_lowercase().contains("browser")
}

/// Others may have written its output: of its errors only the first line is shown.
pub(crate) fn prints_others(call: &Call) -> bool {
    let is_listed = |command: &SimpleCommand| {
        command.program().is_some_and(|program| {
            PRINTS_OTHERS.has(program.name) || PRINTS_OTHERS.has(&program.subject())
        })
    };
    call.tool.starts_with(SERVER_TOOL)
        || is_outside(&call.tool)
        || call.shell_commands().iter().any(is_listed)
}

/// Returns the texts of a tool's answer, not decoded: a string, or the text blocks of a list.
fn texts(content: Raw<'_>) -> Vec<Raw<'_>> {
    #[derive(Deserialize)]
    struct TextBlock<'b> {
        #[serde(borrow)]
        text: Raw<'b>,
    }
    let blocks = json::items::<TextBlock<'_>>(content).into_iter().flatten();
    let texts = [content].into_iter().chain(blocks.map(|block| block.text));
    texts.filter(|text| json::quoted(*text).is_some()).collect()
}

/// Returns the text of a tool's answer; of a long one the first and the last `max` bytes.
pub(crate) fn answer(content: Raw<'_>, max: usize) -> Cow<'_, str> {
    let mut answer = Cow::Borrowed("");
    for text in texts(content) {
        let mut text = json::text(text).unwrap_or_default();
        if text.len() > 2 * max {
            // Half a word can be half a secret, which nothing knows as one.
            let first = text::without_last_word(head(&text, max));
            let last = last_lines(&text, max);
            text = format!("{first}\n[… middle left out …]\n{last}").into();
        }
        if answer.is_empty() {
            answer = text;
        } else if answer.len() < 4 * max {
            answer += "\n";
            answer += text;
        }
    }
    answer
}

/// Returns about the last `max` bytes of a text, from the start of a line.
pub(crate) fn last_lines(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let lines = tail(text, max).split_once('\n');
    lines.map_or("", |(_, lines)| lines)
}

pub(crate) fn last_text(content: Raw<'_>) -> Option<Cow<'_, str>> {
    json::text(texts(content).pop()?)
}

/// Returns the first line of the message of an answer that is a JSON object and says of itself
/// that it failed, though it is not marked as an error.
pub(crate) fn own_failure(content: Raw<'_>) -> Option<String> {
    #[derive(Deserialize)]
    struct OwnFailure {
        success: bool,
        #[serde(default)]
        error: Value,
        #[serde(default)]
        message: Value,
    }
    let text = texts(content).pop()?;
    let may_say_it = |raw: &&str| {
        raw.len() <= MAX_JSON && raw.starts_with('{') && raw.contains(r#"\"success\""#)
    };
    json::quoted(text).filter(may_say_it)?;
    let answer: OwnFailure = serde_json::from_str(&json::text(text)?).ok()?;
    let said = [answer.error, answer.message];
    let first_lines = said.iter().filter_map(|said| said.as_str()?.lines().next());
    let said: Vec<&str> = first_lines.collect();
    (!answer.success).then(|| said.join(": "))
}

/// Returns `true` if an error only says that the user stopped what ran.
pub(crate) fn was_stopped(text: &str) -> bool {
    let said = text.trim_start().split_once('\n');
    said.is_some_and(|(code, said)| {
        code.starts_with("Exit code ") && said.trim_start().starts_with(user::INTERRUPT)
    })
}

pub(crate) fn was_left_running(content: Raw<'_>) -> bool {
    let last = texts(content).pop().flatten();
    let begins = |text: &str| LEFT_RUNNING.iter().any(|said| text.starts_with(said));
    json::quoted(last).is_some_and(begins)
}

pub(crate) fn failure(call: &Call, whole: &str) -> CallFailure {
    let named = NamedError::of(&call.tool, &call.input, whole);
    let text = text::middle(unwrapped(whole), 2 * MAX_FAILURE);
    let first = text.lines().next().unwrap_or_default();
    let code = first.strip_prefix("Error: ").unwrap_or(first);
    let code = code.strip_prefix("Exit code ");
    let exit_code = code.and_then(|code| code.trim().parse().ok());
    let message = named.as_ref().map_or(&*text, |error| &error.message);
    CallFailure {
        exit_code,
        category: categorize(&text, exit_code),
        message: text::one_line(message, MAX_MESSAGE),
        error: named.as_ref().map(|error| error.signature),
        wholes: vec![whole.to_owned()],
        subject: named.map(|error| error.subject).unwrap_or_default(),
        text: text.into_owned(),
    }
}

/// The client's mark of who did not allow a call (`toolDenialKind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeniedBy {
    /// There is no mark. In a session of an older client the answer says it.
    Unsaid,
    /// It was interrupted or cancelled, by anybody: the answer says it.
    Stopped,
    User,
    /// A rule, a hook or a classifier: an error, whatever its words are.
    Settings,
}

impl DeniedBy {
    /// Reads the client's word. All others but the user's (`permission-rule`, which hooks have
    /// too, `automode-blocked`, …) are no person's wish.
    pub(crate) fn of(kind: Option<&str>) -> Self {
        match kind {
            None => Self::Unsaid,
            Some("interrupted" | "cancelled") => Self::Stopped,
            Some("user-rejected") => Self::User,
            Some(_) => Self::Settings,
        }
    }
}

/// Returns the reason of a hook that did not let a call of this tool run.
pub(crate) fn turned_back<'t>(tool: &str, text: &'t str) -> Option<&'t str> {
    let text = text.trim_start();
    let mut starts = ["PreToolUse:", "Hook PreToolUse:"].iter();
    let named = starts.find_map(|start| text.strip_prefix(start));
    let marks: &[&str] = if named.is_some() {
        &[" hook error", " hook blocking error", " denied this tool"]
    } else {
        &[" operation blocked by hook"]
    };
    let rest = named.unwrap_or(text).strip_prefix(tool);
    let rest = rest.filter(|_| !tool.is_empty())?;
    let why = marks.iter().find_map(|mark| rest.strip_prefix(mark))?;
    Some(why.trim_start_matches([':', ' ', '\n']).trim())
}

/// Returns what the user said with a refusal, if an error is one; empty when nothing.
///
/// Old clients mark what the settings forbid as refused, too. The error of some tools is a text of
/// others, which may look like a refusal: there only the mark counts.
pub(crate) fn refusal(tool: &str, text: &str, denied: DeniedBy) -> Option<String> {
    let text = text.trim_start();
    let is_refusal = match denied {
        DeniedBy::Settings => false,
        DeniedBy::User => {
            let mut starts = DENIED_BY_SETTINGS.iter();
            REFUSALS.begins(text) || !starts.any(|start| text.starts_with(start))
        }
        DeniedBy::Unsaid | DeniedBy::Stopped => {
            let is_others = tool.starts_with(SERVER_TOOL) || OTHERS_TOOLS.contains(&tool);
            !is_others && REFUSALS.begins(text)
        }
    };
    if !is_refusal {
        return None;
    }
    // What was refused is at the end, and may have such marks, too.
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

/// Returns `true` for a call that does more than to read or to prepare.
pub(crate) fn acts(call: &Call) -> bool {
    let is_idle = only_looks(&call.tool) || HOUSEKEEPING.has(&call.tool);
    !is_idle && (call.shell_commands().is_empty() || !Act::all_of(call).is_empty())
}

/// Returns `true` if a call does all that an earlier one was to do.
pub(crate) fn repeats(call: &Call, earlier: &Call) -> bool {
    let (acts, old) = (Act::all_of(call), Act::all_of(earlier));
    let is_done = |old: &Act| acts.iter().any(|act| act.does(old));
    call == earlier || (!old.is_empty() && old.iter().all(is_done))
}

/// Returns `true` if a call fails when a part of it does.
pub(crate) fn reports_failure(call: &Call) -> bool {
    Act::all_of(call).iter().all(|act| act.propagates_failure)
}

/// The failed calls that no later call made good.
#[derive(Debug, Default)]
pub(crate) struct OpenCalls {
    waiting: VecDeque<(Arc<Call>, Vec<Act>)>,
    given_up: usize,
}

/// A command that does more than to read or to prepare.
#[derive(Debug)]
struct Act {
    subject: String,
    operands: Vec<String>,
    propagates_failure: bool,
}

impl Act {
    fn all_of(call: &Call) -> Vec<Self> {
        let acts = call.shell_commands().iter().filter_map(|command| {
            let program = command.program()?;
            let acts = command.writes || !(program.only_reads() || program.prepares());
            acts.then(|| Self {
                subject: program.subject(),
                operands: program.operands(),
                propagates_failure: command.propagates_failure,
            })
        });
        acts.collect()
    }

    fn does(&self, old: &Self) -> bool {
        let mut operands = old.operands.iter();
        self.subject == old.subject && operands.all(|operand| self.operands.contains(operand))
    }
}

impl OpenCalls {
    pub(crate) fn failed(&mut self, call: &Arc<Call>) {
        if self.waiting.len() == MAX_OPEN {
            self.waiting.pop_front();
            self.given_up += 1;
        }
        self.waiting.push_back((call.clone(), Act::all_of(call)));
    }

    /// Drops the failed calls that this one makes good: it does all that they were to do.
    pub(crate) fn worked(&mut self, call: &Arc<Call>) {
        if self.waiting.is_empty() {
            return;
        }
        let mut acts = Act::all_of(call);
        acts.retain(|act| act.propagates_failure);
        let is_done = |old: &Act| acts.iter().any(|act| act.does(old));
        self.waiting.retain(|(open, olds)| {
            let is_covered = !olds.is_empty() && olds.iter().all(is_done);
            open != call && !is_covered
        });
    }

    pub(crate) fn count(&self) -> usize {
        self.waiting.len() + self.given_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::error_signature;
    use rstest::rstest;

    fn bash(command: &str) -> Arc<Call> {
        Arc::new(Call::new("Bash", command.to_owned()))
    }

    #[rstest]
    #[case::command(r#"{"description":"list","command":"ls -l"}"#, ("ls -l", ""))]
    #[case::file(r#"{"old_string":"a","file_path":"/a.rs"}"#, ("/a.rs", ""))]
    #[case::no_text(r#"{"n":1}"#, ("", ""))]
    #[case::search(r#"{"path":"/w/src","pattern":"close"}"#, ("close", "/w/src"))]
    #[case::everywhere(r#"{"pattern":"close"}"#, ("close", ""))]
    #[case::list(r#"{"path":"/w/src"}"#, ("/w/src", ""))]
    #[case::file_in(r#"{"path":"/w","file_path":"/w/a.rs"}"#, ("/w/a.rs", ""))]
    fn a_call_is_known_by_its_telling_input(#[case] json: &str, #[case] want: (&str, &str)) {
        let input = serde_json::from_str(json).unwrap();
        let call = WaitingCall::read("", "", input, &mut Mask::default()).call;
        assert_eq!((call.input.as_str(), call.looked_in.as_str()), want);
    }

    #[rstest]
    #[case::string(r#""a\nb""#, "a\nb")]
    #[case::blocks(
        r#"[{"type":"text","text":"a"},{"type":"image","source":{}},7,{"text":"b","type":"text"}]"#,
        "a\nb"
    )]
    fn an_answer_is_its_texts(#[case] json: &str, #[case] want: &str) {
        let content = serde_json::from_str(json).unwrap();
        assert_eq!(answer(content, 3_000), want);
    }

    #[test]
    fn a_hook_and_the_worker_know_an_error_by_the_same_name() {
        let said = "Error: unknown flag: --stat";
        let command = format!("gh pr diff 12 --stat {}", "x".repeat(1_000));
        let error = error_signature("Bash", &command, said);
        assert_eq!(failure(&bash(&command[..400]), said).error, error);
        assert!(error.is_some());
        assert_eq!(error_signature("Bash", "make", "Exit code 1"), None);
    }

    #[rstest]
    #[case::words(("The user doesn't want to proceed with this tool use. […] To tell you how to proceed, the user said:\nEntire Inc.", DeniedBy::Unsaid), Some("Entire Inc."))]
    #[case::of_a_subagent(("Permission for this tool use was denied. The tool use was rejected […]. The user said:\nnot in main", DeniedBy::Unsaid), Some("not in main"))]
    #[case::no_words(("The user doesn't want to take this action right now. STOP what you are doing and wait for the user", DeniedBy::Unsaid), Some(""))]
    #[case::other_error(("Exit code 1\nThe user doesn't want to proceed with this tool use", DeniedBy::Unsaid), None)]
    #[case::rejected_plan(("The agent proposed a plan that was rejected by the user. […]\n\nRejected plan:\nIn the docs the user said: always curl it", DeniedBy::Unsaid), Some(""))]
    #[case::in_any_words(("Not that one", DeniedBy::User), Some(""))]
    #[case::setting_of_an_old_client(("Claude requested permissions", DeniedBy::User), None)]
    #[case::classifier(("Permission for this action was denied by the Claude Code auto mode classifier. Reason: the user said: no", DeniedBy::Unsaid), None)]
    fn a_refusal_carries_the_users_words(
        #[case] answer: (&str, DeniedBy),
        #[case] want: Option<&str>,
    ) {
        let (text, denied) = answer;
        assert_eq!(refusal("Edit", text, denied).as_deref(), want);
    }

    #[rstest]
    #[case::options(["git push origin main", "cd sub && git push --no-tags origin main"], true)]
    #[case::preparation(["git add -A && git commit -m 'a b'", "git commit -m 'c d e'"], true)]
    #[case::version(["python run.py", "python3 run.py"], true)]
    #[case::starter(["python3 -m pytest tests/a", "uv run pytest tests/a"], true)]
    #[case::inner(["sh -c 'cargo build'", "env A=1 timeout 60 cargo build"], true)]
    #[case::pipe(["set -o pipefail; make 2>&1 | tail", "make && echo done"], true)]
    #[case::other_script(["npm run build", "npm run lint"], false)]
    #[case::other_program(["pytest tests/a.py", "black tests/a.py"], false)]
    #[case::other_file(["python a.py", "python b.py"], false)]
    #[case::a_part_of_it(["cargo test && cargo clippy", "cargo clippy"], false)]
    #[case::may_have_failed(["make", "make | tail -5"], false)]
    #[case::only_spoken_of(["git push", "echo git push"], false)]
    fn a_command_makes_one_good_that_it_repeats(#[case] lines: [&str; 2], #[case] want: bool) {
        let [failed, worked] = lines.map(bash);
        let mut open = OpenCalls::default();
        open.failed(&failed);
        open.worked(&worked);
        assert_eq!(open.count(), usize::from(!want));
    }
}
