//! Plays the scenario, from any move on, and says what is left in the end.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use jiff::{SignedDuration, Timestamp};
use playbook::memory::{
    Detail, HistoryQuery, Index, Memory, MemoryKind, Outcome, RecallQuery, Signature, Store as _,
};
use serde_json::{Value, json};

use crate::common::api::{Api, Step};
use crate::common::env::{Hook, TestEnv, write};
use crate::common::learned::error;
use crate::common::run::{Output, Running, Stdin};
use crate::common::session::Session;
use crate::files::{copy, entries, entries_below, read};
use crate::model::{LESSONS, about, answer, paid_twice, seed};
use crate::point::{Fault, read_points};
use crate::scenario::{BROKEN, Kind, MODULE, MOVES, Move, QUOTA, UNDO};

/// What helps against the one error that is known from the beginning.
const INSTALL: &str = "`pip install pyyaml`, then `python3 report.py` again";
/// What does not help against the other.
const LOGIN: &str = "`docker login`";

/// One user in whose home the scenario is played.
pub(crate) struct Stage {
    env: TestEnv,
    api: Api,
    client: Option<Child>,
    began: Timestamp,
    /// What home, project and state were before each move.
    copies: PathBuf,
}

/// What is left in the end, without names, places and times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Left {
    points: BTreeSet<String>,
    changes: Vec<String>,
    /// Errors and their fixes, with all that is counted of them.
    learned: BTreeSet<String>,
    /// What hooks say of them.
    told: BTreeSet<String>,
    files: BTreeSet<String>,
}

impl Left {
    /// Tells whether each citation counted once and taught one thing, and the undone one
    /// not at all; whether each error and each effect of a hint counted once, and the hooks
    /// know of it.
    pub(crate) fn is_the_truth(&self) -> bool {
        let votes = (1..=6).map(|n| format!("{} +{} -0", seed(n), u8::from(n < 6)));
        let lessons = LESSONS[..5].iter().map(|text| format!("{text} +0 -0"));
        let errors = [
            "ModuleNotFoundError struck 3: `pip install pyyaml`, then `python3 report.py` again 0.7550 found 1 shown 2",
            "fatal struck 3: `docker login` 0.3500 found 1 shown 1",
            // Found three times: born, and then proved twice.
            "error struck 3: an edit of `theme.toml`, then `theme build` again 0.7550 found 3 shown 0",
        ];
        self.points == votes.chain(lessons).collect()
            && self.learned == errors.into_iter().map(str::to_owned).collect()
            && self.told.len() == errors.len()
    }
}

impl Stage {
    pub(crate) fn new() -> Self {
        // Nothing is proven by waiting for a disk.
        let mut env = TestEnv::in_memory();
        let api = Api::script([Step::Answer(answer)]);
        env.use_api(&api.base_url(), "sk-test");
        env.write_config(
            "[retry]\nbase_ms = 1\n[worker]\njobs = 1\n[budgets]\nmemory_rows = 100\n",
        );
        let points: Vec<_> = (1..=6).map(|n| (format!("pat-{n:03}"), seed(n))).collect();
        env.write_playbook(&points);
        for (text, fix) in [(MODULE, INSTALL), (QUOTA, LOGIN)] {
            env.learn(fix, 1, &[error(text, 1, Some(fix))]);
        }
        let client = Command::new("sleep").arg("3600").spawn().expect("a client");
        env.set("CLAUDE_PID", client.id().to_string());
        Self {
            copies: env.root().join("copies"),
            env,
            api,
            client: Some(client),
            began: Timestamp::now(),
        }
    }

    /// Plays the scenario undisturbed and notes the points of each move, and what the
    /// world was before it.
    pub(crate) fn count_points(&mut self) -> Vec<Fault> {
        let mut points = Vec::new();
        for step in 0..MOVES.len() {
            self.keep(step);
            let log = self.env.root().join(format!("points-{step}"));
            self.env.set("PLAYBOOK_FAULT_LOG", &log);
            self.play(step);
            self.env.unset("PLAYBOOK_FAULT_LOG");
            points.extend(read_points(&log, step));
        }
        points
    }

    /// Plays the scenario from a move on, with a fault in that move.
    pub(crate) fn prove(&mut self, fault: &Fault, expected: &Left) -> Result<bool, String> {
        let log = self.env.root().join("fired");
        _ = fs::remove_file(&log);
        let text = format!("{}:{}:{}", fault.role, fault.number, fault.fate);
        self.env.set("PLAYBOOK_FAULT_LOG", &log);
        self.env.set("PLAYBOOK_FAULT", text);
        let left = self.play_from(fault.step, Some(fault))?;
        let fired = fs::read_to_string(&log).unwrap_or_default();
        let fired = fired.lines().any(|line| line == "fired");
        if left == *expected {
            Ok(fired)
        } else {
            Err(format!("left:     {left:#?}\nexpected: {expected:#?}"))
        }
    }

