//! Reads settings files; errors name the file and line.

use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::choices::BackendChoice;
use super::define::{KeyScope, SettingKey, TOP};
use super::gone::{self, GoneSetting};
use super::keys::{Config, KEYS};
use super::nearest;
use super::value::type_of;
use crate::fsx::{self, FsError};
use crate::paths::{Paths, project_config_file};
use crate::redact::Masker;

const MAX_MISTAKES: usize = 100;
pub(super) const MAX_CONFIG: u64 = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error(transparent)]
    Read(#[from] FsError),
    /// The file has invalid content; the errors are in line order.
    #[error("{}", first_of(mistakes))]
    Content { mistakes: Vec<Mistake> },
}

fn first_of(mistakes: &[Mistake]) -> String {
    match mistakes {
        [] => String::new(),
        [only] => only.to_string(),
        [first, more @ ..] => {
            let more = more.len();
            format!("{first} (`playbook config check` shows {more} more)")
        }
    }
}

impl ConfigError {
    pub(crate) fn all(&self) -> Vec<String> {
        match self {
            Self::Read(error) => vec![error.to_string()],
            Self::Content { mistakes } => mistakes.iter().map(Mistake::to_string).collect(),
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{}:{line}: {what}", file.display())]
pub struct Mistake {
    file: PathBuf,
    pub(super) line: usize,
    pub(super) what: String,
}

pub(crate) type Sourced = (&'static SettingKey, SettingSource);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingSource {
    Default,
    User,
    Project,
}

/// Returns the settings for a project: the user's, overridden by the project's own.
pub(crate) fn for_project(paths: &Paths, project: &Path) -> Result<Config, ConfigError> {
    with_sources(paths, project).map(|(config, _)| config)
}

/// Also returns the source of each value, in the order of [`KEYS`].
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
    let source = |key: &SettingKey| match key.name {
        name if own.place(name).is_some() => SettingSource::Project,
        name if user.place(name).is_some() => SettingSource::User,
        _ => SettingSource::Default,
    };
    Ok((config, KEYS.iter().map(|key| (key, source(key))).collect()))
}

/// Returns `None` if reflection is switched off in either file, even if the other has an error.
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

/// Reads the user's settings; returns the defaults if there is no file.
pub fn load(file: &Path) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    load_user(&mut config, file)?;
    Ok(config)
}

/// After an error, the valid lines are applied all the same.
pub(crate) fn load_user(config: &mut Config, file: &Path) -> Result<(), ConfigError> {
    apply(config, file, KeyScope::User).map(drop)
}

/// Returns `what`, preceded by the file and the line that sets a key.
pub(crate) fn at_key(file: &Path, name: &str, what: &str) -> String {
    let line = || {
        let bytes = fsx::read_if_there(file, MAX_CONFIG).ok()??;
        let text = String::from_utf8(bytes).ok()?;
        let (table, _) = DeTable::parse_recoverable(&text);
        let mut entries = entries(table.get_ref(), &mut Vec::new()).into_iter();
        let (_, offset, _) = entries.find(|(key, ..)| key == name)?;
        Some(1 + text[..offset].matches('\n').count())
    };
    let file = file.display();
    line().map_or_else(
        || format!("{file}: {what}"),
        |line| format!("{file}:{line}: {what}"),
    )
}

/// Keys that could send data elsewhere or cost money are errors there.
pub fn load_project(config: &mut Config, file: &Path) -> Result<(), ConfigError> {
    apply(config, file, KeyScope::Project).map(drop)
}

pub(crate) fn gone(file: &Path) -> Vec<GoneSetting> {
    let read = apply(&mut Config::default(), file, KeyScope::User);
    read.map_or_else(|_| Vec::new(), |read| read.gone)
}

#[derive(Debug, Default)]
pub(super) struct KeysOfFile {
    /// Each key with its offset.
    set: Vec<(String, usize)>,
    gone: Vec<GoneSetting>,
}

impl KeysOfFile {
    fn place(&self, name: &str) -> Option<usize> {
        let mut set = self.set.iter();
        set.find_map(|(key, offset)| (key == name).then_some(*offset))
    }
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
    let at = |(offset, what): (usize, String)| Mistake {
        file: file.to_owned(),
        line: 1 + text.bytes().take(offset).filter(|b| *b == b'\n').count(),
        what,
    };
    let mut keys = KeysOfFile::default();
    let mut wrong = Vec::new();
    let mut rehearses = false;
    if let Err(error) = std::str::from_utf8(bytes) {
        wrong.push((error.valid_up_to(), "is not UTF-8".to_owned()));
    } else {
        let (table, errors) = DeTable::parse_recoverable(&text);
        let place = |e: &toml::de::Error| e.span().map_or(0, |span| span.start);
        wrong.extend(errors.iter().map(|e| (place(e), e.message().to_owned())));
        if wrong.is_empty() {
            for (name, offset, value) in entries(table.get_ref(), &mut wrong) {
                if let Some((name, instead)) = gone::find(&name, value.get_ref().as_str()) {
                    let what =
                        format!("`{name}` has no effect any more: {instead}; remove the line");
                    let text = at((offset, what)).to_string();
                    keys.gone.push(GoneSetting { name, text });
                    // Who wanted no change gets none.
                    let is_dry = name == "reflection.dry_run";
                    rehearses |= is_dry && value.get_ref().as_bool() == Some(true);
                    continue;
                }
                let set = one(config, &name, value, by);
                wrong.extend(set.err().map(|what| (offset, what)));
                keys.set.push((name, offset));
            }
            config.reflection.enabled &= !rehearses;
            for (name, what) in unusable(config) {
                wrong.push((keys.place(name).unwrap_or_default(), what));
            }
        }
    }
    wrong.sort();
    wrong.truncate(MAX_MISTAKES);
    if wrong.is_empty() {
        return Ok(keys);
    }
    let mistakes = wrong.into_iter().map(at).collect();
    Err(ConfigError::Content { mistakes })
}

/// The name of a key in a file, its offset and its value.
type Entry<'a> = (String, usize, &'a Spanned<DeValue<'a>>);

/// Returns each key of a file; adds entries of another shape to `wrong`.
fn entries<'a>(table: &'a DeTable<'a>, wrong: &mut Vec<(usize, String)>) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (name, value) in table {
        let (name, at) = (&**name.get_ref(), name.span().start);
        let is_section = name != TOP && KEYS.iter().any(|key| key.section() == name);
        let what = match value.get_ref() {
            DeValue::Table(section) if is_section => {
                let keys = section.iter();
                entries.extend(keys.map(|(key, value)| {
                    let full = format!("{name}.{}", key.get_ref());
                    (full, key.span().start, value)
                }));
                continue;
            }
            DeValue::Table(_) => match nearest::key(name) {
                Ok(_) => format!("`{name}` must be a value, not a table"),
                Err(unknown) => unknown,
            },
            other if is_section => format!("`{name}` must be a table, not {}", type_of(other)),
            _ if name.contains('.') && nearest::key(name).is_ok() => {
                format!("`{name}` must stand in its section, without quotes")
            }
            _ => {
                entries.push((name.to_owned(), at, value));
                continue;
            }
        };
        wrong.push((at, what));
    }
    entries
}

fn one(
    config: &mut Config,
    name: &str,
    value: &Spanned<DeValue<'_>>,
    by: KeyScope,
) -> Result<(), String> {
    let known = nearest::key(name)?;
    if by == KeyScope::Project && known.scope == KeyScope::User {
        return Err(format!(
            "`{name}` cannot be set by a project; it belongs in the user's config.toml"
        ));
    }
    let set = (known.set)(config, value, (known, by));
    set.map_err(|why| format!("`{name}` {why}"))
}

/// Returns the keys whose valid values cannot work, each with the reason.
fn unusable(config: &Config) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    if config.top.backend == BackendChoice::Fixtures && config.fixtures.path.is_none() {
        let what =
            "`backend` is \"fixtures\", which needs `fixtures.path`: the file of recorded replies";
        found.push(("backend", what.to_owned()));
    }
    let flaws = Masker::flaws(&config.secrets.patterns).into_iter();
    found.extend(flaws.map(|flaw| ("secrets.patterns", flaw.to_string())));
    found
}

#[cfg(test)]
mod tests;
