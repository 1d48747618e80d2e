use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::playbook::Due;
use crate::playbook::ops::apply_operations;
use crate::playbook::votes::{apply_bullet_tags, read_bullet_tags};

fn at(second: u32) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + i64::from(second)).unwrap()
}

/// Makes a playbook with these points in PATTERNS: `pat-001 text 1/0, pat-002 …`.
fn playbook(second: u32, points: &str) -> Playbook {
    let mut list = Vec::new();
    let mut notes = json!({});
    for point in points.split(", ").filter(|point| !point.is_empty()) {
        let [name, text, votes] = point.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let votes: Vec<u64> = votes
            .split('/')
            .map(|votes| votes.parse().unwrap())
            .collect();
        list.push(json!({"name": name, "text": text, "helpful": votes[0], "harmful": votes[1]}));
        notes[name] = json!({"added": at(second).to_string()});
    }
    let file = json!({"version": "1.0", "last_updated": at(second).to_string(),
        "sections": {"PATTERNS & APPROACHES": list}, "playbook": {"points": notes}});
    Playbook::parse(file.to_string().as_bytes()).unwrap()
}

#[test]
fn a_lost_text_is_told_and_kept() {
    let base = playbook(0, "pat-001 a 1/0");
    let sides = [
        playbook(1, "pat-001 older 1/0"),
        playbook(2, "pat-001 newer 1/0"),
    ];
    let merged = merge(Some(&base), [&sides[0], &sides[1]]).unwrap();
    let told = r#"pat-001 was edited on both sides: kept "newer", not "older""#;
    assert_eq!(merged.decided, [told]);
    let file: Value = serde_json::from_slice(&merged.playbook.to_bytes()).unwrap();
    assert_eq!(file["playbook"]["points"]["pat-001"]["other_text"], "older");
}

#[test]
fn a_cue_of_one_side_is_kept_and_of_two_the_later_one() {
    let with = |second, command: &str| {
        let mut file = playbook(second, "pat-001 a 1/0").to_bytes();
        let mut json: Value = serde_json::from_slice(&file).unwrap();
        if !command.is_empty() {
            let due = json!({"when": {"command": command}, "guard": true});
            let note = &mut json["playbook"]["points"]["pat-001"];
            note["when"] = due["when"].clone();
            note["guard"] = due["guard"].clone();
            file = json.to_string().into_bytes();
        }
        Playbook::parse(&file).unwrap()
    };
    let merged = |ours: &str, theirs: &str| {
        let sides = [with(1, ours), with(2, theirs)];
        let merged = merge(Some(&with(0, "")), [&sides[0], &sides[1]]).unwrap();
        let point = merged.playbook.named("pat-001");
        point.unwrap().due().map(Due::told)
    };
    let told = |command: &str| Some(format!("at command \"{command}\", before it runs"));
    assert_eq!(merged("make a", ""), told("make a"));
    assert_eq!(merged("", "make b"), told("make b"));
    assert_eq!(merged("make a", "make b"), told("make b"));
}

#[test]
fn what_we_know_nothing_of_is_merged_by_key() {
    let file = |more: &Value| {
        let mut file = json!({"version": "1.0", "mine": 1, "sections": {"OTHERS":
            [{"name": "oth-001", "text": "a", "tags": ["x"]}, "a note", "another"]}});
        for (path, value) in more.as_object().unwrap() {
            *file.pointer_mut(path).unwrap() = value.clone();
        }
        Playbook::parse(file.to_string().as_bytes()).unwrap()
    };
    let base = file(&json!({}));
    let ours = file(&json!({"/mine": 2, "/sections/OTHERS/1": "a new note"}));
    let theirs = file(&json!({"/sections/OTHERS/0/tags": ["x", "y"]}));
    let merged = merge(Some(&base), [&ours, &theirs]).unwrap().playbook;
    let merged: Value = serde_json::from_slice(&merged.to_bytes()).unwrap();
    assert_eq!(merged["mine"], 2);
    let point = json!({"name": "oth-001", "text": "a", "tags": ["x", "y"]});
    let list = json!([point, "another", "a new note"]);
    assert_eq!(merged["sections"]["OTHERS"], list);
}

/// The effect of a test's job: votes on texts, and a new text.
#[derive(Debug, Clone)]
struct Scenario {
    votes: Vec<(usize, bool)>,
    adds: Option<usize>,
}

fn text(number: usize) -> String {
    format!(
        "rule of the word {}",
        ["ant", "bee", "cat", "dog", "eel", "fox"][number % 6]
    )
}

fn work() -> impl Strategy<Value = Scenario> {
    let adds = proptest::option::of(0..6_usize);
    (vec((0..6_usize, any::<bool>()), 0..4), adds)
        .prop_map(|(votes, adds)| Scenario { votes, adds })
}

fn name_of(playbook: &Playbook, said: &str) -> Option<String> {
    let mut points = playbook.points();
    points.find(|p| p.text == said).map(|p| p.name.to_owned())
}

