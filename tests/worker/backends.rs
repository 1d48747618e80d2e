//! Promise: settings and environment choose the backend, the right account pays, and no process is
//! left behind.

use crate::common::prelude::*;

pub(super) const FAKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fake-claude");

fn logged_in(play: &str) -> TestEnv {
    let env = user_of_client(play);
    env.end_citing("s1");
    env
}

fn user_of_client(play: &str) -> TestEnv {
    let mut env = TestEnv::with_point();
    env.set("PATH", format!("{FAKE}:/usr/bin:/bin"));
    let path = env.home().join(".claude/.credentials.json");
    write(&path, "{\"token\":1}");
    write(&env.home().join("play"), play);
    env.write_config("[retry]\ntimeout_ms = 1500\n");
    env
}

pub(super) fn answering(text: &str) -> String {
    let result = json!({
        "type": "result", "subtype": "success", "is_error": false, "result": text,
        "stop_reason": "end_turn", "usage": {"input_tokens": 7, "output_tokens": 3},
        "modelUsage": {"claude-haiku-5-5": {"outputTokens": 3}},
    });
    format!("cat > /dev/null; cat <<'EOT'\n{result}\nEOT\n")
}

fn good() -> String {
    let reply = json!({
        "analysis": "well done", "reasoning": "nothing new", "operations": [],
        "bullet_tags": [{"name": "pat-001", "tag": "helpful", "rationale": "cited"}],
        "notes": [{"correction": "A note.", "events": [1]}],
    });
    answering(&reply.to_string())
}

fn pids(env: &TestEnv) -> Vec<String> {
    let pids = fs::read_to_string(env.home().join("pids")).unwrap_or_default();
    pids.lines().map(|line| line.trim().to_owned()).collect()
}

fn is_running(pid: &String) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A process that only waits to be reaped counts as ended.
    stat.rsplit(") ")
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

#[track_caller]
pub(super) fn assert_gone(pids: &[String]) {
    wait_until("the client's processes to be gone", || {
        !pids.iter().any(is_running)
    });
}

#[track_caller]
fn assert_nobody_is_left(env: &TestEnv) {
    let pids = pids(env);
    assert!(!pids.is_empty());
    assert_gone(&pids);
}

fn reason(env: &TestEnv) -> String {
    env.reasons().into_iter().next().unwrap_or_default()
}

#[test]
fn a_login_alone_answers_through_the_client_and_in_isolation() {
    let mut env = logged_in(&good());
    env.set("CLAUDECODE", "1");
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    let wanted = json!({"backend": "claude-cli", "tokens_in": 7, "attempts": 1});
    let lines = env.reflections();
    assert_eq!(lines.len(), 2, "the session and the curator");
    for line in &lines {
        includes(line, &wanted);
    }
    let told = fs::read_to_string(env.home().join("environment")).unwrap();
    has!(told, "PLAYBOOK_WORKER=1\n");
    lacks!(told, "CLAUDECODE=");
    let arguments = fs::read_to_string(env.home().join("arguments")).unwrap();
    has!(arguments, "--model\nhaiku\n", "{\"disableAllHooks\":true}");
    assert_nobody_is_left(&env);
}

#[test]
fn each_step_may_have_a_model_of_its_own() {
    let env = user_of_client(&format!(
        "grep -A1 -x -e --model \"$HOME/arguments\" | tail -1 >> \"$HOME/models\"\n{}",
        good()
    ));
    env.write_config("[curator]\nmodel = \"sonnet\"\n");
    env.learn_citing("s1");
    let models = fs::read_to_string(env.home().join("models")).unwrap();
    assert_eq!(models, "haiku\nsonnet\n");
}

#[test]
fn what_may_pass_waits() {
    let nobody = "Not logged in \u{b7} Please run /login";
    let portal = "API Error: API returned an empty or malformed response (HTTP 200)";
    for (said, status, kind) in [
        (nobody, Value::Null, "RefusedKey"),
        ("API Error: 401 invalid", json!(401), "RefusedKey"),
        (portal, Value::Null, "ClientError"),
    ] {
        let result = json!({
            "type": "result", "subtype": "success", "is_error": true, "result": said,
            "api_error_status": status,
        });
        let env = logged_in(&format!(
            "cat > /dev/null\ncat <<'EOT'\n{result}\nEOT\nexit 1\n"
        ));
        env.worker();
        assert_eq!((env.spool().len(), env.failed().len()), (1, 0), "{said}");
        has!(reason(&env), &format!("reflect_error:{kind}"));
        // No worker tries again before its time.
        env.worker();
        assert_eq!(pids(&env).len(), 1, "{said}");
    }
}

#[test]
fn a_refused_login_tries_again_as_soon_as_there_is_another() {
    let refused = json!({"type": "result", "is_error": true, "result": "Not logged in"});
    let env = logged_in(&format!("cat > /dev/null; echo '{refused}'; exit 1"));
    env.worker();
    write(&env.home().join("play"), good());
    env.learn_citing("s2");
    assert_eq!(env.marks_of("pat-001"), (0, 0), "the same login is refused");
    let path = env.home().join(".claude/.credentials.json");
    write(&path, "{\"token\":2}");
    has!(env.told_at_start("s9"), "`claude auth login`");
    has!(env.cli(&["status"]).ok(), "claude auth login");
    env.worker();
    assert!(env.marks_of("pat-001").0 >= 1, "{:?}", env.marks());
    lacks!(env.told_at_start("s9"), "nothing is learned");
}

