//! Votes that err: after 30 sessions harmful key points are not shown and good ones do not rest.

use jiff::Timestamp;
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::json;

use super::Playbook;
use super::context::{Admission, InjectionLimits, context};
use super::frame::Frame;
use super::proof::{ProofRecord, Stage};
use super::render::TEMPLATE;
use super::shown::{each, in_text};
use super::tags::{BulletTag, Tag, apply_bullet_tags};

const POINTS: usize = 200;
const SESSIONS: u64 = 30;
const SEEDS: u64 = 20;
/// How often a session has to do with a point that it is shown.
const TOUCHED: f64 = 0.3;
/// How often the verdict on a point is another than its worth.
const WRONG: f64 = 0.2;

/// What a point is worth: of five, three help, one harms and one does neither.
fn worth(n: usize) -> Tag {
    match n % 5 {
        0 => Tag::Harmful,
        1 => Tag::Neutral,
        _ => Tag::Helpful,
    }
}

fn verdict(worth: Tag, random: &mut SmallRng) -> Tag {
    let all = [Tag::Helpful, Tag::Neutral, Tag::Harmful];
    let others = all.map(|tag| (tag != worth).then_some(tag));
    let mut others = others.into_iter().flatten();
    if random.random_bool(WRONG) {
        others.nth(random.random_range(0..2)).unwrap_or(worth)
    } else {
        worth
    }
}

fn name(n: usize) -> String {
    format!("oth-{n:03}")
}

fn shown(playbook: &Playbook, proof: &ProofRecord, now: Timestamp) -> Vec<String> {
    let bytes = playbook.to_bytes();
    let admit = |point: &super::Point<'_>| match proof.stage(point) {
        Stage::Resting => Admission::Resting,
        _ => Admission::Given,
    };
    let given = context(
        &bytes,
        Frame::of(TEMPLATE),
        InjectionLimits::FULL,
        (now, proof),
        admit,
    );
    let text = given.unwrap().text.unwrap();
    each(&in_text(&text))
        .map(|(name, _)| name.to_owned())
        .collect()
}

/// The harmful points that are shown in the end, and the good ones that rest.
fn play(seed: u64) -> (usize, usize) {
    let mut random = SmallRng::seed_from_u64(seed);
    let now: Timestamp = "2026-11-21T00:00:00Z".parse().unwrap();
    let about = "what this project's parser does with an empty line and how its release is cut";
    let points = (0..POINTS).map(|n| json!({"name": name(n), "text": format!("{n}: {about}")}));
    let file = json!({"sections": {"OTHERS": points.collect::<Vec<_>>()}}).to_string();
    let mut playbook = Playbook::parse(file.as_bytes()).unwrap();
    let mut proof = ProofRecord::default();
    for _ in 0..SESSIONS {
        proof.sessions += 1;
        for name in shown(&playbook, &proof, now) {
            let known = proof.points.entry(name.clone()).or_default();
            known.shown += 1;
            if !random.random_bool(TOUCHED) {
                continue;
            }
            let number = name["oth-".len()..].parse().unwrap();
            let tag = verdict(worth(number), &mut random);
            let rationale = String::new();
            apply_bullet_tags(
                &mut playbook,
                &[BulletTag {
                    name,
                    tag,
                    rationale,
                }],
            );
        }
    }
    let last = shown(&playbook, &proof, now);
    let of = |tag| (0..POINTS).filter(move |n| worth(*n) == tag).map(name);
    let is_resting = |name: &String| {
        let point = playbook.named(name).unwrap();
        proof.stage(&point) == Stage::Resting
    };
    (
        of(Tag::Harmful).filter(|name| last.contains(name)).count(),
        of(Tag::Helpful).filter(is_resting).count(),
    )
}

#[test]
fn with_a_fifth_of_the_verdicts_wrong_harmful_points_go_and_good_ones_stay() {
    let (harmful, good) = (POINTS / 5, POINTS / 5 * 3);
    println!(
        "| seed | of {harmful} harmful ones shown | of {good} good ones resting |\n|---:|---:|---:|"
    );
    let (mut all_shown, mut all_resting) = (0, 0);
    for seed in 0..SEEDS {
        let (shown, resting) = play(seed);
        println!("| {seed} | {shown} | {resting} |");
        all_shown += shown;
        all_resting += resting;
    }
    let seeds = usize::try_from(SEEDS).unwrap();
    assert!(all_shown * 100 <= 5 * harmful * seeds, "{all_shown} shown");
    assert!(all_resting * 100 <= 2 * good * seeds, "{all_resting} rest");
}
