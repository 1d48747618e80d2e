//! Which sentences of a user hold for every session: "never push to main".
//!
//! English, and only what is certain: the sentence must say that it always holds, and order
//! the agent to do or to leave something. What a program is to do ("it should always return
//! a list") and what is said of one task ("for now") is none; nor is what the user pasted. A
//! model reads the rest.

use std::sync::LazyLock;

use regex::Regex;

use super::english::pattern;

/// A longer text is a document that was handed over, in bytes and in lines.
const LONGEST: usize = 3_000;
const MOST_LINES: usize = 30;
/// So does one begin that was written for an agent to carry out.
const DOCUMENTS: &[&str] = &["Implement the following", "You are "];
/// A longer sentence is no instruction, in bytes.
const LONGEST_SENTENCE: usize = 300;
/// A line as long as this may go on in the next one, in bytes.
const WRAPPED: usize = 60;
/// How many instructions one text can hold.
const MOST: usize = 5;

/// What an order can begin with.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "activate", "add", "amend", "answer", "apply", "ask", "assume", "avoid", "batch", "break", "build", "bump",
    "bypass", "call", "catch", "change", "check", "cherry-pick", "close", "comment", "commit", "compile",
    "confirm", "consult", "copy", "create", "default", "delete", "deploy", "disable", "do", "document",
    "double-check", "draft", "duplicate", "edit", "enable", "ensure", "escape", "execute", "explain", "expose",
    "fetch", "fix", "follow", "force", "force-push", "format", "generate", "give", "go", "guess", "handle",
    "hardcode", "ignore", "import", "include", "inspect", "install", "introduce", "invent", "keep", "leak",
    "leave", "link", "lint", "list", "log", "look", "make", "mark", "measure", "mention", "merge", "mock",
    "modify", "move", "name", "note", "open", "pin", "place", "plan", "prefer", "prefix", "preserve", "print",
    "propose", "publish", "pull", "push", "put", "quote", "read", "rebase", "rebuild", "record", "refactor",
    "reformat", "regenerate", "release", "rely", "remove", "rename", "reply", "report", "reproduce", "request",
    "resolve", "respond", "restart", "reuse", "review", "rewrite", "run", "sanitize", "search", "share", "ship",
    "sign", "skip", "speak", "spell", "split", "squash", "stage", "start", "stash", "stick", "submit",
    "suggest", "summarize", "swallow", "switch", "sync", "tag", "tell", "test", "touch", "translate", "treat",
    "trust", "try", "undo", "update", "upgrade", "use", "validate", "verify", "wait", "warn", "work", "wrap",
    "write",
];

/// Orders that need no object.
#[rustfmt::skip]
const ALONE: &[&str] = &["amend", "ask", "assume", "commit", "force-push", "guess", "rebase", "squash", "stash"];
/// What people who say "we" do themselves, while a program may do all the rest.
#[rustfmt::skip]
const WE_DO: &[&str] = &["ask", "deploy", "document", "follow", "format", "lint", "mock", "prefer", "rebase", "review", "run", "sign", "squash", "test", "use"];

/// Things of the work itself, which are meant in general also with an article before them.
const WORK: &str = r"\b(?:agents?|branch(?:es)?|build|changelog|ci|checks?|claude\.md|code(?:base)?|comments?|commits?|coverage|dependenc(?:y|ies)|diffs?|docs|docstrings?|documentation|folder|formatter|generated|hooks?|linter|lockfile|main|makefile|master|migrations?|monorepo|package manager|pipeline|plans?|prod(?:uction)?|prs?|pull requests?|readme|releases?|repo(?:sitory)?|schema|scripts?|staging|suite|tests?|tickets?|tool(?:s|chain)?|types?|vendor|venv|virtualenv|workspace|worktrees?)\b";

