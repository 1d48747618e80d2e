//! What a call tries to do: the commands of its line, each by program, subcommand and
//! objects, and whether another call tries the same.

use std::sync::Arc;

use super::event::Call;
use super::message::Message;
use super::shell::{self, Command, SHELLS, base_name};
use super::steps::Step;

/// Programs of which one does the other's job.
const FAMILIES: &[&[&str]] = &[
    &["npm", "pnpm", "yarn", "bun"],
    &["docker", "podman"],
    &["gradle", "gradlew"],
    &["mvn", "mvnw"],
    &["pip", "pip3"],
];
/// Programs that start the one that counts, with the word that says so.
const STARTERS: &[(&str, &[&str])] = &[
    ("npx", &[]),
    ("bunx", &[]),
    ("uvx", &[]),
    ("npm", &["exec"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx"]),
    ("bun", &["x"]),
    ("uv", &["run"]),
    ("poetry", &["run"]),
    ("pdm", &["run"]),
    ("pipenv", &["run"]),
    ("pipx", &["run"]),
    ("bundle", &["exec"]),
    ("mise", &["exec", "x"]),
    ("python", &["-m"]),
];
/// Programs that run the script they are given.
const INTERPRETERS: &[&str] = &[
    "python", "node", "ruby", "perl", "php", "bash", "sh", "zsh", "deno", "bun", "tsx", "ts-node",
];
/// Programs that run a task of the project's own, which only its output names.
const TASK_RUNNERS: &[&str] = &["mise", "make", "just", "task", "npm", "pnpm", "yarn", "bun"];
/// What a task runner prints before the command that it runs.
const ANNOUNCED: &[&str] = &["] $ ", "$ ", "> "];
/// Programs by how many words say what they are to do; all others have [`PARTS`].
const SUBCOMMANDS: &[(usize, &[&str])] = &[
    (
        0,
        &[
            "cat", "cd", "cp", "curl", "eslint", "find", "grep", "head", "jq", "ls", "mkdir", "mv",
            "mypy", "node", "prettier", "psql", "pytest", "python", "rg", "rm", "ruff", "sed",
            "tail", "touch", "tsc", "wget",
        ],
    ),
    (
        1,
        &[
            "brew",
            "bun",
            "bundle",
            "cargo",
            "composer",
            "docker",
            "podman",
            "git",
            "go",
            "gradle",
            "helm",
            "just",
            "kubectl",
            "make",
            "mvn",
            "npm",
            "pip",
            "pip3",
            "pnpm",
            "poetry",
            "rustup",
            "systemctl",
            "task",
            "terraform",
            "yarn",
        ],
    ),
];
/// How many words say what a program is to do that is not in the table.
const PARTS: usize = 2;
/// What makes room for what a line is about: a program, and the word it is told.
const PREPARING: &[(&str, &str)] = &[("mkdir", ""), ("touch", ""), ("chmod", ""), ("git", "add")];
/// Options before a subcommand whose value is a word of its own.
const VALUES: &[&str] = &[
    "-C",
    "-c",
    "-n",
    "-w",
    "--prefix",
    "--filter",
    "--dir",
    "--cwd",
    "--context",
    "--namespace",
    "--color",
    "--workspace",
];
/// Options whose value is prose.
pub(crate) const PROSE: &[&str] = &["-m", "--message", "--title", "--body", "--notes", "-F"];

#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) call: Arc<Call>,
    pub(crate) deeds: Vec<Deed>,
}

/// What one command does, and to what.
#[derive(Clone, Debug)]
pub(crate) struct Deed {
    weight: Weight,
    pub(crate) program: String,
    /// The program that runs this one, a script: `python`.
    pub(crate) interpreter: Option<String>,
    /// What the program is told to do: `push`, `pr diff`; empty when nothing says so.
    pub(crate) part: String,
    /// What it is done to: all other words but options and prose, each without its folders.
    pub(crate) objects: Vec<String>,
    /// The whole command, with what starts it and its environment.
    pub(crate) words: Vec<String>,
    /// Where the line goes before it: `cd web && …`.
    pub(crate) folder: Option<String>,
    /// Whether the line fails when this does.
    pub(crate) is_heard: bool,
}

/// How much of a line's sense lies in a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Looks,
    Prepares,
    Acts,
}

impl Attempt {
    pub(crate) fn of(call: &Arc<Call>) -> Self {
        let deeds = if shell::runs_commands(&call.tool) {
            deeds(&call.input)
        } else {
            Vec::new()
        };
        Self {
            call: call.clone(),
            deeds,
        }
    }

