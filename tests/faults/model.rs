//! The model behind the loopback API. Its answers depend only on the citations, so the same
//! sessions teach the same in any order and division.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::common::api::Request;

/// The lessons that the six citations teach.
pub(crate) const LESSONS: [&str; 6] = [
    "run the linter before pushing a branch",
    "database migrations need a rollback script",
    "prefer tabs in makefiles of this repository",
    "the staging server restarts every night at two",
    "never edit generated protobuf sources by hand",
    "screenshots of failing browser tests are kept for a week",
];

pub(crate) fn seed(number: usize) -> String {
    let texts = [
        "check the exit status of every command",
        "keep functions below forty lines",
        "ask before deleting a folder",
        "translations live beside the templates",
        "the cache is warmed by the first request",
        "use the fake clock when testing timers",
    ];
    texts[number - 1].to_owned()
}

/// Tags the evidence's citations as helpful and takes a note of each; makes a key point of each new
/// note.
pub(crate) fn answer(prompt: &str) -> String {
    if is_curators(prompt) {
        let operations: Vec<_> = new_notes(prompt)
            .map(|(id, text)| {
                json!({"type": "ADD", "text": text, "section": "OTHERS", "grounds": [id]})
            })
            .collect();
        json!({"reasoning": "because", "operations": operations}).to_string()
    } else {
        let cited = cited(prompt, "By [pat-00");
        let analysis: Vec<_> = cited.iter().map(|n| format!("{CITED}{n}")).collect();
        let names = cited.iter().map(|n| format!("pat-{n:03}"));
        let tags: Vec<_> = names
            .map(|name| json!({"name": name, "tag": "helpful", "rationale": "cited"}))
            .collect();
        let notes = cited.iter().map(|n| LESSONS[n - 1]);
        let notes: Vec<_> = notes
            .map(|text| json!({"task_type": "work", "correction": text, "events": [1, 2, 3]}))
            .collect();
        json!({"analysis": analysis.join(" "), "bullet_tags": tags, "notes": notes}).to_string()
    }
}

/// Returns the notes that no run has seen, each with its number: `n12 (1 session): …`.
fn new_notes(prompt: &str) -> impl Iterator<Item = (&str, &str)> {
    let listed = prompt
        .split_once("New notes:\n")
        .map_or("", |(_, rest)| rest);
    let lines = listed.lines().map_while(|line| line.split_once(" ("));
    let notes = lines.take_while(|(id, _)| id.starts_with('n'));
    notes.filter_map(|(id, rest)| Some((id, rest.split_once("): ")?.1)))
}

/// The name of a citation in an analysis.
pub(crate) const CITED: &str = "citation-number-";

pub(crate) fn is_curators(prompt: &str) -> bool {
    prompt.contains("merged_text") || prompt.contains("source_ids")
}

pub(crate) fn cited(text: &str, mark: &str) -> BTreeSet<usize> {
    text.match_indices(mark)
        .filter_map(|(at, _)| text[at + mark.len()..].chars().next()?.to_digit(10))
        .map(|digit| digit as usize)
        .filter(|n| (1..=6).contains(n))
        .collect()
}

pub(crate) fn about(analysis: &str) -> String {
    format!("{:?}", cited(analysis, CITED))
}

pub(crate) fn question(request: &Request) -> String {
    let prompt = request.prompt();
    if is_curators(&prompt) {
        let ids: Vec<&str> = new_notes(&prompt).map(|(id, _)| id).collect();
        format!("curator {}", ids.join(" "))
    } else {
        format!("reflector {:?}", cited(&prompt, "By [pat-00"))
    }
}

/// Returns a question that was asked after its answer had been stored, or more than twice in all.
pub(crate) fn paid_twice(
    before: &[Request],
    after: &[Request],
    stored: &BTreeSet<String>,
) -> Option<String> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for request in before {
        *times.entry(question(request)).or_default() += 1;
    }
    for request in after {
        let question = question(request);
        if stored.contains(&question) {
            return Some(format!(
                "asked again though its answer was stored: {question}"
            ));
        }
        *times.entry(question).or_default() += 1;
    }
    let often = times.into_iter().find(|(_, times)| *times > 2);
    often.map(|(question, times)| format!("asked {times} times: {question}"))
}
