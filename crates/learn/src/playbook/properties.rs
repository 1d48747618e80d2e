//! Properties of any sequence of jobs, hand edits and undos, and of any two branches.

use std::collections::{BTreeMap, HashSet};

use jiff::{SignedDuration, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use rstest::rstest;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use super::change::{diff, undo};
use super::ops::{Lesson, learn};
use super::ops::{PlaybookEdit, apply_operations};
use super::read::migrate;
use super::three_way::merge;
use super::votes::{LocalVotes, apply_bullet_tags, read_bullet_tags};
use super::{ChangeKind, Playbook, PointChange, Section};

/// A small cap that random runs reach.
const MAX_POINTS: usize = 5;

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

/// The numbers select existing, former or unknown points.
#[derive(Debug, Clone)]
struct RandomDeed(usize, [usize; 2], &'static str, Section);

fn deed() -> impl Strategy<Value = RandomDeed> {
    let points = [0..40_usize, 0..40];
    (0..12_usize, points, select(&TEXTS), select(&Section::ALL))
        .prop_map(|(what, points, text, section)| RandomDeed(what, points, text, section))
}

fn lesson() -> impl Strategy<Value = RandomStep> {
    (vec(deed(), 0..6), vec(deed(), 0..12)).prop_map(|(t, o)| RandomStep::Learn(t, o))
}

fn step() -> impl Strategy<Value = RandomStep> {
    prop_oneof![
        6 => lesson(),
        3 => deed().prop_map(RandomStep::Hand),
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
        let given = playbook.names().map(str::to_owned).collect();
        Self {
            playbook,
            jobs: Vec::new(),
            given,
            now: "2026-01-01T00:00:00Z".parse().unwrap(),
        }
    }

    fn name(&self, number: usize) -> String {
        let mut names: Vec<String> = self.playbook.names().map(str::to_owned).collect();
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

    /// Returns `None` for a step that is no job.
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
                let changes = learn(&mut self.playbook, lesson, MAX_POINTS, now).changes;
                assert!(self.playbook.points().count() <= points.max(MAX_POINTS));
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
            _ => json!({"do": "pin", "point": a, "off": true}),
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
        for (_, _, fields) in self.playbook.objects() {
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
            let names: HashSet<String> = world.playbook.names().map(str::to_owned).collect();
            let pinned: Vec<String> = world.playbook.meta.points.iter()
                .filter(|(name, note)| note.pinned && names.contains(*name)).map(|(name, _)| name.clone()).collect();
            let before = world.sections();
            let changes = world.run(step);
            world.check(step, &names);
            if let RandomStep::Learn(..) = step {
                for name in pinned {
                    prop_assert!(world.playbook.state(&name).is_some(), "{} is pinned", name);
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

    /// Checks that the file and the local votes together equal a single file for any jobs and any
    /// changes of the setting. With local votes alone the file stays unchanged.
    #[test]
    fn a_file_and_its_local_votes_equal_one_file(works in vec((lesson(), any::<bool>()), 0..12)) {
        let mut whole = World::new(false);
        let mut parts = World::new(false);
        let (mut file, mut votes) = (whole.playbook.clone(), LocalVotes::new());
        let texts = |playbook: &Playbook| -> Vec<(String, String)> {
            let points = playbook.points();
            points.map(|p| (p.name.to_owned(), p.text.to_owned())).collect()
        };
        for (step, is_local) in works {
            whole.run(&step);
            parts.playbook = file.clone().with_votes(&votes);
            let changes = parts.run(&step).unwrap_or_default();
            let mut kinds = changes.iter().map(|change| change.kind);
            let is_vote = |kind| [ChangeKind::Helpful, ChangeKind::Harmful].contains(&kind);
            let (new, of_job) = parts.playbook.clone().parted(&file, &votes, is_local);
            if is_local && kinds.all(is_vote) {
                prop_assert_eq!(new.to_bytes(), file.to_bytes());
            }
            prop_assert!(is_local || of_job.is_empty());
            file = new;
            for (name, vote) in &of_job {
                votes.entry(name.clone()).or_default().add(vote);
            }
            let [both, one] = [&file.clone().with_votes(&votes), &whole.playbook].map(|playbook| {
                let used = playbook.points().map(|p| p.note.and_then(|note| note.used));
                (by_text(playbook), texts(playbook), used.collect::<Vec<_>>())
            });
            prop_assert_eq!(both, one);
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
        learn(&mut playbook, lesson, 1_000, Timestamp::UNIX_EPOCH);
        playbook.mark_applied_to(&before, &operation.to_string());
        let [old, new] = [&before, &playbook].map(|p| String::from_utf8(p.to_bytes()).unwrap());
        let lines = TextDiff::from_lines(&old, &new);
        let lines = lines.iter_all_changes();
        let gone = lines.filter(|line| line.tag() == ChangeTag::Delete).count();
        assert!(gone <= 8, "{operation} takes {gone} lines away");
    }
}

fn at(second: u32) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + i64::from(second)).unwrap()
}

const TEXT: &str = "/sections/OTHERS/0/text";
const TAGS: &str = "/sections/OTHERS/0/tags";
const NOTE: &str = "/sections/OTHERS/1";
const WHEN: &str = "/playbook/points/oth-001/when";

fn cue(command: &str) -> Value {
    json!({WHEN: {"command": command}})
}

/// The first side is the later one; the values are by their places in the file.
#[rstest]
#[case::texts(json!({TEXT: "newer"}), json!({TEXT: "older"}), json!({TEXT: "newer",
    "/playbook/points/oth-001/other_text": "older",
    "/decided/0": "oth-001 was edited on both sides: kept \"newer\", not \"older\""}))]
#[case::unknown_keys(json!({"/mine": 2, NOTE: "a new note"}), json!({TAGS: ["x", "y"]}), json!({"/mine": 2,
    "/sections/OTHERS": [{"name": "oth-001", "text": "a", "tags": ["x", "y"]}, "b", "a new note"]}))]
