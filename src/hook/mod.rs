//! Claude Code's contract: what arrives on stdin, what may leave on stdout, and what
//! each event does.
//!
//! A hook never blocks the client: it exits 0 whatever happens, prints nothing but its
//! JSON, and does its work in milliseconds. It writes a job and starts the worker, or looks
//! something up; it parses no transcript, opens no database and talks to no network.

mod answer;
mod context;
mod enqueue;
mod failure;
mod hints;
mod inject;
mod kept;
mod legacy;
mod once;
mod prompt;
mod start_worker;
mod stdin;
mod told;
mod wire;

use std::ffi::OsString;
use std::io::Write;

use crate::env::{Env, name};
use crate::paths::Paths;
use crate::telemetry;
use crate::wall;

use context::Context;
use wire::Input;

/// The events of the client that we answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookEvent {
    /// A session starts, resumes, forks, is cleared or compacted.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// A session is about to be compacted.
    PreCompact,
    /// A subagent has ended.
    SubagentStop,
    /// A tool call ran and failed.
    PostToolUseFailure,
    /// The user has sent a prompt.
    UserPromptSubmit,
}

impl HookEvent {
    /// All of them: what is built, installed and registered.
    pub const ALL: [Self; 6] = [
        Self::SessionStart,
        Self::SessionEnd,
        Self::PreCompact,
        Self::SubagentStop,
        Self::PostToolUseFailure,
        Self::UserPromptSubmit,
    ];

    /// The event by the name of its binary.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }

    /// The client's name of the event.
    pub fn client_name(self) -> &'static str {
        self.names().0
    }

    /// The name of its binary.
    pub fn name(self) -> &'static str {
        self.names().1
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::SessionStart => ("SessionStart", "session-start"),
            Self::SessionEnd => ("SessionEnd", "session-end"),
            Self::PreCompact => ("PreCompact", "pre-compact"),
            Self::SubagentStop => ("SubagentStop", "subagent-stop"),
            Self::PostToolUseFailure => ("PostToolUseFailure", "post-tool-use-failure"),
            Self::UserPromptSubmit => ("UserPromptSubmit", "user-prompt-submit"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    AsConfigured,
    /// `--wait`: the work is done before the hook ends, if it can be.
    Wait,
}

/// Runs a hook as the whole life of this process: always exit status 0.
pub fn main(event: HookEvent, args: impl IntoIterator<Item = OsString>) -> ! {
    let env = Env::from_process();
    let on_panic = (env.clone(), event);
    std::panic::set_hook(Box::new(move |panic| {
        let (env, event) = &on_panic;
        // What is said of it may quote what was read.
        let place = panic.location().map(ToString::to_string);
        log(
            env,
            *event,
            &format!("panic at {}", place.unwrap_or_default()),
        );
        std::process::exit(0);
    }));
    run(event, args, &env);
    std::process::exit(0);
}

fn run(event: HookEvent, args: impl IntoIterator<Item = OsString>, env: &Env) {
    if env.is_on(name::WORKER) || env.is_on(name::DISABLE) {
        return;
    }
    let mut manner = Manner::AsConfigured;
    let mut strange = 0;
    for arg in args {
        if arg == "--wait" {
            manner = Manner::Wait;
        } else {
            strange += 1;
        }
    }
    let (input, unread) = match stdin::read() {
        Ok(bytes) => (Input::parse(&bytes), None),
        Err(why) => (Some(Input::default()), Some(why)),
    };
    let Some(context) = input.and_then(|input| Context::resolve(env, event, input)) else {
        return;
    };
    if let Some(why) = unread {
        return context.log(&format!("could not read stdin: {why}"));
    }
    if strange > 0 {
        context.log(&format!("unknown arguments: {strange}"));
    }
    act(event, &context, manner, &mut std::io::stdout().lock());
}

/// Does what an event calls for that has arrived as `input`, and writes the answer to `out`:
/// a hook's work without its process.
pub fn respond(event: HookEvent, env: &Env, input: &[u8], out: &mut dyn Write) {
    let context = Input::parse(input).and_then(|input| Context::resolve(env, event, input));
    if let Some(context) = context {
        act(event, &context, Manner::AsConfigured, out);
    }
}

#[expect(
    clippy::inline_always,
    reason = "each small binary knows its event, and links only what that needs"
)]
#[inline(always)]
fn act(event: HookEvent, context: &Context<'_>, manner: Manner, out: &mut dyn Write) {
    let done = match event {
        HookEvent::SessionStart => inject::run(context, out),
        HookEvent::SessionEnd => enqueue::session_end(context, manner),
        HookEvent::PreCompact => enqueue::pre_compact(context, manner),
        HookEvent::SubagentStop => enqueue::subagent_stop(context, manner),
        HookEvent::PostToolUseFailure => failure::run(context, out),
        HookEvent::UserPromptSubmit => prompt::run(context, out),
    };
    if let Err(error) = done {
        context.log(&error.to_string());
    }
}

fn log(env: &Env, event: HookEvent, what: &str) {
    if let Ok(paths) = Paths::resolve(env)
        && paths.state().is_dir()
        && wall::check(&paths).is_ok()
    {
        telemetry::note_of_ours(&paths, env.clock().now(), event.name(), what);
    }
}
