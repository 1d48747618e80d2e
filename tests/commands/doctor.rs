//! Promise: the doctor finds what is broken, gives advice, and changes nothing.

use crate::common::prelude::*;

pub(super) fn healthy() -> TestEnv {
    let env = TestEnv::new();
    programs::link_into(&env.installed_bin());
    env.write_playbook(&[("pat-001", "run the tests")]);
    env.cli(&["install"]).ok();
    env
}

fn examine(env: &TestEnv, args: &[&str]) -> (Option<i32>, Value) {
    let told = env.cli(&[&["doctor", "--json"], args].concat());
    assert_eq!(told.stderr, "");
    (told.code, serde_json::from_str(&told.stdout).unwrap())
}

fn found(said: &Value, topic: &str, state: &str) -> Vec<String> {
    let checks = said["checks"].as_array().unwrap().iter();
    checks
        .filter(|check| check["topic"] == topic && check["state"] == state)
        .map(|check| {
            let text = check["text"].as_str().unwrap();
            let todo = check["do"].as_str().unwrap_or_default();
            assert!(state == "good" || !todo.is_empty(), "what to do? {check}");
            format!("{text}\n{todo}")
        })
        .collect()
}

#[test]
fn all_is_well_and_nothing_is_changed() {
    let env = healthy();
    let before = env.files();
    let (code, said) = examine(&env, &[]);
    assert_eq!((code, &said["ok"]), (Some(0), &json!(true)), "{said:#}");
    let topics = "programs hooks answer worker backend jobs folders disk playbook templates";
    for topic in topics.split(' ') {
        assert_eq!(found(&said, topic, "good").len(), 1, "{topic}: {said:#}");
    }
    has!(env.cli(&["doctor"]).ok(), "outlives its hook");
    assert_eq!(env.changed_since(&before), Vec::<PathBuf>::new());
}

#[test]
fn how_the_last_sessions_went_is_told() {
    let env = healthy();
    env.end_citing("s1");
    env.settle();
    let (_, said) = examine(&env, &[]);
    let told = found(&said, "sessions", "good");
    has!(told[0], "1 learned from, 0 skipped, 0 failed");
    env.cli(&["add", "ask first"]).ok();
    let (_, said) = examine(&env, &[]);
    let after = found(&said, "sessions", "good");
    assert_eq!(after, told, "an edit is no session");
}

fn replace_hook(env: &TestEnv, hook: Hook, script: &str) {
    replace(&env.installed_bin().join(hook.name()), script);
}

fn replace(program: &Path, script: &str) {
    fs::remove_file(program).unwrap();
    write_program(program, format!("#!/bin/sh\n{script}\n"));
}

fn edit_settings(env: &TestEnv, from: &str, to: &str) {
    let text = fs::read_to_string(env.client_settings()).unwrap();
    has!(text, from);
    write(&env.client_settings(), text.replacen(from, to, 1));
}

type Break = fn(&mut TestEnv);

