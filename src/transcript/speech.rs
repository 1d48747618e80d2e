//! What a user's words say beyond the request: corrections and standing instructions.
//!
//! Deterministic phrase tables, precision before recall: a missed correction costs one
//! lesson, a wrong one marks good advice as harmful. Only the start of what a person
//! typed is looked at; pasted logs and code do not count.

use super::cut::boundary_before;

/// How much of a prompt is looked at.
const LOOKED_AT: usize = 2_000;
/// A longer sentence is pasted text, not an instruction.
const MAX_SENTENCE: usize = 300;

/// No phrase, with the words that may stand before it, is longer, in bytes.
const LONGEST_PHRASE: usize = 120;
/// Verbs in the middle of a statement.
const STATES: &[&str] = &[
    " is ",
    " are ",
    " uses ",
    " use ",
    " runs ",
    " lives in ",
    " must ",
    " needs ",
    " has ",
    " have ",
    " should ",
    " belongs ",
    " expects ",
    " requires ",
    " works ",
];
/// Words at the start of an order or a question.
const NO_STATEMENT: &[&str] = &[
    "use ", "is ", "are ", "can ", "could ", "what ", "why ", "how ", "please ",
];

/// A prompt that begins so disagrees with what was done before it. A phrase must end at
/// a word's end. ` ` after a word means that more must follow.
const DISAGREES: &[&str] = &[
    "no,",
    "no.",
    "no!",
    "no -",
    "no —",
    "no –",
    "no;",
    "no:",
    "nope",
    "no that",
    "no this",
    "no it",
    "no i ",
    "no you",
    "no we ",
    "no don't",
    "no do not",
    "no not",
    "no the ",
    "no wait",
    "no no",
    "wrong",
    "incorrect",
    "that's wrong",
    "that is wrong",
    "thats wrong",
    "that's incorrect",
    "that is incorrect",
    "this is wrong",
    "this is incorrect",
    "it's wrong",
    "it is wrong",
    "that's not",
    "that is not",
    "thats not",
    "this is not",
    "this isn't",
    "that isn't",
    "that was not",
    "that wasn't",
    "not what",
    "not that",
    "not like that",
    "not again",
    "you misunderstood",
    "you're wrong",
    "you are wrong",
    "you didn't",
    "you did not",
    "you forgot",
    "you broke",
    "you should have",
    "you shouldn't",
    "you should not",
    "you were supposed",
    "you ignored",
    "you missed",
    "you still",
    "why did you",
    "why are you still",
    "i said",
    "i told you",
    "i asked you",
    "i asked for",
    "i didn't ask",
    "i did not ask",
    "i never asked",
    "i meant",
    "i already told",
    "i already said",
    "i don't want",
    "i do not want",
    "i didn't want",
    "revert that",
    "revert this",
    "revert it",
    "revert your",
    "revert the change",
    "revert all",
    "revert everything",
    "undo that",
    "undo this",
    "undo it",
    "undo your",
    "undo the change",
    "roll back",
    "roll that back",
    "put it back",
    "change it back",
    "stop.",
    "stop!",
    "stop,",
    "stop it",
    "stop that",
    "stop doing",
    "stop using",
    "stop adding",
    "stop changing",
    "stop trying",
    "stop making",
    "don't",
    "do not",
    "dont",
    "actually,",
    "actually no",
    "actually don't",
    "actually do not",
    "actually use",
    "actually i ",
    "rather,",
    "still broken",
    "still wrong",
    "still fails",
    "still failing",
    "still not",
    "it still",
    "doesn't work",
    "does not work",
    "that doesn't work",
    "that does not work",
    "that didn't work",
    "that did not work",
    "it doesn't work",
    "it does not work",
    "it didn't work",
    "this doesn't work",
    "not working",
    "it's not working",
    // German
    "nein",
    "falsch",
    "das ist falsch",
    "das stimmt nicht",
    "das war falsch",
    "nicht das",
    "nicht so",
    "stopp",
    "halt,",
    "mach das rückgängig",
    "lass das",
    "ich meinte",
    "ich sagte",
    "eigentlich,",
    "das wollte ich nicht",
    // French
    "non",
    "c'est faux",
    "ce n'est pas",
    "c'est pas",
    "arrête",
    "annule",
    "en fait,",
    "j'ai dit",
    // Spanish, Portuguese, Italian
    "eso no",
    "está mal",
    "eso está mal",
    "no es lo que",
    "detente",
    "para,",
    "te dije",
    "não",
    "isso está errado",
    "não é isso",
    "è sbagliato",
    "non è quello",
    // Russian
    "нет,",
    "нет.",
    "нет ",
    "неправильно",
    "не то",
    "стоп",
    "отмени",
    // Chinese, Japanese, Korean: no spaces, so the phrase may go on
    "不对",
    "不是这",
    "错了",
    "停下",
    "撤销",
    "不要",
    "違う",
    "違います",
    "いや、",
    "いいえ",
    "そうじゃな",
    "やめて",
    "間違って",
    "戻して",
    "아니",
    "틀렸",
];

