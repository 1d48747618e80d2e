//! Promise: `playbook report` renders everything known about a project as one page. It loads and
//! runs nothing that a transcript or a playbook brings.
use std::os::unix::fs::PermissionsExt as _;

use crate::common::lived::HOSTILE;
use crate::common::prelude::*;

fn lived() -> TestEnv {
    let env = TestEnv::without_worker();
    env.live();
    env
}

fn page(env: &TestEnv) -> String {
    env.cli(&["report", "--out", "-"]).ok()
}

fn tags(page: &str) -> Vec<&str> {
    page.split('<')
        .skip(1)
        .filter_map(|tag| tag.split(|c: char| !c.is_ascii_alphanumeric()).next())
        .collect()
}

#[test]
fn the_page_goes_to_the_state_folder_and_its_place_is_printed() {
    let env = lived();
    let told = env.cli(&["report"]).ok();
    let file = Path::new(told.trim());
    assert!(file.starts_with(env.state()), "{told}");
    assert_eq!(fs::read_to_string(file).unwrap(), page(&env));
    let mode = fs::metadata(file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "it holds words of sessions");
}

#[test]
fn the_page_goes_where_the_user_says() {
    let env = lived();
    let told = env.cli(&["report", "--out", "r.html"]).ok();
    let file = env.project().join("r.html");
    assert_eq!(told, format!("{}\n", file.display()));
    has!(fs::read_to_string(file).unwrap(), "<!doctype html>");
    env.cli(&["report", "--out", "no/such/r.html"])
        .fails(1, &["error: could not write", "no/such/r.html"]);
}

#[test]
fn the_page_shows_all_there_is() {
    let env = lived();
    let told = page(&env);
    has!(told, "<code>pat-001</code>");
    has!(told, "<b class=\"\">9</b> <span>key points</span>");
    has!(told, "Patterns &amp; approaches", "<svg class=\"spark\"");
    has!(told, "ModuleNotFoundError", "class=\"timeout\"");
    has!(told, "<span>correctness</span>");
    has!(told, "less with each refusal and interruption");
    has!(told, "<summary>Where it comes from</summary>");
    has!(told, "a-small-model anthropic", "2026-11-21 12:00");
}

#[test]
fn the_same_at_the_same_time_is_the_same_page_and_nothing_else_is_written() {
    let env = lived();
    let first = page(&env);
    let before = env.files();
    assert_eq!(first, page(&env));
    let mut changed = env.changed_since(&before);
    changed.retain(|path| !path.to_string_lossy().contains("memory.db"));
    assert!(changed.is_empty(), "{changed:?}");
}

#[test]
fn a_hostile_text_is_text_and_the_page_loads_nothing() {
    let env = lived();
    let hostile = page(&env);
    has!(hostile, "&lt;img src=x onerror=&quot;");
    lacks!(hostile, "<img", "\u{202e}");
    // Nothing is loaded.
    has!(hostile, "content=\"default-src 'none';");
    let loading = hostile.replace("&lt;img src=x", "");
    lacks!(loading, "http://", "https://", "src=", "@import", "url(");
    lacks!(loading, "fetch(", "<link", "<iframe");
    // The same page with a harmless text has the same tags, one for one.
    let text = Value::from(HOSTILE).to_string();
    let harmless = env.playbook().to_string().replace(&text, "\"harmless\"");
    write(&env.playbook_path(), harmless);
    let harmless = page(&env);
    has!(harmless, "harmless");
    assert_eq!(tags(&hostile), tags(&harmless));
}

