//! What a user's words say beyond the request: corrections and standing instructions.
//!
//! Deterministic phrase tables, precision before recall: a missed correction costs one
//! lesson, a wrong one marks good advice as harmful. Only the start of what a person
//! typed is looked at; pasted logs and code do not count.

use super::cut::boundary_before;
use super::phrases::{
    AGREES, DISAGREES, DISAGREES_ALONE, DISAGREES_LATER, NO_STATEMENT, NOT_STANDING, OPENERS,
    STANDING, STANDING_AT_THE_END, STATES, begins,
};

/// How much of a prompt is looked at, in bytes.
const LOOKED_AT: usize = 2_000;
/// A longer sentence is pasted text, not an instruction, in bytes.
const MAX_SENTENCE: usize = 300;
/// No phrase, with the words that may stand before it, is longer, in bytes.
const LONGEST_PHRASE: usize = 80;
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
    let first = start_of(prompt.trim_start().lines().next().unwrap_or(""));
    let first = after_openers(&first);
    let alone = first.trim_end_matches(|c: char| !c.is_alphanumeric());
    let agrees = begins(first, &AGREES);
    heard.correction = !agrees && (begins(first, &DISAGREES) || DISAGREES_ALONE.contains(&alone));
    let looked_at = &prompt[..boundary_before(prompt, LOOKED_AT)];
    for (i, sentence) in sentences(looked_at).enumerate() {
        let start = start_of(sentence);
        let start = after_openers(&start);
        heard.correction |= !agrees && i < MAY_CORRECT && begins(start, &DISAGREES_LATER);
        if sentence.len() > MAX_SENTENCE || sentence.ends_with('?') {
            continue;
        }
        if is_standing(start, sentence) {
            heard.instructions.push(sentence);
        }
        if is_statement(start, sentence) {
            heard.statements.push(sentence);
        }
    }
    heard
}

fn is_standing(start: &str, sentence: &str) -> bool {
    let one_word = sentence.is_ascii() && !sentence.contains(' ');
    if one_word || begins(start, &NOT_STANDING) {
        return false;
    }
    begins(start, &STANDING)
        || STANDING_AT_THE_END
            .iter()
            .any(|words| sentence.ends_with(words))
        || (start.starts_with("use ")
            && (sentence.ends_with("instead") || sentence.contains(" instead of ")))
}

fn is_statement(start: &str, sentence: &str) -> bool {
    let (mut words, mut states) = (0, false);
    for word in sentence.split_ascii_whitespace() {
        states |= words > 0 && STATES.contains(&word);
        words += 1;
    }
    states && STATEMENT_WORDS.contains(&words) && !begins(start, &NO_STATEMENT)
}

/// Returns the beginning of a sentence in lower case, longer than any phrase.
fn start_of(sentence: &str) -> String {
    let start = &sentence[..boundary_before(sentence, LONGEST_PHRASE)];
    if start.is_ascii() {
        start.to_ascii_lowercase()
    } else {
        start.to_lowercase().replace('’', "'")
    }
}

/// Splits into sentences, leaving out code, quotes and what looks like a log.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines()
        .filter(move |line| {
            let line = line.trim_start();
            if line.starts_with("```") {
                fenced = !fenced;
                return false;
            }
            !fenced && !line.starts_with(['>', '|', '{', '<', '$'])
        })
        .flat_map(split_sentences)
        .map(|s| {
            let s = s.trim_start_matches(|c: char| {
                c.is_whitespace() || matches!(c, '-' | '*' | '•' | '"' | '\'')
            });
            s.trim_end_matches(|c: char| {
                c.is_whitespace() || matches!(c, '.' | '!' | ';' | '。' | '！' | '"')
            })
        })
        .filter(|s| !s.is_empty())
}

