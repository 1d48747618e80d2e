//! What stands where a secret could stand and is none: placeholders, variables, types,
//! words.

use super::words::WORDS;
use crate::clip::head;

/// A text of fewer different characters is filler: `xxxxxxxx`, `****`, `0000-0000`.
const FEW: u32 = 4;
/// How much of a value is looked at, in bytes.
pub(super) const LOOKED_AT: usize = 160;
/// A longer value is no placeholder made of words.
const MAX_WORDS: usize = 80;
/// Runs that show that someone wrote filler.
const FILLERS: [&str; 5] = ["xxxx", "XXXX", "****", "....", "••••"];

/// How a reference to a place where a secret is kept begins, or what stands in it.
const REFERENCES: &[&str] = &[
    "process.env",
    "import.meta.env",
    "os.environ",
    "os.getenv",
    "getenv",
    "std::env",
    "env::var",
    "env.",
    "secrets.",
    "vars.",
    "var.",
    "config.",
    "settings.",
    "credentials.",
    "System.getenv",
    "op://",
    "vault:",
    "arn:",
    "ssm:",
    "sm://",
    "file://",
    "http://",
    "https://",
    "keychain:",
    "@Microsoft.KeyVault",
    "AAAAB3Nz",
    "AAAAC3Nz",
    "AAAAE2Vj",
];

/// Tells whether a text is filler: hardly a character in it differs from the others.
pub(super) fn is_filler(text: &str) -> bool {
    let text = head(text, LOOKED_AT);
    let mut seen = 0_u128;
    for byte in text.bytes() {
        seen |= 1 << (byte & 127);
    }
    let has = |filler: &&&str| seen >> (filler.as_bytes()[0] & 127) & 1 == 1;
    let mut fillers = FILLERS.iter().filter(has);
    seen.count_ones() < FEW || (text.len() < LOOKED_AT && fillers.any(|filler| fills(text, filler)))
}

/// Tells whether a run of filler makes up a good part of a text.
fn fills(text: &str, filler: &str) -> bool {
    let length = text.matches(filler).count() * filler.len();
    length > 0 && length * 3 >= text.len()
}

/// Tells whether a text says of itself that it is none: `xoxb-your-token-here`.
pub(super) fn is_stand_in(text: &str) -> bool {
    const SAYS_SO: [&str; 8] = [
        "your",
        "here",
        "placeholder",
        "changeme",
        "dummy",
        "redacted",
        "insert",
        "replace",
    ];
    let text = head(text, LOOKED_AT);
    // As the documentation of clouds has them.
    if text.contains("EXAMPLE") {
        return true;
    }
    let mut parts = text.split(['-', '_', '.']);
    parts.any(|part| {
        let lengths = SAYS_SO.iter().filter(|word| word.len() == part.len());
        lengths
            .into_iter()
            .any(|word| part.eq_ignore_ascii_case(word))
    })
}

/// Tells whether a value only stands for a secret: `<your-key>`, `$TOKEN`, `your_api_key`.
pub(super) fn is_placeholder(value: &str) -> bool {
    let value = head(value, LOOKED_AT).trim();
    if value.len() < 3 || is_filler(value) {
        return true;
    }
    is_reference(value) || is_path(value) || is_words(value)
}

/// Tells whether a value names a variable, a place or an expression.
fn is_reference(value: &str) -> bool {
    let bytes = value.as_bytes();
    let framed = |open: &str, close: char| value.starts_with(open) && value.contains(close);
    framed("<", '>')
        || (bytes[0] == b'{' && is_variable(&value[1..]))
        || framed("[masked", ']')
        || framed("{", '}')
        || framed("[", ']')
        || value.contains("${")
        || value.contains("$(")
        || value.contains("{{")
        || value.contains("<%")
        || value.contains("#{")
        || value.contains("(?:")
        || (value.starts_with('%') && value.ends_with('%'))
        || (bytes[0] == b'$' && is_variable(&value[1..]))
        || REFERENCES.iter().any(|start| value.starts_with(start))
}

