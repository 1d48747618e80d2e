//! A key or token that cannot leak by being printed.

use std::borrow::Cow;
use std::fmt;

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue, InvalidHeaderValue};

use crate::account::{KeyError, key_in};

/// Shorter secrets are not masked in what a server sends: they are words, not keys.
const SHORTEST_MASKED: usize = 8;
/// What stands where a secret stood.
const MASK: &str = "[key]";

/// What pays for a request; its `Debug` form tells the sort, never the secret.
#[derive(Clone, PartialEq, Eq)]
pub enum Credential {
    /// Sent as `x-api-key`.
    ApiKey(Secret),
    /// Sent as `authorization: Bearer …`.
    Token(Secret),
}

/// A checked secret: printable ASCII without spaces.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Credential {
    /// Takes an API key, without the white space around it.
    pub fn api_key(text: &str) -> Result<Self, KeyError> {
        key_in(text).map(|key| Self::ApiKey(Secret(key.to_owned())))
    }

    /// Takes a bearer token, without the white space around it.
    pub fn token(text: &str) -> Result<Self, KeyError> {
        key_in(text).map(|key| Self::Token(Secret(key.to_owned())))
    }

    /// Returns the secret itself, for hashing it; never print it.
    pub fn expose(&self) -> &str {
        match self {
            Self::ApiKey(secret) | Self::Token(secret) => &secret.0,
        }
    }

    pub(super) fn header(&self) -> Result<(HeaderName, HeaderValue), InvalidHeaderValue> {
        let (name, value) = match self {
            Self::ApiKey(secret) => (
                HeaderName::from_static("x-api-key"),
                HeaderValue::from_str(&secret.0),
            ),
            Self::Token(secret) => (
                AUTHORIZATION,
                HeaderValue::from_str(&format!("Bearer {}", secret.0)),
            ),
        };
        let mut value = value?;
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

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ApiKey(secret) => write!(f, "ApiKey({secret:?})"),
            Self::Token(secret) => write!(f, "Token({secret:?})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_printed() {
        for credential in [
            Credential::api_key("sk-ant-secret").unwrap(),
            Credential::token("sk-ant-secret").unwrap(),
        ] {
            let (_, header) = credential.header().unwrap();
            assert!(!format!("{credential:?} {header:?}").contains("secret"));
        }
    }

    #[test]
    fn a_key_is_checked_before_it_is_sent() {
        let checked = |text| Credential::api_key(text).map(|key| key.expose().to_owned());
        assert_eq!(checked(" \n"), Err(KeyError::Empty));
        assert_eq!(checked("a\nb"), Err(KeyError::Unprintable));
        assert_eq!(checked(" key\n").as_deref(), Ok("key"));
    }
}
