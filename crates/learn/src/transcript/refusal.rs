//! Who did not allow a call, and what the user said with it.

use super::words::REFUSALS;

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
/// The client's own tools whose errors others can word.
const OTHERS_TOOLS: &[&str] = &[
    "WebFetch",
    "WebSearch",
    "ReadMcpResourceTool",
    "Task",
    "Agent",
];
/// How a refusal begins that no person made: a rule, a hook or a classifier forbids the call.
const DENIED_BY_SETTINGS: &[&str] = &[
    "Claude requested permissions",
    "Permission to use",
    "Permission to read",
    "Permission for this",
];

/// Who did not allow a call, as the client marks it (`toolDenialKind`).
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
    /// Reads the client's word. All other words but the user's
    /// (`permission-rule`, which hooks have too, `automode-blocked`, …) are nobody's wish.
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
    let named = ["PreToolUse:", "Hook PreToolUse:"]
        .iter()
        .find_map(|start| text.strip_prefix(start))
        .unwrap_or(text);
    let rest = named.strip_prefix(tool).filter(|_| !tool.is_empty())?;
    let marks = if named.len() < text.len() {
        [" hook error", " hook blocking error", " denied this tool"].as_slice()
    } else {
        [" operation blocked by hook"].as_slice()
    };
    let mark = marks.iter().find(|mark| rest.starts_with(**mark))?;
    let why = &rest[mark.len()..];
    Some(why.trim_start_matches([':', ' ', '\n']).trim())
}

/// Returns what the user said with a refusal, if an error is one; empty when nothing.
///
/// Old clients mark what the settings forbid as refused, too. The error of some tools is a text of
/// others, which may look like a refusal: there only the mark counts.
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
        DeniedBy::Unsaid | DeniedBy::Stopped => {
            let is_others = tool.starts_with(SERVER_TOOL) || OTHERS_TOOLS.contains(&tool);
            !is_others && REFUSALS.begins(text)
        }
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

    #[rstest]
    #[case::in_any_words("Not that one", DeniedBy::User, Some(""))]
    #[case::setting_of_an_old_client("Claude requested permissions", DeniedBy::User, None)]
    #[case::classifier(
        "Permission for this action was denied by the Claude Code auto mode classifier. Reason: the user said: no",
        DeniedBy::Unsaid,
        None
    )]
    fn whose_a_refusal_is(
        #[case] text: &str,
        #[case] denied: DeniedBy,
        #[case] want: Option<&str>,
    ) {
        assert_eq!(refusal("Edit", text, denied).as_deref(), want);
    }
}
