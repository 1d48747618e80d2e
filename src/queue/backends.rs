//! Builds the backend that a job needs, from its name and the account of this process.

use std::time::Duration;

use crate::account::Account;
use crate::backend::{
    Anthropic, Backend, BackendName, BaseUrl, Fixtures, Masked, Openai, Plain, RetryPolicy, Rules,
};
use crate::config::Config;
use crate::paths::Paths;
use crate::reflect::rules::SummaryLimits;
use crate::transcript::Facts;

/// The longest answer of one call in tokens, where no setting says it.
const MAX_TOKENS: u32 = 8_192;

#[derive(Clone, Copy)]
pub(crate) struct BackendParts<'a> {
    pub(crate) paths: &'a Paths,
    pub(crate) account: &'a Account,
    pub(crate) config: &'a Config,
    /// The facts of the session that the rules judge; empty where none is judged.
    pub(crate) facts: &'a Facts,
}

/// Builds a backend; the error is a sentence for the user, and settings can cure it.
pub(crate) fn build<'a>(
    name: BackendName,
    parts: BackendParts<'a>,
) -> Result<Box<dyn Backend + 'a>, String> {
    let secrecy = parts.config.secrets.secrecy().map_err(|e| e.to_string())?;
    Ok(Box::new(Masked::new(bare(name, parts)?, secrecy.masker)))
}

fn bare<'a>(name: BackendName, parts: BackendParts<'a>) -> Result<Box<dyn Backend + 'a>, String> {
    let BackendParts {
        account, config, ..
    } = parts;
    // A job keeps the account that it was given; only of that one something can be missing.
    if name == account.need.backend
        && let Some(lack) = account.lack()
    {
        return Err(lack);
    }
    let base = || {
        let url = account.need.base_url.as_deref().unwrap_or_default();
        BaseUrl::parse(url, plain(name, config)).map_err(|e| e.to_string())
    };
    match name {
        BackendName::Rules => {
            let limits = SummaryLimits {
                summary_tokens: config.reflection.summary_tokens,
                topk_snippets: config.reflection.topk_snippets,
            };
            Ok(Box::new(Rules::new(parts.facts, limits)))
        }
        BackendName::Anthropic => {
            let credential = account.secret.clone().ok_or("no key")??;
            Ok(Box::new(Anthropic::new(
                base()?,
                credential,
                policy(name, config),
            )))
        }
        BackendName::Openai => {
            let credential = account.secret.clone().transpose()?;
            Ok(Box::new(Openai::new(
                base()?,
                credential,
                policy(name, config),
            )))
        }
        BackendName::ClaudeCli => Ok(Box::new(account.client.clone().ok_or("no client")?)),
        BackendName::Fixtures => {
            let path = config
                .fixtures
                .path
                .as_ref()
                .ok_or("no recorded replies: set `fixtures.path`")?;
            let path = parts.paths.beside_config(path);
            let fixtures = Fixtures::load(&path).map_err(|e| e.to_string())?;
            Ok(Box::new(fixtures))
        }
    }
}

/// Whether the user said that plain `http` to a backend's server is meant.
pub(crate) fn plain(name: BackendName, config: &Config) -> Plain {
    let (is_allowed, key) = match name {
        BackendName::Openai => (config.openai.allow_http, "openai.allow_http"),
        _ => (config.anthropic.allow_http, "anthropic.allow_http"),
    };
    if is_allowed {
        Plain::Anywhere
    } else {
        Plain::LoopbackOnly(key)
    }
}

/// The longest answer of one call, in tokens.
pub(crate) fn max_tokens(name: BackendName, config: &Config) -> u32 {
    match name {
        BackendName::Openai => config.openai.max_tokens,
        _ => MAX_TOKENS,
    }
}

/// The longest time of one call of a backend.
pub(crate) fn timeout(name: BackendName, config: &Config) -> Duration {
    let usual = match name {
        BackendName::Openai => 300_000,
        BackendName::ClaudeCli => 120_000,
        _ => 30_000,
    };
    Duration::from_millis(config.retry.timeout_ms.unwrap_or(usual))
}

fn policy(name: BackendName, config: &Config) -> RetryPolicy {
    RetryPolicy {
        attempts: config.retry.attempts,
        base: Duration::from_millis(config.retry.base_ms),
        request: timeout(name, config),
        ..RetryPolicy::default()
    }
}
