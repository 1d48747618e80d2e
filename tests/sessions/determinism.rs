//! Promise: without a model the same session has the same outcome, byte for byte, on every run, in
//! any order, and along with other projects' sessions.

use crate::common::prelude::*;

/// Builds a session with everything that the rules look at.
fn session(id: &str) -> Session {
    let file = json!({"file_path": "/home/user/project/gen.rs"});
    Session::new(id)
        .user("make the parser accept comments")
        .assistant("By [pat-001] the test first; [mis-002] says what not to touch.")
        .failed("npm test", "Exit code 1\nnpm: not found")
        .ran("pnpm test", "14 passed")
        .user("always use pnpm in this project")
        .rejected("Edit", &file, "do not edit generated files")
        .assistant("Understood, as [pat-001] has it.")
        .user("no, that is wrong, undo it")
        .done()
}

const POINTS: [(&str, &str); 3] = [
    ("pat-001", "write the test first"),
    ("mis-002", "do not edit generated files"),
    ("pref-003", "short commit messages"),
];

/// The results that must be the same on every run; folders are replaced by a common name.
#[derive(Debug, PartialEq, Eq)]
struct Left {
    playbooks: BTreeMap<String, String>,
    log: Vec<String>,
    /// The prompts, which contain the evidence, by job.
    prompts: BTreeMap<PathBuf, String>,
    memory: BTreeMap<String, Vec<String>>,
}

/// Replaces the test's own folder and the curator job's id, which is derived from it.
fn plain(env: &TestEnv, text: &str) -> String {
    let root = env.root().to_string_lossy();
    // The form of the folder in the client's names.
    let dashed = root.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let text = text.replace(&*root, "<root>").replace(&dashed, "<root>");
    let lines = env.reflections();
    let mut runs = lines.iter().filter(|line| line["event"] == "curate");
    match runs.next().and_then(|line| line["job"].as_str()) {
        Some(id) => text.replace(id, "<run>"),
        None => text,
    }
}

/// Returns all rows but those of the word index, whose text the others hold. Leaves out durations,
/// as in the log, and ids, which depend on the project's folder.
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
            let fields = columns.iter().enumerate();
            let fields = fields.filter(|(_, name)| !["ms", "key", "related"].contains(&&***name));
            let fields = fields.map(|(n, name)| {
                let value: rusqlite::types::Value = row.get_unwrap(n);
                format!("{name}: {value:?}")
            });
            told.push(plain(env, &fields.collect::<Vec<_>>().join(", ")));
        }
        (name, told)
    });
    tables.collect()
}

fn left(env: &TestEnv, projects: &[PathBuf]) -> Left {
    let read = |path: &Path| plain(env, &fs::read_to_string(path).unwrap());
    let log = read(&env.state().join("log/reflections.jsonl"));
    let debug = env.root().join("debug");
    let prompts = fs::read_dir(&debug).unwrap();
    let prompts = prompts.map(|entry| entry.unwrap().path());
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
            .map(|path| {
                let name = path.strip_prefix(&debug).unwrap().to_string_lossy();
                (plain(env, &name).into(), read(&path))
            })
            .collect(),
    }
}

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
    let event = json!({"cwd": project});
    env.hook(Hook::SessionEnd, id, event).silent();
}

/// Ends sessions of six projects, in reverse order if wanted, and works on `jobs` of them in
/// parallel.
fn run(is_backwards: bool, jobs: &str) -> Left {
    let (mut env, projects) = user(RULES, 6);
    for n in 0..6 {
        let n = if is_backwards { 5 - n } else { n };
        end(&mut env, &projects[n], &format!("session-{n}"));
    }
    env.cli(&["worker", "--jobs", jobs]).ok();
    assert!(env.spool().is_empty() && env.failed().is_empty());
    left(&env, &projects)
}

const RULES: &str = "backend = \"rules\"\n";

#[test]
fn the_rules_leave_the_same_bytes_on_every_run_in_any_order() {
    let first = run(false, "1");
    assert_eq!(first.log.len(), 6);
    assert!(first.prompts.len() >= 6, "{:?}", first.prompts.keys());
    for (name, playbook) in &first.playbooks {
        let changed: Value = serde_json::from_str(playbook).unwrap();
        let points = &changed["sections"]["PATTERNS & APPROACHES"][0];
        assert_eq!(points["name"], "pat-001", "{name}");
        assert!(playbook.contains("pnpm"), "{name}: {playbook}");
    }
    for (is_backwards, jobs) in [(false, "1"), (false, "4"), (true, "4"), (true, "1")] {
        assert_eq!(run(is_backwards, jobs), first);
    }
}

