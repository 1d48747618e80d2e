//! Decides by file extension which files a check covers.

use std::path::Path;

use crate::transcript::words::LANGUAGES;

/// Folders whose files belong to no project.
const SCRATCH: &[&str] = &["/tmp/", "/.claude/"];

/// Returns `true` for a file that checks cover: neither prose nor a note of the agent.
pub(super) fn is_code(file: &str) -> bool {
    let ending = ending(file);
    let is_scratch = SCRATCH.iter().any(|folder| file.contains(folder));
    !is_scratch && languages().any(|(_, endings)| has(endings, ending))
}

/// Returns `true` also for a runner of an unknown language.
pub(super) fn looks_at(runner: &str, file: &str) -> bool {
    let program = runner.split(' ').next().unwrap_or_default();
    let language = languages().find(|(programs, _)| has(programs, program));
    language.is_none_or(|(_, endings)| has(endings, ending(file)))
}

fn ending(file: &str) -> &str {
    let ending = Path::new(file).extension();
    ending
        .and_then(|ending| ending.to_str())
        .unwrap_or_default()
}

fn languages() -> impl Iterator<Item = (&'static str, &'static str)> {
    LANGUAGES
        .words()
        .iter()
        .filter_map(|row| row.split_once(':'))
}

fn has(words: &str, wanted: &str) -> bool {
    words.split_whitespace().any(|word| word == wanted)
}
