//! The variables and the clock of the process, read once.
//!
//! All other code receives values. [`name`] lists every variable.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::SystemTime;

use jiff::Timestamp;

use crate::rfc3339;

pub mod name {
    /// The folder of `config.toml` and `templates/`.
    pub const CONFIG_DIR: &str = "PLAYBOOK_CONFIG_DIR";
    /// The folder of spool, logs and memory.
    pub const STATE_DIR: &str = "PLAYBOOK_STATE_DIR";
    /// `1` switches everything off; needs no configuration.
    pub const DISABLE: &str = "PLAYBOOK_DISABLE";
    /// Set in our worker and its children: a hook that sees it does nothing.
    pub const WORKER: &str = "PLAYBOOK_WORKER";
    /// `1` keeps hooks from starting a worker.
    pub const NO_WORKER: &str = "PLAYBOOK_NO_WORKER";
    /// Stops the clock at a time: RFC 3339 or seconds since 1970.
    pub const NOW: &str = "PLAYBOOK_NOW";
    /// The folder for masked prompts and replies: the diagnostic mode.
    pub const DEBUG: &str = "PLAYBOOK_DEBUG";
    /// The client's configuration folder, instead of `~/.claude`.
    pub const CLAUDE_CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";
    /// The folder a session was started in, set by the client for hooks.
    pub const CLAUDE_PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";
    /// The client's process id, set by the client for hooks.
    pub const CLAUDE_PID: &str = "CLAUDE_PID";
    /// The client's entry point, set by it for hooks: `cli` in a terminal, `sdk-cli` for `-p`.
    pub(crate) const ENTRYPOINT: &str = "CLAUDE_CODE_ENTRYPOINT";
    /// Set by the client for hooks: `1` where a user is at a terminal, `0` for `-p`.
    pub const ATTENDED: &str = "CLAUDE_CODE_SESSION_ATTENDED";
    /// The client's own time limit for all SessionEnd hooks, milliseconds.
    pub const SESSION_END_TIMEOUT: &str = "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS";
    /// Set by the client for everything that the agent runs.
    pub const CLAUDECODE: &str = "CLAUDECODE";
    /// Our own key, sent as `x-api-key`.
    pub const OWN_KEY: &str = "AGENTIC_CONTEXT_API_KEY";
    /// The address of the Messages API, before the client's own variable.
    pub const OWN_BASE_URL: &str = "AGENTIC_CONTEXT_BASE_URL";
    /// The model to ask, before the client's own variable.
    pub const OWN_MODEL: &str = "AGENTIC_CONTEXT_MODEL";
    /// The client's token, sent as `Authorization: Bearer`.
    pub const AUTH_TOKEN: &str = "ANTHROPIC_AUTH_TOKEN";
    /// The client's key, sent as `x-api-key`.
    pub const API_KEY: &str = "ANTHROPIC_API_KEY";
    pub const BASE_URL: &str = "ANTHROPIC_BASE_URL";
    /// Headers of the client's requests, one `Name: value` a line.
    pub const CUSTOM_HEADERS: &str = "ANTHROPIC_CUSTOM_HEADERS";
    pub const HAIKU_MODEL: &str = "ANTHROPIC_DEFAULT_HAIKU_MODEL";
    /// The older name of [`HAIKU_MODEL`].
    pub const SMALL_FAST_MODEL: &str = "ANTHROPIC_SMALL_FAST_MODEL";
    pub const SONNET_MODEL: &str = "ANTHROPIC_DEFAULT_SONNET_MODEL";
    pub const OPUS_MODEL: &str = "ANTHROPIC_DEFAULT_OPUS_MODEL";
    /// The client's token for use without a terminal; counts as a login.
    pub const OAUTH_TOKEN: &str = "CLAUDE_CODE_OAUTH_TOKEN";
    /// Set by continuous integration: times in logs become 0.
    pub const CI: &str = "CI";
    /// The width of a screen that does not report its own.
    pub const COLUMNS: &str = "COLUMNS";
    pub const PATH: &str = "PATH";
    /// The system's settings folder, passed on to git.
    pub const XDG_CONFIG: &str = "XDG_CONFIG_HOME";
    /// The address of the database; takes precedence over the setting `memory.url`.
    pub const MEMORY_URL: &str = "PLAYBOOK_MEMORY_URL";
    /// The password for that database, as `PostgreSQL` programs read it.
    pub const PGPASSWORD: &str = "PGPASSWORD";
    /// The certificates to trust for that database, as `PostgreSQL` programs read them.
    pub const PGSSLROOTCERT: &str = "PGSSLROOTCERT";
    pub const HOME: &str = "HOME";
}

