//! Which backend answers, with whose credentials, and how a job names them.
//!
//! A job is written by a hook and worked on later, perhaps by a worker that was started
//! from another project with another key. [`Need`] is what the job says of its
//! surroundings: enough to find the right account again, and no secret.

pub(crate) mod address;
pub(crate) mod login;
mod need;

use std::time::Duration;

use sha2::{Digest, Sha256};

use self::address::without_secret;
pub(crate) use self::need::Need;
use crate::backend::{BaseUrl, ClaudeCli, Credential, Name};
use crate::config::{BackendChoice, Config};
use crate::digest::hex;
use crate::env::{Env, name};
use crate::fsx::{self, FsError};
use crate::paths::Paths;

/// The model of the Messages API where nobody chose one.
pub(crate) const DEFAULT_MODEL: &str = "claude-haiku-5-5";
const SALT_BYTES: usize = 32;

#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) need: Need,
    /// The key or token, or why the one that is set cannot be sent.
    pub(crate) secret: Option<Result<Credential, String>>,
    /// The client as a model, when that is the backend and PATH has it.
    pub(crate) client: Option<ClaudeCli>,
    pub(crate) refusal: Refusal,
}

/// What the user answered when the client asked whether to use the key that is set.
#[derive(Debug, Clone, Default)]
pub(crate) enum Refusal {
    /// It was not refused, or there is no login to use in its place.
    #[default]
    None,
    /// Refused: where the client asks, the login is used. This one answers for the key.
    ForLogin(Need),
    /// Refused, and used all the same by this session, in which nobody is asked.
    Unasked,
}

