//! The hooks that are measured, each in its environment.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use playbook::corrections::{Correction, Corrections, MAX_NOTES};
use playbook::errors::Signature;
use playbook::transcript::error_signature;
use serde_json::{Value, json};

use crate::common::env::{Hook, TestEnv, write};
use crate::common::session::Session;
use crate::ratio;
use crate::shared::{self, Fallible};

/// The number of files moved away, which names the next one.
static MOVED_AWAY: AtomicUsize = AtomicUsize::new(0);
/// The program that hooks are compared with.
const TRUE: &str = "/bin/true";

#[derive(Clone, Copy)]
pub(crate) enum Limit {
    /// A multiple of `/bin/true`'s time.
    Ratio(f64),
    Time(Duration),
}

impl Limit {
    pub(crate) fn is_kept(self, took: Duration, plain: Duration) -> bool {
        match self {
            Self::Ratio(limit) => ratio(took, plain) <= limit,
            Self::Time(limit) => took <= limit,
        }
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ratio(limit) => write!(f, "{limit}"),
            Self::Time(limit) => write!(f, "{} ms", limit.as_millis()),
        }
    }
}

pub(crate) struct Case {
    pub(crate) name: &'static str,
    hook: Hook,
    env: TestEnv,
    /// The keys of its input that an ordinary event does not have.
    more: Value,
    pub(crate) limit: Limit,
    /// Runs just before each start.
    before: fn(&TestEnv) -> Fallible<()>,
    pub(crate) times: Vec<Duration>,
    /// The times of `/bin/true`, each taken just before one of `times`: on a busy machine only
    /// neighbours can be compared.
    pub(crate) plain: Vec<Duration>,
}

impl Case {
    fn new(name: &'static str, hook: Hook, env: TestEnv, ratio: f64) -> Self {
        Self {
            name,
            hook,
            env,
            more: json!({}),
            limit: Limit::Ratio(ratio),
            before: |_| Ok(()),
            times: Vec::new(),
            plain: Vec::new(),
        }
    }

    fn with(mut self, more: Value) -> Self {
        self.more = more;
        self
    }

    /// Makes the playbook newer before each start, as a pull does, so that the prepared files are
    /// outdated.
    fn after_a_pull(mut self, limit: Duration) -> Self {
        self.limit = Limit::Time(limit);
        self.before = |env| {
            let playbook = File::options().append(true).open(env.playbook_path())?;
            Ok(playbook.set_modified(std::time::SystemTime::now())?)
        };
        self
    }

    /// Times `/bin/true` and then the hook; moves the hook's files away before the next start.
    pub(crate) fn pair(&self) -> Fallible<(Duration, Duration)> {
        // The search for running workers empties the CPU caches, which this start fills again.
        (self.before)(&self.env)?;
        self.yardstick()?;
        let times = (self.yardstick()?, self.hook()?);
        self.env.settle();
        // A growing spool and marks of shown texts would change the next start. The folders stay,
        // as a user's do. Nothing is deleted: when ext4 creates a file, it checks each place of a
        // file that was deleted in the last minutes.
        let away = self.env.home().join("away");
        fs::create_dir_all(&away)?;
        let state = self.env.state();
        let projects = entries(&state.join("projects"))?.into_iter();
        let shown = projects.map(|project| project.join("shown"));
        for folder in ["spool", "open"]
            .map(|name| state.join(name))
            .into_iter()
            .chain(shown)
        {
            for file in entries(&folder)? {
                let number = MOVED_AWAY.fetch_add(1, Ordering::Relaxed);
                fs::rename(file, away.join(number.to_string()))?;
            }
        }
        Ok(times)
    }

    fn hook(&self) -> Fallible<Duration> {
        let mut event = self.env.event(self.hook, "s1");
        for (key, value) in self.more.as_object().into_iter().flatten() {
            event[key] = value.clone();
        }
        let event = event.to_string();
        shared::timed(self.env.command(self.hook.name()), event.as_bytes())
    }

    fn yardstick(&self) -> Fallible<Duration> {
        // An absolute path, to which the folder of our binaries is not added.
        shared::timed(self.env.command(TRUE), b"{}")
    }
}

fn entries(folder: &Path) -> Fallible<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(e.into()),
    }
}