#[rstest]
#[case::not_registered("hooks", "not registered", |env: &mut TestEnv| { env.cli(&["uninstall", "--scope", "user"]).ok(); })]
#[case::half_registered("hooks", "no PreCompact", |env: &mut TestEnv| {
    edit_settings(env, "\"PreCompact\"", "\"PostCompact\"");
})]
#[case::switched_off("hooks", "disableAllHooks", |env: &mut TestEnv| {
    edit_settings(env, "{", "{\"disableAllHooks\": true,");
})]
#[case::unreadable_settings("hooks", "line 1", |env: &mut TestEnv| write(&env.client_settings(), "{,}"))]
#[case::hook_missing("programs", "session-end", |env: &mut TestEnv| {
    fs::remove_file(env.installed_bin().join("session-end")).unwrap();
})]
#[case::hook_hangs("answer", "user-prompt-submit did not answer: no answer within", |env: &mut TestEnv| {
    replace_hook(env, Hook::UserPromptSubmit, "sleep 3000");
})]
#[case::end_hangs("worker", "no answer within", |env: &mut TestEnv| {
    replace_hook(env, Hook::SessionEnd, "sleep 3000 & sleep 3000");
})]
#[case::hook_blocks("answer", "pre-compact did not answer: it ended with exit status: 2", |env: &mut TestEnv| {
    replace_hook(env, Hook::PreCompact, "exit 2");
})]
#[case::program_hangs("programs", "does not run", |env: &mut TestEnv| {
    replace(&env.installed_bin().join("playbook"), "sleep 3000");
})]
#[case::corrupt_playbook("playbook", "line 1, playbook undo --to", |env: &mut TestEnv| write(&env.playbook_path(), "{"))]
#[case::bad_template("templates", "`{playbok}` is no placeholder", |env: &mut TestEnv| {
    write(&env.config_dir().join("templates/reflector.txt"), "{transcript}{playbok}");
})]
#[case::bad_settings("backend", "retry.attempts, playbook config check", |env: &mut TestEnv| env.write_config("retry.attempts = 0\n"))]
#[case::no_key("backend", "no key is set", |env: &mut TestEnv| env.write_config("backend = \"anthropic\"\n"))]
#[case::plain_http("backend", "ANTHROPIC_BASE_URL: plain `http`", |env: &mut TestEnv| {
    env.set("ANTHROPIC_API_KEY", "sk-test");
    env.set("ANTHROPIC_BASE_URL", "http://evil.example");
})]
#[case::secret_in_the_address("backend", "`anthropic.base_url`: the base URL holds a user name", |env: &mut TestEnv| {
    env.set("ANTHROPIC_API_KEY", "sk-test");
    env.write_config("anthropic.base_url = \"https://me:pw@example.com\"\n");
})]
#[case::state_of_all("folders", "could not use state folder", |env: &mut TestEnv| set_mode(&env.state(), 0o777))]
#[case::settings_of_all("folders", "could not use settings", |env: &mut TestEnv| {
    env.write_config("backend = \"rules\"\n");
    set_mode(&env.config_dir().join("config.toml"), 0o666);
})]
#[case::strange_job("jobs", "cannot be read", |env: &mut TestEnv| {
    env.write_state("spool/20261121T120000-00000000.json", "{");
})]
#[case::folder_for_a_playbook("playbook", "not a regular file, only a plain file is read", |env: &mut TestEnv| {
    fs::remove_file(env.playbook_path()).unwrap();
    fs::create_dir(env.playbook_path()).unwrap();
})]
#[case::bad_memory("sessions", "memory.db, sqlite3", |env: &mut TestEnv| env.write_state("memory.db", "no database"))]
fn what_is_broken_is_found(#[case] topic: &str, #[case] words: &str, #[case] break_it: Break) {
    let mut env = healthy();
    break_it(&mut env);
    let (code, said) = examine(&env, &[]);
    assert_eq!((code, &said["ok"]), (Some(1), &json!(false)), "{said:#}");
    let is_flawed = found(&said, "templates", "good").is_empty();
    assert_eq!(is_flawed, topic == "templates");
    let bad = found(&said, topic, "bad");
    let says_all = |text: &String| words.split(", ").all(|word| text.contains(word));
    assert!(bad.iter().any(says_all), "{said:#}");
}

#[rstest]
#[case::twice("hooks", "registered 2 times", |env: &mut TestEnv| {
    edit_settings(env, "{", "{\"enabledPlugins\": {\"playbook@playbook\": true},");
})]
#[case::earlier("hooks", "earlier Python version", |env: &mut TestEnv| {
    let hook = "\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"~/.claude/hooks/precompact.py\"}]}],";
    edit_settings(env, "\"SessionStart\"", &format!("{hook}\"SessionStart\""));
})]
#[case::for_some_starts("hooks", "SessionStart in", |env: &mut TestEnv| {
    edit_settings(env, "\"SessionStart\": [\n      {", "\"SessionStart\": [\n      {\"matcher\": \"resume\",");
})]
#[case::with_more("hooks", "does more than run the hook", |env: &mut TestEnv| {
    edit_settings(env, "/session-end\"", "/session-end; exit 0\"");
})]
#[case::open_folder("folders", "others can read", |env: &mut TestEnv| set_mode(&env.state(), 0o755))]
#[case::no_job("jobs", "spool/xx.json is no job", |env: &mut TestEnv| {
    env.write_state("spool/xx.json", "{}");
})]
#[case::settings_of_a_group("folders", "a group can write", |env: &mut TestEnv| {
    env.write_config("backend = \"rules\"\n");
    set_mode(&env.config_dir(), 0o775);
})]
#[case::from_a_clone("playbook", "not trusted", |env: &mut TestEnv| {
    fs::create_dir(env.project().join(".git")).unwrap();
})]
#[case::rule_that_has_gone("settings", "no rule `no-such`", |env: &mut TestEnv| {
    env.write_config("secrets.off = [\"no-such\"]\n");
})]
#[case::setting_that_has_gone("settings", "triggers.corrections", |env: &mut TestEnv| {
    env.write_config("triggers.corrections = 2\n");
})]
#[case::no_worker("environment", "PLAYBOOK_NO_WORKER", |env: &mut TestEnv| env.set("PLAYBOOK_NO_WORKER", "1"))]
fn what_is_of_note_is_no_failure(#[case] topic: &str, #[case] words: &str, #[case] change: Break) {
    let mut env = healthy();
    change(&mut env);
    let (code, said) = examine(&env, &[]);
    let notes = found(&said, topic, "note");
    assert!(notes.iter().any(|text| text.contains(words)), "{said:#}");
    assert_eq!(code, Some(0), "{said:#}");
}

