//! A command line as its single commands: words, redirections, here-documents, and which of
//! the commands the line fails with.

use super::shell::{SHELLS, base_name};

#[derive(Debug, Default)]
pub(crate) struct Step {
    /// Its words without their quotes; redirections are not among them.
    pub(crate) words: Vec<String>,
    /// The text it is given below: a here-document.
    pub(crate) given: Option<String>,
    pub(crate) writes: bool,
    then: Then,
    /// Whether the line fails when this command does.
    pub(crate) is_heard: bool,
}

/// What stands between a command and the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Then {
    /// Nothing that says how they belong together: a bracket, or the end.
    #[default]
    Joined,
    /// `&&`
    And,
    /// `|`
    Pipe,
    /// `;`, `||`, a new line.
    Apart,
    /// `&`
    Behind,
}

impl Step {
    /// The command that a shell is given: `bash -c '…'`, or below.
    fn inner_command(&self) -> Option<&str> {
        let shell = self
            .words
            .iter()
            .position(|word| SHELLS.contains(&base_name(word)))?;
        let is_command_flag =
            |word: &String| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
        let flag = self.words.iter().skip(shell).position(is_command_flag);
        flag.and_then(|flag| self.words.get(shell + flag + 1))
            .or(self.given.as_ref())
            .map(String::as_str)
    }
}

/// Returns the single commands of a command line, and of the lines within it, `depth` deep.
pub(crate) fn read(line: &str, depth: usize) -> Vec<Step> {
    let mut steps = Reader::default().read(line);
    hear(&mut steps, line.contains("pipefail"));
    if depth > 0 {
        let inner: Vec<_> = steps
            .iter()
            .filter_map(|step| Some((step.inner_command()?, step.is_heard)))
            .flat_map(|(line, is_heard)| {
                let inner = read(line, depth - 1).into_iter();
                inner.map(move |step| Step {
                    is_heard: step.is_heard && is_heard,
                    ..step
                })
            })
            .collect();
        steps.extend(inner);
    }
    steps
}

/// Tells of each command whether the line fails with it: what stands before a `|`, a `;` or
/// a `||` may fail unseen.
fn hear(steps: &mut [Step], pipes_fail: bool) {
    let mut is_heard = true;
    for (back, step) in steps.iter_mut().rev().enumerate() {
        step.is_heard = match step.then {
            Then::Behind => {
                is_heard = false;
                false
            }
            _ if back == 0 => true,
            Then::Apart => {
                is_heard = false;
                false
            }
            Then::Pipe => is_heard && pipes_fail,
            Then::Joined | Then::And => is_heard,
        };
    }
}

#[derive(Default)]
struct Reader {
    done: Vec<Step>,
    step: Step,
    word: Option<String>,
    /// What the next word is, when it belongs to a redirection.
    target: Option<Target>,
    /// The commands that are given a text below, and the word that ends it.
    below: Vec<(usize, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Input,
    Output,
    Stream,
    Below,
}

impl Reader {
    fn read(mut self, line: &str) -> Vec<Step> {
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
                    self.word
                        .get_or_insert_default()
                        .extend(next.filter(|next| *next != '\n'));
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
                    rest = self.take_below(rest);
                }
                (None, '&') if rest.starts_with('>') => {}
                (None, '>' | '<') => rest = self.redirect(here),
                (None, '&' | '|' | ';') => {
                    let (then, length) = separator(here);
                    self.end_step(then);
                    rest = &here[length..];
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
            Some(Target::Stream) => {
                let is_stream = word == "-" || word.bytes().all(|b| b.is_ascii_digit());
                self.step.writes |= !is_stream && word != "/dev/null";
            }
            Some(Target::Below) => {
                let end = word.strip_prefix('-').unwrap_or(&word).to_owned();
                self.below.push((self.done.len(), end));
            }
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
        let is_number = |word: &String| word.bytes().all(|b| b.is_ascii_digit());
        if self.word.as_ref().is_some_and(is_number) {
            self.word = None;
        }
        self.end_word();
        let sign = here.len() - here.trim_start_matches(['>', '<']).len();
        let after = &here[sign..];
        let (target, after) = match &here[..sign] {
            "<<" => (Target::Below, after),
            sign if sign.contains('>') => match after.strip_prefix('&') {
                Some(after) => (Target::Stream, after),
                None => (Target::Output, after.strip_prefix('|').unwrap_or(after)),
            },
            _ => (Target::Input, after.strip_prefix('&').unwrap_or(after)),
        };
        self.target = Some(target);
        after
    }

    fn take_below<'l>(&mut self, mut rest: &'l str) -> &'l str {
        for (step, end) in std::mem::take(&mut self.below) {
            let mut length = 0;
            for line in rest.split_inclusive('\n') {
                if line.trim() == end {
                    break;
                }
                length += line.len();
            }
            if let Some(step) = self.done.get_mut(step) {
                step.given = Some(rest[..length].to_owned());
            }
            let after = &rest[length..];
            rest = after.split_once('\n').map_or("", |(_, after)| after);
        }
        rest
    }
}

/// What `text` begins with between two commands, and its length.
fn separator(text: &str) -> (Then, usize) {
    for (sign, then) in [
        ("&&", Then::And),
        ("||", Then::Apart),
        ("|&", Then::Pipe),
        ("|", Then::Pipe),
        ("&", Then::Behind),
    ] {
        if text.starts_with(sign) {
            return (then, sign.len());
        }
    }
    (Then::Apart, 1)
}

#[cfg(test)]
mod tests {
    use crate::transcript::shell::Command;
    use rstest::rstest;

    #[rstest]
    #[case("cd x && make", &["make"])]
    #[case("make && echo done", &["make", "echo"])]
    #[case("(cd x && make); echo $?", &["echo"])]
    #[case("make | tail", &["tail"])]
    #[case("set -o pipefail; make 2>&1 | tail", &["make", "tail"])]
    #[case("make || true", &["true"])]
    #[case("make &", &[])]
    #[case("a &&\n  b", &["a", "b"])]
    fn a_line_fails_with_some_of_its_commands(#[case] line: &str, #[case] heard: &[&str]) {
        let command = Command::read(line);
        let steps = command.steps().filter(|step| step.is_heard);
        let names: Vec<_> = steps
            .filter_map(|step| step.program())
            .map(|(name, _)| name)
            .filter(|name| !["cd", "set"].contains(name))
            .collect();
        assert_eq!(names, heard, "{line}");
    }

    #[test]
    fn a_text_below_belongs_to_its_command() {
        let command = Command::read("python3 - <<'END' > out\nimport x; y | z\nEND\nls");
        let steps: Vec<_> = command.steps().collect();
        assert_eq!(steps.len(), 2);
        assert_eq!(steps[0].given.as_deref(), Some("import x; y | z\n"));
    }
}