    /// Tells whether it tries all that `other` tried.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.call == other.call || self.covers(other, Deed::is_like)
    }

    /// Tells whether it shows, by having worked, that what `failed` tried can be done: also
    /// that none of it may have failed unseen.
    pub(crate) fn makes_good(&self, failed: &Self) -> bool {
        self.call == failed.call || self.covers(failed, |new, old| new.is_heard && new.is_like(old))
    }

    fn covers(&self, other: &Self, same: impl Fn(&Deed, &Deed) -> bool) -> bool {
        !other.deeds.is_empty()
            && other
                .main()
                .all(|old| self.deeds.iter().any(|new| same(new, old)))
    }

    pub(crate) fn main(&self) -> impl Iterator<Item = &Deed> {
        main(&self.deeds)
    }
}

/// Returns what met an error: the program with its subcommand, for a tool that runs no
/// commands the tool. Of a line with several commands it is the one that the message names.
pub(crate) fn subject(tool: &str, input: &str, message: &Message, output: &str) -> Option<String> {
    if !shell::runs_commands(tool) {
        return Some(tool.to_owned());
    }
    let mut deeds = deeds(input);
    let is_task = |deed: &Deed| TASK_RUNNERS.contains(&deed.program.as_str());
    if only(&deeds).is_some_and(is_task) {
        let announced = output.lines().filter_map(announced).flat_map(self::deeds);
        deeds.extend(announced);
        if let Some(real) = deeds.iter().rev().find(|deed| !is_task(deed)).cloned() {
            deeds = vec![real];
        }
    }
    let is_named = |deed: &&Deed| message.parts().take(4).any(|part| part == deed.program);
    if let Some(named) = deeds.iter().find(is_named) {
        return Some(named.subject());
    }
    // What could not be started is not the program behind it.
    let mut starters = deeds.iter().flat_map(|deed| &deed.words);
    if message.text.contains("not found")
        && let Some(word) = starters.find(|word| message.parts().any(|part| part == **word))
    {
        return Some(base_name(word).to_owned());
    }
    only(&deeds).map(Deed::subject)
}

fn announced(line: &str) -> Option<&str> {
    let found = ANNOUNCED.iter().find_map(|mark| {
        let (before, command) = line.split_once(mark)?;
        (before.is_empty() || (before.starts_with('[') && mark.starts_with(']'))).then_some(command)
    });
    // `> name@1.0.0 task` is the headline above the command.
    found.filter(|command| {
        !command
            .split(' ')
            .next()
            .is_some_and(|word| word.contains('@'))
    })
}

/// The one thing that a line is about, if it is one.
fn only(deeds: &[Deed]) -> Option<&Deed> {
    let mut main = main(deeds);
    let first = main.next()?;
    main.all(|deed| deed.is_told_the_same(first))
        .then_some(first)
}

fn main(deeds: &[Deed]) -> impl Iterator<Item = &Deed> {
    let most = deeds.iter().map(|deed| deed.weight).max();
    deeds.iter().filter(move |deed| Some(deed.weight) == most)
}

fn deeds(line: &str) -> Vec<Deed> {
    let command = Command::read(line);
    let mut folder = None;
    let mut deeds: Vec<Deed> = command.steps().filter_map(Deed::of).collect();
    for deed in &mut deeds {
        if deed.program == "cd" {
            folder = deed.words.last().cloned();
        }
        deed.folder.clone_from(&folder);
    }
    deeds
}

impl Deed {
    /// Reads what a command does, behind programs that only start another one.
    fn of(step: &Step) -> Option<Self> {
        let (program, arguments) = step.program()?;
        if SHELLS.contains(&program) && arguments.iter().any(|word| word.ends_with('c')) {
            // The line that it is given is read by itself.
            return None;
        }
        let (program, mut arguments, interpreter) = started(program, arguments);
        let (program, given) = match program.strip_prefix("docker-") {
            Some(part) => ("docker", Some(part)),
            None => (program, None),
        };
        // `npm run build` is `npm build`.
        if let [run, script, ..] = arguments
            && run == "run"
            && is_plain(script)
        {
            arguments = &arguments[1..];
        }
        let (part, from) = match given {
            Some(given) => (given.to_owned(), 0),
            None => part_of(program, arguments),
        };
        let prepares = PREPARING
            .iter()
            .any(|(name, told)| *name == program && (told.is_empty() || *told == part));
        let weight = if step.only_looks() {
            Weight::Looks
        } else if prepares {
            Weight::Prepares
        } else {
            Weight::Acts
        };
        Some(Self {
            weight,
            program: program.to_owned(),
            interpreter: interpreter.map(str::to_owned),
            part,
            objects: objects(&arguments[from..]),
            words: step.words.clone(),
            folder: None,
            is_heard: step.is_heard,
        })
    }