fn apply(playbook: &mut Playbook, job: &str, work: &Scenario, now: Timestamp) {
    let before = playbook.clone();
    for (number, helped) in &work.votes {
        let Some(name) = name_of(playbook, &text(*number)) else {
            continue;
        };
        let tag = if *helped { "helpful" } else { "harmful" };
        let tags = json!([{"name": name, "tag": tag, "rationale": "r"}]);
        apply_bullet_tags(playbook, &read_bullet_tags(&tags).0);
    }
    if let Some(number) = work
        .adds
        .filter(|number| name_of(playbook, &text(*number)).is_none())
    {
        let add = json!({"type": "ADD", "text": text(number), "section": "OTHERS"});
        apply_operations(playbook, &[add], "r", now);
    }
    playbook.mark_applied_to(&before, job);
    playbook.set_last_updated(now);
}

/// Returns the counters of a playbook by text, regardless of its points' names.
fn by_text(playbook: &Playbook) -> BTreeMap<String, (u64, u64)> {
    let points = playbook.points();
    points
        .map(|p| (p.text.to_owned(), (p.helpful, p.harmful)))
        .collect()
}

proptest! {
    /// The result equals sequential learning: a vote counts for the point at its time.
    #[test]
    fn nothing_is_lost_and_nothing_doubled(
        before in vec(work(), 0..6),
        [ours, theirs] in [vec(work(), 0..6), vec(work(), 0..6)],
        // Jobs that were applied on one side and cherry-picked by the other.
        both in vec(work(), 0..3),
        has_base in any::<bool>(),
    ) {
        let mut base = Playbook::empty();
        let mut clock = 0;
        let mut tick = || { clock += 1; at(clock) };
        for (number, work) in before.iter().enumerate() {
            apply(&mut base, &format!("a-{number}"), work, tick());
        }
        let mut expected: BTreeMap<String, (u64, u64)> = by_text(&base);
        let mut sides = [base.clone(), base.clone()];
        for (number, work) in both.iter().enumerate() {
            let now = tick();
            let was = by_text(&sides[0]);
            for side in &mut sides {
                apply(side, &format!("b-{number}"), work, now);
            }
            add_moves(&mut expected, &was, &by_text(&sides[0]));
        }
        for (at, works) in [&ours, &theirs].into_iter().enumerate() {
            for (number, work) in works.iter().enumerate() {
                let was = by_text(&sides[at]);
                apply(&mut sides[at], &format!("c{at}-{number}"), work, tick());
                add_moves(&mut expected, &was, &by_text(&sides[at]));
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
        let names: Vec<String> = merged.points().map(|p| p.name.to_owned()).collect();
        let unique: std::collections::BTreeSet<&String> = names.iter().collect();
        prop_assert_eq!(unique.len(), names.len());
        prop_assert_eq!(Playbook::parse(&merged.to_bytes()).unwrap().to_bytes(), merged.to_bytes());
        // A criss-cross merge: each side continues from the merge, and both are merged again.
        let mut further = [merged.clone(), merged.clone()];
        let one = Scenario { votes: vec![(0, true), (1, false)], adds: Some(2) };
        let mut expected = by_text(&merged);
        for (at, side) in further.iter_mut().enumerate() {
            let was = by_text(side);
            apply(side, &format!("d{at}"), &one, tick());
            add_moves(&mut expected, &was, &by_text(side));
        }
        let last = merge(Some(&merged), [&further[0], &further[1]]).unwrap().playbook;
        prop_assert_eq!(by_text(&last), expected);
    }
}

fn add_moves(
    sum: &mut BTreeMap<String, (u64, u64)>,
    was: &BTreeMap<String, (u64, u64)>,
    now: &BTreeMap<String, (u64, u64)>,
) {
    for (text, counts) in now {
        let before = was.get(text).copied().unwrap_or_default();
        let known = sum.entry(text.clone()).or_default();
        known.0 += counts.0 - before.0;
        known.1 += counts.1 - before.1;
    }
}

const PLAIN: &str = "{\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> topic\n}\n";
const WITH_BASE: &str =
    "<<<<<<< HEAD\r\nours\r\n||||||| 1234567\r\nbase\r\n=======\r\ntheirs\r\n>>>>>>> topic\r\n";
const NESTED: &str = "<<<<<<< HEAD\nours\n||||||| merged\n<<<<<<<<< one\na\n=========\nb\n>>>>>>>>> two\n=======\ntheirs\n>>>>>>> topic";

#[rstest]
#[case::plain(PLAIN, Some(("{\nours\n}\n", None, "{\ntheirs\n}\n")))]
#[case::with_the_base(WITH_BASE, Some(("ours\r\n", Some("base\r\n"), "theirs\r\n")))]
#[case::nested(NESTED, Some(("ours\n",
    Some("<<<<<<<<< one\na\n=========\nb\n>>>>>>>>> two\n"), "theirs\n")))]
#[case::cut("<<<<<<< HEAD\nours\n=======\n", None)]
#[case::in_a_string("{\"a\": \"<<<<<<< HEAD ======= >>>>>>> topic\"}", None)]
fn a_file_with_conflict_markers_is_taken_apart(
    #[case] file: &str,
    #[case] expected: Option<(&str, Option<&str>, &str)>,
) {
    let expected = expected.map(|(ours, base, theirs)| conflict::Sides {
        ours: ours.into(),
        base: base.map(Into::into),
        theirs: theirs.into(),
    });
    assert_eq!(conflict::sides(file.as_bytes()), expected);
    assert!(conflict::has_markers(file.as_bytes()) || expected.is_none());
}
