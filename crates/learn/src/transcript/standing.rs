//! Which sentences of a user hold for every session: "never push to main".
//!
//! English, and only by plain marks. A sentence that has one must order the agent to do or to
//! leave something, or say how the work is done here. What a thing always does ("it always
//! fails"), what is said of one task ("for now"), questions and what the user pasted are none.
//! A model reads the rest.

use super::english::patterns;
use super::words::{ALONE, DOCUMENTS, ENDINGS, List, NO_ORDER, PLAIN, WISHES, WORKS};

/// A longer text is a document that was handed over, in bytes and in lines.
const LONGEST: usize = 3_000;
const MOST_LINES: usize = 30;
/// A longer sentence is no instruction, in bytes.
const LONGEST_SENTENCE: usize = 300;
/// How a line begins that is code, a quotation or a table.
const NOT_WORDS: [char; 12] = ['>', '|', '{', '}', '<', '$', '+', '@', '[', '"', '\'', '='];
/// How many instructions one text can hold.
const MOST: usize = 5;

/// A sentence before with fewer words says nothing of what an instruction is about.
const TELLING: usize = 3;

patterns! {
    ADVERB BESIDE PLANS REMEMBER PREFERS HAS WE_USE OF_ONE OTHERWISE ELSEWHERE
    IN_PROJECT USES MINE EACH_TIME LEADS POLITE_END CLAUSE CONDITION IF NEGATED REQUEST QUERY
    ASKS WORK OF_WORK SCOPE ONE_TASK POINTS REFERS SCOPED POINTS_BACK FOR_THIS BARE PRAISE PARTS WISH THIS
    POINTED POINTER ARTICLE RISKY UNCHECKED FORBIDS ANNOUNCED PASTED
}

/// Returns the sentences of a text that hold from now on, as they were said; before one that is
/// not understood alone stand the two before it, each on a line of its own.
pub(crate) fn instructions(text: &str) -> Vec<String> {
    let said: Vec<&str> = own_lines(text).into_iter().flat_map(sentences).collect();
    let found = (0..said.len()).filter_map(|at| {
        // What is no order alone is none after other sentences.
        order(sentences(said[at]).pop()?)?;
        let alone = rule(said[at]);
        let with_before = said[at.saturating_sub(2)..=at].join("\n");
        let helps = rule(&with_before) != alone;
        (helps || alone.is_some()).then(|| {
            if helps {
                with_before
            } else {
                said[at].to_owned()
            }
        })
    });
    found.take(MOST).collect()
}

/// Returns a standing instruction as a rule: one line of the user's words, without what only
/// leads to it, and with what it is about where it does not say so itself.
pub(crate) fn rule(said: &str) -> Option<String> {
    let mut said: Vec<&str> = said.lines().flat_map(sentences).collect();
    let (order, led) = order(said.pop()?)?;
    let refers = REFERS.is(&order) && !SCOPED.is(&order);
    if !refers && !BARE.is(&order) {
        return Some(order);
    }
    let least = if refers { TELLING } else { TELLING + 2 };
    let mut about: Vec<&str> = Vec::new();
    for words in [led.as_str()].into_iter().chain(said.into_iter().rev()) {
        let words = LEADS.off(words).trim_end_matches(['.', '!', ',', ':', '?']);
        if words.split_whitespace().count() >= least
            && !PRAISE.is(words)
            && self::order(words).is_none()
        {
            about.insert(0, words);
            if !POINTS_BACK.is(words) {
                break;
            }
        }
    }
    match about.join("; ").replace('"', "'").as_str() {
        "" => (!refers).then_some(order),
        about => Some(format!("{order} (said of \"{about}\")")),
    }
}

/// Returns the order of a sentence that holds from now on, and what the sentence says before it.
fn order(sentence: &str) -> Option<(String, String)> {
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
    let mut rules = rules.map(|rule| ASKS.off(&rule).trim().to_owned());
    let rule = rules.find(|rule| !is_doubtful(rule))?;
    let at = said.find(&rule);
    let before = at.map_or("", |at| &said[..at]);
    let ends = |c: char| c.is_whitespace() || "(),;:-–—".contains(c);
    Some((tidy(&rule), before.trim_matches(ends).to_owned()))
}