/// Splits a line after each mark that ends a sentence.
fn split_sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.bytes().enumerate().find_map(|(i, byte)| match byte {
            b'.' | b'!' | b'?' | b';' => Some(i + 1),
            // The lead bytes of `。` and of `！` and `？`.
            0xE3 | 0xEF => rest[i..].starts_with(['。', '！', '？']).then_some(i + 3),
            _ => None,
        });
        let (sentence, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(sentence)
    })
}

fn after_openers(line: &str) -> &str {
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches(|c: char| {
            c.is_whitespace()
                || matches!(
                    c,
                    '.' | ',' | '!' | '-' | '—' | '"' | '\'' | '…' | '*' | ':'
                )
        });
        let Some(after) = OPENERS.iter().find_map(|o| {
            rest.strip_prefix(o)
                .filter(|r| r.starts_with([' ', ',', '.', '!', '…', ':']))
        }) else {
            return rest;
        };
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::no_comma("No, that's the wrong file")]
    #[case::no_stop("No. Use the other one")]
    #[case::opener("hmm no, I said the other one")]
    #[case::thats_wrong("That’s wrong")]
    #[case::later_sentence("Look at the diff. That is not what I asked for.")]
    #[case::dont("don't touch the tests")]
    #[case::revert("revert that please")]
    #[case::stop("Stop.")]
    #[case::actually("Actually, use tabs")]
    #[case::generated("No, that's wrong. the parser reads every line")]
    #[case::still("it still fails on CI")]
    #[case::german("Nein, das andere")]
    #[case::chinese("不对，应该用 pnpm")]
    #[case::japanese("違います。そのファイルではない")]
    #[case::russian("Нет, не так")]
    fn a_correction_is_seen(#[case] prompt: &str) {
        assert!(listen(prompt).correction);
    }

    #[rstest]
    #[case::thanks("No problem, thanks!")]
    #[case::no_thanks("no, thanks")]
    #[case::noun("Note that the parser is slow")]
    #[case::nothing("nothing else, thanks")]
    #[case::stopwatch("Stopwatch support would be nice")]
    #[case::order("Stop the server and start it again with --verbose")]
    #[case::request("Add a test that says 'no, that is wrong'")]
    #[case::revert_feature("revertible migrations are needed")]
    #[case::pasted("Here is the log:\n> No, that's wrong\n```\nwrong\n```")]
    #[case::actually_adverb("Actually done now?")]
    #[case::worry("don't worry about the lint")]
    #[case::nonprofit("nonprofit page: add a footer")]
    #[case::empty("")]
    fn what_is_no_correction_is_left_alone(#[case] prompt: &str) {
        assert!(!listen(prompt).correction);
    }

    #[rstest]
    #[case::always("Fix it. Always run the tests before you commit.", &["Always run the tests before you commit"])]
    #[case::never("never push to main", &["never push to main"])]
    #[case::please("Please remember that we use pnpm", &["Please remember that we use pnpm"])]
    #[case::from_now("Good. Write in German from now on!", &["Write in German from now on"])]
    #[case::instead("use httpx instead of requests", &["use httpx instead of requests"])]
    #[case::never_mind("never mind", &[])]
    #[case::question("Always like this?", &[])]
    #[case::report("It always fails on Mondays", &[])]
    #[case::one_word("Never", &[])]
    #[case::code("```\nalways do this\n```", &[])]
    #[case::japanese("今後は日本語で書いてください。", &["今後は日本語で書いてください"])]
    fn standing_instructions_are_found(#[case] prompt: &str, #[case] want: &[&str]) {
        assert_eq!(listen(prompt).instructions, want);
    }

    #[rstest]
    #[case::fact("The staging database is read only.", 1)]
    #[case::question("The staging database is read only?", 0)]
    #[case::order("Run the tests", 0)]
    #[case::short("it is", 0)]
    fn statements_are_told_from_questions_and_orders(#[case] prompt: &str, #[case] count: usize) {
        assert_eq!(listen(prompt).statements.len(), count);
    }
}
