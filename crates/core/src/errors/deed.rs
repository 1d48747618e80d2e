//! What one command of a line does: its program, its subcommand and its objects.

use super::shell::{self, SHELLS, ShellStep, base_name};
use super::words::{
    BRACKETS, CHECKERS, CHECKS, FAMILIES, INTERPRETERS, LOOKS, List, PREPARES, PROSE, STARTERS,
    TOLD_NOTHING, TOLD_ONE_WORD, VALUED,
};

/// What one command does, and to what.
#[derive(Clone, Debug)]
pub struct Deed {
    weight: CommandWeight,
    /// The program that is run, without its folder.
    pub program: String,
    /// The program that runs this one, a script: `python`.
    pub interpreter: Option<String>,
    /// What the program is told to do: `push`, `pr diff`; empty when nothing says so.
    pub part: String,
    /// What it is done to: all other words but options and prose, each without its folders.
    pub objects: Vec<String>,
    /// The whole command, with what starts it and its environment.
    pub words: Vec<String>,
    /// Whether the line fails when this does.
    pub is_heard: bool,
}

/// How much of a line's sense lies in a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CommandWeight {
    Looks,
    Prepares,
    Acts,
}

/// The one thing that a line is about, if it is one.
pub(super) fn only(deeds: &[Deed]) -> Option<&Deed> {
    let mut main = main(deeds);
    let first = main.next()?;
    main.all(|deed| deed.is_told_the_same(first))
        .then_some(first)
}

/// The commands of the greatest weight.
pub fn main(deeds: &[Deed]) -> impl Iterator<Item = &Deed> {
    let most = deeds.iter().map(|deed| deed.weight).max();
    deeds.iter().filter(move |deed| Some(deed.weight) == most)
}

/// The commands of a line, in their order.
pub(super) fn all_of(line: &str) -> Vec<Deed> {
    shell::read(line).iter().filter_map(Deed::of).collect()
}

/// Tells whether a line runs something, and nothing but what changes nothing or is one of
/// `others`.
pub fn only_looks(line: &str, others: &[&str]) -> bool {
    let mut steps = shell::read(line).into_iter().peekable();
    steps.peek().is_some()
        && steps.all(|step| match program(&step.words) {
            Some(named) => named.looks(step.writes) || others.contains(&named.name),
            None => !step.writes,
        })
}

/// The last command of a line that runs tests, a build, a linter or a type checker, by its
/// subject: of a line that worked only one that cannot have failed unseen.
pub fn checks(line: &str, failed: bool) -> Option<String> {
    let names = |list: &List| list.words().iter().any(|word| line.contains(word));
    if !names(&CHECKERS) && !names(&CHECKS) {
        // Most lines need not be read.
        return None;
    }
    let deeds = all_of(line);
    let is_check = |deed: &&Deed| {
        let told = deed.part.split([' ', ':']).next().unwrap_or_default();
        let checks = CHECKERS.has(&deed.program) || CHECKS.has(told);
        checks && !LOOKS.has(&deed.program) && (failed || deed.is_heard)
    };
    deeds.iter().rfind(is_check).map(Deed::subject)
}

/// A command behind what only starts it.
struct Named<'w> {
    name: &'w str,
    arguments: &'w [String],
    interpreter: Option<&'w str>,
}

/// Looks behind settings and the programs that only start another one, or run a script.
fn program(mut words: &[String]) -> Option<Named<'_>> {
    let mut interpreter = None;
    let mut is_started = false;
    loop {
        let (first, arguments) = words.split_first()?;
        let name = without_version(base_name(first));
        let asks = |word: &String| word.eq_ignore_ascii_case("-v");
        if BRACKETS.has(name) || (name == "command" && arguments.first().is_some_and(asks)) {
            return None;
        }
        let is_valued = |word: &String| VALUED.has(word);
        let is_passed = |word: &String| {
            word.starts_with(['-', '+']) || word.starts_with(|c: char| c.is_ascii_digit())
        };
        let is_setting = |word: &String| word.contains('=') && !word.starts_with('-');
        if is_setting(first) || (is_started && is_passed(first)) {
            words = arguments.get(usize::from(is_valued(first))..)?;
            continue;
        }
        is_started = true;
        let plain = arguments.iter().position(|word| !word.starts_with('-'));
        let starts = |at: usize| STARTERS.has(&format!("{name} {}", arguments[at]));
        let is_script = |at: &usize| INTERPRETERS.has(name) && arguments[*at].contains('.');
        if STARTERS.has(name) {
            words = arguments;
        } else if let Some(at) = plain
            .into_iter()
            .chain([0])
            .find(|at| *at < arguments.len() && starts(*at))
        {
            words = &arguments[at + 1..];
        } else if let Some(at) = plain.filter(is_script) {
            interpreter = Some(name);
            words = &arguments[at..];
            is_started = false;
        } else {
            return Some(Named {
                name,
                arguments,
                interpreter,
            });
        }
    }
}

