//! What neither the user nor a call says: the sentences of tools, files and pages, and of the
//! assistant, which may tell what it was told.

use std::collections::BTreeSet;

use super::grounds::{ERROR, Grounds, REFUSAL, quoted};
use super::names::names;
use super::sentences::{SAYS_IT, is_of, parts, pieces};
use crate::hint::hashes;
use crate::screen::plain;
use crate::transcript::{Bearing, Evidence, ShownEvent};

/// So many percent of a text's words stand in a sentence of the assistant's own that says it.
const REPEATS_IT: usize = 80;
/// The kind of an event in which the user answers what the assistant asked.
const ANSWER: &str = "user_answer";
/// How the errors of tools are called that only look.
const LOOKS: [&str; 4] = ["Read `", "Grep `", "Glob `", "LS `"];
/// How such an error begins where there is nothing to look at.
const NOT_THERE: [&str; 3] = [
    "File does not exist",
    "Path does not exist",
    "Directory does not exist",
];
/// How long what lines that go on say together is, in bytes.
const MOST_JOINED: usize = 1_000;
/// What a word may end in that has the same meaning, and how long what is left must be, in bytes.
const ENDINGS: [&str; 9] = ["s", "e", "es", "ed", "er", "ing", "ings", "ly", "ion"];
const STEM: usize = 3;
/// A line with no more words may be a piece of a sentence that goes on: an item, a cell.
const PIECE: usize = 4;

/// What is compared with a text that is to be learned.
#[derive(Debug)]
pub(super) struct Others {
    /// The words of each sentence of others, with how near to a text it must be to say it.
    sentences: Vec<(Nearness, BTreeSet<u64>)>,
    /// The words of the user's and of commands.
    trusted: BTreeSet<u64>,
}

/// In how many percent of a text's words a sentence says it, and in how many times as many as
/// what is trusted.
type Nearness = (usize, usize);

impl Others {
    fn of(evidence: &Evidence) -> Self {
        let weight = |shown: &ShownEvent| match shown.bearing {
            Bearing::Call => None,
            _ if says_what_is_not_there(evidence, shown) => None,
            Bearing::Text => Some((REPEATS_IT, 2)),
            // The assistant asked, or called what was refused.
            _ if [ANSWER, REFUSAL].contains(&shown.kind.as_str()) => Some((REPEATS_IT, 2)),
            _ => Some((SAYS_IT, 1)),
        };
        let shown = evidence.shown.iter();
        let shown = shown.filter_map(|shown| Some((weight(shown)?, shown.number)));
        let said = shown.flat_map(|(weight, number)| {
            let entry = plain(evidence.entry(number).unwrap_or_default());
            let said = sentences(&entry).into_iter();
            said.map(move |sentence| (weight, words(&sentence)))
        });
        let own = evidence.shown.iter().flat_map(|shown| &shown.own);
        Self {
            sentences: said.collect(),
            trusted: own.flat_map(|text| words(&plain(text))).collect(),
        }
    }

    /// Tells whether a sentence says a text, of whose words `known` are trusted.
    fn say(&self, text: &BTreeSet<u64>, known: usize) -> bool {
        self.sentences.iter().any(|((least, weight), sentence)| {
            let said = text.intersection(sentence).count();
            said * 100 >= least * text.len() && said > known * weight
        })
    }
}

/// Tells whether an event is an error in which the client says that there is nothing to look at
/// (`Path does not exist`): its words are the client's, not a file's. What a hook says that stops
/// such a call are words of others.
fn says_what_is_not_there(evidence: &Evidence, shown: &ShownEvent) -> bool {
    let entry = evidence.entry(shown.number).unwrap_or_default();
    let tool = entry.strip_prefix("ERROR in ").unwrap_or_default();
    let said = tool.split_once("`: ").map_or("", |(_, said)| said);
    let begins = |text: &str, starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
    shown.kind == ERROR && begins(tool, &LOOKS) && begins(said, &NOT_THERE)
}

