//! What in a line is particular: names of files, folders, identifiers and commands, rare words.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::terms::Term;
use super::words::{SHORTEST, stem};
use crate::errors::words::PROGRAMS;

/// A longer token is data.
const LONGEST: usize = 160;

/// What stands between tokens beside white space.
const BETWEEN: &str = "\"'`()[]{}<>,;|&*!?=#@$\\…“”‘’«»";
/// What joins the parts of a name.
const JOINTS: [char; 4] = ['_', '/', ':', '.'];
/// Subcommands that say nothing without what follows them.
const OPEN_ENDED: [&str; 6] = ["api", "compose", "exec", "issue", "pr", "run"];
/// Extensions by which two plain words are known as the name of a file.
const EXTENSIONS: [&str; 26] = [
    "cfg", "cpp", "css", "go", "html", "ini", "java", "js", "json", "jsonl", "jsx", "kt", "lock",
    "md", "py", "rb", "rs", "sh", "sql", "swift", "toml", "ts", "tsx", "txt", "yaml", "yml",
];
/// Files that every folder may have.
const EVERYWHERE: [&str; 8] = [
    "index", "init", "lib", "license", "main", "mod", "readme", "setup",
];
/// Folders at the root of every system: no commands of the client's.
const ROOT_FOLDERS: [&str; 10] = [
    "bin", "dev", "etc", "home", "lib", "opt", "root", "tmp", "usr", "var",
];

/// What makes other forms of a plain word.
const ENDINGS: [&str; 9] = ["s", "es", "ed", "d", "ing", "ly", "er", "ers", "r"];

const COMMON_WORDS: &str = include_str!("../../data/common_words.txt");

/// Adds the names and words of a line.
pub(super) fn gather(line: &str, found: &mut BTreeSet<Term>) {
    for token in tokens(line) {
        let inner = token.trim_matches(|c: char| !c.is_alphanumeric());
        if token.starts_with("--") {
            found.extend((inner.len() >= SHORTEST).then(|| Term::word(token)));
        } else if inner.contains(JOINTS) || token.starts_with('/') || is_camel_case(inner) {
            names(token, found);
        } else {
            let compound = compound(inner);
            let parts = inner
                .split('-')
                .filter(|part| compound.is_none() && is_rare(part));
            found.extend(parts.map(|part| Term::word(stem(&part.to_lowercase()))));
            found.extend(compound.map(Term::word));
        }
    }
}

/// Adds a token that looks like a name, with its parts that are names by themselves.
fn names(token: &str, found: &mut BTreeSet<Term>) {
    if token.contains("://") {
        return;
    }
    let token = token.trim_start_matches("./").trim_start_matches("../");
    // `file.rs:12` is the file.
    let token =
        token.trim_end_matches(|c: char| c == ':' || c.is_ascii_digit() && token.contains(':'));
    let folders = folders(token);
    if let [.., folder, file] = folders[..] {
        found.insert(Term::name(&format!("{folder}/{file}")));
    }
    let token = token.trim_end_matches('/');
    if is_name(token) {
        found.insert(Term::name(token));
    }
    found.extend(
        folders
            .last()
            .filter(|file| is_name(file))
            .map(|file| Term::name(file)),
    );
    let parts = token
        .split(['/', ':', '.'])
        .map(|part| part.trim_matches('_'));
    let identifiers = parts.filter(|part| part.contains('_') || is_camel_case(part));
    found.extend(identifiers.filter(|part| is_name(part)).map(Term::name));
}

/// The folders of a path, and what lies in the last: none where two plain words and a slash may
/// be prose.
fn folders(token: &str) -> Vec<&str> {
    let folders: Vec<&str> = token.split('/').filter(|part| !part.is_empty()).collect();
    let is_path = folders.len() > 2 || token.ends_with('/') || is_name(token);
    if is_path && folders.len() > 1 {
        folders
    } else {
        Vec::new()
    }
}

/// The folders that the paths of a line go through, each with the one above it, as a hint may
/// name them.
pub(super) fn folders_on_the_way(line: &str) -> impl Iterator<Item = Term> {
    tokens(line).flat_map(|token| {
        let folders = folders(token);
        let pairs = folders.windows(2).map(|pair| Term::name(&pair.join("/")));
        pairs.collect::<Vec<Term>>()
    })
}

