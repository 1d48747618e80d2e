//! Promise: the plugin registers the same hooks as the settings, and both together count once.
//! Without programs it is silent, except for one message on how to get them.

use crate::common::prelude::*;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read_json(file: &str) -> Value {
    serde_json::from_slice(&fs::read(root().join(file)).unwrap()).unwrap()
}

fn command_of(event: &str) -> String {
    let hooks = read_json("hooks/hooks.json");
    let entry = &hooks["hooks"][event][0];
    let is_fine = entry.get("matcher").is_none();
    assert!(is_fine, "{event}: a matcher misses sources");
    entry["hooks"][0]["command"].as_str().unwrap().to_owned()
}

fn plugin(env: &TestEnv, has_programs: bool) -> PathBuf {
    let plugin = env.root().join("plug in");
    for file in ["not-built", "playbook"] {
        let text = fs::read(root().join("hooks").join(file)).unwrap();
        write(&plugin.join("hooks").join(file), text);
    }
    if has_programs {
        programs::link_into(&plugin.join("bin"));
    }
    plugin
}

fn start(env: &TestEnv, plugin: Option<&Path>, command: &str, event: &Value) -> Running {
    let mut sh: Command = env.command("/bin/sh");
    sh.args(["-c", command]);
    if let Some(plugin) = plugin {
        sh.env("CLAUDE_PLUGIN_ROOT", plugin);
        sh.env("CLAUDE_PLUGIN_DATA", env.root().join("plugin-data"));
    }
    Running::start(sh, format!("{event}\n").as_bytes(), Stdin::Closed)
}

fn run(env: &TestEnv, plugin: &Path, hook: Hook, event: &str) -> Output {
    let input = env.event(hook, "s1");
    start(env, Some(plugin), &command_of(event), &input).finish()
}

#[test]
fn the_plugin_registers_every_hook_and_no_other() {
    let hooks = read_json("hooks/hooks.json");
    let registered = hooks["hooks"].as_object().unwrap().keys();
    let registered: BTreeSet<_> = registered.map(String::as_str).collect();
    assert_eq!(
        registered,
        BTreeSet::from(Hook::REGISTERED.map(Hook::client_name))
    );
    for event in Hook::REGISTERED {
        let command = command_of(event.client_name());
        has!(command, &format!("/bin/{};", event.name()));
    }
}

#[test]
fn every_command_of_the_plugin_runs_a_command_of_ours() {
    let env = TestEnv::without_worker();
    let folder = fs::read_dir(root().join("commands")).unwrap();
    let skill = root().join("skills/playbook/SKILL.md");
    let mut named = BTreeSet::new();
    for file in folder.flatten().map(|entry| entry.path()).chain([skill]) {
        let text = fs::read_to_string(&file).unwrap();
        let calls = text.split("\"${CLAUDE_PLUGIN_ROOT}\"/hooks/playbook ");
        let words = calls.skip(1).map(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_lowercase());
            rest[..end.unwrap_or(rest.len())].to_owned()
        });
        let words: BTreeSet<_> = words.collect();
        assert!(!words.is_empty(), "{}", file.display());
        for word in &words {
            let head = text.split("---").nth(1).unwrap();
            has!(head, &*format!("hooks/playbook {word}"));
        }
        named.extend(words);
    }
    let help = env.cli(&["--help", "--all"]).ok();
    for command in &named {
        has!(help, &*format!("\n  {command} "));
    }
}

#[test]
fn its_own_programs_come_first_then_the_installed_ones() {
    let mut env = TestEnv::with_point();
    let own = plugin(&env, true);
    let context = run(&env, &own, Hook::SessionStart, "SessionStart").context();
    has!(context, "[pat-001]");

    fs::remove_dir_all(own.join("bin")).unwrap();
    let client = env.home().join("elsewhere");
    programs::link_into(&client.join("playbook/bin"));
    env.set("CLAUDE_CONFIG_DIR", &client);
    let mut event = env.event(Hook::SessionStart, "s2");
    event["source"] = json!("clear");
    let told = start(&env, Some(&own), &command_of("SessionStart"), &event).finish();
    assert!(told.context().contains("[pat-001]"));
}

#[test]
fn without_programs_it_says_once_how_to_build_them() {
    let env = TestEnv::without_worker();
    let plugin = plugin(&env, false);
    let told = run(&env, &plugin, Hook::SessionStart, "SessionStart").json();
    let message = told["systemMessage"].as_str().unwrap();
    has!(message, "plug in/install.sh --plugin");
    for hook in Hook::REGISTERED {
        run(&env, &plugin, hook, hook.client_name()).silent();
    }
}

#[test]
fn registered_twice_is_one_context_and_one_job() {
    let mut env = TestEnv::without_worker();
    let _api = env.use_votes();
    let plugin = plugin(&env, true);
    programs::link_into(&env.installed_bin());
    env.cli(&["install"]).ok();
    env.write_playbook(&[("pat-001", "run the tests")]);
    env.write_transcript(&Session::citing("s1"));
    let settings = fs::read(env.home().join(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_slice(&settings).unwrap();
    let both = |hook: Hook, event: &str| -> Vec<String> {
        let own = settings["hooks"][event][0]["hooks"][0]["command"]
            .as_str()
            .unwrap();
        let input = env.event(hook, "s1");
        let running = [
            start(&env, Some(&plugin), &command_of(event), &input),
            start(&env, None, own, &input),
        ];
        running.map(|hook| hook.finish().ok()).into()
    };
    let told = both(Hook::SessionStart, "SessionStart");
    let given = told.iter().filter(|told| told.contains("[pat-001]"));
    assert_eq!(given.count(), 1, "{told:?}");
    both(Hook::PreCompact, "PreCompact");
    assert_eq!(env.spool().len(), 1);
    both(Hook::SessionEnd, "SessionEnd");
    assert_eq!(env.spool().len(), 2);
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}
