//! The text of a user's record: a person's words with what they pasted, or one of the client's
//! look-alikes.
//!
//! Pasted are fences, lines of a quotation (`>`), runs of ten lines or more of output or behind a
//! shell's prompt, and what an editor attached. All other lines are the user's own.

use std::borrow::Cow;

use super::words::{CLIENT_COMMANDS, ECHOES, WRAPPING};

/// The client's marks: the user pressed Esc, a background task ended, questions were answered.
pub(crate) const INTERRUPT: &str = "[Request interrupted by user";
const NOTIFICATION: &str = "<task-notification>";
const ANSWERS: &str = "User has answered your questions:";
/// The client's own command whose arguments are words to the agent.
const COMPACT: &str = "/compact";
/// The longest name of a slash command, in bytes.
const MAX_COMMAND: usize = 100;
/// The beginnings of tags between which the client puts what was not typed.
const REMINDERS: &[&str] = &["<system-reminder", "<ide_"];
const SELECTION: &str = "<ide_selection";
/// The beginning of a message by which the client hands over a plan, and what it adds behind.
const PLAN: &str = "Implement the following plan:";
const PLAN_ENDS: &str = "\n\nIf you need specific details from before exiting plan mode";
/// A shorter run of output stays the user's own, in lines.
const OUTPUT_LINES: usize = 10;
/// Lines of prose that a run of output may hold in a row.
const GAP_LINES: usize = 2;
/// Lines of a pasted part that are shown from its beginning and its end.
const HEAD_LINES: usize = 3;
const TAIL_LINES: usize = 2;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UserText<'a> {
    Prompt(Cow<'a, str>),
    /// A slash command with its arguments, which are a request.
    Command {
        name: &'a str,
        arguments: &'a str,
    },
    Interrupt,
    Notification(&'a str),
    /// The client's own words, or nothing.
    Echo,
}

pub(crate) fn classify(text: &str) -> UserText<'_> {
    let trimmed = text.trim();
    if trimmed.starts_with(INTERRUPT) {
        return UserText::Interrupt;
    }
    if trimmed.starts_with(NOTIFICATION) {
        return UserText::Notification(trimmed);
    }
    if trimmed.starts_with("<command-name>") || trimmed.starts_with("<command-message>") {
        let name = between(trimmed, "<command-name>", "</command-name>")
            .map(str::trim)
            .filter(|name| name.len() <= MAX_COMMAND)
            .unwrap_or("a command");
        let is_own = CLIENT_COMMANDS.has(name.trim_start_matches('/'));
        let arguments = between(trimmed, "<command-args>", "</command-args>");
        let arguments = arguments.map(str::trim).unwrap_or_default();
        // Its name alone is a request, but for what the client does itself.
        let is_request = !is_own && (!arguments.is_empty() || name != COMPACT);
        return if is_request {
            UserText::Command { name, arguments }
        } else {
            UserText::Echo
        };
    }
    if trimmed.is_empty() || ECHOES.begins(trimmed) {
        return UserText::Echo;
    }
    match without(trimmed, REMINDERS) {
        rest if rest.trim().is_empty() => UserText::Echo,
        rest => UserText::Prompt(rest),
    }
}

/// Reads the answers to what a call asked, whose input is JSON, out of what the tool that asks the
/// user returned: `… "question"="answer", "question"="answer". …`. Each is a question with the
/// user's words, or one or more of the choices.
///
/// A question that quotes another one with its answer is read as two, and the first one was not
/// asked; then no answer is read.
pub(crate) fn answers<'t>(text: &'t str, asked: &str) -> Vec<(&'t str, &'t str)> {
    let mut answers = Vec::new();
    let mut rest = text.trim_start().strip_prefix(ANSWERS).unwrap_or_default();
    while let Some((question, after)) = rest.split_once("\"=\"") {
        let ends = |(at, _): &(usize, &str)| {
            let next = after.as_bytes().get(at + 1);
            matches!(next, None | Some(b',' | b'.' | b' ' | b'\n'))
        };
        let end = after.match_indices('"').find(ends);
        let end = end.map_or(after.len(), |(at, _)| at);
        let question = question.split_once('"').map_or(question, |(_, it)| it);
        answers.push((question, after[..end].trim()));
        rest = after.get(end + 1..).unwrap_or_default();
    }
    let are_asked = answers
        .iter()
        .all(|(question, _)| is_in_json(asked, question));
    if are_asked { answers } else { Vec::new() }
}

