//! Promise: `playbook report` makes one page of all that is known of a project, which loads
//! nothing and runs nothing that a transcript or a playbook could bring.
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

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

/// The tags of a page, their names only.
fn tags(page: &str) -> Vec<&str> {
    let name = |tag: &str| tag.find(|c: char| !c.is_ascii_alphanumeric());
    page.split('<')
        .skip(1)
        .map(|tag| &tag[..name(tag).unwrap_or(tag.len())])
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
    has!(
        page(&env),
        "<code>pat-001</code>",
        "<b class=\"\">9</b> <span>key points</span>",
        "Patterns &amp; approaches",
        "<svg class=\"spark\"",
        "ModuleNotFoundError",
        "pip install -r requirements.txt",
        "class=\"timeout\"",
        "<span>correctness</span>",
        "less with each refusal and interruption",
        "<summary>Where it comes from</summary>",
        "a-small-model anthropic",
        "2026-11-21 12:00"
    );
}

#[test]
fn the_same_at_the_same_time_is_the_same_page_and_nothing_else_is_written() {
    let env = lived();
    let first = page(&env);
    let before = env.files();
    assert_eq!(first, page(&env));
    let changed = env.changed_since(&before);
    let is_databases = |path: &Path| path.to_string_lossy().contains("memory.db");
    assert!(changed.iter().all(|path| is_databases(path)), "{changed:?}");
}

#[test]
fn a_hostile_text_is_text() {
    let env = lived();
    let hostile = page(&env);
    has!(hostile, "&lt;img src=x onerror=&quot;");
    lacks!(hostile, "<img");
    assert!(!hostile.contains('\u{202e}'));
    // The same page with a harmless text has the same tags, one for one.
    let harmless = env.playbook().to_string().replace(
        &Value::from(HOSTILE).to_string(),
        &Value::from("harmless").to_string(),
    );
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
        {"name": "\"><script>", "text": "{style}{points}", "helpful": 18_446_744_073_709_551_615_u64, "harmful": 0},
        {"name": "oth-002", "text": "two", "helpful": 18_446_744_073_709_551_615_u64, "harmful": 1},
    ]}});
    write(&project.join(".claude/playbook.json"), playbook.to_string());
    let page = page(&env);
    has!(
        page,
        "a&lt;b&gt;&quot;&#x27;&amp;{script}{name}",
        "{style}{points}"
    );
    let scripts = tags(&page).into_iter().filter(|tag| *tag == "script");
    assert_eq!(scripts.count(), 1);
}

#[test]
fn the_page_loads_nothing() {
    let page = page(&lived());
    for word in [
        "http://", "https://", "src=", "@import", "url(", "fetch(", "<link", "<iframe",
    ] {
        let found = page.replace("&lt;img src=x", "").contains(word);
        assert!(!found, "{word} in the page");
    }
    has!(page, "content=\"default-src 'none';");
}

#[test]
fn a_project_without_anything_has_a_page() {
    let env = TestEnv::new();
    let page = page(&env);
    has!(
        page,
        "No key points yet",
        "No session",
        "No error",
        "Nothing was spent"
    );
    lacks!(page, "tokens in 30 days");
}

#[test]
fn a_session_is_on_the_page_with_how_it_ended() {
    let env = TestEnv::without_worker();
    env.write_playbook(&[("pat-001", "run the tests before every commit")]);
    let secret = format!("sk-ant-api03-{}", "Zq7xB2".repeat(15));
    let session = Session::new("s1")
        .user(&format!("run `cargo test` with {secret}"))
        .ran("cargo test", "test result: ok. 3 passed; 0 failed")
        .assistant("By [pat-001], done.")
        .done();
    env.write_held(&session);
    env.ends("s1");
    env.worker();
    let told = env.cli(&["report", "--json"]).json();
    assert_eq!(told["sessions"]["success"], 1, "{told}");
    assert_eq!(told["days"][29]["sessions"]["success"], 1);
    let history = &told["points"][0]["history"];
    assert_eq!(history.as_array().unwrap().len(), 1);
    assert_eq!(history[0]["helpful"], 1);
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
    // Most often first.
    let times: Vec<u64> = told["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["times"].as_u64().unwrap())
        .collect();
    assert_eq!(times, [12, 7, 3, 1]);
    assert_eq!(told["errors"][0]["fixes"][0]["effectiveness"], 0.5);
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
    assert_eq!(
        (failed.code, failed.stdout),
        (Some(1), told),
        "the page is there"
    );
    has!(failed.stderr, "exit status: 3", "hint: open that file");
}
