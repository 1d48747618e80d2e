//! The environment of the sessions: projects, state, the model's server, and counters.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::api::Api;
use crate::dice::Dice;
use crate::disk::Disk;
use crate::{Fallible, model};

/// The number of sessions, forks included.
pub(crate) const SESSIONS: u64 = 64;
/// The number of projects; each has enough key points for all citations of its sessions.
pub(crate) const PROJECTS: u64 = 16;
/// The number of citations by all sessions of a player.
pub(crate) const CITATIONS_PER_PLAYER: u32 = 500;
/// The number of key points of a project, which two players' citations may share.
const POINTS: u64 = 900;
/// The number of tries after which the remaining jobs count as stuck.
const TRIES: usize = 60;

/// A key point that was cited, once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Citation {
    pub(crate) project: u64,
    pub(crate) point: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Votes {
    pub(crate) expected: u64,
    pub(crate) counted: u64,
    pub(crate) doubled: u64,
    pub(crate) lost: u64,
}

pub(crate) struct World {
    pub(crate) disk: Disk,
    pub(crate) api: Api,
    /// `true` once all disturbances have ended.
    pub(crate) calm: AtomicBool,
    pub(crate) fillings: AtomicU64,
    pub(crate) kills: AtomicU64,
    /// The number of session ends without a trace by any hook.
    pub(crate) unseen: AtomicU64,
    next_point: Vec<AtomicU64>,
    bin: PathBuf,
    /// The folder of the client's transcripts, on a disk that does not fill up.
    home: tempfile::TempDir,
    dice: Dice,
}

impl World {
    pub(crate) fn new(bin: &Path, seed: u64) -> Fallible<Self> {
        let dice = Dice::new(seed ^ 0x6170_6961);
        let world = Self {
            disk: Disk::new()?,
            api: Api::script(model::script(dice.clone())),
            calm: AtomicBool::new(false),
            fillings: AtomicU64::new(0),
            kills: AtomicU64::new(0),
            unseen: AtomicU64::new(0),
            next_point: (0..PROJECTS).map(|_| AtomicU64::new(1)).collect(),
            bin: bin.to_owned(),
            home: tempfile::tempdir()?,
            dice,
        };
        for project in 0..PROJECTS {
            let points: Vec<_> = (1..=POINTS)
                .map(|n| json!({"name": format!("pat-{n:03}"), "text": format!("point {n}"), "helpful": 0, "harmful": 0}))
                .collect();
            let playbook = json!({"version": "1.0", "sections": {"PATTERNS & APPROACHES": points}});
            let file = world.playbook(project);
            fs::create_dir_all(file.parent().ok_or("a folder")?)?;
            fs::write(file, playbook.to_string())?;
        }
        let transcript = world.transcript("any");
        fs::create_dir_all(transcript.parent().ok_or("a folder")?)?;
        let config = world.home.path().join("config");
        fs::create_dir_all(&config)?;
        fs::write(
            config.join("config.toml"),
            "[retry]\nattempts = 2\nbase_ms = 1\ntimeout_ms = 5000\n\
             [playbook]\nmax_points = 5000\n",
        )?;
        Ok(world)
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.disk.path().join("state")
    }

    pub(crate) fn project(&self, project: u64) -> PathBuf {
        self.disk.path().join(format!("project-{project}"))
    }

    fn playbook(&self, project: u64) -> PathBuf {
        self.project(project).join(".claude/playbook.json")
    }

    /// Returns the client's path of a transcript; hooks accept no other.
    pub(crate) fn transcript(&self, session: &str) -> PathBuf {
        let projects = self.home.path().join(".claude/projects");
        projects.join("soak").join(format!("{session}.jsonl"))
    }

    /// Returns a point of the project that was not cited yet; `None` if all have been.
    pub(crate) fn uncited(&self, project: u64) -> Option<Citation> {
        let next = &self.next_point[usize::try_from(project).unwrap_or_default()];
        let point = next.fetch_add(1, SeqCst);
        (point <= POINTS).then_some(Citation { project, point })
    }

