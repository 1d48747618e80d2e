//! Cues: the command, file or words at which a key point is due, and the places that match.
//!
//! A match is exact: `git push --force` does not match `git push origin main --force`.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::clip::head;
use crate::errors::destructive::is_destructive;
use crate::errors::shell::{self, SimpleCommand, is_common};
use crate::errors::words::STOP_WORDS;

/// The first line of the reason with which a guarded call is turned back.
pub const TURNED_BACK: &str = "Playbook turned this call back once, because of what it learned earlier \
    in this project; run it again to run it anyway.";
const MAX_CUE_BYTES: usize = 200;
/// The part of a prompt that is searched.
const MAX_PROMPT_BYTES: usize = 20_000;
const MAX_PATHS: usize = 100;
const MAX_PATH_BYTES: usize = 300;

/// Returns the lines with the key points, `- [ID] TEXT`, if [`TURNED_BACK`] opens the reason.
pub fn turned_back_for(reason: &str) -> Option<&str> {
    Some(reason.split_once(TURNED_BACK)?.1.trim())
}

/// The command, file or words at which a key point is due; any of them is enough.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cue {
    /// The leading words of a simple command: `make proto`.
    #[serde(deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// A glob: `proto/**/*.proto`.
    #[serde(deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Words of a prompt, in any case: `release notes`.
    #[serde(deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
}

fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let value = Value::deserialize(from)?;
    let text = value.as_str().map(str::trim);
    Ok(text.filter(|text| !text.is_empty()).map(str::to_owned))
}

impl Cue {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub fn each_text(&mut self, mut change: impl FnMut(&str) -> String) {
        for text in [&mut self.command, &mut self.file, &mut self.words] {
            *text = text.as_deref().map(&mut change);
        }
    }

    /// Returns for example `command "make proto", file "*.proto"`.
    pub fn told(&self) -> String {
        let parts = [
            ("command", &self.command),
            ("file", &self.file),
            ("words", &self.words),
        ];
        let given = parts.into_iter().filter_map(|(kind, text)| {
            let text = text.as_ref()?;
            Some(format!("{kind} \"{text}\""))
        });
        given.collect::<Vec<_>>().join(", ")
    }

    /// Makes a matcher of the cue; the error names the part that is wrong or too wide.
    pub fn compile(&self) -> Result<Matcher, String> {
        let mut texts = self.command.iter().chain(&self.file).chain(&self.words);
        if let Some(long) = texts.find(|text| text.len() > MAX_CUE_BYTES) {
            return Err(format!("`{}…` is too long for a cue", head(long, 40)));
        }
        Ok(Matcher {
            command: self.command.as_deref().map_or(Ok(Vec::new()), command)?,
            files: self.file.as_deref().map_or(Ok(Vec::new()), globs)?,
            words: self.words.as_deref().map_or(Ok(String::new()), phrase)?,
        })
    }
}

/// Returns a text without the pair of quotation marks or backticks around all of it.
fn unquoted(text: &str) -> &str {
    let inside = |mark| text.strip_prefix(mark)?.strip_suffix(mark);
    let mut all = ['"', '\'', '`']
        .into_iter()
        .filter_map(|mark| inside(mark).filter(|inner| !inner.contains(mark)));
    all.next().unwrap_or(text)
}

fn command(text: &str) -> Result<Vec<String>, String> {
    let commands = shell::read(unquoted(text));
    let ([only], false) = (&commands[..], commands.iter().any(|it| it.writes)) else {
        return Err(format!("`{text}` is not one plain command"));
    };
    let words = only.forms().first().map(|words| words.to_vec());
    let is_narrow = only.program().is_some_and(|program| {
        let is_only_options = program.arguments.iter().all(|word| word.starts_with('-'));
        let runs_any_task = *program.arguments == ["run".to_owned()];
        !is_common(program.name) || !(is_only_options || runs_any_task) || is_destructive(&commands)
    });
    match words.filter(|_| is_narrow) {
        Some(words) => Ok(words),
        None => Err(format!(
            "`{text}` is too wide for a cue: name the program and what it does, as in `git push`"
        )),
    }
}

fn globs(text: &str) -> Result<Vec<String>, String> {
    let pattern = text.trim_start_matches("./").trim_start_matches('/');
    if !pattern.contains(char::is_alphanumeric) {
        return Err(format!(
            "`{text}` is too wide for a cue: it matches every file"
        ));
    }
    let mut pattern = pattern.to_owned();
    if pattern.ends_with('/') {
        pattern.push_str("**");
    }
    if !pattern.contains('/') {
        pattern.insert_str(0, "**/");
    }
    Ok(alternatives(&pattern))
}

fn alternatives(pattern: &str) -> Vec<String> {
    let parts = pattern
        .split_once('{')
        .and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (inner, after))) = parts else {
        return vec![pattern.to_owned()];
    };
    let after = alternatives(after);
    let all = inner.split(',').flat_map(|one| {
        after
            .iter()
            .map(move |after| format!("{before}{one}{after}"))
    });
    all.take(MAX_PATHS).collect()
}

fn phrase(text: &str) -> Result<String, String> {
    let phrase = plain(text);
    let letters = phrase.chars().count();
    let is_wide = letters < 2 || (phrase.is_ascii() && letters < 3) || STOP_WORDS.has(&phrase);
    if is_wide {
        return Err(format!("`{text}` is too wide for a cue: any prompt has it"));
    }
    Ok(phrase)
}

