//! The address of a model's server, checked before anything is sent there.

use std::net::IpAddr;

use anyhow::{anyhow, bail};
use reqwest::Url;

use crate::account::DEFAULT_BASE_URL;

/// The rule for addresses without TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {
    /// Plain `http` is for loopback only, unless the user sets the setting of this name.
    LoopbackOnly(&'static str),
    Anywhere,
}

/// A base URL without secrets that keeps to the rules on TLS. It has no trailing slash, so two
/// spellings of one address are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BaseUrl(String);

impl BaseUrl {
    /// Ignores spaces around it and slashes at its end. The error shows no user name or password.
    pub fn parse(text: &str, plain: Plain) -> anyhow::Result<Self> {
        let invalid = |why: &str| {
            anyhow!(
                "the base URL is not a URL ({why}); expected something like `{DEFAULT_BASE_URL}`"
            )
        };
        let url = Url::parse(text.trim()).map_err(|e| invalid(&e.to_string()))?;
        let scheme = url.scheme();
        if !["https", "http"].contains(&scheme) {
            bail!("the base URL begins with `{scheme}`, which is not supported; use `https`");
        }
        let host = url.host_str().ok_or_else(|| invalid("no host"))?;
        if !url.username().is_empty() || url.password().is_some() {
            bail!("the base URL holds a user name or password; give the key in its own setting");
        }
        if url.query().is_some() || url.fragment().is_some() {
            bail!(
                "the base URL holds a `?` or `#` part; only scheme, host, port and path are used"
            );
        }
        if scheme == "http"
            && let Plain::LoopbackOnly(key) = plain
            && !is_loopback(host)
        {
            bail!(
                "plain `http` would send the key and the session readable to `{host}`; use `https` \
                 or a loopback address, or set `{key}`"
            );
        }
        Ok(Self(url.as_str().trim_end_matches('/').to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn has_tls(&self) -> bool {
        self.0.starts_with("https:")
    }

    pub(super) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address
            .parse::<IpAddr>()
            .is_ok_and(|ip| ip.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const LOOPBACK: Plain = Plain::LoopbackOnly("anthropic.allow_http");

    #[rstest]
    #[case::slash("https://api.anthropic.com/", "https://api.anthropic.com/v1/messages")]
    #[case::path(
        " https://gate.example/claude// ",
        "https://gate.example/claude/v1/messages"
    )]
    #[case::mapped("http://[::ffff:127.0.0.1]", "http://[::ffff:7f00:1]/v1/messages")]
    #[case::name("HTTP://LocalHost:9", "http://localhost:9/v1/messages")]
    fn good_addresses_lead_to_messages(#[case] text: &str, #[case] messages: &str) {
        let base = BaseUrl::parse(text, LOOPBACK).unwrap();
        assert_eq!(base.at("/v1/messages"), messages);
    }

    #[rstest]
    #[case::plain("http://example.com", "example.com")]
    #[case::looks_like_loopback("http://127.0.0.1.example.com", "127.0.0.1.example.com")]
    #[case::not_loopback("http://10.0.0.1:8080", "10.0.0.1")]
    #[case::user("https://me:hunter2@example.com", "user name")]
    #[case::loopback_as_user("http://localhost@example.com", "user name")]
    #[case::no_scheme("api.anthropic.com", "not a URL")]
    #[case::broken_with_password("https://me:hunter2@:99999", "not a URL")]
    fn bad_addresses_are_refused_by_name(#[case] text: &str, #[case] named: &str) {
        let error = BaseUrl::parse(text, LOOPBACK).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }

    #[test]
    fn plain_http_elsewhere_needs_the_users_word() {
        assert!(BaseUrl::parse("http://10.0.0.1", Plain::Anywhere).is_ok());
    }
}
