//! The HTTP status that an error reports.

use std::ops::ControlFlow;

use super::category::ErrorCategory;
use crate::phrases::{LazyPhrases, Phrases};

/// What stands before the number of an HTTP status.
static BEFORE_STATUS: LazyPhrases = LazyPhrases::new(|| {
    Phrases::new(&[
        "http",
        "status",
        "returned error",
        "response code",
        "client error",
        "api error",
        "npm error",
        "npm err!",
    ])
});

/// Returns what the first HTTP status of a failure in a text means: `HTTP/1.1 404`,
/// `status code: 503`, `The requested URL returned error: 403`.
pub(crate) fn category_in(text: &str) -> Option<ErrorCategory> {
    BEFORE_STATUS.search(text.as_bytes(), |_, _, end| {
        match status_at(&text[end..]).and_then(of_status) {
            Some(category) => ControlFlow::Break(category),
            None => ControlFlow::Continue(0),
        }
    })
}

/// The number of three digits that a text begins with, after a version, signs and `code`.
fn status_at(text: &str) -> Option<u16> {
    let is_sign = |c: char| matches!(c, ' ' | ':' | '=' | '(' | '\'' | '"');
    let mut rest = match text.strip_prefix('/') {
        Some(version) => version.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'),
        None => text,
    };
    for word in ["error", "code", "e"] {
        rest = rest.trim_start_matches(is_sign);
        match rest.split_at_checked(word.len()) {
            Some((start, after)) if start.eq_ignore_ascii_case(word) => rest = after,
            _ => {}
        }
    }
    rest = rest.trim_start_matches(is_sign);
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    (digits == 3).then(|| rest[..3].parse().ok()).flatten()
}

fn of_status(status: u16) -> Option<ErrorCategory> {
    Some(match status {
        401 | 403 | 407 => ErrorCategory::Permission,
        404 | 410 => ErrorCategory::NotFound,
        408 => ErrorCategory::Timeout,
        409 | 412 | 423 => ErrorCategory::Conflict,
        413 | 507 => ErrorCategory::Resource,
        429 | 500..600 => ErrorCategory::Network,
        400..500 => ErrorCategory::Validation,
        _ => return None,
    })
}
