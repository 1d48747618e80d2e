//! A key or token that cannot leak by being printed.

use std::borrow::Cow;
use std::fmt;

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue, InvalidHeaderValue};

use crate::account::{KeyError, key_in};

/// Shorter secrets are not masked in what a server sends: they are words, not keys.
const SHORTEST_MASKED: usize = 8;
/// What stands where a secret stood.
const MASK: &str = "[key]";

/// What pays for a request: a checked secret, printable ASCII without spaces. Its `Debug` form
/// tells the sort, never the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    sort: Sort,
    secret: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// Sent as `x-api-key`.
    ApiKey,
    /// Sent as `authorization: Bearer …`.
    Token,
}

impl Credential {
    /// Takes an API key, without the white space around it.
    pub fn api_key(text: &str) -> Result<Self, KeyError> {
        Self::of(Sort::ApiKey, text)
    }

    /// Takes a bearer token, without the white space around it.
    pub fn token(text: &str) -> Result<Self, KeyError> {
        Self::of(Sort::Token, text)
    }

    fn of(sort: Sort, text: &str) -> Result<Self, KeyError> {
        let secret = key_in(text)?.to_owned();
        Ok(Self { sort, secret })
    }

    /// Returns the secret itself, for hashing it; never print it.
    pub(crate) fn expose(&self) -> &str {
        &self.secret
    }

    pub(super) fn header(&self) -> Result<(HeaderName, HeaderValue), InvalidHeaderValue> {
        let (name, value) = match self.sort {
            Sort::ApiKey => (HeaderName::from_static("x-api-key"), self.secret.clone()),
            Sort::Token => (AUTHORIZATION, format!("Bearer {}", self.secret)),
        };
        let mut value = HeaderValue::try_from(value)?;
        value.set_sensitive(true);
        Ok((name, value))
    }

    /// Masks the secret in what a server sent, which may quote it.
    pub(super) fn mask<'a>(&self, text: Cow<'a, str>) -> Cow<'a, str> {
        let secret = self.expose();
        if secret.len() >= SHORTEST_MASKED && text.contains(secret) {
            Cow::Owned(text.replace(secret, MASK))
        } else {
            text
        }
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({MASK})", self.sort)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_checked_before_it_is_sent() {
        let checked = |text| Credential::api_key(text).map(|key| key.expose().to_owned());
        assert_eq!(checked(" \n"), Err(KeyError::Empty));
        assert_eq!(checked("a\nb"), Err(KeyError::Unprintable));
        assert_eq!(checked(" key\n").as_deref(), Ok("key"));
    }
}