pub(crate) fn is_offered(words: &str, offered: &str) -> bool {
    let is_offered = |words: &str| is_in_json(offered, words);
    is_offered(words) || words.split(", ").all(is_offered)
}

fn is_in_json(json: &str, text: &str) -> bool {
    serde_json::to_string(text).is_ok_and(|text| json.contains(&text))
}

/// Returns the words of a hook of the user's to the agent, if a text of the client has such.
pub(crate) fn hook_words(text: &str) -> Option<&str> {
    let (first, words) = text.split_once(['\n', ':'])?;
    let is_named = first.ends_with("hook feedback")
        || first.contains("hook error")
        || first.contains("hook blocking");
    let words = words.trim();
    (is_named && first.len() < 80 && !words.is_empty()).then_some(words)
}

pub(crate) fn failed_task(notification: &str) -> Option<&str> {
    let status = between(notification, "<status>", "</status>")?;
    let summary = between(notification, "<summary>", "</summary>").unwrap_or_default();
    (status.trim() == "failed").then_some(summary)
}

/// Leaves out what the client wraps around a report; `None` if the agent was only started.
pub(crate) fn report(text: &str) -> Option<String> {
    let is_said = |line: &&str| {
        let line = line.trim_start();
        !line.is_empty() && !WRAPPING.begins(line)
    };
    let is_started = text.trim_start().starts_with("Async agent launched");
    let report = text.lines().filter(is_said).collect::<Vec<_>>().join("\n");
    (!is_started && !report.is_empty()).then_some(report)
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    Some(rest.split_once(close).map_or(rest, |(inner, _)| inner))
}

/// Returns a text without what is between tags that begin so.
pub(crate) fn without<'t>(text: &'t str, opens: &[&str]) -> Cow<'t, str> {
    let parts = split(text, opens).into_iter();
    let outside = parts.filter(|(_, is_between)| !is_between);
    outside.fold(Cow::Borrowed(""), |kept, (part, _)| kept + part)
}

pub(crate) fn attached(text: &str) -> Vec<&str> {
    let parts = split(text, &[SELECTION]).into_iter();
    let between = parts.filter(|(_, is_between)| *is_between);
    between.map(|(part, _)| part).collect()
}

/// Returns `true` for a line that only sets the client up: `/model`.
pub(crate) fn is_client_command(text: &str) -> bool {
    let name = text.trim().strip_prefix('/').unwrap_or_default();
    CLIENT_COMMANDS.has(name.split_whitespace().next().unwrap_or_default())
}

/// Returns the plan of a message that the client wrote when the user approved it.
pub(crate) fn plan(text: &str) -> Option<&str> {
    let plan = text.trim_start().strip_prefix(PLAN)?;
    Some(plan.split_once(PLAN_ENDS).map_or(plan, |(plan, _)| plan))
}

/// Returns the plan in the answer to a call that showed it, where the user approved it.
pub(crate) fn approved_plan(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let rest = text.strip_prefix("User has approved your plan")?;
    let heading = rest.split_once("## Approved Plan");
    let plan = heading.and_then(|(_, plan)| plan.split_once('\n'));
    Some(plan.map_or("", |(_, plan)| plan))
}

/// Marks the parts between tags that begin so with `true`.
///
/// The text between may end such a tag as well, so the last end before the next tag counts. For
/// what an editor shows, the last of all counts.
fn split<'t>(text: &'t str, opens: &[&str]) -> Vec<(&'t str, bool)> {
    let mut parts = Vec::new();
    let mut rest = text;
    let begins = |tag: &str| opens.iter().any(|open| tag.starts_with(open));
    let next =
        |text: &str| memchr::memchr_iter(b'<', text.as_bytes()).find(|at| begins(&text[*at..]));
    while let Some(start) = next(rest) {
        parts.push((&rest[..start], false));
        let tag = &rest[start + 1..];
        let name = &tag[..tag.find(['>', ' ']).unwrap_or(tag.len())];
        // Behind what an editor shows another one may have been put by what it shows.
        let reach = match next(tag) {
            Some(next) if !name.starts_with("ide_") => next,
            _ => tag.len(),
        };
        let end = format!("</{name}>");
        let closed = tag[..reach].rfind(&end).or_else(|| tag.find(&end));
        let begin = tag.find('>').map_or(tag.len(), |at| at + 1);
        let until = closed.unwrap_or(tag.len());
        parts.push((tag.get(begin..until).unwrap_or_default(), true));
        rest = closed.map_or("", |at| &tag[at + end.len()..]);
    }
    parts.push((rest, false));
    parts
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    /// The text, its pasted parts cut to a few lines and marked.
    pub shown: String,
    /// The user's own words: the runs of lines between pasted parts.
    pub words: Vec<String>,
}

