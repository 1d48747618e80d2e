//! What a name promises: `DB_PASSWORD`, `clientSecret`, `X-Api-Key`.

use crate::redact::value::each_word;

/// Where the words of a name end.
const LAST_WORDS: usize = 4;

/// What a name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Something a person thought up.
    Password,
    /// Something a machine made.
    Token,
    /// The same, or what a name or a number is: only a value that nobody thinks up counts.
    Opaque,
    /// The same, and a UUID counts.
    Id,
    /// The same of a bare `key` beside an account, and what looks like a sum counts.
    Beside,
}

/// Endings of the last word that promise a password.
const PASSWORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passwort",
    "passcode",
    "mnemonic",
    "seedphrase",
    "pwd",
    "psk",
];
/// Last words that promise a password: others that end in `pass` do not, as `bypass`.
const PASSES: &[&str] = &[
    "pass",
    "pw",
    "psw",
    "dbpass",
    "ftppass",
    "keypass",
    "mailpass",
    "masterauth",
    "newpass",
    "oldpass",
    "proxypass",
    "requirepass",
    "rootpass",
    "smtppass",
    "sshpass",
    "storepass",
    "userpass",
];
/// Endings of the last word that promise a token.
const TOKENS: &[&str] = &[
    "secret",
    "token",
    "apikey",
    "secretkey",
    "accesskey",
    "authkey",
    "privatekey",
    "privkey",
    "sessionid",
    "masterkey",
    "signingkey",
    "encryptionkey",
    "presharedkey",
    "genkey",
    "unsealkey",
];
/// Last words that promise a token.
const TOKEN_WORDS: &[&str] = &[
    "credential",
    "credentials",
    "secrets",
    "authorization",
    "auth",
    "dockerconfigjson",
    "dockercfg",
];
/// Words for what lasts as long as a session does.
const SESSIONS: &[&str] = &["session", "sess", "sessid", "phpsessid"];

/// Words after the telling one that change nothing: `TOKEN_PROD`, `passwordValue`.
const SUFFIXES: &[&str] = &[
    "b64",
    "base64",
    "beta",
    "data",
    "default",
    "dev",
    "development",
    "encoded",
    "live",
    "main",
    "new",
    "old",
    "plain",
    "plaintext",
    "prd",
    "primary",
    "private",
    "prod",
    "production",
    "qa",
    "raw",
    "ro",
    "rw",
    "sandbox",
    "secondary",
    "stage",
    "staging",
    "stg",
    "test",
    "val",
    "value",
];
/// Words before `key` that make it a secret one.
const SECRET_KEYS: &[&str] = &[
    "access",
    "account",
    "admin",
    "anon",
    "api",
    "app",
    "application",
    "auth",
    "client",
    "cookie",
    "crypto",
    "deploy",
    "encryption",
    "hmac",
    "jwt",
    "license",
    "master",
    "preshared",
    "private",
    "recovery",
    "routing",
    "secret",
    "service",
    "session",
    "shared",
    "sign",
    "signing",
    "storage",
    "subscription",
    "webhook",
    "functions",
    "host",
    "integration",
    "ingest",
    "write",
    "read",
    "server",
    "sdk",
    "token",
    "unseal",
    "user",
    "x",
];
/// Words before `key`, in the name of a variable, that make it no secret.
const PLAIN_KEYS: &[&str] = &[
    "cache",
    "column",
    "config",
    "doc",
    "document",
    "event",
    "field",
    "file",
    "foreign",
    "group",
    "hash",
    "hot",
    "i18n",
    "idempotency",
    "index",
    "item",
    "lookup",
    "map",
    "message",
    "node",
    "object",
    "partition",
    "primary",
    "pub",
    "public",
    "publishable",
    "query",
    "range",
    "registry",
    "route",
    "row",
    "s3",
    "short",
    "site",
    "socket",
    "sort",
    "ssh",
    "state",
    "surrogate",
    "tab",
    "translation",
    "unique",
    "verification",
    "verify",
    "which",
];
/// Words before `token` that make it a place in a list or in a language.
const PLAIN_TOKENS: &[&str] = &[
    "bos",
    "cancel",
    "cancellation",
    "cls",
    "continuation",
    "cursor",
    "eos",
    "mask",
    "next",
    "page",
    "pad",
    "prev",
    "previous",
    "sep",
    "start",
    "stop",
    "sync",
    "unk",
];

