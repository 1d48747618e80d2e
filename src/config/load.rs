//! From the text of a settings file to settings, or to an error with file and line.

use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::choices::BackendChoice;
use super::define::{KeyScope, SettingKey, TOP, full_name};
use super::gone::{self, GoneSetting};
use super::keys::{Config, KEYS};
use super::nearest;
use super::value::mismatch;
use crate::fsx::{self, FsError};
use crate::paths::{Paths, project_config_file};

pub(super) const MAX_CONFIG: u64 = 1 << 20;

/// A settings file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] FsError),
    /// The file says something we do not understand.
    #[error("{}:{line}: {what}", file.display())]
    Content {
        file: PathBuf,
        line: usize,
        /// What is wrong, with the key's name.
        what: String,
    },
}

/// A key, and where its value comes from.
pub(crate) type Sourced = (&'static SettingKey, SettingSource);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingSource {
    Default,
    User,
    Project,
}

/// The settings that hold for a project: the user's with the project's own laid over them.
pub(crate) fn for_project(paths: &Paths, project: &Path) -> Result<Config, ConfigError> {
    with_sources(paths, project).map(|(config, _)| config)
}

/// As [`for_project`], with where each key's value comes from, in the order of [`KEYS`].
pub(crate) fn with_sources(
    paths: &Paths,
    project: &Path,
) -> Result<(Config, Vec<Sourced>), ConfigError> {
    let mut config = Config::default();
    let user = apply(&mut config, &paths.config_file(), KeyScope::User)?;
    let own = apply(
        &mut config,
        &project_config_file(project),
        KeyScope::Project,
    )?;
    let source = |key: &SettingKey| match key.name() {
        name if own.set.contains(&name) => SettingSource::Project,
        name if user.set.contains(&name) => SettingSource::User,
        _ => SettingSource::Default,
    };
    Ok((config, KEYS.iter().map(|key| (key, source(key))).collect()))
}

/// The settings for a project, or why they cannot be used; `None` when reflection is
/// switched off there. What a readable file says of that is not undone by the other's
/// mistake.
pub(crate) fn unless_switched_off(
    paths: &Paths,
    project: &Path,
) -> Option<Result<Config, ConfigError>> {
    let user = load(&paths.config_file());
    let user_says_off = user.as_ref().is_ok_and(|config| !config.reflection.enabled);
    let (mut config, broken) = match user {
        Ok(config) => (config, None),
        Err(error) => (Config::default(), Some(error)),
    };
    let own = load_project(&mut config, &project_config_file(project));
    let is_off = match own {
        Ok(()) => !config.reflection.enabled,
        Err(_) => user_says_off,
    };
    let settings = match broken {
        Some(error) => Err(error),
        None => own.map(|()| config),
    };
    (!is_off).then_some(settings)
}

/// Reads the user's settings; a missing file means the defaults.
pub fn load(file: &Path) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    apply(&mut config, file, KeyScope::User)?;
    Ok(config)
}

/// Lays a project's own settings over the user's; a missing file changes nothing.
///
/// Keys that could send data elsewhere or cost money are errors there.
pub fn load_project(config: &mut Config, file: &Path) -> Result<(), ConfigError> {
    apply(config, file, KeyScope::Project).map(drop)
}

/// Finds the settings that are gone in a file of the user's or of a project.
pub(crate) fn gone(file: &Path, by: SettingSource) -> Vec<GoneSetting> {
    let by = match by {
        SettingSource::Project => KeyScope::Project,
        SettingSource::User | SettingSource::Default => KeyScope::User,
    };
    let read = apply(&mut Config::default(), file, by);
    read.map_or_else(|_| Vec::new(), |read| read.gone)
}

#[derive(Debug, Default)]
pub(super) struct KeysOfFile {
    /// The names of those that it sets.
    set: Vec<String>,
    gone: Vec<GoneSetting>,
}

fn apply(config: &mut Config, file: &Path, by: KeyScope) -> Result<KeysOfFile, ConfigError> {
    match fsx::read_if_there(file, MAX_CONFIG)? {
        Some(bytes) => apply_bytes(config, file, &bytes, by),
        None => Ok(KeysOfFile::default()),
    }
}

pub(super) fn apply_bytes(
    config: &mut Config,
    file: &Path,
    bytes: &[u8],
    by: KeyScope,
) -> Result<KeysOfFile, ConfigError> {
    let text = String::from_utf8_lossy(bytes);
    let at = |offset: usize, what: String| ConfigError::Content {
        file: file.to_owned(),
        line: 1 + text.bytes().take(offset).filter(|b| *b == b'\n').count(),
        what,
    };
    let mut all_gone = Vec::new();
    if let Err(error) = std::str::from_utf8(bytes) {
        return Err(at(error.valid_up_to(), "is not UTF-8".to_owned()));
    }
    let table = DeTable::parse(&text)
        .map_err(|e| at(e.span().map_or(0, |s| s.start), e.message().to_owned()))?;
    let mut seen = Vec::new();
    let mut set = |section: &str, key: &str, value: &DeValue<'_>, offset: usize| {
        let name = full_name(section, key);
        if let Some((name, instead)) = gone::find(&name) {
            let what = format!("`{name}` has no effect any more: {instead}; remove the line");
            let text = at(offset, what).to_string();
            all_gone.push(GoneSetting { name, text });
            return Ok(());
        }
        seen.push((name, offset));
        one(config, section, key, value, by).map_err(|what| at(offset, what))
    };
    for (name, value) in table.get_ref() {
        let offset = name.span().start;
        let name = name.get_ref();
        let is_section = KEYS.iter().any(|key| key.parts().0 == Some(name));
        match value.get_ref() {
            DeValue::Table(_) if !is_section => {
                let what = match nearest::key(name) {
                    Ok(_) => format!("`{name}` must be a value, not a table"),
                    Err(unknown) => unknown,
                };
                return Err(at(offset, what));
            }
            DeValue::Table(section) => {
                for (key, value) in section {
                    set(name, key.get_ref(), value.get_ref(), key.span().start)?;
                }
            }
            value if is_section => {
                let what = format!("`{name}` {}", mismatch("a table", value));
                return Err(at(offset, what));
            }
            value => set(TOP, name, value, offset)?,
        }
    }
    if let Some((name, what)) = contradiction(config) {
        let offset = seen.iter().find(|(seen, _)| seen == name);
        return Err(at(offset.map_or(0, |(_, offset)| *offset), what.to_owned()));
    }
    Ok(KeysOfFile {
        set: seen.into_iter().map(|(name, _)| name).collect(),
        gone: all_gone,
    })
}

fn one(
    config: &mut Config,
    section: &str,
    key: &str,
    value: &DeValue<'_>,
    by: KeyScope,
) -> Result<(), String> {
    let name = full_name(section, key);
    let known = nearest::key(&name)?;
    if by == KeyScope::Project && known.scope == KeyScope::User {
        return Err(format!(
            "`{name}` cannot be set by a project; it belongs in the user's config.toml"
        ));
    }
    let set = config.set(section, key, value, by);
    set.map_err(|why| format!("`{name}` {why}"))
}

/// Values that are well each by itself and wrong together: the key to blame, and why.
fn contradiction(config: &Config) -> Option<(&'static str, &'static str)> {
    let lacks_file =
        config.top.backend == BackendChoice::Fixtures && config.fixtures.path.is_none();
    lacks_file.then_some((
        "backend",
        "`backend` is \"fixtures\", which needs `fixtures.path`: the file of recorded replies",
    ))
}

#[cfg(test)]
mod tests;
