//! Plays the scenario from any move on, and returns the final state.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};

use jiff::{SignedDuration, Timestamp};
use playbook::memory::{self, Memory};
use serde_json::{Value, json};

use crate::common::api::{Api, Step};
use crate::common::env::{Hook, TestEnv, write};
use crate::common::learned::lesson_of;
use crate::common::run::Output;
use crate::common::session::Session;
use crate::files::{copy, entries, read};
use crate::left::Left;
use crate::model::{about, answer, paid_twice, seed};
use crate::point::{Fault, read_points};
use crate::scenario::{Kind, MOVES, Move, SUBJECTS, UNDO};
use crate::wanted::Votes;

/// The fix for the error that is known from the beginning.
pub(crate) const INSTALL: &str = "`pip install pyyaml`, then `python3 <file>` again";
/// The fix for the other known error, which does not help.
pub(crate) const LOGIN: &str = "`docker login`";

const BUSY: &str = "Another worker is at work on what waits.";

pub(crate) struct Stage {
    env: TestEnv,
    api: Api,
    client: Option<Child>,
    began: Timestamp,
    /// The copies of home, project and state before each move.
    copies: PathBuf,
    workers: Vec<Output>,
}

pub(crate) struct Outcome {
    /// `true` if the fault happened: otherwise it proves nothing.
    pub(crate) struck: bool,
    /// The final state's difference from the undisturbed one, if there is any.
    pub(crate) survived: Result<(), String>,
}

impl Stage {
    pub(crate) fn new(votes: Votes) -> Self {
        // In memory, because waiting for a disk proves nothing.
        let mut env = TestEnv::in_memory();
        let api = Api::script([Step::Answer(answer)]);
        env.use_api(&api.base_url(), "sk-test");
        let votes = votes.word();
        env.write_config(&format!(
            "[retry]\nbase_ms = 1\n[worker]\njobs = 1\n\
             [playbook]\nvotes = \"{votes}\"\n[curator]\nevery = 1\n",
        ));
        let points: Vec<_> = (1..=6).map(|n| (format!("pat-{n:03}"), seed(n))).collect();
        env.write_playbook(&points);
        for ((subject, text), fix) in SUBJECTS.into_iter().zip([INSTALL, LOGIN]) {
            env.learn(fix, 1, &[lesson_of(subject, text, fix)]);
        }
        let client = Command::new("sleep").arg("3600").spawn().expect("a client");
        env.set("CLAUDE_PID", client.id().to_string());
        Self {
            copies: env.root().join("copies"),
            env,
            api,
            client: Some(client),
            workers: Vec::new(),
            began: Timestamp::now(),
        }
    }

    /// Plays the scenario undisturbed; records the points of each move, and a copy of the files
    /// before it.
    pub(crate) fn count_points(&mut self) -> Vec<Fault> {
        let mut points = Vec::new();
        for step in 0..MOVES.len() {
            self.keep(step);
            // Played from a copy, as each proof is.
            self.bring_back(step);
            let log = self.env.root().join(format!("points-{step}"));
            self.env.set("PLAYBOOK_FAULT_LOG", &log);
            self.play(step);
            self.env.unset("PLAYBOOK_FAULT_LOG");
            points.extend(read_points(&log, step));
        }
        points
    }

    /// Plays the scenario from a move on, with a fault in that move.
    pub(crate) fn prove(&mut self, fault: &Fault, expected: &Left) -> Outcome {
        let log = self.env.root().join("fired");
        _ = fs::remove_file(&log);
        let text = format!("{}:{}:{}", fault.role, fault.number, fault.fate);
        self.env.set("PLAYBOOK_FAULT_LOG", &log);
        self.env.set("PLAYBOOK_FAULT", text);
        let survived = self.play_from(fault.step, Some(fault)).and_then(|left| {
            if left == *expected {
                Ok(())
            } else {
                Err(format!("left:     {left:#?}\nexpected: {expected:#?}"))
            }
        });
        let fired = fs::read_to_string(&log).unwrap_or_default();
        Outcome {
            struck: fired.lines().any(|line| line == "fired"),
            survived: survived.map_err(|why| format!("{why}\n{}", self.testimony())),
        }
    }

    /// Plays the scenario from a move on: that move with the faults of the environment, the others
    /// undisturbed. Then the client ends and a worker runs.
    pub(crate) fn play_from(
        &mut self,
        first: usize,
        fault: Option<&Fault>,
    ) -> Result<Left, String> {
        self.workers.clear();
        self.bring_back(first);
        let asked_before = self.api.requests().len();
        self.play(first);
        let asked = self.api.requests().len();
        let stored = self.stored();
        self.env.unset("PLAYBOOK_FAULT");
        self.env.unset("PLAYBOOK_FAULT_LOG");
        // A later worker does the work of an earlier one.
        for step in (first + 1..UNDO).filter(|step| MOVES[*step].kind != Kind::Worker) {
            self.play(step);
        }
        let recovered = self.recover(3).and_then(|()| {
            // The user sees whether it was done, and repeats it if not.
            self.play(UNDO);
            self.recover(6)
        });
        let again = self.api.requests();
        self.client_returns();
        recovered?;
        if let Some(why) = paid_twice(&again[asked_before..asked], &again[asked..], &stored) {
            return Err(format!("{why} (stored: {stored:?}, {fault:?})"));
        }
        Left::of(&self.env, self.began)
    }