impl Message {
    pub(crate) fn read(text: &str, attached: &[&str]) -> Self {
        let mut message = Self::default();
        for part in attached {
            message.paste(&part.trim().lines().collect::<Vec<_>>());
        }
        let lines: Vec<&str> = text.lines().collect();
        let marks = marks(&lines);
        let mut from = 0;
        for run in marks.chunk_by(|a, b| a == b) {
            let run_lines = &lines[from..from + run.len()];
            from += run.len();
            if run[0] {
                message.paste(run_lines);
            } else {
                message.own(run_lines.join("\n").trim());
            }
        }
        message
    }

    fn own(&mut self, words: &str) {
        if !words.is_empty() {
            self.line(words);
            self.words.push(words.to_owned());
        }
    }

    fn paste(&mut self, lines: &[&str]) {
        let lines: Vec<&&str> = lines
            .iter()
            .filter(|line| !line.trim().is_empty())
            .collect();
        self.line(&format!("[pasted, {} lines]", lines.len()));
        let tail = lines.len().saturating_sub(TAIL_LINES).max(HEAD_LINES);
        for (at, line) in lines.iter().enumerate() {
            if at < HEAD_LINES || at >= tail {
                self.line(&format!("| {line}"));
            } else if at == HEAD_LINES {
                self.line("| …");
            }
        }
    }

    fn line(&mut self, line: &str) {
        if !self.shown.is_empty() {
            self.shown.push('\n');
        }
        self.shown.push_str(line);
    }
}

/// Returns for each line whether it was pasted.
fn marks(lines: &[&str]) -> Vec<bool> {
    let mut fence = "";
    let mut marks: Vec<bool> = Vec::with_capacity(lines.len());
    for line in lines {
        let bare = line.trim();
        let mark = fence_mark(bare);
        let is_inside = !fence.is_empty();
        let closes = is_inside && mark.starts_with(fence) && bare.len() == mark.len();
        marks.push(is_inside || !mark.is_empty() || bare.starts_with('>'));
        if closes {
            fence = "";
        } else if !is_inside {
            fence = mark;
        }
    }
    if let Some(from) = lines.iter().position(|line| is_prompt(line)) {
        let end = from + end_of_terminal(&lines[from..]);
        let is_said = |line: &&&str| !line.trim().is_empty();
        if lines[from..end].iter().filter(is_said).count() >= OUTPUT_LINES {
            marks[from..end].fill(true);
        }
    }
    let mut at = 0;
    while at < lines.len() {
        let is_output = |i: usize| !marks[i] && looks_like_output(lines[i]);
        let mut end = at + 1;
        if is_output(at) {
            let (mut gap, mut outputs, mut all, mut seen) = (0, 0, 0, 0);
            for i in (at..lines.len()).take_while(|&i| !marks[i]) {
                if lines[i].trim().is_empty() {
                    continue;
                }
                seen += 1;
                if is_output(i) {
                    (end, gap, outputs, all) = (i + 1, 0, outputs + 1, seen);
                } else if gap == GAP_LINES {
                    break;
                } else {
                    gap += 1;
                }
            }
            if all >= OUTPUT_LINES && outputs * 5 >= all * 3 {
                marks[at..end].fill(true);
            }
        }
        at = end;
    }
    marks
}

/// Returns `true` for the prompt of a shell before a command: `$ make`, `❯ make`, `me@host:~$ make`.
fn is_prompt(line: &str) -> bool {
    let mut words = line.trim().splitn(2, ' ');
    let (sign, has_command) = (words.next().unwrap_or_default(), words.next().is_some());
    let is_named = sign.contains('@') && sign.ends_with(['$', '#', '%']);
    has_command && (["$", "%", "❯", "➜", "λ"].contains(&sign) || is_named)
}

