//! The answers of commands for other programs, such as the server.

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

#[derive(Debug)]
pub struct Service {
    env: Env,
    paths: Paths,
    config: Config,
    masker: Masker,
}

impl Service {
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

    pub fn mask(&self, value: &mut Value) {
        self.masker.mask_value(value);
    }

    pub fn now(&self) -> Timestamp {
        self.env.clock().now()
    }

    pub fn job(&self) -> String {
        JobId::new(self.now(), rand::random()).to_string()
    }

    pub fn memory(&self, tenant: &Tenant) -> anyhow::Result<Memory> {
        Ok(match tenant {
            Tenant::User => sharing::open_memory(&self.paths, &self.config)?,
            Tenant::Other(_) => {
                Memory::open(&self.paths.memory_of(tenant))?.masked_by(self.masker.clone())
            }
        })
    }

    /// Returns the user's own folder, in which no project's settings apply.
    pub fn own(&self) -> &Path {
        self.paths.own()
    }

    pub fn tokens_file(&self) -> PathBuf {
        self.paths.server_tokens()
    }

    /// Finds a project by the name it was learned under; `None` if it is unknown.
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