#[test]
fn the_text_of_a_settings_file_is_never_run() {
    let env = healthy();
    env.cli(&["uninstall", "--scope", "user"]).ok();
    let proof = env.root().join("was-run");
    let hook = |event: &str, program: &str| {
        let hook = format!("$HOME/.claude/playbook/bin/{program}");
        let command = format!("touch {0}; exec {hook}; touch {0}", proof.display());
        json!({event: [{"hooks": [{"type": "command", "command": command}]}]})
    };
    let market = env.root().join("market");
    programs::link_into(&market.join("bin"));
    let script = format!("touch {}", proof.display());
    replace(&market.join("bin/session-start"), &script);
    for of_ours in [Hook::SessionStart, Hook::SessionEnd] {
        let text = json!({
            "hooks": hook(of_ours.client_name(), of_ours.name()),
            "enabledPlugins": {"playbook@market": true, "playbook@../../market": true},
            "extraKnownMarketplaces": {"market": {"source": {"source": "directory", "path": market}}},
        });
        env.write_project(".claude/settings.json", text.to_string());
        let (code, said) = examine(&env, &[]);
        assert_eq!(code, Some(1), "the rest is not registered");
        let note = &found(&said, "hooks", "note")[0];
        has!(note, "does more than run the hook");
        assert_eq!(found(&said, "answer", "good").len(), 1, "{said:#}");
        assert!(!proof.exists(), "{of_ours:?}");
    }
}

#[test]
fn a_plugin_is_tried_where_the_client_keeps_it() {
    let env = TestEnv::new();
    let source = env.root().join("a plugin");
    let text = json!({
        "enabledPlugins": {"playbook@playbook": true},
        "extraKnownMarketplaces": {"playbook": {"source": {"source": "directory", "path": source}}},
    });
    env.write_client_settings(&text);
    let (code, said) = examine(&env, &[]);
    assert_eq!(code, Some(1));
    has!(found(&said, "programs", "bad")[0], "neither the plugin");
    programs::link_into(&source.join("bin"));
    let (code, said) = examine(&env, &[]);
    has!(found(&said, "programs", "note")[0], "were not tried");
    assert_eq!((code, found(&said, "answer", "good").len()), (Some(0), 0));
    programs::link_into(
        &env.home()
            .join(".claude/plugins/cache/playbook/playbook/0.1.0/bin"),
    );
    let (code, said) = examine(&env, &[]);
    assert_eq!(code, Some(0), "{said:#}");
    assert_eq!(found(&said, "worker", "good").len(), 1);
}

#[test]
fn a_plugin_that_the_project_switches_off_registers_nothing() {
    let env = TestEnv::new();
    env.write_client_settings(&json!({"enabledPlugins": {"playbook@playbook": true}}));
    let off = json!({"enabledPlugins": {"playbook@playbook": false}});
    env.write_project(".claude/settings.local.json", off.to_string());
    let (code, said) = examine(&env, &[]);
    assert_eq!(code, Some(1));
    has!(found(&said, "hooks", "bad")[0], "not registered");
}

#[test]
fn a_secret_in_the_base_url_is_neither_stored_nor_shown() {
    let mut env = healthy();
    env.set("PLAYBOOK_NO_WORKER", "1");
    env.set("ANTHROPIC_API_KEY", "sk-test");
    let url = "https://me:sesame-sesame@h.example/x?token=sesame-sesame";
    env.set("ANTHROPIC_BASE_URL", url);
    env.start("s1");
    env.end_citing("s1");
    assert_eq!(env.spool().len(), 1);
    for command in ["doctor", "jobs", "status"] {
        for args in [&[command][..], &[command, "--json"]] {
            lacks!(format!("{:?}", env.cli(args)), "sesame-sesame");
        }
    }
    env.assert_nowhere(&["sesame-sesame"], &[]);
}

#[test]
fn online_asks_one_tiny_question() {
    let api = Api::canned();
    let mut env = healthy();
    env.use_api(&api.base_url(), "sk-test");
    let (code, said) = examine(&env, &["--online"]);
    assert_eq!(code, Some(0), "{said:#}");
    assert_eq!(found(&said, "online", "good").len(), 1, "{said:#}");
    assert_eq!(api.requests().len(), 1);
    let too_low = "Your credit balance is too low";
    let refused = Step::error(400, "invalid_request_error", too_low);
    for (step, helps) in [(refused, "top up"), (Step::Drop, "127.0.0.1")] {
        api.now([step]);
        let (code, said) = examine(&env, &["--online"]);
        assert_eq!(found(&said, "online", "bad").len(), 1, "{said:#}");
        assert_eq!(code, Some(1));
        has!(said.to_string(), helps);
    }
}