    fn testimony(&self) -> String {
        let log = self.env.log();
        format!(
            "the last workers: {:#?}\nplaybook.log:\n{log}",
            self.workers
        )
    }

    fn play(&mut self, step: usize) {
        let Move { name, kind, play } = MOVES[step];
        self.set_time(step);
        if kind == Kind::HookWithWorker {
            self.env.unset("PLAYBOOK_NO_WORKER");
        } else {
            self.env.set("PLAYBOOK_NO_WORKER", "1");
        }
        let output = play(self);
        if kind == Kind::HookWithWorker {
            self.env.settle();
        }
        // A hook never disturbs the client, even with a full disk.
        let is_hook = matches!(kind, Kind::Hook | Kind::HookWithWorker);
        let is_quiet = matches!(output.code, None | Some(0)) && output.stderr.is_empty();
        assert!(is_quiet || !is_hook, "{name}: {output:?}");
    }

    fn set_time(&mut self, step: usize) {
        let minute = SignedDuration::from_mins(i64::try_from(step).unwrap_or_default());
        let now = self.began + minute;
        self.env.set("PLAYBOOK_NOW", now.to_string());
    }

    /// Kills the client and runs a worker days later.
    fn recover(&mut self, days: i64) -> Result<(), String> {
        if let Some(mut client) = self.client.take() {
            _ = client.kill();
            _ = client.wait();
        }
        // By then no process is running.
        self.env.settle();
        let later = self.began + SignedDuration::from_hours(24 * days);
        self.env.set("PLAYBOOK_NOW", later.to_string());
        let output = self.worker();
        let has_worked = output.code == Some(0) && !output.stdout.contains(BUSY);
        self.workers.push(output);
        if has_worked {
            Ok(())
        } else {
            Err("the last worker did not work".to_owned())
        }
    }

    fn client_returns(&mut self) {
        let client = Command::new("sleep").arg("3600").spawn().expect("a client");
        self.env.set("CLAUDE_PID", client.id().to_string());
        self.client = Some(client);
    }

    // -- the processes

    pub(crate) fn hook(&self, hook: Hook, session: &str, change: Value) -> Output {
        self.env.hook(hook, session, change)
    }

    pub(crate) fn starts(&self, session: &str, source: &str) -> Output {
        self.hook(Hook::SessionStart, session, json!({"source": source}))
    }

    pub(crate) fn ends(&self, session: &Session) -> Output {
        self.write(session);
        self.hook(Hook::SessionEnd, session.id(), json!({}))
    }

    pub(crate) fn worker(&mut self) -> Output {
        self.env.cli(&["worker", "--jobs", "1"])
    }

    pub(crate) fn undo(&mut self) -> Output {
        let memory = Memory::open(&self.env.state().join("memory.db")).expect("a database");
        let jobs = memory.last_jobs(None, 100).expect("jobs");
        let mut applied = jobs
            .iter()
            .filter(|row| row.job.outcome == memory::JobOutcome::Applied);
        let project = self.env.project();
        let is_of_project = |row: &memory::JobRow| project.as_os_str() == row.job.project.as_str();
        let job = applied.find(|row| row.job.session == "s3" && is_of_project(row));
        self.env
            .cli(&["undo", job.map_or("none", |row| &row.job.id)])
    }

    // -- the world

    pub(crate) fn write(&self, session: &Session) {
        self.env.write_transcript(session);
    }

    fn folders(&self) -> [PathBuf; 4] {
        let env = &self.env;
        [env.home(), env.project(), env.state(), env.config_dir()]
    }

    fn keep(&self, step: usize) {
        for (n, folder) in self.folders().iter().enumerate() {
            copy(folder, &self.copies.join(format!("{step}-{n}")));
        }
    }

    fn bring_back(&mut self, step: usize) {
        for (n, folder) in self.folders().iter().enumerate() {
            copy(&self.copies.join(format!("{step}-{n}")), folder);
        }
        self.mend_marks();
        // The prepared files were made from the copied ones on the day of the move, so they are
        // made again.
        self.set_time(step);
        let set = self.env.cli(&["config", "set", "retry.base_ms", "1"]);
        assert_eq!(set.code, Some(0), "{set:?}");
    }

    /// Updates the marks of a copy, which name a client that was killed.
    fn mend_marks(&self) {
        let pid = self.client.as_ref().map_or(0, Child::id);
        let mark = playbook::platform::ProcessMark::of(i32::try_from(pid).unwrap_or_default());
        for path in entries(&self.env.state().join("open")) {
            if path.extension().is_some_and(|e| e == "json")
                && let Ok(mut old) = serde_json::from_slice::<Value>(&read(&path))
            {
                old["client"] = json!(mark);
                write(&path, old.to_string());
            }
        }
    }

    /// Returns the answers that are stored with the spooled jobs, by question.
    fn stored(&self) -> BTreeSet<String> {
        let mut stored = BTreeSet::new();
        for job in self.env.spool() {
            let progress = &job["progress"];
            if let Some(analysis) = progress["reflection"]["analysis"].as_str() {
                stored.insert(format!("reflector {}", about(analysis)));
            }
            let notes = job["curate"]["notes"].as_array();
            if let Some(notes) = notes.filter(|_| !progress["curation"].is_null()) {
                let ids: Vec<String> = notes.iter().map(|id| format!("n{id}")).collect();
                stored.insert(format!("curator {}", ids.join(" ")));
            }
        }
        stored
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(mut client) = self.client.take() {
            _ = client.kill();
            _ = client.wait();
        }
    }
}
