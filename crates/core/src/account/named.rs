//! Builds a job's [`Need`] from the variables of the process and from the settings, which hooks
//! find prepared.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::address::without_secret;
use super::client_env::{ClientEnv, provider};
use super::login;
use super::need::{BackendName, Need};
use crate::digest::hex;
use crate::env::{Env, name};
use crate::fsx::{self, FsContext as _, FsError};
use crate::paths::Paths;
use crate::random;

/// The Messages API models that the client means by `haiku`, `sonnet` and `opus`.
const API_MODELS: [&str; 3] = ["claude-haiku-5-5", "claude-sonnet-5-5", "claude-opus-5-5"];
/// The same for the client itself, which maps them to its provider's names.
const CLIENT_MODELS: [&str; 3] = [DEFAULT_CLIENT_MODEL, "sonnet", "opus"];
pub const DEFAULT_CLIENT_MODEL: &str = "haiku";
/// The address of the Messages API where none is given.
pub const DEFAULT_BASE_URL: &str = "https://api.anthropic.com";
/// The address of Ollama on this machine.
pub const DEFAULT_OPENAI_URL: &str = "http://127.0.0.1:11434/v1";
pub(crate) const DEFAULT_OPENAI_KEY: &str = "OPENAI_API_KEY";
pub const SALT_BYTES: usize = 32;

/// The choices of the settings; `None` where they leave one open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenAccount {
    /// `None` for the first backend that can answer.
    pub backend: Option<BackendName>,
    /// The address of the Messages API, without what could be a secret in it.
    pub base_url: Option<String>,
    pub anthropic_model: Option<String>,
    pub client_model: Option<String>,
    pub curator_model: Option<String>,
    pub openai: Box<OpenAi>,
}

/// A server with `OpenAI`'s chat completions API.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenAi {
    /// The address up to `/v1`, without what could be a secret in it.
    pub base_url: Option<String>,
    pub key_variable: Option<String>,
    pub model: Option<String>,
}

impl OpenAi {
    /// Returns why a key cannot be sent, if it cannot. A local server needs none.
    pub fn key(&self, env: &Env) -> Option<Result<String, String>> {
        let variable = self.key_variable.as_deref().unwrap_or(DEFAULT_OPENAI_KEY);
        let text = env.os(variable)?.to_string_lossy();
        Some(readable(&text, variable))
    }
}

/// A key or token that is set, or why it cannot be sent.
pub struct SecretKey {
    pub variable: &'static str,
    /// The key without surrounding white space.
    pub text: Result<String, String>,
}

/// The reason why a text cannot be a key or token; does not hold the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("it is empty")]
    Empty,
    /// A header cannot carry it.
    #[error("it holds a space or a character that is not printable ASCII")]
    Unprintable,
}

pub fn key_in(text: &str) -> Result<&str, KeyError> {
    match text.trim() {
        "" => Err(KeyError::Empty),
        key if key.bytes().all(|b| b.is_ascii_graphic()) => Ok(key),
        _ => Err(KeyError::Unprintable),
    }
}

/// A key that cannot be sent is an error and not skipped: the next one may bill another account.
pub fn key(env: &Env) -> Option<SecretKey> {
    [name::OWN_KEY, name::AUTH_TOKEN, name::API_KEY]
        .into_iter()
        .find_map(|variable| {
            let text = env.os(variable)?.to_string_lossy();
            Some(SecretKey {
                variable,
                text: readable(&text, variable),
            })
        })
}

fn readable(text: &str, variable: &str) -> Result<String, String> {
    let flaw = |flaw| format!("the key in {variable}: {flaw}");
    key_in(text).map(str::to_owned).map_err(flaw)
}

/// Returns `true` in a session in which the client cannot ask its user: `-p`.
pub fn is_unasked(env: &Env) -> bool {
    let started_as = env.get(name::ENTRYPOINT);
    started_as.is_some_and(|name| name.starts_with("sdk"))
}