/// What a form asks of the words after its opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// They are an order; the rule says it after this opening.
    Order(&'static str),
    /// They are an order; the rule is the whole sentence.
    OrderAfterAll,
    /// The whole sentence is an order.
    Recurs,
    /// They are about a thing, and the rule is the whole sentence.
    Says,
    /// They are an order or a statement about the work, which alone is the rule.
    Remember,
}

/// The forms of standing instructions; the first that fits decides.
static FORMS: LazyLock<Vec<(Regex, Then)>> = LazyLock::new(|| {
    const YOU: &str = r"(?:(?:can|could|would|will) you (?:please )?|(?:you|we) (?:(?:should|must|have to|need to|are to) )?|i(?:'d| would)? (?:(?:want|need|expect|like|prefer) you to|(?:prefer|rather)(?: it)?(?: if| that)? you) |(?:(?:make|be) sure (?:that )?(?:you |we |to )*)|remember to |let'?s |it(?:'s| is) important (?:that you|to) |must |should )?";
    const HERE: &str =
        r"in (?:this|our) (?:project|repo|repository|codebase|monorepo|workspace|team|company|org)";
    const USE: &str = r"(?:(?:always|only|never|usually|typically|generally|normally|tend to|don'?t|do not) )?(?:use|prefer|squash|rebase|follow|write|sign|mock|target|pin|do not do|don'?t (?:do|want|like|allow))";
    const MOMENT: &str = r"(?:every|each|any) (?:new |single )?(?:commit|push|merge|pr|pull request|release|deploy(?:ment)?|change|edit|task|session|migration|step|refactor(?:ing)?|feature|fix)";
    const OFTEN: &str = r"(?:every ?time|each time|any ?time|whenever)";
    const THINGS: &str = r"(?:commits?|commit messages?|(?:unit |integration )?tests?|prs?|pull requests?|pr titles?|branch(?:es| names)?|docs|migrations?|(?:code )?comments?|changelog entr(?:y|ies))";
    let forms: Vec<(String, Then)> = vec![
        (format!("^{YOU}always "), Then::Order("Always ")),
        (format!(r"^(?:{YOU}(?:never(?:,? ever)?|not ever) |(?:do not|don'?t)(?: ever|,? under any circumstances,?) |i(?:'d| would)? never want you to |i (?:do not|don'?t) (?:ever want you to|want you to ever) |under no circumstances (?:should you )?)"), Then::Order("Never ")),
        (format!(r"^i (?:always|never) want (?:to see )?.*{THINGS}\b"), Then::Says),
        (r"^(?:(?:i|we) (?:always |generally |strongly )?)?prefer .+ (?:over|to|instead of|rather than) ".into(), Then::Says),
        (format!(r"^{HERE},? (?:we {USE}|you (?:should|must|need to|can)|please|use|always|never|don'?t|do not|run|all|every) "), Then::Says),
        (r"^(?:this|our|the) (?:project|repo|repository|codebase|monorepo) (?:always |only |never )?(?:uses?|prefers?|follows?|targets?) ".into(), Then::Says),
        (r"^we (?:usually|typically|generally|normally|tend to) ".into(), Then::OrderAfterAll),
        (format!(r"^we {USE} (?:[^\s.()/]+ )+(?:here\b|{HERE})"), Then::Says),
        (format!(r"^we {USE} .*(?:, not|,? instead of|,? rather than|,? never) "), Then::Says),
        (format!(r"^(?:use|only use|don'?t use|do not use|avoid|prefer) .* {HERE}$"), Then::Recurs),
        (r"^(?:remember|keep in mind|bear in mind|note for (?:the future|next time|future sessions))(?: that|,|:| -)? (?:to )?".into(), Then::Remember),
        (format!(r"^(?:{OFTEN} (?:you|we|i)\b[^,]*,|whenever possible,?) (?:please )?(?:then )?(?:also )?"), Then::OrderAfterAll),
        (format!(r"^(?:before|after) {MOMENT}\b[^,]*, (?:please )?(?:you (?:should|must) )?"), Then::OrderAfterAll),
        (format!(r"^(?:(?:when|whenever|if|before|after|once|while) (?:(?:you|we|i)\b|\w+ing\b)|(?:for|in|with|on) (?:all |any )?{THINGS}\b)[^,]*, (?:please )?{YOU}(?:always|never|(?:don'?t|do not) ever) "), Then::OrderAfterAll),
        (format!(r"^{YOU}\S+ .*\b(?:before|after) {MOMENT}\b"), Then::Recurs),
        (format!(r"^{YOU}\S+ .* {OFTEN}(?: (?:you|we|i|possible)\b.*)?$"), Then::Recurs),
        (format!(r"^(?:all|every|each|any) (?:of )?(?:the |our |new )*{THINGS} (?:must|needs? to|ha(?:s|ve) to) "), Then::Says),
        (format!(r"^(?:our |the )?{THINGS} (?:must|should) (?:always|never) "), Then::Says),
        (r"^(?:the|our|my) (?:rule|convention|policy|standard|preference)(?: here| in this repo| for [\w ]+)? is (?:that |to )?".into(), Then::Says),
    ];
    let compile = |(form, then): (String, Then)| Some((pattern(&format!("(?i){form}"))?, then));
    forms.into_iter().filter_map(compile).collect()
});

