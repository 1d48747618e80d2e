//! The account that answers a job, and the names that jobs have for it.
//!
//! A hook writes a job. A worker that was started from another project, with another key, may work
//! on it later. [`Need`] identifies the right account and holds no secret.

mod sent;

use std::convert::Infallible;
use std::path::Path;

use self::address::without_secret;
use self::named::{ChosenAccount, OpenAi, SecretKey, is_unasked, known_salt, salt};
use crate::backend::{ClaudeCli, Credential};
use crate::config::{BackendChoice, Config};
use crate::env::{Env, name};
use crate::fsx::FsError;
use crate::paths::Paths;
use crate::queue::ask::timeout;

pub(crate) use playbook_core::account::{AccountStep, BackendName, ClientEnv, Need};
pub(crate) use playbook_core::account::{address, client_env, login, named};

pub(crate) use self::named::{DEFAULT_BASE_URL, KeyError, key_in};
pub(crate) use self::sent::Sent;

#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) need: Need,
    pub(crate) secret: Option<Result<Credential, String>>,
    /// The client as a model, if that is the backend and PATH has it.
    pub(crate) client: Option<ClaudeCli>,
    pub(crate) refusal: Refusal,
    pub(crate) found_in: ClientEnv,
}

/// The user's answer to the client's question whether to use the key that is set.
#[derive(Debug, Clone, Default)]
pub(crate) enum Refusal {
    /// The key was not refused, or there is no login to use in its place.
    #[default]
    None,
    /// Refused, so that in a terminal the client uses its login; holds the need of the key.
    ForLogin(Need),
    /// Refused, but this session cannot ask the user and therefore uses the key.
    Unasked,
}

