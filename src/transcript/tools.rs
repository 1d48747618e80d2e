//! What is kept of a tool call, and how its answer is read.

use std::borrow::Cow;

use super::category::categorize;
use super::cut;
use super::event::Failure;
use super::json::{Cursor, Str, Value};

/// The keys of a tool's input that say what the call is about; the first found wins.
const TELLING_KEYS: &[&str] = &[
    "command",
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "query",
    "url",
    "skill",
    "description",
    "prompt",
    "name",
];
/// How much of a tool's input is kept, in bytes.
const MAX_INPUT: usize = 240;
/// How much of an error is looked at, in bytes from either end.
const LOOKED_AT: usize = 8_000;
/// How much of an error is kept, in bytes.
const MAX_ERROR: usize = 1_500;
/// How long the line that says what went wrong may be, in bytes.
const MAX_MESSAGE: usize = 240;
/// How an answer begins that only says the user refused the call.
const REFUSALS: &[&str] = &[
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "The user wants to clarify these questions",
    "The agent proposed a plan that was rejected by the user",
    "User rejected",
    "[Request interrupted by user",
];
/// What stands before the user's words in a refusal.
const WORDS_FOLLOW: &[&str] = &[
    "the user said:",
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
/// How a refusal begins that no person made: the settings forbid the call.
const DENIED_BY_SETTINGS: &[&str] = &["Claude requested permissions", "Permission to use"];

/// Returns what tells a call from others: the command, the file, the query.
pub(crate) fn input(input: Option<Value<'_>>) -> String {
    let Some(Value::Nested(raw)) = input else {
        return String::new();
    };
    let mut best: Option<(usize, Str<'_>)> = None;
    // A fault only means that less is known about the call.
    _ = Cursor::new(raw).object(|cursor, key| {
        if let Some(text) = cursor.value()?.str() {
            let rank = TELLING_KEYS
                .iter()
                .position(|k| key.is(k))
                .unwrap_or(TELLING_KEYS.len());
            if best.is_none_or(|(r, _)| rank < r) {
                best = Some((rank, text));
            }
        }
        Ok(())
    });
    let text = best
        .and_then(|(_, text)| text.decode().ok())
        .unwrap_or_default();
    cut::middle(text.trim(), MAX_INPUT).into_owned()
}

/// Returns the text of a tool's answer: a string, or the text blocks of a list.
pub(crate) fn answer(content: Option<Value<'_>>) -> Cow<'_, str> {
    match content {
        Some(Value::Str(text)) => text.decode().unwrap_or_default(),
        Some(Value::Nested(raw)) if raw.first() == Some(&b'[') => {
            let mut out = String::new();
            // A fault only means that less is known about the answer.
            _ = Cursor::new(raw).array(|cursor| {
                if cursor.peek() != Some(b'{') {
                    return cursor.value().map(drop);
                }
                cursor.object(|cursor, key| {
                    let value = cursor.value()?;
                    if key.is("text")
                        && let Some(text) = value.str()
                    {
                        out.push_str(&text.decode()?);
                        out.push('\n');
                    }
                    Ok(())
                })
            });
            Cow::Owned(out)
        }
        _ => Cow::Borrowed(""),
    }
}

/// A tool call that the user refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// What the user said with it.
    pub(crate) words: Option<String>,
}

/// Tells whether an error is the user's refusal, and what the user said with it.
///
/// `denied` is the client's own mark (`toolDenialKind`); a call that the settings
/// forbid carries it too, and is an error, not a refusal.
pub(crate) fn refusal(text: &str, denied: bool) -> Option<Refusal> {
    let text = text.trim_start();
    if DENIED_BY_SETTINGS.iter().any(|p| text.starts_with(p)) {
        return None;
    }
    if !denied && !REFUSALS.iter().any(|p| text.starts_with(p)) {
        return None;
    }
    Some(Refusal { words: words(text) })
}

fn words(text: &str) -> Option<String> {
    let (at, mark) = WORDS_FOLLOW
        .iter()
        .filter_map(|mark| Some((text.find(mark)?, mark)))
        .min()?;
    let mut words = &text[at + mark.len()..];
    for end in WORDS_END {
        words = words.split_once(end).map_or(words, |(before, _)| before);
    }
    let words = words.trim();
    (!words.is_empty()).then(|| words.to_owned())
}

/// Reads how a tool call failed from its answer; `keep` masks a text before it is cut.
pub(crate) fn failure(text: &str, keep: impl Fn(&str) -> String) -> Failure {
    let text = text.trim();
    let text = text.strip_prefix("<tool_use_error>").unwrap_or(text);
    let text = text
        .strip_suffix("</tool_use_error>")
        .unwrap_or(text)
        .trim();
    let text = cut::middle(text, 2 * LOOKED_AT);
    let exit_code = exit_code(&text);
    let category = categorize(&text, exit_code);
    let kept = keep(&cut::without_blobs(&text));
    Failure {
        message: cut::one_line(message(&kept), MAX_MESSAGE),
        text: cut::middle(&kept, MAX_ERROR).into_owned(),
        exit_code,
        category,
    }
}

fn exit_code(text: &str) -> Option<i32> {
    let line = text.lines().next()?;
    let rest = line
        .strip_prefix("Error: ")
        .unwrap_or(line)
        .strip_prefix("Exit code ")?;
    rest.trim().parse().ok()
}

/// Returns the line that says what went wrong: one that names an error, else the first.
fn message(text: &str) -> &str {
    const NAMES_ONE: &[&str] = &[
        "error",
        "failed",
        "fatal",
        "panicked",
        "exception",
        "denied",
        "not found",
        "no such",
        "cannot",
        "could not",
    ];
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with("Exit code "));
    let first = lines.clone().next().unwrap_or_else(|| text.trim());
    lines
        .find(|line| {
            let lower = cut::one_line(line, MAX_MESSAGE).to_lowercase();
            NAMES_ONE.iter().any(|word| lower.contains(word))
        })
        .unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn value(json: &str) -> Option<Value<'_>> {
        Cursor::new(json.as_bytes()).value().ok()
    }

    #[rstest]
    #[case::command(r#"{"description":"list","command":"ls -l"}"#, "ls -l")]
    #[case::file(r#"{"old_string":"a","file_path":"/a.rs"}"#, "/a.rs")]
    #[case::unknown_tool(r#"{"n":1,"what":"x"}"#, "x")]
    #[case::no_text(r#"{"n":1}"#, "")]
    #[case::no_object("3", "")]
    fn a_call_is_known_by_its_telling_input(#[case] json: &str, #[case] want: &str) {
        assert_eq!(input(value(json)), want);
    }

    #[rstest]
    #[case::string(r#""a\nb""#, "a\nb")]
    #[case::blocks(
        r#"[{"type":"text","text":"a"},{"type":"image","source":{}},7,{"text":"b","type":"text"}]"#,
        "a\nb\n"
    )]
    #[case::null("null", "")]
    fn an_answer_is_its_texts(#[case] json: &str, #[case] want: &str) {
        assert_eq!(answer(value(json)), want);
    }

    fn refused(words: &str) -> Refusal {
        Refusal {
            words: (!words.is_empty()).then(|| words.to_owned()),
        }
    }

    #[rstest]
    #[case::words(
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\nEntire Inc.",
        Some("Entire Inc.")
    )]
    #[case::note_after(
        "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse tabs\n\nNote: The user's next message may contain a correction",
        Some("use tabs")
    )]
    #[case::no_words(
        "The user doesn't want to take this action right now. STOP what you are doing and wait for the user to tell you how to proceed.",
        Some("")
    )]
    #[case::settings(
        "Claude requested permissions to write to /etc/x, but you haven't granted it yet.",
        None
    )]
    #[case::other_error(
        "Exit code 1\nThe user doesn't want to proceed with this tool use",
        None
    )]
    fn a_refusal_carries_the_users_words(#[case] text: &str, #[case] want: Option<&str>) {
        let got = refusal(text, false);
        assert_eq!(got, want.map(refused));
    }

    #[test]
    fn the_clients_mark_makes_any_error_a_refusal() {
        assert_eq!(refusal("no", true), Some(refused("")));
        assert_eq!(refusal("Claude requested permissions to write", true), None);
    }

    #[test]
    fn a_failure_names_its_exit_code_and_its_telling_line() {
        let failure = failure(
            "Exit code 3\n[lint] run\nmain.go:3: error returned\n",
            str::to_owned,
        );
        assert_eq!(failure.exit_code, Some(3));
        assert_eq!(failure.message, "main.go:3: error returned");
    }
}
