//! Which backend answers, with whose credentials, and how a job names them.
//!
//! A job is written by a hook and worked on later, perhaps by a worker that was started
//! from another project with another key. [`Need`] is what the job says of its
//! surroundings: enough to find the right account again, and no secret.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::backend::{Credential, Name};
use crate::config::{BackendChoice, Config};
use crate::env::{Env, name};
use crate::fsx::{self, FsError};
use crate::paths::{Paths, hex, name_of};

/// The model where nobody chose one.
pub const DEFAULT_MODEL: &str = "claude-haiku-5-5";
/// The base URL where nobody chose one.
pub const DEFAULT_BASE_URL: &str = "https://api.anthropic.com";
/// Random bytes in the salt.
const SALT_BYTES: usize = 32;

/// What a job needs to be answered: the account, without its secret, and the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Need {
    /// The backend.
    pub backend: Name,
    /// Where it is, for `anthropic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Salted hash of the key; `None` when there was no key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The model to use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Need {
    /// A short name for backend, base URL and key as one: what is parked together.
    pub fn account(&self) -> String {
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
    /// The rules need nothing, so every worker can.
    pub fn is_met_by(&self, own: &Self) -> bool {
        self.backend == Name::Rules || self.account() == own.account()
    }

    /// Tells whether the accounts differ in nothing but the key.
    pub fn differs_only_in_key(&self, own: &Self) -> bool {
        self.backend == own.backend && self.base_url == own.base_url && own.key.is_some()
    }
}

/// The account of this process.
#[derive(Debug, Clone)]
pub struct Account {
    /// What its jobs say of it.
    pub need: Need,
    /// Its secret, if it has one.
    pub secret: Option<Credential>,
}

/// Finds the account of this process; the salt is only asked for when there is a key.
pub fn of_process(env: &Env, config: &Config, paths: &Paths) -> Result<Account, FsError> {
    let salt = match secret(env) {
        Some(_) if config.top.backend != BackendChoice::Rules => salt(paths)?,
        _ => Vec::new(),
    };
    Ok(resolve(env, config, &salt))
}

/// Finds the account from variables and settings.
///
/// `salt` makes the hash of the key useless outside of this state folder.
fn resolve(env: &Env, config: &Config, salt: &[u8]) -> Account {
    let secret = secret(env);
    let backend = match config.top.backend {
        BackendChoice::Auto if secret.is_some() => Name::Anthropic,
        BackendChoice::Auto | BackendChoice::Rules => Name::Rules,
        BackendChoice::Anthropic => Name::Anthropic,
    };
    if backend == Name::Rules {
        return Account {
            need: Need {
                backend,
                base_url: None,
                key: None,
                model: None,
            },
            secret: None,
        };
    }
    Account {
        need: Need {
            backend,
            base_url: Some(base_url(env, config)),
            key: secret.as_ref().map(|s| salted(s.expose(), salt)),
            model: Some(model(env, config)),
        },
        secret,
    }
}

/// The first usable credential; a text that no header can carry is none.
fn secret(env: &Env) -> Option<Credential> {
    let key = |name| Credential::api_key(env.get(name)?).ok();
    let token = |name| Credential::token(env.get(name)?).ok();
    key(name::OWN_KEY)
        .or_else(|| token(name::AUTH_TOKEN))
        .or_else(|| key(name::API_KEY))
}

fn base_url(env: &Env, config: &Config) -> String {
    let url = env
        .get(name::OWN_BASE_URL)
        .or(config.anthropic.base_url.as_deref())
        .or_else(|| env.get(name::BASE_URL))
        .unwrap_or(DEFAULT_BASE_URL);
    url.trim().trim_end_matches('/').to_owned()
}

fn model(env: &Env, config: &Config) -> String {
    env.get(name::OWN_MODEL)
        .or(config.anthropic.model.as_deref())
        .or_else(|| env.get(name::MODEL))
        .or_else(|| env.get(name::SONNET_MODEL))
        .unwrap_or(DEFAULT_MODEL)
        .to_owned()
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
    let file = paths.salt();
    if let Some(salt) = fsx::read_if_there(&file, SALT_BYTES as u64)?
        && salt.len() == SALT_BYTES
    {
        return Ok(salt);
    }
    let fresh: [u8; SALT_BYTES] = rand::random();
    fsx::ensure_dir(paths.state())?;
    // Another hook may have been quicker; its salt is the salt.
    fsx::create_new(&file, &fresh)?;
    fsx::read(&file, SALT_BYTES as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn account(pairs: &[(&str, &str)], config: &Config) -> Account {
        resolve(&Env::from_pairs(pairs.iter().copied()), config, b"salt")
    }

    #[rstest]
    #[case::nothing(&[], Name::Rules, None)]
    #[case::own_key_first(&[(name::OWN_KEY, "a"), (name::AUTH_TOKEN, "b"), (name::API_KEY, "c")], Name::Anthropic, Credential::api_key("a").ok())]
    #[case::then_the_token(&[(name::AUTH_TOKEN, "b"), (name::API_KEY, "c")], Name::Anthropic, Credential::token("b").ok())]
    #[case::then_the_key(&[(name::API_KEY, " c\n")], Name::Anthropic, Credential::api_key("c").ok())]
    fn a_credential_decides_the_backend(
        #[case] env: &[(&str, &str)],
        #[case] backend: Name,
        #[case] secret: Option<Credential>,
    ) {
        let account = account(env, &Config::default());
        assert_eq!((account.need.backend, account.secret), (backend, secret));
    }

    #[test]
    fn our_variable_wins_over_the_file_and_the_file_over_the_clients() {
        let mut config = Config::default();
        let all = [
            (name::API_KEY, "k"),
            (name::OWN_MODEL, "own"),
            (name::MODEL, "client"),
            (name::SONNET_MODEL, "sonnet"),
            (name::BASE_URL, "https://client/"),
        ];
        assert_eq!(account(&all, &config).need.model.as_deref(), Some("own"));
        assert_eq!(
            account(&all[..1], &config).need.model.as_deref(),
            Some(DEFAULT_MODEL)
        );
        assert_eq!(account(&all[3..], &config).need.model, None);
        assert_eq!(
            account(&all, &config).need.base_url.as_deref(),
            Some("https://client")
        );
        config.anthropic.model = Some("file".into());
        config.anthropic.base_url = Some("https://file".into());
        let rest = [
            (name::API_KEY, "k"),
            (name::MODEL, "client"),
            (name::BASE_URL, "https://client/"),
        ];
        let need = account(&rest, &config).need;
        assert_eq!(need.model.as_deref(), Some("file"));
        assert_eq!(need.base_url.as_deref(), Some("https://file"));
    }

    #[test]
    fn a_job_names_the_account_without_the_secret() {
        let account = account(&[(name::API_KEY, "sk-ant-secret")], &Config::default());
        let job = serde_json::to_string(&account.need).unwrap();
        assert!(!job.contains("sk-ant-secret"));
        assert!(!format!("{account:?}").contains("sk-ant-secret"));
    }

    #[test]
    fn only_the_same_account_answers_but_the_rules_need_none() {
        let need = |key| account(&[(name::API_KEY, key)], &Config::default()).need;
        assert!(need("a").is_met_by(&need("a")));
        assert!(!need("a").is_met_by(&need("b")));
        assert!(need("a").differs_only_in_key(&need("b")));
        let rules = account(&[], &Config::default()).need;
        assert!(rules.is_met_by(&need("a")));
        assert!(!need("a").is_met_by(&rules));
    }
}
