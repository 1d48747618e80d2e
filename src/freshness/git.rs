//! Runs git to read a repository's state.
//!
//! Neither the repository nor its settings can be trusted. Only reading commands run, `GIT_*` is
//! cleared, and hooks, fsmonitor and all transports are off. Git fetches no objects and takes no
//! locks. It is not asked about the work tree, for whose files it may run filters.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use tokio::process::Command;
use tokio::runtime::Builder;

use crate::backend::child::{self, Followers};
use crate::env::{Env, name};

const MAX_ANSWER: usize = 96 << 20;
const SETTINGS: [&str; 4] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "protocol.allow=never",
];

pub(crate) struct Git {
    folder: PathBuf,
    pub(super) until: Instant,
}

impl Git {
    pub(crate) fn at(folder: &Path, limit: Duration) -> Self {
        Self {
            folder: folder.to_owned(),
            until: Instant::now() + limit,
        }
    }

    pub(crate) async fn ask(&self, arguments: &[&str]) -> Option<Vec<u8>> {
        let env = Env::from_process();
        // PATH finds git; the user's own settings say which repositories are safe.
        let kept = [name::PATH, name::HOME, name::XDG_CONFIG];
        let kept = kept
            .into_iter()
            .filter_map(|name| Some((name, env.os(name)?)));
        let mut command = Command::new("git");
        command
            .env_clear()
            .envs(kept)
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .args(["--no-pager", "--no-replace-objects"])
            .args(SETTINGS.iter().flat_map(|setting| ["-c", setting]))
            .args(arguments)
            .current_dir(&self.folder);
        let left = self.until.saturating_duration_since(Instant::now());
        let ran = child::run(command, b"", left, MAX_ANSWER, Followers::Killed, |_| {});
        let output = ran.await.ok()?;
        output.status.success().then_some(output.stdout)
    }

    /// Asks from code that is not async; the thread is for callers that already run in a runtime.
    pub(crate) fn ask_now(&self, arguments: &[&str]) -> Option<Vec<u8>> {
        let asked = || {
            let runtime = Builder::new_current_thread().enable_all().build().ok()?;
            runtime.block_on(self.ask(arguments))
        };
        thread::scope(|scope| scope.spawn(asked).join().ok().flatten())
    }
}
