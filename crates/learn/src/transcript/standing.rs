//! Which sentences of a user hold for every session: "never push to main".
//!
//! English, and only by plain marks. A sentence that has one must order the agent to do or to
//! leave something, or say how the work is done here. What a thing always does ("it always
//! fails"), what is said of one task ("for now"), questions and what the user pasted are none.
//! A model reads the rest.

use std::sync::LazyLock;

use regex::{Match, Regex};

use super::english::pattern;

/// A longer text is a document that was handed over, in bytes and in lines.
const LONGEST: usize = 3_000;
const MOST_LINES: usize = 30;
/// So does one begin that was written for an agent to carry out.
const DOCUMENTS: &[&str] = &["Implement the following", "You are "];
/// A longer sentence is no instruction, in bytes.
const LONGEST_SENTENCE: usize = 300;
/// How many instructions one text can hold.
const MOST: usize = 5;

/// Words that begin no order, beside verbs in another form than the plain one.
const NO_ORDER: &str = "a about again all also am an and any are around as at because been before better \
    both but by came can cannot could did done either else enough even every exactly far fell for found from \
    gave get getting good got great had has have he her hers his how i if in into is it its itself just knew known \
    like likely locally made may me might mind more most much my nice no nobody nor nothing now of off on one or \
    our out over possible quite ran rather really saw seen seem she should so some such than that the their them \
    then there these they this those thought to together too took true unless until up very was way we went were \
    what when where which while who why will with without worth would wrong yet you your";
/// Plain verbs that look like another form.
const PLAIN: &str =
    "bring embed focus mimic need ping proceed reveal seed signal string process pass";
/// How words end that are no verb in its plain form.
const ENDINGS: [&str; 10] = [
    "ed", "ing", "ly", "al", "ous", "ful", "less", "ness", "ity", "ic",
];
/// Orders that need no object.
const ALONE: &str = "amend ask assume commit force-push guess rebase squash stash";
/// What people do to their work, while a program may do all the rest.
const WORKS: &str = "ask avoid deploy document follow format keep lint mock prefer rebase review run sign \
    squash test use";

/// A pattern that is compiled when it is first needed.
struct Pattern(LazyLock<Option<Regex>>);

impl Pattern {
    fn is(&self, text: &str) -> bool {
        self.find(text).is_some()
    }

    fn find<'t>(&self, text: &'t str) -> Option<Match<'t>> {
        self.0.as_ref()?.find(text)
    }

    fn each<'t>(&self, text: &'t str) -> impl Iterator<Item = Match<'t>> {
        self.0.iter().flat_map(|pattern| pattern.find_iter(text))
    }

    /// Returns a text without what is found at its beginning or end.
    fn off<'t>(&self, text: &'t str) -> &'t str {
        match self.find(text) {
            Some(found) if found.start() == 0 => &text[found.end()..],
            Some(found) => &text[..found.start()],
            None => text,
        }
    }
}