/// A pattern that is compiled when it is first needed.
macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: LazyLock<Option<Regex>> = LazyLock::new(|| pattern($pattern));
    };
}

pattern!(WORK_THINGS, &format!("(?i){WORK}"));
// What only leads to an instruction.
pattern!(
    FILLERS,
    r"(?i)^(?:\W*(?:(?:btw|by the way|please|pls|also|and|but|ok|okay|so|oh|ah|hm+|well|yes|yeah|just|hey|claude|fyi|ps|p\.s\.|note that|please note that|then|one more thing|again|actually|as i said|like i said|i said|i told you(?: to)?)\b(?:[,:;.!–—-]+\s*|\s+)|(?:no|nope|thanks|thank you|good|great|nice|perfect|cool|fine|sorry|wait|stop|wrong|important|note|reminder|warning|attention|preference)(?:[,:;.!]+\s*|\s+[–—-]+\s+)|(?:looks?|that'?s|this is|all) (?:good|great|fine|nice|right|wrong|perfect|not right)[^,.;]{0,30}(?:,| -| —| –| but| and)\s+|[-*#]+\s+|\d{1,2}[.)]\s+))+"
);
// What makes any order hold from now on.
pattern!(
    FROM_NOW,
    r"(?i)^(?:from (?:now|here) on(?:wards?)?|from this point on|going forward|henceforth|in (?:the )?future|for (?:the future|future (?:reference|sessions|tasks|work|prs|commits|changes)|all future \w+)|as a (?:general )?rule|in general|generally|(?:general |new |project )?(?:rule|convention|policy):)[,:]?\s+(?:please\s+)?"
);
pattern!(
    FROM_NOW_AT_END,
    r"(?i)[,;]?\s+(?:from (?:now|here) on(?:wards?)?|going forward|in (?:the )?future|as a (?:general )?rule|for all future \w+|ever(?: again)?)$"
);
pattern!(
    POLITE,
    r"(?i)^(?:please\s+|(?:can|could|would|will) you\s+|you (?:should|must|need to|have to|can)\s+|i(?:'d| would)? (?:want|need|like|prefer) you to\s+|let'?s\s+|(?:make|be) sure (?:that you|you|to)\s+)+"
);
pattern!(
    POLITE_END,
    r"(?i)[,\s]*(?:please|pls|thanks|thank you|ok|okay|too|as well)?[\s.!?;,]*$"
);
// A choice or a statement about one definite thing.
pattern!(
    ONE_THING,
    r"(?i)^(?:we (?:\S+ ){1,3}?|(?:(?:i|we) )?prefer )(?:a|an|the|this|that|it|them)\b|^we .*(?:instead of|rather than|not) (?:the|a|an|this|that)\b"
);
pattern!(REQUEST, r"(?i)^(?:can|could|would|will) you\b");
pattern!(
    OUR_WORK,
    r"(?i)\b(?:tests|linter|lint|changelog|docs|prs?|pull requests?|to (?:main|master))\b"
);
pattern!(
    NEGATED,
    r"(?i)^(?:do not|don'?t|dont|only|no|stop|not)\s+(?:to\s+)?"
);
// What ties a sentence to one task, or says what a program does.
pattern!(
    FLEETING,
    r"(?i)\b(?:now|today|tonight|tomorrow|yesterday|currently|this time|for the moment|at the moment|temporarily|yet|still|already|too slow|these|those|the above|as above|see below|(?:listed|shown|described|mentioned) (?:above|below)|option \d|the (?:first|second|third|last|next|previous|other|latter|former)|next step|the (?:user|users|function|method|caller|request|response|button|page|modal|field|flag|value|result|parser|endpoint))\b|\b(?:stop|keep going|continue|working|iterating)\b.*\buntil\b"
);
pattern!(
    THIS,
    r"(?i)\bthis\b(?:\s+(project|repo|repository|codebase|workspace|monorepo|team|company|org|machine|app|package)\b)?"
);
// What weakens a check or destroys: never learned from a sentence alone.
pattern!(
    RISKY,
    r"(?i)^(?:always )?(?:skip|bypass|disable|ignore|turn off)\b|--no-verify|--force\b|\bforce[- ]push|\bsudo\b|rm -rf|chmod 777|\|\s*(?:ba)?sh\b|\bwithout\s+\w+ing\b(?s:.*)\b(?:tests?|checks?|hooks?|reviews?|me)\b"
);
pattern!(
    UNCHECKED,
    r"(?i)^(?:never|don'?t|do not|stop|no need to)\b (?:ever )?(?:run|writ|add|execut|do|us|ask|check|review|verif|test|lint|validat|confirm)\w*(?:\s+\w+){0,2}\s+(?:tests?|linters?|lint|checks?|ci|hooks?|reviews?|permission|confirmation|me)$|^(?:never|don'?t|do not|stop)\b (?:ever )?run(?:ning)? (?:(?:the|all|any|whole|full|entire|unit|integration|test) )*(?:tests?|suite|linters?|lint|checks?|ci)(?: (?:every ?time|each time|after|before)\b.*)?$"
);
pattern!(FORBIDS, r"(?i)^(?:never|don'?t|do not|no)\b");
// What shows that a definite thing is meant in general.
pattern!(
    SCOPE,
    r"(?i)\b(?:instead of|rather than|without|unless|before|when|directly|manually|by hand|in tests|in production)\b|, (?:not|never)\b"
);
// What announces the words of another.
pattern!(
    ANNOUNCED,
    r"(?i)\b(?:said|says|wrote|writes|replied|suggests?|suggested|reviewer|feedback|copilot|coderabbit|bugbot|output|review comments?|(?:this|the|these|following|got|left) (?:\w+ )?comments?)\b[^.!?:]{0,60}:(?:\s|$)"
);

