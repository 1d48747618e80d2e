//! The words of an error that are the same on every machine.

use super::shell::{SHELLS, base_name};

/// Abbreviations in dates, times and sizes, ignored in a line with a number.
const UNITS: &str = " mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep oct nov dec utc gmt \
    am pm s ms sec min kb mb gb kib mib gib second seconds minute minutes hour hours day days ";
/// Words before a number that is a code, and before one that is not.
const CODES: &[&str] = &["code", "errno", "status", "signal"];
const PLACES: &[&str] = &["line", "column", "port"];

/// Returns the lines of a text that report; stack frames and quoted source code do not.
pub(super) fn reports(text: &str) -> Vec<&str> {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut frame = None;
    let reports = |line: &&str| {
        let said = line.trim_start();
        let indent = line.len() - said.len();
        if said.starts_with("File \"") {
            frame = Some(indent);
            return false;
        }
        frame = frame.filter(|of| indent > *of);
        let is_frame = said.starts_with("at ") && said.contains(|c| c == '(' || is_digit(c));
        // ` 12 | let x`, `> 3 | f()`, `LINE 2: SELECT`
        let at = said.trim_start_matches(['>', ' ']);
        let code = at.trim_start_matches(is_digit);
        let is_code = code.len() < at.len() && code.trim_start().starts_with(['|', '│']);
        frame.is_none() && !is_frame && !is_code && !said.starts_with("LINE ")
    };
    text.lines().filter(reports).collect()
}

/// Returns `true` for a line that names an error by its form: `error: …`, `fatal: …`, an exception
/// before its message.
pub(super) fn is_marked(line: &str) -> bool {
    let parts: Vec<&str> = line.trim().split(": ").collect();
    let before = parts.len().min(4) - 1;
    parts[..before].iter().any(|part| is_mark(part))
}

/// Returns `true` for `error`, `fatal error`, `error[E0382]`, `E   ModuleNotFoundError`.
fn is_mark(part: &str) -> bool {
    let ends = ["fatal", "error", "exception"];
    let names_error = |word: &String| ends.iter().any(|end| word.ends_with(end));
    let words = words(&part.replace('[', " "));
    !part.contains(is_quote) && words.len() < 3 && words.iter().any(names_error)
}

/// Returns the parts of a line between colons, each as words, without the reporting shell.
pub(super) fn parts(line: &str) -> Vec<String> {
    let parts = without_shell(line.trim()).split(": ");
    let parts = parts.map(|part| words(part).join(" "));
    let says_nothing = ["", "error", "fatal", "fatal error"];
    let mut parts: Vec<_> = parts.filter(|it| !says_nothing.contains(&&**it)).collect();
    // The wording of dash.
    if let [_, last] = &mut parts[..]
        && last == "not found"
    {
        "command not found".clone_into(last);
    }
    parts
}

/// Returns the words in lower case, without numbers, folders, places in files, addresses, times,
/// versions, hashes, users and quote marks.
fn words(text: &str) -> Vec<String> {
    let has_number = text.bytes().any(|b| b.is_ascii_digit());
    let mut words: Vec<String> = Vec::new();
    let mut is_counted = false;
    // JSON
    let text = text.replace("\":", "\" ").replace(",\"", " \"");
    let mut tokens = text.split_whitespace();
    while let Some(token) = tokens.next() {
        // `a.tf line 3`, `a.php on line 3`
        let mut next = tokens.clone().filter(|next| *next != "on");
        if token.contains('.') && next.next() == Some("line") {
            continue;
        }
        let last = words.last().map_or("", String::as_str);
        let bare = token.trim_matches(is_quote);
        let is_quoted = bare.len() < token.len();
        if is_quoted && last == "user" {
            continue;
        }
        if bare.len() == 1 && bare.contains(|c: char| c.is_ascii_punctuation()) {
            // An operator, but no bullet.
            if is_quoted || !words.is_empty() && "+-*/%<>".contains(bare) {
                words.push(bare.to_owned());
            }
            continue;
        }
        let token = token.trim_matches(|c: char| !c.is_alphanumeric() && !"/\\~.@-".contains(c));
        let token = token.trim_end_matches(['.', ':', ',']);
        let is_number = token.bytes().all(|b| b.is_ascii_digit());
        let is_status =
            token.len() == 3 && token.starts_with(['4', '5']) && !PLACES.contains(&last);
        let mut word = if is_number && (is_status || CODES.contains(&last)) {
            token.to_owned()
        } else {
            fixed(token)
        };
        // `1 file`, `2 files`
        if is_counted && word.len() > 3 && word.ends_with('s') {
            word.pop();
        }
        is_counted = is_number;
        // `E   TypeError`
        let is_margin = words.is_empty() && token == "E";
        let is_unit = has_number && UNITS.contains(&format!(" {word} "));
        if !(word.is_empty() || is_margin || is_unit) {
            words.push(word);
        }
    }
    words
}

