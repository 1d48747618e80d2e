//! A command line as a shell reads it: its single commands with their words, and which of
//! them the line fails with. Far enough to tell `rm -rf build` from a commit message that
//! speaks of it.

use crate::clip::head;

/// How much of a command is looked at.
const MAX_COMMAND: usize = 8_000;
/// Programs whose `-c` holds a command, and how deep such commands are read.
pub(crate) const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash"];
const MAX_DEPTH: usize = 3;
/// Words of which one stands in the name of every tool that is given a command.
const TOOL_WORDS: &[&str] = &["bash", "shell", "powershell", "terminal", "command"];
/// What stands between two commands.
const SEPARATORS: &[(&str, Then)] = &[
    ("&&", Then::And),
    ("||", Then::Apart),
    ("|&", Then::Pipe),
    ("|", Then::Pipe),
    ("&", Then::Apart),
    (";", Then::Apart),
];

/// Tells whether a tool's input is a line of commands.
pub fn runs_commands(tool: &str) -> bool {
    let is_one = |part: &str| {
        TOOL_WORDS
            .iter()
            .any(|word| part.eq_ignore_ascii_case(word))
    };
    tool.split(['_', '-', '.']).any(is_one)
}

/// The name of a program without its folder and without `.exe`.
pub fn base_name(word: &str) -> &str {
    let name = word.trim_end_matches('/').rsplit('/').next();
    let name = name.filter(|name| !name.is_empty()).unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// A single command.
#[derive(Clone, Debug, Default)]
pub struct ShellStep {
    /// Its words without their quotes; redirections and texts given below are not among them.
    pub words: Vec<String>,
    /// Whether it writes its output into a file.
    pub writes: bool,
    then: Then,
    /// Whether the line fails when this command does.
    pub is_heard: bool,
}

/// How a command belongs to the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Then {
    /// Nothing that says how: a bracket, or the end. The line fails with it.
    #[default]
    Joined,
    /// So it does before `&&`.
    And,
    Pipe,
    /// It may fail unseen: `;`, `||`, `&`, a new line.
    Apart,
}

/// Returns the single commands of a line, and behind them those of the lines that it gives to
/// a shell.
pub fn read(line: &str) -> Vec<ShellStep> {
    read_to(head(line, MAX_COMMAND), MAX_DEPTH)
}

fn read_to(line: &str, depth: usize) -> Vec<ShellStep> {
    let mut steps = ShellReader::default().read(line);
    let pipes_fail = line.contains("pipefail");
    let mut is_heard = true;
    for (back, step) in steps.iter_mut().rev().enumerate() {
        step.is_heard = match step.then {
            Then::Joined | Then::And => is_heard,
            Then::Pipe => is_heard && pipes_fail,
            // Behind the last one nothing stands, but for the `&` that lets go of it.
            Then::Apart => back == 0 && !line.trim_end().ends_with('&'),
        };
        is_heard &= step.then != Then::Apart || step.is_heard;
    }
    if depth > 0 {
        let inner = steps
            .iter()
            .filter_map(|step| Some((given_line(step)?, step.is_heard)));
        let inner = inner.flat_map(|(line, is_heard)| {
            let mut inner = read_to(line, depth - 1);
            for step in &mut inner {
                step.is_heard &= is_heard;
            }
            inner
        });
        let inner: Vec<ShellStep> = inner.collect();
        steps.extend(inner);
    }
    steps
}

/// The command that a shell is given: `bash -c '…'`.
fn given_line(step: &ShellStep) -> Option<&str> {
    let is_shell = |word: &String| SHELLS.contains(&base_name(word));
    let mut words = step.words.iter().skip_while(|word| !is_shell(word));
    words.find(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))?;
    words.next().map(String::as_str)
}

#[derive(Default)]
struct ShellReader {
    done: Vec<ShellStep>,
    step: ShellStep,
    word: Option<String>,
    /// What the next word is, when it belongs to a redirection.
    target: Option<Target>,
    /// The words that end the texts given below.
    below: Vec<String>,
}

enum Target {
    Input,
    Output,
    Below,
}

