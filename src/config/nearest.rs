//! Which key was meant.

use super::define::SettingKey;
use super::gone;
use super::keys::KEYS;

/// The most letters that may be wrong for a key to be suggested.
const MAX_DISTANCE: usize = 3;
const MAX_QUOTED: usize = 40;
/// A longer name is not a typing error of one of ours.
const MAX_NAME: usize = 80;

/// The key of this name; the error names the nearest one.
pub(crate) fn key(name: &str) -> Result<&'static SettingKey, String> {
    KEYS.iter()
        .find(|key| key.name() == name)
        .ok_or_else(|| unknown(name))
}

/// Says that there is no key `name`, and which one is nearest.
fn unknown(name: &str) -> String {
    if let Some((name, instead)) = gone::find(name, None) {
        return format!("`{name}` has no effect any more: {instead}");
    }
    let named = quoted(name).map_or(String::new(), |name| format!(" {name}"));
    match nearest(name) {
        Some(key) => format!("unknown key{named}; did you mean `{key}`?"),
        None => format!("unknown key{named}; `playbook config list` shows the known ones"),
    }
}

/// A text of a settings file in quotes, for a message; `None` when it could be a secret that
/// was put in the wrong place: only what could be a word of ours with a mistake is repeated.
///
/// Messages are stored with the jobs that wait. (The mask would do as well, and would double
/// the size of hooks that need it for nothing else.)
pub(super) fn quoted(text: &str) -> Option<String> {
    // No name of ours has a digit, and hardly a key has none.
    let is_ours = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '-' | '.' | ' ');
    let is_word = text.len() <= MAX_QUOTED && text.chars().all(is_ours);
    is_word.then(|| format!("`{text}`"))
}

/// The known key that `name` is a misspelling of; a section left out or another one given
/// counts as one.
fn nearest(name: &str) -> Option<String> {
    if name.len() > MAX_NAME {
        return None;
    }
    let leaf = name.rsplit('.').next();
    let names = || KEYS.iter().map(SettingKey::name);
    names()
        .map(|key| (strsim::levenshtein(name, &key), key))
        .min()
        .filter(|(distance, _)| *distance <= MAX_DISTANCE)
        .map(|(_, key)| key)
        .or_else(|| names().find(|key| key.rsplit('.').next() == leaf))
}