/// Returns the sentences of a text that hold from now on, as they were said.
pub(crate) fn instructions(text: &str) -> Vec<&str> {
    let own = own_lines(text);
    let sentences = own.into_iter().flat_map(sentences);
    sentences.filter(|s| rule(s).is_some()).take(MOST).collect()
}

/// Returns a standing instruction as a rule: one line, without what only leads to it.
pub(crate) fn rule(sentence: &str) -> Option<String> {
    let said = sentence.trim().replace('’', "'");
    let said = without(&FILLERS, &said);
    if said.len() > LONGEST_SENTENCE || (said.ends_with('?') && !is(&REQUEST, said)) {
        return None;
    }
    let said = without(&POLITE_END, said);
    let marked = without(&FROM_NOW_AT_END, without(&FROM_NOW, said));
    let body = without(&FILLERS, marked);
    if is(&FLEETING, body) || points_at_this(body) {
        return None;
    }
    let rule = match by_form(body) {
        Some(rule) => rule,
        None if marked.len() < said.len() => marked_order(body)?,
        None => return None,
    };
    (!is_risky(&rule)).then(|| tidy(&rule))
}

/// Tells whether a rule weakens a check or destroys; to forbid that is none.
fn is_risky(rule: &str) -> bool {
    is(&UNCHECKED, rule) || (is(&RISKY, rule) && !is(&FORBIDS, rule))
}

