//! The words of an error that are the same on every machine.

use super::shell::{SHELLS, base_name};

/// Abbreviations in dates, times and sizes, ignored in a line with a number.
const UNITS: &str = " mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep oct nov dec utc gmt \
    am pm s ms sec min kb mb gb kib mib gib second seconds minute minutes hour hours day days ";
/// Words before a number that is a code, and before one that is not.
const CODES: &[&str] = &["code", "errno", "status", "signal"];
const PLACES: &[&str] = &["line", "column", "port"];

/// Returns the lines of a text that report; stack frames, quoted source code and statistics do
/// not.
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
        // ` 12 | let x`, `> 3 | f()`
        let at = said.trim_start_matches(['>', ' ']);
        let code = at.trim_start_matches(is_digit);
        let is_source = code.len() < at.len() && code.trim_start().starts_with(['|', '│']);
        // `2 passed, 1 failed in 0.3s`
        let words = said.split_whitespace();
        let counts = words.clone().filter(|word| is_count(word)).count();
        let is_statistics = counts > 2 && words.count() <= 4 * counts && !is_marked(line);
        frame.is_none() && !is_frame && !is_source && !is_statistics
    };
    text.lines().filter(reports).collect()
}

fn is_count(word: &str) -> bool {
    let word = word.trim_end_matches([',', '.', ';', ':']);
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    unit.len() < word.len() && unit.len() < 4 && unit.chars().all(char::is_alphabetic)
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
    let names_error = |word: &String| {
        let is_name = word.ends_with("error") || word.ends_with("exception");
        word == "fatal" || is_name && !word.contains('-')
    };
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
    for token in text.split_whitespace() {
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
        if words.is_empty() && token == "E" {
            continue;
        }
        if !word.is_empty() && !(has_number && UNITS.contains(&format!(" {word} "))) {
            words.push(word);
        }
    }
    words
}

fn is_quote(c: char) -> bool {
    "'\"`‘’“”".contains(c)
}

/// Returns the part of a word that is the same everywhere, in lower case.
fn fixed(token: &str) -> String {
    let is_uuid = token.len() == 36 && token.matches('-').count() == 4;
    if is_uuid || token.split(['-', ':', '.', '_']).any(is_digest) {
        return String::new();
    }
    let token = token.find("user/").map_or(token, |at| &token[..at]);
    let host = token.split_once('@').map_or("", |(_, host)| host);
    let is_host = host.starts_with(char::is_alphabetic) && !host.contains(['/', ':']);
    let is_address = is_host && !is_made_up(host, host);
    let token = without_folder(if is_address { host } else { token });
    let mut word = String::new();
    let (mut before, mut rest) = ("", token);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
        // `20261101_add_tax`
        let (number, name) = piece.split_once('_').unwrap_or(("-", ""));
        let is_numbered = number.bytes().all(|b| b.is_ascii_digit());
        let piece = if is_numbered { name } else { piece };
        rest = after
            .char_indices()
            .nth(1)
            .map_or("", |(at, _)| &after[at..]);
        let is_version = after.starts_with('.') && rest.starts_with(|c: char| c.is_ascii_digit());
        let letters = piece.trim_end_matches(|c: char| c.is_ascii_digit());
        // `ORA-00942`
        let is_series = before.len() > 1 && before.bytes().all(|b| b.is_ascii_uppercase());
        let kept = match () {
            () if is_series && letters.is_empty() && token.contains(&format!("{before}-")) => piece,
            () if is_version => letters,
            () if is_made_up(piece, token) => "",
            () if piece.len() > letters.len() + 3 && !is_code(piece, token) => letters,
            () => piece,
        };
        before = piece;
        if !kept.is_empty() {
            word.push_str(if word.is_empty() { "" } else { "." });
            word.push_str(&kept.to_lowercase());
        }
    }
    if word == "err" {
        "error".to_owned()
    } else {
        word
    }
}

/// Returns the name of a file without its folder, nothing for a folder and for a place in a file,
/// and any other word as it is.
fn without_folder(token: &str) -> &str {
    let token = match token.split_once("://") {
        Some((_, path)) if path.starts_with('/') => path,
        Some((_, url)) => return url,
        None => token,
    };
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
        () if is_file && is_place => "",
        () if is_file && !is_host => name,
        () if token.contains(":\\") || token.starts_with(['/', '~']) => "",
        () => token,
    }
}

/// Returns `true` for `E0382`, `ERR_404`, `42P01`.
fn is_code(piece: &str, token: &str) -> bool {
    let digits = piece.bytes().filter(u8::is_ascii_digit).count();
    let is_shouted = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    let is_long = piece.starts_with(char::is_alphabetic) && digits > 2;
    let is_state = piece.len() == 5 && piece == token && digits < 5;
    piece.bytes().all(is_shouted)
        && piece.ends_with(|c: char| c.is_ascii_digit())
        && (is_long || is_state)
}

/// Returns `true` for a number, a version, a hash and a random name.
fn is_made_up(piece: &str, token: &str) -> bool {
    let digit = |b: &u8| b.is_ascii_digit();
    let bytes = piece.as_bytes();
    let digits = bytes.iter().filter(|b| digit(b)).count();
    let pairs = bytes.windows(2);
    let changes = pairs.filter(|it| digit(&it[0]) != digit(&it[1])).count();
    let is_hash = bytes.len() > 5 && bytes.iter().all(u8::is_ascii_hexdigit);
    let letters = piece.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_version = bytes.first().is_some_and(digit) || ["v", "x", "L"].contains(&letters);
    digits > 0
        && (is_version || is_hash || changes > 2 || bytes.len() > 20 && digits > 3)
        && !is_code(piece, token)
}

/// Returns `true` for a hash in base 64.
fn is_digest(piece: &str) -> bool {
    let has = |is: fn(&u8) -> bool| piece.bytes().filter(is).count() > 3;
    let cases = [
        u8::is_ascii_uppercase,
        u8::is_ascii_lowercase,
        u8::is_ascii_digit,
    ];
    piece.len() > 31 && cases.into_iter().all(has)
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