    /// The program with what it is told to do; of a script what runs it.
    pub(crate) fn subject(&self) -> String {
        match &self.interpreter {
            Some(interpreter) => interpreter.clone(),
            None => format!("{} {}", self.program, self.part)
                .trim_end()
                .to_owned(),
        }
    }

    /// Tells whether it does what `old` was to do, and to no less.
    pub(crate) fn is_like(&self, old: &Self) -> bool {
        let covers = old.objects.iter().all(|object| {
            let mut part = self.part.split(' ');
            self.objects.contains(object) || part.any(|word| word == object)
        });
        let has_all = if old.objects.is_empty() {
            self.weight > Weight::Looks || self.objects.is_empty()
        } else {
            covers
        };
        self.weight >= old.weight && self.is_told_the_same(old) && has_all
    }

    /// Tells whether the program is told the same, be it of something else.
    pub(crate) fn is_told_the_same(&self, old: &Self) -> bool {
        let goes_on = |longer: &str, part: &str| {
            let rest = longer.strip_prefix(part);
            rest.is_some_and(|rest| !part.is_empty() && rest.starts_with(' '))
        };
        // Of an unknown program the second word may be a subcommand or an object.
        let is_part = self.part == old.part
            || (parts_of(&self.program).is_none()
                && (goes_on(&self.part, &old.part) || goes_on(&old.part, &self.part)));
        are_programs_alike(&self.program, &old.program) && is_part
    }
}

/// Looks behind the programs that only start another one, or run a script; returns with it
/// what runs it.
fn started<'w>(
    program: &'w str,
    arguments: &'w [String],
) -> (&'w str, &'w [String], Option<&'w str>) {
    let (mut program, mut arguments) = (without_version(program), arguments);
    let mut interpreter = None;
    loop {
        let is_starter = STARTERS.iter().any(|(name, words)| {
            let first = arguments.first();
            *name == program
                && (words.is_empty() || first.is_some_and(|w| words.contains(&w.as_str())))
        });
        let is_interpreter = INTERPRETERS.contains(&program);
        let mut plain = (0..arguments.len()).filter(|at| !arguments[*at].starts_with('-'));
        let next = match plain.next() {
            Some(at) if is_starter && ["run", "exec", "dlx", "x"].contains(&&*arguments[at]) => {
                plain.next()
            }
            Some(at) if is_starter || (is_interpreter && arguments[at].contains('.')) => Some(at),
            _ => None,
        };
        let Some(next) = next else {
            return (program, arguments, interpreter);
        };
        interpreter = (is_interpreter && !is_starter).then_some(program);
        program = without_version(base_name(&arguments[next]));
        arguments = &arguments[next + 1..];
    }
}

/// `python3.11` is `python`.
fn without_version(program: &str) -> &str {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if name.is_empty() { program } else { name }
}

/// How many words say what a known program is to do.
fn parts_of(program: &str) -> Option<usize> {
    let known = SUBCOMMANDS
        .iter()
        .find(|(_, names)| names.contains(&program));
    known.map(|(count, _)| *count)
}

/// The words that say what a program is to do, and where what follows them begins.
fn part_of(program: &str, arguments: &[String]) -> (String, usize) {
    let wanted = parts_of(program).unwrap_or(PARTS);
    let (mut at, mut parts, mut end) = (0, Vec::new(), 0);
    while parts.len() < wanted
        && let Some(word) = arguments.get(at)
    {
        if parts.is_empty() && word.starts_with(['-', '+']) {
            at += 1 + usize::from(VALUES.contains(&word.as_str()));
        } else if is_plain(word) {
            parts.push(word.as_str());
            at += 1;
            end = at;
        } else {
            break;
        }
    }
    (parts.join(" "), end)
}

fn is_plain(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':'))
}

fn objects(arguments: &[String]) -> Vec<String> {
    let mut objects = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if PROSE.contains(&word.as_str()) {
            words.next();
        } else if !word.starts_with('-') && !word.is_empty() {
            objects.push(base_name(word).to_owned());
        }
    }
    objects.sort_unstable();
    objects.dedup();
    objects
}

