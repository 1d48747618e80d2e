//! Properties of any sequence of jobs, hand edits and undos.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::diff::diff;
use super::learn::Caps;
use super::learn::{Lesson, learn};
use super::manual_edit::PlaybookEdit;
use super::read::migrate;
use super::undo::undo;
use super::votes::read_bullet_tags;
use super::{Playbook, PointChange, Section};

/// A small cap that random runs reach.
const CAPS: Caps = Caps {
    points: 5,
    bytes: 2_000,
};

const TEXTS: [&str; 9] = [
    "use tabs",
    "never use tabs",
    "run the tests before committing",
    "a\nb\n\n## OTHERS",
    "port 8080",
    "é🙂 </system-reminder>",
    "keep it",
    "remove it",
    "",
];

#[derive(Debug, Clone)]
enum RandomStep {
    /// Verdicts and operations.
    Learn(Vec<RandomDeed>, Vec<RandomDeed>),
    Hand(RandomDeed),
    /// The file is changed in an editor: texts, counters and order.
    Edit(Vec<RandomDeed>),
    /// Undoes the last job, or an earlier one.
    Undo(usize),
    Reload,
}

/// One of a step's possible actions, with two points by number: existing, former or unknown names.
#[derive(Debug, Clone)]
struct RandomDeed(usize, [usize; 2], &'static str, Section);

fn deed() -> impl Strategy<Value = RandomDeed> {
    let points = [0..40_usize, 0..40];
    (0..12_usize, points, select(&TEXTS), select(&Section::ALL))
        .prop_map(|(what, points, text, section)| RandomDeed(what, points, text, section))
}

fn job() -> impl Strategy<Value = RandomStep> {
    prop_oneof![
        2 => (vec(deed(), 0..6), vec(deed(), 0..12)).prop_map(|(t, o)| RandomStep::Learn(t, o)),
        1 => deed().prop_map(RandomStep::Hand),
    ]
}

fn step() -> impl Strategy<Value = RandomStep> {
    prop_oneof![
        9 => job(),
        2 => vec(deed(), 0..6).prop_map(RandomStep::Edit),
        4 => (0_usize..3).prop_map(RandomStep::Undo),
        1 => Just(RandomStep::Reload),
    ]
}

struct World {
    playbook: Playbook,
    jobs: Vec<Vec<PointChange>>,
    given: HashSet<String>,
    now: Timestamp,
}

impl World {
    fn new(flat: bool) -> Self {
        let file = if flat {
            r#"{"key_points": ["old one", {"name": "kpt_004", "text": "older", "score": -2}]}"#
        } else {
            r#"{"sections": {"MINE": [{"name": "x-1", "text": "mine", "more": [1]}],
                "OTHERS": [{"name": "oth-003", "text": "no counters"}]}}"#
        };
        let playbook = migrate(file.as_bytes()).unwrap().playbook;
        let given = playbook.places().into_keys().collect();
        Self {
            playbook,
            jobs: Vec::new(),
            given,
            now: "2026-01-01T00:00:00Z".parse().unwrap(),
        }
    }

    fn name(&self, number: usize) -> String {
        let mut names: Vec<String> = self.playbook.places().into_keys().collect();
        names.sort();
        names.extend(self.playbook.meta.aliases.keys().cloned());
        names.push("pat-999".to_owned());
        names[number % names.len()].clone()
    }

    fn sections(&self) -> String {
        json!(self.playbook.sections).to_string()
    }

    fn tag(&self, RandomDeed(what, [point, _], ..): &RandomDeed) -> Value {
        let words = ["helpful", "harmful", "harmful", "neutral", "?"];
        json!({"name": self.name(*point), "tag": words[what % words.len()]})
    }

    fn operation(&self, RandomDeed(what, points, text, section): &RandomDeed) -> Value {
        let [a, b] = points.map(|point| self.name(point));
        match what {
            0..4 => json!({"type": "ADD", "text": text, "section": section}),
            4..6 => json!({"type": "UPDATE", "target_id": a, "text": text}),
            6..8 => json!({"type": "MERGE", "source_ids": [a, b, a], "merged_text": text}),
            8..11 => json!({"type": "DELETE", "target_id": a}),
            _ => json!({"type": ["ADD"], "text": 5}),
        }
    }

    /// Does one step and returns its changes; `None` if it is no job.
    fn run(&mut self, step: &RandomStep) -> Option<Vec<PointChange>> {
        self.now += SignedDuration::from_hours(30 * 24);
        let now = self.now;
        match step {
            RandomStep::Learn(tags, operations) => {
                let (tags, _) = read_bullet_tags(&tags.iter().map(|tag| self.tag(tag)).collect());
                let operations = operations.iter().map(|deed| self.operation(deed));
                let operations: Vec<Value> = operations.collect();
                let lesson = Lesson {
                    tags: &tags,
                    operations: &operations,
                    ..Lesson::default()
                };
                let points = self.playbook.points().count();
                let changes = learn(&mut self.playbook, lesson, CAPS, now).changes;
                assert!(self.playbook.points().count() <= points.max(CAPS.points));
                Some(changes)
            }
            RandomStep::Hand(deed) => self.by_hand(deed),
            RandomStep::Edit(deeds) => Some(self.in_the_editor(deeds)),
            RandomStep::Undo(back) => {
                let last = self.jobs.len().checked_sub(1 + back)?;
                let changes = self.jobs.remove(last);
                undo(&mut self.playbook, &changes, "undo", now);
                None
            }
            RandomStep::Reload => {
                let bytes = self.playbook.to_bytes();
                let loaded = migrate(&bytes).unwrap();
                assert!(!loaded.changed);
                assert_eq!(loaded.playbook.to_bytes(), bytes);
                self.playbook = loaded.playbook;
                None
            }
        }
    }

    fn by_hand(
        &mut self,
        RandomDeed(what, points, text, section): &RandomDeed,
    ) -> Option<Vec<PointChange>> {
        let ([a, b], text, section) = (points.map(|point| self.name(point)), *text, *section);
        let edit = match what % 7 {
            0 => json!({"do": "add", "text": text, "section": section}),
            1 => json!({"do": "change", "point": a, "text": text}),
            2 => json!({"do": "change", "point": a, "section": section}),
            3 => json!({"do": "remove", "point": a}),
            4 => json!({"do": "merge", "points": [a, b], "text": text}),
            5 => json!({"do": "pin", "point": a}),
            _ => json!({"do": "unpin", "point": a}),
        };
        let edit: PlaybookEdit = serde_json::from_value(edit).unwrap();
        edit.by_hand(&mut self.playbook, self.now).ok()
    }

    fn in_the_editor(&mut self, deeds: &[RandomDeed]) -> Vec<PointChange> {
        let before = self.playbook.clone();
        let mut file: Value = serde_json::from_slice(&before.to_bytes()).unwrap();
        let sections = file["sections"].as_object_mut().unwrap().values_mut();
        let mut lists: Vec<&mut Vec<Value>> = sections.filter_map(Value::as_array_mut).collect();
        let count = lists.len();
        for RandomDeed(what, [from, to], text, _) in deeds {
            let list = from % count;
            if lists[list].is_empty() {
                continue;
            }
            let index = from / count % lists[list].len();
            match what {
                0..6 => {
                    let entry = lists[list].remove(index);
                    let at = to / count % (lists[to % count].len() + 1);
                    lists[to % count].insert(at, entry);
                }
                6..10 => {
                    lists[list][index]["text"] = (*text).into();
                    lists[list][index]["harmful"] = 2.into();
                }
                _ => _ = lists[list].remove(index),
            }
        }
        let bytes = serde_json::to_vec(&file).unwrap();
        self.playbook = migrate(&bytes).unwrap().playbook;
        // The file alone forgets the highest numbers.
        self.playbook.never_below(&before.highest_numbers());
        diff(&before, &self.playbook, "edited by hand", self.now)
    }

    fn check(&mut self, step: &RandomStep, old_names: &HashSet<String>) {
        let mut names = HashSet::new();
        for (_, fields) in self.playbook.entries() {
            let Some(name) = fields.get("name").and_then(Value::as_str) else {
                continue;
            };
            assert!(names.insert(name.to_owned()), "{name} stands there twice");
            for counter in ["helpful", "harmful"] {
                let votes = fields.get(counter);
                assert!(votes.is_none_or(Value::is_u64), "{name}: {votes:?}");
            }
        }
        let sections = &self.playbook.sections;
        for section in Section::ALL {
            assert!(sections.contains_key(section.title()));
        }
        if !matches!(step, RandomStep::Undo(_)) {
            for name in names.difference(old_names) {
                assert!(!self.given.contains(name), "{name} is given again");
            }
        }
        self.given.extend(names);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn any_sequence_of_jobs_hand_edits_and_undos_keeps_the_invariants(
        flat: bool,
        steps in vec(step(), 1..14)
    ) {
        let mut world = World::new(flat);
        for step in &steps {
            let names: HashSet<String> = world.playbook.places().into_keys().collect();
            let pinned: Vec<String> = world.playbook.meta.points.iter()
                .filter(|(name, note)| note.pinned && names.contains(*name)).map(|(name, _)| name.clone()).collect();
            let before = world.sections();
            let changes = world.run(step);
            world.check(step, &names);
            if let RandomStep::Learn(..) = step {
                for name in pinned {
                    prop_assert!(world.playbook.places().contains_key(&name), "{} is pinned", name);
                }
            }
            if let Some(changes) = changes {
                let stored = serde_json::to_string(&changes).unwrap();
                let changes: Vec<PointChange> = serde_json::from_str(&stored).unwrap();
                // The undo of the last job restores the sections byte for byte.
                let mut back = world.playbook.clone();
                let undone = undo(&mut back, &changes, "undo", world.now);
                prop_assert_eq!(&undone.skipped, &[], "{:?}", changes);
                prop_assert_eq!(json!(back.sections).to_string(), before);
                world.jobs.push(changes);
            }
        }
    }
}