macro_rules! patterns {
    ($($(#[$doc:meta])* $name:ident = $($part:expr),+;)+) => {
        $($(#[$doc])* static $name: Pattern =
            Pattern(LazyLock::new(|| pattern(concat!("(?i)", $($part),+))));)+
        #[cfg(test)]
        const PATTERNS: &[&Pattern] = &[$(&$name),+];
    };
}

patterns! {
    /// What an order stands behind: it may begin the sentence or any clause.
    ADVERB = r"\b(?:always|never(?:,? ever)?(?:,? under any circumstances,)?|(?:do not|don'?t|not) ever|(?:don'?t|do not),? under any circumstances,?|under no circumstances(?: should you)?|(?:i )?don'?t want you to ever)\s";
    /// What makes the order beside it hold for ever.
    BESIDE = r"(?:[,;]\s*)?\b(?:from (?:now|here) on(?:wards?)?|from this point on|going forward|henceforth|in (?:the )?future|ever(?: again)?$|for (?:the future|future (?:reference|sessions|tasks|work|prs|commits|changes)|all future \w+)|as a (?:general )?rule|in general|(?:general |new |project )?(?:rule|convention|policy):)[,:]?(?:\s+|$)";
    /// What the product is to become.
    PLANS = r"^(?:we|i) (?:should|could|can|may|might|will|want)\b";
    REMEMBER = r"\b(?:(?:also )?remember|keep in mind|bear in mind|note for (?:the future|next time|future sessions))(?: also)?(?: that|,|:| -)?(?: to)?(?: also)?\s";
    PREFERS = r"\b(?:(?:i|we)(?:'d| would)? (?:always |generally |strongly |usually )?)?prefer .{2,60}? (?:over|to|instead of|rather than) \S";
    /// How the work is done in the project.
    WE_USE = r"\bwe (?:(?:always|only|never|usually|typically|generally|normally|tend to|don'?t|do not|already) )*(?:use|prefer|squash|rebase|follow|write|sign|mock|target|pin|do|avoid|want|allow|name|put|keep)\b.*?\b(?:here|elsewhere|everywhere(?: else)?|in (?:all |the |most )*other (?:places|files|packages|modules|tests|commands|parts)|(?:in|throughout|across) (?:this|our|the (?:whole |rest of the )?) ?(?:project|repo|repository|codebase|code base|monorepo|workspace|team|company|org))\b";
    OTHERWISE = r"^we (?:always |only |usually )*(?:use|prefer|write|run|deploy|squash|rebase)\b.*(?:,? not|,? instead of|,? rather than|,? never) ";
    /// The same, with where first, or as the reason for an order.
    ELSEWHERE = r"^(?:everywhere(?: else)?|elsewhere|in (?:all |the |most )*other (?:places|files|packages|modules|tests|commands|parts)),? we (?:always |only |never )*(?:use|prefer|follow|write|do|put|name|call)\b|^(?:use|put|name|call|write|follow|make|keep) .*\b(?:like|as) (?:we do )?(?:everywhere(?: else)?|elsewhere|in (?:all |the |most )*other \w+)\b";
    IN_PROJECT = r"^in (?:this|our) (?:project|repo|repository|codebase|monorepo|workspace|team|company|org),? (?:we (?:\w+ )?(?:use|prefer|follow|write|sign|squash|rebase|do not|don'?t)|you (?:should|must|need to)|please|use|always|never|don'?t|do not|all|every) |^(?:only use|use|don'?t use|do not use|avoid|prefer) .* in (?:this|our) (?:project|repo|repository|codebase|monorepo|workspace)$|^(?:our|my|the) (?:rule|convention|policy|standard|preference)(?: here| for [\w ]+)? is ";
    EACH_TIME = r"^(?:every ?time|each time|any ?time|whenever) (?:you|we) [^,]*, |\b(?:before|after) (?:every|each) (?:new |single )?(?:commit|push|merge|pr|pull request|release|deploy(?:ment)?|change|edit|task|session|migration)\b|\b(?:every ?time|whenever) (?:you|we|i) \w+";
    /// What only leads to an instruction, or asks for it.
    LEADS = r"^(?:\W*(?:(?:btw|by the way|please|pls|also|and|but|ok|okay|so|oh|ah|hm+|well|yes|yeah|just|hey|claude|fyi|ps|then|one more thing|again|actually|because|since|as|i said|i told you(?: to)?|(?:please )?note that|(?:can|could|would|will) you(?: please)?|(?:you|we|(?:the )?agents?) (?:should|must|have to|need to|are to)|you|i(?:'d| would)? (?:want|need|expect|like|prefer) you to|(?:please )?(?:make|be) sure(?: that)?(?: you| we| to)*|remember(?: that)?(?: you)?(?: to)?|let'?s|it(?:'s| is) important (?:that you|to)|must|should|to)\b(?:[,:;.!–—-]+\s*|\s+|$)|(?:no|nope|thanks|thank you|good|great|nice|perfect|cool|fine|sorry|wait|stop|wrong|important|note|reminder|warning|attention|preference)(?:[,:;.!]+\s*|\s+[–—-]+\s+)|[-*#]+\s+|\d{1,2}[.)]\s+))+";
    POLITE_END = r"(?:[,\s]+(?:please|pls|thanks|thank you|as well)|,\s*(?:ok|okay|too))?[\s.!?;,]*$";
    /// Between it and an order stands who is to follow it.
    CLAUSE = r"[,;:(]\s+|\s[-–—]+\s+|\(";
    /// When an order holds: of whoever works, not of a program.
    CONDITION = r"^(?:(?:when|whenever|if|before|after|once|while|every ?time|each time|any ?time) (?:(?:you|we|i)\b|\w+ing\b)|(?:for|in|with|on) )";
    IF = r"^(?:if|when|whenever|once|unless|while)\b";
    NEGATED = r"^(?:(?:always|never|not|ever|please|also|only|just|don'?t|do not|no|stop)[,\s]+)+(?:to\s+)?";
    REQUEST = r"\b(?:can|could|would|will) you\b";
    QUERY = r"\byou (?:please |also |just )*(?:say|think|check|tell|explain|see|look|know|verify|confirm|remember)\b|\b(?:whether|why)\b|\bif we\b";
    /// What a statement about the work is only the reason for.
    ASKS = r"\s+for (?:this|that|it)$|,? (?:so |and |but )?(?:can|could|would|will) you\b.*$|, (?:so |and )?(?:please|do (?:that|it|the same)|use (?:that|it))\b.*$";
    /// Things of the work itself, which are meant in general also with an article before them.
    WORK = r"\b(?:agents?|branch(?:es)?|build|changelog|ci|checks?|claude\.md|code(?:base)?|comments?|commits?(?: messages?)?|coverage|dependenc(?:y|ies)|diffs?|docs|docstrings?|documentation|folder|formatter|generated|hooks?|lint(?:er)?|lockfile|helpers?|imports?|logger|main|makefile|master|mocks?|migrations?|monorepo|package manager|pipeline|plans?|prod(?:uction)?|prs?|pull requests?|readme|releases?|repo(?:sitory)?|schema|scripts?|staging|suite|tests?|tickets?|tool(?:s|chain)?|types?|vendor|venv|virtualenv|workspace|worktrees?)\b";
    OF_WORK = r"^(?:(?:all|every|each|any|our|the|new|unit|integration) )*(?:commits?|commit messages?|tests?|prs?|pull requests?|pr titles?|branch(?:es| names)?|docs|migrations?|code|(?:code )?comments?|changelog entr(?:y|ies)) (?:must|should|needs? to|ha(?:s|ve) to)$";
    SCOPE = r"\b(?:instead of|rather than|without|unless|before|when|directly|manually|by hand|in tests|in production)\b|, (?:not|never)\b";
    /// What ties a sentence to one task.
    ONE_TASK = r"\b(?:for now|right now|this time|today|tonight|tomorrow|yesterday|currently|for the moment|at the moment|temporarily|just this once|too slow|(?:stop|keep going|continue|working|iterating)\b.*\buntil)\b";
    /// What points at something said before, or says what a program does.
    POINTS = r"\b(?:now|yet|still|these|those|the above|as above|see below|(?:listed|shown|described|mentioned) (?:above|below)|option \d|the (?:first|second|third|last|next|previous|other|latter|former) (?:one|option|approach|step|version)|the (?:users?|function|method|caller|request|response|button|page|modal|field|flag|value|result|parser|endpoint))\b";
    THIS = r"\bthis\b(?:\s+(?:project|repo|repository|codebase|workspace|monorepo|team|company|org|machine|app|package)\b)?";
    POINTER = r"^(?:it|them|that|this|these|those|so|one)\b";
    ARTICLE = r"^(?:an?|the)\s";
    /// What weakens a check or destroys: never learned from a sentence alone.
    RISKY = r"^(?:always )?(?:skip|bypass|disable|ignore|turn off)\b|--no-verify|--force\b|\bforce[- ]push|\bsudo\b|rm -rf|chmod 777|\|\s*(?:ba)?sh\b|\bwithout\s+\w+ing\b.*\b(?:tests?|checks?|hooks?|reviews?|me)\b";
    UNCHECKED = r"^(?:never|don'?t|do not|stop|no need to)\b(?:,? ever)? (?:run|writ|add|execut|do|us|ask|check|review|verif|test|lint|validat|confirm)\w*(?:\s+\w+){0,4}?\s+(?:tests?|suite|linters?|lint|checks?|ci|hooks?|reviews?|permission|confirmation|me)(?: (?:every ?time|each time|again|before|after)\b.*)?$";
    FORBIDS = r"^(?:never|don'?t|do not|no)\b";
    /// What announces the words of another.
    ANNOUNCED = r"\b(?:said|says|wrote|writes|replied|suggests?|suggested|reviewer|feedback|copilot|coderabbit|bugbot|output|review comments?|(?:this|the|these|following|got|left) (?:\w+ )?comments?)\b[^.!?:]{0,60}:(?:\s|$)";
}

/// Returns the sentences of a text that hold from now on, as they were said.
pub(crate) fn instructions(text: &str) -> Vec<&str> {
    let sentences = own_lines(text).into_iter().flat_map(sentences);
    sentences.filter(|s| rule(s).is_some()).take(MOST).collect()
}

/// Returns a standing instruction as a rule: one line of the user's words, without what only
/// leads to it.
pub(crate) fn rule(sentence: &str) -> Option<String> {
    let said = sentence.trim().replace('’', "'");
    if said.len() > LONGEST_SENTENCE || ONE_TASK.is(&said) {
        return None;
    }
    let asks = said.ends_with('?');
    let said = POLITE_END.off(&said);
    if asks && (!REQUEST.is(said) || QUERY.is(said)) {
        return None;
    }
    let rules = adverbs(said).chain(beside(said)).chain(remembered(said));
    let rules = rules.chain(stated(LEADS.off(said)));
    let mut rules = rules.map(|rule| tidy(ASKS.off(&rule)));
    rules.find(|rule| !is_doubtful(rule))
}

/// The orders behind an "always" or a "never".
fn adverbs(said: &str) -> impl Iterator<Item = String> {
    ADVERB.each(said).filter_map(move |mark| {
        let start = clause(said, mark.start())?;
        let order = within(said, start, &said[mark.end()..]);
        let before = LEADS.off(&said[start..mark.start()]).trim_end();
        let from = match before.to_lowercase().as_str() {
            "" => condition(said, start).unwrap_or(mark.start()),
            "we" if starts_with(order, WORKS) => mark.start() - "we ".len(),
            "i" if starts_with(order, "want use prefer like") => mark.start() - "i ".len(),
            _ if OF_WORK.is(before) || CONDITION.is(before) => start,
            _ if joins(before) => mark.start(),
            _ => return None,
        };
        let of_work = OF_WORK.is(before) && is_verb(order);
        (of_work || is_order(order)).then(|| within(said, start, &said[from..]).to_owned())
    })
}

/// The order that is said to hold from now on.
fn beside(said: &str) -> Option<String> {
    let mark = BESIDE.find(said)?;
    let order = format!("{} {}", said[..mark.start()].trim(), &said[mark.end()..]);
    let order = LEADS.off(order.trim());
    let is_plan = PLANS.is(&said[mark.end()..]);
    let ours = order
        .strip_prefix("we ")
        .filter(|ours| starts_with(ours, WORKS));
    let holds = is_order(ours.unwrap_or(order)) || order.starts_with("no ");
    (holds && !is_plan).then(|| order.to_owned())
}

/// What is to be remembered: an order, or how the work is done.
fn remembered(said: &str) -> Option<String> {
    let mark = REMEMBER.find(said)?;
    let start = clause(said, mark.start())?;
    let before = LEADS.off(&said[start..mark.start()]).trim_end();
    let rest = within(said, start, &said[mark.end()..]);
    let of_work = WORK.is(rest)
        || ["we ", "our ", "all ", "every "]
            .iter()
            .any(|ours| rest.starts_with(ours));
    let tells =
        of_work && rest.split_whitespace().count() > 3 && !starts_with(rest, "when how what it");
    ((before.is_empty() || joins(before)) && (is_order(rest) || tells)).then(|| rest.to_owned())
}

/// A sentence that says how the work is done here.
fn stated(body: &str) -> Option<String> {
    let prefers = PREFERS.find(body).filter(|found| {
        let (who, liked) = found.as_str().split_once("refer ").unwrap_or_default();
        let is_done = liked
            .split(' ')
            .next()
            .is_some_and(|word| word.ends_with("ing"));
        let led = clause(body, found.start()).map(|start| &body[start..found.start()]);
        (who.len() > 1 || led.is_some_and(|led| LEADS.off(led).is_empty()))
            && !starts_with(liked, NO_ORDER)
            && !(is_done && liked.contains(" to "))
    });
    let uses = || WE_USE.find(body).or_else(|| OTHERWISE.find(body));
    let is_one = |found: &Match<'_>| {
        let found = found.as_str();
        let points = |word| POINTER.is(word) || ["a", "an"].contains(&word);
        let mut words = found.split(' ').skip(2).take(2);
        words.any(|word| points(word) || (word == "the" && found.ends_with("here")))
    };
    let times = || {
        let times = EACH_TIME.find(body)?;
        let order = if times.start() > 0 {
            body
        } else {
            &body[times.end()..]
        };
        is_verb(NEGATED.off(LEADS.off(order))).then_some(0)
    };
    let found = prefers
        .or_else(|| ELSEWHERE.find(body))
        .or_else(|| uses().filter(|found| !is_one(found)))
        .or_else(|| IN_PROJECT.find(body));
    let from = found.map(|found| found.start()).or_else(times)?;
    Some(within(body, clause(body, from)?, &body[from..]).to_owned())
}

/// Where the clause begins in which a mark stands; `None` in a quotation or in code.
fn clause(said: &str, mark: usize) -> Option<usize> {
    let is_inside = |quote: char| said[..mark].matches(quote).count() % 2 == 1;
    let is_quoted =
        is_inside('"') || is_inside('`') || said[..mark].rfind('“') > said[..mark].rfind('”');
    let last = CLAUSE.each(&said[..mark]).last();
    (!is_quoted).then(|| last.map_or(0, |found| found.end()))
}

/// What of `rest` belongs to the clause that begins at `start`: of one in brackets not what
/// follows them.
fn within<'t>(said: &str, start: usize, rest: &'t str) -> &'t str {
    let is_bracketed = said[..start].ends_with('(');
    let end = rest.find(')').filter(|_| is_bracketed);
    rest[..end.unwrap_or(rest.len())].trim()
}

