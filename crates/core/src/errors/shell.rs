//! Parses a command line as a shell does: its simple commands, the program that each runs, and
//! which of them make the line fail.

use super::words::{
    BRACKETS, CHANGES, LOOKS, List, NO_RUN, NO_SUBCOMMAND, PREPARES, PRINTS_OTHERS, PROGRAMS,
    PROSE, REWRITES, STARTERS, TASK_RUNNERS, TOOLCHAINS, TWO_SUBCOMMANDS, VALUED,
};
use crate::clip::head;

/// The part of a line that is parsed: agents write whole files in front of a command.
const MAX_LINE_BYTES: usize = 200_000;
/// The longest arithmetic expression that is recognized, in characters.
const MAX_ARITHMETIC: usize = 300;
/// Programs whose `-c` takes a line, and the depth to which such lines are parsed.
pub(super) const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash"];
const MAX_DEPTH: usize = 3;
/// Words in the names of tools that run a command line.
const TOOL_WORDS: &[&str] = &["bash", "shell", "powershell", "terminal", "command"];

pub fn runs_commands(tool: &str) -> bool {
    let parts = tool.split(['_', '-', '.']);
    let mut words = parts.map(str::to_ascii_lowercase);
    words.any(|word| TOOL_WORDS.contains(&&*word))
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
    /// The words without their quotes, redirections and here-documents.
    pub words: Vec<String>,
    /// Set if the output is written to a file.
    pub writes: bool,
    pub here: String,
    /// Set if the line fails when this command does.
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
    /// The failure is hidden: `;`, `||`, `&`, a new line.
    Apart,
    /// The command is within a quoted word, and its failure is hidden.
    Within,
}

/// Returns the simple commands of a line. `sh -c LINE` and `eval LINE` are replaced by those of
/// `LINE`; the one of `find -exec` follows.
pub fn read(line: &str) -> Vec<SimpleCommand> {
    let part = head(line, MAX_LINE_BYTES);
    let mut commands = read_to(part, MAX_DEPTH);
    if part.len() < line.len() {
        // It may be cut inside a word.
        commands.pop();
    }
    commands
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
            // Only the `&` of a background command can follow the last one.
            Then::Apart => back == 0 && !line.trim_end().ends_with('&'),
        };
        propagates &= command.then != Then::Apart || command.propagates_failure;
    }
    let inner = |command: SimpleCommand| match given_line(&command) {
        Some(line) if depth > 0 => {
            let mut inner = read_to(&line, depth - 1);
            for one in &mut inner {
                one.propagates_failure &= command.propagates_failure;
            }
            inner
        }
        _ => {
            let executed = executed(&command);
            [command].into_iter().chain(executed).collect()
        }
    };
    commands.into_iter().flat_map(inner).collect()
}

/// Returns the command of `find -exec`.
fn executed(command: &SimpleCommand) -> Option<SimpleCommand> {
    let program = command.program()?;
    let is_exec = |word: &String| ["-exec", "-execdir", "-ok", "-x"].contains(&&**word);
    let at = program.arguments.iter().position(is_exec)?;
    let words = program.arguments[at + 1..].iter();
    let words = words.take_while(|word| ![";", "+"].contains(&&***word));
    ["find", "fd"]
        .contains(&program.name)
        .then(|| SimpleCommand {
            words: words.cloned().collect(),
            then: Then::Within,
            ..SimpleCommand::default()
        })
}