#[derive(Debug, Clone, Default)]
pub struct Env {
    /// Few variables are looked up, so a scan is quicker than a map. Of two equal names the last
    /// counts.
    vars: Vec<(OsString, OsString)>,
}

impl Env {
    pub fn from_process() -> Self {
        Self {
            vars: std::env::vars_os().collect(),
        }
    }

    pub fn from_pairs<K: Into<OsString>, V: Into<OsString>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        Self {
            vars: pairs
                .into_iter()
                .map(|(k, v)| (k.into(), v.into()))
                .collect(),
        }
    }

    /// Returns `None` also for an empty value or one that is not UTF-8.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.os(name)?.to_str()
    }

    /// Returns `None` also for an empty value.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.os(name).map(PathBuf::from)
    }

    /// Returns `None` also for an empty value.
    pub fn os(&self, name: &str) -> Option<&OsStr> {
        let mut vars = self.vars.iter().rev();
        let (_, value) = vars.find(|(of, _)| of == name)?;
        Some(value.as_os_str()).filter(|value| !value.is_empty())
    }

    pub fn pairs(&self) -> impl Iterator<Item = (OsString, OsString)> {
        self.vars.clone().into_iter()
    }

    /// Returns `true` if a switch is on: set to anything but `0`, `false`, `no` or `off`.
    pub fn is_on(&self, name: &str) -> bool {
        self.os(name).is_some_and(|v| {
            !["0", "false", "no", "off"]
                .iter()
                .any(|off| v.eq_ignore_ascii_case(off))
        })
    }

    pub fn clock(&self) -> Clock {
        match self.get(name::NOW).and_then(parse_time) {
            Some(at) => Clock::Stopped(at),
            None => Clock::Running,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    Running,
    /// A fixed time, so that a run can be repeated byte for byte.
    Stopped(Timestamp),
}

impl Clock {
    pub fn now(self) -> Timestamp {
        match self {
            Self::Running => {
                let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                // A clock that was never set starts in 1970.
                let since = since.unwrap_or_default();
                let nanoseconds = since.subsec_nanos().cast_signed();
                let seconds = i64::try_from(since.as_secs()).unwrap_or_default();
                Timestamp::new(seconds, nanoseconds).unwrap_or_default()
            }
            Self::Stopped(at) => at,
        }
    }
}

fn parse_time(text: &str) -> Option<Timestamp> {
    match text.parse::<i64>() {
        Ok(seconds) => Timestamp::from_second(seconds).ok(),
        Err(_) => rfc3339::parse(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_counts_as_unset() {
        let env = Env::from_pairs([("A", ""), ("B", "x")]);
        assert_eq!(
            (env.get("A"), env.get("B"), env.get("C")),
            (None, Some("x"), None)
        );
    }

    #[test]
    fn a_switch_is_off_when_it_says_so() {
        for (value, on) in [
            ("1", true),
            ("yes", true),
            ("0", false),
            ("False", false),
            ("", false),
        ] {
            assert_eq!(Env::from_pairs([("S", value)]).is_on("S"), on, "{value:?}");
        }
    }

    #[test]
    fn the_clock_can_be_stopped_in_two_notations() {
        let at = "2026-11-21T00:00:00Z".parse::<Timestamp>().unwrap();
        for value in [
            "2026-11-21T00:00:00Z".to_owned(),
            at.as_second().to_string(),
        ] {
            assert_eq!(
                Env::from_pairs([(name::NOW, value)]).clock(),
                Clock::Stopped(at)
            );
        }
        assert_eq!(
            Env::from_pairs([(name::NOW, "soon")]).clock(),
            Clock::Running
        );
    }
}