fn plain(text: &str) -> String {
    let words = text.split_whitespace().map(str::to_lowercase);
    words.collect::<Vec<_>>().join(" ")
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Matcher {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    command: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    words: String,
}

impl Matcher {
    pub fn fits_prompt(&self, prompt: &CuedPrompt) -> bool {
        has_words(&prompt.text, &self.words) || prompt.paths.iter().any(|path| self.names(path))
    }

    pub fn fits_call(&self, call: &CuedCall) -> bool {
        self.is_run_by(call) || call.paths.iter().any(|path| self.names(path))
    }

    pub fn is_run_by(&self, call: &CuedCall) -> bool {
        let runs = |words: &[String]| {
            let is_first = |word: &String| {
                let is_absolute = word.starts_with(['/', '~']) || word.contains("venv/");
                let is_installed =
                    (is_absolute && word.contains("/bin/")) || word.contains("/.bin/");
                self.command[0] == *word
                    || (is_installed && self.command[0] == shell::base_name(word))
            };
            words.len() >= self.command.len()
                && words.first().is_some_and(is_first)
                && words[1..].starts_with(&self.command[1..])
        };
        !self.command.is_empty() && call.forms.iter().any(|words| runs(words))
    }

    fn names(&self, path: &str) -> bool {
        self.files.iter().any(|glob| matches_glob(glob, path))
    }
}

#[derive(Debug)]
pub struct CuedPrompt {
    text: String,
    paths: Vec<String>,
}

impl CuedPrompt {
    pub fn read(prompt: &str, root: &str) -> Self {
        let prompt = head(prompt, MAX_PROMPT_BYTES);
        let is_edge = |c: char| c.is_whitespace() || "\"'`()[]{}<>,;|@“”‘’«»，。；：".contains(c);
        Self {
            paths: paths(prompt.split(is_edge), root),
            text: plain(prompt),
        }
    }
}

#[derive(Debug)]
pub struct CuedCall {
    /// The words of each command from each program that it starts.
    forms: Vec<Vec<String>>,
    paths: Vec<String>,
}

impl CuedCall {
    pub fn read(line: &str, file: Option<&str>, root: &str) -> Self {
        let commands = shell::read(line);
        let words = commands.iter().flat_map(|command| &command.words);
        let named = file.into_iter().chain(words.map(String::as_str));
        let forms = commands.iter().flat_map(SimpleCommand::forms);
        Self {
            paths: paths(named, root),
            forms: forms.map(<[String]>::to_vec).collect(),
        }
    }
}

/// Makes paths inside `root` relative to it.
fn paths<'w>(words: impl Iterator<Item = &'w str>, root: &str) -> Vec<String> {
    let paths = words.filter_map(|word| {
        let word = word.trim_end_matches(['.', ':', '!', '?']);
        // `a.rs:12:3` is `a.rs`.
        let is_place = |c: char| c.is_ascii_digit() || c == ':';
        let place = word.trim_end_matches(is_place);
        let word = if place.len() < word.len() && word[place.len()..].starts_with(':') {
            place
        } else {
            word
        };
        let inside = word
            .strip_prefix(root)
            .and_then(|rest| rest.strip_prefix('/'));
        let path = inside.unwrap_or(word).trim_start_matches("./");
        let may_be = path.contains(['/', '.']) && path.len() <= MAX_PATH_BYTES;
        (may_be && !path.contains("://")).then(|| path.to_owned())
    });
    paths.take(MAX_PATHS).collect()
}

/// Returns `true` if the text contains the phrase without an ASCII letter, digit or `_` next to it.
fn has_words(text: &str, phrase: &str) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    !phrase.is_empty()
        && text.match_indices(phrase).any(|(at, found)| {
            let (before, after) = (&text[..at], &text[at + found.len()..]);
            !joins(before.chars().next_back()) && !joins(after.chars().next())
        })
}

/// Compares a path with a glob of `*`, `**` and `?`, in time proportional to both.
fn matches_glob(glob: &str, path: &str) -> bool {
    let literal_end = glob.rsplit(['*', '?']).next().unwrap_or_default();
    if !path.ends_with(literal_end) {
        return false;
    }
    let (glob, path): (Vec<char>, Vec<char>) = (glob.chars().collect(), path.chars().collect());
    let end = path.len();
    // `rows[at][from]`: does `glob[at..]` match `path[from..]`? Filled from the end.
    let mut rows = vec![vec![false; end + 1]; glob.len() + 1];
    rows[glob.len()][end] = true;
    for at in (0..glob.len()).rev() {
        let mut row = vec![false; end + 1];
        let mut is_deeper = false;
        for from in (0..=end).rev() {
            let sign = path.get(from);
            let is_in_segment = sign.is_some_and(|sign| *sign != '/');
            let next = |row: &[bool]| from < end && row[from + 1];
            row[from] = match glob[at..] {
                ['*', '*', '/', ..] => {
                    is_deeper |= sign == Some(&'/') && next(&rows[at + 3]);
                    rows[at + 3][from] || is_deeper
                }
                ['*', '*', ..] => rows[at + 2][from] || next(&row),
                ['*', ..] => rows[at + 1][from] || (is_in_segment && next(&row)),
                ['?', ..] => is_in_segment && next(&rows[at + 1]),
                [letter, ..] => sign == Some(&letter) && next(&rows[at + 1]),
                [] => false,
            };
        }
        rows[at] = row;
    }
    rows[0][0]
}