/// Where the condition begins under which an order at `start` holds.
fn condition(said: &str, start: usize) -> Option<usize> {
    let body = LEADS.off(said);
    let begin = said.len() - body.len();
    (begin < start && CONDITION.is(body)).then_some(begin)
}

/// Tells whether an order before is joined to the one that follows: "run it and never …".
fn joins(before: &str) -> bool {
    let last = before.rsplit(' ').next().unwrap_or_default();
    ["and", "but", "or", "then", "so"].contains(&last) && is_verb(before)
}

/// Tells whether the words are an order that can hold for every session: "update the
/// changelog", but not "return the first entry" or "do it again".
fn is_order(words: &str) -> bool {
    let words = NEGATED.off(words.trim());
    let Some((verb, rest)) = words.split_once(' ') else {
        return starts_with(words, ALONE);
    };
    let named: Vec<&str> = rest.split(' ').take(4).collect();
    let in_general = || starts_with(verb, WORKS) || WORK.is(&named.join(" ")) || SCOPE.is(rest);
    is_verb(verb)
        && !POINTER.is(rest)
        && (!ARTICLE.is(rest) || in_general())
        && (!rest.starts_with("sure") || WORK.is(rest))
}

/// Tells whether the words begin with a verb in its plain form, as an order does.
fn is_verb(words: &str) -> bool {
    let verb = words.split(' ').next().unwrap_or_default().to_lowercase();
    let is_bent = ENDINGS.iter().any(|end| verb.ends_with(end))
        || verb.contains('\'')
        || (verb.ends_with('s') && !verb.ends_with("ss"));
    verb.starts_with(|c: char| c.is_ascii_alphabetic())
        && (!is_bent || starts_with(&verb, PLAIN))
        && !starts_with(&verb, NO_ORDER)
}

