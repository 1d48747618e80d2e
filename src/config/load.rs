//! From the text of a settings file to settings, or to an error with file and line.

use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::keys::{Config, KEYS, Key, Scope, TOP, full_name};
use super::value::mismatch;
use crate::fsx::{self, FsError};

/// A settings file larger than this is not one.
const MAX_CONFIG: u64 = 1 << 20;
/// How many letters may be wrong for a key to be suggested.
const MAX_DISTANCE: usize = 3;

/// A settings file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] FsError),
    /// The file says something we do not understand.
    #[error("{}:{line}: {what}", file.display())]
    Content {
        /// The settings file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong, with the key's name.
        what: String,
    },
}

/// Reads the user's settings; a missing file means the defaults.
pub fn load(file: &Path) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    apply(&mut config, file, Scope::User)?;
    Ok(config)
}

/// Lays a project's own settings over the user's; a missing file changes nothing.
///
/// Keys that could send data elsewhere or cost money are errors there.
pub fn load_project(config: &mut Config, file: &Path) -> Result<(), ConfigError> {
    apply(config, file, Scope::Project)
}

fn apply(config: &mut Config, file: &Path, scope: Scope) -> Result<(), ConfigError> {
    let Some(bytes) = fsx::read_if_there(file, MAX_CONFIG)? else {
        return Ok(());
    };
    let text = String::from_utf8_lossy(&bytes);
    let at = |offset: usize, what: String| ConfigError::Content {
        file: file.to_owned(),
        line: 1 + text.bytes().take(offset).filter(|b| *b == b'\n').count(),
        what,
    };
    if std::str::from_utf8(&bytes).is_err() {
        return Err(at(0, "is not UTF-8".to_owned()));
    }
    let table = DeTable::parse(&text)
        .map_err(|e| at(e.span().map_or(0, |s| s.start), e.message().to_owned()))?;
    for (name, value) in table.get_ref() {
        let offset = name.span().start;
        match value.get_ref() {
            DeValue::Table(section) => {
                if !KEYS
                    .iter()
                    .any(|k| k.name().starts_with(&format!("{}.", name.get_ref())))
                {
                    return Err(at(offset, unknown(name.get_ref())));
                }
                for (key, value) in section {
                    one(
                        config,
                        name.get_ref(),
                        key.get_ref(),
                        value.get_ref(),
                        scope,
                    )
                    .map_err(|what| at(key.span().start, what))?;
                }
            }
            value
                if KEYS
                    .iter()
                    .any(|k| k.name().starts_with(&format!("{}.", name.get_ref()))) =>
            {
                let what = format!("`{}` {}", name.get_ref(), mismatch("a table", value));
                return Err(at(offset, what));
            }
            value => {
                one(config, TOP, name.get_ref(), value, scope).map_err(|what| at(offset, what))?;
            }
        }
    }
    Ok(())
}

fn one(
    config: &mut Config,
    section: &str,
    key: &str,
    value: &DeValue<'_>,
    scope: Scope,
) -> Result<(), String> {
    let name = full_name(section, key);
    let Some(known) = KEYS.iter().find(|k| k.name() == name) else {
        return Err(unknown(&name));
    };
    if scope == Scope::Project && known.scope == Scope::User {
        return Err(format!(
            "`{name}` cannot be set by a project; it belongs in the user's config.toml"
        ));
    }
    match config.set(section, key, value) {
        Some(set) => set.map_err(|why| format!("`{name}` {why}")),
        None => Err(unknown(&name)),
    }
}

fn unknown(name: &str) -> String {
    let nearest = KEYS
        .iter()
        .map(Key::name)
        .map(|key| (distance(name, &key), key))
        .min()
        .filter(|(distance, _)| *distance <= MAX_DISTANCE);
    match nearest {
        Some((_, key)) => format!("unknown key `{name}`; did you mean `{key}`?"),
        None => format!("unknown key `{name}`; the known ones are listed in docs/configuration.md"),
    }
}

/// Levenshtein distance of two short names.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{BackendChoice, WorkerMode};
    use rstest::rstest;

    fn file(text: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        (dir, path)
    }

    #[test]
    fn a_missing_file_means_the_defaults() {
        assert_eq!(
            load(Path::new("/nowhere/config.toml")).unwrap(),
            Config::default()
        );
    }

    #[test]
    fn what_the_file_says_counts() {
        let (_keep, path) = file(
            b"backend = \"rules\"\n[retry]\nattempts = 5\n[hooks]\non_exit = false\n[worker]\nmode = \"inline\"\n",
        );
        let config = load(&path).unwrap();
        assert_eq!(config.top.backend, BackendChoice::Rules);
        assert_eq!(config.retry.attempts, 5);
        assert_eq!(config.hooks.on_exit, Some(false));
        assert_eq!(config.worker.mode, WorkerMode::Inline);
    }

    #[rstest]
    #[case::unknown_key("x = 1\n", 1, "unknown key `x`")]
    #[case::nearest("[retry]\natempts = 1\n", 2, "did you mean `retry.attempts`?")]
    #[case::unknown_section("\n[foo]\nbar = 1", 2, "unknown key `foo`")]
    #[case::wrong_type(
        "[retry]\nattempts = \"3\"",
        2,
        "`retry.attempts` must be a whole number, not a string"
    )]
    #[case::negative("[retry]\n\nbase_ms = -1", 3, "must not be negative")]
    #[case::too_large("[retry]\nattempts = 99", 2, "must be from 1 to 10, not 99")]
    #[case::overflow("[retry]\nattempts = 99999999999", 2, "is too large")]
    #[case::not_one_of(
        "backend = \"gpt\"",
        1,
        "must be one of auto, anthropic, rules, not `gpt`"
    )]
    #[case::empty("[anthropic]\nmodel = \" \"", 2, "must not be empty")]
    #[case::section_is_a_value("retry = 1", 1, "`retry` must be a table")]
    #[case::syntax("[retry\n", 1, "")]
    fn a_mistake_is_told_with_its_line(#[case] text: &str, #[case] at: usize, #[case] says: &str) {
        let (_keep, path) = file(text.as_bytes());
        match load(&path) {
            Err(ConfigError::Content { line, what, .. }) => {
                assert_eq!(line, at, "{what}");
                assert!(what.contains(says), "{what}");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_are_an_error() {
        let (_keep, path) = file(b"backend = \"\xff\"");
        assert!(
            load(&path)
                .unwrap_err()
                .to_string()
                .ends_with("config.toml:1: is not UTF-8")
        );
    }

    #[test]
    fn a_project_cannot_send_data_elsewhere() {
        let (_keep, path) =
            file(b"[injection]\nmax_units = 500\n[anthropic]\nbase_url = \"https://evil\"\n");
        let error = load_project(&mut Config::default(), &path)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(":4: `anthropic.base_url` cannot be set by a project"),
            "{error}"
        );
    }
}
