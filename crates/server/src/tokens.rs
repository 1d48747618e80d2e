//! The tenants' tokens for the server; the file has only their hashes.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use anyhow::{Context as _, bail};
use jiff::Timestamp;
use playbook::digest::hex;
use playbook::fsx;
use playbook::fsx::lock::{self, Lock};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::postgres::roles::TenantName;

/// The prefix of each token, by which secret scanners recognize it.
const PREFIX: &str = "playbook_";
const MAX_FILE: u64 = 16 << 20;
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct KeptToken {
    pub(crate) id: String,
    pub(crate) tenant: String,
    hash: String,
    pub(crate) created: Timestamp,
}

/// The token file, with its content and modification time at the last read.
pub(crate) struct TokenFile {
    file: PathBuf,
    read: Mutex<(Option<SystemTime>, Vec<KeptToken>)>,
}

impl TokenFile {
    pub(crate) fn new(file: PathBuf) -> Self {
        let read = Mutex::default();
        Self { file, read }
    }

    /// Creates a token, which is shown only once.
    pub(crate) fn add(&self, tenant: &TenantName, now: Timestamp) -> anyhow::Result<String> {
        let token = format!(
            "{PREFIX}{:032x}{:032x}",
            rand::random::<u128>(),
            rand::random::<u128>()
        );
        self.change(|all| {
            all.push(KeptToken {
                id: format!("{:08x}", rand::random::<u32>()),
                tenant: tenant.as_str().to_owned(),
                hash: hash(&token),
                created: now,
            });
            Ok(())
        })?;
        Ok(token)
    }

    /// Revokes a token, with immediate effect on a running server.
    pub(crate) fn revoke(&self, id: &str) -> anyhow::Result<()> {
        self.change(|all| {
            let before = all.len();
            all.retain(|token| token.id != id);
            if all.len() == before {
                bail!("no token {id:?}; hint: `playbook server token list` shows the ids");
            }
            Ok(())
        })
    }

    pub(crate) fn all(&self) -> anyhow::Result<Vec<KeptToken>> {
        match fsx::read_if_there(&self.file, MAX_FILE)? {
            Some(bytes) => serde_json::from_slice(&bytes)
                .with_context(|| format!("could not read tokens: {}", self.file.display())),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the tenant of a token. Recently created or revoked tokens count.
    pub(crate) fn tenant(&self, token: &str) -> anyhow::Result<Option<TenantName>> {
        let changed = std::fs::metadata(&self.file)
            .and_then(|file| file.modified())
            .ok();
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.0 != changed || changed.is_none() {
            *read = (changed, self.all()?);
        }
        let wanted = hash(token);
        let found = read.1.iter().find(|known| known.hash == wanted);
        found
            .map(|found| TenantName::parse(&found.tenant))
            .transpose()
    }

    fn change(
        &self,
        change: impl FnOnce(&mut Vec<KeptToken>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        if let Some(folder) = self.file.parent() {
            fsx::ensure_dir(folder)?;
        }
        let lock = Lock::acquire(&lock::lock_path(&self.file), PATIENCE)?;
        let _lock = lock.context("another command changes the tokens; hint: try again")?;
        let mut all = self.all()?;
        change(&mut all)?;
        Ok(fsx::durable(&self.file, &fsx::to_json(&self.file, &all)?)?)
    }
}

fn hash(token: &str) -> String {
    hex(&Sha256::digest(token))
}
