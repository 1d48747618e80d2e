//! Hints at a prompt and at a failed call: the key points that are due, and the corrections of the
//! same error. Each is given once in a session, if it is one line. The guard turns a command back
//! with such a hint.

use std::io::Write;

use super::answer::HookAnswer;
use super::context::{self, HookContext};
use super::{HookEvent, throttle};
use crate::clip::units;
use crate::corrections::{Correction, Corrections};
use crate::cue::{CuedCall, CuedPrompt, TURNED_BACK};
use crate::digest::name_of;
use crate::env::{Env, name};
use crate::errors::{error_signature, shell};
use crate::fsx::{self, FsError};
use crate::open_session;
use crate::paths::Paths;
use crate::prepared::{CuedPoint, Notices, Ready, StartKind};
use crate::shown_record::{self, ShownPoints, Start};

const MAX_HINTS: usize = 2;
/// The length limit of all hints together, in UTF-16 units.
const MAX_UNITS: usize = 1_500;
const HEADING: &str =
    "Playbook: learned earlier in this project; name the id in brackets when you act on one.";
/// The end of a mark for a call that was turned back.
const GUARD: &str = "\nguard";
/// The opening of a prompt that the client wrote itself.
const TASK_NOTIFICATION: &str = "<task-notification>";
/// The limit in bytes; a mark holds a time.
const MAX_MARK_BYTES: u64 = 1 << 10;

/// A key point, or the correction of a note.
struct Hint {
    id: String,
    text: String,
    /// The hash of a key point's text.
    point: Option<String>,
}

impl Hint {
    fn of_point(
        CuedPoint {
            name: id,
            text,
            hash,
            ..
        }: CuedPoint,
    ) -> Self {
        let point = Some(hash);
        Self { id, text, point }
    }

    fn of_correction(Correction { id, text }: Correction) -> Self {
        let point = None;
        Self { id, text, point }
    }
}

/// Gives the points that the start left out; after a compaction they are given again.
pub(super) fn prompt(context: &HookContext<'_>, out: &mut dyn Write) -> Result<(), FsError> {
    let settings = context.settings.as_ref();
    let is_wanted = settings.is_some_and(|settings| settings.on_prompt);
    let prompt = context.input.prompt.as_deref();
    let is_typed = |prompt: &&str| !prompt.trim_start().starts_with(TASK_NOTIFICATION);
    let Some(prompt) = prompt.filter(is_typed).filter(|_| is_wanted) else {
        return Ok(());
    };
    let prompt = CuedPrompt::read(prompt, &root(context));
    let Some(ready) = due(context, |point| point.cue.fits_prompt(&prompt)) else {
        return Ok(());
    };
    let compacted = compacted(context);
    let kind = match compacted {
        None => StartKind::Full,
        Some(_) => StartKind::Short,
    };
    let shown = shown(context).filter(|_| compacted.is_none());
    let is_known =
        |name: &str| ready.gives(kind, name) || shown.as_ref().is_some_and(|shown| shown.has(name));
    let points = ready.cues.iter().filter(|point| !is_known(&point.name));
    let hints = points.cloned().map(Hint::of_point);
    give(context, hints, &compacted.unwrap_or_default(), out)
}

/// Ignores an interrupt by the user.
pub(super) fn failure(context: &HookContext<'_>, out: &mut dyn Write) -> Result<(), FsError> {
    let settings = context.settings.as_ref();
    let is_wanted = settings.is_none_or(|settings| settings.on_tool_failure);
    let input = &context.input;
    let (Some(tool), Some(error), true, false) =
        (&input.tool, &input.error, is_wanted, input.is_interrupt)
    else {
        return Ok(());
    };
    let given = &input.call;
    let command = given.command.as_deref().unwrap_or_default();
    let line = if shell::runs_commands(tool) {
        command
    } else {
        ""
    };
    let file = given
        .file_path
        .as_deref()
        .or(given.notebook_path.as_deref());
    let call = CuedCall::read(line, file, &root(context));
    let points = due(context, |point| point.cue.fits_call(&call)).map(|ready| ready.cues);
    let corrections = error_signature(tool, command, error).and_then(|error| {
        let file = context.paths.corrections(&context.project);
        Some(Corrections::read(&file)?.of(error))
    });
    let points = points.into_iter().flatten().map(Hint::of_point);
    let corrections = corrections.into_iter().flatten().map(Hint::of_correction);
    give(context, points.chain(corrections), "", out)
}

/// Returns `true` if the project may have a guarded point, before the client's input is read.
pub(super) fn may_turn_back(env: &Env) -> bool {
    let place = Paths::resolve(env).ok().zip(context::project_of(env, None));
    place.is_some_and(|(paths, project)| Ready::may_have_guard(&paths, &project))
}