    /// Plays the scenario from a move on: that move with what is set in the environment,
    /// the others undisturbed. Then the client is gone, and a worker comes.
    pub(crate) fn play_from(
        &mut self,
        first: usize,
        fault: Option<&Fault>,
    ) -> Result<Left, String> {
        self.bring_back(first);
        let asked_before = self.api.requests().len();
        self.play(first);
        let asked = self.api.requests().len();
        let stored = self.stored();
        self.env.unset("PLAYBOOK_FAULT");
        self.env.unset("PLAYBOOK_FAULT_LOG");
        // A later worker does what an earlier one would have done.
        for step in (first + 1..UNDO).filter(|step| MOVES[*step].kind != Kind::Worker) {
            self.play(step);
        }
        self.recover(3)?;
        // The user sees whether it was done, and does it again if not.
        self.play(UNDO);
        self.recover(6)?;
        let again = self.api.requests();
        self.client_returns();
        if let Some(why) = paid_twice(&again[asked_before..asked], &again[asked..], &stored) {
            return Err(format!("{why} (stored: {stored:?}, {fault:?})"));
        }
        self.left()
    }

    fn play(&mut self, step: usize) {
        let Move { name, kind, play } = MOVES[step];
        let minute = SignedDuration::from_mins(i64::try_from(step).unwrap_or_default());
        let now = self.began + minute;
        self.env.set("PLAYBOOK_NOW", now.to_string());
        if kind == Kind::HookWithWorker {
            self.env.unset("PLAYBOOK_NO_WORKER");
        } else {
            self.env.set("PLAYBOOK_NO_WORKER", "1");
        }
        let output = play(self);
        if kind == Kind::HookWithWorker {
            self.env.settle();
        }
        // A hook never disturbs the client, not even with a full disk.
        let is_hook = matches!(kind, Kind::Hook | Kind::HookWithWorker);
        let is_quiet = matches!(output.code, None | Some(0)) && output.stderr.is_empty();
        assert!(is_quiet || !is_hook, "{name}: {output:?}");
    }

    /// The client is killed, and days later a worker comes.
    fn recover(&mut self, days: i64) -> Result<(), String> {
        if let Some(mut client) = self.client.take() {
            _ = client.kill();
            _ = client.wait();
        }
        let later = self.began + SignedDuration::from_hours(24 * days);
        self.env.set("PLAYBOOK_NOW", later.to_string());
        let output = self.worker();
        if output.code == Some(0) {
            Ok(())
        } else {
            Err(format!("the last worker: {output:?}"))
        }
    }

    fn client_returns(&mut self) {
        let client = Command::new("sleep").arg("3600").spawn().expect("a client");
        self.env.set("CLAUDE_PID", client.id().to_string());
        self.client = Some(client);
    }

    // -- the processes

    pub(crate) fn hook(&self, hook: Hook, session: &str, change: Value) -> Output {
        let mut event = self.env.event(hook, session);
        if let (Value::Object(event), Value::Object(change)) = (&mut event, change) {
            event.extend(change);
        }
        run(self.env.command(hook.name()), event.to_string().as_bytes())
    }

    pub(crate) fn worker(&mut self) -> Output {
        let mut command = self.env.command("playbook");
        command.args(["worker", "--jobs", "1"]);
        run(command, b"")
    }

    pub(crate) fn undo(&mut self) -> Output {
        let memory = Memory::open(&self.env.state().join("memory.db")).expect("a database");
        let jobs = memory.last_jobs(None, 100).expect("jobs");
        let mut applied = jobs
            .iter()
            .filter(|row| row.job.outcome == Outcome::Applied);
        let job = applied.find(|row| row.job.session == "s3");
        let mut command = self.env.command("playbook");
        command.args(["undo", job.map_or("none", |row| &row.job.id)]);
        run(command, b"")
    }

    // -- the world

    /// What our hook says when a known error strikes.
    pub(crate) fn hint(&self, text: &str) -> String {
        let seen = self.env.memory().seen(Signature::of("Bash", text), None);
        let seen = seen.expect("a memory").expect("a known error");
        let Detail::Error { fixes, .. } = &seen.errors[0].detail else {
            unreachable!("an error has fixes");
        };
        let id = fixes
            .iter()
            .find(|fix| [INSTALL, LOGIN].contains(&fix.text.as_str()));
        let id = &id.expect("the fix of the beginning").id;
        format!("Playbook: this error struck before in this project.\n- [{id}] fixed by: it")
    }

