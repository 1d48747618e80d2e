//! The hooks of Claude Code: their input on stdin, their output on stdout, and the work for each
//! event.
//!
//! A hook always exits 0, prints nothing but its JSON, takes milliseconds, and never blocks the
//! client, except the gate if the user wants that. It parses no transcript, opens no database and
//! uses no network. If the context prepared for a session may be stale, `playbook hook EVENT` does
//! the work.

mod answer;
pub mod context;
pub mod detach;
mod enqueue;
mod hint;
mod inject;
mod legacy;
mod notices;
pub mod source;
pub mod start_worker;
mod stdin;
pub mod stop;
mod subagent;
pub mod throttle;
mod whole;
mod wire;

use std::ffi::OsString;
use std::io::Write;

use playbook_core::env::{Env, name};
use playbook_core::paths::Paths;

pub(crate) use playbook_core::{
    account, clip, corrections, cue, digest, env, errors, fault, fsx, job, learned_news,
    lenient_json, logfile, open_session, paths, place, platform, prepared, project, shown,
    shown_record, spool, state_guard, status, worker_lock,
};

use answer::HookAnswer;
use context::HookContext;
use source::{AnswerSource, PreparedSettings, PreparedSource, SourceDoubt, Unknown};
use wire::Input;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookEvent {
    /// A session starts, resumes, forks, is cleared or compacted.
    SessionStart,
    SessionEnd,
    PreCompact,
    SubagentStart,
    SubagentStop,
    /// A tool call ran and failed.
    PostToolUseFailure,
    UserPromptSubmit,
    /// A command is about to run; only the guard uses it.
    PreToolUse,
    /// The agent is about to stop; only the gate uses it.
    Stop,
}

impl HookEvent {
    /// The events that `playbook install` registers.
    pub const REGISTERED: [Self; 7] = [
        Self::SessionStart,
        Self::SessionEnd,
        Self::PreCompact,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::PostToolUseFailure,
        Self::UserPromptSubmit,
    ];
    /// The events with an installed binary. [`Self::Stop`] has none: the whole program answers it.
    pub const ALL: [Self; 8] = [
        Self::SessionStart,
        Self::SessionEnd,
        Self::PreCompact,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::PostToolUseFailure,
        Self::UserPromptSubmit,
        Self::PreToolUse,
    ];
    /// The events that `playbook guard on` and `gate on` register.
    pub const SWITCHED: [Self; 2] = [Self::PreToolUse, Self::Stop];

    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter().chain([Self::Stop]);
        all.find(|event| event.name() == name)
    }

    pub fn client_name(self) -> &'static str {
        self.names().0
    }

    /// Returns the event's name in our commands, which is also the binary's name for those in
    /// [`Self::ALL`].
    pub fn name(self) -> &'static str {
        self.names().1
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::SessionStart => ("SessionStart", "session-start"),
            Self::SessionEnd => ("SessionEnd", "session-end"),
            Self::PreCompact => ("PreCompact", "pre-compact"),
            Self::SubagentStart => ("SubagentStart", "subagent-start"),
            Self::SubagentStop => ("SubagentStop", "subagent-stop"),
            Self::PostToolUseFailure => ("PostToolUseFailure", "post-tool-use-failure"),
            Self::UserPromptSubmit => ("UserPromptSubmit", "user-prompt-submit"),
            Self::PreToolUse => ("PreToolUse", "pre-tool-use"),
            Self::Stop => ("Stop", "stop"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    AsConfigured,
    /// The work is done before the hook ends, if possible.
    Wait,
}

/// The argument of [`Manner::Wait`].
const WAIT: &str = "--wait";
/// The file size limit below which this process writes no files at all.
const ROOM: u64 = 1 << 20;
const NO_ROOM: &str = "it may write no files (`ulimit -f`)";

/// Exits with status 0 in all cases.
#[inline]
pub fn main(event: HookEvent) -> ! {
    let env = Env::from_process();
    exit_on_panic(event, &env);
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(started) = detach::run(&args) {
        if let Err(error) = started {
            log(&env, event, &format!("could not start the worker: {error}"));
        }
        std::process::exit(0);
    }
    let source: &dyn AnswerSource = match event {
        HookEvent::SessionStart | HookEvent::SubagentStart => &PreparedSource,
        _ => &PreparedSettings,
    };
    run(event, &args, &env, source);
    std::process::exit(0);
}

