//! Every setting: its name, type, default, bounds, and what it is for.

use std::path::PathBuf;

use super::choices::{Approval, BackendChoice, GateMode, MemoryMode, Trigger, VotesIn, WorkerMode};
use super::define::{KeyScope, SettingKey, settings};
use super::value::{Limit, Setting, put};
use crate::prepared::Notices;
use crate::redact::{Masker, NeverRead, PatternError, Secrecy};

/// Files that hold secrets and little else.
const NEVER_READ: &str = ".env .env.* *.env .envrc *.pem *.key *.p12 *.pfx *.jks *.kdbx id_rsa \
    id_ecdsa id_ed25519 .netrc .pgpass .pypirc .git-credentials .aws/credentials \
    .docker/config.json secrets.y*ml";

settings! {
    /// Settings outside of any section.
    top: Top {
        /// The backend that answers prompts. `auto` takes `anthropic` when there is a key, else
        /// `claude-cli` when `claude` is on PATH and logged in, else `rules`.
        backend: BackendChoice = BackendChoice::Auto;
        /// `all`: in a terminal, a line at the start says what was learned since the last time, and
        /// later lines say what the agent was reminded of. `quiet`: neither. A reason that keeps
        /// Playbook from learning is always shown.
        notices: Notices = Notices::All;
    }
    /// Reflection on sessions, and the length of its summary.
    reflection: Reflection {
        /// Reflect at all; when off, hooks leave no trace.
        #[scope = Project]
        enabled: bool = true;
        /// The longest analysis of a session, in words separated by white space.
        #[scope = Lower]
        summary_tokens: usize = 128, 0 ..= 10_000;
        /// Quotations of the session in the summary that `rules` writes.
        #[scope = Lower]
        topk_snippets: usize = 3, 0 ..= 100;
    }
    /// The reasons to reflect on a session; one is enough.
    triggers: Triggers {
        /// Reasons that are switched off. `tool_failure`: a tool call failed. `low_confidence`: the
        /// session's last reflection was less sure than 0.5. `high_risk`: a destructive command ran,
        /// such as `rm -rf`. `goal_drift`: more than 90 % of the last prompt's words are in no prompt
        /// before it. `final_step`: a commit, or a passed test run or build. `user_critical`: a
        /// prompt says how things are always to be done. `periodic`: five tool calls. `citations`:
        /// a key point was cited. `rejections`: a call was refused or stopped. `activity`: two
        /// prompts.
        off: Vec<Trigger> = Vec::new();
    }
    /// The events of Claude Code that Playbook answers.
    hooks: Hooks {
        /// Reflect when a session ends; unset: as Claude Code's `playbook_update_on_exit` says, else yes.
        on_exit: Option<bool> = None;
        /// Reflect on `/clear`; unset: as Claude Code's `playbook_update_on_clear` says, else yes.
        on_clear: Option<bool> = None;
        /// Reflect on each subagent's own transcript, and give it the key points at its start;
        /// unset: as Claude Code's `playbook_update_on_subagent_stop` says, else no.
        on_subagent_stop: Option<bool> = None;
        /// Give the key points that are due when a tool call fails (docs/hints.md), or what fixed
        /// the same error before.
        on_tool_failure: bool = true;
        /// With a prompt at which key points are due that the start left out, give at most two.
        on_prompt: bool = true;
    }
    /// The quality gate: is done what the agent says is done?
    gate: Gate {
        /// `tell`: the user sees what an ended turn has left open; `block`: Claude Code continues
        /// with it. `playbook gate on` sets it and registers the hook, `playbook gate off` reverses
        /// both.
        #[scope = Lower]
        mode: GateMode = GateMode::Off;
        /// Ask the backend's model whether the turn is complete, if the rules find nothing and one
        /// of `triggers` fires for it. Such a turn takes seconds longer, and tokens.
        model: bool = false;
    }
    /// The Messages API.
    anthropic: Anthropic {
        /// The model; unset: the small one that Claude Code would ask, usually `claude-haiku-5-5`.
        model: Option<String> = None;
        /// The base URL; unset: Claude Code's, else `https://api.anthropic.com`.
        base_url: Option<String> = None;
        /// Send the key and the session over plain `http` to another machine, too. A loopback
        /// address needs no such word.
        allow_http: bool = false;
    }
    /// Claude Code itself as a model: `claude -p`.
    claude_cli: ClaudeCli {
        /// The model, by Claude Code's short name or in full.
        model: String = "haiku".to_owned();
    }
    /// Any server with `/chat/completions`, such as Ollama, vLLM or llama.cpp: docs/models.md.
    openai: OpenaiServer {
        /// The model, by the server's own name for it. Needed for `backend = "openai"`.
        model: Option<String> = None;
        /// The address up to `/v1`; unset: Ollama's on this machine, `http://127.0.0.1:11434/v1`.
        base_url: Option<String> = None;
        /// The environment variable that holds the key, where one is needed; unset:
        /// `OPENAI_API_KEY`.
        key_variable: Option<String> = None;
        /// Send the key and the session over plain `http` to another machine, too. A loopback
        /// address needs no such word.
        allow_http: bool = false;
        /// Longest answer of one call, in tokens.
        max_tokens: u32 = 8_192, 256 ..= 64_000;
    }
    /// Recorded replies.
    fixtures: Fixtures {
        /// The file of recorded replies; relative to the folder of `config.toml`. Needed for
        /// `backend = "fixtures"`.
        path: Option<PathBuf> = None;
    }
    /// Retries of a failing call.
    retry: Retry {
        /// Attempts of one call in all.
        attempts: u32 = 3, 1 ..= 10;
        /// Pause before the second attempt in milliseconds; doubles each time, ±25 %.
        base_ms: u64 = 2_000, 0 ..= 600_000;
        /// Longest time of one attempt in milliseconds; unset: 30,000 for `anthropic`, 120,000 for
        /// `claude-cli` and 300,000 for `openai`, as a model on this machine takes minutes.
        timeout_ms: Option<u64> = None, 10 ..= 3_600_000;
    }
    /// The curator's runs, and the treatment of its operations.
    curator: Curator {
        /// It runs when notes of so many sessions wait; at once for a rule that you state, for a
        /// key point that was shown wrong, and while there are fewer than eight key points.
        every: usize = 3, 1 ..= 50;
        /// `ask`: they wait in `playbook review` until you take them; votes count at once.
        approval: Approval = Approval::Auto;
        /// Its model, by a name that the backend knows; unset: the model of the backend's section.
        model: Option<String> = None;
    }
    /// Limits of what may be spent. Work that a limit holds back waits, and says so.
    budgets: Budgets {
        /// Longest time for one job in milliseconds, all its calls included; 0: no limit.
        #[scope = Lower]
        time_ms: Limit = Limit(300_000), 0 ..= 86_400_000;
        /// Most operations that one job applies to the playbook.
        #[scope = Lower]
        ops: usize = crate::playbook::ops::MAX_OPERATIONS, 0 ..= 10;
        /// Most tokens of one job, in and out; 0: no limit.
        #[scope = Lower]
        tokens: Limit = Limit(300_000), 0 ..= 1_000_000_000_000;
        /// Most tokens of one local day, in and out, of all backends that ask a model; 0: no limit.
        #[scope = Lower]
        tokens_per_day: Limit = Limit(2_000_000), 0 ..= 1_000_000_000_000;
        /// Most calls of one local day, retries included, of all backends that ask a model; 0: no limit.
        #[scope = Lower]
        calls_per_day: Limit = Limit(400), 0 ..= 1_000_000_000;
    }
    /// The background worker.
    worker: Worker {
        /// `detached`, or `inline` for containers that end with Claude Code.
        mode: WorkerMode = WorkerMode::Detached;
        /// Jobs, and so calls of a model, worked on at once; without a model it is one.
        jobs: usize = 4, 1 ..= 64;
    }
    /// The part of a session that is sent.
    evidence: Evidence {
        /// Budget of the evidence in tokens (estimated).
        #[scope = Lower]
        tokens: u64 = 24_000, 500 ..= 500_000;
    }
    /// The masks for everything that is stored, logged, sent or shown, in addition to
    /// `<private>…</private>`, and the files that are never read.
    secrets: Secrets {
        /// Own patterns, as regular expressions; of each its first group is masked, or all
        /// of it when it has none.
        patterns: Vec<String> = Vec::new();
        /// Built-in rules that are switched off, by the names `playbook redact --rules` shows.
        off: Vec<String> = Vec::new();
        /// Files whose content is never shown, whatever tool read or wrote them; `*` matches
        /// anything but a slash, and a pattern with a slash matches the end of the path.
        never_read: Vec<String> = NEVER_READ.split(' ').map(str::to_owned).collect();
    }
    /// The growth of a playbook.
    playbook: Growth {
        /// The most key points; the least valuable leave first. The file may have 512 bytes for each,
        /// and at least 512 KiB.
        #[scope = Lower]
        max_points: usize = 1_000, 1 ..= 100_000;
        /// The place of new votes: the playbook's file, or the memory on this machine (`local`), so
        /// that the file changes only when a text does.
        votes: VotesIn = VotesIn::File;
    }
    /// The context that a session is given at its start.
    injection: Injection {
        /// Longest context in UTF-16 units; Claude Code cuts above 10,000.
        #[scope = Project]
        max_units: usize = 4_000, 200 ..= 10_000;
        /// The key points of your own, which go along into every project (`playbook promote`), are
        /// given after the project's, in at most a quarter of the context.
        #[scope = Project]
        own: bool = true;
    }
    /// The use of key points that came from elsewhere.
    trust: Trust {
        /// In a trusted project, key points that come with a pull or an edit of the file wait
        /// for `playbook review`, each of them; else only those that look like an attack.
        strict: bool = false;
    }
    /// The memory beyond the playbook.
    memory: MemorySettings {
        /// `lite` reflects on sessions; `full` also looks at the notes of the last 30 days once
        /// more, at most once a day (`playbook dream`), and keeps what it found.
        #[scope = Lower]
        mode: MemoryMode = MemoryMode::Lite;
        /// The PostgreSQL database in which all machines find what each has learned, such as
        /// `postgres://tenant_team@db.example.com/playbook`; see docs/stores.md.
        /// `PLAYBOOK_MEMORY_URL` overrides it.
        url: Option<String> = None;
        /// A file whose first line is the password for it; `PGPASSWORD` overrides it.
        password_file: Option<PathBuf> = None;
        /// A command that prints the password for it, and its arguments; no shell reads them.
        password_command: Vec<String> = Vec::new();
        /// Projects that are not shared: folders, or the beginning of a repository's name such as
        /// `github.com/me`.
        not_shared: Vec<String> = Vec::new();
    }
}

impl Secrets {
    /// Makes the masker and the list of files never read ready for use. A pattern that cannot
    /// be used is an error, never passed over.
    pub(crate) fn secrecy(&self) -> Result<Secrecy, PatternError> {
        Ok(Secrecy {
            masker: Masker::new(&self.patterns, &self.off)?,
            never_read: NeverRead::new(&self.never_read),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_may_set_only_what_cannot_send_data_elsewhere() {
        let allowed: Vec<_> = KEYS
            .iter()
            .filter(|k| k.scope == KeyScope::Project)
            .map(|k| k.name)
            .collect();
        let all = "reflection.enabled injection.max_units injection.own";
        assert_eq!(allowed.join(" "), all);
    }
}
