//! Promise: what was learned is counted once, found again, gains or loses with its effects, and is
//! forgotten in time.

use crate::common::prelude::*;
use jiff::SignedDuration;
use playbook::memory::{Evaluation, ForgetWhat, JobRecord, Limits, Memory, RecallQuery};
use playbook::reflect::learned::{Effect, EffectWhenShown, Learned, LearnedFrom, NewReflection};
use playbook::reflect::remembered::Remembered;
use proptest::prelude::*;

use crate::common::learned;

fn at(day: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + day * 86_400).unwrap()
}

fn source(job: &str, day: i64) -> LearnedFrom {
    LearnedFrom {
        root: String::new(),
        project: "/p".to_owned(),
        session: format!("session of {job}"),
        job: job.to_owned(),
        time: at(day),
    }
}

pub(super) fn opened() -> (TestEnv, Memory) {
    let env = TestEnv::without_worker();
    let memory = env.memory();
    (env, memory)
}

/// Builds a reflection on a job's failure, of low importance, with tags and events.
fn reflection(text: &str) -> NewReflection {
    let Learned::Reflection(new) = learned::reflection(text, None, 0.5) else {
        panic!("a reflection");
    };
    NewReflection {
        tags: vec!["sql".to_owned(), "Timeout".to_owned()],
        event_ids: vec!["e1".to_owned(), "e2".to_owned()],
        event_count: 2,
        ..new
    }
}

const ERROR: &str = "ModuleNotFoundError: No module named 'requests'";

fn learn(memory: &mut Memory, job: &str, day: i64, learned: Learned) -> Vec<String> {
    memory.learn(&source(job, day), &[learned]).unwrap()
}

fn reflect(memory: &mut Memory, job: &str, day: i64, new: NewReflection) -> Vec<String> {
    learn(memory, job, day, Learned::Reflection(new))
}

fn recall(memory: &Memory, query: &RecallQuery) -> Vec<Remembered> {
    memory.recall(query, at(100)).unwrap()
}

fn texts(memory: &Memory, words: &str) -> Vec<String> {
    let found = recall(memory, &about(words));
    found.into_iter().map(|memory| memory.text).collect()
}

fn about(text: &str) -> RecallQuery {
    RecallQuery {
        text: Some(text.to_owned()),
        ..RecallQuery::best(10)
    }
}

/// The more important, surer or younger one of two similar matches comes first.
#[rstest]
#[case::importance(|new: &mut NewReflection| new.importance = 0.9, 1)]
#[case::confidence(|new: &mut NewReflection| new.confidence = 1.0, 1)]
#[case::age(|_: &mut NewReflection| (), 99)]
fn recall_weighs(#[case] better: fn(&mut NewReflection), #[case] day: i64) {
    let (_env, mut memory) = opened();
    for (job, text) in [("a", "the cache was cold"), ("b", "the cache was full")] {
        reflect(&mut memory, job, 1, reflection(text));
    }
    let mut new = reflection("the cache was lost");
    better(&mut new);
    reflect(&mut memory, "c", day, new);
    assert_eq!(texts(&memory, "cache")[0], "the cache was lost");
}

