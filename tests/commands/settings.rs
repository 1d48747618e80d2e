//! Promise: settings are strict, each mistake is reported with its place, and no mistake ever sends
//! anything.

use crate::common::prelude::*;

/// Creates a user with a finished session worth reflecting on; nothing has been sent yet.
fn ended() -> (TestEnv, Api) {
    let (env, api) = TestEnv::with_model();
    env.write_transcript(&Session::citing("s1"));
    (env, api)
}

#[test]
fn the_reference_is_what_the_program_says() {
    let said = TestEnv::new().cli(&["config", "reference"]).ok();
    assert!(
        said == include_str!("../../docs/configuration.md"),
        "run: cargo run -- config reference > docs/configuration.md"
    );
}

#[test]
fn every_example_is_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/config");
    let mut seen = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        let env = TestEnv::new();
        let text = fs::read(&path).unwrap();
        if path.ends_with("project.playbook.toml") {
            env.write_project(".claude/playbook.toml", &text);
        } else {
            write(&env.config_dir().join("config.toml"), text);
            write(&env.config_dir().join("fixtures.jsonl"), "");
        }
        let checked = env.cli(&["config", "check", "--json"]);
        assert_eq!(checked.code, Some(0), "{}: {checked:?}", path.display());
        seen += 1;
    }
    assert!(seen >= 6, "{seen} examples");
}

#[test]
fn a_key_is_listed_read_and_set() {
    let env = TestEnv::new();
    assert_eq!(env.cli(&["config", "get", "retry.attempts"]).ok(), "3\n");
    env.write_config("# mine\n[retry]\nattempts = 5 # patient\n");
    assert_eq!(env.cli(&["config", "get", "retry.attempts"]).ok(), "5\n");
    env.cli(&["config", "set", "retry.attempts", "7"]).ok();
    env.cli(&["config", "set", "backend", "rules"]).ok();
    let file = env.config_dir().join("config.toml");
    let expected = "backend = \"rules\"\n# mine\n[retry]\nattempts = 7 # patient\n";
    assert_eq!(fs::read_to_string(&file).unwrap(), expected);
    let unset = || env.cli(&["config", "unset", "backend"]).ok();
    has!(unset(), "backend is unset");
    has!(unset(), "backend was not set");
    assert_eq!(env.cli(&["config", "get", "backend"]).ok(), "auto\n");
    let path = env.cli(&["config", "path"]).ok();
    assert_eq!(path.trim_end(), file.to_str().unwrap());
    env.write_project(".claude/playbook.toml", "injection.own = false");
    let listed = env.cli(&["config", "list", "--json"]).json();
    for row in [
        json!({"key": "retry.attempts", "value": 7, "default": 3, "set_in": file}),
        json!({"key": "injection.own", "value": false}),
        json!({"key": "anthropic.model", "value": null}),
        json!({"key": "worker.jobs", "set_in": null}),
    ] {
        let mut rows = listed["settings"].as_array().unwrap().iter();
        let found = rows.find(|found| found["key"] == row["key"]);
        includes(found.unwrap(), &row);
    }
    assert!(env.cli(&["config", "list"]).ok().contains("retry.attempts"));
}

#[rstest]
#[case::unknown(&["config", "get", "retry.atempts"], &["retry.atempts", "retry.attempts"])]
#[case::out_of_range(&["config", "set", "retry.attempts", "0"], &["must be a whole number from 1 to 10, not 0"])]
#[case::gone(&["config", "set", "playbook.snapshots", "5"], &["has no effect any more: the last 20"])]
#[case::reference(&["config", "reference", "--json"], &["is Markdown", "`playbook config list --json`"])]
#[case::pattern(&["config", "set", "secrets.patterns", "[\"foo(\"]"], &["pattern 1 of `secrets.patterns`", "hint: "])]
fn a_wrong_key_or_value_is_refused_and_named(#[case] args: &[&str], #[case] words: &[&str]) {
    let env = TestEnv::new();
    env.cli(args).fails(1, words);
    assert!(!env.config_dir().exists());
}

#[test]
fn a_setting_that_is_gone_stops_nothing_and_is_shown_once() {
    let (mut env, _api) = TestEnv::with_model();
    env.write_config("[retry]\nbase_ms = 1\npark_ms = \"soon\"\n[triggers]\ncorrections = 2\n[hooks]\non_prompt = \"auto\"\n");
    has!(
        env.cli(&["config", "check"]).ok(),
        "config.toml:3: `retry.park_ms` has no effect any more",
        "config.toml:5: `triggers.corrections`",
        "config.toml:7: `hooks.on_prompt = \"auto\"` has no effect any more",
        "All good"
    );
    env.learn_citing("s1");
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    let told = env.told_at_start("s2");
    has!(told, "config.toml:3: `retry.park_ms`");
    has!(told, "triggers.corrections");
    lacks!(env.told_at_start("s3"), "retry.park_ms");
    env.go_to_project("other");
    lacks!(env.told_at_start("s4"), "retry.park_ms");
}

