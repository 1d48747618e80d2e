//! Masks secrets in texts before they are stored or leave the machine.
//!
//! One table of rules: a name, keywords that must occur (in lower case) before the
//! pattern is tried at all, and the pattern, compiled on first use. What matches is
//! replaced by `[masked NAME]`; where the pattern has a group, only the group.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex::Regex;

/// One kind of secret.
struct Rule {
    name: &'static str,
    /// One of these must occur in the lower-cased text.
    keywords: &'static [&'static str],
    pattern: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

const fn rule(
    name: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
) -> Rule {
    Rule {
        name,
        keywords,
        pattern,
        compiled: OnceLock::new(),
    }
}

static RULES: [Rule; 13] = [
    rule(
        "private key",
        &["private key"],
        r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    ),
    // What is left of a key whose beginning was cut off.
    rule(
        "private key",
        &["private key"],
        r"(?:[A-Za-z0-9+/=]+\s+)*[A-Za-z0-9+/=]{16,}\s*-----END [A-Z ]*PRIVATE KEY-----",
    ),
    rule(
        "Anthropic key",
        &["sk-ant-"],
        r"\bsk-ant-[A-Za-z0-9_-]{16,}",
    ),
    rule("API key", &["sk-"], r"\bsk-[A-Za-z0-9_-]{20,}"),
    rule(
        "GitHub token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})",
    ),
    rule("GitLab token", &["glpat-"], r"\bglpat-[A-Za-z0-9_-]{18,}"),
    rule(
        "AWS key id",
        &["akia", "asia"],
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    ),
    rule("Google key", &["aiza"], r"\bAIza[A-Za-z0-9_-]{30,}"),
    rule("Slack token", &["xox"], r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    rule(
        "Stripe key",
        &["sk_live_", "rk_live_", "sk_test_", "rk_test_"],
        r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    ),
    rule(
        "JWT",
        &["eyj"],
        r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*",
    ),
    rule(
        "password in URL",
        &["://"],
        r#"\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@"']*:([^\s/@"']{3,})@"#,
    ),
    rule(
        "secret",
        &[
            "password",
            "passwd",
            "secret",
            "token",
            "api_key",
            "apikey",
            "api-key",
            "authorization",
            "credential",
        ],
        r#"(?i)(?:password|passwd|secret|token|api[_-]?key|authorization|credentials?)["']?\s*[:=]\s*(?:bearer\s+|basic\s+)?["']?([A-Za-z0-9_\-+/=.~!@#$%^&*]{12,})"#,
    ),
];

/// Returns `text` with every secret that a rule knows replaced by a note of its kind.
pub fn mask(text: &str) -> Cow<'_, str> {
    let lower = text.to_ascii_lowercase();
    let mut out = Cow::Borrowed(text);
    for rule in &RULES {
        if rule.keywords.iter().any(|k| lower.contains(k))
            && let Some(masked) = apply(rule, &out)
        {
            out = Cow::Owned(masked);
        }
    }
    out
}

fn apply(rule: &Rule, text: &str) -> Option<String> {
    let pattern = rule
        .compiled
        .get_or_init(|| Regex::new(rule.pattern).ok())
        .as_ref()?;
    let mut out = String::new();
    let mut from = 0;
    for found in pattern.captures_iter(text) {
        let Some(secret) = found.get(1).or_else(|| found.get(0)) else {
            continue;
        };
        out.push_str(&text[from..secret.start()]);
        out.push_str("[masked ");
        out.push_str(rule.name);
        out.push(']');
        from = secret.end();
    }
    if from == 0 {
        return None;
    }
    out.push_str(&text[from..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::anthropic(concat!("key sk-", "ant-api03-abcdefghijklmnop end"), "key [masked Anthropic key] end")]
    #[case::github("ghp_0123456789abcdefghijABCDEFGHIJ012345", "[masked GitHub token]")]
    #[case::aws("id AKIAABCDEFGHIJKLMNOP.", "id [masked AWS key id].")]
    #[case::url(
        "postgres://me:hunter22@db/x",
        "postgres://me:[masked password in URL]@db/x"
    )]
    #[case::assignment("API_KEY=\"abcdef0123456789\"", "API_KEY=\"[masked secret]\"")]
    #[case::header(
        "Authorization: Bearer abcdef0123456789",
        "Authorization: Bearer [masked secret]"
    )]
    #[case::pem(
        "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb",
        "a\n[masked private key]\nb"
    )]
    #[case::end_of_pem(
        "… MIIEabcdefghijkl\nQUJDQUJDQUJDQUJD\n-----END PRIVATE KEY-----\nb",
        "… [masked private key]\nb"
    )]
    #[case::cut_pem("-----BEGIN PRIVATE KEY-----\nMIIE", "[masked private key]")]
    fn a_secret_is_masked(#[case] text: &str, #[case] want: &str) {
        assert_eq!(mask(text), want);
    }

    #[rstest]
    #[case::prose("the token is refreshed every hour; passwords are hashed")]
    #[case::code("let token = next();")]
    #[case::ids("[pat-001] use sk-learn")]
    fn plain_text_stays(#[case] text: &str) {
        assert_eq!(mask(text), text);
    }

    #[test]
    fn every_pattern_compiles() {
        for rule in &RULES {
            assert!(Regex::new(rule.pattern).is_ok(), "{}", rule.name);
        }
    }
}
