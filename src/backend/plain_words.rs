//! What the client and gateways say in plain words in place of a reply, although they report
//! no error: that a limit was reached, that nobody is logged in.

use super::FailureKind;

/// What such words mean; `None` for what may be a reply, which holds JSON.
pub(super) fn in_place_of_reply(text: &str) -> Option<FailureKind> {
    const LONGEST: usize = 300;
    let is_short = text.len() <= LONGEST && !text.contains(['{', '[']);
    kind_of_words(text).filter(|_| is_short)
}

/// Classifies words that are no reply; the first phrase that occurs decides.
pub(super) fn kind_of_words(words: &str) -> Option<FailureKind> {
    const PHRASES: [(&str, FailureKind); 17] = [
        ("not logged in", FailureKind::RefusedKey),
        ("/login", FailureKind::RefusedKey),
        ("invalid api key", FailureKind::RefusedKey),
        ("oauth token", FailureKind::RefusedKey),
        ("credit balance", FailureKind::NoCredit),
        ("usage limit", FailureKind::RateLimited),
        ("limit reached", FailureKind::RateLimited),
        ("hit your", FailureKind::RateLimited),
        ("overloaded", FailureKind::ServerError),
        ("timed out", FailureKind::Timeout),
        ("connection error", FailureKind::Connection),
        ("unable to connect", FailureKind::Connection),
        ("fetch failed", FailureKind::Connection),
        ("max_turns", FailureKind::CutOff),
        ("output token maximum", FailureKind::CutOff),
        ("usage policy", FailureKind::Refusal),
        ("selected model", FailureKind::NotFound),
    ];
    let words = words.to_ascii_lowercase();
    let found = PHRASES.iter().find(|(phrase, _)| words.contains(phrase));
    found.map(|(_, kind)| *kind)
}