fn by_form(body: &str) -> Option<String> {
    FORMS.iter().find_map(|(form, then)| {
        let rest = &body[form.find(body)?.end()..];
        let order = without(&POLITE, body);
        match then {
            Then::Order(opening) => {
                (is_order(rest) && is_ours(body, rest)).then(|| format!("{opening}{rest}"))
            }
            Then::OrderAfterAll => (is_order(rest) && is_ours(body, rest)).then(|| body.to_owned()),
            Then::Recurs => is_order(order).then(|| order.to_owned()),
            Then::Says => (!points(rest) && !is(&ONE_THING, body)).then(|| body.to_owned()),
            Then::Remember => (is_order(rest) || tells_of_the_work(rest)).then(|| rest.to_owned()),
        }
    })
}

/// Returns the order in a sentence that was marked as holding from now on.
fn marked_order(body: &str) -> Option<String> {
    let order = without(&POLITE, body);
    let lower = order.to_lowercase();
    let ours = lower.strip_prefix("we ").unwrap_or(&lower);
    (is_order(ours) || lower.starts_with("no ")).then(|| order.to_owned())
}

/// Tells whether "we" are those who work, and not the program: "we always squash".
fn is_ours(body: &str, order: &str) -> bool {
    let verb = order
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_lowercase();
    !body.to_lowercase().starts_with("we ")
        || WE_DO.contains(&verb.as_str())
        || is(&OUR_WORK, order)
}

/// Tells whether the words are an order that can hold for every session: "update the
/// changelog", but not "return the first entry" or "do it again".
fn is_order(words: &str) -> bool {
    let words = without(&NEGATED, words).to_lowercase();
    let all: Vec<&str> = words
        .split_whitespace()
        .map(|word| word.trim_matches([',', '`', '*']))
        .collect();
    let (Some((verb, rest)), Some(last)) = (all.split_first(), all.last()) else {
        return false;
    };
    let Some(object) = rest.first() else {
        return ALONE.contains(verb);
    };
    let definite = matches!(*object, "the" | "a" | "an");
    let named = rest.iter().take(4).copied().collect::<Vec<_>>().join(" ");
    let is_of_the_work = is(&WORK_THINGS, &named);
    let makes_sure = *verb == "make" && *object == "sure";
    VERBS.binary_search(verb).is_ok()
        && !points(object)
        && !(points(last) && all.len() <= 5)
        && (!makes_sure || is(&WORK_THINGS, &words))
        && (!definite || is_of_the_work || is(&SCOPE, &words))
}

/// Tells whether what is to be remembered is about how the work is done here.
fn tells_of_the_work(words: &str) -> bool {
    let lower = words.to_lowercase();
    let ours = ["we ", "you ", "our ", "all ", "every ", "never ", "always "];
    let named = is(&WORK_THINGS, &lower)
        && [" is ", " are ", " must ", " need", " live", " run", " use"]
            .iter()
            .any(|verb| lower.contains(verb));
    lower.split_whitespace().count() >= 3
        && (named || ours.iter().any(|start| lower.starts_with(start)))
}

/// Tells whether the words begin with one that points at something said before.
fn points(words: &str) -> bool {
    let first = words.split_whitespace().next().unwrap_or_default();
    ["it", "them", "that", "this", "these", "those", "so", "one"]
        .contains(&first.to_lowercase().trim_end_matches([',', '.']))
}

