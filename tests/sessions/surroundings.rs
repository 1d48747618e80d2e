//! Promise: in a hostile environment nothing hangs, nothing is lost, and the reason is reported.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use crate::common::prelude::*;

fn fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.is_ok_and(|status| status.success()), "a FIFO");
}

fn socket(path: &Path) {
    // Bound under a short name, because a socket's path has little space.
    let short = std::env::temp_dir().join(format!("pb-{}", std::process::id()));
    drop(UnixListener::bind(&short).expect("a socket"));
    fs::rename(short, path).expect("a socket");
}

#[rstest]
#[case::a_fifo(fifo, "not a regular file")]
#[case::a_folder(|path: &Path| fs::create_dir(path).unwrap(), "not a regular file")]
#[case::a_device(|path: &Path| symlink("/dev/zero", path).unwrap(), "not a transcript of Claude Code")]
#[case::a_terminal(|path: &Path| symlink("/dev/tty", path).unwrap(), "not a transcript of Claude Code")]
#[case::a_loop(|path: &Path| symlink(path, path).unwrap(), "symbolic links")]
#[case::a_socket(socket, "not a regular file")]
fn a_transcript_that_is_no_file_fails_at_once_and_says_why(
    #[case] make: fn(&Path),
    #[case] reason: &str,
) {
    let (env, _api) = TestEnv::voting();
    let path = env.transcript_path("s1");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    make(&path);
    env.ends("s1");
    env.learn_citing("s2");
    assert_eq!(env.marks_of("pat-001"), (1, 0), "the other session");
    assert!(env.spool().is_empty());
    // A link to somewhere else does not even make a job.
    let told = match env.failed().first() {
        Some(job) => job["progress"]["failed"].to_string(),
        None => env.log(),
    };
    has!(told, reason, "s1.jsonl");
    env.cli(&["reflect", path.to_str().unwrap()])
        .fails(1, &["could not read transcript"]);
}

