//! The final state: playbook, history, memories, and the files of the queue.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use playbook::corrections::Corrections;
use playbook::memory::{Memory, RecallQuery};
use playbook::playbook::{Playbook, PointState};
use playbook::reflect::remembered::MemoryKind;
use serde_json::Value;

use playbook::transcript::error_signature;

use crate::common::env::TestEnv;
use crate::files::entries_below;
use crate::model::{LESSONS, seed};
use crate::scenario::SUBJECTS;
use crate::stage::{INSTALL, LOGIN};

/// The final state, without names, places and times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Left {
    points: BTreeSet<String>,
    changes: Vec<String>,
    /// The errors and the lessons about them, with all their counts.
    learned: BTreeSet<String>,
    /// The corrections of these errors that hooks show.
    told: BTreeSet<String>,
    files: BTreeSet<String>,
}

impl Left {
    /// Returns `true` if the state is as expected. Each citation counted and taught once, and the
    /// undone vote not at all. Each error counted once, and the hooks find the corrections.
    pub(crate) fn is_the_truth(&self) -> bool {
        let votes = (1..=6).map(|n| format!("{} +{} -0", seed(n), u8::from(n < 6)));
        let lessons = LESSONS.iter().map(|text| format!("{text} +0 -0"));
        // The curator also makes key points of the lessons that were known before.
        let known = [INSTALL, LOGIN].map(|fix| format!("it was not there → {fix}"));
        let known_points = known.iter().map(|text| format!("{text} +0 -0"));
        let errors = [
            "ModuleNotFoundError struck 2: 0.5000 shown 0".to_owned(),
            "fatal struck 2: 0.5000 shown 0".to_owned(),
            "error struck 3: 0.5000 shown 0".to_owned(),
            format!("{} struck 1: 0.5000 shown 0", known[0]),
            format!("{} struck 1: 0.5000 shown 0", known[1]),
        ];
        self.points == votes.chain(lessons).chain(known_points).collect()
            && self.learned == errors.into_iter().collect()
            && self.told.len() == known.len()
    }

    pub(crate) fn of(env: &TestEnv, now: Timestamp) -> Result<Self, String> {
        let memory = Memory::open(&env.state().join("memory.db")).map_err(|e| e.to_string())?;
        let project = env.project();
        let history = memory.history(&project.to_string_lossy(), 1000);
        let history = history.map_err(|e| e.to_string())?;
        let state = |state: &Option<PointState>| {
            let entry = state.as_ref().map(|state| Value::from(state.entry.clone()));
            entry.as_ref().map_or_else(String::new, point)
        };
        let mut changes: Vec<String> = history
            .iter()
            .map(|entry| {
                let change = &entry.change;
                let (before, after) = (state(&change.before), state(&change.after));
                // A reason names a job or a note, whose names differ each time.
                let reason = change.reason.split(" of ").next().unwrap_or_default();
                let reason = reason.split(" (n").next().unwrap_or_default();
                format!("{}: {before} -> {after} ({reason})", change.kind.word())
            })
            .collect();
        changes.sort();
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
        Ok(Self {
            points: points(env, &project)?,
            changes,
            learned: learned(env, now)?,
            told: told(env)?,
            files: files.map(|path| path.display().to_string()).collect(),
        })
    }
}

fn points(env: &TestEnv, project: &Path) -> Result<BTreeSet<String>, String> {
    let playbook = whole(env, project)?;
    let sections = playbook["sections"].as_object();
    let points = sections.into_iter().flat_map(|s| s.values());
    let points = points.flat_map(|list| list.as_array().into_iter().flatten());
    Ok(points.map(point).collect())
}

fn whole(env: &TestEnv, project: &Path) -> Result<Value, String> {
    let paths = env.paths();
    let file = fs::read(paths.playbook_file(project)).map_err(|e| e.to_string())?;
    let playbook = Playbook::parse(&file).map_err(|e| e.to_string())?;
    let votes = env.memory().votes(&project.to_string_lossy());
    let playbook = playbook.with_votes(&votes.map_err(|e| e.to_string())?);
    serde_json::from_slice(&playbook.to_bytes()).map_err(|e| e.to_string())
}

/// Returns errors and the lessons about them, without names, places and times.
fn learned(env: &TestEnv, now: Timestamp) -> Result<BTreeSet<String>, String> {
    let query = RecallQuery {
        kinds: vec![MemoryKind::Error, MemoryKind::Lesson],
        ..RecallQuery::best(100)
    };
    let found = env.memory().recall(&query, now);
    let found = found.map_err(|e| e.to_string())?;
    let about_errors = found.iter().filter(|memory| memory.signature.is_some());
    let told = about_errors.map(|memory| {
        let mut lines = memory.text.lines();
        let name = lines.find(|line| !line.starts_with("Exit code"));
        let name = name.unwrap_or_default();
        let name = name.split(':').next().unwrap_or_default();
        format!(
            "{name} struck {}: {:.4} shown {}",
            memory.occurrences, memory.effectiveness, memory.times_applied
        )
    });
    Ok(told.collect())
}

fn told(env: &TestEnv) -> Result<BTreeSet<String>, String> {
    let mut told = BTreeSet::new();
    for (subject, text) in SUBJECTS {
        let signature = error_signature("Bash", subject, text).ok_or("no message")?;
        let corrections = Corrections::read(&env.corrections()).ok_or("no corrections")?;
        told.extend(corrections.of(signature).into_iter().map(|one| one.text));
    }
    Ok(told)
}

/// Returns a point without its name, which depends on the order of jobs.
fn point(point: &Value) -> String {
    format!(
        "{} +{} -{}",
        point["text"].as_str().unwrap_or_default(),
        point["helpful"],
        point["harmful"]
    )
}
