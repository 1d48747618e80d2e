//! Promise: without a model the same session has the same outcome, byte for byte, on every
//! run, in any order, and with other projects' sessions beside it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::prelude::*;
use crate::common::queue::record_by_hand;

/// A session with a bit of everything that the rules look at.
fn session(id: &str) -> Session {
    Session::new(id)
        .user("make the parser accept comments")
        .assistant("By [pat-001] the test first; [mis-002] says what not to touch.")
        .failed("npm test", "Exit code 1\nnpm: not found")
        .ran("pnpm test", "14 passed")
        .user("always use pnpm in this project")
        .rejected(
            "Edit",
            &json!({"file_path": "/home/user/project/gen.rs"}),
            "do not edit generated files",
        )
        .assistant("Understood, as [pat-001] has it.")
        .user("no, that is wrong, undo it")
        .done()
}

const POINTS: [(&str, &str); 3] = [
    ("pat-001", "write the test first"),
    ("mis-002", "do not edit generated files"),
    ("pref-003", "short commit messages"),
];

/// What a run leaves that must be the same on every run; folders have a name in common.
#[derive(Debug, PartialEq, Eq)]
struct Left {
    playbooks: BTreeMap<String, String>,
    /// The log's lines, in their order.
    log: Vec<String>,
    /// Prompts, and with them the evidence, by job.
    prompts: BTreeMap<PathBuf, String>,
    /// The rows of each table of the memory.
    memory: BTreeMap<String, Vec<String>>,
}

/// The texts without the name of the test's own folder.
fn plain(env: &TestEnv, text: &str) -> String {
    let root = env.root().to_string_lossy();
    // As the client calls the folder of a project.
    let dashed = root.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    text.replace(&*root, "<root>").replace(&dashed, "<root>")
}

/// All rows but those of the index of words, whose text they hold; without how long a job took,
/// as in the log, and without ids, which have the project's folder in them.
fn memory(env: &TestEnv) -> BTreeMap<String, Vec<String>> {
    let memory = rusqlite::Connection::open(env.state().join("memory.db")).unwrap();
    let mut tables = memory
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'recall%'")
        .unwrap();
    let tables = tables.query_map((), |row| row.get(0)).unwrap();
    let tables = tables.map(|name| {
        let name: String = name.unwrap();
        let mut select = memory.prepare(&format!("SELECT * FROM {name}")).unwrap();
        let columns: Vec<String> = select.column_names().map(ToString::to_string).collect();
        let mut rows = select.query(()).unwrap();
        let mut told = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            let fields = columns
                .iter()
                .enumerate()
                .filter(|(_, column)| !["ms", "key", "related"].contains(&column.as_str()));
            let fields = fields.map(|(n, column)| {
                format!(
                    "{column}: {:?}",
                    row.get_unwrap::<_, rusqlite::types::Value>(n)
                )
            });
            let fields: Vec<_> = fields.collect();
            told.push(plain(env, &fields.join(", ")));
        }
        (name, told)
    });
    tables.collect()
}

fn left(env: &TestEnv, projects: &[PathBuf]) -> Left {
    let read = |path: &Path| plain(env, &fs::read_to_string(path).unwrap());
    let log = read(&env.state().join("log/reflections.jsonl"));
    let debug = env.root().join("debug");
    let prompts = fs::read_dir(&debug)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    Left {
        memory: memory(env),
        playbooks: projects
            .iter()
            .map(|project| {
                let name = project.file_name().unwrap().to_string_lossy().into_owned();
                (name, read(&project.join(".claude/playbook.json")))
            })
            .collect(),
        log: log.lines().map(str::to_owned).collect(),
        prompts: prompts
            .map(|path| (path.strip_prefix(&debug).unwrap().to_owned(), read(&path)))
            .collect(),
    }
}