/// Builds a job that teaches one item of each kind; all jobs teach the same.
fn lessons(n: u64, shown_id: &str) -> JobRecord {
    let mut record = JobRecord::new(job(&format!("job-{n}"), "/p", at(1)));
    let (id, effect) = (shown_id.to_owned(), Effect::Helped);
    record.learned = vec![
        Learned::Reflection(reflection("Quote the path.")),
        lesson("forgot the login", "always add it", None),
        error(ERROR, 1),
        Learned::Shown(EffectWhenShown { id, effect }),
    ];
    record.evaluation = Some(Evaluation {
        correctness: 1.0,
        helpfulness: 0.5,
        safety: 1.0,
        completeness: 0.25,
        efficiency: 0.0,
    });
    record
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    /// Issue "Reflections and lessons": the counts stay exact, whatever is replayed.
    #[test]
    fn what_is_replayed_is_not_counted_again(
        jobs in 1_u64..6,
        replayed in proptest::collection::vec(0_u64..6, 0..10),
    ) {
        let (env, mut memory) = opened();
        for n in 0..jobs {
            memory.record(&lessons(n, "les-000000000000")).unwrap();
        }
        let all = |memory: &Memory| (memory.stats(None).unwrap(), recall(memory, &RecallQuery::best(9)));
        let before = all(&memory);
        prop_assert_eq!(before.0.total_reflections, jobs);
        prop_assert_eq!(before.0.error_occurrences, jobs);
        for n in replayed {
            memory = env.memory();
            memory.record(&lessons(n % jobs, "les-000000000000")).unwrap();
        }
        prop_assert_eq!(before, all(&memory));
        let spans = memory.evaluations(Some("/p"), &[at(0), at(2)]).unwrap();
        prop_assert_eq!(spans.len(), 1);
        prop_assert_eq!(spans[0].sessions, jobs);
        prop_assert!((spans[0].average.completeness - 0.25).abs() < 1e-9);
    }
}

#[test]
fn what_the_user_forgot_does_not_come_back_when_its_job_is_replayed() {
    let (_env, mut memory) = opened();
    memory.record(&lessons(1, "")).unwrap();
    let project = ForgetWhat::Project("/p".to_owned());
    let forgotten = memory.forget(&project).unwrap();
    assert_eq!((forgotten.total(), forgotten.evaluations), (4, 1));
    memory.record(&lessons(1, "")).unwrap();
    assert_eq!(recall(&memory, &RecallQuery::best(9)), []);
    assert_eq!(recall(&memory, &about("path")), []);
}

/// A note that no curator run has settled stays, however full the bank is.
#[test]
fn the_least_important_leave_a_full_bank_first() {
    let (env, mut memory) = opened();
    for (n, importance) in [0.9, 0.1, 0.5].into_iter().enumerate() {
        let mut new = lesson(&format!("mistake {n}"), "correction", None);
        if let Learned::Lesson(new) = &mut new {
            new.importance = importance;
        }
        learn(&mut memory, &format!("j{n}"), 1, new);
    }
    let limits = Limits {
        lessons: 2,
        ..Limits::default()
    };
    assert_eq!(memory.prune(&limits, at(2)).unwrap().lessons, 0);
    let database = rusqlite::Connection::open(env.paths().memory_db()).unwrap();
    let settled = database.execute("UPDATE notes SET state = 'settled'", []);
    assert_eq!(settled, Ok(3));
    assert_eq!(memory.prune(&limits, at(2)).unwrap().lessons, 1);
    let left = ["mistake 0 → correction", "mistake 2 → correction"];
    assert_eq!(texts(&memory, "mistake"), left);
}

/// Spec/3: a critical memory (0.8 and more) is always kept.
#[test]
fn what_is_unused_leaves_unless_it_is_critical() {
    let (_env, mut memory) = opened();
    for (job, importance) in [("dull", 0.5), ("critical", 0.8)] {
        let mut new = reflection(&format!("{job} news"));
        new.importance = importance;
        reflect(&mut memory, job, 1, new);
    }
    let limits = Limits {
        unused: SignedDuration::from_hours(24 * 30),
        ..Limits::default()
    };
    let far_ahead = at(4_000);
    for day in 23..33 {
        assert_eq!(memory.prune(&limits, far_ahead).unwrap().total(), 0);
        let job = job(&format!("j{day}"), "/p", at(day));
        memory.record(&JobRecord::new(job)).unwrap();
    }
    assert_eq!(memory.prune(&limits, at(30)).unwrap().total(), 0);
    assert_eq!(memory.prune(&limits, at(32)).unwrap().total(), 1);
    assert_eq!(texts(&memory, "news"), ["critical news"]);
}