    /// Errors and their fixes, without names, places and times.
    fn learned(&self) -> Result<BTreeSet<String>, String> {
        let query = RecallQuery {
            kinds: vec![MemoryKind::Error],
            ..RecallQuery::best(100)
        };
        let found = self.env.memory().recall(&query, self.began);
        let found = found.map_err(|e| e.to_string())?;
        let told = found.iter().map(|memory| {
            let Detail::Error { fixes, .. } = &memory.detail else {
                return memory.text.clone();
            };
            let name = memory.text.lines().nth(1).unwrap_or_default();
            let name = name.split(':').next().unwrap_or_default();
            let fixes = fixes.iter().map(|fix| {
                format!(
                    "{} {:.4} found {} shown {}",
                    fix.text, fix.effectiveness, fix.occurrences, fix.times_applied
                )
            });
            let fixes: Vec<_> = fixes.collect();
            format!("{name} struck {}: {}", memory.occurrences, fixes.join("; "))
        });
        Ok(told.collect())
    }

    /// What the hooks' index says of the errors.
    fn told(&self) -> Result<BTreeSet<String>, String> {
        let index = Index::open(&self.env.index_path()).map_err(|e| e.to_string())?;
        let index = index.ok_or("no index")?;
        let mut told = BTreeSet::new();
        for text in [MODULE, QUOTA, BROKEN] {
            let signature = Signature::of("Bash", text);
            let hints = index.for_signature(signature, &[], 0.0, 1);
            for hint in hints.map_err(|e| e.to_string())? {
                told.insert(format!(
                    "{} {:.4}, {} times",
                    hint.text, hint.effectiveness, hint.occurrences
                ));
            }
        }
        Ok(told)
    }

    pub(crate) fn write(&self, session: &Session) {
        self.env.write_transcript(session);
    }

    fn folders(&self) -> [PathBuf; 3] {
        let env = &self.env;
        [env.home(), env.project(), env.state()]
    }

    fn keep(&self, step: usize) {
        for (n, folder) in self.folders().iter().enumerate() {
            copy(folder, &self.copies.join(format!("{step}-{n}")));
        }
    }

    fn bring_back(&self, step: usize) {
        for (n, folder) in self.folders().iter().enumerate() {
            copy(&self.copies.join(format!("{step}-{n}")), folder);
        }
        self.mend_marks();
    }

    /// The marks of a copy name a client that has been killed since.
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

    /// The answers that stand with the jobs of the spool, by question.
    fn stored(&self) -> BTreeSet<String> {
        let mut stored = BTreeSet::new();
        for job in self.env.spool() {
            let progress = &job["progress"];
            if let Some(analysis) = progress["reflection"]["analysis"].as_str() {
                stored.insert(format!("reflector {}", about(analysis)));
                if !progress["curation"].is_null() {
                    stored.insert(format!("curator {}", about(analysis)));
                }
            }
        }
        stored
    }

    fn left(&self) -> Result<Left, String> {
        let env = &self.env;
        let memory = Memory::open(&env.state().join("memory.db")).map_err(|e| e.to_string())?;
        let project = env.project();
        let entries = memory
            .history(HistoryQuery {
                project: &project.to_string_lossy(),
                point: None,
                job: None,
                limit: 1000,
            })
            .map_err(|e| e.to_string())?;
        let state = |state: &Option<Value>| {
            let state = state.as_ref().map(|state| &state["entry"]);
            state.map_or_else(String::new, point)
        };
        let mut changes: Vec<String> = entries
            .iter()
            .map(|entry| {
                let change = &entry.change;
                let (before, after) = (state(&change.before), state(&change.after));
                // The undo's reason names the job, which has another name each time.
                let reason = change.reason.split(" of ").next().unwrap_or_default();
                format!("{}: {before} -> {after} ({reason})", change.kind)
            })
            .collect();
        changes.sort();
        let playbook = env.playbook();
        let sections = playbook["sections"].as_object();
        let points = sections.into_iter().flat_map(|s| s.values());
        let points = points.flat_map(|list| list.as_array().into_iter().flatten());
        let folders = [
            env.state().join("spool"),
            env.state().join("failed"),
            env.state().join("requests"),
            project.join(".claude"),
        ];
        let files = folders.iter().flat_map(|folder| {
            let name = |path: &PathBuf| path.strip_prefix(env.root()).map(Path::to_owned);
            entries_below(folder)
                .into_iter()
                .filter_map(move |p| name(&p).ok())
        });
        Ok(Left {
            points: points.map(point).collect(),
            changes,
            learned: self.learned()?,
            told: self.told()?,
            files: files.map(|path| path.display().to_string()).collect(),
        })
    }
}

fn run(command: Command, input: &[u8]) -> Output {
    Running::start(command, input, Stdin::Closed).finish()
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(mut client) = self.client.take() {
            _ = client.kill();
            _ = client.wait();
        }
    }
}

/// A point without its name, which depends on the order of jobs.
fn point(point: &Value) -> String {
    format!(
        "{} +{} -{}",
        point["text"].as_str().unwrap_or_default(),
        point["helpful"],
        point["harmful"]
    )
}
