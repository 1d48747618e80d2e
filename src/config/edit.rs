//! Sets one key in a settings file and keeps everything else as the user wrote it.

use std::path::Path;

use toml_edit::{DocumentMut, Item, Value};

use super::define::{KeyScope, SettingKey};
use super::keys::Config;
use super::load::{ConfigError, MAX_CONFIG, apply_bytes};
use crate::fsx;

#[derive(Debug, thiserror::Error)]
pub(crate) enum SetError {
    #[error(transparent)]
    File(#[from] ConfigError),
    #[error("{0}")]
    Value(String),
}

/// Keeps comments and order. A string in `value`, which the user typed, needs no quotes. The file
/// is written only if it is valid afterwards.
pub(crate) fn set(file: &Path, key: &SettingKey, value: &str) -> Result<(), SetError> {
    let old = read(file)?;
    let check = |bytes: &[u8]| apply_bytes(&mut Config::default(), file, bytes, KeyScope::User);
    // An error elsewhere is reported with its line in the file on disk.
    let before = check(&old);
    let Some(document) = parse(&old) else {
        before?;
        return Err(SetError::Value("the file is no TOML".to_owned()));
    };
    let mut why = None;
    for value in candidates(value) {
        let mut document = document.clone();
        if !put(&mut document, key, value) {
            continue;
        }
        let new = document.to_string().into_bytes();
        match check(&new) {
            Ok(_) => return write(file, &old, &new),
            Err(error) => why = why.or(Some(error)),
        }
    }
    before?;
    Err(SetError::Value(match why {
        Some(ConfigError::Content { mut mistakes }) => mistakes.remove(0).what,
        Some(error) => error.to_string(),
        None => format!("`{}` has no place in the file", key.name),
    }))
}

/// Removes any key, even of a file with other errors. Returns `false` if it is not set.
pub(crate) fn unset(file: &Path, name: &str) -> Result<bool, SetError> {
    let old = read(file)?;
    let Some(mut document) = parse(&old) else {
        apply_bytes(&mut Config::default(), file, &old, KeyScope::User)?;
        return Ok(false);
    };
    let (section, key) = name.split_once('.').unwrap_or(("", name));
    let table = match section {
        "" => document.as_item_mut().as_table_like_mut(),
        section => document.get_mut(section).and_then(Item::as_table_like_mut),
    };
    let removed = table.and_then(|table| table.remove(key));
    write(file, &old, document.to_string().as_bytes())?;
    Ok(removed.is_some())
}

fn read(file: &Path) -> Result<Vec<u8>, ConfigError> {
    Ok(fsx::read_if_there(file, MAX_CONFIG)?.unwrap_or_default())
}

fn parse(bytes: &[u8]) -> Option<DocumentMut> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

/// Returns the possible readings of a typed text: as TOML, then as a string.
fn candidates(text: &str) -> impl Iterator<Item = Value> {
    let typed = text.trim().parse::<Value>().ok();
    let string = Value::from(text);
    typed.into_iter().chain([string])
}

/// Keeps the comments around the old value. Returns `false` if the section is not a table.
fn put(document: &mut DocumentMut, key: &SettingKey, mut value: Value) -> bool {
    let (table, leaf) = match key.name.split_once('.') {
        None => (document.as_item_mut(), key.name),
        Some((section, leaf)) => {
            let section = document.entry(section);
            (section.or_insert_with(toml_edit::table), leaf)
        }
    };
    let Some(table) = table.as_table_like_mut() else {
        return false;
    };
    match table.get_mut(leaf) {
        Some(Item::Value(old)) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        _ => drop(table.insert(leaf, Item::Value(value))),
    }
    true
}

fn write(file: &Path, old: &[u8], new: &[u8]) -> Result<(), SetError> {
    if old == new {
        return Ok(());
    }
    if let Some(folder) = file.parent() {
        fsx::ensure_dir(folder).map_err(ConfigError::from)?;
    }
    Ok(fsx::durable(file, new).map_err(ConfigError::from)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::KEYS;
    use rstest::rstest;

    const WRITTEN: &str = "# mine\nbackend='rules'   # for now\n\n[retry]\n\n  # patience\n  attempts = 0x2 # two\n\n[hooks]\n";

    fn key(name: &str) -> &'static SettingKey {
        KEYS.iter().find(|key| key.name == name).unwrap()
    }

    fn edited(text: &str, name: &str, value: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/config.toml");
        if !text.is_empty() {
            fsx::ensure_dir(file.parent().unwrap()).unwrap();
            fsx::quick(&file, text.as_bytes()).unwrap();
        }
        let set = set(&file, key(name), value).map_err(|e| e.to_string());
        let after = std::fs::read_to_string(&file).unwrap_or_default();
        if set.is_err() {
            assert_eq!(after, text, "a refused change changes nothing");
        }
        set.map(|()| after)
    }

    #[rstest]
    #[case::a_word("backend", "auto", "backend='rules' ", "backend=\"auto\" ")]
    #[case::a_number("retry.attempts", "5", "attempts = 0x2 #", "attempts = 5 #")]
    #[case::beside_it("retry.base_ms", "7", " # two\n", " # two\nbase_ms = 7\n")]
    #[case::in_an_empty_section(
        "hooks.on_exit",
        "false",
        "[hooks]\n",
        "[hooks]\non_exit = false\n"
    )]
    #[case::in_a_new_section("worker.jobs", "2", "[hooks]\n", "[hooks]\n\n[worker]\njobs = 2\n")]
    fn the_rest_of_the_file_stays_as_it_was(
        #[case] name: &str,
        #[case] value: &str,
        #[case] before: &str,
        #[case] after: &str,
    ) {
        assert_eq!(
            edited(WRITTEN, name, value).unwrap(),
            WRITTEN.replace(before, after)
        );
    }

    #[rstest]
    #[case::dotted("retry.attempts = 3\n", "retry.attempts = 3\nretry.base_ms = 7\n")]
    #[case::inline(
        "retry = { attempts = 3 }\n",
        "retry = { attempts = 3 , base_ms = 7 }\n"
    )]
    #[case::no_file("", "[retry]\nbase_ms = 7\n")]
    #[case::wrong_before("[retry]\nbase_ms = -1\n", "[retry]\nbase_ms = 7\n")]
    fn every_way_to_write_a_section_is_gone_on_with(#[case] before: &str, #[case] after: &str) {
        assert_eq!(edited(before, "retry.base_ms", "7").unwrap(), after);
    }

    #[rstest]
    #[case::empty("", "anthropic.model", "", "`anthropic.model` must not be empty")]
    #[case::broken_elsewhere(
        "\natempts = 1",
        "backend",
        "rules",
        "config.toml:2: unknown key `atempts`"
    )]
    #[case::not_toml("[x", "backend", "rules", "config.toml:1: ")]
    fn what_would_not_be_valid_is_not_written(
        #[case] text: &str,
        #[case] name: &str,
        #[case] value: &str,
        #[case] says: &str,
    ) {
        let error = edited(text, name, value).unwrap_err();
        assert!(error.contains(says), "{error}");
    }

    #[test]
    fn a_key_leaves_with_its_line_whatever_else_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let text = format!("{WRITTEN}[worker]\njob = 1\n[playbook]\nsnapshots = 1\n");
        fsx::quick(&file, text.as_bytes()).unwrap();
        assert!(unset(&file, "retry.attempts").unwrap());
        assert!(unset(&file, "playbook.snapshots").unwrap());
        assert!(unset(&file, "worker.job").unwrap());
        assert!(!unset(&file, "worker.jobs").unwrap() && !unset(&file, "gate.mode").unwrap());
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            "# mine\nbackend='rules'   # for now\n\n[retry]\n\n[hooks]\n[worker]\n[playbook]\n"
        );
    }
}
