//! The phrases by which a sentence is known as a rule, or as an order for the moment.
//!
//! Only tables: `rules_speech` reads them. All in lower case.

/// What a form asks of the words after its opening.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// An order: a verb, and something it is about.
    Order,
    /// An order that is not about one definite thing: "use mocks", not "touch the header".
    General,
    /// As `General`, of something that goes on: "adding comments".
    Doing,
    /// A thing to choose: "tabs", not "the second one".
    Choice,
    /// A thing with its place or kind: "emojis in commit messages", not "dark mode".
    Detail,
}

/// How a sentence opens, how the rule opens, and what must follow.
pub(super) const FORMS: &[(&[&str], &str, Need)] = &[
    (&["always "], "Always ", Need::Order),
    (&["never ", "don't ever ", "do not ever ", "dont ever "], "Never ", Need::Order),
    (&["don't ", "do not ", "dont "], "Don't ", Need::General),
    (&["i don't want you to ", "i do not want you to "], "Don't ", Need::General),
    (&["stop "], "Stop ", Need::Doing),
    (&["avoid "], "Avoid ", Need::General),
    (&["no more "], "No more ", Need::Choice),
    (&["prefer ", "i prefer ", "we prefer ", "i always prefer "], "Prefer ", Need::Choice),
    (&["use "], "Use ", Need::Choice),
    (&["only use ", "use only "], "Only use ", Need::Choice),
    (&["stick to ", "stick with "], "Stick to ", Need::Choice),
    (&["we use ", "we always use "], "We use ", Need::Choice),
    (&["we don't use ", "we do not use ", "we never use "], "We don't use ", Need::Choice),
    (&["we always "], "Always ", Need::Order),
    (&["we never "], "Never ", Need::Order),
    (&["i don't want to use ", "i do not want to use "], "Don't use ", Need::Choice),
    (&["i don't want ", "i do not want ", "i never want "], "The user doesn't want ", Need::Detail),
];

/// Subjects' verbs that make a statement a rule: "commit messages must be in English".
pub(super) const MODALS: &[&str] = &[
    " must never ", " must always ", " must not ", " mustn't ", " should never ", " should always ",
    " must ",
];

/// Openings that carry nothing; they go, again and again.
pub(super) const OPENERS: &[&str] = &[
    "nope", "nah", "wait", "hmm", "hm", "ok", "okay", "well", "sorry", "oh", "ah", "please", "and",
    "also", "but", "so", "hey", "yes", "yeah", "claude", "actually", "listen", "seriously", "just",
];
/// Words that carry nothing when a pause follows them.
pub(super) const PAUSED_OPENERS: &[&str] = &[
    "no", "stop", "look", "good", "great", "fine", "wrong", "incorrect", "again", "instead",
    "rather", "thanks", "perfect", "nice", "important", "note", "rule", "attention", "convention",
    "warning", "reminder",
];
/// Clauses that carry nothing; what follows them is the point.
pub(super) const CLAUSES: &[&str] = &[
    "that's wrong", "that is wrong", "thats wrong", "that's not right", "that's not what i want",
    "that's not what i asked for", "that is not what i asked for", "that's incorrect", "not that",
    "not like that", "i said", "i already said", "as i said", "like i said", "i told you to",
    "i told you", "i already told you", "i asked you to", "i meant", "you should", "you must",
    "you need to", "you have to", "you're supposed to", "you are supposed to", "i want you to",
    "i'd like you to", "i would like you to", "i need you to", "make sure you", "make sure to",
    "make sure that you", "be sure to", "revert that", "undo that", "i'd rather you",
    "one more thing", "note that", "please note that", "it is important that you",
    "it's important that you",
];
/// Openings that are said in other words here.
pub(super) const REWRITES: &[(&str, &str)] = &[
    ("i told you not to ", "don't "),
    ("i asked you not to ", "don't "),
    ("i said not to ", "don't "),
    ("make sure not to ", "don't "),
    ("remember not to ", "don't "),
    ("remember never to ", "never "),
    ("never ever ", "never "),
    ("never, ever ", "never "),
    ("under no circumstances ", "never "),
    ("let's always ", "always "),
    ("let's never ", "never "),
    ("remember to always ", "always "),
    ("remember to never ", "never "),
];
/// Marks before or after an order that make it hold from now on; they go.
pub(super) const STANDING: &[&str] = &[
    "from now on", "from here on", "henceforth", "going forward", "in future", "in the future", "for the future",
    "for future reference", "for future sessions", "as a rule", "as a general rule", "in general",
];
/// As [`STANDING`], at the end only.
pub(super) const STANDING_ENDS: &[&str] = &["every time", "each time"];
/// Marks of a fact that is to be remembered; they go.
pub(super) const REMEMBER: &[&str] = &[
    "remember that", "please remember that", "keep in mind that", "keep in mind",
    "bear in mind that", "for the record", "note for the future", "note for future sessions",
    "remember",
];
/// Ends that carry nothing.
pub(super) const TAILS: &[&str] = &[
    "please", "thanks", "thank you", "ok", "okay", "instead", "pls",
];
/// Conditions an order may follow.
pub(super) const LEADS: &[&str] = &[
    "when ", "whenever ", "if ", "before ", "after ", "in ", "for ", "on ", "with ", "every time ",
    "each time ", "once ", "unless ",
];
/// Conditions after which any order is a rule.
pub(super) const SURE_LEADS: &[&str] = &["whenever ", "every time ", "each time "];

