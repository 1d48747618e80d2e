//! What words alone do not tell: names that stand bare in a known frame, lists of names,
//! suggestions, and what stands before the message.

use super::phrases;

/// Stands for a name, a path, a hash.
pub(super) const NAME_MARK: &str = "<x>";
/// Stands for a number, a time, an address.
pub(super) const NUMBER_MARK: &str = "<n>";

/// Brings a text whose words have been replaced into its last form; `labels` are the words
/// before its message that tell who says it.
pub(super) fn settle(text: &str, labels: &[String]) -> String {
    let text = collapse(&bare_names(without_suggestion(text)));
    let text = collapse(&without_size(&text));
    let text = without_status_words(&text);
    let text = without_place(&text, labels);
    if COMMAND_NOT_FOUND.contains(&text) {
        return COMMAND_NOT_FOUND[0].to_owned();
    }
    singular(text)
}

/// How shells say it.
const COMMAND_NOT_FOUND: [&str; 4] = [
    "command not found",
    "<x>: command not found",
    "<x>: not found",
    "command not found: <x>",
];

/// Cuts what the tool guesses was meant.
fn without_suggestion(text: &str) -> &str {
    const STARTS: [&str; 14] = [
        "(or any ",
        ". stop",
        "you can ",
        "some candidates are",
        "valid options",
        "available commands",
        "(choose from",
        "[possible value",
        "(possible value",
        "did you mean",
        "perhaps you",
        "maybe you",
        "help: ",
        "a similar name",
    ];
    let end = STARTS
        .iter()
        .filter_map(|start| text.find(start))
        .filter(|at| *at > 0)
        .min();
    text[..end.unwrap_or(text.len())].trim_end_matches([' ', ',', ';', '(', '.', '?'])
}

/// Replaces names that tools do not quote, told by the words around them.
fn bare_names(text: &str) -> String {
    let mut text = text.to_owned();
    for message in phrases::AFTER_A_NAME {
        let Some(at) = after_colon(&text, message) else {
            continue;
        };
        let start = text[..at].rfind(": ").map_or(0, |found| found + 2);
        let name = &text[start..at];
        if start > 0 && !name.is_empty() && !name.contains(' ') {
            text.replace_range(start..at, NAME_MARK);
        }
        break;
    }
    for words in phrases::RIGHT_AFTER_A_NAME.all_in(&text) {
        if let Some(at) = text.find(words) {
            let start = text[..at].rfind([' ', '(']).map_or(0, |found| found + 1);
            replace_name(&mut text, start, at);
        }
    }
    for words in phrases::BEFORE_A_NAME.all_in(&text) {
        let Some(start) = after(&text, words) else {
            continue;
        };
        let name = text[start..].split([' ', ',', '(', ')', ';']).next();
        let end = start + name.map_or(0, str::len);
        replace_name(&mut text, start, end);
    }
    without_process(&mut text);
    // `make: *** [Makefile:3: all] …`
    if let Some(at) = text.find("[<x>: ")
        && let Some(length) = text[at..].find(']')
    {
        text.replace_range(at..=at + length, "[<x>]");
    }
    // `main -> main` of git.
    if let Some(at) = text.find(" -> ") {
        let start = text[..at].rfind(' ').map_or(0, |found| found + 1);
        let after = at + 4;
        let end = text[after..]
            .find(' ')
            .map_or(text.len(), |found| after + found);
        text.replace_range(start..end, NAME_MARK);
    }
    // `fatal: [web1]: …` names a place, `Error [ERR_X]: …` the error.
    if let Some(end) = text.find("]:")
        && let Some(open) = text[..end].rfind('[')
    {
        let label = &text[open + 1..end];
        let apart = open == 0 || text[..open].ends_with([' ', ':']);
        if apart && !label.is_empty() && !label.contains(' ') && !label.starts_with('e') {
            text.replace_range(open + 1..end, NAME_MARK);
        }
    }
    text
}

/// Where the colon before `message` stands.
fn after_colon(text: &str, message: &str) -> Option<usize> {
    text.match_indices(": ")
        .map(|(at, _)| at)
        .find(|at| text[at + 2..].starts_with(message))
}

/// Where the word after `words` begins.
fn after(text: &str, words: &str) -> Option<usize> {
    let at = text.find(words)?;
    let whole = !text[..at].ends_with(char::is_alphanumeric);
    let end = at + words.len();
    let rest = text[end..].strip_prefix(' ')?;
    (whole && !rest.is_empty()).then_some(end + 1)
}

/// Puts a placeholder in the place of a name, unless a word stands there that is none.
fn replace_name(text: &mut String, start: usize, end: usize) {
    const NO_NAMES: [&str; 26] = [
        "", "a", "an", "and", "any", "at", "be", "does", "failed", "file", "for", "from", "has",
        "in", "is", "it", "no", "not", "of", "on", "or", "that", "the", "to", "was", "with",
    ];
    let mark = start + text[start..end].trim_end_matches([':', '.']).len();
    let name = &text[start..mark];
    // `argument of type NoneType is not iterable`
    let is_type = text[..start].ends_with("of type ");
    if !is_type && !NO_NAMES.contains(&name) {
        text.replace_range(start..mark, NAME_MARK);
    }
}

/// `<x>, <x> and <x>` is `<x>`: how many there are depends on the place.
fn collapse(text: &str) -> String {
    const JOINTS: [&str; 9] = [",", ", ", " and ", " or ", ", and ", ", or ", " ", "", ":"];
    // `[::1]:8080` and `[::]:8080`
    let mut text = text
        .replace("[<n>]<n>", NUMBER_MARK)
        .replace("[::]<n>", NUMBER_MARK);
    for mark in [NAME_MARK, NUMBER_MARK] {
        if text.matches(mark).nth(1).is_none() {
            continue;
        }
        for joint in JOINTS {
            let pair = format!("{mark}{joint}{mark}");
            while text.contains(&pair) {
                text = text.replace(&pair, mark);
            }
        }
    }
    text
}