/// Tells whether a text is a variable's name, and not a word with digits in its midst.
fn is_variable(name: &str) -> bool {
    let name = name.strip_prefix("env:").unwrap_or(name);
    let is_name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'>' | b'-');
    let end = name.bytes().position(|b| !is_name(b)).unwrap_or(name.len());
    let letters = name[..end].trim_end_matches(|c: char| c.is_ascii_digit());
    let has_case = letters.bytes().any(|b| b.is_ascii_lowercase());
    // `$TOKEN_V2` and `$1` are variables; `$ecr3t` is none.
    end == name.len() && !(has_case && letters.bytes().any(|b| b.is_ascii_digit()))
}

/// Tells whether a value is a path to where the secret is kept.
fn is_path(value: &str) -> bool {
    let rooted = ["/", "./", "../", "~/"]
        .iter()
        .any(|r| value.starts_with(r));
    let plain = |b: u8| b.is_ascii_lowercase() || matches!(b, b'/' | b'.' | b'_' | b'-' | b'~');
    let named = [
        ".pem", ".key", ".txt", ".json", ".yaml", ".yml", ".crt", ".toml",
    ]
    .iter()
    .any(|end| value.ends_with(end));
    (rooted && value.bytes().all(plain)) || (named && !value.contains(' '))
}

/// Tells whether a value is made of words that only speak of secrets.
fn is_words(value: &str) -> bool {
    if value.len() > MAX_WORDS {
        return false;
    }
    let mut any = false;
    let mut known = true;
    each_word(value, |word| {
        any |= word.len() > 1 || !value.contains(' ');
        known &= word.len() == 1 || WORDS.contains(&word);
    });
    any && known
}

/// Calls `found` with the words of a name or a value, in lower case: what stands between
/// separators, and what begins with a capital.
pub(super) fn each_word(text: &str, mut found: impl FnMut(&str)) {
    let mut word = String::new();
    let mut before = b' ';
    for &byte in text.as_bytes() {
        let begins = byte.is_ascii_uppercase() && before.is_ascii_lowercase();
        if (begins || !byte.is_ascii_alphanumeric()) && !word.is_empty() {
            found(&word);
            word.clear();
        }
        if byte.is_ascii_alphanumeric() {
            word.push(char::from(byte.to_ascii_lowercase()));
        } else if !byte.is_ascii() {
            word.push('\u{fffd}');
        }
        before = byte;
    }
    if !word.is_empty() {
        found(&word);
    }
}

/// Tells whether a value looks as if nobody had thought it up: letters and digits mixed.
pub(super) fn is_random(value: &str) -> bool {
    let value = head(value, LOOKED_AT);
    let (mut digits, mut upper, mut lower) = (0_usize, false, false);
    for byte in value.bytes() {
        digits += usize::from(byte.is_ascii_digit());
        upper |= byte.is_ascii_uppercase();
        lower |= byte.is_ascii_lowercase();
    }
    let is_mixed = if digits < 3 {
        upper && lower
    } else {
        upper || lower
    };
    digits > 0 && is_mixed && !is_filler(value)
}

/// Tells whether nobody thought a value up: in ten letters and digits or more without a
/// sign between them, letters and digits take turns.
pub(super) fn is_opaque(value: &str) -> bool {
    let turns = |run: &str| {
        let kinds = run.as_bytes().windows(2);
        let turns = kinds.filter(|two| two[0].is_ascii_digit() != two[1].is_ascii_digit());
        turns.count()
    };
    let mut runs = head(value, LOOKED_AT).split(|c: char| !c.is_ascii_alphanumeric());
    runs.any(|run| run.len() >= 10 && turns(run) >= 3 && !is_sum(run))
}

