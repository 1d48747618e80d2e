//! Promise: `playbook bootstrap` learns once from each earlier session, within what the user agreed
//! to, and after any interruption.

use crate::common::prelude::*;
use playbook::memory::{Memory, RecallQuery};
use playbook::reflect::remembered::MemoryKind;

fn session(id: &str) -> Session {
    Session::new(id)
        .user("fix the build")
        .assistant("By [pat-001], I ran the tests.")
        .user("thanks")
        .assistant("Done.")
        .done()
}

/// Writes a session as the client does, held in `cwd` on a day of November.
fn left_behind(env: &TestEnv, session: &Session, cwd: &Path, day: u32) {
    put(&env.transcript_path(session.id()), session, cwd, day);
}

fn put(path: &Path, session: &Session, cwd: &Path, day: u32) {
    let text = session.text();
    let text = text.replace("/home/user/project", cwd.to_str().unwrap());
    let content = text.replace("2026-11-21T", &format!("2026-11-{day:02}T"));
    write(path, content);
}

fn bootstrap(env: &TestEnv, more: &[&str]) -> Value {
    let args = [&["bootstrap", "--yes", "--json"], more].concat();
    env.cli(&args).json()
}

/// Returns the order in which the sessions were asked about, by a word in their text.
fn order(api: &Api, words: &[&str]) -> Vec<String> {
    let asked = api.requests().into_iter().filter_map(|request| {
        let prompt = request.prompt();
        let word = words.iter().find(|word| prompt.contains(*word))?;
        Some((*word).to_owned())
    });
    let mut order: Vec<String> = asked.collect();
    order.dedup();
    order
}

#[test]
fn the_sessions_of_a_forgotten_project_can_be_learned_again() {
    let (env, _api) = TestEnv::voting();
    left_behind(&env, &session("s1"), &env.project(), 3);
    assert_eq!(bootstrap(&env, &[])["new"], 1);
    assert_eq!(bootstrap(&env, &[])["new"], 0);
    env.cli(&["forget", "--project", "--yes"]).ok();
    assert_eq!(bootstrap(&env, &[])["new"], 1);
    assert_eq!(env.marks_of("pat-001"), (1, 0), "a session has one vote");
}