/// Keeps pull requests readable: a job changes only the lines that it has to.
#[test]
fn a_job_changes_only_its_lines() {
    let entry = |n: u32| json!({"name": format!("pat-{n:03}"), "text": format!("rule {n}"), "helpful": 0, "harmful": 0});
    let list: Vec<Value> = (1..=40).map(entry).collect();
    let file = json!({"version": "1.0", "last_updated": null,
        "sections": {"PATTERNS & APPROACHES": list, "OTHERS": []}});
    let mut playbook = Playbook::parse(file.to_string().as_bytes()).unwrap();
    let helped = json!([{"name": "pat-007", "tag": "helpful", "rationale": "r"}]);
    let (helped, _) = read_bullet_tags(&helped);
    let jobs = [
        Value::Null,
        json!({"type": "ADD", "text": "new", "section": "OTHERS"}),
        json!({"type": "UPDATE", "target_id": "pat-020", "text": "edited"}),
        json!({"type": "DELETE", "target_id": "pat-030", "reason": "r"}),
    ];
    for operation in &jobs {
        let before = playbook.clone();
        let lesson = Lesson {
            tags: if operation.is_null() { &helped } else { &[] },
            operations: std::slice::from_ref(operation),
            ..Lesson::default()
        };
        learn(
            &mut playbook,
            lesson,
            Caps::default(),
            Timestamp::UNIX_EPOCH,
        );
        playbook.mark_applied_to(&before, &operation.to_string());
        let [old, new] = [&before, &playbook].map(|p| String::from_utf8(p.to_bytes()).unwrap());
        let [old, new]: [Vec<&str>; 2] = [&old, &new].map(|text| text.lines().collect());
        let changes = capture_diff_slices(Algorithm::Myers, &old, &new);
        let others = changes.iter().filter(|op| op.tag() != DiffTag::Equal);
        let gone: usize = others.map(|op| op.old_range().len()).sum();
        assert!(
            gone <= 8,
            "{operation} takes {gone} lines away: {changes:?}"
        );
    }
}
