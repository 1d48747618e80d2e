//! What a user's words say beyond the request: corrections and standing instructions.
//!
//! Deterministic tables of patterns, precision before recall: a missed correction costs one
//! lesson, a wrong one marks good advice as harmful. Only the start of what a person
//! typed is looked at; pasted logs and code do not count.

use super::objections::{
    AFTER_NO, APPROVES, APPROVES_UNSPACED, BUT, HARMLESS, MAY_OBJECT, NO, OBJECTS, OBJECTS_ALONE,
    OBJECTS_LATER, OBJECTS_UNSPACED, OPENERS, REPROACHES,
};
use super::sentences::sentences;
use super::standing::{
    AFTER_A_LEAD, AT_THE_END, LABELS, LEADS, NO_STATEMENT, NOT_STANDING, OF_A_THING, STANDING,
    STANDING_UNSPACED, STATES, TELLS, TELLS_UNSPACED,
};
use super::wording::{PAUSE, Words};
use crate::clip::head;

/// How much of a prompt is looked at, in bytes.
const LOOKED_AT: usize = 2_000;
/// A longer sentence is pasted text, not an instruction, in bytes.
const MAX_SENTENCE: usize = 300;
/// How many sentences of a prompt may correct what was done before it.
const MAY_CORRECT: usize = 3;
/// How many words a statement has.
const STATEMENT_WORDS: std::ops::RangeInclusive<usize> = 4..=40;

/// What a prompt says beyond the request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard<'a> {
    /// Whether it corrects what was done before it.
    pub(crate) correction: bool,
    /// Sentences that are meant to hold from now on.
    pub(crate) instructions: Vec<&'a str>,
    /// Sentences that state something, neither questions nor orders.
    pub(crate) statements: Vec<&'a str>,
}

/// Finds what a prompt says beyond the request.
pub(crate) fn listen(prompt: &str) -> Heard<'_> {
    let mut heard = Heard::default();
    let mut tone = Tone::default();
    let looked_at = head(prompt, LOOKED_AT);
    for sentence in sentences(looked_at) {
        let words = Words::of(sentence);
        let words = words.list();
        tone.hear(&words, sentence);
        let bare = bare(sentence);
        if is_question(sentence) || bare.is_empty() || bare.len() > MAX_SENTENCE {
            continue;
        }
        if is_standing(&words, bare) {
            heard.instructions.push(bare);
        }
        if is_statement(&words, bare) {
            heard.statements.push(bare);
        }
    }
    heard.correction = tone.objects();
    heard
}

/// How sure it is that a prompt objects to what was done before it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Objection {
    #[default]
    None,
    /// It may, if no other sentence follows.
    Alone,
    /// It does, unless it also says that all is well.
    Likely,
    /// It does, whatever else it says.
    Sure,
}

/// How a prompt takes what was done before it.
#[derive(Default)]
struct Tone {
    /// How many sentences say more than "hm".
    sentences: usize,
    objection: Objection,
    /// It says that all is well.
    approves: bool,
}

impl Tone {
    fn objects(&self) -> bool {
        match self.objection {
            Objection::None => false,
            Objection::Alone => self.sentences == 1 && !self.approves,
            Objection::Likely => !self.approves,
            Objection::Sure => true,
        }
    }

    fn hear(&mut self, words: &[&str], sentence: &str) {
        let opened = after_openers(words);
        if self.sentences == MAY_CORRECT || opened.is_empty() {
            return;
        }
        self.sentences += 1;
        let first = self.sentences == 1;
        let no = after_no(opened).filter(|_| first);
        let said = after_openers(no.unwrap_or(opened));
        if approves(said)
            || no.is_some_and(|rest| HARMLESS.begin(rest))
            || APPROVES_UNSPACED.are_in(sentence)
        {
            self.approves = true;
        } else if !first {
            self.note(Objection::Sure, OBJECTS_LATER.begin(said));
        } else if !is_question(sentence) || REPROACHES.contains(said.first().unwrap_or(&"")) {
            let turned = words.iter().position(|word| BUT.contains(word));
            let turned = turned.map_or(&[][..], |at| after_openers(&words[at..]));
            let sure = (no.is_some() && !said.is_empty())
                || [words, said, turned]
                    .iter()
                    .any(|words| OBJECTS.begin(words))
                || OBJECTS_UNSPACED.begin(sentence).next().is_some();
            let likely = no.is_some() || MAY_OBJECT.begin(words) || MAY_OBJECT.begin(said);
            self.note(Objection::Sure, sure);
            self.note(Objection::Likely, likely);
            self.note(Objection::Alone, OBJECTS_ALONE.begin(said));
        }
    }