fn are_programs_alike(a: &str, b: &str) -> bool {
    a == b
        || FAMILIES
            .iter()
            .any(|family| family.contains(&a) && family.contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn attempt(tool: &str, input: &str) -> Attempt {
        Attempt::of(&Arc::new(Call {
            tool: tool.to_owned(),
            input: input.to_owned(),
        }))
    }

    #[rstest]
    #[case("git push", "git push")]
    #[case("git push origin main", "cd sub && git push --no-tags origin main")]
    #[case("npm test", "pnpm test")]
    #[case("git add -A && git commit -m 'a b'", "git commit -m 'c d e'")]
    #[case("python run.py", "python3 run.py")]
    #[case("python3 -m pytest tests/a", "uv run pytest tests/a")]
    #[case("tsc --noEmit", "npx tsc --noEmit")]
    #[case("docker-compose up", "docker compose up -d")]
    #[case("bash deploy.sh", "chmod +x deploy.sh && ./deploy.sh")]
    #[case("sh -c 'cargo build'", "cargo build")]
    #[case("gh pr diff 12 --stat", "gh pr diff 12 --name-only")]
    #[case("set -o pipefail; make 2>&1 | tail", "make && echo done")]
    fn a_command_makes_one_like_it_good(#[case] failed: &str, #[case] worked: &str) {
        let (failed, worked) = (attempt("Bash", failed), attempt("Bash", worked));
        assert!(worked.makes_good(&failed), "{failed:?} {worked:?}");
    }

    #[rstest]
    #[case::other_part("git push", "git status")]
    #[case::other_part("make", "make clean")]
    #[case::other_part("acme keys list", "acme keys add")]
    #[case::other_script("npm run build", "npm run lint")]
    #[case::other_program("pytest tests/a.py", "black tests/a.py")]
    #[case::in_the_same_folder("cd /p && cargo test", "cd /p && ls")]
    #[case::other_file("python a.py", "python b.py")]
    #[case::other_code("python -c 'import yaml'", "python -c 'print(1)'")]
    #[case::nothing_named("ls src/foo", "ls")]
    #[case::a_part_of_it("cargo test && cargo clippy", "cargo clippy")]
    #[case::may_have_failed("make", "make | tail -5")]
    #[case::may_have_failed("./deploy.sh", "./deploy.sh; echo \"exit: $?\"")]
    #[case::may_have_failed("npm start", "npm start &")]
    #[case::only_spoken_of("git push", "echo git push")]
    fn another_command_makes_nothing_good(#[case] failed: &str, #[case] worked: &str) {
        let (failed, worked) = (attempt("Bash", failed), attempt("Bash", worked));
        assert!(!worked.makes_good(&failed), "{failed:?} {worked:?}");
    }

    #[rstest]
    #[case("Read", "/a/main.rs", true)]
    #[case("Read", "/b/main.rs", false)]
    #[case("Bash", "cat /a/main.rs", false)]
    fn other_tools_try_the_same_when_they_are_called_the_same(
        #[case] tool: &str,
        #[case] input: &str,
        #[case] same: bool,
    ) {
        let failed = attempt("Read", "/a/main.rs");
        assert_eq!(attempt(tool, input).makes_good(&failed), same);
    }

    #[rstest]
    #[case::subcommand("gh pr diff 12 --stat", "unknown flag: --stat", Some("gh pr diff"))]
    #[case::given_to_a_shell("sh -c 'cargo build'", "error: x", Some("cargo build"))]
    #[case::named("git add a && go build", "go: cannot find module: x", Some("go build"))]
    #[case::one_of_two("cargo build && cargo run", "error: x", None)]
    #[case::not_started("tsc --noEmit", "bash: line 1: tsc: command not found", Some("tsc"))]
    #[case::starter_is_missing("python run.py", "bash: python: command not found", Some("python"))]
    #[case::task(
        "mise run lint",
        "[lint] $ golangci-lint run\nError: unknown flag: --foo",
        Some("golangci-lint run")
    )]
    #[case::script(
        "npm run lint",
        "> app@1.0.0 lint\n> eslint .\nerror: x",
        Some("eslint")
    )]
    fn an_error_is_of_the_program_that_met_it(
        #[case] command: &str,
        #[case] output: &str,
        #[case] want: Option<&str>,
    ) {
        let message = Message::find(output).unwrap();
        assert_eq!(subject("Bash", command, &message, output).as_deref(), want);
        assert_eq!(
            subject("Read", command, &message, output).as_deref(),
            Some("Read")
        );
    }

    proptest::proptest! {
        #[test]
        fn any_command_is_read(line in "[a-z\"'\\\\;|&(){}`<>#=. \n-]{0,200}") {
            let attempt = attempt("Bash", &line);
            proptest::prop_assert!(attempt.makes_good(&attempt));
        }
    }
}