/// Returns the line of `bash -c LINE` and `eval LINE`, or the lines of `bash <<END`.
fn given_line(command: &SimpleCommand) -> Option<String> {
    let takes = |word: &String| {
        let name = base_name(word);
        SHELLS.contains(&name) || ["nix-shell", "script"].contains(&name)
    };
    let is_option = |word: &&String| {
        let is_short = word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
        is_short || ["--run", "--command"].contains(&&***word)
    };
    let mut operands = command.words.iter().filter(|word| !word.starts_with('-'));
    if !command.here.is_empty() && operands.next_back().is_some_and(takes) {
        return Some(command.here.clone());
    }
    if let Some(("eval", line)) = command.words.split_first().map(|(it, line)| (&**it, line)) {
        return Some(line.join(" "));
    }
    let mut words = command.words.iter().skip_while(|word| !takes(word));
    words.find(is_option)?;
    words.next().cloned()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckKind {
    Test,
    Type,
    Lint,
    Build,
    /// The name only shows that it checks something: `make verify`, `./ci.sh`.
    Other,
}

/// The checking programs, some with a subcommand, and the words that name a check; the first kind
/// that matches wins.
static KINDS: [(CheckKind, List, List); 5] = [
    lists(CheckKind::Test, ["test checkers", "test words"]),
    lists(CheckKind::Type, ["type checkers", "type words"]),
    lists(CheckKind::Lint, ["lint checkers", "lint words"]),
    lists(CheckKind::Build, ["build checkers", "build words"]),
    lists(CheckKind::Other, ["other checkers", "other words"]),
];

const fn lists(kind: CheckKind, [checkers, words]: [&'static str; 2]) -> (CheckKind, List, List) {
    (kind, List::named(checkers), List::named(words))
}

/// A command that runs tests, a build, a linter or a type checker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The program with what it was asked for: `npm test`, `run_tests.sh`.
    pub name: String,
    pub kind: CheckKind,
}

impl CheckKind {
    fn of_checker(name: &str) -> Option<Self> {
        let found = KINDS.iter().find(|(_, checkers, _)| checkers.has(name));
        found.map(|(kind, ..)| *kind)
    }

    /// Returns the kind that a target, a script or an option names: `test:unit`, `runTests.sh`.
    fn named(name: &str) -> Option<Self> {
        let mut words = String::new();
        for c in name.chars() {
            if c.is_ascii_uppercase() && words.ends_with(|last: char| last.is_ascii_lowercase()) {
                words.push(' ');
            }
            words.push(c);
        }
        // `e2e`
        let (words, whole) = (words.to_ascii_lowercase(), name.to_ascii_lowercase());
        let found = KINDS.iter().find(|(.., list)| {
            let mut words = words.split(|c: char| !c.is_ascii_alphabetic());
            list.has(&whole) || words.any(|word| list.has(word))
        });
        found.map(|(kind, ..)| *kind)
    }
}

/// The checks of a line, and the meaning of its exit status for them.
#[derive(Clone, Debug)]
pub struct LineChecks {
    pub checks: Vec<Check>,
    /// Set if the line fails when one of them does.
    pub is_heard: bool,
    /// Set if nothing else on the line can make it fail.
    pub is_alone: bool,
}

/// Returns the checks that a line runs. Those whose failure the line hides count only if there are
/// no others.
pub fn checks(commands: &[SimpleCommand]) -> Option<LineChecks> {
    let found: Vec<_> = commands.iter().map(SimpleCommand::check).collect();
    let last = found.iter().rposition(Option::is_some)?;
    let (heard, hidden): (Vec<_>, Vec<_>) = commands
        .iter()
        .zip(&found)
        .filter_map(|(command, check)| Some((command.propagates_failure, check.clone()?)))
        .partition(|(is_heard, _)| *is_heard);
    let is_heard = !heard.is_empty();
    let may_fail = |(at, command): (usize, &SimpleCommand)| {
        let is_other = command.propagates_failure && found[at].is_none();
        is_other && command.may_fail(at > last)
    };
    let checks = if is_heard { heard } else { hidden };
    Some(LineChecks {
        is_alone: is_heard && !commands.iter().enumerate().any(may_fail),
        checks: checks.into_iter().map(|(_, check)| check).collect(),
        is_heard,
    })
}

/// Returns `true` for a line with an unknown command that may run a check.
pub fn may_check(commands: &[SimpleCommand]) -> bool {
    let may_check = |program: Program<'_>| {
        let mut words = program.arguments.iter();
        let is_idle = program.check().is_some() && words.any(|word| NO_RUN.has(word));
        !(program.checks_nothing() || is_idle) || program.rewrites()
    };
    let mut programs = commands.iter().filter_map(SimpleCommand::program);
    programs.any(may_check)
}

/// Returns `true` for a line that may write a file, by a redirection or by a program.
pub fn writes(commands: &[SimpleCommand]) -> bool {
    let is_change = |program: Program<'_>| CHANGES.has(program.name);
    let writes = |it: &SimpleCommand| it.writes || it.program().is_some_and(is_change);
    commands.iter().any(writes)
}

