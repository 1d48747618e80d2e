//! Passwords that are said: `Das Passwort für den Server lautet: …`, `密码是…`.
//!
//! In any language the word comes first, then what it is for, then a word or a sign that
//! says that the password follows.

use std::ops::Range;

use super::value::{is_dated, is_placeholder, is_sum, is_uuid};

/// How far behind its word a password is looked for, in bytes.
const MAX_SAID: usize = 100;
/// A shorter one is not told from a number or a unit.
const MIN_SAID: usize = 6;

/// Words for a password, in lower case; of those that begin as many words do the end.
pub(super) const WORDS: &[&str] = &[
    "password for",
    "password should",
    "password is",
    "password was",
    "password di",
    "password to",
    "password of",
    "password on",
    "passphrase for",
    "token for",
    "api key for",
    "passwort",
    "ennwort",
    "mot de passe",
    "seña",
    "senha",
    "wachtwoord",
    "asło",
    "lösenord",
    "adgangskode",
    "passord",
    "salasana",
    "arola",
    "şifre",
    "jelszó",
    "lozinka",
    "eslo",
    "пароль",
    "код доступа",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "비밀번호",
    "mật khẩu",
    "kata sandi",
    "lave de acceso",
    "clé d'accès",
    "zugangscode",
    "κωδικός",
    "كلمة المرور",
    "סיסמה",
    "पासवर्ड",
    "รหัสผ่าน",
];
/// What says that the password follows.
const MARKS: &[&str] = &[
    ":", "=", "：", " is ", " lautet ", " ist ", " est ", " es ", " é ", " è ", " er ", " är ",
    " jest ", " je ", " on ", " to ", " be ", " это ", " — ", " - ", "是", "为", "は", "는 ",
    "은 ", " là ",
];

/// Tells whether a text begins or ends with a word for a password.
pub(super) fn is_word(text: &str) -> bool {
    let text = text.to_lowercase();
    let text = text.trim_end_matches([':', '?', '*', '.', '…', ' ']);
    WORDS
        .iter()
        .any(|word| text.starts_with(word) || text.ends_with(word))
}

/// Looks at a word for a password.
pub(super) fn look(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let mut end = text.len().min(at.end + MAX_SAID);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let rest = &text[at.end..end];
    let rest = &rest[..rest.find(['\n', '{', '<']).unwrap_or(rest.len())];
    let marks = MARKS.iter().filter_map(|mark| {
        let place = rest.find(mark)?;
        Some(place + mark.len())
    });
    let passwords = marks.filter_map(|from| said(rest, from));
    if let Some(password) = passwords.min_by_key(|password| password.start) {
        found(at.end + password.start..at.end + password.end);
    }
}

/// Returns the word that is said from a place on, when it looks like a password.
fn said(rest: &str, from: usize) -> Option<Range<usize>> {
    let start = from + rest[from..].len() - rest[from..].trim_start_matches(is_quote).len();
    let word = rest[start..].split(ends).next().unwrap_or_default();
    let word = word.trim_end_matches(['.', ',', '!', '?', ':', ')', '。', '，']);
    let has_digit = word.bytes().any(|b| b.is_ascii_digit());
    let has_letter = word.bytes().any(|b| b.is_ascii_alphabetic());
    let is_link = word.starts_with('/') || word.contains("](");
    let is_password = !is_link && word.len() >= MIN_SAID && has_digit && has_letter;
    let is_known = is_placeholder(word) || is_dated(word) || is_uuid(word) || is_sum(word);
    (is_password && !is_known).then(|| start..start + word.len())
}

fn is_quote(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '“' | '„' | '「' | '«' | '*' | '(')
}

fn ends(c: char) -> bool {
    is_quote(c) || c == '\\' || !c.is_ascii()
}
