//! The account variables as Claude Code has them in a project: those of the process, and over
//! them the `env` of its settings. Nothing that a setting names is run.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::login;
use crate::env::{Env, name};
use crate::fsx;
use crate::paths::Paths;

const MAX_SETTINGS: u64 = 4 << 20;

/// The switches that change the whole way of asking, with the provider's name.
const PROVIDERS: [(&str, &str); 3] = [
    ("CLAUDE_CODE_USE_BEDROCK", "Amazon Bedrock"),
    ("CLAUDE_CODE_USE_VERTEX", "Google Vertex AI"),
    ("CLAUDE_CODE_USE_FOUNDRY", "Microsoft Foundry"),
];

/// The beginnings of variables that only a provider needs.
const OF_PROVIDER: &str = "
    CLAUDE_CODE_USE_ CLAUDE_CODE_SKIP_ ANTHROPIC_BEDROCK_ ANTHROPIC_VERTEX_ ANTHROPIC_FOUNDRY_
    ANTHROPIC_AWS_ ANTHROPIC_DEFAULT_ ANTHROPIC_SMALL_FAST_ ANTHROPIC_AUTH_TOKEN AWS_ GOOGLE_
    GCLOUD_ CLOUDSDK_ CLOUD_ML_ VERTEX_ AZURE_
";

/// The beginnings of other variables that say who is asked, and by which way.
const OF_ACCOUNT: &str = "
    ANTHROPIC_ AGENTIC_CONTEXT_ CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_CLIENT_ NODE_EXTRA_CA_CERTS
    HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
";

/// The beginnings of those that name an account of a provider. Credentials that change every
/// hour are not among them: they do not make another account.
const NAMES_ACCOUNT: &str = "
    CLAUDE_CODE_USE_ ANTHROPIC_BEDROCK_ ANTHROPIC_VERTEX_ ANTHROPIC_FOUNDRY_ AWS_PROFILE AWS_REGION
    CLOUD_ML_REGION
";

fn begins(name: &str, beginnings: &str) -> bool {
    let mut beginnings = beginnings.split_whitespace();
    beginnings.any(|beginning| name.starts_with(beginning))
}

/// Returns `true` for a variable that only a provider needs.
pub fn is_of_provider(name: &str) -> bool {
    begins(name, OF_PROVIDER)
}

fn is_of_account(name: &str) -> bool {
    is_of_provider(name) || begins(name, OF_ACCOUNT)
}

/// Returns the switch of a provider that is on, and the provider's name.
pub fn provider(env: &Env) -> Option<(&'static str, &'static str)> {
    PROVIDERS.into_iter().find(|(switch, _)| env.is_on(switch))
}

/// The variables in force, and where they come from. Its `Debug` form leaves them out.
#[derive(Clone, Default)]
pub struct ClientEnv {
    pub vars: Env,
    /// The client's own folder, with its login.
    pub folder: PathBuf,
    /// The settings that count, the strongest last.
    settings: Vec<Settings>,
    /// The project's settings that name an account, where Claude Code has no record that the user
    /// accepted the folder. They are not used.
    pub unaccepted: Option<String>,
    /// Set where the environment holds what those settings say: the client took them all the
    /// same, as with `-p`, and what the user's own variables were is not known any more.
    pub is_barred: bool,
}

/// One settings file of the client's.
#[derive(Clone)]
struct Settings {
    /// The file as it is shown.
    place: String,
    env: BTreeMap<String, String>,
    helper: Option<String>,
}

impl ClientEnv {
    /// Reads the settings of the user, of an accepted project and of the machine's owner.
    pub fn of(env: &Env, paths: &Paths, project: Option<&Path>) -> Self {
        let settings = |file: &Path| Settings::read(file, paths);
        let user = settings(&paths.client_settings());
        let managed = Paths::managed_settings();
        let managed: Vec<Settings> = managed.iter().filter_map(|file| settings(file)).collect();
        let mut client = Self {
            folder: paths.client().to_owned(),
            ..Self::default()
        };
        let mut taken = user.into_iter().collect::<Vec<_>>();
        let is_trusted = |own: &[Settings], name: &String, value: &String| {
            let mut trusted = own.iter().chain(&managed);
            trusted.any(|settings| settings.env.get(name) == Some(value))
        };
        for folder in folders(env, project) {
            for file in ["settings.json", "settings.local.json"] {
                let file = folder.join(".claude").join(file);
                let Some(settings) = settings(&file).filter(|_| file != paths.client_settings())
                else {
                    continue;
                };
                if login::has_accepted(env, paths, &folder) {
                    taken.push(settings);
                    continue;
                }
                let mut vars = settings.env.iter();
                client.is_barred |= vars.any(|(name, value)| {
                    env.get(name) == Some(value) && !is_trusted(&taken, name, value)
                });
                client.unaccepted = Some(settings.place);
            }
        }
        taken.extend(managed);
        let is_left = |name: &str| !(client.is_barred && is_of_account(name));
        let own = env.pairs();
        let own = own.filter(|(name, _)| name.to_str().is_none_or(is_left));
        let set = taken.iter().flat_map(|settings| settings.env.clone());
        let set = set.map(|(name, value)| (name.into(), value.into()));
        client.vars = Env::from_pairs(own.chain(set));
        client.settings = taken;
        client
    }