#[case::an_earlier_cue(json!({}), cue("make a"), cue("make a"))]
#[case::a_later_cue(cue("make b"), json!({}), cue("make b"))]
#[case::two_cues(cue("make b"), cue("make a"), cue("make b"))]
fn fields_are_merged_by_key_and_of_two_changes_the_later_one_is_kept(
    #[case] ours: Value,
    #[case] theirs: Value,
    #[case] expected: Value,
) {
    let file = |(second, changes): (u32, &Value)| {
        let mut file = json!({"version": "1.0", "mine": 1, "last_updated": at(second).to_string(),
            "sections": {"OTHERS": [{"name": "oth-001", "text": "a", "tags": ["x"]}, "a note", "b"]},
            "playbook": {"points": {"oth-001": {"when": {}, "guard": false}}}});
        for (path, value) in changes.as_object().unwrap() {
            *file.pointer_mut(path).unwrap() = value.clone();
        }
        Playbook::parse(file.to_string().as_bytes()).unwrap()
    };
    let [base, theirs, ours] = [(1, &json!({})), (2, &theirs), (3, &ours)].map(file);
    let merged = merge(Some(&base), [&ours, &theirs]).unwrap();
    let mut file: Value = serde_json::from_slice(&merged.playbook.to_bytes()).unwrap();
    file["decided"] = merged.decided.into();
    for (path, value) in expected.as_object().unwrap() {
        assert_eq!(file.pointer(path), Some(value));
    }
}

/// The votes of a job by the numbers of texts, and the text that it adds.
type Work = (Vec<(usize, bool)>, Option<usize>);

fn work() -> impl Strategy<Value = Work> {
    let votes = vec((0..6_usize, any::<bool>()), 0..4);
    (votes, proptest::option::of(0..6_usize))
}

/// The counters of a playbook by text, regardless of its points' names.
type Counters = BTreeMap<String, (u64, u64)>;

fn by_text(playbook: &Playbook) -> Counters {
    let points = playbook.points();
    points
        .map(|p| (p.text.to_owned(), (p.helpful, p.harmful)))
        .collect()
}

