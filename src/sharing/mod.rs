//! Learning together with others: which records leave this machine, under which project names, and
//! how arriving ones are stored. `playbook-server sync` transfers them.

mod arrival;
mod login;
mod names;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::{self, Config};
use crate::env::Env;
use crate::fsx;
use crate::memory::{Arrived, LogPosition, Memory, MemoryError};
use crate::paths::Paths;
use crate::reflect::learned::SharedRecord;
use crate::state_guard;
use crate::usage;

pub use login::Login;
pub use names::Names;

const MAX_STANDING: u64 = 64 << 10;

/// Opens the user's memory. If the settings share it, new records are queued for sending.
pub(crate) fn open_memory(paths: &Paths, config: &Config) -> Result<Memory, MemoryError> {
    let secrecy = config.secrets.secrecy();
    let masker = secrecy.map(|secrecy| secrecy.masker).unwrap_or_default();
    let mut memory = Memory::open(&paths.memory_db())?.masked_by(masker);
    if is_wanted(&Env::from_process(), config) {
        memory.share(&format!("{:08x}", rand::random::<u32>()))?;
    }
    Ok(memory)
}

/// Also makes the folders safe to write to.
pub(crate) fn own_surroundings() -> anyhow::Result<(Env, Paths, Config)> {
    let env = Env::from_process();
    let paths = Paths::resolve(&env)?;
    state_guard::check(&paths)?;
    state_guard::close(&paths)?;
    let config = config::load(&paths.config_file())?;
    Ok((env, paths, config))
}

pub(crate) fn is_wanted(env: &Env, config: &Config) -> bool {
    login::url(env, config).is_some()
}

#[derive(Debug)]
pub struct Sharing {
    paths: Paths,
    config: Config,
    memory: Memory,
    names: Names,
    now: Timestamp,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LastExchange {
    pub(crate) tried: Option<Timestamp>,
    pub(crate) succeeded: Option<Timestamp>,
    pub(crate) problem: Option<String>,
}

impl LastExchange {
    pub(crate) fn of(paths: &Paths) -> Self {
        fsx::read_json(&paths.sync_standing(), MAX_STANDING).unwrap_or_default()
    }

    fn keep(paths: &Paths, problem: Option<String>, now: Timestamp) -> anyhow::Result<()> {
        let succeeded = match problem {
            Some(_) => Self::of(paths).succeeded,
            None => Some(now),
        };
        let standing = Self {
            tried: Some(now),
            succeeded,
            problem,
        };
        let file = paths.sync_standing();
        Ok(fsx::quick(&file, &fsx::to_json(&file, &standing)?)?)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct LogRow {
    pub position: u64,
    pub origin: String,
    /// The record as its sender wrote it, not yet checked.
    pub record: Value,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    pub new: u64,
    /// Records that were left out: invalid, or they look like an attack.
    pub refused: u64,
}

impl Sharing {
    pub fn open() -> anyhow::Result<Self> {
        let (env, paths, config) = own_surroundings()?;
        let memory = open_memory(&paths, &config)?;
        let mut known = memory.all_projects()?;
        known.retain(|name| Path::new(name).is_absolute());
        let names = Names::of(
            &known,
            paths.home().unwrap_or(Path::new("/")),
            &config.memory.not_shared,
        );
        Ok(Self {
            now: env.clock().now(),
            memory,
            names,
            config,
            paths,
        })
    }

    pub fn login() -> anyhow::Result<Option<Login>> {
        let paths = Paths::resolve(&Env::from_process())?;
        Login::of(&config::load(&paths.config_file())?)
    }

    pub fn place(&self, log: &str) -> anyhow::Result<LogPosition> {
        Ok(self.memory.place(log)?.unwrap_or_default())
    }

    /// Renames projects to their shared names; skips others. Also returns the last record's number.
    pub fn outgoing(&self, limit: u64) -> anyhow::Result<(Vec<SharedRecord>, Option<u64>)> {
        let waiting = self.memory.outbox(limit)?;
        let last = waiting.last().map(|(number, _)| *number);
        let named = waiting.into_iter().filter_map(|(_, mut record)| {
            record.project = self.names.shared(&record.project)?;
            Some(without_nul(record))
        });
        Ok((named.collect(), last))
    }

    pub fn sent(&mut self, last: u64) -> anyhow::Result<()> {
        Ok(self.memory.sent(last)?)
    }

    pub fn take(&mut self, log: &str, rows: Vec<LogRow>) -> anyhow::Result<Taken> {
        let Some(position) = rows.last().map(|row| row.position) else {
            return Ok(Taken::default());
        };
        let masker = self.config.secrets.secrecy()?.masker;
        let count = rows.len();
        let accepted: Vec<Arrived> = rows
            .into_iter()
            .filter_map(|row| arrival::accepted(row, &masker))
            .map(|mut arrived| {
                arrived.record.project = self.names.own(&arrived.record.project);
                arrived
            })
            .collect();
        let refused = (count - accepted.len()) as u64;
        let new = self.memory.take(&accepted, (log, position), self.now)?;
        Ok(Taken { new, refused })
    }

    /// Updates the files that hooks read after records arrived.
    pub fn settle(&mut self) -> anyhow::Result<()> {
        for (shared, own) in self.names.all() {
            self.memory.rename_project(shared, own)?;
        }
        for project in self.memory.all_projects()? {
            usage::refresh_corrections(&self.paths, &self.memory, Path::new(&project))?;
        }
        Ok(())
    }

    pub fn keep(&self, problem: Option<String>) -> anyhow::Result<()> {
        LastExchange::keep(&self.paths, problem, self.now)
    }

    /// Returns the file whose lock allows one exchange at a time.
    pub fn lock_file(&self) -> PathBuf {
        self.paths.sync_lock()
    }
}

/// Strips NUL, which `PostgreSQL` does not store and the output of tools may have.
fn without_nul(record: SharedRecord) -> SharedRecord {
    fn strip(value: &mut Value) {
        match value {
            Value::String(text) => text.retain(|c| c != '\0'),
            Value::Array(values) => values.iter_mut().for_each(strip),
            Value::Object(fields) => fields.values_mut().for_each(strip),
            _ => {}
        }
    }
    let Ok(mut value) = serde_json::to_value(&record) else {
        return record;
    };
    strip(&mut value);
    serde_json::from_value(value).unwrap_or(record)
}
