//! The scenario: three sessions with a compaction, a resume, a fork, and an undo.

use serde_json::json;

use crate::common::env::Hook;
use crate::common::run::Output;
use crate::common::session::Session;
use crate::stage::Stage;

/// One process of the scenario, and what happens in the world before it.
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
    /// A hook, and the worker that it starts.
    HookWithWorker,
    Worker,
    /// A command of the user's.
    Command,
}

pub(crate) const MOVES: &[Move] = &[
    Move {
        name: "s1 starts",
        kind: Kind::Hook,
        play: |stage| stage.hook(Hook::SessionStart, "s1", json!({})),
    },
    Move {
        name: "s1 is compacted",
        kind: Kind::HookWithWorker,
        play: |stage| {
            stage.write(&s1(1));
            stage.hook(Hook::PreCompact, "s1", json!({}))
        },
    },
    Move {
        name: "s1 ends",
        kind: Kind::Hook,
        play: |stage| {
            stage.write(&s1(2));
            stage.hook(Hook::SessionEnd, "s1", json!({}))
        },
    },
    Move {
        name: "the worker",
        kind: Kind::Worker,
        play: Stage::worker,
    },
    Move {
        name: "s1 is resumed",
        kind: Kind::Hook,
        play: |stage| stage.hook(Hook::SessionStart, "s1", json!({"source": "resume"})),
    },
    Move {
        name: "s1 ends again",
        kind: Kind::Hook,
        play: |stage| {
            stage.write(&s1(3));
            stage.hook(Hook::SessionEnd, "s1", json!({}))
        },
    },
    Move {
        name: "s2 is forked from s1",
        kind: Kind::Hook,
        play: |stage| stage.hook(Hook::SessionStart, "s2", json!({"source": "fork"})),
    },
    Move {
        name: "s2 ends",
        kind: Kind::Hook,
        play: |stage| {
            let mut fork = s1(3).fork("s2");
            cite(&mut fork, &[5]);
            stage.write(&fork);
            stage.hook(Hook::SessionEnd, "s2", json!({}))
        },
    },
    Move {
        name: "s3 starts",
        kind: Kind::Hook,
        play: |stage| stage.hook(Hook::SessionStart, "s3", json!({})),
    },
    Move {
        name: "s3 ends",
        kind: Kind::Hook,
        play: |stage| {
            let mut session = Session::new("s3");
            cite(&mut session, &[6]);
            stage.write(&session);
            stage.hook(Hook::SessionEnd, "s3", json!({}))
        },
    },
    Move {
        name: "the worker again",
        kind: Kind::Worker,
        play: Stage::worker,
    },
    Move {
        name: "s3 is undone",
        kind: Kind::Command,
        play: Stage::undo,
    },
];

/// The move before which all sessions must have counted: an undo is of one of them.
pub(crate) const UNDO: usize = MOVES.len() - 1;

/// The first session, as far as it has come.
fn s1(parts: usize) -> Session {
    let mut session = Session::new("s1");
    for points in [&[1, 2][..], &[3], &[4]].into_iter().take(parts) {
        cite(&mut session, points);
    }
    session
}

fn cite(session: &mut Session, points: &[usize]) {
    session.user("go on");
    for point in points {
        session.assistant(&format!("By [pat-{point:03}], done."));
    }
}