/// Makes a panic exit with status 0, as the client expects of a hook.
pub fn exit_on_panic(event: HookEvent, env: &Env) {
    let env = env.clone();
    std::panic::set_hook(Box::new(move |panic| {
        // The panic message may quote input, so only its place is logged.
        let place = panic.location().map(ToString::to_string);
        let what = format!("panic at {}", place.unwrap_or_default());
        log(&env, event, &what);
        std::process::exit(0);
    }));
}

#[inline]
pub fn run(event: HookEvent, args: &[OsString], env: &Env, source: &dyn AnswerSource) {
    if env.is_on(name::WORKER) || env.is_on(name::DISABLE) {
        return;
    }
    let is_guard = event == HookEvent::PreToolUse;
    if is_guard && !hint::may_turn_back(env) {
        return;
    }
    let input = match stdin::read() {
        Ok(input) => input,
        Err(why) => {
            let context = HookContext::resolve(env, event, Input::default(), source);
            if let Ok(Some(context)) = context {
                context.log(&format!("could not read stdin: {why}"));
            }
            return;
        }
    };
    let mut out = std::io::stdout().lock();
    // A command of which the guard is in doubt runs.
    if answer(event, args, env, &input, source, &mut out).is_ok() || is_guard {
        return;
    }
    if !whole::run(env, event, args, &input) {
        log(env, event, start_worker::NOT_FOUND);
        // `Unknown` never returns `SourceDoubt`.
        _ = answer(event, args, env, &input, &Unknown, &mut out);
    }
}

/// Does a small hook's work without its process, where the whole program is missing.
pub fn respond(event: HookEvent, env: &Env, input: &[u8], out: &mut dyn Write) {
    if let Err(SourceDoubt) = answer(event, &[], env, input, &PreparedSource, out) {
        // `Unknown` never returns `SourceDoubt`.
        _ = answer(event, &[], env, input, &Unknown, out);
    }
}

#[expect(
    clippy::inline_always,
    reason = "each small binary knows its event, and links only what that needs"
)]
#[inline(always)]
fn answer(
    event: HookEvent,
    args: &[OsString],
    env: &Env,
    input: &[u8],
    source: &dyn AnswerSource,
    out: &mut dyn Write,
) -> Result<(), SourceDoubt> {
    let Some(input) = Input::parse(input) else {
        return Ok(());
    };
    let cwd = input.cwd.clone();
    let Some(context) = &HookContext::resolve(env, event, input, source)? else {
        if event == HookEvent::SessionStart
            && let Some(breach) = context::breach(env, cwd, source)?
        {
            report_lost(&format!("{breach}; {}", breach.hint), out);
        }
        return Ok(());
    };
    if platform::largest_file().is_some_and(|limit| limit < ROOM) {
        if event == HookEvent::SessionStart {
            report_lost(NO_ROOM, out);
        }
        return Ok(());
    }
    let strange = args.iter().filter(|arg| *arg != WAIT).count();
    if strange > 0 {
        context.log(&format!("unknown arguments: {strange}"));
    }
    let manner = if strange < args.len() {
        Manner::Wait
    } else {
        Manner::AsConfigured
    };
    let done = match event {
        HookEvent::SessionStart => inject::run(context, source, out)?,
        HookEvent::SessionEnd => enqueue::session_end(context, manner),
        HookEvent::PreCompact => enqueue::pre_compact(context, manner),
        HookEvent::SubagentStart => subagent::start(context, source, out)?,
        HookEvent::SubagentStop => enqueue::subagent_stop(context, manner),
        HookEvent::PostToolUseFailure => hint::failure(context, out),
        HookEvent::UserPromptSubmit => hint::prompt(context, out),
        HookEvent::PreToolUse => hint::guard(context, out),
        HookEvent::Stop => {
            stop::run(context, source, out)?;
            Ok(())
        }
    };
    if let Err(error) = done {
        context.log(&error.to_string());
    }
    Ok(())
}

fn report_lost(why: &str, out: &mut dyn Write) {
    let told = vec![format!("nothing will be learned from this session: {why}")];
    HookAnswer {
        told,
        ..HookAnswer::default()
    }
    .give(HookEvent::SessionStart, out);
}

fn log(env: &Env, event: HookEvent, what: &str) {
    if let Ok(paths) = Paths::resolve(env)
        && paths.state().is_dir()
        && state_guard::check(&paths).is_ok()
    {
        logfile::note(&paths, env.clock().now(), event.name(), what);
    }
}