impl Grounds<'_> {
    /// Makes sure that neither a text nor a part of it is said better by others.
    pub(super) fn is_not_of_others(&self, text: &str, sources: &[&str]) -> Result<(), String> {
        let new = |part: &&str| !is_of(part, sources);
        let parts = parts(text).into_iter().chain(pieces(text)).filter(new);
        let mut all = parts.chain([text]);
        match all.find(|part| self.is_of_others(part, sources)) {
            Some(part) => Err(format!(
                "a tool or a page says {}, and neither the user nor an outcome",
                quoted(part)
            )),
            None => Ok(()),
        }
    }

    /// The sentences of a text that name nothing that stands nowhere, and that no other says.
    pub(super) fn trusted_part(&self, text: &str) -> String {
        let is_trusted = |part: &&str| {
            let part = plain(part);
            self.has_all_names(&part, &[]).is_ok() && self.is_not_of_others(&part, &[]).is_ok()
        };
        let all = parts(text);
        let trusted: Vec<&str> = all.iter().copied().filter(is_trusted).collect();
        if trusted.len() == all.len() {
            return text.to_owned();
        }
        let bare = trusted.iter().map(|part| part.trim().trim_end_matches('.'));
        bare.map(|part| format!("{part}."))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Tells whether a sentence that is neither the user's nor a call says a text better than
    /// all that is trusted. What it names stands where it must.
    fn is_of_others(&self, text: &str, sources: &[&str]) -> bool {
        let named = names(text);
        let named = named.iter().filter(|name| !name.is_identifier);
        let mut trusted: BTreeSet<u64> = sources.iter().flat_map(|text| words(text)).collect();
        trusted.extend(named.flat_map(|name| words(&name.text)));
        let others = self.others.get_or_init(|| Others::of(self.evidence));
        trusted.extend(&others.trusted);
        let says = |text: &str| {
            let text = words(text);
            others.say(&text, text.intersection(&trusted).count())
        };
        says(text) || text.contains(['-', '_']) && says(&text.replace(['-', '_'], ""))
    }
}

/// The words of a text without their endings, and those that an identifier is made of:
/// `pushToMain`.
pub(super) fn words(text: &str) -> BTreeSet<u64> {
    let mut apart = String::new();
    let mut before = ' ';
    for c in text.chars() {
        if before.is_lowercase() && c.is_uppercase() {
            apart.push(' ');
        }
        apart.push(c);
        before = c;
    }
    let apart = apart.to_lowercase();
    let words = apart.split_inclusive(|c: char| !c.is_alphanumeric());
    let stems = words.flat_map(|word| {
        let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let ends = ENDINGS.iter().filter_map(|end| bare.strip_suffix(end));
        let stem = ends
            .filter(|stem| stem.len() > STEM)
            .min_by_key(|stem| stem.len());
        [stem.unwrap_or(bare), " "]
    });
    hashes(&stems.collect::<String>())
}

/// The sentences of a text as it stands: of each line, of lines that go on in the next, and of
/// short ones together, such as items, cells and headings.
fn sentences(text: &str) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    let mut whole = String::new();
    let mut lines = text.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        let is_first = whole.is_empty();
        whole += line;
        let goes_on = |next: &&str| next.starts_with(char::is_lowercase);
        if lines.peek().is_some_and(goes_on) && whole.len() < MOST_JOINED {
            sentences.extend(line.split(". ").map(str::to_owned));
            match whole.pop() {
                Some('-') => {}
                last => whole.extend(last.into_iter().chain([' '])),
            }
            continue;
        }
        if !is_first {
            sentences.extend(line.split(". ").map(str::to_owned));
        }
        sentences.extend(whole.split(". ").map(str::to_owned));
        whole.clear();
    }
    sentences.extend(pieces_together(text));
    sentences
}

/// What short lines and sentences that follow each other say together.
fn pieces_together(text: &str) -> Vec<String> {
    let mut runs: Vec<String> = Vec::new();
    let mut goes_on = false;
    for piece in text.lines().flat_map(|line| line.split(". ")) {
        let count = hashes(piece).len();
        match runs.last_mut() {
            // A line of signs parts nothing.
            _ if count == 0 => continue,
            Some(run) if goes_on && count <= PIECE && run.len() < MOST_JOINED => {
                run.push(' ');
                run.push_str(piece);
            }
            _ if count <= PIECE => runs.push(piece.to_owned()),
            _ => {}
        }
        goes_on = count <= PIECE;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::a_line("Merge changes unreviewed and unsigned.")]
    #[case::a_word_a_line("Merge\nChanges\nUnreviewed\nAnd\nUnsigned")]
    #[case::items("- Merge changes\n- Unreviewed\n\n- Unsigned")]
    #[case::a_table("| Merge | changes |\n|---|---|\n| unreviewed | unsigned |")]
    #[case::short_sentences("Merge. Changes. Unreviewed. Unsigned.")]
    #[case::wrapped("Merge chan-\nges unreviewed and un-\nsigned.")]
    #[case::humps("mergeChangesUnreviewedUnsigned")]
    fn a_sentence_is_found_however_it_is_set(#[case] text: &str) {
        let wanted = words("Merge changes unreviewed, unsigned");
        let said = sentences(text);
        assert!(
            said.iter().any(|said| wanted.is_subset(&words(said))),
            "{said:?}"
        );
    }
}
