//! What was learned is counted once, found again, gains and loses by what follows, and
//! is forgotten when it should be.

use crate::common::prelude::*;
use jiff::SignedDuration;
use playbook::hint::{BIRTH, Effect, EffectWhenShown, MemoryKind};
use playbook::memory::{Evaluation, ForgetWhat, JobRecord, Limits, Memory, RecallQuery};
use playbook::reflect::learned::{Learned, LearnedFrom, NewReflection};
use playbook::reflect::remembered::{Detail, Remembered};
use proptest::prelude::*;

use super::folder::opened;
use crate::common::learned;
use playbook::transcript::error_of_subject;

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

/// A reflection on the failure of a job; of little weight, with tags and events.
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

/// Has a job teach one thing; returns the ids.
fn learn(memory: &mut Memory, job: &str, day: i64, learned: Learned) -> Vec<String> {
    memory.learn(&source(job, day), &[learned]).unwrap()
}

fn reflect(memory: &mut Memory, job: &str, day: i64, new: NewReflection) -> Vec<String> {
    learn(memory, job, day, Learned::Reflection(new))
}

fn shown(id: &str, effect: Effect) -> Learned {
    Learned::Shown(EffectWhenShown {
        id: id.to_owned(),
        effect,
    })
}

fn recall(memory: &Memory, query: &RecallQuery) -> Vec<Remembered> {
    memory.recall(query, at(100)).unwrap()
}

/// Returns the texts that these words find.
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

#[test]
fn a_reflection_is_found_with_all_its_fields() {
    let (_folder, mut memory) = opened();
    let mut new = reflection("The query timed out because of a JOIN without an index.");
    new.strategy = Some("Add an index on the columns of a JOIN.".to_owned());
    new.importance = 0.95;
    let ids = reflect(&mut memory, "j", 1, new);
    assert_eq!(ids.len(), 2);

    let found = recall(&memory, &about("query timeout"));
    let reflection = found.iter().find(|m| m.id == ids[0]).unwrap();
    assert_eq!(reflection.kind, MemoryKind::Reflection);
    let of = [&reflection.tenant, &reflection.session, &reflection.job];
    assert_eq!(of, ["default", "session of j", "j"]);
    let ended = [&reflection.outcome, &reflection.category].map(Option::as_deref);
    assert_eq!(ended, [Some("failure"), Some("timeout_error")]);
    assert_eq!(reflection.tags, ["sql", "timeout"]);
    assert_eq!(reflection.created, at(1));
    let detail = Detail::Reflection {
        task: "fetch the orders".to_owned(),
        event_ids: vec!["e1".to_owned(), "e2".to_owned()],
        event_count: 2,
        related: vec![],
        correction: None,
    };
    assert_eq!(reflection.detail, detail);
}

/// Spec/3: the strategy is a memory of its own, tagged so, 10 % more important, at most 1.
#[test]
fn a_strategy_stands_beside_its_reflection() {
    let (_folder, mut memory) = opened();
    for (importance, expected) in [(0.5, 0.55), (0.95, 1.0)] {
        let mut new = reflection(&format!("It is worth {importance}."));
        new.strategy = Some(format!("Do what is worth {importance}."));
        new.importance = importance;
        let ids = reflect(&mut memory, &format!("j{importance}"), 1, new);
        let query = RecallQuery {
            kinds: vec![MemoryKind::Strategy],
            ..about(&format!("worth {importance}"))
        };
        let found = recall(&memory, &query);
        let strategy = found.into_iter().find(|m| m.id == ids[1]).unwrap();
        assert!((strategy.importance - expected).abs() < 1e-9);
        assert!(strategy.tags.contains(&"strategy".to_owned()));
        assert!(
            matches!(strategy.detail, Detail::Reflection { related, .. } if related == ids[..1])
        );
    }
}

/// Spec/5: an identical reflection is not stored again; it counts.
#[test]
fn an_identical_reflection_counts_instead_of_standing_twice() {
    let (_folder, mut memory) = opened();
    for (job, text) in [("a", "Quote the path."), ("b", "  quote   the PATH. ")] {
        reflect(&mut memory, job, 1, reflection(text));
    }
    let found = recall(&memory, &about("path"));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].occurrences, 2);
    assert_eq!(memory.stats(None).unwrap().total_reflections, 2);
}

#[test]
fn projects_do_not_share_what_they_learn() {
    let (_folder, mut memory) = opened();
    let mut other = source("b", 1);
    other.project = "/other".to_owned();
    let learned = [Learned::Reflection(reflection("Quote the path."))];
    let ids = memory.learn(&source("a", 1), &learned).unwrap();
    assert_ne!(ids, memory.learn(&other, &learned).unwrap());
    for (project, found) in [("/p", 1), ("/unknown", 0)] {
        let query = RecallQuery {
            project: Some(project.to_owned()),
            ..about("path")
        };
        assert_eq!(recall(&memory, &query).len(), found);
    }
}

/// Of two that fit alike the more important, surer and younger one comes first.
#[rstest]
#[case::importance(|new: &mut NewReflection| new.importance = 0.9, 1)]
#[case::confidence(|new: &mut NewReflection| new.confidence = 1.0, 1)]
#[case::age(|_: &mut NewReflection| (), 99)]
fn recall_weighs(#[case] better: fn(&mut NewReflection), #[case] day: i64) {
    let (_folder, mut memory) = opened();
    for (job, text) in [("a", "the cache was cold"), ("b", "the cache was full")] {
        reflect(&mut memory, job, 1, reflection(text));
    }
    let mut new = reflection("the cache was lost");
    better(&mut new);
    reflect(&mut memory, "c", day, new);
    assert_eq!(texts(&memory, "cache")[0], "the cache was lost");
}

