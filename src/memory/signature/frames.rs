//! What words alone do not tell: names that stand bare in a known frame, lists of names,
//! suggestions, and what stands before the message.

use super::phrases;

/// Stands for a name, a path, a hash.
pub(super) const NAME_MARK: &str = "<x>";
/// Stands for a number, a time, an address.
pub(super) const NUMBER_MARK: &str = "<n>";

/// Brings a text whose words have been replaced into its last form.
pub(super) fn settle(text: &str) -> String {
    let text = collapse(&bare_names(without_suggestion(text)));
    let text = without_size(&text);
    let text = without_place(&text);
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
    const STARTS: [&str; 11] = [
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
    if !NO_NAMES.contains(&name) {
        text.replace_range(start..mark, NAME_MARK);
    }
}

/// `<x>, <x> and <x>` is `<x>`: how many there are depends on the place.
fn collapse(text: &str) -> String {
    const JOINTS: [&str; 9] = [",", ", ", " and ", " or ", ", and ", ", or ", " ", "", ":"];
    let mut text = text.to_owned();
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
    const PLACES: [&str; 4] = [
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
    text
}

/// Removes what stands before the message: its place, its time, its thread.
fn without_place(text: &str) -> &str {
    const STARTS: [&str; 19] = [
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
    let mut rest = text.trim();
    // A message may itself begin with a name: keep it when nothing else would be left.
    while let Some(next) = STARTS.iter().find_map(|start| rest.strip_prefix(start)) {
        let next = next.trim_start();
        if !next.contains(char::is_alphabetic) {
            break;
        }
        rest = next;
    }
    rest
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