/// The clock is wrong for a while; there may be no home either.
#[rstest]
#[case::far_ahead_of_it("2026-11-21T12:00:00Z", "2126-11-21T12:00:00Z")]
#[case::and_it_was_made_before_the_first_year("-009999-06-01T00:00:00Z", "2026-11-21T12:00:00Z")]
fn a_job_is_done_without_a_home_and_under_any_clock(#[case] made: &str, #[case] done: &str) {
    let (mut env, _api) = TestEnv::voting();
    env.unset("HOME");
    env.set("PLAYBOOK_NOW", made);
    env.end_citing("s1");
    env.worker_at(done);
    assert_eq!((env.spool().len(), env.failed().len()), (0, 0));
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

#[test]
fn jobs_that_only_another_account_would_answer_survive_a_clock_that_leaps() {
    let (mut env, api) = TestEnv::with_model();
    env.end_citing("s1");
    for name in ["AGENTIC_CONTEXT_BASE_URL", "AGENTIC_CONTEXT_API_KEY"] {
        env.unset(name);
    }
    // The clock is wrong for some days, correct again, and wrong once more.
    let days = "2126-11-21 2126-11-22 2026-11-22 -009999-06-01 9999-06-01 9999-06-02";
    for day in days.split(' ') {
        let now = &format!("{day}T12:00:00Z");
        env.worker_at(now);
        let jobs = (env.spool().len(), env.failed().len());
        assert_eq!(jobs, (1, 0), "in {now}: {:?}", env.reasons());
    }
    env.set("PLAYBOOK_NOW", "2026-11-23T12:00:00Z");
    env.use_api(&api.base_url(), "sk-test");
    env.worker();
    assert_eq!((env.spool().len(), env.marks_of("pat-001")), (0, (1, 0)));
}

/// Our writes never replace anything but plain files, wherever a link leads.
#[test]
fn a_state_file_that_is_a_link_to_a_fifo_is_not_replaced() {
    use std::os::unix::fs::FileTypeExt as _;
    let (env, _api) = TestEnv::voting();
    env.end_citing("s1");
    let target = env.root().join("fifo");
    fifo(&target);
    symlink(&target, env.state().join("status.json")).unwrap();
    env.worker();
    assert!(fs::symlink_metadata(&target).unwrap().file_type().is_fifo());
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

/// A folder in which no process can write, not even one of root's.
struct ReadOnly(PathBuf);

impl ReadOnly {
    fn make(folder: &Path) -> Option<Self> {
        let mount = |args: &[&str]| {
            let done = Command::new("mount").args(args).arg(folder).output();
            done.is_ok_and(|done| done.status.success())
        };
        if rustix::process::geteuid().is_root() {
            let bound = mount(&["--bind", folder.to_str()?]);
            let guard = bound.then(|| Self(folder.to_owned()));
            let guard = guard.filter(|_| mount(&["-o", "remount,ro,bind"]));
            if guard.is_none() {
                eprintln!("skipped: this machine lets nobody make a folder read-only");
            }
            guard
        } else {
            set_mode(folder, 0o555);
            Some(Self(folder.to_owned()))
        }
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        if rustix::process::geteuid().is_root() {
            _ = Command::new("umount").arg(&self.0).status();
        } else {
            set_mode(&self.0, 0o755);
        }
    }
}

#[test]
fn in_a_read_only_project_the_job_waits_until_it_can_be_written() {
    let (env, _api) = TestEnv::voting();
    let Some(guard) = ReadOnly::make(&env.project().join(".claude")) else {
        return;
    };
    env.learn_citing("s1");
    assert_eq!((env.marks_of("pat-001"), env.spool().len()), ((0, 0), 1));
    let jobs = env.cli(&["jobs"]).ok();
    has!(jobs, "playbook.json.lock");
    drop(guard);
    env.cli(&["jobs", "retry", "--all"]).ok();
    env.worker();
    assert_eq!((env.marks_of("pat-001"), env.spool().len()), ((1, 0), 0));
}

#[test]
fn a_state_folder_in_which_nothing_can_be_written_disturbs_nobody() {
    let env = TestEnv::with_point();
    fs::create_dir_all(env.state().join("spool")).unwrap();
    let Some(guard) = ReadOnly::make(&env.state()) else {
        return;
    };
    env.write_transcript(&Session::citing("s1"));
    for hook in Hook::ALL {
        let output = env.hook(hook, "s1", json!({}));
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
        // Each start reports it, because no file can record that it was shown.
        if hook == Hook::SessionStart {
            let told = not_learned(&env, "s1", "Read-only file system");
            assert_eq!(told, output.stdout);
        }
    }
    drop(guard);
}

/// Returns a start's message on why nothing will be learned from the session.
fn not_learned(env: &TestEnv, session: &str, why: &str) -> String {
    let output = env.hook(Hook::SessionStart, session, json!({}));
    has!(output.stdout, "nothing will be learned from this session");
    has!(output.stdout, why);
    output.stdout
}

/// The spool belongs to another user, so jobs cannot be written although marks can.
#[test]
fn a_spool_that_cannot_be_written_is_told_at_the_start() {
    let env = TestEnv::with_point();
    let spool = env.state().join("spool");
    fs::create_dir_all(&spool).unwrap();
    let Some(guard) = ReadOnly::make(&spool) else {
        return;
    };
    not_learned(&env, "s1", "spool");
    drop(guard);
}

#[test]
fn a_clients_folder_that_leads_elsewhere_is_told_at_the_start() {
    let env = TestEnv::with_point();
    let folder = env.transcript_path("s1").parent().unwrap().to_owned();
    let elsewhere = env.root().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::create_dir_all(folder.parent().unwrap()).unwrap();
    symlink(&elsewhere, &folder).unwrap();
    not_learned(&env, "s1", "symlink");
}

/// A planted fifo must not make the client wait.
#[test]
fn a_fifo_in_the_state_folder_hangs_no_hook() {
    let env = TestEnv::with_point();
    let all = |session: &str| {
        for hook in Hook::ALL {
            assert_eq!(env.hook(hook, session, json!({})).code, Some(0), "{hook:?}");
        }
    };
    env.end_citing("s1");
    all("s1");
    env.worker();
    all("s1");
    let files = env.files();
    let files = files.into_keys().map(|file| env.root().join(file));
    let of_state = files.filter(|file| file.starts_with(env.state()));
    let of_state: Vec<PathBuf> = of_state.collect();
    assert!(of_state.len() > 8, "{of_state:?}");
    for file in of_state {
        if fs::remove_file(&file).is_ok() {
            fifo(&file);
            all("s1");
        }
    }
}

#[test]
fn what_was_remembered_survives_a_clock_that_leaps_and_comes_back() {
    let mut env = TestEnv::with_point();
    env.learn_citing("s1");
    let known = lesson("edited gen.rs by hand", "change the generator", None);
    env.learn("20261121T000000-0000000a", 1, &[known]);
    env.set("PLAYBOOK_NOW", "2126-11-21T12:00:00Z");
    env.worker();
    env.set("PLAYBOOK_NOW", "2026-11-21T12:00:01Z");
    let told = env.cli(&["recall", "generator"]).ok();
    has!(told, "change the generator");
}

#[test]
fn a_hook_that_may_write_no_file_ends_in_peace_and_a_start_says_so() {
    let env = TestEnv::with_point();
    env.write_transcript(&Session::citing("s1"));
    for hook in Hook::ALL {
        let program = env.command(hook.name());
        let mut limited = env.command("/bin/sh");
        limited
            .args(["-c", "ulimit -f 0; exec \"$0\""])
            .arg(program.get_program());
        let event = env.event(hook, "s1").to_string();
        let output = Running::start(limited, event.as_bytes(), Stdin::Closed).finish();
        assert_eq!((output.code, &*output.stderr), (Some(0), ""), "{hook:?}");
        let is_told = output.stdout.contains("ulimit -f");
        assert_eq!(is_told, hook == Hook::SessionStart, "{output:?}");
    }
}

/// The state folder is on another file system, to which nothing can be renamed.
#[test]
fn the_state_may_be_on_another_file_system() {
    let (mut env, _api) = TestEnv::voting();
    let shared_memory = Path::new("/dev/shm");
    if !shared_memory.is_dir() {
        eprintln!("skipped: no second file system here");
        return;
    }
    let state = tempfile::tempdir_in(shared_memory).unwrap();
    env.set("PLAYBOOK_STATE_DIR", state.path());
    env.learn_citing("s1");
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

#[test]
fn a_database_that_cannot_be_read_is_renamed_and_said_once() {
    let (env, _api) = TestEnv::voting();
    env.end_citing("s1");
    let damaged = "not a database, for sure\n".repeat(100);
    env.write_state("memory.db", &damaged);
    let output = env.cli(&["log"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    has!(output.stderr, "damaged database", "hint:");
    has!(output.stderr, "`playbook worker`");
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    let entries = fs::read_dir(env.state()).unwrap();
    let mut renamed = entries
        .map(|entry| entry.unwrap().path())
        .filter(|file| file.to_str().unwrap().contains("db.before-"));
    let renamed = renamed.next().unwrap();
    assert_eq!(fs::read_to_string(&renamed).unwrap(), damaged);
    let told = env.told_at_start("s2");
    has!(told, "could not be read", renamed.to_str().unwrap());
    assert!(!env.told_at_start("s3").contains("before-"), "once");
}