#[rstest]
#[case::lines("retry.atempts = 1\nretry.base_ms = -1", &["toml:1: ", "toml:2: `retry.base_ms`"])]
#[case::no_model("backend = \"openai\"", &["toml:1: ", "needs `openai.model`"])]
#[case::base_url("anthropic.base_url = \"http://example.org\"", &["toml:1: `anthropic.base_url`"])]
#[case::memory_url("\nmemory.url = \"nonsense\"", &["toml:2: `memory.url`"])]
#[case::port("memory.url = \"postgres://a:b@h:x/db\"", &["toml:1: `memory.url`"])]
#[case::no_host("memory.url = \"postgres://\"", &["toml:1: `memory.url`"])]
#[case::all_at_once(
    "retry.atempts = 1\nbackend = \"openai\"\nopenai.base_url = \"x\"\nsecrets.patterns = [\"(\", \"ok\", \"[a\"]",
    &["toml:1: ", "toml:2: ", "toml:3: ", "toml:4: could not use pattern 1", "pattern 3"]
)]
#[case::fixtures("fixtures.path = \"gone.jsonl\"", &["fixtures.path", "gone.jsonl"])]
fn check_tells_what_cannot_be_used(#[case] text: &str, #[case] words: &[&str]) {
    let env = TestEnv::new();
    env.write_config(text);
    let checked = env.cli(&["config", "check"]);
    assert_eq!(checked.code, Some(1));
    for word in words {
        has!(checked.stdout, *word);
    }
}

#[test]
fn a_secret_in_a_setting_is_masked_wherever_it_is_shown() {
    let env = TestEnv::new();
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
    env.write_config(&format!(
        "openai.base_url = \"https://me:{secret}@h/v1\"\n\
         [memory]\npassword_command = [\"print\", \"{secret}\"]\n"
    ));
    let set = format!("set openai.model {secret}");
    for line in ["list", "get memory.password_command", &set] {
        lacks!(env.types(&format!("config {line}")).ok(), secret);
    }
}

#[rstest]
#[case::address("url = \"postgres://app:tiger42x@db/app\"")]
#[case::command("password_command = [\"echo\", \"tiger42x\"]")]
#[case::shell("password_command = [\"sh\", \"-c\", \"/bin/echo tiger42x\"]")]
fn a_password_of_the_memory_is_shown_nowhere(#[case] setting: &str) {
    let env = TestEnv::new();
    env.write_config(&format!("[memory]\n{setting}\n"));
    let key = setting.split(' ').next().unwrap_or_default();
    for line in ["list", "list --json", &format!("get memory.{key}")] {
        let shown = env.types(&format!("config {line}"));
        lacks!(shown.stdout, "tiger42x");
        lacks!(shown.stderr, "tiger42x");
    }
}

#[test]
fn with_broken_settings_the_job_waits_the_user_is_told_and_nothing_is_sent() {
    let (env, api) = ended();
    env.write_config("backend = \"anthropic\"\n[retry]\natempts = 1\n");
    for hook in [Hook::SessionEnd, Hook::PreCompact] {
        env.hook(hook, "s1", json!({})).silent();
    }
    assert_eq!(env.spool().len(), 2);
    env.cli(&["worker"])
        .fails(1, &["config.toml:3: ", "retry.atempts"]);
    let place = format!("config: {}/config.toml:3: ", env.config_dir().display());
    for job in env.spool() {
        let reason = job["progress"]["waiting"]["reason"].as_str().unwrap();
        assert!(reason.starts_with(&place), "{reason}");
    }
    has!(env.told_at_start("s2"), "config.toml:3: ");
    assert!(api.requests().is_empty());

    env.write_config("[retry]\nattempts = 1\n");
    env.worker();
    assert_eq!((env.marks_of("pat-001"), env.spool().len()), ((1, 0), 0));
}

#[test]
fn a_cloned_project_cannot_say_where_sessions_are_sent() {
    let ((env, api), theirs) = (ended(), Api::canned());
    let file = env.project().join(".claude/playbook.toml");
    let url = theirs.base_url();
    write(&file, format!("\n[anthropic]\nbase_url = \"{url}\"\n"));
    env.ends("s1");
    env.worker();
    let reason = env.reasons().remove(0);
    let place = format!("config: {}:3: `anthropic.base_url`", file.display());
    assert!(reason.starts_with(&place), "{reason}");
    has!(env.told_at_start("s2"), "anthropic.base_url");
    assert!(api.requests().is_empty() && theirs.requests().is_empty());
}
