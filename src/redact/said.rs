//! Passwords that are said: `Das Passwort für den Server lautet: …`, `密码是…`.
//!
//! In any language the word comes first, then what it is for, then a word or a sign that
//! says that the password follows.

use std::ops::Range;

use super::value::{is_dated, is_placeholder, is_sum, is_uuid};
use crate::clip::head;

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
    let rest = head(&text[at.end..], MAX_SAID);
    let rest = &rest[..rest.find(['\n', '{', '<']).unwrap_or(rest.len())];
    // Most words for a password are said without one.
    if !rest.bytes().any(|b| b.is_ascii_digit()) {
        return;
    }
    if let Some(password) = after_marks(rest).find_map(|from| said(rest, from)) {
        found(at.end + password.start..at.end + password.end);
    }
}

/// Returns the places behind the marks of a text, in order; behind each mark once.
fn after_marks(text: &str) -> impl Iterator<Item = usize> {
    let can_begin = |b: u8| matches!(b, b' ' | b':' | b'=') || !b.is_ascii();
    let bytes = text.as_bytes();
    let places = (0..bytes.len()).filter(move |at| can_begin(bytes[*at]));
    let mut met = [false; MARKS.len()];
    places.filter_map(move |at| {
        let here =
            |(mark, met): &(&&str, &mut bool)| !**met && bytes[at..].starts_with(mark.as_bytes());
        let (mark, met) = MARKS.iter().zip(&mut met).find(here)?;
        *met = true;
        Some(at + mark.len())
    })
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