impl Account {
    /// Why it cannot answer: what is not there, and what to do about it.
    pub(crate) fn lack(&self) -> Option<String> {
        match (self.need.backend, &self.secret, &self.client) {
            (Name::Anthropic, None, _) => Some(
                "no key is set: set ANTHROPIC_API_KEY, or `backend = \"rules\"` to need none".to_owned(),
            ),
            (Name::Anthropic, Some(Err(flaw)), _) => Some(flaw.clone()),
            (Name::ClaudeCli, _, None) => Some(
                "no program `claude` on PATH: install it, or set `backend = \"rules\"` to need none"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    /// Tells whether it answers a job with this need; one of its own project also under a
    /// newer key.
    pub(crate) fn answers(&self, need: &Need, is_home: bool) -> bool {
        match &self.refusal {
            Refusal::Unasked if need.is_asked => false,
            Refusal::ForLogin(key) if need.is_asked && need.is_met_by(key) => true,
            _ => need.is_met_by(&self.need) || (is_home && need.differs_only_in_key(&self.need)),
        }
    }

    /// The names by which hooks know it, which look into no file of the client's.
    pub(crate) fn names(&self) -> Vec<String> {
        let stands_for = match &self.refusal {
            Refusal::ForLogin(key) => Some(key.account()),
            Refusal::None | Refusal::Unasked => None,
        };
        [self.need.account()]
            .into_iter()
            .chain(stands_for)
            .collect()
    }
}

/// Finds the account of this process; the salt is only asked for when it is hashed with.
pub(crate) fn of_process(env: &Env, config: &Config, paths: &Paths) -> Result<Account, FsError> {
    with_salt(env, config, paths, || salt(paths))
}

/// As [`of_process`], for whoever asks a model: what the user said of the key to the client
/// holds here, too.
pub(crate) fn of_worker(env: &Env, config: &Config, paths: &Paths) -> Result<Account, FsError> {
    let account = of_process(env, config, paths)?;
    if is_refused(env, config, paths) {
        return Ok(heeding(account, env, config, paths, &salt(paths)?));
    }
    Ok(account)
}

/// As [`of_worker`], for whoever only looks: without a salt that can be read, as before the
/// first use, the hashes are nobody's, and none is made.
pub(crate) fn to_look_at(env: &Env, config: &Config, paths: &Paths) -> Account {
    let salt = known_salt(paths).ok().flatten().unwrap_or_default();
    let known = || Ok::<_, std::convert::Infallible>(salt.clone());
    match with_salt(env, config, paths, known) {
        Ok(account) if is_refused(env, config, paths) => {
            heeding(account, env, config, paths, &salt)
        }
        Ok(account) => account,
    }
}

/// Tells whether the client would use its login instead of the key where it asks. Reads the
/// client's state, which is large.
fn is_refused(env: &Env, config: &Config, paths: &Paths) -> bool {
    let Some((name::API_KEY, Ok(key))) = credential(env) else {
        return false;
    };
    config.top.backend == BackendChoice::Auto
        && login::program(env).is_some()
        && login::sign(env, paths).is_some()
        && login::has_refused(env, paths, key.expose())
}

/// The account in whose stead a key was refused.
fn heeding(account: Account, env: &Env, config: &Config, paths: &Paths, salt: &[u8]) -> Account {
    if is_unasked(env) {
        return Account {
            refusal: Refusal::Unasked,
            ..account
        };
    }
    Account {
        refusal: Refusal::ForLogin(account.need),
        ..with_login(env, config, paths, salt)
    }
}

/// Tells whether this runs in a session in which the client asks nobody: `-p`.
fn is_unasked(env: &Env) -> bool {
    let started_as = env.get(name::ENTRYPOINT);
    started_as.is_some_and(|name| name.starts_with("sdk"))
}

fn with_salt<E>(
    env: &Env,
    config: &Config,
    paths: &Paths,
    salt: impl FnOnce() -> Result<Vec<u8>, E>,
) -> Result<Account, E> {
    let given = credential(env);
    let backend = backend(env, config, paths, given.as_ref());
    match backend {
        Name::Rules | Name::Fixtures => Ok(Account {
            need: Need::bare(backend),
            secret: None,
            client: None,
            refusal: Refusal::None,
        }),
        Name::Anthropic => {
            let salt = given.as_ref().map(|_| salt()).transpose()?;
            Ok(with_key(env, config, given, &salt.unwrap_or_default()))
        }
        Name::ClaudeCli => Ok(with_login(env, config, paths, &salt()?)),
    }
}

/// The backend that answers: the one chosen by name, else the first that can.
fn backend(env: &Env, config: &Config, paths: &Paths, given: Option<&Given>) -> Name {
    match config.top.backend {
        BackendChoice::Anthropic => Name::Anthropic,
        BackendChoice::ClaudeCli => Name::ClaudeCli,
        BackendChoice::Fixtures => Name::Fixtures,
        BackendChoice::Auto if given.is_some() => Name::Anthropic,
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
fn with_key(env: &Env, config: &Config, given: Option<Given>, salt: &[u8]) -> Account {
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
    let is_clients = matches!(given, Some((name::API_KEY, _)));
    let secret = given.map(|(_, secret)| secret);
    let key = secret.as_ref().map(|secret| match secret {
        Ok(secret) => salted(secret.expose(), salt),
        Err(flaw) => salted(flaw, salt),
    });
    let need = Need {
        base_url: Some(without_secret(url)),
        key,
        is_asked: is_clients && config.top.backend == BackendChoice::Auto && !is_unasked(env),
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
        refusal: Refusal::None,
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
        refusal: Refusal::None,
    }
}

fn with_models(need: Need, reflector: String, curator: String) -> Need {
    Need {
        curator_model: (curator != reflector).then_some(curator),
        model: Some(reflector),
        ..need
    }
}

/// A credential, or why it is none that a header can carry, with the variable it comes from.
pub(crate) type Given = (&'static str, Result<Credential, String>);

/// The first credential that is set. One that cannot be sent is told, and none is taken in
/// its place: another one may be another's to pay.
pub(crate) fn credential(env: &Env) -> Option<Given> {
    [name::OWN_KEY, name::AUTH_TOKEN, name::API_KEY]
        .into_iter()
        .find_map(|variable| {
            let text = env.os(variable)?.to_string_lossy();
            let secret = match variable {
                name::AUTH_TOKEN => Credential::token(&text),
                _ => Credential::api_key(&text),
            };
            Some((
                variable,
                secret.map_err(|flaw| format!("the key in {variable}: {flaw}")),
            ))
        })
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