pub(super) fn is_quote(c: char) -> bool {
    "'\"`‘’“”".contains(c)
}

/// Returns the part of a word that is the same everywhere, in lower case.
fn fixed(token: &str) -> String {
    let is_uuid = token.len() == 36 && token.matches('-').count() == 4;
    let token = token.find(":user/").map_or(token, |at| &token[..at]);
    let host = token.split_once('@').map_or("", |(_, host)| host);
    let is_host = host.starts_with(char::is_alphabetic) && !host.contains(['/', ':']);
    let is_address = is_host && !is_made_up(host);
    let token = without_folder(if is_address { host } else { token });
    let is_sign = |c: char| !c.is_alphanumeric() && c != '_';
    let chunks: Vec<&str> = token.split_inclusive(is_sign).collect();
    let kept = |(at, chunk): (usize, &&str)| {
        let piece = chunk.trim_end_matches(is_sign);
        // `20261101_add_tax`
        let name = piece.trim_start_matches(|c: char| c.is_ascii_digit());
        let piece = name.strip_prefix('_').unwrap_or(piece);
        let before = chunks[..at].last().and_then(|it| it.strip_suffix('-'));
        // `ORA-00942`
        let is_series = |it: &str| it.len() > 1 && it.bytes().all(|b| b.is_ascii_uppercase());
        let next = chunks.get(at + 1).filter(|_| chunk.ends_with('.'));
        if before.is_some_and(is_series) && name.is_empty() {
            piece.to_owned()
        } else if next.is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit())) {
            let name = piece.trim_end_matches(|c: char| c.is_ascii_digit());
            name.to_lowercase()
        } else if is_made_up(piece) {
            String::new()
        } else {
            piece.to_lowercase()
        }
    };
    let kept = chunks.iter().enumerate().map(kept);
    let kept: Vec<String> = kept.filter(|it| !it.is_empty() && !is_uuid).collect();
    match &*kept.join(".") {
        "err" => "error".to_owned(),
        word => word.to_owned(),
    }
}

/// Returns the name of a file without its folder, nothing for a folder and for a place in a file,
/// and any other word as it is.
fn without_folder(token: &str) -> &str {
    let (scheme, token) = token.split_once("://").unwrap_or(("", token));
    let is_url = !scheme.is_empty() && !token.starts_with('/');
    let name = token.rsplit(['/', '\\']).next().unwrap_or_default();
    let extension = name.rsplit_once('.').map_or("", |(_, end)| end);
    let end = extension.find(|c: char| !c.is_alphanumeric());
    let (extension, at) = extension.split_at(end.unwrap_or(extension.len()));
    let is_file = (1..6).contains(&extension.len()) && extension.contains(char::is_alphabetic);
    let line = at.trim_start_matches([':', '(', '[']);
    let is_place = line.len() < at.len() && line.starts_with(|c: char| c.is_ascii_digit());
    let first = token.split('/').next().unwrap_or_default();
    let is_host = first.contains('.') && first.starts_with(char::is_alphabetic);
    match () {
        () if extension == "git" || is_file && is_place && !is_url => "",
        () if is_url => token,
        () if is_file && !is_host => name,
        () if token.contains(":\\") || token.starts_with(['/', '~']) => "",
        () => token,
    }
}

/// Returns `true` for a number, a version, a hash and a random name, but not for `E0382`.
fn is_made_up(piece: &str) -> bool {
    let digit = |b: &u8| b.is_ascii_digit();
    let bytes = piece.as_bytes();
    let digits = bytes.iter().filter(|b| digit(b)).count();
    let letters = piece.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_shouted = letters.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    let is_code = is_shouted && !letters.is_empty() && digits > 2;
    let changes = bytes.windows(2).filter(|it| digit(&it[0]) != digit(&it[1]));
    let is_version = bytes.first().is_some_and(digit) || ["v", "x", "L"].contains(&letters);
    let is_hash = bytes.len() > 5 && bytes.iter().all(u8::is_ascii_hexdigit);
    let is_random = changes.count() > 2 || bytes.len() > 20 && digits > 3;
    digits > 0 && !is_code && (is_version || is_hash || is_random)
}

/// Removes the prefix of the reporting shell: `bash: line 1: `, `zsh:1: `.
fn without_shell(mut line: &str) -> &str {
    while let Some((part, rest)) = line.split_once(": ") {
        let name = part.trim_end_matches(|c: char| c.is_ascii_digit() || " :".contains(c));
        let is_shell = SHELLS.contains(&base_name(name)) || ["line", "(eval)", ""].contains(&name);
        if !is_shell {
            break;
        }
        line = rest;
    }
    line
}