/// Returns the cases in two groups; the second starts the whole program or a worker. It runs last,
/// because a running worker takes a core from the next start, and both delete files.
pub(crate) fn cases(bin: &Path) -> Fallible<[Vec<Case>; 2]> {
    let alone = || {
        let mut env = environment(bin);
        env.set("PLAYBOOK_NO_WORKER", "1");
        env
    };
    let large = |env: TestEnv| -> Fallible<TestEnv> {
        File::options()
            .write(true)
            .open(env.transcript_path("s1"))?
            .set_len(1 << 30)?;
        Ok(env)
    };
    let points = |count: usize| {
        let env = alone();
        let points: Vec<_> = (1..=count).map(point).collect();
        env.write_playbook(&points);
        env.cli(&["trust"]).ok();
        env
    };
    let experienced = || -> Fallible<TestEnv> {
        let env = alone();
        env.cli(&["trust"]).ok();
        write_corrections(&env)?;
        Ok(env)
    };
    let (end, start) = (Hook::SessionEnd, Hook::SessionStart);
    let (failure, prompt) = (Hook::PostToolUseFailure, Hook::UserPromptSubmit);
    let asked = json!({"prompt": prompt_text()});
    let mut hooks = guard(points(60), alone());
    hooks.extend([
        Case::new("post-tool-use-failure, no hints", failure, alone(), 1.6),
        Case::new(
            "post-tool-use-failure, a new error",
            failure,
            experienced()?,
            1.6,
        ),
        Case::new(
            "post-tool-use-failure, a known error",
            failure,
            experienced()?,
            1.6,
        )
        .with(
            json!({"error": ERROR, "tool_name": "Bash", "tool_input": {"command": "python a.py"}}),
        ),
        Case::new("user-prompt-submit, nothing to bring", prompt, alone(), 1.6),
        Case::new(
            "user-prompt-submit, 1,000 key points",
            prompt,
            points(1_000),
            1.6,
        )
        .with(asked),
        Case::new("session-end, 1 KB transcript", end, alone(), 1.5),
        Case::new("session-end, 1 GB transcript", end, large(alone())?, 1.5),
        Case::new("session-start, 60 key points", start, points(60), 1.5),
        Case::new("session-start, 1,000 key points", start, points(1_000), 1.5),
        Case::new(
            "session-start, 10,000 key points",
            start,
            points(10_000),
            1.5,
        ),
    ]);
    let whole = vec![
        Case::new(
            "session-start, 1,000 key points, after a pull",
            start,
            points(1_000),
            1.5,
        )
        .after_a_pull(Duration::from_millis(20)),
        Case::new(
            "session-end, 1 KB, starts the worker",
            end,
            environment(bin),
            3.0,
        ),
        Case::new(
            "session-end, 1 GB, starts the worker",
            end,
            large(environment(bin))?,
            3.0,
        ),
    ];
    Ok([hooks, whole])
}

/// Creates a user with a key point and a short session, `s1`.
fn environment(bin: &Path) -> TestEnv {
    let env = TestEnv::with_binaries(bin);
    env.write_playbook(&[("pat-001", "run the tests before every commit")]);
    let mut session = Session::new("s1");
    session.user("hello").assistant("Nothing to cite here.");
    env.write_transcript(&session);
    env.write_client_settings(&json!({"model": "opus"}));
    env
}

const ERROR: &str = "Exit code 1\nTraceback (most recent call last):\n  File \"/srv/app/main.py\", line 41, in <module>\n    import yaml\nModuleNotFoundError: No module named 'yaml'";

/// Returns a prompt of usual length, with words that many key points have.
fn prompt_text() -> String {
    let question = "When change 17 touches the parser of module 42, which tests must run, and \
        why is the build of the orders table so slow after the last change?";
    let log = "note: the parser read module 7 with the slow inputs\n";
    format!("{question}\n{}", log.repeat(20))
}

/// Writes the most corrections that a worker ever writes.
fn write_corrections(env: &TestEnv) -> Fallible<()> {
    let known = [error_signature("Bash", "python a.py", ERROR).expect("a message")];
    let others =
        (1..MAX_NOTES).map(|n| Signature::from_bits(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let correction = |n: u64| Correction {
        id: format!("les-{n:012x}"),
        text: format!("run the tests of module {n} with the slow inputs before the build"),
    };
    let by_error = known.into_iter().chain(others).zip(0..);
    let by_error = by_error.map(|(error, n)| (error, vec![correction(n)]));
    let path = env.corrections();
    fs::create_dir_all(path.parent().ok_or("no folder")?)?;
    Corrections::new(by_error.collect()).write(&path)?;
    Ok(())
}

/// Returns the cases of the guard, in a project without a guarded point and in an empty one.
fn guard(mut unguarded: TestEnv, empty: TestEnv) -> Vec<Case> {
    let (hook, mut guarded) = (Hook::PreToolUse, cued(empty));
    for env in [&mut unguarded, &mut guarded] {
        env.set("CLAUDE_CODE_SESSION_ATTENDED", "1");
    }
    let command = "grep -rn 'make proto' src | head; ".repeat(120);
    vec![
        Case::new("pre-tool-use, no guarded point", hook, unguarded, 1.25),
        Case::new("pre-tool-use, 200 cues, 4 KB command", hook, guarded, 1.4)
            .with(json!({"tool_input": {"command": command}})),
    ]
}

/// Gives the project 200 key points with a cue and a guard.
fn cued(env: TestEnv) -> TestEnv {
    let points: Vec<_> = (1..=200).map(point).collect();
    env.write_playbook(&points);
    let mut playbook = env.playbook();
    for (name, _) in points {
        let cue = json!({"command": format!("make {name}"), "file": format!("{name}/**/*.py")});
        playbook["playbook"]["points"][name] = json!({"when": cue, "guard": true});
    }
    write(&env.playbook_path(), playbook.to_string());
    env.cli(&["trust"]).ok();
    env
}

/// Returns a key point of usual length.
fn point(number: usize) -> (String, String) {
    (
        format!("pat-{number:03}"),
        format!("when change {number} touches the parser, run its tests with the slow inputs too"),
    )
}