impl ChosenAccount {
    /// Creates the salt only if something is hashed with it.
    pub fn need(&self, client: &ClientEnv, paths: &Paths) -> Result<Need, FsError> {
        self.need_with(client, paths, || salt(paths))
    }

    pub fn need_with<E>(
        &self,
        client: &ClientEnv,
        paths: &Paths,
        salt: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Need, E> {
        let env = &client.vars;
        let key = key(env);
        Ok(match self.backend_for(client, paths, key.as_ref()) {
            backend @ (BackendName::Rules | BackendName::Fixtures) => Need::bare(backend),
            BackendName::Anthropic => {
                let has_secret = key.is_some() || env.get(name::CUSTOM_HEADERS).is_some();
                let salt = has_secret.then(salt).transpose()?;
                self.with_key(env, key.as_ref(), &salt.unwrap_or_default())
            }
            BackendName::ClaudeCli => self.with_login(client, paths, &salt()?),
            BackendName::Openai => {
                let key = self.openai.key(env);
                let salt = key.as_ref().map(|_| salt()).transpose()?;
                self.with_server(env, key.as_ref(), &salt.unwrap_or_default())
            }
        })
    }

    /// Returns the backend chosen by name, else the one that the client itself would ask.
    pub fn backend_for(
        &self,
        client: &ClientEnv,
        paths: &Paths,
        key: Option<&SecretKey>,
    ) -> BackendName {
        let env = &client.vars;
        let has_program = || login::program(env).is_some();
        let has_login = || client.helper().is_some() || login::sign(env, paths).is_some();
        let has_gateway = env.get(name::CUSTOM_HEADERS).is_some() && self.address(env).is_some();
        match self.backend {
            Some(backend) => backend,
            None if client.is_barred => BackendName::Rules,
            // Only the client can reach the provider; a key in the environment is for another use.
            None if provider(env).is_some() && has_program() => BackendName::ClaudeCli,
            None if provider(env).is_some() => BackendName::Rules,
            None if key.is_some() => BackendName::Anthropic,
            None if has_program() && has_login() => BackendName::ClaudeCli,
            // With a helper, the headers alone are not what the client would send.
            None if has_gateway && client.helper().is_none() => BackendName::Anthropic,
            None => BackendName::Rules,
        }
    }

    /// Returns the address with the name of its source: a variable or a setting.
    pub fn address<'a>(&'a self, env: &'a Env) -> Option<(&'static str, &'a str)> {
        let of = |name| Some((name, env.get(name)?));
        of(name::OWN_BASE_URL)
            .or_else(|| Some(("`anthropic.base_url`", self.base_url.as_deref()?)))
            .or_else(|| of(name::BASE_URL))
    }

    /// The `salt` makes the hash of the key useless outside this state folder.
    pub fn with_key(&self, env: &Env, key: Option<&SecretKey>, salt: &[u8]) -> Need {
        let is_clients = key.is_some_and(|key| key.variable == name::API_KEY);
        let url = self.address(env).map_or(DEFAULT_BASE_URL, |(_, url)| url);
        let key = key.map(|key| match &key.text {
            Ok(text) | Err(text) => text.clone(),
        });
        let headers = env.get(name::CUSTOM_HEADERS);
        let headers = headers.map(|headers| format!("\n{headers}"));
        let secrets = (key.is_some() || headers.is_some())
            .then(|| key.unwrap_or_default() + &headers.unwrap_or_default());
        let need = Need {
            base_url: Some(without_secret(url)),
            key: secrets.map(|secrets| salted(&secrets, salt)),
            is_asked: is_clients && self.backend.is_none() && !is_unasked(env),
            ..Need::bare(BackendName::Anthropic)
        };
        let model = |model: Option<&str>| resolved(model, env, API_MODELS);
        self.with_models(need, env, self.anthropic_model.as_deref(), model)
    }

