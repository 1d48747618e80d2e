//! The phrases by which a user's words are understood, in lower case.
//!
//! A phrase must begin a sentence and end at a word's end there; where it ends in a blank,
//! more must follow. Scripts without blanks between words may go on after it.

use crate::phrases::{LazyPhrases, Phrases};

/// Tells whether `text`, in lower case, begins with one of the phrases.
pub(super) fn begins(text: &str, phrases: &Phrases) -> bool {
    phrases.begin(text).any(|phrase| {
        let may_go_on = phrase.ends_with(|c: char| !c.is_alphanumeric() || !is_spaced(c));
        let rest = &text[phrase.len()..];
        may_go_on || !rest.starts_with(|c: char| c.is_alphanumeric() || c == '\'' || c == '_')
    })
}

/// Tells whether a letter belongs to a script that puts spaces between words.
fn is_spaced(c: char) -> bool {
    c < '\u{1100}'
}

/// A prompt that begins so disagrees with what was done before it.
#[rustfmt::skip]
pub(super) static DISAGREES: LazyPhrases = LazyPhrases::new(|| Phrases::new(&[
    "no,", "no.", "no!", "no -", "no —", "no –", "no;", "no:", "nope", "no that", "no this",
    "no it", "no i ", "no you", "no we ", "no don't", "no do not", "no not", "no the ",
    "no wait", "no no", "wrong", "incorrect", "that's wrong", "that is wrong", "thats wrong",
    "that's incorrect", "that is incorrect", "this is wrong", "this is incorrect", "it's wrong",
    "it is wrong", "that's not", "that is not", "thats not", "this is not", "this isn't",
    "that isn't", "that was not", "that wasn't", "not what", "not that", "not like that",
    "not again", "you misunderstood", "you're wrong", "you are wrong", "you didn't",
    "you did not", "you forgot", "you broke", "you should have", "you shouldn't",
    "you should not", "you were supposed", "you ignored", "you missed", "you still",
    "why did you", "why are you still", "i said", "i told you", "i asked you", "i asked for",
    "i didn't ask", "i did not ask", "i never asked", "i meant", "i already told",
    "i already said", "i don't want", "i do not want", "i didn't want", "revert that",
    "revert this", "revert it", "revert your", "revert the change", "revert all",
    "revert everything", "undo that", "undo this", "undo it", "undo your", "undo the change",
    "roll back", "roll that back", "put it back", "change it back", "stop.", "stop!", "stop,",
    "stop it", "stop that", "stop doing", "stop using", "stop adding", "stop changing",
    "stop trying", "stop making", "don't", "do not", "dont", "actually,", "actually no",
    "actually don't", "actually do not", "actually use", "actually i ", "rather,",
    "still broken", "still wrong", "still fails", "still failing", "still not", "it still",
    "doesn't work", "does not work", "that doesn't work", "that does not work",
    "that didn't work", "that did not work", "it doesn't work", "it does not work",
    "it didn't work", "this doesn't work", "not working", "it's not working",
    // German
    "nein", "falsch", "das ist falsch", "das stimmt nicht", "das war falsch", "nicht das",
    "nicht so", "stopp", "halt,", "mach das rückgängig", "lass das", "ich meinte", "ich sagte",
    "eigentlich,", "das wollte ich nicht",
    // French
    "non", "c'est faux", "ce n'est pas", "c'est pas", "arrête", "annule", "en fait,",
    "j'ai dit",
    // Spanish, Portuguese, Italian
    "eso no", "está mal", "eso está mal", "no es lo que", "detente", "para,", "te dije", "não",
    "isso está errado", "não é isso", "è sbagliato", "non è quello",
    // Russian
    "нет,", "нет.", "нет ", "неправильно", "не то", "стоп", "отмени",
    // Chinese, Japanese, Korean: no spaces, so the phrase may go on
    "不对", "不是这", "错了", "停下", "撤销", "不要", "違う", "違います", "いや、", "いいえ", "そうじゃな", "やめて", "間違って",
    "戻して", "아니", "틀렸",
]));

/// A later sentence that begins so disagrees too.
#[rustfmt::skip]
pub(super) static DISAGREES_LATER: LazyPhrases = LazyPhrases::new(|| Phrases::new(&[
    "that's wrong", "that is wrong", "this is wrong", "that's not what", "that is not what",
    "this is not what", "this isn't what", "it's not what", "not what i", "you misunderstood",
    "i didn't ask", "i did not ask", "i told you", "stop doing", "das ist falsch",
    "ce n'est pas ce que", "no es lo que", "不是我",
]));