/// Tells whether a value is in hexadecimal, as sums, hashes and ids are.
pub(super) fn is_sum(value: &str) -> bool {
    value.len() >= 7 && value.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Tells whether a value is a UUID.
pub(super) fn is_uuid(value: &str) -> bool {
    let lengths = value.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && value.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// Tells whether a value begins with a date, as a time does.
pub(super) fn is_dated(value: &str) -> bool {
    let form = value.bytes().take(10).map(|b| match b {
        b'0'..=b'9' => b'9',
        b => b,
    });
    form.eq(*b"9999-99-99")
}

/// Tells whether a value is the caption of a field: `Mot de passe`, `パスワード`, `Passwort:`.
pub(super) fn is_label(value: &str) -> bool {
    let is_text =
        |c: char| c.is_alphabetic() || matches!(c, ' ' | ':' | '?' | '\'' | '’' | '*' | '.' | '…');
    let value = head(value, LOOKED_AT).trim();
    if !value.chars().all(is_text) {
        return false;
    }
    let mut words = value.split(' ');
    let first = words.next().unwrap_or_default();
    let is_title =
        first.starts_with(char::is_uppercase) && first.chars().skip(1).all(|c| !c.is_uppercase());
    let is_foreign = value.chars().any(|c| c.is_alphabetic() && !c.is_ascii());
    let no_latin = !value.bytes().any(|b| b.is_ascii_alphabetic());
    (no_latin && is_foreign)
        || (is_title && (is_foreign || value.ends_with([':', '?', '*']) || words.count() > 0))
        || super::said::is_word(value)
}

/// Tells whether a quoted value is a sentence, as in a description or a message.
pub(super) fn is_prose(value: &str) -> bool {
    const SPOKEN: &[&str] = &[
        "a",
        "an",
        "and",
        "are",
        "be",
        "by",
        "can",
        "cannot",
        "enter",
        "for",
        "from",
        "has",
        "in",
        "incorrect",
        "invalid",
        "is",
        "its",
        "must",
        "not",
        "of",
        "on",
        "or",
        "please",
        "required",
        "should",
        "that",
        "the",
        "this",
        "to",
        "use",
        "used",
        "was",
        "when",
        "will",
        "with",
        "wrong",
        "you",
        "your",
    ];
    let value = head(value, LOOKED_AT);
    if !value.trim().contains(' ') {
        return false;
    }
    let (mut spoken, mut longest, mut mixed) = (0, 0, false);
    each_word(value, |word| {
        spoken += usize::from(SPOKEN.contains(&word));
        longest = longest.max(word.len());
        mixed |= word.starts_with(|c: char| c.is_ascii_digit()) && word.len() > 4;
    });
    // Neither `a b c` nor a phrase with quotes and digits in it is one.
    spoken > 0 && longest >= 3 && !(mixed && value.contains("\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::angle("<your-key>")]
    #[case::filler("xxxxxxxxxxxx")]
    #[case::stars("********")]
    #[case::shell("$TOKEN")]
    #[case::shell_lower("$token")]
    #[case::braces("${DB_PASSWORD:-}")]
    #[case::actions("${{ secrets.X }}")]
    #[case::node("process.env.X")]
    #[case::python("os.environ[\"X\"]")]
    #[case::words("YOUR_API_KEY")]
    #[case::more_words("your-token-here")]
    #[case::a_type("string")]
    #[case::camel("yourApiKey")]
    #[case::windows("%TOKEN%")]
    #[case::path("/run/secrets/db_password")]
    #[case::file("certs/server.key")]
    #[case::vault("op://vault/item/field")]
    #[case::masked("[masked secret]")]
    fn placeholders_are_known(#[case] value: &str) {
        assert!(is_placeholder(value));
    }

    #[rstest]
    #[case::short("hunter2")]
    #[case::words("correct-horse-battery")]
    #[case::dollar("$ecr3tP4ss")]
    #[case::base64("/aB3dEf+9xyz")]
    #[case::repeated("abcabc123")]
    #[case::not_ascii("pässwörd")]
    fn secrets_are_no_placeholders(#[case] value: &str) {
        assert!(!is_placeholder(value));
    }
}