/// Words that disagree when they are all that was typed.
const DISAGREES_ALONE: &[&str] = &[
    "stop", "no", "revert", "undo", "rollback", "wrong", "nein", "non", "нет", "стоп",
];

/// Polite or neutral sentences that begin like a disagreement.
const AGREES: &[&str] = &[
    "no problem",
    "no worries",
    "no need",
    "no rush",
    "no question",
    "no more question",
    "no thanks",
    "no thank",
    "no issue",
    "no idea",
    "no, thanks",
    "no, thank",
    "no, that's fine",
    "no, that's all",
    "no, that's it",
    "no, that is all",
    "no, all good",
    "no, looks good",
    "no, go ahead",
    "no. thanks",
    "not what i expected but",
    "don't worry",
    "do not worry",
    "dont worry",
    "don't forget",
    "that's not bad",
    "that's not a problem",
    "that is not a problem",
    "that's not an issue",
    "you didn't have to",
    "non-",
    "nonetheless",
];

/// A later sentence that begins so disagrees too.
const DISAGREES_LATER: &[&str] = &["that's wrong", "that is wrong", "this is wrong"];

/// Phrases that disagree wherever they stand in the first sentences.
const DISAGREES_ANYWHERE: &[&str] = &[
    "not what i asked",
    "not what i wanted",
    "not what i meant",
    "not what i said",
    "you misunderstood",
    "i didn't ask for",
    "i did not ask for",
    "i told you not to",
    "i told you to",
    "stop doing that",
    "das ist falsch",
    "nicht das, was ich",
    "ce n'est pas ce que",
    "no es lo que",
];

/// A sentence that begins so is meant to hold beyond this request.
const STANDING: &[&str] = &[
    "always",
    "never",
    "don't",
    "do not",
    "dont",
    "from now on",
    "in future",
    "in the future",
    "for the future",
    "going forward",
    "for future",
    "remember to",
    "remember that",
    "remember:",
    "please remember",
    "make sure you always",
    "make sure to always",
    "make sure to never",
    "make sure you never",
    "every time you",
    "whenever you",
    "each time you",
    "prefer ",
    "i prefer",
    "we prefer",
    "i always",
    "we always",
    "we never",
    "i never want",
    "you must always",
    "you must never",
    "you should always",
    "you should never",
    "keep in mind",
    "note for the future",
    "as a rule",
    "by default, use",
    "by default use",
    "stop using",
    "stop adding",
    "no more ",
    // German
    "immer",
    "nie ",
    "niemals",
    "ab jetzt",
    "ab sofort",
    "in zukunft",
    "künftig",
    "merk dir",
    "bitte merke",
    "denk daran",
    // French
    "toujours",
    "jamais",
    "ne jamais",
    "n'utilise jamais",
    "à partir de maintenant",
    "désormais",
    "souviens-toi",
    "rappelle-toi",
    // Spanish, Portuguese, Italian
    "siempre",
    "nunca",
    "a partir de ahora",
    "de ahora en adelante",
    "recuerda",
    "sempre",
    "a partir de agora",
    "lembre-se",
    "d'ora in poi",
    "ricorda",
    // Russian
    "всегда",
    "никогда",
    "впредь",
    "отныне",
    "запомни",
    // Chinese, Japanese, Korean
    "总是",
    "永远",
    "从现在开始",
    "从今以后",
    "以后",
    "记住",
    "必ず",
    "今後",
    "これから",
    "常に",
    "覚えて",
    "항상",
    "절대",
    "앞으로",
];

/// Phrases that make a sentence a standing instruction wherever they stand.
const STANDING_ANYWHERE: &[&str] = &[
    "from now on",
    "going forward",
    "ab jetzt",
    "à partir de maintenant",
    "今後は",
];