/// Returns the number of lines from a shell's prompt that were pasted: all paragraphs but the
/// last, which is output only where most of its lines look so.
fn end_of_terminal(lines: &[&str]) -> usize {
    let last = lines.iter().rposition(|line| !line.trim().is_empty());
    let end = last.map_or(0, |last| last + 1);
    let start = lines[..end].iter().rposition(|line| line.trim().is_empty());
    let Some(start) = start else { return end };
    let outputs = lines[start..end]
        .iter()
        .filter(|line| looks_like_output(line));
    if outputs.count() * 2 > end - start - 1 {
        end
    } else {
        start
    }
}

/// Returns the signs that open or close a fence at the start of a line; empty for another line.
fn fence_mark(line: &str) -> &str {
    let Some(sign) = line.chars().next().filter(|sign| "`~".contains(*sign)) else {
        return "";
    };
    let rest = line.trim_start_matches(sign);
    let mark = &line[..line.len() - rest.len()];
    // A word in backticks opens no fence.
    if mark.len() < 3 || rest.contains('`') {
        ""
    } else {
        mark
    }
}

/// Accepts a line that is set off, has a sign in front, or few letters, but no item of a list.
fn looks_like_output(line: &str) -> bool {
    let bare = line.trim();
    let Some(first) = bare.chars().next() else {
        return false;
    };
    let number = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_item = ["- ", "* ", "• "].iter().any(|mark| bare.starts_with(mark))
        || (number.len() < bare.len() && (number.starts_with(". ") || number.starts_with(") ")));
    if is_item {
        return false;
    }
    let is_sign = !first.is_ascii() && !first.is_alphanumeric() && !"–—‘’¿¡«„“”".contains(first);
    let is_set_off = line.starts_with("    ") || line.starts_with('\t');
    let count = bare.chars().count();
    let letters = bare
        .chars()
        .filter(|c| c.is_alphabetic() || *c == ' ')
        .count();
    // `3:14  error  …`, `src/a.rs:3: …`
    let place = bare
        .split(' ')
        .next()
        .and_then(|first| first.split_once(':'));
    let is_located = place.is_some_and(|(_, at)| at.starts_with(|c: char| c.is_ascii_digit()));
    is_set_off || is_sign || is_located || is_prompt(line) || letters * 4 < count * 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::compacted("<command-name>/compact</command-name>\n<command-args></command-args>")]
    #[case::command_alone("<command-name>/clear</command-name>\n<command-args></command-args>")]
    #[case::only_a_reminder("<system-reminder>\nx\n</system-reminder>")]
    #[case::client_command("<command-name>/model</command-name>\n<command-args>x</command-args>")]
    #[case::only_a_file("<ide_opened_file>The user opened a.rs</ide_opened_file>")]
    #[case::stopped_by_hook("Operation stopped by hook: never do that")]
    #[case::not_typed("[SYSTEM NOTIFICATION - NOT USER INPUT]\nnever do that")]
    fn the_clients_own_words_are_no_prompt(#[case] text: &str) {
        assert_eq!(classify(text), UserText::Echo);
    }

    #[rstest]
    #[case::two(["<ide_opened_file>a</ide_opened_file>\n<system-reminder>b</system-reminder> c", " c"])]
    #[case::around(["<system-reminder>a</system-reminder>b<system-reminder>c</system-reminder>", "b"])]
    #[case::an_end_in_it(["<ide_selection>a</ide_selection>\nb\n</ide_selection> c", " c"])]
    #[case::a_pair_in_it(["<ide_selection>a</ide_selection>b<ide_selection>c</ide_selection> d", " d"])]
    #[case::a_reminder_of_a_page(["<system-reminder>a</system-reminder>b</system-reminder> c", " c"])]
    #[case::open(["a <system-reminder> b", "a "])]
    fn what_the_client_adds_is_left_out(#[case] texts: [&str; 2]) {
        let [text, want] = texts;
        assert_eq!(without(text, REMINDERS).trim_start(), want.trim_start());
    }

    #[rstest]
    #[case::one("\"Which db?\"=\"never use postgres\". You can now go on.", &[("Which db?", "never use postgres")])]
    #[case::two("\"A?\"=\"x\", \"B \"now\"?\"=\"say \"y\"\".", &[("A?", "x"), ("B \"now\"?", "say \"y\"")])]
    #[case::cut_off("\"A?\"=\"x", &[("A?", "x")])]
    #[case::a_question_with_an_answer_in_it("\"Go on? It says \"x\"=\"curl it\".\"=\"No\". You can now go on.", &[])]
    fn the_answers_to_questions_are_read(#[case] text: &str, #[case] want: &[(&str, &str)]) {
        let asked = r#"[{"question":"Which db?"},{"question":"A?"},{"question":"B \"now\"?"},
            {"question":"Go on? It says \"x\"=\"curl it\"."}]"#;
        assert_eq!(answers(&format!("{ANSWERS} {text}"), asked), want);
    }

    #[test]
    fn the_report_of_a_subagent_is_unwrapped() {
        assert_eq!(
            report("Async agent launched successfully. agentId: 7"),
            None
        );
        let wrapped = "[Subagent hand-back] The text below\n    All green.\nagentId: a0 (use it)\n<usage>tokens: 1\ntool_uses: 1</usage>";
        assert_eq!(report(wrapped).as_deref(), Some("    All green."));
    }

    const TESTS: &str = "--- FAIL: TestA (0.00s)\n    a_test.go:3: want 2\n--- FAIL: TestB (0.00s)\n    b_test.go:3: want 2\nFAIL\nFAIL\tx/cli\t0.4s\nok  \tx/b\t0.1s\nok  \tx/c\t0.2s\n?   \tx/d\t[no test files]\nok  \tx/e\t0.1s";
    const LIST: &str = "1. `src/a.rs:12`: rename it\n2. src/b.rs: (see #12)\n3. c\n4. d\n5. e\n6. f\n7. g\n8. h\n9. i\n10. j\n11. k";

    #[rstest]
    #[case::fence("mend this\n```rust\nlet a = 1;\n```\nand never push", &["mend this", "and never push"])]
    #[case::document_in_a_fence("````md\n```\nx\n```\n````\nread it", &["read it"])]
    #[case::open_fence("see\n```\nx", &["see"])]
    #[case::quotation("> always merge\nis that so?", &["is that so?"])]
    #[case::word_in_backticks("```make``` fails", &["```make``` fails"])]
    #[case::list(LIST, &[LIST])]
    #[case::shell("see\n❯ cat a.md\nAlways\nuse\nyarn\nand\nonly\nthat\nfor\nall\nof\nit\n\nis that so?", &["see", "is that so?"])]
    #[case::short_shell("$ make\nerror\nwhy?", &["$ make\nerror\nwhy?"])]
    #[case::eslint("/u/a.js\n  1:1  error  Always use yarn  no-foo\n  2:1  error  This is a long message  a\n  3:1  error  This is a long message  a\n  4:1  error  This is a long message  a\n  5:1  error  This is a long message  a\n  6:1  error  This is a long message  a\n  7:1  error  This is a long message  a\n  8:1  error  This is a long message  a\n✖ 8 problems\nmend it", &["mend it"])]
    #[case::short_output("it says\n    error: x\nwhy?", &["it says\n    error: x\nwhy?"])]
    fn the_rest_of_a_message_is_the_users_own(#[case] text: &str, #[case] words: &[&str]) {
        assert_eq!(Message::read(text, &[]).words, words);
    }

    #[test]
    fn a_run_of_output_is_cut_and_marked() {
        let text = format!("it fails:\n{TESTS}\nonly run the first one");
        let message = Message::read(&text, &["a.rs\nfn a() {}"]);
        assert_eq!(message.words[1..], ["only run the first one"]);
        assert!(message.words[0].starts_with("it fails:"), "{message:?}");
        let want = "[pasted, 2 lines]\n| a.rs\n| fn a() {}\nit fails:";
        assert!(message.shown.starts_with(want), "{}", message.shown);
        assert!(message.shown.contains("| …\n"), "{}", message.shown);
        assert!(!message.shown.contains("x/b"), "{}", message.shown);
    }
}
