//! session-start: gives the session the playbook, and leaves a mark that it is open.

use std::io::Write;
use std::path::Path;

use jiff::SignedDuration;

use super::answer::HookAnswer;
use super::context::HookContext;
use super::source::{AnswerSource, GivenContext, SourceDoubt};
use super::start_worker::Backlog;
use super::{notices, start_worker, throttle};
use crate::account::need::Need;
use crate::digest::name_of;
use crate::env::name;
use crate::fsx::{FsContext as _, FsError};
use crate::learned_news::LearnedNews;
use crate::logfile;
use crate::open_session::{self, Began, MarkBefore, OpenSession, VERSION};
use crate::platform::ProcessMark;
use crate::prepared::{Injection, StartKind};
use crate::shown_record::{self, Start};
use crate::status::{Notice, Status};

/// The time within which a session receives its context only once per source.
const ONCE_WITHIN: SignedDuration = SignedDuration::from_secs(10);
/// The age from which a problem is reported, and the pause between two reports of it.
const LONG: SignedDuration = SignedDuration::from_hours(24);

/// Requests the context first, so that on `SourceDoubt` nothing has been done yet.
pub(super) fn run(
    context: &HookContext<'_>,
    source: &dyn AnswerSource,
    out: &mut dyn Write,
) -> Result<Result<(), FsError>, SourceDoubt> {
    let need = context.need();
    let given = match kind(context) {
        Some(kind) => source.given(context, need.as_ref(), kind)?,
        None => GivenContext::default(),
    };
    let (before, marked) = match leave_mark(context, need.as_ref()) {
        Ok(before) => (before, can_take_jobs(context)),
        Err(error) => (None, Err(error)),
    };
    let backlog = Backlog::of(context);
    start_worker::if_due(context, need.as_ref(), &backlog);
    let status = recent(context, &backlog);
    let mut said = notices(context, &backlog, status);
    said.extend(not_learned(context, marked.as_ref().err()));
    let own = need.as_ref().map(Need::account);
    said.retain(|notice| notice.account.is_none() || notice.account == own);
    // The worker knows more than the playbook file; the trust record knows the file's current
    // state.
    let held = status.map_or(0, |status| notices::held(&context.project, status));
    said.extend(notices::quarantine(&context.project, held.max(given.held)));
    said.extend(given.notices);
    let said = said.into_iter().filter(|notice| is_news(context, notice));
    let said = learned(context)
        .into_iter()
        .chain(said.map(|notice| notice.text));
    let said: Vec<String> = said.collect();
    HookAnswer {
        context: news(context, before.as_ref(), given.injection),
        told: said,
        ..HookAnswer::default()
    }
    .give(context.event, out);
    Ok(marked)
}

/// Returns the part of the playbook for this start; `None` if the conversation contains it already.
fn kind(context: &HookContext<'_>) -> Option<StartKind> {
    match context.input.source.as_deref() {
        Some("resume" | "fork") => None,
        Some(open_session::COMPACT) => Some(StartKind::Short),
        _ => Some(StartKind::Full),
    }
}

/// Returns the text unless the session just received it, and records what it shows.
///
/// A compaction is recorded even without a text, since earlier hints are gone from the
/// conversation.
fn news(
    context: &HookContext<'_>,
    before: Option<&MarkBefore>,
    given: Option<Injection>,
) -> Option<String> {
    if given.is_none() && context.input.source.as_deref() != Some(open_session::COMPACT) {
        return None;
    }
    if !is_due(context, before) {
        return None;
    }
    let given = given?;
    if let Some((session, transcript)) = context.session() {
        let start = if is_new_conversation(context) {
            Start::New
        } else {
            Start::Later
        };
        let folder = context.paths.shown_points(&context.project);
        let added = shown_record::add(&folder, session, transcript, start, given.points);
        if let Err(error) = added {
            context.log(&error.to_string());
        }
    }
    Some(given.text)
}

fn is_new_conversation(context: &HookContext<'_>) -> bool {
    matches!(context.input.source.as_deref(), Some("startup" | "clear"))
}

/// Returns `true` if this start is the first for its source within a few seconds. Hooks that are
/// registered twice run at once; only one of them gets `true`.
///
/// At the beginning of a session its mark is sufficient, and no other file is created.
fn is_due(context: &HookContext<'_>, before: Option<&MarkBefore>) -> bool {
    let Some(session) = &context.input.session else {
        return true;
    };
    if is_new_conversation(context) {
        match before {
            Some(MarkBefore::Nothing) => return true,
            Some(MarkBefore::Left(before)) if is_of_this_start(context, before) => return false,
            _ => {}
        }
    }
    let source = context.input.source.as_deref().unwrap_or_default();
    let file = open_session::injection_file(&context.paths, session, source);
    throttle::is_due(&file, context.now, ONCE_WITHIN)
}