    fn note(&mut self, objection: Objection, is_heard: bool) {
        if is_heard {
            self.objection = self.objection.max(objection);
        }
    }
}

/// Tells whether a clause says that all is well, and none after it takes that back.
fn approves(words: &[&str]) -> bool {
    let from = words
        .iter()
        .rposition(|word| BUT.contains(word))
        .unwrap_or(0);
    let begins = |at: &usize| {
        *at == 0
            || [PAUSE, "and", "so", "then"].contains(&words[at - 1])
            || BUT.contains(&words[at - 1])
    };
    (from..words.len())
        .filter(begins)
        .any(|at| APPROVES.begin(after_openers(&words[at..])))
}

/// Returns what follows a no.
fn after_no<'w, 'a>(words: &'w [&'a str]) -> Option<&'w [&'a str]> {
    let (no, rest) = words.split_first()?;
    let pause = rest.first().is_none_or(|next| *next == PAUSE);
    let number = rest
        .get(1)
        .is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let says_no = NO.contains(no) && !number && (pause || AFTER_NO.begin(rest));
    let pauses = rest.iter().take_while(|word| **word == PAUSE).count();
    says_no.then(|| &rest[pauses..])
}

/// Returns what follows the words that only open a sentence.
fn after_openers<'w, 'a>(words: &'w [&'a str]) -> &'w [&'a str] {
    let opens = |word: &&&str| **word == PAUSE || OPENERS.contains(*word);
    &words[words.iter().take_while(opens).count()..]
}

fn is_standing(words: &[&str], sentence: &str) -> bool {
    if STANDING_UNSPACED.begin(sentence).next().is_some() {
        return !TELLS_UNSPACED.are_in(sentence);
    }
    let words = after_labels(words);
    if words.len() < 2 || NOT_STANDING.begin(words) {
        return false;
    }
    STANDING.begin(words) || is_conditional(words) || ends_standing(words)
}

/// "When you commit, always …".
fn is_conditional(words: &[&str]) -> bool {
    let mut clauses = words.split(|word| *word == PAUSE);
    let lead = clauses.next().and_then(|clause| clause.first());
    lead.is_some_and(|word| LEADS.contains(word))
        && clauses.any(|clause| AFTER_A_LEAD.begin(after_labels(clause)))
}

/// "Write small commits from now on".
fn ends_standing(words: &[&str]) -> bool {
    let end = words
        .iter()
        .rposition(|word| *word != PAUSE)
        .map_or(0, |last| last + 1);
    let polite = ["please", "bitte", "thanks"].contains(&words[end.saturating_sub(1)]);
    let said = &words[..end - usize::from(polite && end > 0)];
    let ends = |phrase: &&str| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        said.len() > phrase.len() && said.ends_with(&phrase)
    };
    AT_THE_END.iter().any(ends)
        && !said.first().is_some_and(|word| TELLS.contains(word))
        && !said.iter().any(|word| OF_A_THING.contains(word))
}

/// Returns what follows the words that only introduce an instruction.
fn after_labels<'w, 'a>(words: &'w [&'a str]) -> &'w [&'a str] {
    let mut rest = after_openers(words);
    loop {
        let label = LABELS.iter().find(|label| rest.starts_with(label));
        rest = match (label, after_no(rest)) {
            (Some(label), _) => after_openers(&rest[label.len()..]),
            (None, Some(said)) => after_openers(said),
            (None, None) => return rest,
        };
    }
}

fn is_statement(words: &[&str], sentence: &str) -> bool {
    let count = sentence.split_ascii_whitespace().count();
    let mut said = sentence.split_ascii_whitespace().skip(1);
    let opens = after_openers(words).first();
    STATEMENT_WORDS.contains(&count)
        && said.any(|word| STATES.contains(&word))
        && !opens.is_some_and(|word| NO_STATEMENT.contains(word))
}

/// Returns a sentence without the marks around it.
fn bare(sentence: &str) -> &str {
    let opens = |c: char| c.is_whitespace() || matches!(c, '-' | '*' | '•' | '"' | '\'' | '#');
    let ends = |c: char| c.is_whitespace() || matches!(c, '.' | '!' | ';' | '。' | '！' | '"');
    sentence.trim_start_matches(opens).trim_end_matches(ends)
}

fn is_question(sentence: &str) -> bool {
    sentence.ends_with(['?', '？'])
}

#[cfg(test)]
#[path = "speech_tests.rs"]
mod tests;
