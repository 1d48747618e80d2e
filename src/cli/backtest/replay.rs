//! Past sessions, played again in a state of their own: the real hooks and the real queue
//! in a temporary folder, with the clock stopped at the times of each session.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::strike::Strike;
use crate::cli::sandbox::input;
use crate::cli::session::{NamedSession, PATIENCE};
use crate::config;
use crate::env::{Env, name};
use crate::fsx;
use crate::hook::{HookEvent, respond_from};
use crate::memory::FinishedJob;
use crate::paths::Paths;
use crate::prepare::Afresh;
use crate::queue::bootstrap;
use crate::queue::transcripts::PastTranscript;
use crate::tenant::Tenant;

/// Larger than any settings or template that are used.
const MAX_COPY: u64 = 1 << 20;

/// Who judges the sessions that are replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judge {
    /// The one that the user's settings name.
    Model,
    Rules,
}

pub(super) struct Replay {
    root: tempfile::TempDir,
    variables: Vec<(OsString, OsString)>,
    turn: u16,
}

impl Replay {
    /// Makes the folder: the user's settings and templates, an empty project and no past. Unless
    /// the model is asked that the settings name, the rules judge: no network, no cost.
    pub(super) fn new(user: &NamedSession, judge: Judge) -> anyhow::Result<Self> {
        let root = tempfile::Builder::new()
            .prefix("playbook-backtest-")
            .tempdir()?;
        let at = |name: &str| root.path().join(name);
        // A repository of its own: the temporary folder may lie within another one.
        fsx::ensure_dir(&at("project").join(".git"))?;
        fsx::ensure_dir(&at("config").join("templates"))?;
        let own = at("config").join("config.toml");
        copy(&user.paths.config_file(), &own)?;
        for template in ["playbook.txt", "reflector.txt", "curator.txt"] {
            let copied = at("config").join("templates").join(template);
            copy(&user.paths.template(template), &copied)?;
        }
        let mut settings = vec![("hooks.on_tool_failure", "true")];
        if judge == Judge::Rules {
            settings.push(("backend", "rules"));
        }
        for (key, value) in settings {
            let key = config::find_key(key).map_err(anyhow::Error::msg)?;
            config::set(&own, key, value)?;
        }
        let mut variables: Vec<(OsString, OsString)> = user.env.pairs().collect();
        let project = std::fs::canonicalize(at("project"))?;
        for (name, value) in [
            (name::CONFIG_DIR, at("config")),
            (name::STATE_DIR, at("state")),
            (name::CLAUDE_PROJECT_DIR, project),
            (name::NO_WORKER, PathBuf::from("1")),
        ] {
            variables.push((name.into(), value.into()));
        }
        Ok(Self {
            root,
            variables,
            turn: 0,
        })
    }

    /// The replayed project's surroundings at a time.
    pub(super) fn at(&self, now: Timestamp) -> anyhow::Result<NamedSession> {
        let mut variables = self.variables.clone();
        variables.push((name::NOW.into(), now.to_string().into()));
        let env = Env::from_pairs(variables);
        let paths = Paths::resolve(&env)?;
        let project = std::fs::canonicalize(self.root.path().join("project"))?;
        let config = config::for_project(&paths, &project)?;
        Ok(NamedSession {
            tenant: Tenant::User,
            env,
            paths,
            config,
            project,
        })
    }

    /// What the session would have been given at its start.
    pub(super) fn start(&self, past: &PastTranscript) -> anyhow::Result<Option<String>> {
        let own = json!({"source": "startup"});
        self.ask(HookEvent::SessionStart, past, past.began, own)
    }

    /// What the model would have been told when a call failed.
    pub(super) fn strike(
        &self,
        past: &PastTranscript,
        strike: &Strike,
    ) -> anyhow::Result<Option<String>> {
        let own = json!({
            "tool_name": strike.tool,
            "tool_input": strike.input,
            "error": strike.error,
            "is_interrupt": false,
        });
        self.ask(HookEvent::PostToolUseFailure, past, past.ended, own)
    }

    fn ask(
        &self,
        event: HookEvent,
        past: &PastTranscript,
        now: Timestamp,
        own: Value,
    ) -> anyhow::Result<Option<String>> {
        let session = self.at(now)?;
        let input = input(
            event,
            &past.session,
            &past.transcript,
            &session.project,
            own,
        );
        let mut answer = Vec::new();
        let source = Afresh::default();
        // This source is never in doubt.
        _ = respond_from(&source, event, &session.env, input.as_bytes(), &mut answer);
        if answer.is_empty() {
            return Ok(None);
        }
        let answer: Value = serde_json::from_slice(&answer)?;
        let text = answer["hookSpecificOutput"]["additionalContext"].as_str();
        Ok(text.map(str::to_owned))
    }

    /// Learns from a session through the queue, as its end would have.
    pub(super) fn learn(&mut self, past: &PastTranscript) -> anyhow::Result<FinishedJob> {
        let session = self.at(past.ended)?;
        let context = session.context()?;
        let (surroundings, project) = (&context.surroundings, &session.project);
        let id = bootstrap::put(surroundings, project, past, self.turn, bootstrap::UNSTATED)?;
        self.turn = self.turn.wrapping_add(1);
        NamedSession::see_through(&context, &id, PATIENCE)?
            .with_context(|| format!("could not learn from {}: its job waits", past.name()))
    }
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    if let Some(bytes) = fsx::read_if_there(from, MAX_COPY)? {
        fsx::quick(to, &bytes).context("could not copy settings")?;
    }
    Ok(())
}
