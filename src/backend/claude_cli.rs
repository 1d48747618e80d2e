//! `claude -p`: the client itself as a model, paid for by its login.
//!
//! The nested client runs no hooks, tools or servers and writes no transcript. With an empty folder
//! and a small environment it cannot start our hooks again or act on what the prompt says.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tokio::process::Command;

use super::child::{self, Broken, Followers};
use super::claude_result;
use super::den::Den;
use super::message::Flaw;
use super::retry::time_left;
use super::{Ask, Backend, BackendFailure, BackendName, BackendReply, BackendResult, FailureKind};
use crate::account::{client_env, login};
use crate::env::{Env, name};
use crate::fsx::FsError;

const MAX_REPLY: usize = 8 << 20;
/// The allowance above a reply's token limit, because the client counts its thinking too.
const THINKING_TOKENS: u32 = 8_192;
const LABEL: &str = "`claude -p`";

/// The settings of the nested client, which reads no settings of the user's.
const SETTINGS: &str = r#"{"disableAllHooks":true}"#;
const ISOLATION: [&str; 13] = [
    "--setting-sources",
    "",
    "--no-session-persistence",
    "--tools",
    "",
    "--strict-mcp-config",
    "--disable-slash-commands",
    "--max-turns",
    "1",
    "--output-format",
    "json",
    "--effort",
    "low",
];

/// The variables that the client needs to find itself, its login and the network.
/// `ANTHROPIC_API_KEY` and `ANTHROPIC_AUTH_TOKEN` are left out: with one, the client would bill it
/// instead of the login. The base URL and headers stay, so requests go where the user's own client
/// sends them.
const INHERITED: &str = "
    HOME PATH USER LOGNAME SHELL TERM LANG LC_ALL LC_CTYPE TZ TMPDIR XDG_CONFIG_HOME
    XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR CLAUDE_CONFIG_DIR
    CLAUDE_CODE_OAUTH_TOKEN ANTHROPIC_BASE_URL ANTHROPIC_CUSTOM_HEADERS HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY
    http_proxy https_proxy all_proxy no_proxy NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR
    CLAUDE_CODE_CLIENT_CERT CLAUDE_CODE_CLIENT_KEY CLAUDE_CODE_CLIENT_KEY_PASSPHRASE
";

/// The `Debug` form leaves out the environment, which may hold a token.
#[derive(Clone)]
pub struct ClaudeCli {
    program: PathBuf,
    environment: Vec<(OsString, OsString)>,
    helper: Option<String>,
    limit: Duration,
}

impl ClaudeCli {
    /// Takes at most `limit` a call: by itself the client repeats refused requests for minutes. Of
    /// `environment`, usually the worker's own, the client inherits only what it needs. With a
    /// provider such as Bedrock that includes the provider's variables.
    pub fn new(
        program: PathBuf,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        limit: Duration,
    ) -> Self {
        let all = Env::from_pairs(environment);
        let has_provider = client_env::provider(&all).is_some();
        let inherited = |name: &OsStr| {
            INHERITED.split_whitespace().any(|known| known == name)
                || has_provider && name.to_str().is_some_and(client_env::is_of_provider)
        };
        Self {
            program,
            environment: all.pairs().filter(|(name, _)| inherited(name)).collect(),
            helper: None,
            limit,
        }
    }

    pub(crate) fn with_helper(self, command: Option<&str>) -> Self {
        let helper = command.map(str::to_owned);
        Self { helper, ..self }
    }

    /// Finds `claude` in the folders of a `PATH`; skips relative folders.
    pub fn find(path: &OsStr) -> Option<PathBuf> {
        login::find(path)
    }

    fn command(&self, ask: &Ask<'_>, settings: &OsStr, folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(["-p", "--settings"])
            .arg(settings)
            .args(ISOLATION)
            .args(["--system-prompt", ask.system, "--model", ask.model])
            .current_dir(folder)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env(name::WORKER, "1")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env(
                "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
                ask.max_tokens.saturating_add(THINKING_TOKENS).to_string(),
            );
        command
    }

    /// A helper's command may hold a secret: it is written to a file, not on the command line.
    fn settings(&self, den: &Den) -> Result<OsString, FsError> {
        match &self.helper {
            None => Ok(SETTINGS.into()),
            Some(helper) => den.keep_settings(&json!({
                "disableAllHooks": true, "apiKeyHelper": helper,
            })),
        }
    }

    async fn call(&self, ask: &Ask<'_>) -> Result<BackendReply, BackendFailure> {
        let limit = time_left(self.limit, ask.deadline);
        if limit.is_zero() {
            let over = Flaw::new(FailureKind::Timeout, "the time for this question is over");
            return Err(BackendFailure {
                attempts: 0,
                ..over.of(LABEL)
            });
        }
        // Removed on drop, with everything that the client left in it.
        let den = Den::make().map_err(|e| not_started("an empty folder for it", &e))?;
        let settings = self.settings(&den);
        let settings = settings.map_err(|e| not_started("its settings", &io::Error::other(e)))?;
        let command = self.command(ask, &settings, &den.room);
        let output = child::run(
            command,
            ask.prompt.as_bytes(),
            limit,
            MAX_REPLY,
            Followers::Killed,
            |client| den.note(client),
        )
        .await
        .map_err(|broken| match broken {
            Broken::NotStarted(e) => not_started(&self.program.display().to_string(), &e),
            Broken::Timeout => {
                let detail = format!("no answer within {:.1} s", limit.as_secs_f64());
                Flaw::new(FailureKind::Timeout, detail).of(LABEL)
            }
            Broken::TooLarge => {
                let detail = format!("its answer is larger than {MAX_REPLY} bytes");
                Flaw::new(FailureKind::NotAMessage, detail).of(LABEL)
            }
        })?;
        let said = String::from_utf8_lossy(&output.stdout);
        let complained = String::from_utf8_lossy(&output.stderr);
        claude_result::read(&said, &complained, output.status, ask).map_err(|flaw| flaw.of(LABEL))
    }
}

impl fmt::Debug for ClaudeCli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClaudeCli")
            .field("program", &self.program)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl Backend for ClaudeCli {
    fn name(&self) -> BackendName {
        BackendName::ClaudeCli
    }

    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> BackendResult<'a> {
        Box::pin(self.call(ask))
    }
}

fn not_started(what: &str, error: &io::Error) -> BackendFailure {
    let kind = match error.kind() {
        // The system prompt is too long for a command line or holds a NUL.
        io::ErrorKind::ArgumentListTooLong | io::ErrorKind::InvalidInput => {
            FailureKind::BadQuestion
        }
        _ => FailureKind::NotStarted,
    };
    Flaw::new(kind, format!("could not start {what}: {error}")).of(LABEL)
}