/// The orders behind an "always" or a "never".
fn adverbs(said: &str) -> impl Iterator<Item = String> {
    ADVERB.each(said).filter_map(move |mark| {
        let start = clause(said, mark.start())?;
        let order = within(said, start, &said[mark.end()..]);
        let before = LEADS.off(&said[start..mark.start()]).trim_end();
        let wishes = starts_with(order, &WISHES);
        let from = match before.to_lowercase().as_str() {
            "" => match condition(said, start) {
                None if start > 0 && IF.is(LEADS.off(said)) => return None,
                condition => condition.unwrap_or(mark.start()),
            },
            "we" if starts_with(order, &WORKS) || wishes => mark.start() - "we ".len(),
            "i" if wishes => mark.start() - "i ".len(),
            _ if OF_WORK.is(before) || CONDITION.is(before) => start,
            _ if joins(before) => mark.start(),
            _ => return None,
        };
        let of_work = OF_WORK.is(before) && (is_verb(order) || order.starts_with("have "));
        let wish = order.split_once(' ').filter(|_| wishes).unwrap_or_default();
        let is_wish = wish.1.split(' ').count() > TELLING && !POINTED.is(wish.1);
        let whole = within(said, start, &said[from..]);
        let holds = of_work || is_wish || is_order(order, whole);
        holds.then(|| whole.to_owned())
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
        .filter(|ours| starts_with(ours, &WORKS));
    let holds = is_order(ours.unwrap_or(order), order) || order.starts_with("no ");
    (holds && !is_plan).then(|| order.to_owned())
}

/// What is to be remembered: an order, or how the work is done. One that only names a thing
/// ("remember to use retries") reminds of the task at hand.
fn remembered(said: &str) -> Option<String> {
    let mark = REMEMBER.find(said)?;
    let start = clause(said, mark.start())?;
    let before = LEADS.off(&said[start..mark.start()]).trim_end();
    let rest = within(said, start, &said[mark.end()..]);
    let begins = |words: &[&str]| words.iter().any(|word| rest.starts_with(word));
    let of_work = WORK.is(rest) || begins(&["we ", "our ", "all ", "every "]);
    let is_told = of_work && !begins(&["when ", "how ", "what ", "it "]) || HAS.is(rest);
    let tells = is_told && rest.split_whitespace().count() > TELLING;
    let orders = is_order(rest, rest) && !BARE.is(rest);
    ((before.is_empty() || joins(before)) && (orders || tells)).then(|| rest.to_owned())
}

/// A sentence that says how the work is done here.
fn stated(body: &str) -> Option<String> {
    let every_time = EACH_TIME.find(body).filter(|times| {
        let order = if times.start() > 0 {
            body
        } else {
            &body[times.end()..]
        };
        is_verb(NEGATED.off(LEADS.off(order.trim_start())))
    });
    let ways = [
        &PREFERS,
        &ELSEWHERE,
        &WE_USE,
        &OTHERWISE,
        &IN_PROJECT,
        &USES,
        &MINE,
    ];
    let mut found = ways.iter().filter_map(|way| way.find(body));
    let from = match found.find(|found| !OF_ONE.is(found.as_str())) {
        Some(found) => found.start(),
        None => every_time.map(|_| 0)?,
    };
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
    let is_lasting = BESIDE.find(body).is_some_and(|mark| mark.start() == 0);
    (begin < start && CONDITION.is(body) && !is_lasting).then_some(begin)
}

/// Tells whether an order before is joined to the one that follows: "run it and never …".
fn joins(before: &str) -> bool {
    let last = before.rsplit(' ').next().unwrap_or_default();
    ["and", "but", "or", "then", "so"].contains(&last) && is_verb(before)
}

/// Tells whether the words are an order that can hold for every session: "update the
/// changelog", but not "return the first entry" or "do it again". `whole` is all that is said
/// of it, the condition before it too.
fn is_order(words: &str, whole: &str) -> bool {
    let words = NEGATED.off(words.trim());
    let Some((verb, rest)) = words.split_once(' ') else {
        return starts_with(words, &ALONE);
    };
    let named: Vec<&str> = rest.split(' ').take(4).collect();
    let in_general = || starts_with(verb, &WORKS) || WORK.is(&named.join(" ")) || SCOPE.is(whole);
    is_verb(verb)
        && !POINTER.is(rest)
        && (!ARTICLE.is(rest) || in_general())
        && (!rest.starts_with("sure") || WORK.is(rest))
}

/// Tells whether the words begin with a verb in its plain form, as an order does.
fn is_verb(words: &str) -> bool {
    let verb = words.split(' ').next().unwrap_or_default().to_lowercase();
    let is_bent = ENDINGS.words().iter().any(|end| verb.ends_with(end))
        || verb.contains('\'')
        || (verb.ends_with('s') && !verb.ends_with("ss"));
    verb.starts_with(|c: char| c.is_ascii_alphabetic())
        && (!is_bent || starts_with(&verb, &PLAIN))
        && !starts_with(&verb, &NO_ORDER)
}

/// Tells whether a text begins with one of the words of a list.
fn starts_with(text: &str, list: &List) -> bool {
    let first = text.split([' ', ',']).next().unwrap_or_default();
    list.has(&first.to_lowercase())
}

/// Tells whether a rule weakens a check, destroys, or is not understood without its session.
fn is_doubtful(rule: &str) -> bool {
    let rule = rule.trim();
    UNCHECKED.is(rule)
        || (RISKY.is(rule) && !FORBIDS.is(rule))
        || POINTS.is(rule)
        || (PARTS.is(rule) && !WISH.is(rule))
        || THIS
            .each(&FOR_THIS.without(rule))
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
pub(crate) fn own_lines(text: &str) -> Vec<&str> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let count = lines().count();
    let headed = count > 1 && lines().any(|line| line.starts_with('#'));
    let is_task = DOCUMENTS.begins(text.trim_start());
    if text.len() > LONGEST || count > MOST_LINES || headed || is_task {
        return Vec::new();
    }
    let is_fence = |line: &str| line.starts_with("```") || line.starts_with("~~~");
    let fences = lines().filter(|line| is_fence(line.trim())).count();
    let (mut tag, mut seen) = (None, 0);
    let mut own = Vec::new();
    for line in lines() {
        let bare = line.trim();
        let ends_fence = is_fence(bare);
        seen += usize::from(ends_fence);
        // A document in a fence may hold others: between the first and the last all are its lines.
        let is_inside = seen > 0 && (seen < fences || fences % 2 == 1);
        let in_tag = tag.is_some();
        tag = match &tag {
            Some(end) if bare.contains(end) => None,
            None => end_of_tag(bare).filter(|end| !bare.contains(end) && text.contains(end)),
            _ => tag.take(),
        };
        let is_code = in_tag || ends_fence || is_inside;
        if !is_code && begins_others(bare) {
            // What announces them alone is the user's.
            own.extend(Some(line).filter(|_| bare.ends_with(':')));
            break;
        }
        let is_set_off = line.starts_with("    ") || line.starts_with('\t');
        if !is_code && !is_set_off && !bare.starts_with(NOT_WORDS) {
            own.push(line);
        }
    }
    own
}

/// What ends the part of a text that the tag at the beginning of a line begins.
fn end_of_tag(line: &str) -> Option<String> {
    let name = line.strip_prefix('<')?;
    let name = &name[..name.find(|c: char| !(c.is_ascii_alphanumeric() || "-_".contains(c)))?];
    (!name.is_empty()).then(|| format!("</{name}>"))
}

/// Tells whether what follows is not the user's: a client's screen, which begins its lines
/// with signs of its own, what was pasted, or what the line announces; "I said: …" are the
/// user's own.
fn begins_others(line: &str) -> bool {
    let is_sign = |c: char| !c.is_ascii() && !c.is_alphanumeric() && !"–—‘¿¡«„".contains(c);
    let announced = ANNOUNCED.find(line);
    line.starts_with(is_sign)
        || PASTED.is(line)
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
