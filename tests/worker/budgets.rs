//! Promise: no bill is a surprise: spending is recorded, what a limit holds back waits and is
//! reported, and continues when the limit allows.

use crate::common::api::{INPUT_TOKENS, OUTPUT_TOKENS};
use crate::common::prelude::*;

/// A model that votes and takes no notes: one call for each session.
fn voting() -> [Step; 1] {
    [Step::votes()]
}

/// Creates a user with this many ended sessions; nothing was sent yet.
fn ended(steps: impl IntoIterator<Item = Step>, config: &str, sessions: usize) -> (TestEnv, Api) {
    let (env, api) = TestEnv::asking_for(steps);
    env.write_config(config);
    for n in 0..sessions {
        env.end_citing(&format!("s{n}"));
    }
    (env, api)
}

fn today(env: &TestEnv) -> Value {
    env.cli(&["status", "--cost", "--json"]).json()["today"].clone()
}

/// Many more sessions end in a day than it has calls, as after a script gone wild.
#[test]
fn a_runaway_stops_at_the_days_calls_and_goes_on_the_next_day() {
    const LIMIT: usize = 60;
    const SESSIONS: usize = 160;
    let config = format!("[retry]\nbase_ms = 1\n[budgets]\ncalls_per_day = {LIMIT}\n");
    let (mut env, api) = ended([Step::Canned], &config, SESSIONS);
    env.worker();
    assert_eq!(api.requests().len(), LIMIT);
    assert_eq!(today(&env)["calls"], LIMIT);
    let left = env.spool().len();
    let reason = "budget: 60 calls today, `budgets.calls_per_day` is 60";
    assert_eq!(env.reasons(), vec![reason; left]);
    // Later that day nothing continues.
    env.worker_at("2026-11-21T23:00:00Z");
    assert_eq!(api.requests().len(), LIMIT);

    env.worker_at("2026-11-22T12:00:00Z");
    assert_eq!(api.requests().len(), 2 * LIMIT);
    let jobs = env.spool();
    let left = jobs.iter().filter(|job| job["event"] == "session-end");
    let done = SESSIONS - left.count();
    assert_eq!(env.marks_of("pat-001"), (done as u64, 0));
    assert!(done > LIMIT && env.failed().is_empty());
}

#[rstest]
#[case::calls("calls_per_day = 3\ntokens_per_day = 0", 3)]
#[case::tokens("calls_per_day = 0\ntokens_per_day = 40", 3)]
#[case::exactly_the_tokens("calls_per_day = 0\ntokens_per_day = 30", 2)]
#[case::no_limits("calls_per_day = 0\ntokens_per_day = 0", 4)]
fn the_day_has_its_limits(#[case] limits: &str, #[case] requests: usize) {
    let (env, api) = ended(voting(), &format!("[budgets]\n{limits}\n"), 4);
    env.cli(&["worker", "--jobs", "1"]).ok();
    assert_eq!(api.requests().len(), requests);
    assert_eq!(env.marks_of("pat-001"), (requests as u64, 0));
    assert_eq!(env.spool().len(), 4 - requests);
    let reasons = env.reasons();
    let is_fine = reasons.iter().all(|r| r.starts_with("budget: "));
    assert!(is_fine, "{reasons:?}");
    assert_eq!(today(&env)["tokens_in"], INPUT_TOKENS * requests as u64);
}

#[test]
fn a_raised_limit_counts_at_once() {
    let (env, api) = ended(voting(), "[budgets]\ncalls_per_day = 1\n", 3);
    env.worker();
    assert_eq!(api.requests().len(), 1);
    env.write_config("[budgets]\ncalls_per_day = 2\n");
    env.worker();
    assert_eq!(api.requests().len(), 2);
    assert_eq!(env.spool().len(), 1);
}

#[test]
fn retries_count_and_never_go_beyond_the_limit() {
    let config = "[budgets]\ncalls_per_day = 4\n[retry]\nbase_ms = 1\n";
    let (mut env, api) = ended([Step::error(500, "api_error", "x")], config, 2);
    for (minute, requests) in [(1, 3), (30, 4), (59, 4)] {
        env.set("PLAYBOOK_NOW", format!("2026-11-21T12:{minute:02}:00Z"));
        env.cli(&["worker", "--jobs", "1"]).ok();
        assert_eq!(api.requests().len(), requests, "at {minute}");
    }
    assert_eq!(env.spool().len(), 2);
}

#[test]
fn a_job_that_would_take_too_many_tokens_is_not_begun() {
    let (env, api) = ended([Step::Canned], "[budgets]\ntokens = 100\n", 1);
    env.worker();
    assert!(api.requests().is_empty());
    has!(env.reasons().remove(0), "`budgets.tokens` is 100");
}