    pub fn with_server(
        &self,
        env: &Env,
        key: Option<&Result<String, String>>,
        salt: &[u8],
    ) -> Need {
        let url = self.openai.base_url.as_deref();
        let need = Need {
            base_url: Some(url.unwrap_or(DEFAULT_OPENAI_URL).to_owned()),
            key: key.map(|(Ok(text) | Err(text))| salted(text, salt)),
            ..Need::bare(BackendName::Openai)
        };
        let model = |model: Option<&str>| model.unwrap_or_default().to_owned();
        self.with_models(need, env, self.openai.model.as_deref(), model)
    }

    pub fn with_login(&self, client: &ClientEnv, paths: &Paths, salt: &[u8]) -> Need {
        let env = &client.vars;
        let folder = paths.client().to_string_lossy();
        let token = env.get(name::OAUTH_TOKEN).unwrap_or_default();
        // A provider has its own addresses.
        let url = env.get(name::BASE_URL);
        let url = url.filter(|_| provider(env).is_none());
        let base_url = url.map(without_secret);
        let mut login = format!("{folder}\n{token}{}", client.identity());
        // The removed part of the address distinguishes accounts.
        if let Some(url) = url.filter(|url| base_url.as_deref() != Some(trimmed(url))) {
            login = format!("{login}\n{url}");
        }
        let need = Need {
            base_url,
            key: Some(salted(&login, salt)),
            ..Need::bare(BackendName::ClaudeCli)
        };
        let model = |model: Option<&str>| resolved(model, env, CLIENT_MODELS);
        self.with_models(need, env, self.client_model.as_deref(), model)
    }

    /// Prefers our own variable to the settings, and those to the default.
    fn with_models(
        &self,
        need: Need,
        env: &Env,
        chosen: Option<&str>,
        resolved: impl Fn(Option<&str>) -> String,
    ) -> Need {
        let first = env.get(name::OWN_MODEL);
        let reflector = resolved(first.or(chosen));
        let curator = resolved(first.or(self.curator_model.as_deref()).or(chosen));
        Need {
            curator_model: (curator != reflector).then_some(curator),
            model: Some(reflector),
            ..need
        }
    }
}

/// Keeps a full name, but no suffix such as `[1m]`; an empty name means the small model.
fn resolved(name: Option<&str>, env: &Env, [haiku, sonnet, opus]: [&str; 3]) -> String {
    let without_suffix = |name: &str| name.split('[').next().unwrap_or_default().trim().to_owned();
    let of = |variables: &[&str], usual| {
        let mut variables = variables.iter();
        variables
            .find_map(|variable| env.get(variable))
            .unwrap_or(usual)
    };
    let name = without_suffix(name.unwrap_or_default());
    without_suffix(match &*name.to_ascii_lowercase() {
        "" | "default" | "haiku" => of(&[name::HAIKU_MODEL, name::SMALL_FAST_MODEL], haiku),
        "sonnet" | "opusplan" => of(&[name::SONNET_MODEL], sonnet),
        "opus" | "best" => of(&[name::OPUS_MODEL], opus),
        _ => &name,
    })
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

pub fn salt(paths: &Paths) -> Result<Vec<u8>, FsError> {
    if let Some(salt) = known_salt(paths)? {
        return Ok(salt);
    }
    let file = paths.salt();
    let fresh: [u8; SALT_BYTES] = random::bytes().context("make", &file)?;
    fsx::ensure_dir(paths.state())?;
    // Another hook may have been quicker; its salt counts.
    if !fsx::create_new(&file, &fresh)? && known_salt(paths)?.is_none() {
        // The file was cut short, and a short salt can be guessed.
        fsx::quick(&file, &fresh)?;
    }
    fsx::read(&file, SALT_BYTES as u64)
}

/// Reads the salt for key hashes; `None` if it is missing or too short.
pub fn known_salt(paths: &Paths) -> Result<Option<Vec<u8>>, FsError> {
    let salt = fsx::read_if_there(&paths.salt(), SALT_BYTES as u64)?;
    Ok(salt.filter(|salt| salt.len() == SALT_BYTES))
}
