//! `playbook config`: shows and changes settings one by one.

use super::args::{ConfigAction, ConfigArgs};
use super::output::DIM;
use super::prelude::*;
use super::worker;
use crate::account::address::without_secret;
use crate::backend::{BackendName, BaseUrl, Fixtures};
use crate::config::{self, BackendChoice, Config, SetError, SettingKey, SettingSource};
use crate::paths::project_config_file;
use crate::prepare;
use crate::queue::ask;
use crate::redact::{self, Masker};
use reqwest::Url;

/// The keys that hold an address, each with the backend that uses it.
const ADDRESSES: [(&str, BackendName); 2] = [
    ("anthropic.base_url", BackendName::Anthropic),
    ("openai.base_url", BackendName::Openai),
];
const NOTHING_CHANGED: &str =
    "nothing was changed; `docs/configuration.md` says what each key may be";

/// Shows or changes settings; works also if the file cannot be used.
pub(super) fn run(args: &ConfigArgs) -> anyhow::Result<()> {
    let (mut place, _) = NamedSession::examine(args.project.as_deref())?;
    if let ConfigAction::Set { .. } | ConfigAction::Unset { .. } = args.action {
        agent::refuse(&place.env, "what the settings say")?;
    }
    match &args.action {
        ConfigAction::List => list(&place, args.json),
        ConfigAction::Get { key } => get(&place, key, args.json),
        ConfigAction::Set { key, value } => set(&mut place, key, value, args.json),
        ConfigAction::Unset { key } => unset(&mut place, key, args.json),
        ConfigAction::Path => path(&place, args.json),
        ConfigAction::Check => check(&place, args.json),
        ConfigAction::Reference if args.json => Err(Hinted::error(
            "the reference of the settings is Markdown".to_owned(),
            "`playbook config list --json` has each key with its values and its words",
        )),
        ConfigAction::Reference => {
            let reference = config::reference();
            Ok(output::whole(format_args!("{}", reference.trim_end()))?)
        }
    }
}

fn file(place: &NamedSession, source: SettingSource) -> Option<PathBuf> {
    match source {
        SettingSource::Default => None,
        SettingSource::User => Some(place.paths.config_file()),
        SettingSource::Project => Some(project_config_file(&place.project)),
    }
}

fn list(place: &NamedSession, as_json: bool) -> anyhow::Result<()> {
    state_guard::check_settings(&place.paths)?;
    let (config, keys) = config::with_sources(&place.paths, &place.project)?;
    let settings = keys.iter().map(|(key, source)| {
        let mut value = described(place, &config, key, *source);
        if !as_json {
            value["shown"] = shown(&config, key).into();
        }
        value
    });
    let answer = json!({ "settings": settings.collect::<Vec<_>>() });
    answer::give(as_json, include_str!("screens/config.txt"), answer)
}

fn described(
    place: &NamedSession,
    config: &Config,
    key: &SettingKey,
    source: SettingSource,
) -> Value {
    json!({
        "key": key.name,
        "value": value(config, key),
        "default": value(&Config::default(), key),
        "set_in": file(place, source),
        "values": key.kind(),
        "doc": key.doc.split_whitespace().collect::<Vec<_>>().join(" "),
    })
}

/// Returns a key's value as JSON, with secrets masked; null if it is unset.
fn value(config: &Config, key: &SettingKey) -> Value {
    let parse = |text: String| {
        let mut table: toml::Table = format!("value = {text}").parse().ok()?;
        serde_json::to_value(table.remove("value")?).ok()
    };
    match key.shown(config).and_then(parse).unwrap_or_default() {
        // A word of it may be the password itself: `echo hunter2`.
        Value::Array(mut words) if key.name == "memory.password_command" => {
            for word in words.iter_mut().skip(1) {
                *word = "[masked]".into();
            }
            Value::Array(words)
        }
        value => masked(value),
    }
}

