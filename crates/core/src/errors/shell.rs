//! A command line as a shell reads it: its simple commands, what each of them runs, and which of
//! them make the line fail.

use super::words::{
    BRACKETS, CHECKERS, CHECKS, LOOKS, NO_SUBCOMMAND, PREPARES, PROGRAMS, PROSE, STARTERS,
    TASK_RUNNERS, TWO_SUBCOMMANDS, VALUED,
};
use crate::clip::head;

/// The part of a line that is read.
const MAX_LINE_BYTES: usize = 8_000;
/// Programs whose `-c` holds a line, and how deep such lines are read.
pub(super) const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash"];
const MAX_DEPTH: usize = 3;
/// Words in the names of the tools that run a line.
const TOOL_WORDS: &[&str] = &["bash", "shell", "powershell", "terminal", "command"];
const SEPARATORS: &[(&str, Then)] = &[
    ("&&", Then::And),
    ("||", Then::Apart),
    ("|&", Then::Pipe),
    ("|", Then::Pipe),
    ("&", Then::Apart),
    (";", Then::Apart),
];

/// Returns `true` for a tool whose input is a command line.
pub fn runs_commands(tool: &str) -> bool {
    let is_one = |part: &str| {
        TOOL_WORDS
            .iter()
            .any(|word| part.eq_ignore_ascii_case(word))
    };
    tool.split(['_', '-', '.']).any(is_one)
}

/// Returns the name of a program without its folder and without `.exe`.
pub fn base_name(word: &str) -> &str {
    let name = word.trim_end_matches('/').rsplit('/').next();
    let name = name.filter(|name| !name.is_empty()).unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// A command without operators: `git push -f > log`.
#[derive(Clone, Debug, Default)]
pub struct SimpleCommand {
    /// Its words without their quotes; redirections and here-documents are not among them.
    pub words: Vec<String>,
    /// It writes its output into a file.
    pub writes: bool,
    /// The here-documents that it reads.
    pub here: String,
    /// The line fails when this command does.
    pub propagates_failure: bool,
    then: Then,
}

/// The operator between a command and the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Then {
    /// A bracket, or the end of the line.
    #[default]
    Joined,
    And,
    Pipe,
    /// The command may fail unseen: `;`, `||`, `&`, a new line.
    Apart,
    /// It is within a quoted word, and fails unseen.
    Within,
}

/// Returns the simple commands of a line; in place of `sh -c LINE` those of `LINE`.
pub fn read(line: &str) -> Vec<SimpleCommand> {
    read_to(head(line, MAX_LINE_BYTES), MAX_DEPTH)
}

fn read_to(line: &str, depth: usize) -> Vec<SimpleCommand> {
    let (mut commands, _) = ShellReader::default().read(line, false);
    let pipes_fail = line.contains("pipefail");
    let mut propagates = true;
    for (back, command) in commands.iter_mut().rev().enumerate() {
        command.propagates_failure = match command.then {
            Then::Joined | Then::And => propagates,
            Then::Pipe => propagates && pipes_fail,
            Then::Within => continue,
            // The last one is followed by nothing but the `&` that leaves it running.
            Then::Apart => back == 0 && !line.trim_end().ends_with('&'),
        };
        propagates &= command.then != Then::Apart || command.propagates_failure;
    }
    let inner = |command: SimpleCommand| match given_line(&command) {
        Some(line) if depth > 0 => {
            let mut inner = read_to(line, depth - 1);
            for one in &mut inner {
                one.propagates_failure &= command.propagates_failure;
            }
            inner
        }
        _ => vec![command],
    };
    commands.into_iter().flat_map(inner).collect()
}

/// Returns the line of `bash -c LINE`, or the lines of `bash <<END`.
fn given_line(command: &SimpleCommand) -> Option<&str> {
    let is_shell = |word: &String| SHELLS.contains(&base_name(word));
    if !command.here.is_empty() && command.words.last().is_some_and(is_shell) {
        return Some(&command.here);
    }
    let mut words = command.words.iter().skip_while(|word| !is_shell(word));
    words.find(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))?;
    words.next().map(String::as_str)
}

/// Returns `true` for a line that runs something, and nothing but what changes nothing or is one
/// of `others`.
pub fn only_reads(line: &str, others: &[&str]) -> bool {
    let commands = read(line);
    let is_harmless = |command: &SimpleCommand| match command.program() {
        Some(program) => {
            (program.only_reads() && !command.writes) || others.contains(&program.name)
        }
        None => !command.writes,
    };
    !commands.is_empty() && commands.iter().all(is_harmless)
}