/// Tells whether a text begins with one of the words of a list.
fn starts_with(text: &str, list: &str) -> bool {
    let first = text.split([' ', ',']).next().unwrap_or_default();
    list.split_whitespace()
        .any(|word| word.eq_ignore_ascii_case(first))
}

/// Tells whether a rule weakens a check, destroys, or is not understood without its session.
fn is_doubtful(rule: &str) -> bool {
    let rule = rule.trim();
    UNCHECKED.is(rule)
        || (RISKY.is(rule) && !FORBIDS.is(rule))
        || POINTS.is(rule)
        || THIS
            .each(rule)
            .any(|this| !this.as_str().contains(char::is_whitespace))
        || (IF.is(rule) && !CONDITION.is(rule))
}

/// One line that begins with a capital.
fn tidy(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut chars = text.chars();
    let first = chars.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(chars).collect()
}

/// Returns the lines that the user wrote: nothing of a document, of code, of a quotation or
/// of a client's screen, and nothing after the words of another were announced.
fn own_lines(text: &str) -> Vec<&str> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let count = lines().count();
    let headed = count > 1 && lines().any(|line| line.starts_with('#'));
    let mut documents = DOCUMENTS.iter();
    let is_task = documents.any(|start| text.trim_start().starts_with(start));
    if text.len() > LONGEST || count > MOST_LINES || headed || is_task {
        return Vec::new();
    }
    let mut fenced = false;
    let until_others = lines().take_while(|line| !begins_others(line.trim()));
    let own = until_others.filter(|line| {
        let bare = line.trim();
        let fence = bare.starts_with("```") || bare.starts_with("~~~");
        fenced ^= fence;
        let is_code = fence || fenced || line.starts_with("    ") || line.starts_with('\t');
        !is_code && !bare.starts_with(['>', '|', '{', '}', '<', '$', '+', '@', '[', '"', '\'', '='])
    });
    own.collect()
}

