//! Promise: when very many sessions end at the same time, all of them count, one worker does them,
//! and no job is left without a worker.

use crate::common::prelude::*;

const SESSIONS: usize = 100;

/// Builds a library that makes system calls fail.
#[cfg(target_os = "linux")]
fn without(env: &TestEnv, calls: &str) -> PathBuf {
    let (source, library) = (env.root().join("calls.c"), env.root().join("calls.so"));
    let text = format!("#define _GNU_SOURCE\n#include <errno.h>\n{calls}");
    write(&source, text);
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]);
    let built = compiler.arg(&library).arg(&source).status();
    assert!(built.is_ok_and(|status| status.success()), "a compiler");
    library
}

/// If no file can be locked, no worker works, and the next start reports it.
#[cfg(target_os = "linux")]
#[test]
fn where_no_file_can_be_locked_the_next_start_says_so() {
    let (mut env, api) = TestEnv::with_model();
    let refused = "int flock(int f, int o) { errno = EINVAL; return -1; }\n";
    let library = without(&env, refused);
    env.end_citing("s1");
    env.set("LD_PRELOAD", &library);
    let said = env.cli(&["worker"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    has!(env.told_at_start("s2"), "no worker can work, jobs wait: ");
    assert!(api.requests().is_empty());
    env.unset("LD_PRELOAD");
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    lacks!(env.told_at_start("s3"), "no worker can work");
}

/// A file system without `flock`, on which the call is refused.
#[cfg(target_os = "linux")]
#[test]
fn where_there_is_no_flock_nobody_works_beside_the_worker() {
    let slowly = Step::Canned.after(Duration::from_millis(1_500));
    let (mut env, api) = TestEnv::asking_for([slowly, Step::Canned]);
    env.end_citing("s1");
    let refused = "int flock(int f, int o) { errno = ENOLCK; return -1; }\n";
    env.set("LD_PRELOAD", without(&env, refused));
    let worker = env.begin(&["worker"]);
    api.wait_for(1, Duration::from_secs(30));
    let id = env.spool()[0]["id"].as_str().expect("an id").to_owned();
    env.cli(&["worker", "--job", &id]).ok();
    worker.finish().code_is(0);
    assert!(env.spool().is_empty() && env.failed().is_empty());
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert_eq!(api.requests().len(), 2, "two questions");
}

#[test]
fn a_hundred_sessions_that_end_at_once_are_counted_once_and_leave_no_job_behind() {
    let (mut env, api) = TestEnv::with_model();
    env.unset("PLAYBOOK_NO_WORKER");
    for n in 0..SESSIONS {
        env.write_transcript(&Session::citing(&format!("s{n}")));
    }
    // Every other session has just been compacted.
    let events = (0..SESSIONS).step_by(2).map(|n| (Hook::PreCompact, n));
    let events = events.chain((0..SESSIONS).map(|n| (Hook::SessionEnd, n)));
    let hooks = events.map(|(hook, n)| {
        let event = env.event(hook, &format!("s{n}")).to_string();
        Running::start(env.command(hook.name()), event.as_bytes(), Stdin::Closed)
    });
    for hook in hooks.collect::<Vec<_>>() {
        hook.finish().silent();
    }
    env.settle();
    assert!(env.spool().is_empty(), "{} left behind", env.spool().len());
    assert!(env.failed().is_empty());
    assert_eq!(env.marks_of("pat-001"), (SESSIONS as u64, 0));
    // Two workers at the same time would have asked some questions twice.
    let asked = api.requests().into_iter();
    let of_curator = asked.filter(|request| request.prompt().contains("merged_text"));
    let of_curator = of_curator.count();
    assert_eq!(api.requests().len() - of_curator, SESSIONS, "one each");
    let runs = env.reflections().into_iter().filter(|line| {
        line["event"] == "curate" && line["tokens_in"].as_u64().is_some_and(|paid| paid > 0)
    });
    assert_eq!(of_curator, runs.count(), "one for each run");
}