/// Spec/2, section 6: on expiry nothing is written and the reason is reported.
#[rstest]
#[case::of_a_session(0)]
#[case::of_the_curator(1)]
fn a_job_that_takes_too_long_waits_with_nothing_half_done(#[case] slow: usize) {
    let mut steps = [Step::Canned, Step::Canned, Step::Canned];
    steps[slow] = Step::Canned.after(Duration::from_secs(60));
    let config = "[budgets]\ntime_ms = 1500\n[retry]\ntimeout_ms = 600000\n";
    let (mut env, api) = ended(steps, config, 1);
    env.worker();
    let found = (env.marks().len(), env.marks_of("pat-001"));
    assert_eq!(found, (1, (slow as u64, 0)));
    let wanted = json!({"outcome": "waiting", "reason": "reflection_timeout", "ops_written": 0});
    includes(&env.reflections()[slow], &wanted);
    assert!(env.reasons()[0].starts_with("reflection_timeout"));

    env.worker_at("2026-11-21T20:00:00Z");
    assert_eq!((env.marks().len(), env.marks_of("pat-001")), (2, (1, 0)));
    assert_eq!(api.requests().len(), 3, "only the slow one was asked again");
}

#[test]
fn a_job_applies_no_more_operations_than_it_may() {
    let words = ["alpha", "bravo", "charlie", "delta", "echo"];
    let add = |w| json!({"type": "ADD", "section": "OTHERS", "text": format!("hello {w}")});
    let replies = [tags(&[]), operations(&json!(words.map(add)))].map(Step::Text);
    let (env, _api) = ended(replies, "[budgets]\nops = 2\n", 1);
    env.worker();
    assert_eq!(env.marks().len(), 1 + 2);
    let wanted = json!({"operations": 2, "ops_written": 2, "skipped": 3});
    includes(&env.reflections()[1], &wanted);
}

#[test]
fn a_projects_own_limit_holds_back_that_project_alone() {
    let (mut env, api) = ended(voting(), "", 3);
    env.write_project(".claude/playbook.toml", "[budgets]\ncalls_per_day = 1\n");
    let other = env.go_to_project("other");
    for n in 0..3 {
        let id = format!("other-{n}");
        env.write_transcript(&Session::citing(&id));
        let event = json!({"cwd": other});
        env.hook(Hook::SessionEnd, &id, event).silent();
    }
    env.cli(&["worker", "--jobs", "1"]).ok();
    assert_eq!(api.requests().len(), 1 + 3);
    assert_eq!(env.spool().len(), 2);
    let reasons = env.reasons();
    let is_fine = reasons.iter().all(|r| r.contains("of this project"));
    assert!(is_fine, "{reasons:?}");
}

#[test]
fn the_ledger_says_where_the_tokens_went() {
    let (mut env, api) = ended([Step::Canned], "", 2);
    env.worker();
    let transcript = env.transcript_path("s0").display().to_string();
    // A dry run is paid for as well.
    env.cli(&["reflect", &transcript]).ok();
    let requests = api.requests().len() as u64;
    assert!(requests > 3, "two sessions, the curator, one that is shown");
    let (input, output) = (INPUT_TOKENS * requests, OUTPUT_TOKENS * requests);
    let spent = json!({"calls": requests, "tokens_in": input, "tokens_out": output});
    let nothing = json!({"calls": 0, "tokens_in": 0, "tokens_out": 0});
    let cost = |env: &TestEnv| env.cli(&["status", "--cost", "--json"]).json();
    let now = cost(&env);
    for time in ["today", "days_7", "days_30"] {
        assert_eq!(now[time], spent, "{time}");
    }
    let wanted = json!({
        "project": env.project(), "backend": "anthropic", "model": "claude-haiku-5-5",
        "today": spent,
    });
    includes(&now["projects"][0], &wanted);
    has!(env.cli(&["status", "--cost"]).ok(), "claude-haiku-5-5");
    for (day, week) in [("22", &spent), ("28", &nothing)] {
        env.set("PLAYBOOK_NOW", format!("2026-11-{day}T12:00:00Z"));
        let wanted = json!({"today": nothing, "days_7": week, "days_30": spent});
        includes(&cost(&env), &wanted);
    }
}

#[test]
fn what_is_offline_costs_nothing() {
    let env = TestEnv::with_point();
    let limits = "[budgets]\ncalls_per_day = 1\ntokens_per_day = 1\ntokens = 1\n";
    env.write_config(&format!("backend = \"rules\"\n{limits}"));
    for tool in ["pnpm", "just", "ruff"] {
        env.end(
            Session::new(tool)
                .user(&format!("From now on use {tool}."))
                .assistant("By [pat-001], done."),
        );
    }
    env.worker();
    assert_eq!(env.marks().len(), 1 + 3);
    let nothing = json!({"calls": 0, "tokens_in": 0, "tokens_out": 0});
    assert_eq!(today(&env), nothing);
}

#[test]
fn useless_replies_are_paid_for_too() {
    let (env, _api) = ended([Step::text("I would rather not.")], "", 1);
    env.worker();
    assert_eq!(env.failed().len(), 1);
    let paid = json!({"tokens_in": 2 * INPUT_TOKENS, "tokens_out": 2 * OUTPUT_TOKENS});
    includes(&today(&env), &json!({"calls": 2}));
    includes(&today(&env), &paid);
    includes(&env.reflections()[0], &paid);
}