/// Returns `true` for a line in which git may change working files.
pub fn rewrites(commands: &[SimpleCommand]) -> bool {
    let mut programs = commands.iter().filter_map(SimpleCommand::program);
    programs.any(|program| program.rewrites())
}

/// Returns `true` for a program with its subcommand that checks the project's files.
pub(super) fn is_check(program: &str, subcommand: &str) -> bool {
    let first = subcommand.split(' ').next().unwrap_or_default();
    CheckKind::of_checker(program).is_some() || CheckKind::named(first).is_some()
}

/// A program and its arguments, without the settings and starters before it.
#[derive(Clone, Copy, Debug)]
pub struct Program<'w> {
    /// The name without folder and version.
    pub name: &'w str,
    pub arguments: &'w [String],
}

impl SimpleCommand {
    /// Returns `true` if the next command reads this one's output.
    pub fn is_piped(&self) -> bool {
        self.then == Then::Pipe
    }

    /// Returns the check that it runs, itself or through an unknown program.
    fn check(&self) -> Option<Check> {
        let program = self.program().filter(|it| !it.checks_nothing())?;
        let words = program.arguments;
        let mut options = words.iter().filter(|word| word.starts_with('-'));
        if options.any(|word| NO_RUN.has(word)) {
            return None;
        }
        let behind = || {
            let starts = (0..words.len()).filter(|at| !words[*at].starts_with('-'));
            let mut programs = starts.filter_map(|at| Program::of(&words[at..]));
            programs.find_map(|inner| inner.check().filter(|_| inner.is_known()))
        };
        let is_idle = || program.first().is_some_and(|word| NO_RUN.has(word));
        program.check().or_else(|| (!is_idle()).then(behind)?)
    }

    /// Returns `true` if the line may fail by it. Before a check, commands that only look hardly
    /// ever fail.
    fn may_fail(&self, is_behind: bool) -> bool {
        self.program().is_some_and(|program| {
            let is_quiet = ["echo", "printf", "true", "popd", "date"].contains(&program.name);
            let is_safe =
                || program.only_reads() || program.prepares() || CHANGES.has(program.name);
            !is_quiet && (is_behind || !is_safe())
        })
    }

    /// Returns the program that it runs; `None` for a keyword of the shell.
    pub fn program(&self) -> Option<Program<'_>> {
        Program::of(&self.words)
    }

    /// Returns its words from each program that it starts; `sudo make x` gives two forms, itself
    /// and `make x`.
    pub fn forms(&self) -> Vec<&[String]> {
        let mut forms = Vec::new();
        Program::started(&self.words, &mut |words| forms.push(words));
        forms
    }
}

impl<'w> Program<'w> {
    /// Returns the program that the words of a command run.
    pub(super) fn of(words: &'w [String]) -> Option<Self> {
        Self::started(words, &mut |_| {})
    }

