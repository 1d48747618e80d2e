//! What one command does, and to what: `git push`, to `origin` and `main`.

use super::aim::{are_akin, words};
use super::shell::base_name;
use super::steps::Step;

/// Programs of which one does the other's job.
const FAMILIES: &[&[&str]] = &[
    &["npm", "pnpm", "yarn", "bun"],
    &["docker", "podman"],
    &["gradle", "gradlew"],
    &["mvn", "mvnw"],
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
    ("python", &["-m"]),
];
/// Programs that run the script they are given.
const INTERPRETERS: &[&str] = &[
    "python", "node", "ruby", "perl", "php", "bash", "sh", "zsh", "deno", "bun", "tsx", "ts-node",
];
/// What makes room for what a line is about: a program, and the word it is told.
const PREPARING: &[(&str, Option<&str>)] = &[
    ("mkdir", None),
    ("touch", None),
    ("chmod", None),
    ("git", Some("add")),
];
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
const PROSE: &[&str] = &["-m", "--message", "--title", "--body", "--notes", "-F"];

/// What one command does.
#[derive(Clone, Debug)]
pub(crate) struct Deed {
    pub(crate) weight: Weight,
    program: String,
    /// What the program is told to do: `push`.
    part: Option<String>,
    /// What it is done to, each without its folders; sorted.
    objects: Vec<String>,
    /// Whether the line fails when this does.
    pub(crate) is_heard: bool,
}

/// How much of a line's sense lies in a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    Looks,
    Prepares,
    Acts,
}

impl Deed {
    /// Reads what a command does, behind programs that only start another one.
    pub(crate) fn of(step: &Step) -> Option<Self> {
        let (program, arguments) = step.program()?;
        let (program, mut arguments) = started(program, arguments);
        let mut parts = program.splitn(2, "docker-");
        let (program, given_part) = match (parts.next(), parts.next()) {
            (Some(""), Some(part)) => ("docker", Some(part)),
            _ => (program, None),
        };
        // `npm run build` is `npm build`.
        if let [run, script, ..] = arguments
            && run == "run"
            && is_plain(script)
        {
            arguments = &arguments[1..];
        }
        let (part, from) = match given_part {
            Some(part) => (Some(part), 0),
            None => part_of(arguments),
        };
        let weight = if step.only_looks() {
            Weight::Looks
        } else if PREPARING
            .iter()
            .any(|(name, told)| *name == program && (told.is_none() || *told == part))
        {
            Weight::Prepares
        } else {
            Weight::Acts
        };
        Some(Self {
            weight,
            program: program.to_owned(),
            part: part.map(str::to_owned),
            objects: objects(&arguments[from..], step.given.as_deref()),
            is_heard: step.is_heard,
        })
    }

    /// Tells whether it does what `old` was to do.
    pub(crate) fn is_like(&self, old: &Self) -> bool {
        let is_program = are_programs_alike(&self.program, &old.program);
        let is_part = self.part == old.part
            || matches!((&self.part, &old.part), (Some(a), Some(b)) if are_a_slip_apart(a, b));
        let is_object = self.objects == old.objects
            || are_akin(&self.objects, &old.objects)
            || (old.objects.is_empty() && self.weight > Weight::Looks);
        let is_misspelt = !old.objects.is_empty()
            && self.objects == old.objects
            && are_a_slip_apart(&self.program, &old.program);
        let is_enough = self.weight >= old.weight;
        is_enough && is_part && is_object && (is_program || is_misspelt)
    }

    /// Tells whether the program is told the same, be it of something else.
    pub(crate) fn is_told_the_same(&self, old: &Self) -> bool {
        are_programs_alike(&self.program, &old.program) && self.part == old.part
    }
}

/// Looks behind the programs that only start another one, or run a script.
fn started<'w>(program: &'w str, arguments: &'w [String]) -> (&'w str, &'w [String]) {
    let (mut program, mut arguments) = (without_version(program), arguments);
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
            return (program, arguments);
        };
        program = without_version(base_name(&arguments[next]));
        arguments = &arguments[next + 1..];
    }
}

/// `python3.11` is `python`.
fn without_version(program: &str) -> &str {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if name.is_empty() { program } else { name }
}

/// The word that says what a program is to do, and where what follows it begins.
fn part_of(arguments: &[String]) -> (Option<&str>, usize) {
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        if word.starts_with(['-', '+']) {
            at += 1 + usize::from(VALUES.contains(&word.as_str()));
        } else if is_plain(word) {
            return (Some(word), at + 1);
        } else {
            break;
        }
    }
    (None, 0)
}

fn is_plain(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':'))
}

/// What a command is done to: files without their folders, and the words of texts.
fn objects(arguments: &[String], given: Option<&str>) -> Vec<String> {
    let mut objects = Vec::new();
    let mut words_left = arguments.iter();
    while let Some(word) = words_left.next() {
        if PROSE.contains(&word.as_str()) {
            words_left.next();
        } else if word.contains(char::is_whitespace) {
            objects.extend(words(word));
        } else if !word.starts_with('-') && !word.is_empty() {
            objects.push(base_name(word).to_owned());
        }
    }
    objects.extend(given.into_iter().flat_map(words));
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

/// Tells whether one word is the other with one letter too few or too many, or with two
/// letters in the wrong order.
fn are_a_slip_apart(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    if short.len() < 3 || long.len() < 4 {
        return false;
    }
    let (short, long) = (short.as_bytes(), long.as_bytes());
    let same = short.iter().zip(long).take_while(|(s, l)| s == l).count();
    let (short, long) = (&short[same..], &long[same..]);
    match long.len() - short.len() {
        1 => *short == long[1..],
        0 if short.len() > 1 => {
            short[0] == long[1] && short[1] == long[0] && short[2..] == long[2..]
        }
        _ => false,
    }
}
