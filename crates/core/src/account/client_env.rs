//! The account variables as Claude Code has them in a project: those of the process, overridden by
//! the `env` of its settings. Commands that a setting names are never run.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::login;
use crate::env::{Env, name};
use crate::fsx;
use crate::paths::{MANAGED, Paths};

const MAX_SETTINGS: u64 = 4 << 20;

const PROVIDERS: [(&str, &str); 3] = [
    ("CLAUDE_CODE_USE_BEDROCK", "Amazon Bedrock"),
    ("CLAUDE_CODE_USE_VERTEX", "Google Vertex AI"),
    ("CLAUDE_CODE_USE_FOUNDRY", "Microsoft Foundry"),
];

/// Prefixes of variables that only a provider needs.
const OF_PROVIDER: &str = "
    CLAUDE_CODE_USE_ CLAUDE_CODE_SKIP_ ANTHROPIC_BEDROCK_ ANTHROPIC_VERTEX_ ANTHROPIC_FOUNDRY_
    ANTHROPIC_AWS_ ANTHROPIC_DEFAULT_ ANTHROPIC_SMALL_FAST_ ANTHROPIC_AUTH_TOKEN AWS_ GOOGLE_
    GCLOUD_ CLOUDSDK_ CLOUD_ML_ VERTEX_ AZURE_
";

/// Prefixes of other variables that decide who is asked, and how.
const OF_ACCOUNT: &str = "
    ANTHROPIC_ AGENTIC_CONTEXT_ CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_CLIENT_ NODE_EXTRA_CA_CERTS
    HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
";

/// Leaves out credentials that change every hour: they do not make another account.
const NAMES_ACCOUNT: &str = "
    CLAUDE_CODE_USE_ ANTHROPIC_BEDROCK_ ANTHROPIC_VERTEX_ ANTHROPIC_FOUNDRY_ AWS_PROFILE AWS_REGION
    CLOUD_ML_REGION
";

fn begins(name: &str, beginnings: &str) -> bool {
    let mut beginnings = beginnings.split_whitespace();
    beginnings.any(|beginning| name.starts_with(beginning))
}

pub fn is_of_provider(name: &str) -> bool {
    begins(name, OF_PROVIDER)
}

fn is_of_account(name: &str) -> bool {
    is_of_provider(name) || begins(name, OF_ACCOUNT)
}

pub fn provider(env: &Env) -> Option<(&'static str, &'static str)> {
    PROVIDERS.into_iter().find(|(switch, _)| env.is_on(switch))
}

/// `Debug` hides both the variables and the files that set them.
#[derive(Clone, Default)]
pub struct ClientEnv {
    pub vars: Env,
    /// The folder with the client's login.
    pub folder: PathBuf,
    /// The settings that count, in ascending precedence.
    settings: Vec<Settings>,
    /// The project's settings file that names an account although Claude Code has no record that
    /// the user accepted the folder. Its settings are not used.
    pub unaccepted: Option<String>,
    /// Set where the environment already holds values of such settings. The client took them
    /// anyway, as with `-p`, and hid the user's own variables.
    pub is_barred: bool,
}

#[derive(Clone)]
struct Settings {
    /// The file's path for display, with `~` for the home folder.
    place: String,
    env: BTreeMap<String, String>,
    helper: Option<String>,
}

impl ClientEnv {
    /// Reads the settings of the user, of an accepted project and of the administrator.
    pub fn of(env: &Env, paths: &Paths, project: Option<&Path>) -> Self {
        Self::managed_in(Path::new(MANAGED), env, paths, project)
    }

    pub fn managed_in(folder: &Path, env: &Env, paths: &Paths, project: Option<&Path>) -> Self {
        let read = |file: &PathBuf| Settings::read(file, paths);
        let user = paths.client_settings();
        let mut settings: Vec<_> = read(&user).into_iter().collect();
        let managed: Vec<_> = Paths::managed_settings(folder)
            .iter()
            .filter_map(read)
            .collect();
        let own = project.into_iter().flat_map(|project| {
            let files = ["settings.json", "settings.local.json"];
            files.map(|file| project.join(".claude").join(file))
        });
        let mut own: Vec<_> = own
            .filter(|file| *file != user)
            .filter_map(|file| read(&file))
            .collect();
        let mut client = Self {
            folder: paths.client().to_owned(),
            ..Self::default()
        };
        if !own.is_empty() && !project.is_some_and(|it| login::has_accepted(env, paths, it)) {
            let said = own.iter().flat_map(|own| &own.env);
            let mut taken = said.filter(|(name, value)| env.get(name) == Some(value));
            client.is_barred = taken.any(|(name, value)| {
                let mut trusted = settings.iter().chain(&managed);
                !trusted.any(|settings| settings.env.get(name) == Some(value))
            });
            client.unaccepted = own.pop().map(|own| own.place);
            own.clear();
        }
        settings.extend(own.into_iter().chain(managed));
        let is_left = |name: &str| !(client.is_barred && is_of_account(name));
        let vars = env
            .pairs()
            .filter(|(name, _)| name.to_str().is_none_or(is_left));
        let set = settings.iter().flat_map(|settings| settings.env.clone());
        let set = set.map(|(name, value)| (name.into(), value.into()));
        client.vars = Env::from_pairs(vars.chain(set));
        Self { settings, ..client }
    }

    /// Returns `None` where the process environment sets it.
    pub fn place(&self, variable: &str) -> Option<&str> {
        let mut settings = self.settings.iter().rev();
        let settings = settings.find(|settings| settings.env.contains_key(variable))?;
        Some(&settings.place)
    }

    /// Returns the command of `apiKeyHelper`, which only the client may run, and the file that
    /// names it.
    pub fn helper(&self) -> Option<(&str, &str)> {
        let mut settings = self.settings.iter().rev();
        settings.find_map(|settings| Some((settings.helper.as_deref()?, &*settings.place)))
    }

    /// Returns what distinguishes accounts of the client apart from its login.
    pub(super) fn identity(&self) -> String {
        let has_provider = provider(&self.vars).is_some();
        let names = |name: &str| {
            name == name::CUSTOM_HEADERS || has_provider && begins(name, NAMES_ACCOUNT)
        };
        let pairs = self
            .vars
            .pairs()
            .filter(|(name, _)| name.to_str().is_some_and(names));
        // The order differs between processes; of two equal names the last counts.
        let pairs: BTreeMap<_, _> = pairs.collect();
        let mut identity = String::new();
        for text in pairs.into_iter().flat_map(|(name, value)| [name, value]) {
            identity.extend(["\n", &text.to_string_lossy()]);
        }
        identity + self.helper().unwrap_or_default().0
    }
}

impl fmt::Debug for ClientEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientEnv").finish_non_exhaustive()
    }
}

impl Settings {
    fn read(file: &Path, paths: &Paths) -> Option<Self> {
        let json: Value = fsx::read_json(file, MAX_SETTINGS)?;
        let env = json["env"].as_object().into_iter().flatten();
        let env = env.filter(|(name, _)| is_of_account(name));
        let env: BTreeMap<_, _> = env
            .filter(|(_, value)| value.is_string() || value.is_number() || value.is_boolean())
            .map(|(name, value)| {
                (
                    name.clone(),
                    value.as_str().map_or(value.to_string(), str::to_owned),
                )
            })
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