/// Tells whether what follows is not the user's: a client's screen, which begins its lines
/// with signs of its own, or what the line announces; "I said: …" are the user's own.
fn begins_others(line: &str) -> bool {
    let is_sign = |c: char| !c.is_ascii() && !c.is_alphanumeric() && !"–—‘".contains(c);
    let announced = ANNOUNCED.find(line);
    line.starts_with(is_sign)
        || announced.is_some_and(|found| {
            !line[..found.start()]
                .to_lowercase()
                .trim_end()
                .ends_with('i')
        })
}

/// Splits a line into sentences; code and quotations stay whole, and so does what stands on
/// both sides of a semicolon.
fn sentences(line: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let (mut start, mut quote) = (0, None);
    for (at, c) in line.char_indices() {
        let after = at + c.len_utf8();
        let word = || {
            line[start..at]
                .rsplit([' ', '('])
                .next()
                .unwrap_or_default()
        };
        match (c, quote) {
            (c, Some(close)) if c == close => quote = None,
            ('`' | '"', None) => quote = Some(c),
            ('“', None) => quote = Some('”'),
            ('.' | '!' | '?', None)
                if line[after..].chars().next().is_none_or(char::is_whitespace)
                    && !(c == '.' && ["e.g", "i.e", "vs", "etc", "cf"].contains(&word())) =>
            {
                sentences.push(line[start..after].trim());
                start = after;
            }
            _ => {}
        }
    }
    sentences.push(line[start..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

#[cfg(test)]
#[path = "standing_tests.rs"]
mod tests;