/// Removes the units of sizes and the lines that a message names within itself.
fn without_size(text: &str) -> String {
    const UNITS: [&str; 12] = [
        "bytes",
        "byte",
        "kb",
        "mb",
        "gb",
        "kib",
        "mib",
        "gib",
        "ms",
        "milliseconds",
        "seconds",
        "s",
    ];
    const PLACES: [&str; 7] = [
        " (<n> ago)",
        " at character <n>",
        " near line <n>",
        " at line <n>",
        " on line <n>",
        " (line <n>)",
        " at <x> line <n>",
    ];
    let mut words: Vec<&str> = Vec::new();
    for word in text.split(' ') {
        let unit = word.trim_end_matches([',', '.', ';', ':', ')']);
        if UNITS.contains(&unit) && words.last() == Some(&NUMBER_MARK) {
            continue;
        }
        words.push(word);
    }
    let mut text = words.join(" ");
    for place in PLACES {
        text = text.replace(place, "");
    }
    let end = text.strip_suffix(" (<n>)").map_or(text.len(), str::len);
    text.truncate(end);
    text
}

/// Removes the name of a process, which its number has told: `process 811 (node)`.
fn without_process(text: &mut String) {
    let Some(at) = text.find("process <n> (") else {
        return;
    };
    let start = at + "process <n>".len();
    if let Some(end) = text[start..].find(')') {
        text.replace_range(start..=start + end, "");
    }
}

/// Removes the words of an HTTP status, which its number has told: `404 Not Found`.
fn without_status_words(text: &str) -> String {
    const WORDS: [(&str, &str); 12] = [
        ("400", " bad request"),
        ("401", " unauthorized"),
        ("403", " forbidden"),
        ("404", " not found"),
        ("405", " method not allowed"),
        ("408", " request timeout"),
        ("409", " conflict"),
        ("429", " too many requests"),
        ("500", " internal server error"),
        ("502", " bad gateway"),
        ("503", " service unavailable"),
        ("504", " gateway timeout"),
    ];
    let mut text = text.to_owned();
    for (status, words) in WORDS {
        if let Some(at) = text.find(status)
            && text[at + status.len()..].starts_with(words)
        {
            let start = at + status.len();
            text.replace_range(start..start + words.len(), "");
        }
    }
    text
}

/// Removes what stands before the message: its place, its time, its thread.
fn without_place<'t>(text: &'t str, labels: &[String]) -> &'t str {
    const STARTS: [&str; 31] = [
        "error:",
        "fatal:",
        "runtime error:",
        "parse error:",
        "in prepare,",
        "stepping,",
        "e:",
        "utc ",
        "[emerg]",
        "[alert]",
        "[crit]",
        "[error]",
        "<x>:",
        "<n>:",
        "<x>",
        "<n>",
        "[<n>]",
        "[<x>]",
        "(<n>)",
        "(<n>,<n>):",
        "-",
        ":",
        "bash:",
        "sh:",
        "zsh:",
        "dash:",
        "line <n>:",
        "uncaught ",
        "unhandled ",
        "exception in thread ",
        "(in promise) ",
    ];
    let text = text.trim();
    // After a place it is a compiler's, which has errors of that name.
    let mut rest = text.strip_prefix("fatal error: ").unwrap_or(text);
    let after_label = |rest: &'t str| {
        let after = |label: &String| rest.strip_prefix(label.as_str())?.strip_prefix(": ");
        let said: &str = labels.iter().find_map(after)?;
        // `cat: notes: Permission denied` says too little without its tool.
        let is_bare = phrases::AFTER_A_NAME.contains(&said.trim_start_matches("<x>: "));
        (!is_bare).then_some(said)
    };
    let after_start = |rest: &'t str| STARTS.iter().find_map(|start| rest.strip_prefix(start));
    // A message may itself begin with a name: keep it when nothing else would be left.
    while let Some(next) = after_start(rest)
        .or_else(|| after_label(rest))
        .or_else(|| after_deed(rest))
    {
        let next = next.trim_start();
        if !says_something(next) {
            break;
        }
        rest = next;
    }
    rest
}

/// What follows `upload failed: <x> to <x>`: why it did.
fn after_deed(text: &str) -> Option<&str> {
    let (deed, why) = text.split_once(" failed: <x> to <x> ")?;
    (!deed.contains(' ')).then_some(why)
}

/// It has words beside placeholders.
fn says_something(text: &str) -> bool {
    text.split(NAME_MARK)
        .flat_map(|part| part.split(NUMBER_MARK))
        .any(|part| part.contains(char::is_alphabetic))
}

/// `arguments` is `argument`: how many there are depends on the place.
fn singular(text: &str) -> String {
    const NOT_PLURAL: [&str; 3] = ["ss", "us", "is"];
    let mut singular = String::with_capacity(text.len());
    for piece in text.split_inclusive(|c: char| !c.is_alphabetic()) {
        let word = piece.trim_end_matches(|c: char| !c.is_alphabetic());
        let plural = word.len() >= 4
            && word.ends_with('s')
            && !NOT_PLURAL.iter().any(|end| word.ends_with(end));
        singular.push_str(&word[..word.len() - usize::from(plural)]);
        singular.push_str(&piece[word.len()..]);
    }
    singular
}