fn apply(
    playbook: &mut Playbook,
    job: &str,
    (votes, adds): &Work,
    now: Timestamp,
    sum: &mut Counters,
) {
    let before = playbook.clone();
    let text = |number: usize| format!("rule of the word {number}");
    let name_of = |playbook: &Playbook, said: &str| {
        let mut points = playbook.points();
        points.find(|p| p.text == said).map(|p| p.name.to_owned())
    };
    for (number, helped) in votes {
        if let Some(name) = name_of(playbook, &text(*number)) {
            let tag = if *helped { "helpful" } else { "harmful" };
            let tags = json!([{"name": name, "tag": tag, "rationale": "r"}]);
            apply_bullet_tags(playbook, &read_bullet_tags(&tags).0);
        }
    }
    let new = adds.map(text);
    if let Some(new) = new.filter(|new| name_of(playbook, new).is_none()) {
        let add = json!({"type": "ADD", "text": new, "section": "OTHERS"});
        apply_operations(playbook, &[add], "r", now);
    }
    playbook.mark_applied_to(&before, job);
    playbook.set_last_updated(now);
    let was = by_text(&before);
    for (text, counts) in by_text(playbook) {
        let before = was.get(&text).copied().unwrap_or_default();
        let known = sum.entry(text).or_default();
        known.0 += counts.0 - before.0;
        known.1 += counts.1 - before.1;
    }
}

proptest! {
    /// The result equals sequential learning: a vote counts for the point at its time.
    #[test]
    fn a_merge_loses_nothing_and_doubles_nothing(
        before in vec(work(), 0..6),
        works in [vec(work(), 0..6), vec(work(), 0..6)],
        // Jobs that were applied on one side and cherry-picked by the other.
        both in vec(work(), 0..3),
        has_base in any::<bool>(),
    ) {
        let mut base = Playbook::empty();
        let mut expected = Counters::new();
        let mut clock = 0;
        let mut tick = || { clock += 1; at(clock) };
        for (number, work) in before.iter().enumerate() {
            apply(&mut base, &format!("a-{number}"), work, tick(), &mut expected);
        }
        let mut sides = [base.clone(), base.clone()];
        for (number, work) in both.iter().enumerate() {
            let now = tick();
            let [ours, theirs] = &mut sides;
            apply(ours, &format!("b-{number}"), work, now, &mut expected);
            apply(theirs, &format!("b-{number}"), work, now, &mut Counters::new());
        }
        for (at, works) in works.iter().enumerate() {
            for (number, work) in works.iter().enumerate() {
                apply(&mut sides[at], &format!("c{at}-{number}"), work, tick(), &mut expected);
            }
        }
        let with = has_base.then_some(&base);
        let merged = merge(with, [&sides[0], &sides[1]]).unwrap().playbook;
        prop_assert_eq!(by_text(&merged), expected, "{:?}", sides);
        let swapped = merge(with, [&sides[1], &sides[0]]).unwrap().playbook;
        prop_assert_eq!(swapped.to_bytes(), merged.to_bytes());
        // Merging it with either side again changes nothing, and names are unique.
        for side in &sides {
            let again = merge(Some(side), [&merged, side]).unwrap().playbook;
            prop_assert_eq!(again.to_bytes(), merged.to_bytes());
        }
        let names: HashSet<&str> = merged.points().map(|p| p.name).collect();
        prop_assert_eq!(names.len(), merged.points().count());
        prop_assert_eq!(Playbook::parse(&merged.to_bytes()).unwrap().to_bytes(), merged.to_bytes());
        // A criss-cross merge: each side continues from the merge, and both are merged again.
        let mut further = [merged.clone(), merged.clone()];
        let one = (vec![(0, true), (1, false)], Some(2));
        let mut expected = by_text(&merged);
        for (at, side) in further.iter_mut().enumerate() {
            apply(side, &format!("d{at}"), &one, tick(), &mut expected);
        }
        let last = merge(Some(&merged), [&further[0], &further[1]]).unwrap().playbook;
        prop_assert_eq!(by_text(&last), expected);
    }
}