/// Returns the subject of a line's last command that runs tests, a build, a linter or a type
/// checker; in a line that worked, of the last one that cannot have failed unseen.
pub fn check(line: &str, failed: bool) -> Option<String> {
    let commands = read(line);
    let heard = commands.iter().filter(|it| failed || it.propagates_failure);
    let mut programs = heard.filter_map(SimpleCommand::program);
    let is_one = |it: &Program<'_>| !LOOKS.has(it.name) && is_check(it.name, &it.subcommand());
    programs.rfind(is_one).map(|program| program.subject())
}

/// Returns `true` for a program, with its subcommand, that checks the project's files.
pub(super) fn is_check(program: &str, subcommand: &str) -> bool {
    let first = subcommand.split([' ', ':']).next().unwrap_or_default();
    CHECKERS.has(program) || CHECKS.has(first)
}

/// A program and its arguments, behind the settings and programs that only start it.
#[derive(Clone, Copy, Debug)]
pub struct Program<'w> {
    /// Its name without folder and version.
    pub name: &'w str,
    pub arguments: &'w [String],
}

impl SimpleCommand {
    /// Returns `true` where the next command reads what this one prints.
    pub fn is_piped(&self) -> bool {
        self.then == Then::Pipe
    }

    /// Returns the program that it runs; a keyword of the shell runs none.
    pub fn program(&self) -> Option<Program<'_>> {
        self.each_start(&mut |_| {})
    }

    /// Returns its words from each program on that it starts: of `sudo make x` these are
    /// `sudo make x` and `make x`.
    pub fn forms(&self) -> Vec<&[String]> {
        let mut forms = Vec::new();
        self.each_start(&mut |words| forms.push(words));
        forms
    }

    fn each_start<'w>(&'w self, started: &mut dyn FnMut(&'w [String])) -> Option<Program<'w>> {
        let mut words = &self.words[..];
        let mut is_started = false;
        loop {
            let (first, arguments) = words.split_first()?;
            let name = without_version(base_name(first));
            let asks = |word: &String| word.eq_ignore_ascii_case("-v");
            if BRACKETS.has(name) || (name == "command" && arguments.first().is_some_and(asks)) {
                return None;
            }
            let is_option =
                first.starts_with(['-', '+']) || first.starts_with(|c: char| c.is_ascii_digit());
            let is_setting = first.contains('=') && !first.starts_with('-');
            if is_setting || (is_started && is_option) {
                words = arguments.get(usize::from(VALUED.has(first))..)?;
                continue;
            }
            is_started = true;
            started(words);
            let plain = arguments.iter().position(|word| !word.starts_with('-'));
            let starts = |at: &usize| {
                let word = arguments.get(*at);
                word.is_some_and(|word| STARTERS.has(&format!("{name} {word}")))
            };
            words = if STARTERS.has(name) {
                arguments
            } else if let Some(at) = plain.into_iter().chain([0]).find(starts) {
                &arguments[at + 1..]
            } else {
                return Some(Program { name, arguments });
            };
        }
    }
}

impl Program<'_> {
    /// Returns the program with its subcommand: `git push`, `gh pr diff`, `npm build`.
    pub fn subject(&self) -> String {
        format!("{} {}", self.name, self.subcommand())
            .trim_end()
            .to_owned()
    }

    /// Returns the subcommand; empty where the program has none.
    pub fn subcommand(&self) -> String {
        self.split().0
    }

    /// Returns the arguments but options, prose and the subcommand, each without its folder.
    pub fn operands(&self) -> Vec<String> {
        let mut is_prose = false;
        let mut operands = Vec::new();
        for word in &self.arguments[self.split().1..] {
            if !is_prose && !word.starts_with('-') && !word.is_empty() {
                operands.push(base_name(word).to_owned());
            }
            is_prose = PROSE.has(word);
        }
        operands
    }

    /// Returns the subcommand, and the number of arguments up to its end.
    fn split(&self) -> (String, usize) {
        let most = match self.name {
            name if NO_SUBCOMMAND.has(name) => 0,
            name if TWO_SUBCOMMANDS.has(name) => 2,
            _ => 1,
        };
        let (mut at, mut parts, mut end) = (0, Vec::new(), 0);
        while parts.len() < most
            && let Some(word) = self.arguments.get(at)
        {
            at += 1;
            if parts.is_empty() && word.starts_with(['-', '+']) {
                at += usize::from(VALUED.has(word));
            } else if is_plain(word) {
                // `npm run build` is `npm build`.
                let is_run = word == "run" && TASK_RUNNERS.has(self.name);
                if !is_run || !self.arguments.get(at).is_some_and(|next| is_plain(next)) {
                    parts.push(word.as_str());
                }
                end = at;
            } else {
                break;
            }
        }
        (parts.join(" "), end)
    }

    /// Returns `true` where it changes nothing, wherever its output is written.
    pub fn only_reads(&self) -> bool {
        let edits = self.arguments.iter().any(|word| match self.name {
            "find" | "fd" => ["-delete", "-exec", "-execdir", "-x", "-X"].contains(&&**word),
            "sed" => word.starts_with("-i"),
            _ => false,
        });
        let about_itself = ["--version", "-V", "--help", "-h", "version", "help"];
        let mut plain = self
            .arguments
            .iter()
            .filter(|it| !it.starts_with('-'))
            .take(2);
        let is_listed = LOOKS.has(self.name)
            || matches!(self.arguments, [only] if about_itself.contains(&&**only))
            || plain.any(|word| LOOKS.has(&format!("{} {word}", self.name)));
        is_listed && !edits
    }

    /// Returns `true` where it only makes room for what the line is about: `mkdir`, `git add`.
    pub fn prepares(&self) -> bool {
        PREPARES.has(self.name) || PREPARES.has(&self.subject())
    }
}

