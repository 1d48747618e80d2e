//! Promise: the work continues after the client and its terminal have ended, disturbs neither, and
//! ends when there is nothing left to do.

use std::os::unix::process::CommandExt as _;

use crate::common::prelude::*;
use crate::common::processes;
use rustix::process::Pid;

/// The time in which a test can look at the worker while it waits for its answer.
const SLOW: Duration = Duration::from_secs(3);

fn with_session(steps: impl IntoIterator<Item = Step>) -> (TestEnv, Api) {
    let (mut env, api) = TestEnv::asking_for(steps);
    env.unset("PLAYBOOK_NO_WORKER");
    env.write_transcript(&Session::citing("s1"));
    (env, api)
}

/// Starts session-end as the client does: as the leader of a process group.
fn start_hook(env: &TestEnv) -> Running {
    let mut command = env.command("session-end");
    command.process_group(0);
    let event = env.event(Hook::SessionEnd, "s1").to_string();
    Running::start(command, event.as_bytes(), Stdin::Closed)
}

#[test]
fn the_worker_outlives_the_hooks_group_and_holds_none_of_its_streams() {
    let (env, api) = with_session([Step::Canned.after(SLOW)]);
    let hook = start_hook(&env);
    let group = Pid::from_raw(i32::try_from(hook.id()).unwrap()).unwrap();

    // Returns only when all processes that inherited stdout and stderr have closed them.
    hook.finish().silent();
    api.wait_for(1, DEADLINE);
    assert_eq!(env.marks_of("pat-001"), (0, 0), "the worker is still at it");
    // The group may have no process left, which is fine.
    _ = rustix::process::kill_process_group(group, Signal::KILL);

    env.settle();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert!(env.spool().is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn the_worker_is_nobodys_child_and_holds_no_folder_and_no_stream() {
    let (env, api) = with_session([Step::Canned.after(SLOW)]);
    let hook = start_hook(&env);
    let hook_id = i32::try_from(hook.id()).unwrap();
    hook.finish().silent();
    api.wait_for(1, DEADLINE);

    let workers = env.processes();
    assert_eq!(workers.len(), 1, "one worker, and no helper left");
    let pid = workers[0];
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // The fields after the name in parentheses: state, parent, group, session.
    let fields: Vec<i32> = stat[stat.rfind(')').unwrap() + 4..]
        .split(' ')
        .take(3)
        .map(|field| field.parse().unwrap())
        .collect();
    let ours = i32::try_from(std::process::id()).unwrap();
    let strangers = !fields.contains(&hook_id) && !fields.contains(&ours);
    assert!(strangers, "{stat}");
    let link = |name: &str| fs::read_link(format!("/proc/{pid}/{name}")).unwrap();
    assert_eq!(link("cwd"), Path::new("/"));
    for fd in ["fd/0", "fd/1", "fd/2"] {
        assert_eq!(link(fd), Path::new("/dev/null"), "{fd}");
    }
    env.settle();
}

/// All tests that wait for background work rely on this.
#[cfg(target_os = "linux")]
#[test]
fn a_process_that_is_just_becoming_a_program_is_not_taken_for_nobody() {
    let variable = format!("PLAYBOOK_STATE_DIR=/test/{}", std::process::id());
    let (name, value) = variable.split_once('=').unwrap();
    for round in 0..200 {
        let mut sleep = Command::new("sleep");
        let mut child = sleep.arg("60").env(name, value).spawn().unwrap();
        let may_run = processes::may_run(&variable);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(may_run, "{round}");
        assert_eq!(processes::started_with(&variable), Vec::<u32>::new());
    }
}

#[test]
fn a_worker_waits_for_its_turn_and_says_so() {
    let (mut env, _api) = with_session([Step::Canned]);
    env.set("PLAYBOOK_NO_WORKER", "1");
    env.ends("s1");
    let busy = fs::File::create(env.state().join("worker.lock")).unwrap();
    busy.lock().unwrap();

    let worker = env.begin(&["worker"]);
    wait_until("a word of it", || {
        env.log().contains("until another worker has ended")
    });
    assert_eq!(env.spool().len(), 1);
    drop(busy);
    worker.finish().ok();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

/// The state folder is gone, as after `rm -rf` or the removal of a container's volume, so there is
/// nothing to work for.
#[rstest]
#[case::while_it_waits_for_a_pause(Step::retry_after(529, "30"))]
#[case::while_a_model_answers(Step::Canned.after(SLOW))]
fn a_worker_whose_state_folder_is_taken_away_ends_at_once_and_writes_nothing(#[case] step: Step) {
    let (mut env, api) = with_session([step]);
    env.unset("PLAYBOOK_NOW");
    env.set("PLAYBOOK_NO_WORKER", "1");
    env.ends("s1");
    let worker = env.begin(&["worker"]);
    api.wait_for(1, DEADLINE);
    fs::rename(env.state(), env.root().join("away")).unwrap();
    has!(worker.finish().stderr, "could not keep the worker's lock");
    assert!(!env.state().exists());
    assert_eq!((api.requests().len(), env.marks_of("pat-001")), (1, (0, 0)));
}

/// No worker could record when its jobs are due, so hooks look themselves.
#[test]
fn a_job_that_waited_for_the_settings_is_done_when_the_next_session_starts() {
    let (env, _api) = with_session([Step::Canned]);
    let settings = fs::read(env.config_dir().join("config.toml")).unwrap();
    env.write_config("[retry\n");
    env.ends("s1");
    env.settle();
    assert_eq!((env.spool().len(), env.marks_of("pat-001")), (1, (0, 0)));

    fs::write(env.config_dir().join("config.toml"), settings).unwrap();
    env.hook(Hook::SessionStart, "s2", json!({})).ok();
    env.settle();
    assert_eq!((env.spool().len(), env.marks_of("pat-001")), (0, (1, 0)));
}

#[rstest]
#[case::by_the_settings("worker.mode = \"inline\"\n", &[])]
#[case::by_its_command_line("", &["--wait"])]
fn a_hook_that_is_to_wait_has_done_its_job_when_it_returns(
    #[case] mode: &str,
    #[case] args: &[&str],
) {
    let (mut env, _api) = with_session([Step::Canned]);
    env.set("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS", "60000");
    env.write_config(mode);
    let mut command = env.command("session-end");
    command.args(args);
    let event = env.event(Hook::SessionEnd, "s1").to_string();
    let hook = Running::start(command, event.as_bytes(), Stdin::Closed);
    hook.finish().silent();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert!(env.spool().is_empty());
}

#[test]
fn an_inline_hook_does_not_wait_longer_than_it_may_and_loses_nothing() {
    let (mut env, _api) = with_session([Step::Canned.after(SLOW)]);
    env.write_config("[worker]\nmode = \"inline\"\n");
    env.ends("s1");
    assert_eq!(env.marks_of("pat-001"), (0, 0));
    assert_eq!(env.spool().len(), 1);
    env.settle();
    env.worker_at("2026-11-23T12:00:00Z");
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

/// The job's file cannot be replaced, as on a full disk.
#[test]
fn an_answer_that_cannot_be_stored_is_kept_by_the_worker_of_one_job_too() {
    let (mut env, api) = with_session([Step::Canned.after(SLOW), Step::Canned]);
    env.unset("PLAYBOOK_NOW");
    env.write_config("[retry]\nbase_ms = 1\n");
    env.set("PLAYBOOK_NO_WORKER", "1");
    start_hook(&env).finish().silent();
    let id = env.spool()[0]["id"].as_str().unwrap().to_owned();
    let job = env.state().join(format!("spool/{id}.json"));
    let worker = env.begin(&["worker", "--job", &id]);
    api.wait_for(1, DEADLINE);
    // A folder in its place cannot be replaced.
    fs::remove_file(&job).unwrap();
    fs::create_dir_all(job.join("in the way")).unwrap();
    wait_until("the worker has met it", || {
        env.log().matches("waits until").count() > 1
    });
    fs::remove_dir_all(&job).unwrap();

    worker.finish().code_is(0);
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert!(env.spool().is_empty());
    assert_eq!(api.requests().len(), 2, "the reflector was asked once");
}
