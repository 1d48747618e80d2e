//! Promise: changes of a playbook by git or an editor while the worker runs cost no vote, and
//! nothing that they wrote is lost.

use crate::common::prelude::*;

const LATER: &str = "2026-11-23T12:00:00Z";

/// Creates a playbook of two points that we have changed before, so that a snapshot exists.
fn known_playbook() -> TestEnv {
    let env = TestEnv::without_worker();
    env.write_playbook(&[("pat-001", "run the tests"), ("pat-002", "read the docs")]);
    env.cli(&["pin", "pat-002"]).ok();
    env
}

/// Replaces a file in one step, as git and most editors do.
fn put(path: &Path, text: &str) {
    let temporary = path.with_extension("theirs");
    fs::write(&temporary, text).unwrap();
    fs::rename(&temporary, path).unwrap();
}

/// There is no snapshot of it yet, but the reflector was shown it.
#[test]
fn a_playbook_that_was_there_for_the_question_is_waited_for_with_the_answer() {
    let (mut env, api) = TestEnv::asking_for([Step::Canned.after(Duration::from_millis(300))]);
    env.end_citing("s1");
    let bytes = fs::read(env.playbook_path()).unwrap();
    let worker = env.begin(&["worker"]);
    api.wait_for(1, Duration::from_secs(30));
    fs::remove_file(env.playbook_path()).unwrap();
    worker.finish().ok();
    assert!(!env.playbook_path().exists(), "nothing stands in its place");
    assert_eq!((env.spool().len(), env.failed().len()), (1, 0));
    fs::write(env.playbook_path(), bytes).unwrap();
    env.worker_at(LATER);
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

/// There is no snapshot of it, but the user trusts it or a start showed it.
#[rstest]
#[case::that_the_user_trusts("trust")]
#[case::that_a_start_showed("start")]
fn a_playbook_that_we_never_changed_is_waited_for_too(#[case] known_by: &str) {
    let (env, _api) = TestEnv::voting();
    if known_by == "trust" {
        env.cli(&["trust"]).ok();
    } else {
        has!(env.start("s1").0, "[pat-001]");
    }
    env.end_citing("s1");
    let away = env.root().join("away");
    fs::rename(env.playbook_path(), &away).unwrap();
    env.worker();
    assert_eq!(env.spool().len(), 1, "the job waits");
    fs::rename(&away, env.playbook_path()).unwrap();
    env.cli(&["jobs", "retry", "--all"]).ok();
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

/// The change happens between the worker's last look at the file and its write.
#[rstest]
#[case::a_checkout("replace: compared", Some("checked out"))]
#[case::a_branch_without_it("replace: compared", None)]
#[case::a_late_checkout("replace: exchanged", Some("checked out"))]
fn what_comes_at_the_last_moment_is_not_overwritten(
    #[case] moment: &str,
    #[case] theirs: Option<&str>,
) {
    let mut env = known_playbook();
    let _api = env.use_votes();
    env.end_citing("s1");
    let path = env.playbook_path();
    let before = fs::read_to_string(&path).unwrap();
    let log = env.root().join("faults");
    let mut worker = env.command("playbook");
    worker
        .arg("worker")
        .env("PLAYBOOK_FAULT", format!("worker:{moment}:pause"))
        .env("PLAYBOOK_FAULT_LOG", &log);
    let worker = Running::start(worker, b"", Stdin::Closed);
    wait_until("the worker to pause", || {
        let log = fs::read_to_string(&log).unwrap_or_default();
        log.lines().any(|line| line == "fired")
    });
    match theirs {
        Some(text) => put(&path, &before.replace("read the docs", text)),
        None => fs::remove_file(&path).unwrap(),
    }
    // The worker logs the pause before it stops.
    wait_until("the worker to have paused", || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", worker.id())).unwrap_or_default();
        stat.contains(") T ")
    });
    signal(worker.id(), Signal::CONT);
    worker.finish().ok();
    let now = fs::read_to_string(&path).ok();
    if let Some(text) = theirs {
        assert!(now.is_some_and(|now| now.contains(text)));
    } else {
        assert_eq!(now, None, "nothing stands in its place");
        put(&path, &before);
    }
    env.worker_at(LATER);
    let is_late = moment == "replace: exchanged";
    assert_eq!(env.marks_of("pat-001").0, u64::from(!is_late));
    assert!(env.spool().is_empty() && env.failed().is_empty());
    let folder = fs::read_dir(path.parent().unwrap()).unwrap();
    let left: Vec<_> = folder.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "the playbook and its lock: {left:?}");
}
