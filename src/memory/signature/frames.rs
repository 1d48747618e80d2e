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
    const STARTS: [&str; 5] = [
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
        let Some(at) = text.find(&format!(": {message}")) else {
            continue;
        };
        let start = text[..at].rfind(": ").map_or(0, |found| found + 2);
        let name = &text[start..at];
        if start > 0 && !name.is_empty() && !name.contains(' ') {
            text.replace_range(start..at, NAME_MARK);
        }
        break;
    }
    let mut followed = phrases::RIGHT_AFTER_A_NAME.iter();
    if let Some(at) = followed.find_map(|words| text.find(words)) {
        let start = text[..at].rfind(' ').map_or(0, |found| found + 1);
        text.replace_range(start..at, NAME_MARK);
    }
    for frame in phrases::BEFORE_A_NAME {
        let Some(at) = text.find(frame) else {
            continue;
        };
        let start = at + frame.len();
        let Some(rest) = text[start..].strip_prefix(' ') else {
            continue;
        };
        let name = rest.split([' ', ',', '(', ';']).next().unwrap_or_default();
        if !name.is_empty() && name != ":" {
            let start = start + 1;
            text.replace_range(start..start + name.len(), NAME_MARK);
            break;
        }
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

/// `<x>, <x> and <x>` is `<x>`: how many there are depends on the place.
fn collapse(text: &str) -> String {
    const JOINTS: [&str; 8] = [", ", " and ", " or ", ", and ", ", or ", " ", "", ":"];
    let mut text = text.to_owned();
    for mark in [NAME_MARK, NUMBER_MARK] {
        for joint in JOINTS {
            let pair = format!("{mark}{joint}{mark}");
            while text.contains(&pair) {
                text = text.replace(&pair, mark);
            }
        }
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