#[test]
fn recorded_replies_leave_the_same_bytes_on_every_run() {
    let judged = json!({"analysis": "The first command was the wrong one.", "bullet_tags": [
        {"name": "pat-001", "tag": "helpful", "rationale": "cited"}],
        "notes": [{"task_type": "test", "correction": "Use pnpm.", "events": [1]}]});
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
    has!(first.playbooks["project-0"], "\"helpful\": 1");
    let line: Value = serde_json::from_str(&first.log[0]).unwrap();
    let wanted = json!({"backend": "fixtures", "reason": null, "outcome": "applied"});
    includes(&line, &wanted);
    let key = line["fixture_key"].as_str().unwrap();
    assert_eq!(key.len(), 12);
    has!(recorded, key);
    assert_eq!(run(), first);
}

/// Spec/2, section 4.2.
#[test]
fn a_missing_recording_is_named_and_writes_nothing() {
    let env = TestEnv::with_point();
    env.write_config("backend = \"fixtures\"\nfixtures.path = \"replies.jsonl\"\n");
    write(&env.config_dir().join("replies.jsonl"), "");
    let missing = "reflect_error:FixtureMissingError";
    let bench = env.cli(&["bench"]);
    has!(bench.stderr, "could not find fixture");
    has!(bench.stderr, "no line has the `prompt_hash`");
    let bench: Value = serde_json::from_str(&bench.stdout).unwrap();
    let wanted = json!({"reason": missing, "ops": 0, "summary_len": 0});
    includes(&bench, &wanted);
    let before = env.playbook();
    env.learn_citing("s1");
    assert_eq!(env.playbook(), before);
    assert_eq!(env.failed().len(), 1);
    let line = &env.reflections()[0];
    includes(line, &json!({"reason": missing, "ops_written": 0}));
    assert_eq!(line["fixture_key"].as_str().unwrap().len(), 12);
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
    assert!(line(Some("false"))["ms"].as_f64().unwrap() > 0.0);
}

/// Spec/2, section 5.1, with the session in place of the turn.
#[test]
fn a_line_has_the_fields_of_the_schema() {
    let (mut env, projects) = user(RULES, 1);
    end(&mut env, &projects[0], "session-0");
    env.worker();
    let line = env.reflections().remove(0);
    assert_eq!(line["turn"], "session-0");
    let numbers = "summary_len ops_written attempts tokens_in tokens_out tags operations";
    for (keys, is_right) in [
        (
            "agent backend job project",
            Value::is_string as fn(&Value) -> bool,
        ),
        (numbers, Value::is_u64),
        ("embed", Value::is_boolean),
        ("ms", Value::is_f64),
        ("reason", Value::is_null),
    ] {
        for key in keys.split(' ') {
            assert!(is_right(&line[key]), "{key} in {line}");
        }
    }
    assert!(line.get("fixture_key").is_none(), "{line}");
}

#[test]
fn a_summary_has_no_more_words_than_it_may() {
    for most in [7, 0] {
        let config = format!("{RULES}[reflection]\nsummary_tokens = {most}\n");
        let (mut env, projects) = user(&config, 1);
        end(&mut env, &projects[0], "session-0");
        env.worker();
        let wanted = json!({"summary_len": most, "outcome": "applied"});
        includes(&env.reflections()[0], &wanted);
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
    // `bench -c` prints the new `prompt_hash` for examples/config/fixtures.jsonl on stderr.
    assert_eq!(object["reason"], Value::Null);
    let wanted = json!({
        "allow_reflection": true, "tokens_budget": 128, "ops": 1, "embed": false, "ops_cap": 10,
        "time_budget_ms": 300_000, "ms": 0.0,
    });
    includes(&object, &wanted);
    assert!((1..=128).contains(&object["summary_len"].as_u64().unwrap()));
    assert_eq!(object["fixture_key"].as_str().map(str::len), key);
    assert!(env.changed_since(&before).is_empty());
}