/// Turns a guarded command back before it runs. Without a person, it runs.
pub(super) fn guard(context: &HookContext<'_>, out: &mut dyn Write) -> Result<(), FsError> {
    let input = &context.input;
    let is_attended = context.env.is_on(name::ATTENDED);
    let (Some("Bash"), Some(line), true) =
        (input.tool.as_deref(), &input.call.command, is_attended)
    else {
        return Ok(());
    };
    let call = CuedCall::read(line, None, &root(context));
    let ready = due(context, |point| point.guard && point.cue.is_run_by(&call));
    let points = ready.into_iter().flat_map(|ready| ready.cues);
    give(context, points.map(Hint::of_point), GUARD, out)
}

/// Returns only the matching cues; `None` without any, or if the context may be stale.
fn due(context: &HookContext<'_>, fits: impl Fn(&CuedPoint) -> bool) -> Option<Ready> {
    let max_units = context.settings.as_ref()?.max_units;
    let (paths, project) = (&context.paths, &context.project);
    if !Ready::may_be_due(paths, project, &fits) {
        return None;
    }
    let mut ready = Ready::find(paths, project, max_units)?;
    ready.cues.retain(fits);
    Some(ready)
}

fn root(context: &HookContext<'_>) -> String {
    context.project.to_string_lossy().into_owned()
}

/// Gives the first hints that the session, or a subagent in it, has not received since the
/// compaction `since`. After a guard, the hint is not given when the call fails.
fn give(
    context: &HookContext<'_>,
    hints: impl Iterator<Item = Hint>,
    since: &str,
    out: &mut dyn Write,
) -> Result<(), FsError> {
    let is_guard = context.event == HookEvent::PreToolUse;
    let mut given = if is_guard { TURNED_BACK } else { HEADING }.to_owned();
    let mut news: Vec<Hint> = Vec::new();
    for hint in hints {
        let line = format!("- [{}] {}", hint.id, hint.text);
        let fits = units(&given) + 1 + units(&line) <= MAX_UNITS;
        // A hint that is not given now may be given later.
        if news.len() < MAX_HINTS
            && fits
            && !line.contains(char::is_control)
            && is_news(context, &format!("{}{since}", hint.id))?
        {
            given.push('\n');
            given.push_str(&line);
            news.push(hint);
        }
    }
    if news.is_empty() {
        return Ok(());
    }
    for hint in news.iter().filter(|_| is_guard) {
        is_news(context, &hint.id)?;
    }
    remember(context, &news);
    HookAnswer {
        context: Some(given),
        reminded: to_user(context, news),
        ..HookAnswer::default()
    }
    .give(context.event, out);
    Ok(())
}

/// Returns `false` for a session without an id.
fn is_news(context: &HookContext<'_>, what: &str) -> Result<bool, FsError> {
    let Some(session) = &context.input.session else {
        return Ok(false);
    };
    let agent = context.input.agent_id.as_deref().unwrap_or_default();
    let name = name_of(format!("{session}\n{agent}\n{what}").as_bytes());
    throttle::is_first(&context.paths.shown().join(name))
}

fn compacted(context: &HookContext<'_>) -> Option<String> {
    let session = context.input.session.as_ref()?;
    let mark = open_session::injection_file(&context.paths, session, open_session::COMPACT);
    let mark = fsx::read_if_there(&mark, MAX_MARK_BYTES).ok()??;
    Some(String::from_utf8_lossy(&mark).into_owned())
}

fn shown(context: &HookContext<'_>) -> Option<ShownPoints> {
    let session = context.input.session.as_ref()?;
    let folder = context.paths.shown_points(&context.project);
    shown_record::read(&folder, session).map(|record| record.points)
}

/// Records the given key points as shown to the session, so that votes for them count.
fn remember(context: &HookContext<'_>, news: &[Hint]) {
    let mut points = ShownPoints::default();
    for hint in news {
        if let Some(hash) = &hint.point {
            points.insert(&hint.id, hash.clone());
        }
    }
    if let Some((session, transcript)) = context.session()
        && points != ShownPoints::default()
    {
        let folder = context.paths.shown_points(&context.project);
        let added = shown_record::add(&folder, session, transcript, Start::Later, points);
        if let Err(error) = added {
            context.log(&error.to_string());
        }
    }
}

fn to_user(context: &HookContext<'_>, news: Vec<Hint>) -> Vec<String> {
    let notices = context.settings.as_ref().map(|settings| settings.notices);
    if notices == Some(Notices::Quiet) || !context.env.is_on(name::ATTENDED) {
        return Vec::new();
    }
    news.into_iter().map(|hint| hint.text).collect()
}