fn masked(value: Value) -> Value {
    match value {
        Value::String(text) if text.contains("://") => without_secret(&text).into(),
        Value::String(text) => redact::mask(&text).into_owned().into(),
        Value::Array(items) => items.into_iter().map(masked).collect(),
        value => value,
    }
}

fn shown(config: &Config, key: &SettingKey) -> String {
    match toml::Value::try_from(value(config, key)) {
        Ok(value) => value.to_string(),
        Err(_) => "unset".to_owned(),
    }
}

fn find(name: &str) -> anyhow::Result<&'static SettingKey> {
    config::find_key(name).map_err(anyhow::Error::msg)
}

fn get(place: &NamedSession, name: &str, as_json: bool) -> anyhow::Result<()> {
    let key = find(name)?;
    state_guard::check_settings(&place.paths)?;
    let (config, keys) = config::with_sources(&place.paths, &place.project)?;
    let mut keys = keys.iter().filter(|(other, _)| other.name == key.name);
    let source = keys
        .next()
        .map_or(SettingSource::Default, |(_, source)| *source);
    if as_json {
        return output::json(&described(place, &config, key, source));
    }
    // The form for scripts: a text without quotes, nothing for an unset key.
    match value(&config, key) {
        Value::Null => Ok(()),
        Value::String(text) => Ok(output::whole(format_args!("{}", plain(&text)))?),
        value => Ok(output::whole(format_args!("{value}"))?),
    }
}

fn set(place: &mut NamedSession, name: &str, value: &str, as_json: bool) -> anyhow::Result<()> {
    let key = find(name)?;
    state_guard::check_settings(&place.paths)?;
    let file = place.paths.config_file();
    if let Some((_, backend)) = ADDRESSES.iter().find(|(key, _)| *key == name) {
        // Other errors in the file are reported by the write.
        let config = config::load(&file).unwrap_or_default();
        let url = value.trim().trim_matches(['"', '\'']);
        // The flaw does not repeat a password.
        BaseUrl::parse(url, ask::plain(*backend, &config))
            .map_err(|flaw| Hinted::error(format!("`{name}`: {flaw}"), NOTHING_CHANGED))?;
    }
    config::set(&file, key, value).map_err(|error| match error {
        SetError::File(error) => anyhow::Error::new(error),
        SetError::Value(why) => Hinted::error(why, NOTHING_CHANGED),
    })?;
    changed(place, name)?;
    if as_json {
        return get(place, name, true);
    }
    let config = config::load(&file)?;
    let shown = shown(&config, key);
    say!("{name} = {}  {DIM}{}{DIM:#}", plain(&shown), file.display());
    Ok(())
}

/// Puts a changed setting into effect.
fn changed(place: &mut NamedSession, name: &str) -> anyhow::Result<()> {
    prepare::ready(&place.paths, &place.project, place.env.clock().now());
    if !["memory.url", "memory.not_shared"].contains(&name) {
        return Ok(());
    }
    place.config = config::load(&place.paths.config_file()).unwrap_or_default();
    if sharing::is_wanted(&place.env, &place.config)
        && let Some(mut memory) = place.memory()?
    {
        let count = usize::try_from(memory.send_all()?)?;
        let records = output::counted(count, "record");
        output::note(&format!("to be copied to the database: {records}"));
        worker::send(place);
    }
    Ok(())
}

fn unset(place: &mut NamedSession, name: &str, as_json: bool) -> anyhow::Result<()> {
    state_guard::check_settings(&place.paths)?;
    let file = place.paths.config_file();
    let removed = config::unset(&file, name)?;
    if !removed {
        find(name)?;
    }
    changed(place, name)?;
    let answer = json!({"key": name, "removed": removed, "file": file});
    answer::give(as_json, include_str!("screens/unset.txt"), answer)
}