/// Phrases by which an order is one for each time.
pub(super) const RECURS: &[&str] = &[
    " before every ", " before each ", " before any ", " after every ", " after each ",
    " after any ", " on every ", " on each ", " with every ", " with each ",
];

/// Words that tie a sentence to the moment.
pub(super) const FLEETING: &[&str] = &[
    "now", "yet", "today", "tonight", "tomorrow", "yesterday", "still", "these", "those", "there",
    "other", "another", "moment", "previous", "currently", "already", "continue", "anyway", "soon",
    "last", "next", "option", "options", "step", "latter", "former", "rest", "attempt", "idea",
    "approach", "way", "wait", "sure", "maybe", "whatever", "something", "anything", "everything",
    "stuff", "thing", "things", "him", "her", "think", "worry", "bother", "mind", "forget", "panic",
];
/// Phrases that do.
pub(super) const FLEETING_PHRASES: &[&str] = &[
    "for now", "so far", "the above", "as above", "see above", "see below", "listed below", "do it",
    "do so", "like it", "at the end", "your change", "your changes", "my branch", "my last",
    "the file", "the change", "the changes", "the user", "the users", "the page", "the button",
    "the modal", "just explain",
    "any files", "any commands", "any code", "existing code",
];
/// What "this" may stand before: it names the project, not the moment.
pub(super) const HERE: &[&str] = &[
    "project", "project,", "repo", "repo,", "repository", "repository,", "codebase", "codebase,",
    "workspace", "team", "company", "monorepo", "package", "app", "organisation", "organization",
    "machine",
];
/// What a demonstrative "that" is not followed by.
pub(super) const AFTER_RELATIVE_THAT: &[&str] = &[
    "we", "you", "i", "they", "the", "all", "are", "have", "has", "can", "do", "don't", "does",
    "doesn't", "need", "needs", "use", "uses", "fail", "fails", "start", "starts", "end", "exist",
    "contain", "contains", "belong", "depend", "change", "no", "every", "any", "each", "must",
    "should", "will", "require", "requires", "touch",
];
/// What cannot open an order; what a product does on its screen is a feature, no rule.
pub(super) const NOT_AN_ORDER: &[&str] = &[
    "the", "a", "an", "been", "had", "is", "was", "are", "were", "so", "too", "very", "wanted",
    "thought", "wondered", "has", "have", "seems", "nice", "good", "fun", "fine", "because", "when",
    "said", "asked", "told", "seen", "knew", "heard", "got", "understood", "my", "your", "his",
    "their", "our", "i", "you", "it", "he", "she", "we", "they", "there", "that", "this", "mind",
    "know", "see", "care", "understand", "remember", "get", "need", "want", "like", "hesitate",
    "be", "being", "more", "again", "ever", "even", "really", "quite", "only", "here", "yet", "and",
    "or", "but", "on", "off", "at", "from", "to", "of", "show", "display", "hide", "render",
    "redirect", "appear", "scroll", "animate", "overlap",
];
/// Verbs of a task: "don't rename …" is a limit of the task at hand, unless it has a scope.
pub(super) const TASK_VERBS: &[&str] = &[
    "implement", "return", "send", "allow", "expire", "modify", "change", "remove", "delete", "move",
    "rename", "fix", "refactor", "rewrite", "include",
];
/// Verbs that limit a task when a request has them with a bare thing: "don't add tests".
pub(super) const MAKING_VERBS: &[&str] = &["add", "write", "create", "make", "build"];
/// What cannot be a thing to choose.
pub(super) const NOT_A_CHOICE: &[&str] = &[
    "it", "that", "this", "them", "him", "her", "what", "which", "your", "my", "his", "our",
    "their", "some", "all", "to", "not", "more", "less", "same", "first", "second", "third", "one",
    "both", "either", "line", "port", "as", "if", "left", "right", "top", "bottom", "bigger",
    "smaller", "larger", "red", "blue", "green", "black", "white", "yellow", "orange", "gray",
    "grey", "common", "case", "than", "two", "three", "four", "five", "six", "seven", "eight",
    "nine", "ten", "version",
];
/// What shows that a definite thing is meant in general.
pub(super) const SCOPES: &[&str] = &[
    " without ", " unless ", " before ", " after ", " when ", " whenever ", " directly", " by hand",
    " manually", " anymore", " any more", " ever", " instead of ", " rather than ", " over ",
    ", not ", " everywhere", " for all ", " in all ", " for every ", " in every ", " for each ",
    " for any ", " in any ", " in this project", " in this repo", " in tests", " in commit",
    " in production", " in unit tests", " in integration tests",
];

