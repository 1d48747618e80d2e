//! The tools for tests of history and hand edits: a playbook with votes, commands that change it,
//! and the output of `playbook log`.

use serde_json::{Value, json};

use super::api::{Api, Step};
use super::env::{TestEnv, write};
use super::session::Session;

/// A key point: name, text, helpful, harmful.
pub(crate) type Row<'a> = (&'a str, &'a str, u64, u64);

/// Writes a playbook of points with votes, each in the section of its name.
pub(crate) fn write_points(env: &TestEnv, points: &[Row<'_>]) {
    let names: Vec<(&str, &str)> = points.iter().map(|p| (p.0, p.1)).collect();
    env.write_playbook(&names);
    let mut playbook = env.playbook();
    for list in playbook["sections"].as_object_mut().unwrap().values_mut() {
        for point in list.as_array_mut().unwrap() {
            let row = points.iter().find(|row| point["name"] == row.0).unwrap();
            point["helpful"] = row.2.into();
            point["harmful"] = row.3.into();
        }
    }
    let text = serde_json::to_string_pretty(&playbook).unwrap();
    write(&env.playbook_path(), text);
}

/// Returns the key points of the file in its order, one line each: `pat-001 text 1/0`.
pub(crate) fn points(env: &TestEnv) -> Vec<String> {
    let playbook = env.playbook();
    let lists = playbook["sections"].as_object().unwrap().values();
    lists
        .flat_map(|list| list.as_array().unwrap())
        .map(|point| {
            let text = |key: &str| point[key].as_str().unwrap().to_owned();
            let (helpful, harmful) = (&point["helpful"], &point["harmful"]);
            format!("{} {} {helpful}/{harmful}", text("name"), text("text"))
        })
        .collect()
}

pub(crate) fn sections(env: &TestEnv) -> String {
    env.playbook()["sections"].to_string()
}

pub(crate) fn history(env: &TestEnv) -> Vec<Value> {
    let shown = env.cli(&["log", "--json", "-n", "100000"]).json();
    shown["jobs"].as_array().unwrap().clone()
}

/// Returns the changes of a job, in order: `add pat-001`.
pub(crate) fn deeds(job: &Value) -> Vec<String> {
    let changes = job["changes"].as_array().unwrap();
    changes
        .iter()
        .map(|change| {
            let word = |key: &str| change[key].as_str().unwrap().to_owned();
            format!("{} {}", word("kind"), word("point"))
        })
        .collect()
}

#[track_caller]
pub(crate) fn change(env: &TestEnv, args: &[&str]) -> String {
    let done = env.cli(&[args, &["--json"]].concat()).json();
    assert_eq!(done["applied"], true, "{done}");
    done["job"].as_str().unwrap().to_owned()
}

/// Ends a session that cites `pat-001`, and runs the worker.
pub(crate) fn end(env: &TestEnv, id: &str) {
    env.learn_from(&Session::following(id, "pat-001"));
}

/// Ends a session after which the curator merges key points; returns the id of the curator's job.
pub(crate) fn merge_points(env: &TestEnv, api: &Api, sources: [&str; 2], text: &str) -> String {
    let merge = json!([{"type": "MERGE", "source_ids": sources, "merged_text": text}]);
    api.now([
        Step::text(&tags(&[])),
        Step::text(&operations(&merge)),
        Step::votes(),
    ]);
    env.learn_from(&Session::following("merges", "pat-001"));
    history(env)[0]["job"].as_str().unwrap().to_owned()
}

/// Returns a curator's reply; each operation is based on all notes of the prompt.
pub(crate) fn operations(operations: &Value) -> String {
    json!({"reasoning": "as the session shows", "operations": operations}).to_string()
}

pub(crate) fn tags(tags: &[(&str, &str)]) -> String {
    let tags: Vec<Value> = tags
        .iter()
        .map(|(name, tag)| json!({"name": name, "tag": tag, "rationale": format!("{tag} here")}))
        .collect();
    json!({"analysis": "it went well", "bullet_tags": tags}).to_string()
}