    /// Returns the same, and passes the words of each program started on the way to `each`.
    fn started(mut words: &'w [String], each: &mut dyn FnMut(&'w [String])) -> Option<Self> {
        let mut is_started = false;
        loop {
            let (first, arguments) = words.split_first()?;
            let name = without_version(base_name(first));
            // `bin/test` belongs to the project.
            let is_own = LOOKS.has(name) && !first.starts_with('/') && first.contains('/');
            let name = if is_own { first } else { name };
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
            each(words);
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

    /// Returns `true` for a program that is searched for after an unknown one.
    fn is_known(&self) -> bool {
        let is_script = self.name.strip_suffix(".sh").is_some() || self.name.contains(['_', '-']);
        let is_table = TASK_RUNNERS.has(self.name) || TOOLCHAINS.has(self.name);
        is_script || is_table || CheckKind::of_checker(self.name).is_some()
    }

    fn first(&self) -> Option<&'w String> {
        let mut words = self.arguments.iter();
        words.find(|word| !word.starts_with(['-', '+']))
    }

    /// Returns the check, if the program is in the tables or its name says check.
    fn check(&self) -> Option<Check> {
        let first = self.first();
        let with = |word: &str| format!("{} {word}", self.name);
        let check = |name: String, kind| Some(Check { name, kind });
        let script = first.filter(|word| TOOLCHAINS.has(self.name) && word.contains(['/', '.']));
        if let Some((script, kind)) = script.and_then(|path| Some((path, script_kind(path)?))) {
            return check(base_name(script).to_owned(), kind);
        }
        let is_runner = TASK_RUNNERS.has(self.name);
        let own = CheckKind::of_checker(self.name);
        let asked = self.asked(is_runner);
        let options = self.arguments.iter().filter(|word| {
            let is_check = ["--test", "--check", "--check-only"].contains(&word.as_str());
            is_check || (word.starts_with("--") && CheckKind::of_checker(&with(word)).is_some())
        });
        let kind_of = |word: &str| {
            let by_name = || CheckKind::of_checker(word).or_else(|| CheckKind::named(word));
            CheckKind::of_checker(&with(word))
                .or_else(|| by_name().filter(|_| own.is_none() || is_runner))
        };
        let kinds = asked.into_iter().chain(options);
        let kinds = kinds.filter_map(|word| Some((word, kind_of(word)?)));
        if let Some((word, kind)) = kinds.min_by_key(|(_, kind)| *kind as u8) {
            return check(with(word), kind);
        }
        let is_idle = first.is_some_and(|word| NO_RUN.has(word));
        let kind = own.or_else(|| script_kind(self.name)).filter(|_| !is_idle);
        check(self.name.to_owned(), kind?)
    }

    /// Returns the tasks that a runner is asked for; for another program, the subcommand.
    fn asked(&self, is_runner: bool) -> Vec<&'w String> {
        let is_without = NO_SUBCOMMAND.has(self.name);
        let most = if is_runner {
            usize::MAX
        } else {
            usize::from(!is_without)
        };
        let mut is_value = false;
        let operands = self.arguments.iter().filter(|word| {
            let was_value = std::mem::replace(&mut is_value, VALUED.has(word) && *word != "-s");
            // `docker compose build`
            let is_group = ["compose", "buildx", "xtask", "task"].contains(&word.as_str());
            !(was_value || is_group || word.starts_with(['-', '+']))
        });
        let is_task = |word: &&String| {
            let task = word.trim_start_matches(':').split(' ').next();
            task.is_some_and(is_plain)
        };
        operands.take(most).filter(is_task).collect()
    }

    /// Returns `true` if the program is known to check nothing and to leave versioned files alone.
    fn checks_nothing(&self) -> bool {
        self.only_reads()
            || self.prepares()
            || CHANGES.has(self.name)
            || ["git", "gh", "glab"].contains(&self.name)
            || self.is_in(&PRINTS_OTHERS)
    }

    fn is_in(&self, list: &List) -> bool {
        list.has(self.name) || list.has(&self.subject())
    }

    /// Returns `true` if git may change working files.
    fn rewrites(&self) -> bool {
        let leaves = |word: &String| ["-b", "-B", "-c", "list", "show"].contains(&word.as_str());
        let subcommand = self.subcommand();
        self.name == "git" && REWRITES.has(&subcommand) && !self.arguments.iter().any(leaves)
    }
}

/// Returns the kind of check that a script's path names: `scripts/run-tests.sh`, `test/run.js`.
fn script_kind(path: &str) -> Option<CheckKind> {
    let name = base_name(path);
    let stem = name.split('.').next().unwrap_or(name);
    let folder = path.trim_end_matches('/').rsplit('/').nth(1);
    let folder = folder.filter(|_| ["run", "main", "index", "all"].contains(&stem));
    CheckKind::of_checker(name)
        .or_else(|| CheckKind::named(stem))
        .or_else(|| CheckKind::named(folder?))
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

    /// Returns the arguments except options, prose and the subcommand, without folders.
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

    /// Returns `true` if it changes nothing, apart from where its output is written.
    pub fn only_reads(&self) -> bool {
        let edits = self.arguments.iter().any(|word| match self.name {
            "find" | "fd" => ["-delete", "-exec", "-execdir", "-x", "-X"].contains(&&**word),
            "sed" => word.starts_with("-i"),
            _ => false,
        });
        let about_itself = ["--version", "-V", "--help", "-h", "version", "help"];
        let plain = self.arguments.iter().filter(|it| !it.starts_with('-'));
        let looks = |word: &String| LOOKS.has(&format!("{} {word}", self.name));
        let is_listed = LOOKS.has(self.name)
            || matches!(self.arguments, [only] if about_itself.contains(&&**only))
            || plain.take(2).any(looks);
        is_listed && !edits
    }

    /// Returns `true` if it only prepares for the rest of the line: `mkdir`, `git add`.
    pub fn prepares(&self) -> bool {
        self.is_in(&PREPARES)
    }
}

