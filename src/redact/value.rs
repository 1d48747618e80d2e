//! What stands where a secret could stand and is none: placeholders, variables, types,
//! words.

/// A text of fewer different characters is filler: `xxxxxxxx`, `****`, `0000-0000`.
const FEW: u32 = 4;
/// How much of a value is looked at, in bytes.
const LOOKED_AT: usize = 400;
/// A longer value is no placeholder made of words.
const MAX_WORDS: usize = 80;
/// Runs that show that someone wrote filler.
const FILLERS: [&str; 5] = ["xxxx", "XXXX", "****", "....", "••••"];

/// Values that are nobody's secret, in lower case.
const WORDS: &[&str] = &[
    "actual",
    "admin",
    "an",
    "any",
    "apikey",
    "auth",
    "authorization",
    "auto",
    "bar",
    "base64",
    "basic",
    "baz",
    "bcrypt",
    "bearer",
    "bool",
    "boolean",
    "bytes",
    "change",
    "changed",
    "changeme",
    "changeit",
    "confirm",
    "const",
    "cookie",
    "credential",
    "credentials",
    "current",
    "default",
    "demo",
    "digest",
    "disabled",
    "dummy",
    "empty",
    "enabled",
    "enter",
    "env",
    "error",
    "example",
    "expired",
    "fake",
    "false",
    "field",
    "file",
    "fixme",
    "foo",
    "forgot",
    "from",
    "generated",
    "get",
    "goes",
    "guest",
    "hash",
    "hashed",
    "header",
    "here",
    "hidden",
    "id",
    "in",
    "input",
    "insert",
    "int",
    "integer",
    "invalid",
    "is",
    "it",
    "jwt",
    "key",
    "keys",
    "label",
    "login",
    "masked",
    "me",
    "missing",
    "mock",
    "my",
    "name",
    "new",
    "nil",
    "no",
    "none",
    "null",
    "number",
    "oauth",
    "oauth2",
    "object",
    "of",
    "old",
    "one",
    "optional",
    "or",
    "pass",
    "passwd",
    "password",
    "passwords",
    "pat",
    "placeholder",
    "private",
    "prompt",
    "public",
    "pwd",
    "random",
    "read",
    "real",
    "redacted",
    "refresh",
    "regexp",
    "remove",
    "repeat",
    "replace",
    "required",
    "reset",
    "root",
    "sample",
    "secret",
    "secrets",
    "self",
    "session",
    "set",
    "sha256",
    "sha512",
    "show",
    "sign",
    "some",
    "static",
    "str",
    "string",
    "test",
    "testing",
    "text",
    "the",
    "this",
    "title",
    "to",
    "todo",
    "token",
    "tokens",
    "true",
    "type",
    "undefined",
    "unset",
    "update",
    "user",
    "username",
    "uuid",
    "valid",
    "value",
    "var",
    "void",
    "with",
    "wrong",
    "yes",
    "you",
    "your",
    "access",
    "api",
    "client",
    "app",
    "github",
    "gitlab",
    "openai",
    "anthropic",
    "stripe",
    "slack",
    "aws",
    "azure",
    "google",
    "db",
    "database",
    "service",
    "server",
];

/// How a reference to a place where a secret is kept begins, or what stands in it.
const REFERENCES: [&str; 22] = [
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
    "arn:aws:",
    "ssm:",
    "sm://",
    "file://",
    "keychain:",
];

/// Tells whether a text is filler: hardly a character in it differs from the others.
pub(super) fn is_filler(text: &str) -> bool {
    let text = head(text);
    if FILLERS.iter().any(|filler| text.contains(filler)) {
        return true;
    }
    let mut seen = 0_u128;
    for byte in text.bytes() {
        seen |= 1 << (byte & 127);
    }
    seen.count_ones() < FEW
}

/// Tells whether a value only stands for a secret: `<your-key>`, `$TOKEN`, `your_api_key`.
pub(super) fn is_placeholder(value: &str) -> bool {
    let value = head(value).trim();
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
        || framed("[masked", ']')
        || framed("{", '}')
        || framed("[", ']')
        || value.contains("${")
        || value.contains("$(")
        || value.contains("{{")
        || value.contains("<%")
        || value.contains("#{")
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
        any = true;
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
    let value = head(value);
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let upper = value.bytes().any(|b| b.is_ascii_uppercase());
    let lower = value.bytes().any(|b| b.is_ascii_lowercase());
    digits > 0 && letters > 0 && (digits >= 3 || (upper && lower)) && !is_filler(value)
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
    let value = head(value);
    if !value.trim().contains(' ') {
        return false;
    }
    let mut spoken = 0;
    each_word(value, |word| spoken += usize::from(SPOKEN.contains(&word)));
    spoken > 0
}

fn head(text: &str) -> &str {
    let mut end = text.len().min(LOOKED_AT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
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