#[rstest]
#[case::hangs_with_a_child("sleep 600 & echo $! >> \"$HOME/pids\"; wait")]
#[case::hangs_deaf_to_signals("trap '' TERM INT HUP; while :; do sleep 1; done")]
fn a_client_that_hangs_is_ended_at_its_deadline(#[case] play: &str) {
    let env = logged_in(play);
    env.worker();
    assert_eq!(env.spool().len(), 1);
    has!(reason(&env), "reflect_error:Timeout");
    assert_nobody_is_left(&env);
}

#[test]
fn a_client_that_outlives_a_killed_worker_is_ended_by_the_next_one_with_its_folder() {
    let mut env = logged_in("pwd > \"$HOME/at\"; echo $$ >> \"$HOME/pids\"; sleep 600");
    env.write_config("[retry]\ntimeout_ms = 600000\n");
    let mut worker = env.command("playbook").arg("worker").spawn().unwrap();
    wait_until("the client is asked", || {
        pids(&env).first().is_some_and(is_running)
    });
    wait_until("it is noted", || {
        let at = fs::read_to_string(env.home().join("at")).unwrap_or_default();
        let folder = Path::new(at.trim())
            .parent()
            .map(|den| den.join("mark.json"));
        folder.is_some_and(|mark| mark.exists())
    });
    worker.kill().unwrap();
    worker.wait().unwrap();
    let at = fs::read_to_string(env.home().join("at")).unwrap();
    assert!(pids(&env).iter().any(is_running) && Path::new(at.trim()).exists());

    write(&env.home().join("play"), good());
    env.worker_at("2026-11-21T13:00:00Z");
    assert_nobody_is_left(&env);
    assert!(!Path::new(at.trim()).parent().unwrap().exists());
}

const KEY: &str = "sk-ant-api03-loopback-0123456789abcdef";

/// Creates a user with a key and a login, who gave this answer when the client asked about the key.
fn asked(api: &Api, started_as: &str, answer: &str) -> TestEnv {
    let mut env = user_of_client(&good());
    env.set("ANTHROPIC_BASE_URL", api.base_url());
    env.set("ANTHROPIC_API_KEY", KEY);
    env.set("CLAUDE_CODE_ENTRYPOINT", started_as);
    let answers = json!({"customApiKeyResponses": {answer: [&KEY[KEY.len() - 20..]]}});
    write(&env.home().join(".claude.json"), answers.to_string());
    env.learn_citing("s1");
    assert_eq!(env.marks_of("pat-001"), (1, 0), "{:?}", env.spool());
    env
}

/// The client's choice, as measured for docs/how-it-works.md.
#[rstest]
#[case::refused_in_a_terminal("cli", "rejected", 0)]
#[case::refused_but_nobody_is_asked("sdk-cli", "rejected", 2)]
#[case::accepted_in_a_terminal("cli", "approved", 2)]
fn a_key_that_the_user_refused_is_not_used_where_the_client_uses_the_login(
    #[case] started_as: &str,
    #[case] answer: &str,
    #[case] requests: usize,
) {
    let api = Api::canned();
    let env = asked(&api, started_as, answer);
    assert_eq!(api.requests().len(), requests);
    assert_eq!(pids(&env).len(), 2 - requests);
}