    pub(crate) fn command(&self, program: &str, project: u64) -> Command {
        let mut command = Command::new(self.bin.join(program));
        command
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", "/usr/bin:/bin")
            .env("PLAYBOOK_CONFIG_DIR", self.home.path().join("config"))
            .env("PLAYBOOK_STATE_DIR", self.state())
            .env("AGENTIC_CONTEXT_BASE_URL", self.api.base_url())
            .env("AGENTIC_CONTEXT_API_KEY", "sk-soak")
            .env("CLAUDE_PROJECT_DIR", self.project(project))
            .current_dir(self.home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Returns the processes that were started with our state folder.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let ours = format!("PLAYBOOK_STATE_DIR={}", self.state().display());
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid: &i32| {
                fs::read(format!("/proc/{pid}/environ"))
                    .is_ok_and(|vars| vars.split(|&b| b == 0).any(|v| v == ours.as_bytes()))
            })
            .collect()
    }

    /// Completes everything that is left: the model behaves, the disk has space, and nothing is
    /// killed. The dead clients ended long ago by then.
    pub(crate) fn come_to_rest(&self) -> Fallible<()> {
        self.disk.empty();
        self.api.now([model::good()]);
        for _ in 0..TRIES {
            while !self.processes().is_empty() {
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
            // A system that cannot recognise a dead client uses the time instead.
            let later = SystemTime::now() + std::time::Duration::from_secs(3 * 86_400);
            let later = jiff::Timestamp::try_from(later)?.to_string();
            for args in [&["jobs", "retry", "--all"][..], &["worker"]] {
                let mut command = self.command("playbook", 0);
                let output = command.args(args).env("PLAYBOOK_NOW", &later).output()?;
                if !output.status.success() {
                    return Err(told(args, &output).into());
                }
            }
            if self.left()?.is_empty() {
                return Ok(());
            }
        }
        Err(format!("jobs are left: {}", self.left()?).into())
    }

    /// Returns the output of `playbook jobs`; empty without any.
    fn left(&self) -> Fallible<String> {
        let output = self
            .command("playbook", 0)
            .args(["jobs", "--json"])
            .output()?;
        let jobs: Value = serde_json::from_slice(&output.stdout)?;
        let none = jobs["jobs"].as_array().is_some_and(Vec::is_empty);
        Ok(if none {
            String::new()
        } else {
            jobs.to_string()
        })
    }

    pub(crate) fn count(&self, cited: &[Citation]) -> Fallible<Votes> {
        let mut votes = Votes::default();
        for project in 0..PROJECTS {
            let playbook: Value = serde_json::from_slice(&fs::read(self.playbook(project))?)?;
            let points = playbook["sections"]["PATTERNS & APPROACHES"].as_array();
            let helpful: BTreeMap<&str, u64> = points
                .into_iter()
                .flatten()
                .filter_map(|p| Some((p["name"].as_str()?, p["helpful"].as_u64()?)))
                .collect();
            votes.counted += helpful.values().sum::<u64>();
            for citation in cited.iter().filter(|c| c.project == project) {
                votes.expected += 1;
                let name = format!("pat-{:03}", citation.point);
                match helpful.get(name.as_str()) {
                    Some(0) | None => votes.lost += 1,
                    Some(count) => votes.doubled += count - 1,
                }
            }
        }
        // A vote without a citation is one too many.
        votes.doubled += (votes.counted + votes.lost)
            .saturating_sub(votes.expected)
            .saturating_sub(votes.doubled);
        Ok(votes)
    }

    pub(crate) fn summary(&self, votes: &Votes) -> String {
        let requests = self.api.requests().len();
        let faults = model::faults_among(self.dice.clone(), requests);
        format!(
            "sessions {SESSIONS}, kills {}, faults {faults} of {requests} requests, disk full {} times, \
             unseen {}, votes expected {} / counted {} / doubled {} / lost {}",
            self.kills.load(SeqCst),
            self.fillings.load(SeqCst),
            self.unseen.load(SeqCst),
            votes.expected,
            votes.counted,
            votes.doubled,
            votes.lost
        )
    }
}

fn told(args: &[&str], output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    format!("`playbook {}`: {}: {said}", args.join(" "), output.status)
}