/// Sentences that begin like a standing instruction and are none.
const NOT_STANDING: &[&str] = &[
    "never mind",
    "nevermind",
    "always fails",
    "always returns",
    "don't worry",
    "do not worry",
    "dont worry",
    "don't know",
    "do not know",
    "don't think",
    "don't see",
    "don't you",
    "don't we",
    "do not see",
    "in the future tense",
    "remember when",
];

/// Words that may stand before a disagreement or an instruction without changing it.
const OPENERS: &[&str] = &[
    "hmm",
    "hm",
    "ok",
    "okay",
    "well",
    "wait",
    "sorry",
    "oh",
    "ah",
    "uh",
    "please",
    "and",
    "also",
    "but",
    "so",
    "hey",
    "claude",
    "again",
    "yes",
    "yeah",
    "thanks",
    "bitte",
    "por favor",
    "one more thing",
];

/// Tells whether a prompt corrects what was done before it.
pub(crate) fn is_correction(prompt: &str) -> bool {
    let line = prompt.lines().find(|l| !l.trim().is_empty()).unwrap_or("");
    let line = start_of(line);
    let start = after_openers(&line);
    if begins_with_any(start, AGREES) {
        return false;
    }
    let alone = line.trim_matches(|c: char| !c.is_alphanumeric());
    DISAGREES_ALONE.contains(&alone)
        || begins_with_any(start, DISAGREES)
        || sentences(head(prompt)).take(3).any(|sentence| {
            let sentence = start_of(sentence);
            begins_with_any(after_openers(&sentence), DISAGREES_LATER)
                || DISAGREES_ANYWHERE.iter().any(|p| sentence.contains(p))
        })
}

/// Returns the sentences of a prompt that are meant to hold from now on.
pub(crate) fn standing_instructions(prompt: &str) -> Vec<&str> {
    sentences(head(prompt)).filter(|s| is_standing(s)).collect()
}

fn is_standing(sentence: &str) -> bool {
    let one_word = sentence.is_ascii() && !sentence.trim().contains(' ');
    if sentence.len() > MAX_SENTENCE || sentence.ends_with('?') || one_word {
        return false;
    }
    let lower = start_of(sentence);
    let start = after_openers(&lower);
    if begins_with_any(start, NOT_STANDING) {
        return false;
    }
    begins_with_any(start, STANDING)
        || STANDING_ANYWHERE.iter().any(|p| sentence.contains(p))
        || (start.starts_with("use ")
            && (sentence.ends_with("instead") || sentence.contains(" instead of ")))
}

/// Returns the sentences a person stated, for counting what is said more than once:
/// statements only, neither questions nor orders.
pub(crate) fn statements(prompt: &str) -> impl Iterator<Item = &str> {
    sentences(head(prompt)).filter(|s| {
        s.len() <= MAX_SENTENCE
            && !s.ends_with('?')
            && STATES.iter().any(|verb| s.contains(verb))
            && (4..=40).contains(&s.split_whitespace().count())
            && !begins_with_any(&start_of(s), NO_STATEMENT)
    })
}

/// Returns the beginning of a sentence in lower case, longer than any phrase.
fn start_of(sentence: &str) -> String {
    let end = boundary_before(sentence, LONGEST_PHRASE);
    sentence[..end].to_lowercase().replace('’', "'")
}

fn head(prompt: &str) -> &str {
    &prompt[..boundary_before(prompt, LOOKED_AT)]
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
        .flat_map(|line| line.split_inclusive(['.', '!', '?', ';', '。', '！', '？']))
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

/// Tells whether `text` begins with one of the phrases, and with its last word whole.
fn begins_with_any(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| {
        text.strip_prefix(phrase).is_some_and(|rest| {
            let open_end =
                phrase.ends_with(|c: char| !c.is_alphanumeric()) || !phrase.ends_with(is_spaced);
            open_end || !rest.starts_with(|c: char| c.is_alphanumeric() || c == '\'' || c == '_')
        })
    })
}

/// Tells whether a letter belongs to a script that puts spaces between words.
fn is_spaced(c: char) -> bool {
    c < '\u{1100}'
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
        assert!(is_correction(prompt));
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
        assert!(!is_correction(prompt));
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
        assert_eq!(standing_instructions(prompt), want);
    }

    #[rstest]
    #[case::fact("The staging database is read only.", 1)]
    #[case::question("The staging database is read only?", 0)]
    #[case::order("Run the tests", 0)]
    #[case::short("it is", 0)]
    fn statements_are_told_from_questions_and_orders(#[case] prompt: &str, #[case] count: usize) {
        assert_eq!(statements(prompt).count(), count);
    }
}