    /// Returns the settings file that sets a variable; `None` where the environment does.
    pub fn place(&self, variable: &str) -> Option<&str> {
        let mut settings = self.settings.iter().rev();
        let settings = settings.find(|settings| settings.env.contains_key(variable))?;
        Some(&settings.place)
    }

    /// Returns the command of `apiKeyHelper`, which is the client's to run, and the file that
    /// names it.
    pub fn helper(&self) -> Option<(&str, &str)> {
        let mut settings = self.settings.iter().rev();
        settings.find_map(|settings| Some((settings.helper.as_deref()?, &*settings.place)))
    }

    /// Returns what tells accounts of the client apart, beside its login.
    pub(super) fn identity(&self) -> String {
        let has_provider = provider(&self.vars).is_some();
        let names = self
            .vars
            .pairs()
            .filter_map(|(name, _)| name.into_string().ok());
        let names = names.filter(|name| {
            name == name::CUSTOM_HEADERS || has_provider && begins(name, NAMES_ACCOUNT)
        });
        // Two processes may have them in another order.
        let names: BTreeMap<String, &str> = names
            .filter_map(|name| Some((name.clone(), self.vars.get(&name)?)))
            .collect();
        let named = names
            .iter()
            .map(|(name, value)| format!("\n{name}={value}"));
        let helper = self.helper().map(|(command, _)| format!("\n{command}"));
        named.chain(helper).collect()
    }
}

impl fmt::Debug for ClientEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientEnv").finish_non_exhaustive()
    }
}

impl Settings {
    /// Reads what a settings file says of the account; `None` where that is nothing.
    fn read(file: &Path, paths: &Paths) -> Option<Self> {
        let json: Value = fsx::read_json(file, MAX_SETTINGS)?;
        let env = json["env"].as_object().into_iter().flatten();
        let env = env.filter(|(name, _)| is_of_account(name));
        let env: BTreeMap<_, _> = env
            .filter_map(|(name, value)| Some((name.clone(), text(value)?)))
            .collect();
        let helper = json["apiKeyHelper"].as_str().filter(|it| !it.is_empty());
        let in_home = paths.home().and_then(|home| file.strip_prefix(home).ok());
        (!env.is_empty() || helper.is_some()).then(|| Self {
            place: match in_home {
                Some(file) => format!("~/{}", file.display()),
                None => file.display().to_string(),
            },
            env,
            helper: helper.map(str::to_owned),
        })
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// The folders whose settings the client reads: the project's, and the one below it that the
/// session was started in.
fn folders(env: &Env, project: Option<&Path>) -> Vec<PathBuf> {
    let project = project.map(Path::to_owned);
    let start = env.path(name::CLAUDE_PROJECT_DIR);
    let start = start.filter(|start| {
        project
            .as_ref()
            .is_some_and(|project| start != project && start.starts_with(project))
    });
    project.into_iter().chain(start).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by the user, a project and the machine's owner, with a variable for each.
    #[test]
    fn the_strongest_settings_count_and_a_projects_only_where_it_was_accepted() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let project = at("project");
        let write = |file: &Path, json: Value| {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, json.to_string()).unwrap();
        };
        let says = |url: &str| serde_json::json!({"env": {"ANTHROPIC_BASE_URL": url, "PATH": "/evil"}, "apiKeyHelper": url});
        let env = |url: &str| {
            Env::from_pairs([
                (name::CONFIG_DIR, at("config").to_str().unwrap()),
                (name::STATE_DIR, at("state").to_str().unwrap()),
                (name::CLAUDE_CONFIG_DIR, at("client").to_str().unwrap()),
                (name::BASE_URL, url),
                (name::API_KEY, "k"),
            ])
        };
        let paths = Paths::resolve(&env("")).unwrap();
        let look = |url: &str| ClientEnv::of(&env(url), &paths, Some(&project));
        let url = |client: &ClientEnv| client.vars.get(name::BASE_URL).map(str::to_owned);

        write(
            &project.join(".claude/settings.json"),
            says("https://clone"),
        );
        let client = look("https://own");
        assert_eq!(url(&client).as_deref(), Some("https://own"));
        assert!(client.helper().is_none() && client.unaccepted.is_some() && !client.is_barred);
        let client = look("https://clone");
        assert!(client.is_barred && url(&client).is_none());
        assert_eq!(client.vars.get(name::API_KEY), None);

        write(&at("client/settings.json"), says("https://user"));
        let client = look("https://own");
        assert_eq!(url(&client).as_deref(), Some("https://user"));
        assert_eq!(client.vars.get(name::PATH), None);
        assert_eq!(client.helper().unwrap().0, "https://user");

        let accepted = serde_json::json!({"projects": {project.to_str().unwrap(): {"hasTrustDialogAccepted": true}}});
        write(&at("client/.claude.json"), accepted);
        let client = look("https://clone");
        assert_eq!(url(&client).as_deref(), Some("https://clone"));
        assert!(!client.is_barred && client.unaccepted.is_none());
        has_place(&client, "project/.claude/settings.json");
    }

    fn has_place(client: &ClientEnv, file: &str) {
        let place = client.place(name::BASE_URL).unwrap();
        assert!(place.ends_with(file), "{place}");
    }
}