/// Returns `true` for a program that many projects use, by its name without a version.
pub fn is_common(program: &str) -> bool {
    let lists = [
        &PROGRAMS,
        &LOOKS,
        &PREPARES,
        &TASK_RUNNERS,
        &NO_SUBCOMMAND,
        &TWO_SUBCOMMANDS,
        &CHECKERS,
        &STARTERS,
    ];
    lists.iter().any(|list| list.has(program))
}

/// `python3.11` is `python`.
fn without_version(program: &str) -> &str {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if name.is_empty() { program } else { name }
}

fn is_plain(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':'))
}

#[derive(Default)]
struct ShellReader {
    done: Vec<SimpleCommand>,
    step: SimpleCommand,
    word: Option<String>,
    /// The kind of redirection that the next word belongs to.
    target: Option<Target>,
    /// The words that end the here-documents of this line, and the number of the command of each.
    here_documents: Vec<(String, usize)>,
    /// The number of quoted words around this line.
    within: usize,
}

enum Target {
    Input,
    Output,
    HereDocument,
    HereString,
}

impl ShellReader {
    /// Reads a line, or a substitution up to its bracket; returns what is behind that, if it is
    /// there.
    fn read(mut self, line: &str, is_inner: bool) -> (Vec<SimpleCommand>, Option<&str>) {
        let (mut quote, mut depth) = (None, 0_usize);
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            let here = rest;
            rest = &rest[c.len_utf8()..];
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (Some('"'), '$' | '`') => rest = self.substitute(here, rest),
                (None, ')') if is_inner && depth == 0 => {
                    self.end_step(Then::Apart);
                    return (self.done, Some(rest));
                }
                (Some('"') | None, '\\') => {
                    let next = rest.chars().next();
                    rest = &rest[next.map_or(0, char::len_utf8)..];
                    if let Some(next) = next.filter(|next| *next != '\n') {
                        self.word.get_or_insert_default().push(next);
                    }
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
                    rest = self.take_here_documents(rest);
                }
                (None, '&') if rest.starts_with('>') => {}
                (None, '>' | '<') => rest = self.redirect(here),
                (None, '&' | '|' | ';') => {
                    let found = SEPARATORS.iter().find(|(sign, _)| here.starts_with(sign));
                    let (sign, then) = found.copied().unwrap_or((";", Then::Apart));
                    self.end_step(then);
                    rest = &here[sign.len()..];
                }
                (None, '(' | ')' | '`') => {
                    depth = if c == '(' {
                        depth + 1
                    } else {
                        depth.saturating_sub(usize::from(c == ')'))
                    };
                    self.end_step(Then::Joined);
                }
                (None, '{' | '}') if self.word.is_none() && !rest.starts_with('}') => {
                    self.end_step(Then::Joined);
                }
                (None, c) if c.is_whitespace() => self.end_word(),
                (_, c) => self.word.get_or_insert_default().push(c),
            }
        }
        self.end_step(Then::Joined);
        (self.done, None)
    }

    /// Reads what a quoted word runs: `"$(date)"` or "`date`"; returns what is behind it.
    fn substitute<'l>(&mut self, here: &'l str, rest: &'l str) -> &'l str {
        self.word.get_or_insert_default().push_str(&here[..1]);
        if self.within == MAX_DEPTH {
            return rest;
        }
        let reader = Self {
            within: self.within + 1,
            ..Self::default()
        };
        let bracket = rest
            .strip_prefix('(')
            .filter(|inner| !inner.starts_with('('));
        let (inner, after) = match (bracket, rest.split_once('`')) {
            (Some(inner), _) => reader.read(inner, true),
            (None, Some((inner, after))) if here.starts_with('`') => {
                (reader.read(inner, false).0, Some(after))
            }
            _ => return rest,
        };
        let Some(after) = after else {
            // Without an end it is none, and another one is not looked for: this stays linear.
            self.within = MAX_DEPTH;
            return rest;
        };
        self.done
            .extend(inner.into_iter().map(|command| SimpleCommand {
                then: Then::Within,
                ..command
            }));
        after
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else {
            return;
        };
        match self.target.take() {
            None => self.step.words.push(word),
            Some(Target::Output) => self.step.writes |= word != "/dev/null",
            Some(Target::HereDocument) => {
                let end = word.trim_start_matches('-').to_owned();
                self.here_documents.push((end, self.done.len()));
            }
            Some(Target::HereString) => self.step.here = word,
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
            "<<" => Target::HereDocument,
            "<<<" => Target::HereString,
            _ if sign.contains('>') && !after.starts_with('&') => Target::Output,
            _ => Target::Input,
        });
        after.strip_prefix(['&', '|']).unwrap_or(after)
    }

    fn take_here_documents<'l>(&mut self, mut rest: &'l str) -> &'l str {
        for (end, reader) in self.here_documents.drain(..) {
            let mut lines = rest.split_inclusive('\n');
            let length = lines
                .by_ref()
                .take_while(|line| line.trim() != end)
                .map(str::len);
            let length: usize = length.sum();
            if let Some(reader) = self.done.get_mut(reader) {
                reader.here.push_str(&rest[..length]);
            }
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
    #[case("a && echo \"$(b; c) d\"", &["a", "echo"])]
    fn a_line_fails_with_some_of_its_commands(#[case] line: &str, #[case] want: &[&str]) {
        let commands = read(line).into_iter().filter(|it| it.propagates_failure);
        let names: Vec<_> = commands.map(|command| command.words[0].clone()).collect();
        assert_eq!(names, want, "{line}");
    }

    #[test]
    fn brackets_without_an_end_are_read_in_no_time() {
        let line = "\"$(".repeat(2_000);
        assert!(!read(&line).is_empty());
        let message = "git commit -m \"$(cat <<'EOF'\nfix(a): it's done :)\nEOF\n)\" && git push";
        let subjects = read(message);
        let subjects = subjects.iter().filter_map(SimpleCommand::program);
        let subjects: Vec<_> = subjects.map(|it| it.subject()).collect();
        assert_eq!(subjects, ["cat", "git commit", "git push"]);
    }

    #[test]
    fn a_here_document_is_no_command() {
        let commands = read("python3 - <<'END' > out\nimport x; y | z\nEND\nls");
        let words: Vec<_> = commands.iter().map(|it| it.words.join(" ")).collect();
        assert_eq!(words, ["python3 -", "ls"]);
        assert!(commands[0].writes && !commands[1].writes);
    }

    #[rstest]
    #[case("cd sub && git -C y push --no-tags origin main", &["cd", "git push"])]
    #[case("npm run build; pnpm test", &["npm build", "pnpm test"])]
    #[case("gh pr diff 12 --stat | head -3", &["gh pr diff", "head"])]
    #[case("A=1 sudo env B=2 timeout 60 /usr/bin/python3.11 -m pytest tests", &["pytest"])]
    #[case("time npx tsc --noEmit && uv run mypy .", &["tsc", "mypy"])]
    #[case("sh -c 'cargo build' && (echo 'git push'; ls)", &["cargo build", "echo", "ls"])]
    #[case("for f in *.rs; do ./x.sh \"$f\"; done", &["x.sh"])]
    #[case("git commit -m \"a && b\"", &["git commit"])]
    fn a_command_is_known_by_program_and_subcommand(#[case] line: &str, #[case] want: &[&str]) {
        let commands = read(line);
        let programs = commands.iter().filter_map(SimpleCommand::program);
        assert_eq!(programs.map(|it| it.subject()).collect::<Vec<_>>(), want);
    }

    #[rstest]
    #[case("cd x && git -C y log --oneline | head -3", true)]
    #[case("sudo cat x; wc -l < y", true)]
    #[case("sed -n 1,5p a.rs # then edit", true)]
    #[case("for f in *.rs; do head -1 \"$f\"; done", true)]
    #[case("grep -n 'a > b' x", true)]
    #[case("git push", false)]
    #[case("sed -i s/a/b/ x", false)]
    #[case("cat > b <<'END'\nx\nEND", false)]
    #[case("find . -name x -delete", false)]
    #[case("for f in *.rs; do ./x \"$f\"; done", false)]
    #[case("", false)]
    fn a_line_that_changes_nothing_is_known(#[case] line: &str, #[case] want: bool) {
        assert_eq!(only_reads(line, &[]), want, "{line}");
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

    proptest::proptest! {
        #[test]
        fn any_line_is_read(line in "[a-z\"'\\\\;|&(){}`<>#=. \n-]{0,200}") {
            for command in read(&line) {
                _ = command.program().map(|program| (program.subject(), program.operands()));
            }
        }
    }
}