/// The words of a line with a hyphen, which a hint may have as names.
pub(super) fn compounds(line: &str) -> impl Iterator<Item = Term> {
    tokens(line).filter_map(compound).map(Term::name)
}

/// A word with a hyphen that is no prose.
pub(super) fn compound(token: &str) -> Option<&str> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '-';
    let has_parts = token.chars().all(is_letter) && token.trim_matches('-') == token;
    (has_parts && token.contains('-') && !is_plain(token)).then_some(token)
}

fn is_name(token: &str) -> bool {
    let parts: Vec<&str> = parts(token).collect();
    let has_rare = parts.iter().any(|part| is_rare(part));
    let Some((last, others)) = parts.split_last() else {
        return false;
    };
    let is_identifier = token.trim_matches('_').contains('_') && parts.len() > 1;
    match others {
        [] if token.starts_with('/') => !ROOT_FOLDERS.contains(last) && last.len() >= SHORTEST,
        [] => has_rare,
        [stem] if EXTENSIONS.contains(last) => !EVERYWHERE.contains(&&*stem.to_lowercase()),
        _ if token.contains('.') && EXTENSIONS.contains(last) => true,
        [..] => has_rare || is_identifier || parts.len() > 2 && token.contains('/'),
    }
}

/// The commands of a line: two words or three that stand one after another, where `fits` says
/// so of the first two.
pub(super) fn commands(
    line: &str,
    fits: impl Fn(&str, &str) -> bool,
) -> impl Iterator<Item = String> {
    let words: Vec<&str> = tokens(line).collect();
    let places = 0..words.len().saturating_sub(1);
    let found: Vec<String> = places
        .filter(|&at| fits(words[at], words[at + 1]))
        .filter_map(|at| command(words[at..].iter().copied()))
        .collect();
    found.into_iter()
}

/// A program with what it is told, as far as that tells it from others.
pub(super) fn command<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<String> {
    let is_word = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c))
    };
    let program = words.next().filter(is_word)?;
    let mut told = words.next().filter(is_word)?.to_owned();
    if OPEN_ENDED.contains(&&*told) {
        told = format!("{told} {}", words.next().filter(is_word)?);
    }
    Some(format!("{program} {told}"))
}

pub(super) fn is_program(word: &str, _: &str) -> bool {
    PROGRAMS.has(word)
}

fn tokens(line: &str) -> impl Iterator<Item = &str> {
    let tokens = line.split(|c: char| c.is_whitespace() || BETWEEN.contains(c));
    tokens
        .map(|token| token.trim_end_matches(['.', ':', '-']))
        .filter(|token| (1..=LONGEST).contains(&token.len()))
}

fn parts(token: &str) -> impl Iterator<Item = &str> {
    let parts = token.split(|c: char| !c.is_alphanumeric());
    parts.filter(|part| !part.is_empty())
}

/// `getUser`, but neither `GitHub`, which every text may have, nor `URLs`.
fn is_camel_case(token: &str) -> bool {
    let mut pairs = token.chars().zip(token.chars().skip(1));
    token.chars().all(char::is_alphanumeric)
        && pairs.any(|(a, b)| a.is_lowercase() && b.is_uppercase())
        && !is_common(&token.to_lowercase())
}

fn is_rare(part: &str) -> bool {
    part.starts_with(char::is_alphabetic)
        && part.chars().count() >= SHORTEST
        && !is_common(&part.to_lowercase())
}

/// Returns `true` if a sentence may have a token.
pub(super) fn is_plain(token: &str) -> bool {
    parts(token).all(|part| is_common(&part.to_lowercase()))
}

/// Returns `true` if a word in lower case is a form of one that every text may have.
fn is_common(word: &str) -> bool {
    static WORDS: OnceLock<BTreeSet<&str>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let lines = COMMON_WORDS.lines().filter(|line| !line.starts_with('#'));
        lines.flat_map(str::split_whitespace).collect()
    });
    let is_form = |ending: &&str| {
        word.strip_suffix(*ending).is_some_and(|stem| {
            let mut letters = stem.chars().rev();
            let is_doubled = letters.next() == letters.next();
            words.contains(stem)
                || is_doubled && words.contains(&stem[..stem.len() - 1])
                || words.contains(&*format!("{stem}e"))
                || stem.ends_with('i') && words.contains(&*stem.replace('i', "y"))
        })
    };
    words.contains(word) || ENDINGS.iter().any(is_form)
}