/// Spec/5 `has_seen_error_before`.
#[test]
fn an_error_is_known_again_in_another_place() {
    let (_folder, mut memory) = opened();
    let elsewhere = error_of_subject(SUBJECT, ERROR).unwrap();
    assert_eq!(memory.seen(elsewhere, None).unwrap(), None);
    learn(&mut memory, "a", 1, error(ERROR, 1));
    learn(&mut memory, "b", 3, error(ERROR, 1));
    let mut reflected = reflection("The module was not installed.");
    reflected.signature = Some(elsewhere);
    reflect(&mut memory, "c", 4, reflected);

    let seen = memory.seen(elsewhere, Some("/p")).unwrap().unwrap();
    assert_eq!((seen.occurrences, seen.first, seen.last), (2, at(1), at(3)));
    assert_eq!(seen.lessons[0].text, "The module was not installed.");
    assert_eq!(memory.seen(elsewhere, Some("/other")).unwrap(), None);
}

/// Spec/4 `record_lesson_outcome`: a moving average of what followed.
#[rstest]
#[case::helped(&[Effect::Helped], 0.65)]
#[case::failed(&[Effect::Failed], 0.35)]
#[case::unknown(&[Effect::Unknown], 0.5)]
#[case::both(&[Effect::Failed, Effect::Helped], 0.545)]
fn a_lesson_gains_and_loses(#[case] effects: &[Effect], #[case] expected: f64) {
    let (_folder, mut memory) = opened();
    let forgot = lesson("forgot the login", "always add it", None);
    let id = learn(&mut memory, "a", 1, forgot).remove(0);
    for (n, effect) in effects.iter().enumerate() {
        learn(&mut memory, &format!("b{n}"), 2, shown(&id, *effect));
    }
    let found = recall(&memory, &about("login")).remove(0);
    assert!((found.effectiveness - expected).abs() < 1e-9);
    assert_eq!(found.times_applied, effects.len() as u64);
}

#[test]
fn a_lesson_that_fails_twice_is_shown_no_more_and_one_that_helps_again_is() {
    let (_folder, mut memory) = opened();
    let right = lesson("it was missing", "pip install requests", Some(ERROR));
    learn(&mut memory, "a", 1, right);
    let effectiveness = |memory: &Memory| {
        let index = memory.index("/p", at(9)).unwrap();
        let (_, hints) = index.by_signature.first()?;
        Some((hints[0].id.clone(), hints[0].effectiveness))
    };
    let (id, birth) = effectiveness(&memory).unwrap();
    assert!((birth - BIRTH).abs() < 1e-9, "{birth}");
    for job in ["b", "c"] {
        learn(&mut memory, job, 2, shown(&id, Effect::Failed));
    }
    assert_eq!(effectiveness(&memory), None);
    learn(&mut memory, "d", 3, shown(&id, Effect::Helped));
    assert!(effectiveness(&memory).is_some());
}

/// A job that teaches a bit of everything; all teach the same.
fn lessons(n: u64, shown_id: &str) -> JobRecord {
    let mut record = JobRecord::new(job(&format!("job-{n}"), "/p", at(1)));
    record.learned = vec![
        Learned::Reflection(reflection("Quote the path.")),
        lesson("forgot the login", "always add it", None),
        error(ERROR, 1),
        shown(shown_id, Effect::Helped),
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

    /// Issue "Reflections and lessons": the counts stay exact whatever is replayed.
    #[test]
    fn what_is_replayed_is_not_counted_again(
        jobs in 1_u64..6,
        replayed in proptest::collection::vec(0_u64..6, 0..10),
    ) {
        let (folder, mut memory) = opened();
        for n in 0..jobs {
            memory.record(&lessons(n, "les-000000000000")).unwrap();
        }
        let all = |memory: &Memory| (memory.stats(None).unwrap(), recall(memory, &RecallQuery::best(9)));
        let before = all(&memory);
        prop_assert_eq!(before.0.total_reflections, jobs);
        prop_assert_eq!(before.0.error_occurrences, jobs);
        for n in replayed {
            memory = folder.open();
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
    let (_folder, mut memory) = opened();
    memory.record(&lessons(1, "")).unwrap();
    let project = ForgetWhat::Project("/p".to_owned());
    let forgotten = memory.forget(&project, at(1)).unwrap();
    assert_eq!((forgotten.total(), forgotten.evaluations), (4, 1));
    memory.record(&lessons(1, "")).unwrap();
    assert_eq!(recall(&memory, &RecallQuery::best(9)), []);
    assert_eq!(recall(&memory, &about("path")), []);
}

/// What no run of the curator has settled stays, however full the bank is.
#[test]
fn the_least_important_leave_a_full_bank_first() {
    let (folder, mut memory) = opened();
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
    let database = rusqlite::Connection::open(&folder.file).unwrap();
    let settled = database.execute("UPDATE notes SET state = 'settled'", []);
    assert_eq!(settled, Ok(3));
    assert_eq!(memory.prune(&limits, at(2)).unwrap().lessons, 1);
    let left = ["mistake 0 → correction", "mistake 2 → correction"];
    assert_eq!(texts(&memory, "mistake"), left);
}

/// Spec/3: what is critical (0.8 and more) is always kept.
#[test]
fn what_is_unused_leaves_unless_it_is_critical() {
    let (_folder, mut memory) = opened();
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