fn is_of_this_start(context: &HookContext<'_>, before: &Began) -> bool {
    // Of two simultaneous hooks, the second may have read the clock first.
    let apart = before.at.map(|at| context.now.duration_since(at).abs());
    let is_now = apart.is_some_and(|apart| apart < ONCE_WITHIN);
    is_now && context.input.source.as_ref() == Some(&before.source)
}

fn leave_mark(
    context: &HookContext<'_>,
    need: Option<&Need>,
) -> Result<Option<MarkBefore>, FsError> {
    let Some((session, transcript)) = context.session() else {
        return Ok(None);
    };
    let client = context.env.get(name::CLAUDE_PID);
    let opened = OpenSession {
        v: VERSION,
        session: session.clone(),
        transcript: transcript.clone(),
        cwd: context.cwd.clone(),
        project: context.project.clone(),
        need: need.cloned(),
        client: client.and_then(|pid| pid.parse().ok()).map(ProcessMark::of),
        source: context.input.source.clone(),
        at: context.now,
    };
    open_session::leave(&context.paths, &opened).map(Some)
}

fn can_take_jobs(context: &HookContext<'_>) -> Result<(), FsError> {
    use rustix::fs::{Access, access};
    let spool = context.paths.spool();
    match access(&spool, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
        Err(why) => Err(std::io::Error::from(why)).context("write to", &spool),
    }
}

/// Returns the news for a user who has just opened the session.
fn learned(context: &HookContext<'_>) -> Option<String> {
    let has_come = context.input.source.as_deref() == Some("startup");
    if !has_come || !context.env.is_on(name::ATTENDED) {
        return None;
    }
    LearnedNews::take(&context.paths, &context.project)
        .inspect_err(|error| context.log(&error.to_string()))
        .ok()?
}

/// Works without our state, which may be the problem.
fn not_learned(context: &HookContext<'_>, unwritable: Option<&FsError>) -> Option<Notice> {
    let project = context.project.display();
    let transcript = context.input.transcript.as_deref();
    let transcript = transcript.filter(|_| !context.has_clients_transcript());
    let folder = transcript.and_then(Path::parent).filter(|folder| {
        folder.starts_with(context.paths.client_projects()) && !context.is_clients(folder)
    });
    let why = if context.project.to_str().is_none() {
        format!("the path of this project is not UTF-8, rename it: {project}")
    } else if let Some(folder) = folder {
        let folder = folder.display();
        format!(
            "the folder of its transcript is a symlink that leads out of Claude Code's own folder: {folder}"
        )
    } else {
        unwritable?.to_string()
    };
    let text = format!("nothing will be learned from this session: {why}");
    Some(Notice::new(&text.clone(), text))
}

fn recent<'a>(context: &HookContext<'_>, backlog: &'a Backlog) -> Option<&'a Status> {
    let status = backlog.status.as_ref()?;
    (context.now.duration_since(status.written).abs() < LONG).then_some(status)
}

fn notices(context: &HookContext<'_>, backlog: &Backlog, status: Option<&Status>) -> Vec<Notice> {
    let mut notices = match status {
        Some(status) => status.notices.clone(),
        None => left_alone(context, backlog).into_iter().collect(),
    };
    if let Some(error) = &context.flaw {
        let text = format!("nothing is learned until the settings are mended: {error}");
        notices.push(Notice::new("settings", text));
    }
    if start_worker::program(context.env).is_none() {
        notices.push(Notice::new("program", start_worker::NOT_FOUND));
    }
    notices
}

fn left_alone(context: &HookContext<'_>, backlog: &Backlog) -> Option<Notice> {
    let born = backlog.oldest.as_ref()?.time()?;
    (context.now.duration_since(born) > LONG).then(|| {
        let log = context.paths.log(logfile::LOG);
        let text = format!(
            "nothing has been learned for more than a day, though jobs wait; `playbook doctor` says why, or {}",
            log.display()
        );
        Notice::new("waiting", text)
    })
}

/// Returns `true` if the user has not seen this notice within a day.
fn is_news(context: &HookContext<'_>, notice: &Notice) -> bool {
    let file = context.paths.told().join(name_of(notice.topic.as_bytes()));
    notice.account.is_some() || throttle::is_due(&file, context.now, LONG)
}
