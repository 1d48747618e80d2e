//! Promise: the verdict on a cited key point becomes one vote, and the next session knows it.

use crate::common::prelude::*;

fn with_two_points() -> (TestEnv, Api) {
    let mut env = TestEnv::without_worker();
    env.write_playbook(&[
        ("pat-001", "run the tests before every commit"),
        ("mis-002", "do not edit generated files"),
    ]);
    let api = env.use_votes();
    (env, api)
}

#[test]
fn a_session_teaches_the_next_one_in_the_background() {
    let (mut env, _api) = with_two_points();
    env.unset("PLAYBOOK_NO_WORKER");
    env.end(&Session::following("s1", "pat-001"));
    env.settle();
    assert!(env.spool().is_empty() && env.failed().is_empty());
    assert_eq!(env.marks_of("pat-001"), (1, 0));

    let context = env.start("s2").0;
    has!(context, "[pat-001] run the tests before every commit");
    has!(context, "[mis-002] do not edit generated files");
}

#[rstest]
#[case::worked_on_one_by_one(true)]
#[case::worked_on_together(false)]
fn a_compaction_and_two_ends_of_a_session_are_one_mark(#[case] worker_between: bool) {
    let (env, _api) = with_two_points();
    env.write_transcript(&Session::following("s1", "pat-001"));
    env.hook(Hook::PreCompact, "s1", json!({})).silent();
    if worker_between {
        env.worker();
    }
    for _ in 0..2 {
        env.ends("s1");
        env.worker();
    }
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

#[test]
fn what_a_resumed_session_adds_counts_on_its_own() {
    let (env, _api) = with_two_points();
    let mut session = Session::following("s1", "pat-001");
    env.learn_from(&session);
    session
        .user("now the other file")
        .assistant("By [mis-002], only the source.")
        .tool("Edit", &json!({"file_path": "/p/a.rs"}), "ok")
        .assistant("Done.");
    env.learn_from(&session);
    // This part was counted before.
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert_eq!(env.marks_of("mis-002"), (1, 0));
}

#[rstest]
#[case::original_first(["s1", "s2"])]
#[case::fork_first(["s2", "s1"])]
fn what_a_fork_copied_counts_once(#[case] order: [&str; 2]) {
    let (env, _api) = with_two_points();
    let original = Session::following("s1", "pat-001");
    let mut fork = original.fork("s2");
    fork.user("and in this branch?")
        .assistant("By [mis-002], I leave the generated file.")
        .tool("Edit", &json!({"file_path": "/p/a.rs"}), "ok");
    for id in order {
        env.learn_from(if id == "s1" { &original } else { &fork });
    }
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert_eq!(env.marks_of("mis-002"), (1, 0));
}

#[test]
fn a_line_that_is_half_written_counts_when_it_is_whole() {
    let (env, _api) = with_two_points();
    let mut session = Session::new("s1");
    session.user("hello");
    let before = session.text().len();
    session.assistant("By [pat-001], the tests first.");
    let whole = session.text();
    let path = env.transcript_path("s1");

    write(&path, &whole[..before + 200]);
    env.hook(Hook::PreCompact, "s1", json!({})).silent();
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (0, 0));

    write(&path, &whole);
    env.ends("s1");
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

#[test]
fn a_playbook_keeps_all_that_is_not_ours() {
    let mut env = TestEnv::without_worker();
    let _api = env.use_votes();
    let before = r#"{
  "$schema": "https://example.org/ours.json",
  "version": "1.0",
  "owner": "größe 日本",
  "sections": {
    "OTHERS": [
      {
        "note": {"z": 1, "a": [true, null]},
        "name": "pat-001",
        "text": "run the tests — immer",
        "helpful": 4,
        "harmful": 2,
        "by": "me"
      }
    ],
    "A SECTION OF THEIRS": []
  },
  "last_updated": "2025-01-01T00:00:00",
  "zeta": 1.50
}"#;
    write(&env.playbook_path(), before);
    env.learn_from(&Session::following("s1", "pat-001"));

    let after = fs::read_to_string(env.playbook_path()).unwrap();
    assert_eq!(env.marks_of("pat-001"), (5, 2), "{after}");
    has!(after, "größe 日本", "run the tests — immer");
    has!(after, "\n  \"version\": \"1.0\"");
    assert!(after.ends_with('}'), "a last line without an end stays so");
    let before: Value = serde_json::from_str(before).unwrap();
    let after = env.playbook();
    let keys = |value: &Value| {
        let object = value.as_object().unwrap();
        object.keys().cloned().collect::<Vec<_>>()
    };
    let kept = keys(&before);
    assert_eq!(keys(&after)[..kept.len()], kept);
    for key in ["$schema", "version", "owner", "zeta"] {
        assert_eq!(after[key], before[key], "{key}");
    }
    let (old, new) = (keys(&before["sections"]), keys(&after["sections"]));
    // Missing sections are appended to the existing ones.
    assert_eq!(new[..old.len()], old);
    let point = |value: &Value| value["sections"]["OTHERS"][0].clone();
    assert_eq!(keys(&point(&after)), keys(&point(&before)));
    assert_eq!(point(&after)["note"], point(&before)["note"]);
}

#[test]
fn a_playbook_that_is_a_link_stays_one() {
    let (env, _api) = with_two_points();
    let real = env.root().join("dotfiles/playbook.json");
    fs::create_dir_all(real.parent().unwrap()).unwrap();
    fs::rename(env.playbook_path(), &real).unwrap();
    std::os::unix::fs::symlink(&real, env.playbook_path()).unwrap();
    env.learn_from(&Session::following("s1", "pat-001"));
    assert!(env.playbook_path().is_symlink());
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

#[test]
fn what_is_no_key_point_is_kept_as_it_is_and_the_rest_learns() {
    let mut env = TestEnv::without_worker();
    let _api = env.use_votes();
    let odd =
        json!(["a string", {"text": "no name"}, {"name": "pat-009"}, {"name": 5, "text": "t"}]);
    let mut list = odd.as_array().unwrap().clone();
    let point = json!({"name": "pat-001", "text": "run the tests", "helpful": 0, "harmful": 0});
    list.insert(1, point);
    let file = json!({"sections": {"PATTERNS & APPROACHES": list}});
    write(&env.playbook_path(), file.to_string());
    let place = "PATTERNS & APPROACHES, entry 1: expected an object, found a string";
    has!(env.told_at_start("s0"), "4 entries", place);
    env.learn_from(&Session::following("s1", "pat-001"));
    let mut list = env.playbook()["sections"]["PATTERNS & APPROACHES"].clone();
    assert_eq!(list.as_array_mut().unwrap().remove(1)["helpful"], 1);
    assert_eq!(list, odd);
}

#[test]
fn a_linked_worktree_with_a_committed_playbook_shares_that_of_the_main_one() {
    let (mut env, _api) = with_two_points();
    env.git(&["init", "-q"]);
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "x"]);
    env.cli(&["trust"]).ok();
    env.git(&["worktree", "add", "-q", "../linked"]);
    let linked = env.root().join("linked");
    env.set("CLAUDE_PROJECT_DIR", &linked);

    let start = env.hook(Hook::SessionStart, "s1", json!({"cwd": &linked}));
    has!(start.context(), "[pat-001]");
    env.write_transcript(&Session::following("s1", "pat-001"));
    env.hook(Hook::SessionEnd, "s1", json!({"cwd": &linked}))
        .silent();
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    env.git(&["worktree", "remove", "../linked"]);
}