/// The one name in which a word that tells nothing comes last.
const SECRET_KEY_BASE: [&str; 3] = ["secret", "key", "base"];

/// Tells what a name promises; `None` when it names no secret.
pub(super) fn kind_of(name: &str) -> Option<Kind> {
    let mut words: Vec<String> = Vec::new();
    each_word(name, |word| words.push(word.to_owned()));
    let is_suffix = |word: &String| {
        SUFFIXES.contains(&word.as_str()) || word.bytes().all(|b| b.is_ascii_digit())
    };
    while words.len() > 1 && words.last().is_some_and(is_suffix) {
        words.pop();
    }
    let words = &words[words.len().saturating_sub(LAST_WORDS)..];
    let (last, before) = words.split_last()?;
    let last = last.trim_end_matches(|c: char| c.is_ascii_digit());
    let before = before.last().map(String::as_str);
    let ends = |ends: &[&str]| ends.iter().any(|end| last.ends_with(end));
    if ends(PASSWORDS) || PASSES.contains(&last) {
        return Some(Kind::Password);
    }
    if ends(TOKENS) || TOKEN_WORDS.contains(&last) {
        let plain = before.is_some_and(|b| last == "token" && PLAIN_TOKENS.contains(&b));
        return (!plain).then_some(Kind::Token);
    }
    let has_lower = name.bytes().any(|b| b.is_ascii_lowercase());
    let is_variable = !has_lower && name.contains('_');
    let is_header = name.starts_with(|c: char| c.is_ascii_uppercase()) && name.contains('-');
    match (before, last) {
        (Some(before), "key") if SECRET_KEYS.contains(&before) => Some(Kind::Token),
        (Some(before), "key") if PLAIN_KEYS.contains(&before) => None,
        (Some(_), "key") if is_variable || is_header => Some(Kind::Token),
        (Some("api"), "hash") => Some(Kind::Token),
        (Some("seed" | "recovery" | "secret"), "phrase") => Some(Kind::Password),
        (Some(_), "pat") if is_variable => Some(Kind::Token),
        (Some("key"), "base") if words.ends_with(&SECRET_KEY_BASE.map(String::from)) => {
            Some(Kind::Token)
        }
        (Some("secret"), "id") => Some(Kind::Id),
        (Some(_), "key") => Some(Kind::Opaque),
        (before, last) if SESSIONS.contains(&last) && (before.is_some() || last != "session") => {
            Some(Kind::Opaque)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::variable("AZURE_DEVOPS_EXT_PAT", Some(Kind::Token))]
    #[case::header("DD-APPLICATION-KEY", Some(Kind::Token))]
    #[case::hash("api_hash", Some(Kind::Token))]
    #[case::private("MJ_APIKEY_PRIVATE", Some(Kind::Token))]
    #[case::base64("client-key-data", Some(Kind::Token))]
    #[case::flag("storepass", Some(Kind::Password))]
    #[case::cookie("PHPSESSID", Some(Kind::Opaque))]
    #[case::id("secret_id", Some(Kind::Id))]
    #[case::unknown_key("fastlyKey", Some(Kind::Opaque))]
    #[case::bypass("LOCALBYPASS", None)]
    #[case::package("minipass", None)]
    #[case::path("CARGO_PATH", None)]
    #[case::websocket("Sec-WebSocket-Key", None)]
    #[case::public("publicKey", None)]
    #[case::session("session", None)]
    #[case::cursor("next_token", None)]
    #[case::key("key", None)]
    fn names_promise(#[case] name: &str, #[case] kind: Option<Kind>) {
        assert_eq!(kind_of(name), kind);
    }
}
