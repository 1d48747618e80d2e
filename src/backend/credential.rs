//! A key or token that cannot leak by being printed.

use std::borrow::Cow;
use std::fmt;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use crate::account::{KeyError, key_in};

/// The length in bytes from which a secret is masked in a server's answers; shorter ones are words.
const SHORTEST_MASKED: usize = 8;
const MASK: &str = "[key]";

/// The credentials of a request: a key or token, printable ASCII without spaces, and the user's own
/// headers. The `Debug` form shows header names and no values.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credential {
    headers: HeaderMap,
    secrets: Vec<String>,
}

impl Credential {
    pub fn api_key(text: &str) -> Result<Self, KeyError> {
        let key = key_in(text)?;
        Self::default().with(HeaderName::from_static("x-api-key"), key, key)
    }

    pub fn token(text: &str) -> Result<Self, KeyError> {
        let token = key_in(text)?;
        Self::default().with(AUTHORIZATION, &format!("Bearer {token}"), token)
    }

    /// Adds the user's headers, one `Name: value` a line; as in the client, they replace ours.
    pub fn and_headers(mut self, lines: &str) -> Result<Self, String> {
        for (at, line) in lines.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            let flaw = || format!("line {} is no header `Name: value`", at + 1);
            let (name, value) = line.split_once(':').ok_or_else(flaw)?;
            let name = HeaderName::try_from(name.trim()).map_err(|_| flaw())?;
            let value = value.trim();
            self = self.with(name, value, value).map_err(|_| flaw())?;
        }
        Ok(self)
    }

    fn with(mut self, name: HeaderName, value: &str, secret: &str) -> Result<Self, KeyError> {
        let mut value = HeaderValue::try_from(value).map_err(|_| KeyError::Unprintable)?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        self.secrets.push(secret.to_owned());
        Ok(self)
    }

    pub(super) fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    /// Masks the secrets in a server's answer, which may quote them.
    pub(super) fn mask<'a>(&self, mut text: Cow<'a, str>) -> Cow<'a, str> {
        for secret in &self.secrets {
            if secret.len() >= SHORTEST_MASKED && text.contains(secret) {
                text = Cow::Owned(text.replace(secret, MASK));
            }
        }
        text
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Credential").field(&self.headers).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_checked_before_it_is_sent() {
        let checked = |text| Credential::api_key(text).map(|key| key.secrets[0].clone());
        assert_eq!(checked(" \n"), Err(KeyError::Empty));
        assert_eq!(checked("a\nb"), Err(KeyError::Unprintable));
        assert_eq!(checked(" key\n").as_deref(), Ok("key"));
    }

    #[test]
    fn headers_of_the_users_own_are_added_and_never_shown() {
        let key = Credential::api_key("the-first-key").unwrap();
        let own = "X-Gate:  hunter2-hunter2 \n\nX-Team: a: b\r\nx-api-key: hunter2-key";
        let all = key.and_headers(own).unwrap();
        let values = ["x-gate", "x-team", "x-api-key"].map(|name| all.headers[name].to_str());
        let values = values.map(Result::unwrap);
        assert_eq!(values, ["hunter2-hunter2", "a: b", "hunter2-key"]);
        let shown = format!("{all:?} {}", all.mask(own.into()));
        assert!(!shown.contains("hunter2"), "{shown}");
        for bad in ["no header", "X A: b", "X: a\u{7f}"] {
            let flaw = Credential::default().and_headers(bad).unwrap_err();
            assert_eq!(flaw, "line 1 is no header `Name: value`");
        }
    }
}
