//! Runs git as a user would, with a fixed date and without the machine's settings.

use std::path::Path;
use std::process::{Command, Output};

use super::env::TestEnv;

const DAY: &str = "2026-11-03T12:00:00Z";

pub(crate) fn try_git(at: &Path, args: &[&str]) -> Output {
    let settings = "user.name=t user.email=t@t init.defaultBranch=main core.editor=true \
        advice.detachedHead=false gc.auto=0";
    Command::new("git")
        .args(
            settings
                .split_whitespace()
                .flat_map(|setting| ["-c", setting]),
        )
        .args(args)
        .current_dir(at)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_COMMITTER_DATE", DAY)
        .env("GIT_AUTHOR_DATE", DAY)
        .output()
        .expect("git runs")
}

#[track_caller]
pub(crate) fn git(at: &Path, args: &[&str]) -> String {
    let done = try_git(at, args);
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{args:?}: {said}");
    String::from_utf8(done.stdout).expect("UTF-8")
}

impl TestEnv {
    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(&self.project(), args)
    }

    #[track_caller]
    pub(crate) fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "x"]);
    }
}