#[test]
fn a_session_in_which_nobody_is_asked_leaves_the_jobs_of_the_others_to_the_login() {
    let api = Api::canned();
    let mut env = asked(&api, "cli", "rejected");
    env.end_citing("s2");
    env.set("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    env.worker();
    assert_eq!((api.requests().len(), env.spool().len()), (0, 1));
    env.set("CLAUDE_CODE_ENTRYPOINT", "cli");
    env.worker();
    assert_eq!((api.requests().len(), env.spool().len()), (0, 0));
    let doctor = diagnosis(&env);
    let why = doctor["why"].as_str().unwrap();
    has!(why, "refused the key in ANTHROPIC_API_KEY");
}

#[test]
fn a_key_that_no_header_can_carry_is_told_and_nothing_else_pays() {
    let api = Api::canned();
    let mut env = user_of_client(&good());
    env.set("ANTHROPIC_BASE_URL", api.base_url());
    env.set("AGENTIC_CONTEXT_API_KEY", "sk-ant\u{a0}copied");
    env.learn_citing("s1");
    has!(reason(&env), "AGENTIC_CONTEXT_API_KEY: it holds");
    assert!(pids(&env).is_empty() && api.requests().is_empty());
    has!(env.cli(&["status"]).ok(), "AGENTIC_CONTEXT_API_KEY");
}

/// A key comes before a login, and a backend that the user chose by name before both.
#[rstest]
#[case::a_key("anthropic", FAKE, "no key")]
#[case::the_client("claude-cli", "/usr", "`claude` on PATH")]
fn a_backend_chosen_by_name_waits_for_what_it_needs(
    #[case] name: &str,
    #[case] path: &str,
    #[case] lacks: &str,
) {
    let mut env = user_of_client(&good());
    env.write_config(&format!("backend = \"{name}\"\n"));
    env.set("PATH", format!("{path}:/usr/bin:/bin"));
    env.learn_citing("s1");
    has!(reason(&env), lacks);
    assert!(pids(&env).is_empty());
}

fn diagnosis(env: &TestEnv) -> Value {
    // No hook is registered here, which counts as broken.
    let told = env.cli(&["doctor", "--json"]);
    assert_eq!((told.code, told.stderr.as_str()), (Some(1), ""));
    serde_json::from_str(&told.stdout).unwrap()
}

#[test]
fn doctor_says_what_answers_why_and_who_pays() {
    let mut env = TestEnv::new();
    let is_found = |env: &TestEnv, [backend, why, pays]: [&str; 3], problems: usize| {
        let before = env.files();
        let said = diagnosis(env);
        assert_eq!(said["backend"], backend, "{said}");
        has!(said["why"].as_str().unwrap(), why);
        has!(said["pays"].as_str().unwrap(), pays);
        has!(env.cli(&["doctor"]).stdout, backend, pays);
        assert_eq!(said["problems"].as_array().unwrap().len(), problems);
        assert_eq!(env.changed_since(&before), Vec::<PathBuf>::new());
    };
    is_found(&env, ["rules", "`claude` is not on PATH", "nobody"], 0);
    env.set("PATH", format!("{FAKE}:/usr/bin:/bin"));
    is_found(&env, ["rules", "`claude` is not logged in", "nobody"], 0);
    let login = "{\"oauthAccount\": {\"a\": 1}}";
    write(&env.home().join(".claude.json"), login);
    // The first run creates the salt with which the account's name is hashed.
    _ = diagnosis(&env);
    let pays = "the login of Claude Code in ";
    is_found(&env, ["claude-cli", "its state names an account", pays], 0);
    env.set("ANTHROPIC_AUTH_TOKEN", "a-token");
    env.set("ANTHROPIC_BASE_URL", "https://gate.example/");
    let pays = "the key in ANTHROPIC_AUTH_TOKEN, at https://gate.example";
    is_found(&env, ["anthropic", "ANTHROPIC_AUTH_TOKEN is set", pays], 0);
    env.write_config("backend = \"rules\"\n");
    let why = "`backend` is \"rules\" in the settings";
    is_found(&env, ["rules", why, "nobody"], 0);
    env.unset("ANTHROPIC_AUTH_TOKEN");
    env.write_config("backend = \"anthropic\"\n");
    is_found(&env, ["anthropic", "`backend` is", "nobody yet"], 1);
    env.write_config("reflection.enabled = false\n");
    assert_eq!(diagnosis(&env)["off_by"], "`reflection.enabled`");
}

/// Ends `session` in `project` with an account, in the background like the client.
fn end_with(env: &mut TestEnv, project: &Path, id: &str, api: &Api, key: &str) {
    env.set("CLAUDE_PROJECT_DIR", project);
    env.set("ANTHROPIC_BASE_URL", api.base_url());
    env.set("ANTHROPIC_API_KEY", key);
    let event = json!({"cwd": project});
    env.hook(Hook::SessionEnd, id, event).silent();
}

const EACH: usize = 4;

#[test]
fn two_projects_at_once_each_send_their_own_key_to_their_own_server() {
    let (one, two) = (Api::canned(), Api::canned());
    let mut env = TestEnv::with_point();
    env.unset("PLAYBOOK_NO_WORKER");
    env.write_config("[retry]\nbase_ms = 1\n");
    let projects = ["one", "two"].map(|name| env.go_to_project(name));
    for n in 0..EACH {
        for id in [format!("one-{n}"), format!("two-{n}")] {
            env.write_transcript(&Session::citing(&id));
        }
        let [first, second] = &projects;
        end_with(&mut env, first, &format!("one-{n}"), &one, "sk-of-one");
        end_with(&mut env, second, &format!("two-{n}"), &two, "sk-of-two");
    }
    env.settle();
    for (api, key, name) in [(&one, "sk-of-one", "one"), (&two, "sk-of-two", "two")] {
        let requests = api.requests();
        // The curator may see the notes of several sessions at once.
        assert!((EACH + 1..=2 * EACH).contains(&requests.len()), "{name}");
        for request in requests {
            assert_eq!(request.header("x-api-key"), Some(key));
        }
        let playbook = fs::read(env.root().join(name).join(".claude/playbook.json")).unwrap();
        let playbook: Value = serde_json::from_slice(&playbook).unwrap();
        let point = &playbook["sections"]["PATTERNS & APPROACHES"][0];
        assert_eq!(point["helpful"], EACH, "{name}");
    }
    assert!(env.spool().is_empty() && env.failed().is_empty());
}