#[test]
fn every_session_counts_once_and_a_second_run_does_nothing_and_says_so() {
    let (env, api) = TestEnv::with_model();
    let (project, elsewhere) = (env.project(), env.root().join("other"));
    fs::create_dir_all(project.join("src")).unwrap();
    fs::create_dir_all(&elsewhere).unwrap();
    fs::create_dir_all(project.join(".git")).unwrap();
    let parent = session("parent");
    left_behind(&env, &parent, &project, 3);
    // A copy under another name, without content of its own.
    left_behind(&env, &parent.fork("fork"), &project, 3);
    // It belongs to this project by its records, but not by its folder's name.
    let moved = env.home().join(".claude/projects/-elsewhere/moved.jsonl");
    put(&moved, &session("moved"), &project.join("src"), 5);
    // It is in this project's folder, but belongs to another by its records.
    left_behind(&env, &session("stranger"), &elsewhere, 6);
    let mut agent = Session::subagent("parent");
    agent.user("look for it").assistant("By [pat-001], found.");
    agent.user("go on").assistant("Done.");
    put(&env.agent_transcript_path("parent"), &agent, &project, 4);
    let idle = Session::new("idle").user("hello").done();
    left_behind(&env, &idle, &project, 7);
    write(&env.transcript_path("empty"), "");

    let done = bootstrap(&env, &["--skip-subagents"]);
    includes(&done, &json!({"new": 2, "too_little": 1}));
    assert_eq!(env.marks_of("pat-001"), (2, 0));
    let done = bootstrap(&env, &[]);
    assert_eq!(done["new"], 1, "{done}");
    assert_eq!(env.marks_of("pat-001"), (3, 0));

    let (asked, playbook) = (api.requests().len(), env.playbook());
    has!(env.cli(&["bootstrap", "--yes"]).ok(), "Nothing to do");
    assert_eq!(api.requests().len(), asked);
    assert_eq!(env.playbook(), playbook);
    // The queue follows the same rules: the end of such a session brings nothing new.
    env.ends("parent");
    env.worker();
    assert_eq!(api.requests().len(), asked);
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

#[test]
fn the_oldest_come_first_within_the_time_and_number_asked_for() {
    let (env, api) = TestEnv::with_model();
    env.write_config("[retry]\nbase_ms = 1\n[worker]\njobs = 1\n");
    let words = ["apricot", "banana", "cherry", "damson"];
    // Written in another order than they were held.
    for (word, day) in [
        ("cherry", 18),
        ("apricot", 1),
        ("damson", 19),
        ("banana", 17),
    ] {
        let mut session = session(word);
        session.user(&format!("now the {word}")).assistant("Done.");
        left_behind(&env, &session, &env.project(), day);
    }
    let plan = env.cli(&["bootstrap", "--json", "--since", "1w"]).json();
    assert_eq!((&plan["new"], &plan["started"]), (&json!(3), &json!(false)));
    bootstrap(&env, &["--since", "1w", "--max", "2"]);
    assert_eq!(order(&api, &words), ["banana", "cherry"]);
    bootstrap(&env, &[]);
    let all = ["banana", "cherry", "apricot", "damson"];
    assert_eq!(order(&api, &words), all);
}

#[test]
fn without_a_terminal_and_a_yes_it_only_says_what_it_would_take() {
    let (env, api) = TestEnv::with_model();
    left_behind(&env, &session("s1"), &env.project(), 3);
    let before = env.playbook();
    let told = env.cli(&["bootstrap"]).ok();
    has!(told, "1 session to learn from", "at most 4 calls", "tokens");
    has!(told, "--yes");
    assert!(api.requests().is_empty() && env.spool().is_empty());
    assert_eq!(env.playbook(), before);
}

#[test]
fn a_client_elsewhere_is_found_and_an_open_session_is_left_to_its_end() {
    let (mut env, _api) = TestEnv::with_model();
    let client = env.root().join("client");
    env.set("CLAUDE_CONFIG_DIR", &client);
    let path = client.join("projects/x/s1.jsonl");
    put(&path, &session("s1"), &env.project(), 3);
    let open = client.join("projects/x/s2.jsonl");
    put(&open, &session("s2"), &env.project(), 4);
    env.set("CLAUDE_PID", std::process::id().to_string());
    let change = json!({"transcript_path": open.to_str()});
    env.hook(Hook::SessionStart, "s2", change).code_is(0);
    includes(&bootstrap(&env, &[]), &json!({"new": 1, "open": 1}));
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

/// The day's limits neither hold it back nor count its spending; its own allowance applies.
#[test]
fn its_allowance_is_its_own() {
    let (env, api) = TestEnv::with_model();
    env.write_config("[retry]\nbase_ms = 1\n[budgets]\ncalls_per_day = 2\n");
    for n in 1..=4 {
        left_behind(&env, &session(&format!("s{n}")), &env.project(), n);
    }
    bootstrap(&env, &[]);
    assert_eq!(api.requests().len(), 5, "the curator once for all");
    // While bootstrap's worker ends, another one has no work.
    env.settle();
    // The day's budget is untouched, then used up, which bootstrap ignores.
    for (id, marks) in [("s5", 5), ("s6", 5)] {
        left_behind(&env, &session(id), &env.project(), 5);
        env.ends(id);
        env.worker();
        assert_eq!(env.marks_of("pat-001"), (marks, 0), "{id}");
    }
    let reasons = env.reasons();
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    left_behind(&env, &session("s7"), &env.project(), 7);
    bootstrap(&env, &[]);
    assert_eq!(env.marks_of("pat-001"), (6, 0));
    let cost = env.cli(&["status", "--cost", "--json"]).json();
    assert_eq!(cost["today"]["calls"], 5 + 2 + 2, "{cost}");
    assert_eq!(env.spool().len(), 1);
}

#[test]
fn a_session_that_takes_more_than_was_agreed_to_waits_until_more_is() {
    // The first answer is useless and takes more tokens than were agreed to for a session.
    let bad = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "text", "text": "no JSON at all"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 20_000, "output_tokens": 5}});
    let (env, api) = TestEnv::asking_for([Step::Raw(bad.to_string().into_bytes()), Step::votes()]);
    env.write_config("[retry]\nbase_ms = 1\n[worker]\njobs = 1\n");
    for n in 1..=2 {
        left_behind(&env, &session(&format!("s{n}")), &env.project(), n);
    }
    let out = env.cli(&["bootstrap", "--yes", "--json"]);
    out.code_is(1);
    let done: Value = serde_json::from_str(&out.stdout).unwrap();
    includes(&done, &json!({"left": 0, "spent": {"calls": 2}}));
    let reasons = texts(&done["waiting"], "reason");
    assert_eq!(reasons.len(), 1, "{done}");
    has!(reasons[0], "agreed to", "playbook bootstrap");
    assert_eq!(env.marks_of("pat-001"), (1, 0), "the other one is done");
    // A worker alone makes no progress.
    env.worker();
    assert_eq!(api.requests().len(), 2);
    let plan = env.cli(&["bootstrap", "--json"]).json();
    let wanted = json!({"begun": 1, "new": 0, "estimate": {"calls": 2}});
    includes(&plan, &wanted);
    let done = bootstrap(&env, &[]);
    assert_eq!(done["done"][0]["outcome"], "applied", "{done}");
    assert_eq!(env.marks_of("pat-001"), (2, 0));
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

