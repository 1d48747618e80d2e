//! The address of the database and its password, from wherever the user keeps it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::config::Config;
use crate::env::{Env, name};
use crate::fsx;

const MAX_PASSWORD: u64 = 4 << 10;

pub struct Login {
    /// An address of `PostgreSQL`: `postgres://role@host/database`.
    pub url: String,
    pub password: Option<String>,
    /// The file with the trusted certificates, if they are not the system's.
    pub root_certificates: Option<PathBuf>,
}

impl Login {
    pub(super) fn of(config: &Config) -> anyhow::Result<Option<Self>> {
        let settings = &config.memory;
        let env = Env::from_process();
        let Some(url) = url(&env, config) else {
            return Ok(None);
        };
        let password = match (
            text(&env, name::PGPASSWORD),
            &settings.password_file,
            settings.password_command.split_first(),
        ) {
            (Some(password), ..) => Some(password),
            (None, Some(file), _) => Some(in_file(file)?),
            (None, None, Some((program, arguments))) => Some(said_by(program, arguments)?),
            (None, None, None) => None,
        };
        Ok(Some(Self {
            url,
            password,
            root_certificates: env.path(name::PGSSLROOTCERT),
        }))
    }
}

pub(super) fn url(env: &Env, config: &Config) -> Option<String> {
    text(env, name::MEMORY_URL).or_else(|| config.memory.url.clone())
}

fn text(env: &Env, name: &str) -> Option<String> {
    env.os(name)
        .map(|value| value.to_string_lossy().into_owned())
}

fn in_file(file: &Path) -> anyhow::Result<String> {
    let bytes = fsx::read(file, MAX_PASSWORD)?;
    first_line(&bytes).with_context(|| format!("no password in {}", file.display()))
}

fn said_by(program: &str, arguments: &[String]) -> anyhow::Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("could not run memory.password_command")?;
    if !output.status.success() {
        bail!("could not run memory.password_command: {}", output.status);
    }
    first_line(&output.stdout).context("memory.password_command has printed nothing")
}

fn first_line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().next()?.trim_end();
    (!line.is_empty()).then(|| line.to_owned())
}
