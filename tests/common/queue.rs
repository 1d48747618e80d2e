//! The state of the queue: waiting and failed jobs, and their log lines.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::env::{TestEnv, texts};

impl TestEnv {
    pub(crate) fn spool(&self) -> Vec<Value> {
        jobs_in(&self.state().join("spool"))
    }

    pub(crate) fn failed(&self) -> Vec<Value> {
        jobs_in(&self.state().join("failed"))
    }

    pub(crate) fn reflections(&self) -> Vec<Value> {
        let log = self.state().join("log/reflections.jsonl");
        let text = fs::read_to_string(log).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a line in JSON"))
            .collect()
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.state().join("log/playbook.log")).unwrap_or_default()
    }

    /// Returns the reason why each job waits or has failed, as the user sees it.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let jobs = self.cli(&["jobs", "--json"]).json();
        texts(&jobs["jobs"], "reason")
    }
}

/// Writes a recording as docs/templates.md describes: the log of each run names the next prompt.
pub(crate) fn record_by_hand(replies: &[Value], play: impl Fn(&str) -> TestEnv) -> String {
    let mut lines = String::new();
    for reply in replies {
        let log = play(&lines).log();
        let (_, hash) = log.trim_end().rsplit_once(' ').unwrap();
        let line = json!({"prompt_hash": hash, "completion": reply.to_string()}).to_string();
        lines.extend([line.as_str(), "\n"]);
    }
    lines
}

fn jobs_in(folder: &Path) -> Vec<Value> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "json"));
    paths.sort();
    // A worker may remove a job between the listing and the reading.
    paths
        .iter()
        .filter_map(|path| fs::read(path).ok())
        .map(|bytes| serde_json::from_slice(&bytes).expect("a job in JSON"))
        .collect()
}