#[test]
fn hostile_names_of_project_sections_and_key_points_are_text_too() {
    let mut env = TestEnv::without_worker();
    let project = env.root().join("a<b>\"'&{script}{name}");
    env.set("CLAUDE_PROJECT_DIR", &project);
    let playbook = json!({"sections": {"OTHERS": [
        {"name": "\"><script>", "text": "{style}{points}", "helpful": u64::MAX, "harmful": 0},
        {"name": "oth-002", "text": "two", "helpful": u64::MAX, "harmful": 1},
    ]}});
    write(&project.join(".claude/playbook.json"), playbook.to_string());
    let page = page(&env);
    let name = "a&lt;b&gt;&quot;&#x27;&amp;{script}{name}";
    has!(page, name, "{style}{points}");
    let scripts = tags(&page).into_iter().filter(|tag| *tag == "script");
    assert_eq!(scripts.count(), 1);
}

#[test]
fn a_project_without_anything_has_a_page() {
    let env = TestEnv::new();
    let page = page(&env);
    has!(page, "No key points yet", "No session");
    has!(page, "No error", "Nothing was spent");
    lacks!(page, "tokens in 30 days");
}

#[test]
fn a_session_is_on_the_page_with_how_it_ended() {
    let mut env = TestEnv::without_worker();
    let _api = env.use_votes();
    env.write_playbook(&[("pat-001", "run the tests before every commit")]);
    let secret = format!("sk-ant-api03-{}", "Zq7xB2".repeat(15));
    let session = Session::new("s1")
        .user(&format!("run `cargo test` with {secret}"))
        .ran("cargo test", "test result: ok. 3 passed; 0 failed")
        .assistant("By [pat-001], done.")
        .done();
    env.learn_from(&session);
    let told = env.cli(&["report", "--json"]).json();
    assert_eq!(told["sessions"]["success"], 1, "{told}");
    assert_eq!(told["days"][29]["sessions"]["success"], 1);
    let [history] = &told["points"][0]["history"].as_array().unwrap()[..] else {
        panic!("one: {told}");
    };
    assert_eq!(history["helpful"], 1);
    assert_eq!(told["weeks"][0]["sessions"], 1);
    let page = page(&env);
    has!(page, "session s1, ");
    lacks!(page, &secret);
}

#[test]
fn errors_stand_by_how_often_they_struck_and_days_without_gaps() {
    let env = lived();
    let told = env.cli(&["report", "--json"]).json();
    assert_eq!(told["days"].as_array().unwrap().len(), 30);
    assert_eq!(told["cost"]["days"].as_array().unwrap().len(), 30);
    let errors = told["errors"].as_array().unwrap().iter();
    let times: Vec<&Value> = errors.map(|error| &error["times"]).collect();
    assert_eq!(times, [12, 7, 3, 1], "most often first");
}

#[test]
fn what_cannot_be_read_is_told_on_the_page() {
    let env = lived();
    env.lose_memory();
    env.write_state("memory.db", "no database ".repeat(500));
    let run = env.cli(&["report", "--out", "-"]);
    has!(run.stdout, "class=\"problem\"", "<code>pat-001</code>");
    has!(run.stderr, "note: only the votes in the file are counted");
    write(&env.playbook_path(), "{");
    env.cli(&["report"])
        .fails(1, &["error: ", "playbook.json", "hint: "]);
}

#[test]
fn open_hands_the_page_to_the_system_and_says_so_when_that_fails() {
    let mut env = lived();
    let bin = env.root().join("bin");
    let handed_over = env.root().join("opened");
    let is_mac = cfg!(target_os = "macos");
    let opener = bin.join(if is_mac { "open" } else { "xdg-open" });
    let place = handed_over.display();
    write_program(&opener, format!("#!/bin/sh\nprintf %s \"$1\" >'{place}'\n"));
    env.set("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let told = env.cli(&["report", "--open"]).ok();
    assert_eq!(fs::read_to_string(handed_over).unwrap(), told.trim());
    write(&opener, "#!/bin/sh\nexit 3\n");
    let failed = env.cli(&["report", "--open"]);
    assert_eq!((failed.code, failed.stdout), (Some(1), told));
    has!(failed.stderr, "exit status: 3", "hint: open that file");
}
