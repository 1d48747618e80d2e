//! The database of `memory.url`: the memories that it is to have, the names of projects there, and
//! its address. `playbook-server` is the only program that connects to it.

mod login;
mod names;

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::config::{self, Config};
use crate::env::Env;
use crate::errors::Signature;
use crate::fsx;
use crate::memory::{Memory, MemoryError};
use crate::paths::Paths;
use crate::reflect::remembered::Remembered;
use crate::state_guard;

pub use login::Login;
pub(crate) use names::Names;

const MAX_STANDING: u64 = 64 << 10;

/// Opens the user's memory. If the settings name a database, all that is learned waits for it.
pub(crate) fn open_memory(paths: &Paths, config: &Config) -> Result<Memory, MemoryError> {
    let secrecy = config.secrets.secrecy();
    let masker = secrecy.map(|secrecy| secrecy.masker).unwrap_or_default();
    let mut memory = Memory::open(&paths.memory_db())?.masked_by(masker);
    if is_wanted(&Env::from_process(), config) && memory.machine()?.is_none() {
        memory.send_all()?;
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

/// The result of the last attempt to write to the database.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LastSending {
    pub(crate) succeeded: Option<Timestamp>,
    pub(crate) problem: Option<String>,
}

impl LastSending {
    pub(crate) fn of(paths: &Paths) -> Self {
        fsx::read_json(&paths.sending(), MAX_STANDING).unwrap_or_default()
    }

    /// Says that records wait, and why if that is known.
    pub(crate) fn told(&self, waiting: u64) -> String {
        let what = if waiting == 1 {
            "record waits"
        } else {
            "records wait"
        };
        let why = self.problem.iter().map(|problem| format!(": {problem}"));
        let why: String = why.collect();
        format!("{waiting} {what} for the database{why}")
    }
}

/// The memories that wait for the database of `memory.url`.
#[derive(Debug)]
pub struct Sending {
    paths: Paths,
    memory: Memory,
    /// This machine's name in the database.
    machine: String,
    names: Names,
    until: u64,
    now: Timestamp,
}

impl Sending {
    pub fn open() -> anyhow::Result<Self> {
        let paths = Paths::resolve(&Env::from_process())?;
        state_guard::check(&paths)?;
        // Read before the settings: what `config set memory.url` has wait from now on is for
        // another database.
        let until = Memory::open(&paths.memory_db())?.last_unsent()?;
        let (env, paths, config) = own_surroundings()?;
        let memory = open_memory(&paths, &config)?;
        Ok(Self {
            machine: memory.machine()?.unwrap_or_default(),
            memory,
            names: Names::of(&paths, &config),
            until,
            now: env.clock().now(),
            paths,
        })
    }

    pub fn login() -> anyhow::Result<Option<Login>> {
        let paths = Paths::resolve(&Env::from_process())?;
        Login::of(&config::load(&paths.config_file())?)
    }

    pub fn machine(&self) -> &str {
        &self.machine
    }

    /// Returns the oldest memories that wait, as the database stores them, and the number of the
    /// last. Those of projects that are not shared are left out.
    pub fn outgoing(&mut self, limit: u64) -> anyhow::Result<(Vec<Value>, Option<u64>)> {
        let (waiting, last) = self.memory.outgoing(self.until, limit)?;
        let mut records = Vec::new();
        for (id, memory) in waiting {
            records.extend(match memory {
                None => Some(json!({"id": id})),
                Some((mut memory, keys)) => self.names.shared(&memory.project).map(|project| {
                    memory.project = project;
                    record(&memory, &keys)
                }),
            });
        }
        Ok((records, last))
    }

    /// Takes written memories off the list, up to a number.
    pub fn sent(&mut self, last: u64) -> anyhow::Result<()> {
        Ok(self.memory.sent(last)?)
    }

    /// Stores the result for `playbook status`.
    pub fn keep(&self, problem: Option<String>) -> anyhow::Result<()> {
        let succeeded = match problem {
            Some(_) => LastSending::of(&self.paths).succeeded,
            None => Some(self.now),
        };
        let file = self.paths.sending();
        let last = LastSending { succeeded, problem };
        Ok(fsx::quick(&file, &fsx::to_json(&file, &last)?)?)
    }

    /// Returns the file whose lock allows one sender at a time.
    pub fn lock_file(&self) -> PathBuf {
        self.paths.sending_lock()
    }
}

/// Returns a memory as the database stores it, without NUL, which `PostgreSQL` does not take and
/// the output of tools may have.
pub fn record(memory: &Remembered, keys: &[Signature]) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::String(text) => text.retain(|c| c != '\0'),
            Value::Array(values) => values.iter_mut().for_each(strip),
            Value::Object(fields) => fields.values_mut().for_each(strip),
            _ => {}
        }
    }
    let mut record = json!(memory);
    record["keys"] = json!(keys);
    strip(&mut record);
    record
}