impl Account {
    pub(crate) fn lack(&self) -> Option<String> {
        match (self.need.backend, &self.secret, &self.client) {
            (BackendName::Anthropic, None, _) => Some(
                "no key is set: set ANTHROPIC_API_KEY, or `backend = \"rules\"` to need none".to_owned(),
            ),
            (BackendName::Anthropic | BackendName::Openai, Some(Err(flaw)), _) => Some(flaw.clone()),
            (BackendName::Openai, _, _) if self.need.model_for(AccountStep::Reflector).is_empty() => Some(
                "no model is named: `playbook config set openai.model NAME`, by the server's own name"
                    .to_owned(),
            ),
            (BackendName::ClaudeCli, _, None) => Some(
                "no program `claude` on PATH: install it, or set `backend = \"rules\"` to need none"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    pub(crate) fn answers(&self, need: &Need, is_home: bool) -> bool {
        match &self.refusal {
            Refusal::Unasked if need.is_asked => false,
            Refusal::ForLogin(key) if need.is_asked && need.is_met_by(key) => true,
            _ => need.is_met_by(&self.need) || (is_home && need.differs_only_in_key(&self.need)),
        }
    }

    /// Returns the names that hooks use for the account. Hooks do not read the client's files.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = vec![self.need.account()];
        if let Refusal::ForLogin(key) = &self.refusal {
            names.push(key.account());
        }
        names
    }
}

/// Creates the salt if a key has to be hashed; respects the user's answer about the key.
pub(crate) fn of_worker(
    env: &Env,
    config: &Config,
    (paths, project): (&Paths, Option<&Path>),
) -> Result<Account, FsError> {
    found(env, config, (paths, project), || salt(paths))
}

/// Creates no salt: before the first use, hashes are made with an empty one and match no job.
pub(crate) fn to_look_at(
    env: &Env,
    config: &Config,
    (paths, project): (&Paths, Option<&Path>),
) -> Account {
    let salt = known_salt(paths).ok().flatten().unwrap_or_default();
    let place = (paths, project);
    let Ok(account) = found(env, config, place, || Ok::<_, Infallible>(salt.clone()));
    account
}

fn found<E>(
    env: &Env,
    config: &Config,
    (paths, project): (&Paths, Option<&Path>),
    salt: impl Fn() -> Result<Vec<u8>, E>,
) -> Result<Account, E> {
    let chosen = chosen(config);
    let client = ClientEnv::of(env, paths, project);
    let env = &client.vars;
    let mut account = account(&client, config, chosen.need_with(&client, paths, &salt)?);
    if account.need.backend != BackendName::Anthropic || !is_refused(env, config, paths) {
        return Ok(account);
    }
    account.refusal = if is_unasked(env) {
        Refusal::Unasked
    } else {
        let key = account.need;
        account = self::account(&client, config, chosen.with_login(&client, paths, &salt()?));
        Refusal::ForLogin(key)
    };
    Ok(account)
}

/// Returns `true` if the client would use its login instead of the key. Reads a large file.
fn is_refused(env: &Env, config: &Config, paths: &Paths) -> bool {
    let Some(SecretKey {
        variable: name::API_KEY,
        text: Ok(key),
    }) = named::key(env)
    else {
        return false;
    };
    config.top.backend == BackendChoice::Auto
        && login::program(env).is_some()
        && login::sign(env, paths).is_some()
        && login::has_refused(env, paths, &key)
}

fn account(found_in: &ClientEnv, config: &Config, need: Need) -> Account {
    let env = &found_in.vars;
    let limit = timeout(BackendName::ClaudeCli, config);
    let (secret, client) = match need.backend {
        BackendName::Anthropic => (credential(env).map(|(_, secret)| secret), None),
        BackendName::ClaudeCli => {
            let helper = found_in.helper().map(|(command, _)| command);
            let client = |program| ClaudeCli::new(program, env.pairs(), limit).with_helper(helper);
            (None, login::program(env).map(client))
        }
        BackendName::Openai => {
            let key = chosen(config).openai.key(env);
            let token = |key: String| Credential::token(&key).map_err(|flaw| flaw.to_string());
            (key.map(|key| key.and_then(token)), None)
        }
        BackendName::Rules | BackendName::Fixtures => (None, None),
    };
    Account {
        need,
        secret,
        client,
        refusal: Refusal::None,
        found_in: found_in.clone(),
    }
}

pub(crate) fn chosen(config: &Config) -> ChosenAccount {
    let server = &config.openai;
    ChosenAccount {
        backend: BackendName::from_word(config.top.backend.word()),
        base_url: config.anthropic.base_url.as_deref().map(without_secret),
        anthropic_model: config.anthropic.model.clone(),
        client_model: Some(config.claude_cli.model.clone()),
        curator_model: config.curator.model.clone(),
        openai: Box::new(OpenAi {
            base_url: server.base_url.as_deref().map(without_secret),
            key_variable: server.key_variable.clone(),
            model: server.model.clone(),
        }),
    }
}

/// Returns the first credential that is set and the variable that holds it, or why headers cannot
/// carry it. Without a key, custom headers alone count, as for a gateway.
pub(crate) fn credential(env: &Env) -> Option<(&'static str, Result<Credential, String>)> {
    let headers = env.get(name::CUSTOM_HEADERS);
    let key = named::key(env).or_else(|| {
        let text = Ok(String::new());
        headers.map(|_| SecretKey {
            variable: name::CUSTOM_HEADERS,
            text,
        })
    });
    let SecretKey { variable, text } = key?;
    let secret = text.and_then(|text| {
        let secret = match variable {
            name::AUTH_TOKEN => Credential::token(&text),
            name::CUSTOM_HEADERS => Ok(Credential::default()),
            _ => Credential::api_key(&text),
        };
        let secret = secret.map_err(|flaw| flaw.to_string())?;
        let all = secret.and_headers(headers.unwrap_or_default());
        all.map_err(|flaw| format!("{}: {flaw}", name::CUSTOM_HEADERS))
    });
    Some((variable, secret))
}

#[cfg(test)]
mod tests;
