//! A job's description of its surroundings: enough to find the right account again, and no secret.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::name_of;
use crate::worded;

worded! {
    pub enum BackendName {
        /// The Messages API, with a key.
        Anthropic = "anthropic",
        /// `claude -p`, with a subscription's login.
        ClaudeCli = "claude-cli",
        /// Chat completions as `OpenAI` defines them, at an address the user sets.
        Openai = "openai",
        /// The built-in rules: no network, deterministic.
        Rules = "rules",
        /// Recorded replies from a file: no network, deterministic.
        Fixtures = "fixtures",
    }
}

impl BackendName {
    /// Returns `true` if it needs no network and no account, and costs nothing.
    pub fn is_offline(self) -> bool {
        matches!(self, Self::Rules | Self::Fixtures)
    }
}

impl fmt::Display for BackendName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

worded! {
    pub enum AccountStep {
        Reflector = "reflector",
        Curator = "curator",
        Gate = "gate",
    }
}

/// The account that a job needs, without its secret, and the models.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Need {
    pub backend: BackendName,
    /// The address for `anthropic` and `openai`, or that of the client; never with a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Salted hash of the key, or for `claude-cli` of the folder with the login; `None` when there
    /// was no key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The model of both steps, or of the reflector alone where the curator has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curator_model: Option<String>,
    /// Set where the client asks its user about the key before use, as it does in a terminal and
    /// not with `-p`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_asked: bool,
}

impl Need {
    pub const fn bare(backend: BackendName) -> Self {
        Self {
            backend,
            base_url: None,
            key: None,
            model: None,
            curator_model: None,
            is_asked: false,
        }
    }

    /// Returns the model that answers a step's question; empty for a backend without models.
    pub fn model_for(&self, step: AccountStep) -> &str {
        let own = match step {
            AccountStep::Reflector | AccountStep::Gate => None,
            AccountStep::Curator => self.curator_model.as_deref(),
        };
        own.or(self.model.as_deref()).unwrap_or_default()
    }

    /// Returns a short name for backend, base URL and key together; jobs are parked by it.
    pub fn account(&self) -> String {
        let text = format!(
            "{}\n{}\n{}",
            self.backend.word(),
            self.base_url.as_deref().unwrap_or_default(),
            self.key.as_deref().unwrap_or_default()
        );
        name_of(text.as_bytes())
    }

    /// Every worker can answer a job of an offline backend, which needs no account.
    pub fn is_met_by(&self, own: &Self) -> bool {
        self.backend.is_offline() || self.account() == own.account()
    }

    pub fn differs_only_in_key(&self, own: &Self) -> bool {
        self.backend == own.backend && self.base_url == own.base_url && own.key.is_some()
    }
}
