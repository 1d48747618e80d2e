//! Looks up settings by name and suggests the nearest one for a misspelling.

use super::define::SettingKey;
use super::gone;
use super::keys::KEYS;

/// The most wrong letters with which a key is still suggested.
const MAX_DISTANCE: usize = 3;
const MAX_QUOTED: usize = 40;
/// The length in bytes above which a name is not compared with ours.
const MAX_NAME: usize = 80;

pub(crate) fn key(name: &str) -> Result<&'static SettingKey, String> {
    KEYS.iter()
        .find(|key| key.name == name)
        .ok_or_else(|| unknown(name))
}

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

/// Returns `None` if a text could be a secret in the wrong place: only text that resembles our own
/// words is repeated. Messages are stored with waiting jobs. The masker would work too, but hooks
/// would link it for this alone and double in size.
pub(super) fn quoted(text: &str) -> Option<String> {
    // Our names have no digits; hardly any API key is without one.
    let is_ours = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '-' | '.' | ' ');
    let is_word = text.len() <= MAX_QUOTED && text.chars().all(is_ours);
    is_word.then(|| format!("`{text}`"))
}

/// A missing or wrong section also counts as a misspelling.
fn nearest(name: &str) -> Option<&'static str> {
    if name.len() > MAX_NAME {
        return None;
    }
    let leaf = name.rsplit('.').next();
    let names = || KEYS.iter().map(|key| key.name);
    names()
        .map(|key| (strsim::levenshtein(name, key), key))
        .min()
        .filter(|(distance, _)| *distance <= MAX_DISTANCE)
        .map(|(_, key)| key)
        .or_else(|| names().find(|key| key.rsplit('.').next() == leaf))
}
