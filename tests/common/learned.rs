//! Writes memories of earlier sessions directly into the store.

use std::collections::BTreeSet;
use std::path::PathBuf;

use jiff::Timestamp;
use playbook::digest::name_of;
use playbook::env::Env;
use playbook::memory::{FinishedJob, JobCounts, JobOutcome, Memory};
use playbook::paths::Paths;
use playbook::reflect::learned::{
    Learned, LearnedFrom, NewError, NewLesson, NewReflection, NoteDetail,
};
use playbook::transcript::error_signature;

use super::env::{NOW, TestEnv};

/// Returns the time this many days before the tests' clock.
pub(crate) fn days_ago(days: i64) -> Timestamp {
    let now: Timestamp = NOW.parse().expect("a time");
    Timestamp::from_second(now.as_second() - days * 86_400).expect("a time")
}

pub(crate) const SUBJECT: &str = "python";

pub(crate) fn error(text: &str, occurrences: u64) -> Learned {
    Learned::Error(NewError {
        signature: error_signature("Bash", SUBJECT, text).expect("a message"),
        keys: BTreeSet::new(),
        error_type: SUBJECT.to_owned(),
        example: text.to_owned(),
        occurrences,
        category: "not_found".to_owned(),
        outcome: None,
        importance: 0.5,
        tags: Vec::new(),
    })
}

pub(crate) fn lesson_of(subject: &str, text: &str, correction: &str) -> Learned {
    let mut learned = lesson("it was not there", correction, None);
    if let Learned::Lesson(new) = &mut learned {
        new.signature = error_signature("Bash", subject, text);
    }
    learned
}

/// Builds a lesson, about an error of a script if one is given.
pub(crate) fn lesson(mistake: &str, correction: &str, error: Option<&str>) -> Learned {
    Learned::Lesson(NewLesson {
        task_type: "coding".to_owned(),
        mistake: mistake.to_owned(),
        correction: correction.to_owned(),
        context_hash: name_of(b"a context"),
        signature: error.and_then(|text| error_signature("Bash", SUBJECT, text)),
        importance: 0.7,
        tags: vec!["lesson".to_owned()],
        note: NoteDetail::default(),
    })
}

/// Builds a reflection on a failure, with its strategy if one is given.
pub(crate) fn reflection(text: &str, strategy: Option<&str>, importance: f64) -> Learned {
    Learned::Reflection(NewReflection {
        tenant: "default".to_owned(),
        text: text.to_owned(),
        strategy: strategy.map(str::to_owned),
        outcome: Some("failure".to_owned()),
        error_category: Some("timeout_error".to_owned()),
        signature: None,
        importance,
        confidence: 0.9,
        tags: vec!["sql".to_owned()],
        event_ids: vec!["e1".to_owned()],
        event_count: 1,
        task: "fetch the orders".to_owned(),
        related: Vec::new(),
        correction: None,
    })
}

/// Builds an applied job of the session `s1`.
pub(crate) fn job(id: &str, project: &str, finished: Timestamp) -> FinishedJob {
    FinishedJob {
        id: id.to_owned(),
        project: project.to_owned(),
        session: "s1".to_owned(),
        transcript: "/t/s1.jsonl".to_owned(),
        event: "session-end".to_owned(),
        backend: "rules".to_owned(),
        outcome: JobOutcome::Applied,
        reason: String::new(),
        counts: JobCounts::default(),
        finished,
    }
}

impl TestEnv {
    pub(crate) fn paths(&self) -> Paths {
        let folder = |name: &str| self.root().join(name).into_os_string();
        let env = Env::from_pairs([
            ("PLAYBOOK_CONFIG_DIR", folder("config")),
            ("PLAYBOOK_STATE_DIR", folder("state")),
        ]);
        Paths::resolve(&env).expect("folders")
    }

    pub(crate) fn lose_memory(&self) {
        for end in ["", "-wal", "-shm"] {
            _ = std::fs::remove_file(self.state().join(format!("memory.db{end}")));
        }
    }

    pub(crate) fn memory(&self) -> Memory {
        Memory::open(&self.paths().memory_db()).expect("a memory")
    }

    pub(crate) fn corrections(&self) -> PathBuf {
        self.paths().corrections(&self.project())
    }

    /// Stores what a job of this many days ago taught; returns the ids.
    pub(crate) fn learn(&self, job: &str, days: i64, learned: &[Learned]) -> Vec<String> {
        let source = LearnedFrom {
            root: String::new(),
            project: self.project().display().to_string(),
            session: format!("session of {job}"),
            job: job.to_owned(),
            time: days_ago(days),
        };
        let ids = self.memory().learn(&source, learned).expect("learned");
        let file = self.corrections();
        std::fs::create_dir_all(file.parent().expect("a folder above")).expect("a folder");
        let corrections = self.memory().corrections(&source.project);
        corrections
            .expect("readable")
            .write(&file)
            .expect("written");
        ids
    }
}