/// Tells whether "this" stands before anything but the project.
fn points_at_this(body: &str) -> bool {
    let mut found = THIS.iter().flat_map(|this| this.captures_iter(body));
    found.any(|found| found.get(1).is_none())
}

fn is(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(text))
}

/// Returns a text without what a pattern finds at its beginning or end.
fn without<'a>(pattern: &LazyLock<Option<Regex>>, text: &'a str) -> &'a str {
    match pattern.as_ref().and_then(|pattern| pattern.find(text)) {
        Some(found) if found.start() == 0 => &text[found.end()..],
        Some(found) => &text[..found.start()],
        None => text,
    }
}

/// One line that begins with a capital.
fn tidy(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

/// Returns the lines that the user wrote: nothing of a document, of code, of a quotation or
/// of a client's screen, and nothing after the words of another were announced.
fn own_lines(text: &str) -> Vec<&str> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let count = lines().count();
    let headed = count > 1 && lines().any(|line| line.starts_with('#'));
    if text.len() > LONGEST
        || count > MOST_LINES
        || headed
        || DOCUMENTS
            .iter()
            .any(|start| text.trim_start().starts_with(start))
    {
        return Vec::new();
    }
    let mut own: Vec<(usize, usize)> = Vec::new();
    let (mut fenced, mut at, mut wraps) = (false, 0, false);
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.trim_end().len());
        at += line.len();
        let bare = line.trim();
        let fence = bare.starts_with("```") || bare.starts_with("~~~");
        fenced ^= fence;
        if bare.starts_with([
            '⏺', '⎿', '❯', '✻', '●', '•', '╭', '│', '╰', '└', '├', '✓', '✗', '⨯',
        ]) || announces(bare)
        {
            break;
        }
        let foreign = line.starts_with("    ")
            || line.starts_with('\t')
            || bare.starts_with([
                '>', '|', '{', '}', '<', '$', '+', '@', '[', '"', '“', '\'', '=',
            ]);
        if fence || fenced || foreign || bare.is_empty() {
            wraps = false;
            continue;
        }
        match own.last_mut() {
            Some(last) if wraps && bare.starts_with(char::is_lowercase) => last.1 = end,
            _ => own.push((start, end)),
        }
        wraps = bare.len() >= WRAPPED && !bare.ends_with(['.', '!', '?', ':', ';']);
    }
    own.into_iter()
        .map(|(start, end)| &text[start..end])
        .collect()
}

/// Tells whether a line announces the words of another; "I said: …" are the user's own.
fn announces(line: &str) -> bool {
    let found = ANNOUNCED.as_ref().and_then(|pattern| pattern.find(line));
    found.is_some_and(|found| {
        !line[..found.start()]
            .to_lowercase()
            .trim_end()
            .ends_with('i')
    })
}

/// Splits a line into sentences, without those that stand in quotation marks.
fn sentences(line: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let (mut start, mut code, mut quoted, mut began_quoted) = (0, false, false, false);
    for (at, c) in line.char_indices() {
        let after = at + c.len_utf8();
        match c {
            '`' => code = !code,
            '"' => quoted = !quoted,
            '“' => quoted = true,
            '”' => quoted = false,
            '.' | '!' | '?' | ';' if !code => {
                let word = line[start..at]
                    .rsplit([' ', '('])
                    .next()
                    .unwrap_or_default();
                let initials = |part: &str| part.len() <= 1 && part.is_ascii();
                let short = c == '.'
                    && ((word.contains('.') && word.split('.').all(initials))
                        || matches!(word, "vs" | "etc" | "cf" | "approx"));
                if !short && line[after..].chars().next().is_none_or(char::is_whitespace) {
                    if !began_quoted {
                        sentences.push(line[start..after].trim());
                    }
                    (start, began_quoted) = (after, quoted);
                }
            }
            _ => {}
        }
    }
    if !began_quoted {
        sentences.push(line[start..].trim());
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

#[cfg(test)]
#[path = "standing_tests.rs"]
mod tests;
