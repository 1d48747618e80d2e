//! Promise: folders that are away are waited for and reported, but not created again.

use crate::common::prelude::*;

const LATER: &str = "2026-11-23T12:00:00Z";

/// They may be on an unmounted drive.
#[test]
fn a_folder_of_transcripts_that_is_away_makes_its_jobs_wait() {
    let (mut env, _api) = TestEnv::voting();
    env.end_citing("s1");
    let folder = env.home().join(".claude/projects");
    let away = env.root().join("away");
    fs::rename(&folder, &away).unwrap();
    env.worker();
    assert_eq!((env.spool().len(), env.failed().len()), (1, 0));
    fs::rename(&away, &folder).unwrap();
    env.worker_at(LATER);
    assert_eq!((env.spool().len(), env.marks_of("pat-001")), (0, (1, 0)));
}

/// It may be on an unmounted drive.
#[test]
fn a_project_that_is_away_makes_its_jobs_wait_and_is_not_made_again() {
    let (mut env, _api) = TestEnv::voting();
    let away = env.root().join("away");
    let project = env.go_to_project("worktree");
    env.end_citing("s1");
    fs::rename(&project, &away).unwrap();
    env.worker();
    assert!(!project.exists());
    assert_eq!((env.spool().len(), env.failed().len()), (1, 0));
    has!(env.reasons()[0], "could not find project");
    fs::rename(&away, &project).unwrap();
    env.worker_at(LATER);
    assert_eq!((env.spool().len(), env.failed().len()), (0, 0));
    let learned = fs::read_to_string(project.join(".claude/playbook.json")).unwrap();
    has!(learned, "\"helpful\": 1");
}

/// History, waiting jobs and the user's trust belong to the checkout, not to its path.
#[rstest]
#[case::under_git(true)]
#[case::without_git(false)]
fn a_project_that_is_renamed_keeps_its_history_and_its_waiting_jobs(#[case] has_git: bool) {
    let (mut env, _api) = TestEnv::voting();
    let before = env.go_to_project("before");
    if has_git {
        git(&before, &["init", "-q"]);
        env.cli(&["trust"]).ok();
    }
    env.learn_citing("s1");
    env.end_citing("s2");
    let after = env.root().join("after");
    fs::rename(&before, &after).unwrap();
    env.set("CLAUDE_PROJECT_DIR", &after);
    let start = env.hook(Hook::SessionStart, "s3", json!({"cwd": &after}));
    has!(start.context(), "[pat-001]");
    env.worker();
    assert_eq!(env.spool().len(), 0, "{:?}", env.reasons());
    let playbook = fs::read_to_string(after.join(".claude/playbook.json")).unwrap();
    has!(playbook, "\"helpful\": 2");
    let log = env.cli(&["log", "--all"]).ok();
    assert_eq!(log.matches("helpful").count(), 2, "{log}");
    assert!(!before.exists());
}

#[rstest]
#[case::that_began_with_a_hook(true)]
#[case::whose_transcript_names_where_it_came_from(false)]
fn a_session_in_a_worktree_that_is_gone_counts_where_it_began(#[case] has_mark: bool) {
    let (mut env, _api) = TestEnv::voting();
    env.git(&["init", "-q"]);
    env.commit();
    env.cli(&["trust"]).ok();
    env.git(&["worktree", "add", "-q", "../linked"]);
    let linked = env.root().join("linked");
    env.set("CLAUDE_PROJECT_DIR", &linked);
    if has_mark {
        _ = env.hook(Hook::SessionStart, "s1", json!({"cwd": &linked}));
    }
    let transcript = env.write_transcript(&Session::following("s1", "pat-001"));
    if !has_mark {
        let worktree = json!({"originalCwd": env.project(), "worktreePath": &linked});
        let state = json!({"type": "worktree-state", "worktreeSession": worktree});
        let text = fs::read_to_string(&transcript).unwrap();
        write(&transcript, format!("{text}{state}\n"));
    }
    env.git(&["worktree", "remove", "--force", "../linked"]);
    env.hook(Hook::SessionEnd, "s1", json!({"cwd": &linked}))
        .silent();
    env.worker();
    assert_eq!(env.spool().len(), 0, "{:?}", env.reasons());
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

/// Creates a playbook that we have changed and git has removed, as by `git stash -u`.
fn with_playbook_away() -> (TestEnv, Vec<u8>) {
    let env = TestEnv::with_point();
    env.cli(&["pin", "pat-001"]).ok();
    let bytes = fs::read(env.playbook_path()).expect("the playbook is there");
    fs::remove_file(env.playbook_path()).expect("the playbook is removed");
    (env, bytes)
}

#[test]
fn a_playbook_that_is_away_is_waited_for_and_told() {
    let (mut env, bytes) = with_playbook_away();
    let _api = env.use_votes();
    env.learn_citing("s1");
    let away = "is away";
    assert!(!env.playbook_path().exists(), "nothing stands in its place");
    assert!(env.reasons()[0].contains(away), "{:?}", env.reasons());
    has!(env.told_at_start("s2"), away);
    let ways_out = [away, "playbook undo --to", "echo '{}' >"];
    env.cli(&["add", "one more"]).fails(1, &ways_out);
    env.cli(&["show"]).fails(1, &ways_out);
    let doctor = env.cli(&["doctor"]);
    doctor.code_is(1);
    assert!(doctor.stdout.contains(away), "{}", doctor.stdout);
    assert!(!env.playbook_path().exists());

    fs::write(env.playbook_path(), bytes).unwrap();
    env.worker_at(LATER);
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

#[test]
fn a_playbook_that_is_away_comes_back_by_restore_or_is_begun_anew() {
    let (env, _) = with_playbook_away();
    env.cli(&["undo", "--to"]).ok();
    assert_eq!(env.marks_of("pat-001"), (0, 0));
    let (env, _) = with_playbook_away();
    fs::write(env.playbook_path(), "{}").unwrap();
    env.cli(&["add", "a new rule"]).ok();
    assert_eq!(env.marks().len(), 1);
}
