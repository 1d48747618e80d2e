//! The client's own login: detects if `claude -p` can answer, and identifies the account.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::digest::hex;
use crate::env::{Env, name};
use crate::fsx;
use crate::paths::Paths;

const PROGRAM: &str = "claude";
/// The client's token file; on macOS the tokens are in the keychain instead.
const CREDENTIALS: &str = ".credentials.json";
const HAS_CREDENTIALS: &str = "its credentials file is there";
const HAS_ACCOUNT: &str = "its state names an account";
const CLIENT_STATE: &str = ".claude.json";
const LOGGED_IN: &str = "\"oauthAccount\"";
const MAX_STATE: u64 = 64 << 20;
/// The number of final characters of a key that the client stores to recognize it.
const KEPT_OF_KEY: usize = 20;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct State {
    custom_api_key_responses: Answers,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Projects {
    projects: BTreeMap<String, ClientProject>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClientProject {
    has_trust_dialog_accepted: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Answers {
    rejected: Vec<String>,
}

pub fn program(env: &Env) -> Option<PathBuf> {
    find(env.os(name::PATH)?)
}

/// Skips relative folders.
pub fn find(path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(PROGRAM))
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    let about = std::fs::metadata(file);
    about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// Returns the evidence that the client is logged in; `None` without any.
pub fn sign(env: &Env, paths: &Paths) -> Option<&'static str> {
    if env.os(name::OAUTH_TOKEN).is_some() {
        return Some("CLAUDE_CODE_OAUTH_TOKEN is set");
    }
    let has_credentials =
        std::fs::metadata(credentials(paths)).is_ok_and(|file| file.is_file() && file.len() > 0);
    if has_credentials {
        return Some(HAS_CREDENTIALS);
    }
    let state = fsx::read(&client_state(env, paths)?, MAX_STATE).ok()?;
    names_account(&state).then_some(HAS_ACCOUNT)
}

/// Returns `true` if the user refused this key when the client asked.
pub fn has_refused(env: &Env, paths: &Paths, key: &str) -> bool {
    let kept = key.get(key.len().saturating_sub(KEPT_OF_KEY)..);
    let answers = state::<State>(env, paths).custom_api_key_responses;
    answers.rejected.iter().any(|end| Some(&**end) == kept)
}

/// Returns `true` if the client records that the user accepted exactly this folder.
pub(super) fn has_accepted(env: &Env, paths: &Paths, folder: &Path) -> bool {
    let projects = state::<Projects>(env, paths).projects;
    let folder = folder.to_str().and_then(|folder| projects.get(folder));
    folder.is_some_and(|folder| folder.has_trust_dialog_accepted)
}

fn state<T: DeserializeOwned + Default>(env: &Env, paths: &Paths) -> T {
    let state = client_state(env, paths);
    state
        .and_then(|file| fsx::read_json(&file, MAX_STATE))
        .unwrap_or_default()
}

/// Returns a hash that changes with the login: a refused account is retried after a new one.
pub fn fingerprint(env: &Env, paths: &Paths) -> String {
    let mut hash = Sha256::new();
    let read = |path: &Path| fsx::read(path, MAX_STATE).unwrap_or_default();
    hash.update(env.get(name::OAUTH_TOKEN).unwrap_or_default());
    hash.update(read(&credentials(paths)));
    let state = client_state(env, paths)
        .map(|file| read(&file))
        .unwrap_or_default();
    hash.update([u8::from(names_account(&state))]);
    hex(&hash.finalize()[..8])
}

fn credentials(paths: &Paths) -> PathBuf {
    paths.client().join(CREDENTIALS)
}

fn client_state(env: &Env, paths: &Paths) -> Option<PathBuf> {
    let folder = match env.path(name::CLAUDE_CONFIG_DIR) {
        Some(folder) => folder,
        None => paths.home()?.to_owned(),
    };
    Some(folder.join(CLIENT_STATE))
}

/// Searches bytes: inside a JSON string the quotes would be escaped, so they are a key.
fn names_account(state: &[u8]) -> bool {
    let state = String::from_utf8_lossy(state);
    state.split(LOGGED_IN).skip(1).any(|rest| {
        let value = rest.trim_ascii_start().strip_prefix(':');
        value.is_some_and(|value| value.trim_ascii_start().starts_with('{'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::logged_in(r#"{"a":1,"oauthAccount" : {"emailAddress":"x"}}"#, true)]
    #[case::logged_out(r#"{"oauthAccount":null}"#, false)]
    #[case::never(r#"{"numStartups":3}"#, false)]
    #[case::only_spoken_of(r#"{"history":["set \"oauthAccount\": {}"]}"#, false)]
    #[case::empty("", false)]
    fn an_account_is_an_object(#[case] state: &str, #[case] names: bool) {
        assert_eq!(names_account(state.as_bytes()), names);
    }

    fn paths(home: &Path) -> (Env, Paths) {
        let env = Env::from_pairs([
            (name::CONFIG_DIR, home),
            (name::STATE_DIR, &home.join("state")),
            (name::CLAUDE_CONFIG_DIR, home),
        ]);
        let paths = Paths::resolve(&env).unwrap();
        (env, paths)
    }

    #[test]
    fn each_sign_of_a_login_is_seen_and_a_new_login_is_another_one() {
        let home = tempfile::tempdir().unwrap();
        let (env, paths) = paths(home.path());
        assert_eq!(sign(&env, &paths), None);
        let before = fingerprint(&env, &paths);
        fsx::quick(&home.path().join(CLIENT_STATE), br#"{"oauthAccount":{}}"#).unwrap();
        assert_eq!(sign(&env, &paths), Some(HAS_ACCOUNT));
        fsx::quick(&home.path().join(CREDENTIALS), b"").unwrap();
        assert_eq!(sign(&env, &paths), Some(HAS_ACCOUNT));
        fsx::quick(&home.path().join(CREDENTIALS), b"{}").unwrap();
        assert_eq!(sign(&env, &paths), Some(HAS_CREDENTIALS));
        assert_ne!(fingerprint(&env, &paths), before);
        assert_eq!(fingerprint(&env, &paths), fingerprint(&env, &paths));
    }
}
