//! The scenario: three sessions with a compaction, a resume, a fork, and an undo.

use serde_json::json;

use crate::common::env::Hook;
use crate::common::run::Output;
use crate::common::session::Session;
use crate::stage::Stage;

/// One process of the scenario, and the events before it.
#[derive(Clone, Copy)]
pub(crate) struct Move {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) play: fn(&mut Stage) -> Output,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A hook that starts no worker.
    Hook,
    HookWithWorker,
    Worker,
    Command,
}

pub(crate) const MOVES: &[Move] = &[
    Move::of("s1 starts", Kind::Hook, |stage| {
        stage.starts("s1", "startup")
    }),
    Move::of("s1 is compacted", Kind::HookWithWorker, |stage| {
        stage.write(&s1(1));
        stage.hook(Hook::PreCompact, "s1", json!({}))
    }),
    Move::of("s1 ends", Kind::Hook, |stage| stage.ends(&s1(2))),
    Move::of("the worker", Kind::Worker, Stage::worker),
    Move::of("s1 is resumed", Kind::Hook, |stage| {
        stage.starts("s1", "resume")
    }),
    Move::of("s1 ends again", Kind::Hook, |stage| stage.ends(&s1(3))),
    Move::of("s2 is forked from s1", Kind::Hook, |stage| {
        stage.starts("s2", "fork")
    }),
    Move::of("s2 ends", Kind::Hook, |stage| {
        let mut fork = s1(3).fork("s2");
        cite(&mut fork, &[5]);
        repeats(&mut fork);
        stage.ends(&fork)
    }),
    Move::of("s3 starts", Kind::Hook, |stage| {
        stage.starts("s3", "startup")
    }),
    Move::of("s3 ends", Kind::Hook, |stage| {
        let mut session = Session::new("s3");
        cite(&mut session, &[6]);
        installs(&mut session);
        mends(&mut session);
        stage.ends(&session)
    }),
    Move::of("the worker again", Kind::Worker, Stage::worker),
    Move::of("s3 is undone", Kind::Command, Stage::undo),
];

impl Move {
    const fn of(name: &'static str, kind: Kind, play: fn(&mut Stage) -> Output) -> Self {
        Self { name, kind, play }
    }
}

/// The move before which all sessions must have counted, because it undoes one of them.
pub(crate) const UNDO: usize = MOVES.len() - 1;

/// An error that is known before the scenario begins, with a fix.
pub(crate) const MODULE: &str = "Exit code 1\nModuleNotFoundError: No module named 'yaml'";
/// A known error with a fix that is never tried.
pub(crate) const QUOTA: &str = "Exit code 1\nfatal: quota of the registry exceeded";
pub(crate) const BROKEN: &str = "Exit code 2\nerror: unknown key `colour` in theme.toml";
pub(crate) const SUBJECTS: [(&str, &str); 3] = [
    ("python", MODULE),
    ("docker push", QUOTA),
    ("theme build", BROKEN),
];

/// Returns the first session up to one of its parts.
fn s1(parts: usize) -> Session {
    let mut session = Session::new("s1");
    for (part, points) in [&[1, 2][..], &[3], &[4]]
        .into_iter()
        .enumerate()
        .take(parts)
    {
        cite(&mut session, points);
        if part == 0 {
            installs(&mut session);
        } else {
            mends(&mut session);
        }
    }
    session
}

fn cite(session: &mut Session, points: &[usize]) {
    session.user(
        "go on: the linter runs before a branch is pushed, migrations need a rollback script, tabs \
         in the makefiles of this repository, the staging server restarts every night, generated \
         protobuf sources are not edited by hand, screenshots of failing browser tests are kept",
    );
    for point in points {
        session.assistant(&format!(
            "By [pat-{point:03}], and by [my-{point:03}], done."
        ));
    }
}

/// Adds a known error that is fixed.
fn installs(session: &mut Session) {
    session
        .failed("python3 report.py", MODULE)
        .ran("pip install pyyaml", "installed")
        .ran("python3 report.py", "written");
}

/// Adds a known error that occurs twice.
fn repeats(session: &mut Session) {
    session
        .failed("docker push app", QUOTA)
        .failed("docker push app", QUOTA);
}

/// Adds a new error that is fixed.
fn mends(session: &mut Session) {
    session
        .failed("theme build", BROKEN)
        .ran("theme init", "made")
        .ran("theme build", "built");
}
