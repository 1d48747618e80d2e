//! What other programs may ask, answered as the commands answer it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Value, json};

pub use crate::cli::generate::{StoreLearned, ToStore, flaw, generate, store as store_here};
pub use crate::cli::memory::{ErrorQuestion, together};
use crate::config::Config;
use crate::env::Env;
use crate::memory::Memory;
use crate::paths::Paths;
use crate::playbook::clean::clean_text;
use crate::queue::job::JobId;
use crate::redact::Masker;
use crate::tenant::Tenant;
use crate::trust::outside;
use crate::{sharing, store};

/// The folders and settings of the user of this process.
#[derive(Debug)]
pub struct Service {
    env: Env,
    paths: Paths,
    config: Config,
    masker: Masker,
}

impl Service {
    /// Reads the settings once.
    pub fn open() -> anyhow::Result<Self> {
        let (env, paths, config) = sharing::own_surroundings()?;
        let masker = config.secrets.secrecy()?.masker;
        Ok(Self {
            env,
            paths,
            config,
            masker,
        })
    }

    /// Takes the secrets out of what is to be stored.
    pub fn mask(&self, value: &mut Value) {
        self.masker.mask_value(value);
    }

    pub fn now(&self) -> Timestamp {
        self.env.clock().now()
    }

    /// A name for what is stored at once.
    pub fn job(&self) -> String {
        JobId::new(self.now(), rand::random()).to_string()
    }

    /// Opens the memory of a tenant on this machine; it is made where there is none.
    pub fn memory(&self, tenant: &Tenant) -> anyhow::Result<Memory> {
        Ok(match tenant {
            Tenant::User => sharing::open_memory(&self.paths, &self.config)?,
            Tenant::Other(_) => {
                Memory::open(&self.paths.memory_of(tenant))?.masked_by(self.masker.clone())
            }
        })
    }

    /// The folder of the user's own, where no project's settings hold.
    pub fn own(&self) -> &Path {
        self.paths.own()
    }

    /// Where the tokens of the server are kept, hashed.
    pub fn tokens_file(&self) -> PathBuf {
        self.paths.server_tokens()
    }

    /// The key points of a project of the user, by the name that it was learned under; `None`
    /// for one that is not known.
    pub fn key_points(&self, project: &str) -> anyhow::Result<Option<Value>> {
        let known = self.memory(&Tenant::User)?.all_projects()?;
        let folder = Path::new(project);
        if !known.iter().any(|known| known == project)
            || !folder.is_absolute()
            || outside::refused(Some(&self.paths), folder).is_some()
        {
            return Ok(None);
        }
        let file = store::Store::of(&self.paths, folder).load()?;
        let votes = store::votes::read(&self.paths, folder, &file)?;
        let mut playbook = file.with_votes(&votes);
        playbook.mask_secrets(&self.masker);
        let points: Vec<Value> = playbook
            .points()
            .map(|point| {
                json!({
                    "id": point.name, "section": point.section, "text": clean_text(point.text),
                    "helpful": point.helpful, "harmful": point.harmful,
                })
            })
            .collect();
        Ok(Some(json!({"project": project, "key_points": points})))
    }
}