/// Earlier versions wrote such jobs; their limit was in a file of the project.
#[test]
fn a_job_that_states_no_limit_is_done_beside_the_limits_of_the_day() {
    let (env, api) = TestEnv::with_model();
    env.write_config("[retry]\nbase_ms = 1\n[budgets]\ncalls_per_day = 1\n");
    left_behind(&env, &session("s1"), &env.project(), 3);
    env.ends("s1");
    let job = fs::read_dir(env.state().join("spool")).unwrap().next();
    let job = job.unwrap().unwrap().path();
    let text = fs::read_to_string(&job).unwrap();
    fs::write(&job, text.replace("\"session-end\"", "\"bootstrap\"")).unwrap();
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert_eq!(api.requests().len(), 2, "the curator's is within them");
}

#[test]
fn where_nobody_watches_it_leaves_the_sessions_to_a_worker() {
    let (env, api) = TestEnv::with_model();
    left_behind(&env, &session("s1"), &env.project(), 3);
    let told = env.cli(&["bootstrap", "--yes"]).ok();
    has!(told, "1 session in the background", "playbook jobs");
    env.settle();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert_eq!(api.requests().len(), 2, "reflector and curator");
}

fn crowd(env: &TestEnv) {
    for n in 1..=12 {
        let mut session = session(&format!("s{n:02}"));
        session.user(&format!("From now on use tool-{n}."));
        left_behind(env, &session, &env.project(), n);
        if n % 3 == 0 {
            let mut fork = session.fork(&format!("f{n:02}"));
            fork.user(&format!("Always use fork-{n}."))
                .assistant("By [pat-001], more.");
            fork.user("thanks").assistant("Done.");
            left_behind(env, &fork, &env.project(), n);
        }
    }
}