fn path(place: &NamedSession, as_json: bool) -> anyhow::Result<()> {
    let shown = |path: PathBuf| path.to_string_lossy().into_owned();
    let answer = json!({
        "user": file(place, SettingSource::User).map(shown),
        "project": file(place, SettingSource::Project).map(shown),
    });
    answer::give(as_json, "{{ user }}", answer)
}

fn check(place: &NamedSession, as_json: bool) -> anyhow::Result<()> {
    let breach = state_guard::check_settings(&place.paths).err();
    let mut problems: Vec<String> = breach.iter().map(ToString::to_string).collect();
    problems.extend(self::problems(place));
    let ok = problems.is_empty();
    let notes = notes(place);
    let mut answer = json!({"ok": ok, "problems": problems, "notes": notes});
    if !as_json {
        let files = [SettingSource::User, SettingSource::Project].into_iter();
        let files = files.filter_map(|source| file(place, source));
        answer["files"] = files
            .map(|file| json!({"path": file, "is_there": file.exists()}))
            .collect();
    }
    answer::give(as_json, include_str!("screens/check.txt"), answer)?;
    if ok {
        return Ok(());
    }
    Err(Hinted::error(
        format!("{} of the settings cannot be used", problems.len()),
        "correct the lines, or remove them to get the defaults; until then jobs wait",
    ))
}

/// Describes settings that have no effect any more but are accepted.
pub(super) fn notes(session: &NamedSession) -> Vec<String> {
    let sources = [SettingSource::User, SettingSource::Project];
    let gone = sources.into_iter().flat_map(|source| {
        let file = file(session, source);
        file.map_or_else(Vec::new, |file| config::gone(&file))
    });
    let config = config::for_project(&session.paths, &session.project).unwrap_or_default();
    let rules = Masker::unknown_rules(&config.secrets.off).into_iter();
    let rules = rules.map(|id| {
        let id = redact::mask(id);
        format!("`secrets.off`: there is no rule `{id}` any more")
    });
    rules.chain(gone.map(|gone| gone.text)).collect()
}

pub(super) fn problems(session: &NamedSession) -> Vec<String> {
    let (paths, project) = (&session.paths, &session.project);
    let (mut config, file) = (Config::default(), paths.config_file());
    let user = config::load_user(&mut config, &file);
    let own = config::load_project(&mut config, &project_config_file(project));
    let errors = [user.err(), own.err()].into_iter().flatten();
    let mut found: Vec<String> = errors.flat_map(|error| error.all()).collect();
    let mut flawed = |key: &str, flaw: String| {
        found.push(config::at_key(&file, key, &format!("`{key}`: {flaw}")));
    };
    let addresses = [&config.anthropic.base_url, &config.openai.base_url];
    for ((key, backend), url) in ADDRESSES.iter().zip(addresses) {
        let plain = ask::plain(*backend, &config);
        let flaw = url
            .as_ref()
            .and_then(|url| BaseUrl::parse(url, plain).err());
        if let Some(flaw) = flaw {
            flawed(key, flaw.to_string());
        }
    }
    let lacks_model = config.top.backend == BackendChoice::Openai && config.openai.model.is_none();
    if lacks_model && session.env.get(name::OWN_MODEL).is_none() {
        let flaw = "\"openai\" needs `openai.model`: the server's name for the model";
        flawed("backend", flaw.to_owned());
    }
    if config
        .memory
        .url
        .as_deref()
        .is_some_and(|url| !is_database(url))
    {
        let flaw = "not an address such as postgres://user@host/database";
        flawed("memory.url", flaw.to_owned());
    }
    if let Some(replies) = &config.fixtures.path
        && let Err(flaw) = Fixtures::load(&paths.beside_config(replies))
    {
        flawed("fixtures.path", flaw.to_string());
    }
    found
}

/// Returns `true` for an address of `PostgreSQL` that names a host, or a socket in its query.
fn is_database(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| {
        let names_host = url.has_host() || url.query_pairs().any(|(key, _)| key == "host");
        ["postgres", "postgresql"].contains(&url.scheme()) && names_host
    })
}