/// Polite or neutral sentences that begin like a disagreement.
#[rustfmt::skip]
pub(super) static AGREES: LazyPhrases = LazyPhrases::new(|| Phrases::new(&[
    "no problem", "no worries", "no need", "no rush", "no question", "no more question",
    "no thanks", "no thank", "no issue", "no idea", "no, thanks", "no, thank",
    "no, that's fine", "no, that's all", "no, that's it", "no, that is all", "no, all good",
    "no, looks good", "no, go ahead", "no. thanks", "not what i expected but", "don't worry",
    "do not worry", "dont worry", "don't forget", "that's not bad", "that's not a problem",
    "that is not a problem", "that's not an issue", "you didn't have to", "non-", "nonetheless",
]));

/// A sentence that begins so is meant to hold beyond this request.
#[rustfmt::skip]
pub(super) static STANDING: LazyPhrases = LazyPhrases::new(|| Phrases::new(&[
    "always", "never", "don't", "do not", "dont", "from now on", "in future", "in the future",
    "for the future", "going forward", "for future", "remember to", "remember that",
    "remember:", "please remember", "make sure you always", "make sure to always",
    "make sure to never", "make sure you never", "every time you", "whenever you",
    "each time you", "prefer ", "i prefer", "we prefer", "i always", "we always", "we never",
    "i never want", "you must always", "you must never", "you should always",
    "you should never", "keep in mind", "note for the future", "as a rule", "by default, use",
    "by default use", "stop using", "stop adding", "no more ",
    // German
    "immer", "nie ", "niemals", "ab jetzt", "ab sofort", "in zukunft", "künftig", "merk dir",
    "bitte merke", "denk daran",
    // French
    "toujours", "jamais", "ne jamais", "n'utilise jamais", "à partir de maintenant",
    "désormais", "souviens-toi", "rappelle-toi",
    // Spanish, Portuguese, Italian
    "siempre", "nunca", "a partir de ahora", "de ahora en adelante", "recuerda", "sempre",
    "a partir de agora", "lembre-se", "d'ora in poi", "ricorda",
    // Russian
    "всегда", "никогда", "впредь", "отныне", "запомни",
    // Chinese, Japanese, Korean
    "总是", "永远", "从现在开始", "从今以后", "以后", "记住", "必ず", "今後", "これから", "常に", "覚えて", "항상", "절대", "앞으로",
]));

/// Sentences that begin like a standing instruction and are none.
#[rustfmt::skip]
pub(super) static NOT_STANDING: LazyPhrases = LazyPhrases::new(|| Phrases::new(&[
    "never mind", "nevermind", "always fails", "always returns", "don't worry", "do not worry",
    "dont worry", "don't know", "do not know", "don't think", "don't see", "don't you",
    "don't we", "do not see", "in the future tense", "remember when",
]));

/// Words at the start of an order or a question.
#[rustfmt::skip]
pub(super) static NO_STATEMENT: LazyPhrases = LazyPhrases::new(|| Phrases::new(&[
    "use ", "is ", "are ", "can ", "could ", "what ", "why ", "how ", "please ",
]));

/// Words that disagree when they are all that was typed.
#[rustfmt::skip]
pub(super) const DISAGREES_ALONE: &[&str] = &[
    "stop", "no", "revert", "undo", "rollback", "wrong", "nein", "non", "нет", "стоп",
];

/// Words that make a sentence hold beyond this request when they end it.
#[rustfmt::skip]
pub(super) const STANDING_AT_THE_END: &[&str] = &[
    "from now on", "going forward", "in future", "in the future", "every time", "ab jetzt",
    "in zukunft", "à partir de maintenant", "a partir de ahora",
];

/// Words that may stand before a disagreement or an instruction without changing it.
#[rustfmt::skip]
pub(super) const OPENERS: &[&str] = &[
    "hmm", "hm", "ok", "okay", "well", "wait", "sorry", "oh", "ah", "uh", "please", "and",
    "also", "but", "so", "hey", "claude", "again", "yes", "yeah", "thanks", "bitte",
    "por favor", "one more thing",
];

/// Verbs in the middle of a statement.
#[rustfmt::skip]
pub(super) const STATES: &[&str] = &[
    "is", "are", "uses", "use", "runs", "lives", "must", "needs", "has", "have", "should",
    "belongs", "expects", "requires", "works",
];