/// Sentences of other languages that are rules: how they open, and what ties them to the
/// moment. They are kept in their own words.
pub(super) const OTHER_LANGUAGES: &[(&[&str], &[&str])] = &[
    (
        &["immer ", "nie ", "niemals ", "ab jetzt ", "ab sofort ", "in zukunft ", "künftig ",
          "verwende immer ", "nutze immer ", "benutze immer ", "verwende nie ", "benutze nie "],
        &["das", "dies", "diese", "diesen", "dieses", "es", "andere", "anderen", "noch", "heute", "wieder"],
    ),
    (
        &["toujours ", "jamais ", "ne jamais ", "n'utilise jamais ", "utilise toujours ", "désormais",
          "à partir de maintenant", "dorénavant"],
        &["ça", "cela", "ceci", "autre", "encore", "aujourd'hui"],
    ),
    (
        &["siempre ", "nunca ", "usa siempre ", "a partir de ahora", "de ahora en adelante", "sempre ",
          "a partir de agora", "d'ora in poi"],
        &["esto", "eso", "otro", "otra", "hoy", "isso", "isto", "outro", "questo", "quello", "altro"],
    ),
    (&["всегда ", "никогда ", "впредь ", "отныне "], &["это", "этот", "эту", "другой", "сейчас"]),
    (
        &["总是", "永远", "从现在开始", "从今以后", "以后", "必ず", "今後", "これから", "常に", "항상", "절대", "앞으로"],
        &["这个", "那个", "これを", "それ", "その", "이것", "그것"],
    ),
];

/// Things of the work itself: "the tests must not …" is a rule, "the menu must not …" is a
/// feature.
pub(super) const OF_THE_WORK: &[&str] = &[
    "test", "tests", "commit", "commits", "docs", "documentation", "changelog", "readme", "ci",
    "pipeline", "migrations", "comments", "branches", "build", "linter", "formatter", "suite",
    "lockfile", "typecheck", "type",
];

/// Words of a report of the moment: such a statement is no lasting fact.
pub(super) const REPORTS: &[&str] = &[
    "fails", "failing", "failed", "broken", "wrong", "error", "errors", "bug", "bugs", "crash",
    "crashes", "crashed", "missing", "slow", "weird", "strange", "working", "stuck", "red", "done",
    "ready", "finished", "fine", "should", "would", "could", "might",
];

