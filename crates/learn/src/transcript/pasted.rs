//! Which parts of a message the user pasted: fences, lines of a quotation (`>`), runs of ten
//! lines or more of output or behind a shell's prompt, and what an editor attached. All other lines
//! are the user's own.

/// A shorter run of output stays the user's own, in lines.
const OUTPUT_LINES: usize = 10;
/// Lines of prose that a run of output may hold in a row.
const GAP_LINES: usize = 2;
/// Lines of a pasted part that are shown from its beginning and its end.
const HEAD_LINES: usize = 3;
const TAIL_LINES: usize = 2;

/// A message as the record shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    /// The text, its pasted parts cut to a few lines and marked.
    pub shown: String,
    /// The user's own words: the runs of lines between pasted parts.
    pub words: Vec<String>,
}

impl Message {
    /// Reads a message and what an editor attached to it.
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

/// Returns `true` for a line as programs write it: set off, with a sign in front, or with few
/// letters. An item of a list is none.
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
