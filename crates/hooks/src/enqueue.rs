//! session-end, pre-compact and subagent-stop: write a job, start the worker, exit.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::SignedDuration;

use crate::clip;
use crate::digest::name_of;
use crate::env::name;
use crate::fsx::FsError;
use crate::job::{JobEvent, Ticket};
use crate::open_session;
use crate::prepared::ProjectSettings;
use crate::spool::{self, IdEntropy};

use super::context::HookContext;
use super::legacy::Switches;
use super::start_worker::Backlog;
use super::{Manner, start_worker, throttle};

/// The time within which repeated events of a transcript that has not grown are one job.
const ONCE_WITHIN: SignedDuration = SignedDuration::from_secs(10);
/// The bytes of a file name in the log: enough to recognize a transcript, too few for a key.
const LOGGED_NAME_BYTES: usize = 8;
const CLEAR: &str = "clear";
/// The client writes a subagent's transcript in parallel, and the hook may be quicker.
const WRITTEN_WITHIN: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(5);

/// Handles the end of a session: writes a job for its transcript, and removes its mark.
pub(super) fn session_end(context: &HookContext<'_>, manner: Manner) -> Result<(), FsError> {
    let wanted = if context.input.reason.as_deref() == Some(CLEAR) {
        choice(context, |s| s.on_clear, |s| s.clear, true)
    } else {
        choice(context, |s| s.on_exit, |s| s.exit, true)
    };
    let transcript = context.input.transcript.clone().filter(|_| wanted);
    let reason = context.input.reason.as_ref();
    let done = enqueue(context, manner, JobEvent::SessionEnd, transcript, reason);
    if let (Ok(()), Some(session)) = (&done, &context.input.session) {
        open_session::take(&context.paths, session)?;
    }
    done
}

pub(super) fn pre_compact(context: &HookContext<'_>, manner: Manner) -> Result<(), FsError> {
    let transcript = context.input.transcript.clone();
    let trigger = context.input.trigger.as_ref();
    enqueue(context, manner, JobEvent::PreCompact, transcript, trigger)
}

/// Writes a job if the user wants that.
///
/// A compaction fires this too, with a path that does not exist and an empty type.
pub(super) fn subagent_stop(context: &HookContext<'_>, manner: Manner) -> Result<(), FsError> {
    let transcript = context.input.agent_transcript.clone();
    let transcript = transcript.filter(|_| learns_from_subagents(context));
    if let Some(transcript) = &transcript
        && context.input.agent_type.is_some()
    {
        await_file(transcript);
    }
    let agent = context.input.agent_id.as_ref();
    enqueue(context, manner, JobEvent::SubagentStop, transcript, agent)
}

pub(super) fn learns_from_subagents(context: &HookContext<'_>) -> bool {
    choice(context, |s| s.on_subagent_stop, |s| s.subagent_stop, false)
}

/// Waits for a transcript that the client may just be writing.
fn await_file(transcript: &Path) {
    let deadline = Instant::now() + WRITTEN_WITHIN;
    while matches!(transcript.try_exists(), Ok(false)) && Instant::now() < deadline {
        std::thread::sleep(LOOK);
    }
}

/// Returns our setting, else the earlier version's switch, else the default.
fn choice(
    context: &HookContext<'_>,
    ours: impl Fn(&ProjectSettings) -> Option<bool>,
    legacy: impl Fn(&Switches) -> Option<bool>,
    default: bool,
) -> bool {
    context
        .settings
        .as_ref()
        .and_then(ours)
        .or_else(|| legacy(&Switches::read(&context.paths)))
        .unwrap_or(default)
}

fn enqueue(
    context: &HookContext<'_>,
    manner: Manner,
    event: JobEvent,
    transcript: Option<PathBuf>,
    reason: Option<&String>,
) -> Result<(), FsError> {
    let need = context.need();
    // A session without a transcript (none was kept, or it was empty) has no job. One that cannot
    // be examined has, and the worker reports why.
    let transcript = transcript.filter(|t| t.try_exists().unwrap_or(true));
    let Some(transcript) = transcript.filter(|t| is_clients(context, t)) else {
        start_worker::if_due(context, need.as_ref(), &Backlog::of(context));
        return Ok(());
    };
    let session = context.input.session.as_deref().unwrap_or_default();
    let about = about(context, event, &transcript);
    // The session's worktree may have been removed before its end.
    let begun_in = || open_session::project_of(&context.paths, session);
    let is_there = context.project.is_dir();
    let begun_in = (!is_there).then(begun_in).flatten();
    let project = begun_in.unwrap_or_else(|| context.project.clone());
    let mut job = None;
    let put = || {
        let entropy = IdEntropy::of(context.env.clock(), || about.clone());
        let ticket = Ticket {
            session: session.to_owned(),
            transcript: transcript.clone(),
            cwd: context.cwd.clone(),
            reason: reason.cloned(),
            need: need.clone(),
            attended: attended(context),
            ..Ticket::new(event, &project, context.now)
        };
        job = Some(spool::put(&context.paths, &entropy, ticket)?);
        Ok(())
    };
    // Both the plugin and the settings may have registered the hooks.
    let file = open_session::enqueued_file(&context.paths, session);
    let what = format!("{about}\n{}\n{reason:?}", transcript.display());
    let what = name_of(what.as_bytes());
    throttle::unless_done(&file, context.now, ONCE_WITHIN, &what, put)?;
    let Some(id) = job else {
        return Ok(());
    };
    let settings = context.settings.as_ref();
    let inline = settings
        .filter(|settings| manner == Manner::Wait || settings.is_inline)
        .map(|_| start_worker::patience(context));
    match inline {
        Some(patience) => start_worker::inline(context, &id, patience),
        None => start_worker::detached(context, need.as_ref()),
    }
    Ok(())
}

/// Returns `None` if the client does not report it.
fn attended(context: &HookContext<'_>) -> Option<bool> {
    let attended = context.env.get(name::ATTENDED)?;
    Some(attended != "0")
}

/// A transcript elsewhere is not read unasked.
fn is_clients(context: &HookContext<'_>, transcript: &Path) -> bool {
    let is = context.is_clients(transcript);
    if !is {
        // The caller chooses its name, which may be a key, and this log is not masked.
        let name = transcript.file_name().unwrap_or_default().to_string_lossy();
        let name = clip::told_head(&name, LOGGED_NAME_BYTES);
        context.log(&format!(
            "left alone: not a transcript of Claude Code: {name}"
        ));
    }
    is
}

/// Returns a text that identifies a job regardless of folder names: the event, the session, its
/// length so far, and the project's own name.
fn about(context: &HookContext<'_>, event: JobEvent, transcript: &Path) -> String {
    let length = std::fs::metadata(transcript).map_or(0, |file| file.len());
    let session = context.input.session.as_deref().unwrap_or_default();
    let project = context.project.file_name().unwrap_or_default();
    format!(
        "{}\n{session}\n{length}\n{}",
        event.word(),
        project.display()
    )
}