/// `python3.11` is `python`.
fn without_version(program: &str) -> &str {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if name.is_empty() { program } else { name }
}

impl Named<'_> {
    /// Tells whether it changes nothing.
    fn looks(&self, writes: bool) -> bool {
        let mut plain = self
            .arguments
            .iter()
            .filter(|word| !word.starts_with('-'))
            .take(2);
        let edits = self.arguments.iter().any(|word| match self.name {
            "find" | "fd" => ["-delete", "-exec", "-execdir", "-x", "-X"].contains(&&**word),
            "sed" => word.starts_with("-i"),
            _ => false,
        });
        let of_itself = ["--version", "-V", "--help", "-h", "version", "help"];
        let of_itself = matches!(self.arguments, [only] if of_itself.contains(&&**only));
        let is_listed =
            LOOKS.has(self.name) || plain.any(|word| LOOKS.has(&format!("{} {word}", self.name)));
        !writes && !edits && (of_itself || is_listed)
    }

    /// The words that say what it is to do, and where what follows them begins.
    fn part(&self) -> (String, usize) {
        let wanted = words_told(self.name).unwrap_or(2);
        let (mut at, mut parts, mut end) = (0, Vec::new(), 0);
        while parts.len() < wanted
            && let Some(word) = self.arguments.get(at)
        {
            at += 1;
            if parts.is_empty() && word.starts_with(['-', '+']) {
                at += usize::from(VALUED.has(word));
            } else if is_plain(word) {
                // `npm run build` is `npm build`.
                if word != "run" || !self.arguments.get(at).is_some_and(|next| is_plain(next)) {
                    parts.push(word.as_str());
                }
                end = at;
            } else {
                break;
            }
        }
        (parts.join(" "), end)
    }
}

/// How many words say what a known program is to do.
fn words_told(program: &str) -> Option<usize> {
    [&TOLD_NOTHING, &TOLD_ONE_WORD]
        .iter()
        .position(|list| list.has(program))
}

fn is_plain(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':'))
}

impl Deed {
    fn of(step: &ShellStep) -> Option<Self> {
        let named = program(&step.words)?;
        if SHELLS.contains(&named.name) && named.arguments.iter().any(|word| word.ends_with('c')) {
            // The line that it is given is read by itself.
            return None;
        }
        let (part, from) = named.part();
        let weight = if named.looks(step.writes) {
            CommandWeight::Looks
        } else if PREPARES.has(named.name) || PREPARES.has(&format!("{} {part}", named.name)) {
            CommandWeight::Prepares
        } else {
            CommandWeight::Acts
        };
        Some(Self {
            weight,
            program: named.name.to_owned(),
            interpreter: named.interpreter.map(str::to_owned),
            part,
            objects: objects(&named.arguments[from..]),
            words: step.words.clone(),
            is_heard: step.is_heard,
        })
    }

    /// The program with what it is told to do; of a script what runs it.
    pub fn subject(&self) -> String {
        let named = || {
            format!("{} {}", self.program, self.part)
                .trim_end()
                .to_owned()
        };
        self.interpreter.clone().unwrap_or_else(named)
    }

    /// Tells whether it did what `old` was to do: also that it cannot have failed unseen.
    pub fn does(&self, old: &Self) -> bool {
        self.is_heard && self.is_like(old)
    }

    /// Tells whether it does what `old` was to do, and to no less.
    pub fn is_like(&self, old: &Self) -> bool {
        let has = |object: &String| {
            self.objects.contains(object) || self.part.split(' ').any(|word| word == object)
        };
        let has_all = if old.objects.is_empty() {
            self.weight > CommandWeight::Looks || self.objects.is_empty()
        } else {
            old.objects.iter().all(has)
        };
        self.weight >= old.weight && self.is_told_the_same(old) && has_all
    }

    /// Tells whether the program is told the same, be it of something else.
    fn is_told_the_same(&self, old: &Self) -> bool {
        let goes_on =
            |longer: &str, part: &str| !part.is_empty() && longer.starts_with(&format!("{part} "));
        // Of an unknown program the second word may be a subcommand or an object.
        let is_part = self.part == old.part
            || (words_told(&self.program).is_none()
                && (goes_on(&self.part, &old.part) || goes_on(&old.part, &self.part)));
        let (new, old) = (self.program.as_str(), old.program.as_str());
        let are_alike = |family: &str| {
            [new, old]
                .iter()
                .all(|name| family.split(' ').any(|of| of == *name))
        };
        is_part && (new == old || FAMILIES.words().iter().any(|family| are_alike(family)))
    }
}

fn objects(arguments: &[String]) -> Vec<String> {
    let mut is_prose = false;
    let objects = arguments.iter().filter(|word| {
        let is_object = !is_prose && !word.starts_with('-') && !word.is_empty();
        is_prose = PROSE.has(word);
        is_object
    });
    objects.map(|word| base_name(word).to_owned()).collect()
}
