//! Which backend answers, with whose credentials, and how a job names them.
//!
//! A job is written by a hook and worked on later, perhaps by a worker that was started
//! from another project with another key. [`Need`] is what the job says of its
//! surroundings: enough to find the right account again, and no secret.

pub(crate) mod address;
pub(crate) mod login;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use self::address::without_secret;
use crate::backend::{BaseUrl, ClaudeCli, Credential, Name, Step};
use crate::config::{BackendChoice, Config};
use crate::env::{Env, name};
use crate::fsx::{self, FsError};
use crate::paths::{Paths, hex, name_of};

/// The model of the Messages API where nobody chose one.
pub(crate) const DEFAULT_MODEL: &str = "claude-haiku-5-5";
const SALT_BYTES: usize = 32;

/// What a job needs to be answered: the account, without its secret, and the models.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Need {
    pub(crate) backend: Name,
    /// Where it is, for `anthropic`; for `claude-cli` where the client was told it is. No
    /// secret that was written into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base_url: Option<String>,
    /// Salted hash of the key, or for `claude-cli` of the folder with the login; `None` when
    /// there was no key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// The curator's model, where it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) curator_model: Option<String>,
}

impl Need {
    pub(crate) const fn bare(backend: Name) -> Self {
        Self {
            backend,
            base_url: None,
            key: None,
            model: None,
            curator_model: None,
        }
    }

    /// The model that answers a step's question; empty for a backend without models.
    pub(crate) fn model_for(&self, step: Step) -> &str {
        let own = match step {
            Step::Reflector => None,
            Step::Curator => self.curator_model.as_deref(),
        };
        own.or(self.model.as_deref()).unwrap_or_default()
    }

    /// A short name for backend, base URL and key as one: what is parked together.
    pub(crate) fn account(&self) -> String {
        let text = format!(
            "{}\n{}\n{}",
            self.backend.as_str(),
            self.base_url.as_deref().unwrap_or_default(),
            self.key.as_deref().unwrap_or_default()
        );
        name_of(text.as_bytes())
    }

    /// Tells whether an account of `own` can answer a job with this need.
    ///
    /// What is offline needs no account, so every worker can.
    pub(crate) fn is_met_by(&self, own: &Self) -> bool {
        self.backend.is_offline() || self.account() == own.account()
    }

    /// Tells whether the accounts differ in nothing but the key.
    pub(crate) fn differs_only_in_key(&self, own: &Self) -> bool {
        self.backend == own.backend && self.base_url == own.base_url && own.key.is_some()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) need: Need,
    pub(crate) secret: Option<Credential>,
    /// The client as a model, when that is the backend and PATH has it.
    pub(crate) client: Option<ClaudeCli>,
}

/// Finds the account of this process; the salt is only asked for when it is hashed with.
pub(crate) fn of_process(env: &Env, config: &Config, paths: &Paths) -> Result<Account, FsError> {
    with_salt(env, config, paths, || salt(paths))
}

/// As [`of_process`], for whoever only looks: without a salt that can be read, as before the
/// first use, the hashes are nobody's, and none is made.
pub(crate) fn to_look_at(env: &Env, config: &Config, paths: &Paths) -> Account {
    let salt =
        || Ok::<_, std::convert::Infallible>(known_salt(paths).ok().flatten().unwrap_or_default());
    match with_salt(env, config, paths, salt) {
        Ok(account) => account,
    }
}

fn with_salt<E>(
    env: &Env,
    config: &Config,
    paths: &Paths,
    salt: impl FnOnce() -> Result<Vec<u8>, E>,
) -> Result<Account, E> {
    let secret = credential(env).map(|(_, secret)| secret);
    let backend = backend(env, config, paths, secret.as_ref());
    match backend {
        Name::Rules | Name::Fixtures => Ok(Account {
            need: Need::bare(backend),
            secret: None,
            client: None,
        }),
        Name::Anthropic => {
            let salt = secret.as_ref().map(|_| salt()).transpose()?;
            Ok(with_key(env, config, secret, &salt.unwrap_or_default()))
        }
        Name::ClaudeCli => Ok(with_login(env, config, paths, &salt()?)),
    }
}

/// The backend that answers: the one chosen by name, else the first that can.
fn backend(env: &Env, config: &Config, paths: &Paths, secret: Option<&Credential>) -> Name {
    match config.top.backend {
        BackendChoice::Anthropic => Name::Anthropic,
        BackendChoice::ClaudeCli => Name::ClaudeCli,
        BackendChoice::Fixtures => Name::Fixtures,
        BackendChoice::Auto if secret.is_some() => Name::Anthropic,
        BackendChoice::Auto
            if login::program(env).is_some() && login::sign(env, paths).is_some() =>
        {
            Name::ClaudeCli
        }
        BackendChoice::Rules | BackendChoice::Auto => Name::Rules,
    }
}