impl ShellReader {
    fn read(mut self, line: &str) -> Vec<ShellStep> {
        let mut quote = None;
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            let here = rest;
            rest = &rest[c.len_utf8()..];
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (Some('"') | None, '\\') => {
                    let next = rest.chars().next();
                    rest = &rest[next.map_or(0, char::len_utf8)..];
                    let next = next.filter(|next| *next != '\n');
                    self.word.get_or_insert_default().extend(next);
                }
                (None, '"' | '\'') => {
                    quote = Some(c);
                    self.word.get_or_insert_default();
                }
                (None, '#') if self.word.is_none() => {
                    rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                }
                (None, '\n') => {
                    self.end_step(Then::Apart);
                    rest = self.skip_below(rest);
                }
                (None, '&') if rest.starts_with('>') => {}
                (None, '>' | '<') => rest = self.redirect(here),
                (None, '&' | '|' | ';') => {
                    let found = SEPARATORS.iter().find(|(sign, _)| here.starts_with(sign));
                    let (sign, then) = found.copied().unwrap_or((";", Then::Apart));
                    self.end_step(then);
                    rest = &here[sign.len()..];
                }
                (None, '(' | ')' | '`') => self.end_step(Then::Joined),
                (None, '{' | '}') if self.word.is_none() && !rest.starts_with('}') => {
                    self.end_step(Then::Joined);
                }
                (None, c) if c.is_whitespace() => self.end_word(),
                (_, c) => self.word.get_or_insert_default().push(c),
            }
        }
        self.end_step(Then::Joined);
        self.done
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else {
            return;
        };
        match self.target.take() {
            None => self.step.words.push(word),
            Some(Target::Output) => self.step.writes |= word != "/dev/null",
            Some(Target::Below) => self.below.push(word.trim_start_matches('-').to_owned()),
            Some(Target::Input) => {}
        }
    }

    fn end_step(&mut self, then: Then) {
        self.end_word();
        self.target = None;
        if !self.step.words.is_empty() || self.step.writes {
            self.step.then = then;
            self.done.push(std::mem::take(&mut self.step));
        } else if let Some(last) = self.done.last_mut().filter(|s| s.then == Then::Joined) {
            last.then = then;
        }
    }

    /// Reads `>`, `>>`, `2>&1`, `<`, `<<END` up to what it names.
    fn redirect<'l>(&mut self, here: &'l str) -> &'l str {
        let is_number = |word: &mut String| word.bytes().all(|b| b.is_ascii_digit());
        self.word.take_if(is_number);
        self.end_word();
        let after = here.trim_start_matches(['>', '<']);
        let sign = &here[..here.len() - after.len()];
        self.target = Some(match sign {
            "<<" => Target::Below,
            _ if sign.contains('>') && !after.starts_with('&') => Target::Output,
            _ => Target::Input,
        });
        after.strip_prefix(['&', '|']).unwrap_or(after)
    }

    fn skip_below<'l>(&mut self, mut rest: &'l str) -> &'l str {
        for end in self.below.drain(..) {
            let mut lines = rest.split_inclusive('\n');
            let length = lines
                .by_ref()
                .take_while(|line| line.trim() != end)
                .map(str::len);
            let length: usize = length.sum();
            rest = rest[length..]
                .split_once('\n')
                .map_or("", |(_, after)| after);
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("(cd x && make); echo $?", &["echo"])]
    #[case("make | tail", &["tail"])]
    #[case("set -o pipefail; make 2>&1 | tail", &["make", "tail"])]
    #[case("make || true", &["true"])]
    #[case("make &", &[])]
    #[case("a &&\n  b", &["a", "b"])]
    #[case("bash -c 'a && b'; c", &["c"])]
    fn a_line_fails_with_some_of_its_commands(#[case] line: &str, #[case] heard: &[&str]) {
        let steps = read(line).into_iter().filter(|step| step.is_heard);
        let names: Vec<_> = steps.map(|step| step.words[0].clone()).collect();
        assert_eq!(names, heard, "{line}");
    }

    #[test]
    fn a_text_below_is_no_command() {
        let steps = read("python3 - <<'END' > out\nimport x; y | z\nEND\nls");
        let words: Vec<_> = steps.iter().map(|step| step.words.join(" ")).collect();
        assert_eq!(words, ["python3 -", "ls"]);
        assert!(steps[0].writes && !steps[1].writes);
    }

    #[rstest]
    #[case("Bash", true)]
    #[case("PowerShell", true)]
    #[case("mcp__term__run_command", true)]
    #[case("SlashCommand", false)]
    #[case("Read", false)]
    fn tools_that_run_commands_are_known(#[case] tool: &str, #[case] want: bool) {
        assert_eq!(runs_commands(tool), want);
    }
}