/// A fresh user with so many projects.
fn user(config: &str, projects: usize) -> (TestEnv, Vec<PathBuf>) {
    let mut env = TestEnv::without_worker();
    env.set("CI", "true");
    env.set("PLAYBOOK_DEBUG", env.root().join("debug"));
    env.write_config(config);
    env.write_playbook(&POINTS);
    let projects = (0..projects)
        .map(|n| {
            let project = env.root().join(format!("project-{n}"));
            let playbook = fs::read(env.playbook_path()).unwrap();
            write(&project.join(".claude/playbook.json"), playbook);
            project
        })
        .collect();
    (env, projects)
}

fn end(env: &mut TestEnv, project: &Path, id: &str) {
    env.write_transcript(&session(id));
    env.set("CLAUDE_PROJECT_DIR", project);
    env.hook(Hook::SessionEnd, id, json!({"cwd": project}))
        .silent();
}

/// Which way the sessions of a run end, and how many are worked on at once.
#[derive(Clone, Copy)]
enum Order {
    Forwards(&'static str),
    Backwards(&'static str),
}

fn run(config: &str, order: Order, projects: usize) -> Left {
    let (mut env, projects) = user(config, projects);
    let numbered = projects.iter().enumerate();
    let (jobs, numbered): (_, Vec<_>) = match order {
        Order::Forwards(jobs) => (jobs, numbered.collect()),
        Order::Backwards(jobs) => (jobs, numbered.rev().collect()),
    };
    for (n, project) in numbered {
        end(&mut env, project, &format!("session-{n}"));
    }
    env.cli(&["worker", "--jobs", jobs]).ok();
    assert!(env.spool().is_empty() && env.failed().is_empty());
    left(&env, &projects)
}

const RULES: &str = "backend = \"rules\"\n";

#[test]
fn the_rules_leave_the_same_bytes_on_every_run_in_any_order() {
    let first = run(RULES, Order::Forwards("1"), 6);
    assert_eq!(first.log.len(), 6);
    assert!(first.prompts.len() >= 6, "{:?}", first.prompts.keys());
    for (name, playbook) in &first.playbooks {
        let changed: Value = serde_json::from_str(playbook).unwrap();
        let points = &changed["sections"]["PATTERNS & APPROACHES"][0];
        assert_eq!(points["name"], "pat-001", "{name}");
        assert!(playbook.contains("pnpm"), "{name}: {playbook}");
    }
    for order in [
        Order::Forwards("1"),
        Order::Forwards("4"),
        Order::Backwards("4"),
        Order::Backwards("1"),
    ] {
        assert_eq!(run(RULES, order, 6), first);
    }
}

#[test]
fn recorded_replies_leave_the_same_bytes_on_every_run() {
    let judged = json!({"analysis": "The first command was the wrong one.", "bullet_tags": [
        {"name": "pat-001", "tag": "helpful", "rationale": "cited"}]});
    let curated = json!({"reasoning": "nothing new", "operations": []});
    let run = |recorded: &str| {
        let (mut env, projects) = user(RULES, 1);
        env.write_config("backend = \"fixtures\"\nfixtures.path = \"replies.jsonl\"\n");
        write(&env.config_dir().join("replies.jsonl"), recorded);
        end(&mut env, &projects[0], "session-0");
        env.worker();
        (env, projects)
    };
    let recorded = record_by_hand(&[judged, curated], |lines| run(lines).0);
    let run = || {
        let (env, projects) = run(&recorded);
        left(&env, &projects)
    };
    let first = run();
    has!(
        first.log[0],
        "\"fixture_key\":",
        "\"reason\":null",
        "\"outcome\":\"applied\""
    );
    assert_eq!(run(), first);
}

#[test]
fn continuous_integration_changes_the_milliseconds_and_nothing_else() {
    let line = |ci: Option<&str>| {
        let (mut env, projects) = user(RULES, 1);
        env.unset("CI");
        if let Some(ci) = ci {
            env.set("CI", ci);
        }
        end(&mut env, &projects[0], "session-0");
        env.worker();
        let mut line = env.reflections().remove(0);
        line["project"] = Value::Null;
        line
    };
    let (mut normal, plain) = (line(None), line(Some("true")));
    assert!(normal["ms"].as_f64().unwrap() > 0.0);
    assert_eq!(plain["ms"].as_f64(), Some(0.0));
    normal["ms"] = plain["ms"].clone();
    assert_eq!(normal, plain);
    assert_eq!(
        line(Some("false"))["ms"].as_f64().map(|ms| ms > 0.0),
        Some(true)
    );
}

/// Spec/2, section 5.1, with the session in the place of the turn.
#[test]
fn a_line_has_the_fields_of_the_schema() {
    let (mut env, projects) = user(RULES, 1);
    end(&mut env, &projects[0], "session-0");
    env.worker();
    let line = env.reflections().remove(0);
    assert_eq!(line["turn"], "session-0");
    for (key, is_right) in [
        ("agent", Value::is_string as fn(&Value) -> bool),
        ("backend", Value::is_string),
        ("summary_len", Value::is_u64),
        ("ops_written", Value::is_u64),
        ("embed", Value::is_boolean),
        ("ms", Value::is_f64),
        ("reason", Value::is_null),
        ("job", Value::is_string),
        ("project", Value::is_string),
        ("attempts", Value::is_u64),
        ("tokens_in", Value::is_u64),
        ("tokens_out", Value::is_u64),
        ("tags", Value::is_u64),
        ("operations", Value::is_u64),
    ] {
        assert!(is_right(&line[key]), "{key} in {line}");
    }
    assert!(line.get("fixture_key").is_none(), "{line}");
}

#[test]
fn a_summary_has_no_more_words_than_it_may() {
    for (most, config) in [
        (7, format!("{RULES}[reflection]\nsummary_tokens = 7\n")),
        (0, format!("{RULES}[reflection]\nsummary_tokens = 0\n")),
    ] {
        let (mut env, projects) = user(&config, 1);
        end(&mut env, &projects[0], "session-0");
        env.worker();
        assert_eq!(env.reflections()[0]["summary_len"], most);
        assert_eq!(env.reflections()[0]["outcome"], "applied");
    }
}

#[test]
fn a_log_that_cannot_be_written_costs_no_reflection() {
    let (mut env, projects) = user(RULES, 1);
    env.write_state("log", "a file where the folder should be");
    end(&mut env, &projects[0], "session-0");
    env.worker();
    assert!(env.spool().is_empty() && env.failed().is_empty());
    let playbook = fs::read_to_string(projects[0].join(".claude/playbook.json")).unwrap();
    has!(playbook, "pnpm");
}

#[rstest]
#[case::rules(&["bench"], "rules", None)]
#[case::fixtures(
    &["bench", "-c", concat!(env!("CARGO_MANIFEST_DIR"), "/examples/config/fixtures.toml")],
    "fixtures",
    Some(12)
)]
fn the_bench_prints_one_stable_object(
    #[case] args: &[&str],
    #[case] backend: &str,
    #[case] key: Option<usize>,
) {
    let mut env = TestEnv::new();
    let before = env.files();
    env.set("CI", "true");
    let first = env.cli(args).ok();
    assert_eq!(env.cli(args).ok(), first);
    let object: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(object["backend"], backend);
    assert_eq!(
        object["reason"],
        Value::Null,
        "when the prompt has changed: cargo run -- bench -c examples/config/fixtures.toml --record"
    );
    let wanted = json!({
        "allow_reflection": true, "tokens_budget": 128, "ops": 1, "embed": false, "ops_cap": 10,
        "time_budget_ms": 300_000, "ms": 0.0,
    });
    includes(&object, &wanted);
    assert!((1..=128).contains(&object["summary_len"].as_u64().unwrap()));
    assert_eq!(object["fixture_key"].as_str().map(str::len), key);
    assert!(env.changed_since(&before).is_empty());
}

#[test]
fn a_bench_without_its_recording_says_so() {
    let mut env = TestEnv::new();
    env.set("CI", "true");
    env.write_config("backend = \"fixtures\"\nfixtures.path = \"replies.jsonl\"\n");
    write(&env.config_dir().join("replies.jsonl"), "");
    let object = env.cli(&["bench"]).json();
    assert_eq!(object["reason"], "reflect_error:FixtureMissingError");
    let wanted = json!({"ops": 0, "summary_len": 0});
    includes(&object, &wanted);
}