/// An account of the Messages API.
///
/// `salt` makes the hash of the key useless outside of this state folder.
fn with_key(env: &Env, config: &Config, secret: Option<Credential>, salt: &[u8]) -> Account {
    let ours = &config.anthropic;
    let (_, url) = base_url(env, config);
    let model = |own: Option<&String>| {
        env.get(name::OWN_MODEL)
            .or(own.or(ours.model.as_ref()).map(String::as_str))
            .or_else(|| env.get(name::MODEL))
            .or_else(|| env.get(name::SONNET_MODEL))
            .unwrap_or(DEFAULT_MODEL)
            .to_owned()
    };
    let key = secret.as_ref().map(|s| salted(s.expose(), salt));
    let need = Need {
        base_url: Some(without_secret(url)),
        key,
        ..Need::bare(Name::Anthropic)
    };
    Account {
        need: with_models(
            need,
            model(ours.reflector_model.as_ref()),
            model(ours.curator_model.as_ref()),
        ),
        secret,
        client: None,
    }
}

fn with_login(env: &Env, config: &Config, paths: &Paths, salt: &[u8]) -> Account {
    let ours = &config.claude_cli;
    let model = |own: Option<&String>| {
        let chosen = own.unwrap_or(&ours.model);
        env.get(name::OWN_MODEL).unwrap_or(chosen).to_owned()
    };
    let folder = paths.client().to_string_lossy();
    let token = env.get(name::OAUTH_TOKEN).unwrap_or_default();
    let url = env.get(name::BASE_URL);
    let base_url = url.map(without_secret);
    let mut login = format!("{folder}\n{token}");
    // What was taken out of the address tells accounts apart.
    if let Some(url) = url.filter(|url| base_url.as_deref() != Some(trimmed(url))) {
        login = format!("{login}\n{url}");
    }
    let need = Need {
        base_url,
        key: Some(salted(&login, salt)),
        ..Need::bare(Name::ClaudeCli)
    };
    let limit = Duration::from_millis(ours.timeout_ms);
    Account {
        need: with_models(
            need,
            model(ours.reflector_model.as_ref()),
            model(ours.curator_model.as_ref()),
        ),
        secret: None,
        client: login::program(env).map(|program| ClaudeCli::new(program, env.pairs(), limit)),
    }
}

fn with_models(need: Need, reflector: String, curator: String) -> Need {
    Need {
        curator_model: (curator != reflector).then_some(curator),
        model: Some(reflector),
        ..need
    }
}

/// The first usable credential with the variable it comes from; a text that no header can
/// carry is none.
pub(crate) fn credential(env: &Env) -> Option<(&'static str, Credential)> {
    let key = |name| Some((name, Credential::api_key(env.get(name)?).ok()?));
    let token = |name| Some((name, Credential::token(env.get(name)?).ok()?));
    key(name::OWN_KEY)
        .or_else(|| token(name::AUTH_TOKEN))
        .or_else(|| key(name::API_KEY))
}

/// The address of the Messages API as it was given, with the name of what gave it.
pub(crate) fn base_url<'a>(env: &'a Env, config: &'a Config) -> (&'static str, &'a str) {
    let of = |name| Some((name, env.get(name)?));
    let file = config.anthropic.base_url.as_deref();
    of(name::OWN_BASE_URL)
        .or_else(|| Some(("`anthropic.base_url`", file?)))
        .or_else(|| of(name::BASE_URL))
        .unwrap_or(("the default", BaseUrl::DEFAULT))
}

fn trimmed(url: &str) -> &str {
    url.trim().trim_end_matches('/')
}

fn salted(text: &str, salt: &[u8]) -> String {
    let hash = Sha256::new()
        .chain_update(salt)
        .chain_update(text)
        .finalize();
    hex(&hash[..8])
}

/// The salt of this state folder, made at first use.
fn salt(paths: &Paths) -> Result<Vec<u8>, FsError> {
    if let Some(salt) = known_salt(paths)? {
        return Ok(salt);
    }
    let file = paths.salt();
    let fresh: [u8; SALT_BYTES] = rand::random();
    fsx::ensure_dir(paths.state())?;
    // Another hook may have been quicker; its salt is the salt.
    if !fsx::create_new(&file, &fresh)? && known_salt(paths)?.is_none() {
        // It was cut short, and a short one can be guessed.
        fsx::quick(&file, &fresh)?;
    }
    fsx::read(&file, SALT_BYTES as u64)
}

fn known_salt(paths: &Paths) -> Result<Option<Vec<u8>>, FsError> {
    let salt = fsx::read_if_there(&paths.salt(), SALT_BYTES as u64)?;
    Ok(salt.filter(|salt| salt.len() == SALT_BYTES))
}

#[cfg(test)]
mod tests;