/// Returns `true` for a program that many projects use, looked up without its version.
pub fn is_common(program: &str) -> bool {
    let known = [&PROGRAMS, &LOOKS, &PREPARES, &STARTERS];
    let with_subcommands = [&TASK_RUNNERS, &NO_SUBCOMMAND, &TWO_SUBCOMMANDS];
    let mut lists = known.into_iter().chain(with_subcommands);
    lists.any(|list| list.has(program)) || CheckKind::of_checker(program).is_some()
}

/// `python3.11` is `python`.
fn without_version(program: &str) -> &str {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if name.is_empty() { program } else { name }
}

fn is_plain(word: &str) -> bool {
    let is_part = |b: u8| b.is_ascii_alphanumeric() || b"-_:".contains(&b);
    word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.bytes().all(is_part)
}

/// Returns the rest after a short `((…))`; `inner` begins behind the first bracket.
fn after_arithmetic(inner: &str) -> Option<&str> {
    let mut depth = 1;
    for (at, c) in inner.char_indices().take(MAX_ARITHMETIC) {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return inner[..at].ends_with(')').then(|| &inner[at + 1..]),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[derive(Default)]
struct ShellReader {
    done: Vec<SimpleCommand>,
    step: SimpleCommand,
    word: Option<String>,
    /// The kind of redirection that the next word belongs to.
    target: Option<Target>,
    here_documents: Vec<HereDocument>,
    /// The nesting depth of quoted words around this line.
    within: usize,
    /// Set inside `NAME=(…)`, where only substitutions run.
    is_list: bool,
}

#[derive(Clone, Copy)]
enum Target {
    Input,
    Output,
    HereDocument { is_raw: bool, is_indented: bool },
    HereString,
}

struct HereDocument {
    /// The word that ends it.
    end: String,
    /// The index of the command that reads it.
    reader: usize,
    /// Set if the shell leaves substitutions in it as they are.
    is_raw: bool,
    /// Set if tabs may stand before `end`.
    is_indented: bool,
}

/// The quote that `$'` opens; inside it `\'` is a quotation mark.
const ANSI: char = '$';

impl ShellReader {
    /// Parses a line, or a substitution up to its closing bracket; returns the commands and the
    /// rest after that bracket.
    fn read(mut self, line: &str, is_inner: bool) -> (Vec<SimpleCommand>, Option<&str>) {
        let (mut quote, mut depth) = (None, 0_usize);
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            let here = rest;
            rest = &rest[c.len_utf8()..];
            let opens_two = quote.is_none() && here.starts_with("((");
            let arithmetic = opens_two.then(|| after_arithmetic(rest)).flatten();
            match (quote, c) {
                (Some(ANSI), '\'') => quote = None,
                (Some(ANSI), '\\') => {
                    let next = rest.chars().next();
                    rest = &rest[next.map_or(0, char::len_utf8)..];
                    let meant = next.map(|next| if next == 'n' { '\n' } else { next });
                    self.word.get_or_insert_default().extend(meant);
                }
                (Some(open), c) if c == open && open != ANSI => quote = None,
                (None, '$') if rest.starts_with('\'') => {
                    quote = Some(ANSI);
                    rest = &rest[1..];
                    self.word.get_or_insert_default();
                }
                (None, '(' | ')') if self.step.words.first().is_some_and(|it| it == "[[") => {
                    self.word.get_or_insert_default().push(c);
                }
                (None, '(') if self.begins_list() => rest = self.take_list(rest),
                (None, '$' | '`') if self.is_list => rest = self.substitute(here, rest),
                (None, '(') if arithmetic.is_some() => rest = arithmetic.unwrap_or_default(),
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
                    let (then, length) = match here.as_bytes() {
                        [b'&', b'&', ..] => (Then::And, 2),
                        [b'|', b'|', ..] => (Then::Apart, 2),
                        [b'|', b'&', ..] => (Then::Pipe, 2),
                        [b'|', ..] => (Then::Pipe, 1),
                        _ => (Then::Apart, 1),
                    };
                    self.end_step(then);
                    rest = &here[length..];
                }
                (None, '(' | ')' | '`') => {
                    depth = if c == '(' {
                        depth + 1
                    } else {
                        depth.saturating_sub(usize::from(c == ')'))
                    };
                    self.end_step(Then::Joined);
                }
                (None, '{' | '}') if self.begins_command() && !rest.starts_with('}') => {
                    self.end_step(Then::Joined);
                }
                (None, c) if c.is_ascii_whitespace() => self.end_word(),
                (_, c) => self.word.get_or_insert_default().push(c),
            }
        }
        self.end_step(Then::Joined);
        (self.done, None)
    }

    /// Parses the substitution in a quoted word: `"$(date)"` or "`date`"; returns the rest after
    /// it.
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
            // An open substitution is skipped, and no other is searched for: this stays linear.
            self.within = MAX_DEPTH;
            return rest;
        };
        for mut command in inner {
            command.then = Then::Within;
            self.done.push(command);
        }
        after
    }

    /// Returns `true` behind `NAME=`, where a bracket opens a list, and in a pattern: `@(a|b)`.
    fn begins_list(&self) -> bool {
        let word = self.word.as_deref().unwrap_or_default();
        let is_name = word.len() > 1 && word.ends_with(['=', '!']);
        (is_name || word.ends_with(['@', '?', '+', '*'])) && self.within < MAX_DEPTH
    }

    /// Returns `true` where a command may begin, as behind `then`.
    fn begins_command(&self) -> bool {
        let is_start = |word: &String| STARTERS.has(word) || BRACKETS.has(word);
        self.word.is_none() && self.step.words.last().is_none_or(is_start)
    }

    /// Skips the values of `NAME=(…)`, where only substitutions run; returns the rest.
    fn take_list<'l>(&mut self, rest: &'l str) -> &'l str {
        let reader = Self {
            within: self.within + 1,
            is_list: true,
            ..Self::default()
        };
        let (inner, after) = reader.read(rest, true);
        let Some(after) = after else {
            self.within = MAX_DEPTH;
            return rest;
        };
        let run = inner.into_iter().filter(|it| it.then == Then::Within);
        self.done.extend(run);
        after
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else {
            return;
        };
        match self.target.take() {
            None => self.step.words.push(word),
            Some(Target::Output) => self.step.writes |= word != "/dev/null",
            Some(Target::HereDocument {
                is_raw,
                is_indented,
            }) => self.here_documents.push(HereDocument {
                end: word,
                reader: self.done.len(),
                is_raw,
                is_indented,
            }),
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

    /// Parses `>`, `>>`, `2>&1`, `<`, `<<END` up to the target.
    fn redirect<'l>(&mut self, here: &'l str) -> &'l str {
        let is_number = |word: &mut String| word.bytes().all(|b| b.is_ascii_digit());
        self.word.take_if(is_number);
        self.end_word();
        let after = here.trim_start_matches(['>', '<']);
        let sign = &here[..here.len() - after.len()];
        self.target = Some(match sign {
            "<<" => {
                let indented = after.strip_prefix('-');
                let word = indented.unwrap_or(after);
                self.target = Some(Target::HereDocument {
                    is_raw: word.trim_start().starts_with(['\'', '"', '\\']),
                    is_indented: indented.is_some(),
                });
                return word;
            }
            "<<<" => Target::HereString,
            _ if sign.contains('>') && !after.starts_with('&') => Target::Output,
            _ => Target::Input,
        });
        after.strip_prefix(['&', '|']).unwrap_or(after)
    }

    /// Adds the commands of the substitutions in a text.
    fn expand(&mut self, mut text: &str) {
        while let Some(at) = text.find(['$', '`', '\\']) {
            let (here, rest) = (&text[at..], &text[at + 1..]);
            text = if here.starts_with('\\') {
                let next = rest.chars().next();
                &rest[next.map_or(0, char::len_utf8)..]
            } else {
                self.substitute(here, rest)
            };
        }
        self.word = None;
    }

    fn take_here_documents<'l>(&mut self, mut rest: &'l str) -> &'l str {
        for document in std::mem::take(&mut self.here_documents) {
            let HereDocument {
                end,
                reader,
                is_raw,
                is_indented,
            } = document;
            let is_end = |line: &&str| {
                let line = line.trim_end_matches(['\n', '\r']);
                let tabs: &[char] = if is_indented { &['\t'] } else { &[] };
                line.trim_start_matches(tabs) == end
            };
            let mut lines = rest.split_inclusive('\n');
            let length = lines
                .by_ref()
                .take_while(|line| !is_end(line))
                .map(str::len);
            let length: usize = length.sum();
            if let Some(reader) = self.done.get_mut(reader) {
                reader.here.push_str(&rest[..length]);
            }
            if !is_raw {
                self.expand(&rest[..length]);
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
    #[case("cargo test && npm run build | tail", &["Test cargo test"])]
    #[case("CI=1 timeout -k 5 60s uv run python3 -m pytest > /tmp/o 2>&1", &["Test pytest"])]
    #[case("docker compose run --rm -v .:/w app npm test", &["Test npm test"])]
    #[case("docker exec -it app ./run_tests.sh", &["Test run_tests.sh"])]
    #[case("flock /tmp/l tox -e lint && nix-shell --run 'go vet'", &["Lint tox lint", "Lint go vet"])]
    #[case("./gradlew :app:testDebugUnitTest", &["Test gradlew :app:testDebugUnitTest"])]
    #[case("gradle clean assemble && mvn -pl a verify", &["Build gradle assemble", "Test mvn verify"])]
    #[case("bash scripts/run-tests.sh && node test/run.js", &["Test run-tests.sh", "Test run.js"])]
    #[case("python manage.py test shop && php artisan test", &["Test manage.py test", "Test artisan test"])]
    #[case("yarn tsc --noEmit && npx @biomejs/biome check a", &["Type yarn tsc", "Lint biome"])]
    #[case("cmake --build build && ./build/calc_test", &["Build cmake build", "Test calc_test"])]
    #[case("./ci.sh && bin/test && rtk pytest", &["Other ci.sh", "Test bin/test", "Test rtk pytest"])]
    #[case("pytest --version; cargo test --no-run; npx jest --listTests; pre-commit install", &[])]
    #[case("grep pytest . ; echo 'cargo test'; git commit -m 'make test pass'; make install", &[])]
    #[case("cat > ci.sh <<'E'\npytest\nE\npip install pytest; rm -rf build tests; psql test", &[])]
    #[case("python report.py test; python gen.py --format json; cargo run --bin test", &[])]
    fn the_checks_of_a_line_are_known(#[case] line: &str, #[case] want: &[&str]) {
        let found = checks(&read(line)).map_or(Vec::new(), |found| found.checks);
        let names = found.iter().map(|it| format!("{:?} {}", it.kind, it.name));
        assert_eq!(names.collect::<Vec<_>>(), want, "{line}");
    }

    #[rstest]
    #[case("cd x && git status && rm -r b && pytest > log 2>&1 && echo ok", true)]
    #[case("npm ci && npm test", false)]
    #[case("pytest && ls x", false)]
    #[case("pytest | tail", false)]
    #[case("pytest; cat x", false)]
    fn the_exit_of_a_line_is_its_checks(#[case] line: &str, #[case] want: bool) {
        assert_eq!(checks(&read(line)).unwrap().is_alone, want, "{line}");
    }

    #[rstest]
    #[case(
        "git add -A && git commit -m x; git stash list; git switch -c x",
        false
    )]
    #[case("cat > a.md <<'E'\npytest\nE\npytest --version; pip install x", false)]
    #[case("for f in *.rs; do head -1 \"$f\"; done | sort", false)]
    #[case("for f in *.rs; do ./x \"$f\"; done", true)]
    #[case("find . -name x -delete", true)]
    #[case("git checkout main", true)]
    #[case("npm start", true)]
    fn a_line_that_may_check_unseen_is_known(#[case] line: &str, #[case] want: bool) {
        assert_eq!(may_check(&read(line)), want, "{line}");
    }

    #[test]
    fn tools_that_run_commands_are_known() {
        assert!(["Bash", "PowerShell", "mcp__term__run_command"].map(runs_commands) == [true; 3]);
        assert!(["SlashCommand", "Read"].map(runs_commands) == [false; 2]);
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