#[rstest]
#[case::with_a_model(true)]
#[case::with_rules(false)]
fn kills_at_any_moment_lose_nothing_and_count_nothing_twice(#[case] with_model: bool) {
    let api = Api::canned();
    let begin = || {
        let asking = with_model.then(|| TestEnv::asking(&api));
        let env = asking.unwrap_or_else(TestEnv::with_point);
        // The jobs start together; a copied record is still claimed by the oldest.
        env.write_config("[retry]\nbase_ms = 1\n[worker]\njobs = 16\n");
        crowd(&env);
        env
    };
    let undisturbed = begin();
    bootstrap(&undisturbed, &[]);
    // A model votes; with the rules each session's statement becomes a key point.
    let learned = |env: &TestEnv| (env.marks_of("pat-001"), env.marks().len());
    let expected = learned(&undisturbed);
    assert_eq!(
        expected,
        if with_model {
            ((16, 0), 2)
        } else {
            ((0, 0), 17)
        }
    );

    let env = begin();
    for kill in 1..=8u64 {
        let mut command = env.command("playbook");
        command.args(["bootstrap", "--yes", "--json"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        thread::park_timeout(Duration::from_millis(40 * kill));
        env.kill_all();
        env.settle();
        child.wait().unwrap();
    }
    // A job that three workers did not survive waits for a while; the user retries it.
    let done = bootstrap(&env, &[]);
    assert_eq!(done["left"], 0, "{done}");
    assert_eq!(learned(&env), expected);
    assert!(env.spool().is_empty() && env.failed().is_empty());
    assert_eq!(bootstrap(&env, &[])["new"], 0);
}

#[test]
fn ctrl_c_withdraws_what_has_not_begun() {
    let slow = || Step::Canned.after(Duration::from_millis(500));
    let (env, api) = TestEnv::asking_for((0..100).map(|_| slow()));
    env.write_config("[retry]\nbase_ms = 1\n[worker]\njobs = 1\n");
    for n in 1..=6 {
        left_behind(&env, &session(&format!("s{n}")), &env.project(), n);
    }
    let mut command = env.command("playbook");
    command.args(["bootstrap", "--yes", "--json"]);
    let child = command.stdout(Stdio::piped()).spawn().unwrap();
    wait_for("a call", || (!api.requests().is_empty()).then_some(()));
    signal(child.id(), Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let count = |key: &str| told[key].as_u64().unwrap();
    let ended = told["done"].as_array().unwrap().len() as u64;
    assert_eq!(told["stopped"], true);
    assert_eq!(ended + count("in_hand") + count("left"), 6, "{told}");
    assert!(count("left") >= 4, "{told}");
    // The started sessions are completed, and no more are begun.
    wait_until("the worker to end", || env.processes().is_empty());
    assert!(api.requests().len() <= 3, "more was begun");
    assert!(env.spool().is_empty());
    let done = bootstrap(&env, &[]);
    assert_eq!(done["new"], told["left"], "{done}");
    assert_eq!(env.marks_of("pat-001"), (6, 0));
    assert_eq!(api.requests().len(), 6 + 2, "two runs of the curator");
}

/// A record older than the dropped ones counts as a copy, except in a transcript that bootstrap
/// claims for the first time (issue "Exactly once").
#[test]
fn sessions_older_than_the_oldest_known_record_count() {
    let (env, _api) = TestEnv::with_model();
    left_behind(&env, &session("s1"), &env.project(), 20);
    bootstrap(&env, &[]);
    let memory = rusqlite::Connection::open(env.state().join("memory.db")).unwrap();
    memory
        .execute("UPDATE projects SET left_until = 1795000000000", ())
        .unwrap();
    left_behind(&env, &session("s2"), &env.project(), 2);
    assert_eq!(bootstrap(&env, &[])["new"], 1);
    assert_eq!(env.marks_of("pat-001"), (2, 0));
    left_behind(&env, &session("s3"), &env.project(), 3);
    env.ends("s3");
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (2, 0), "it may have been known");
}

/// A memory from an old session has that session's date, for display and for fading.
#[test]
fn what_it_learns_is_dated_as_the_sessions_were() {
    let (env, _api) = TestEnv::with_model();
    let mut old = session("old");
    let command = json!({"command": "acme run --al"});
    old.tool_error("Bash", &command, "error: unknown flag: --al");
    left_behind(&env, &old, &env.project(), 3);
    bootstrap(&env, &[]);
    let memory = Memory::open(&env.state().join("memory.db")).unwrap();
    let errors = RecallQuery {
        kinds: vec![MemoryKind::Error],
        ..RecallQuery::best(1)
    };
    let now = "2026-11-21T12:00:00Z".parse().unwrap();
    let error = memory.recall(&errors, now).unwrap().remove(0);
    let history = memory.history(env.project().to_str().unwrap(), 9).unwrap();
    let vote = history
        .iter()
        .find(|change| change.session == "old")
        .unwrap();
    let used = env.playbook()["playbook"]["points"]["pat-001"]["used"].to_string();
    for time in [error.created.to_string(), vote.time.to_string(), used] {
        has!(time, "2026-11-03T");
    }
}

/// The age of a key point counts from when it was learned.
#[test]
fn what_an_old_session_taught_is_not_unused() {
    let env = TestEnv::without_worker();
    let mut old = Session::new("old");
    old.user("From now on always use pnpm here.");
    old.failed("npm i", "error: no npm").assistant("Done.");
    let old = old
        .text()
        .replace("/home/user/project", env.project().to_str().unwrap());
    let old = old.replace("2026-11-21T", "2025-01-21T");
    write(&env.transcript_path("old"), old);
    bootstrap(&env, &[]);
    let shown = env.cli(&["show"]).ok();
    has!(shown, "always use pnpm");
    lacks!(shown, "unused for");
}
