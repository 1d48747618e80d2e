//! session-start: gives the session the playbook, and leaves a mark that it is open.

use std::io::Write;
use std::path::Path;

use jiff::SignedDuration;

use super::answer::Answer;
use super::context::Context;
use super::kept::Kept;
use super::start_worker::Backlog;
use super::{once, start_worker, told};
use crate::account::Need;
use crate::digest::name_of;
use crate::env::name;
use crate::fsx::{self, Context as _, FsError};
use crate::paths::playbook_file;
use crate::platform::ProcessMark;
use crate::playbook::Point;
use crate::playbook::context::{Limits, context as render};
use crate::playbook::render::TEMPLATE as BUILT_IN;
use crate::queue::mark::{self, MARK_VERSION, Mark};
use crate::queue::shown::{self, Start};
use crate::queue::status::{Notice, Status};
use crate::store::{Snapshots, Store, StoreError, WAYS_BACK};
use crate::telemetry;
use crate::trust::{Standing, outside, request};

/// The template's name; the user's own is looked for under it.
const TEMPLATE: &str = "playbook.txt";
const MAX_PLAYBOOK: u64 = 16 << 20;
const MAX_TEMPLATE: u64 = 1 << 20;
/// Within this time a session is given its context once for each source.
const ONCE_WITHIN: SignedDuration = SignedDuration::from_secs(10);
/// What lasts longer than this the user is told of, once in this time.
const LONG: SignedDuration = SignedDuration::from_hours(24);
/// What is said once and never again.
const EVER: SignedDuration = SignedDuration::MAX;

pub(super) fn run(context: &Context<'_>, out: &mut dyn Write) -> Result<(), FsError> {
    let need = context.need();
    let marked = leave_mark(context, need.as_ref()).and_then(|()| can_take_jobs(context));
    let backlog = Backlog::of(context);
    start_worker::if_due(context, need.as_ref(), &backlog);
    let status = recent(context, &backlog);
    let mut said = notices(context, &backlog, status);
    said.extend(not_learned(context, marked.as_ref().err()));
    let own = need.as_ref().map(Need::account);
    said.retain(|notice| notice.account.is_none() || notice.account == own);
    let given = injected(context, need.as_ref())
        .unwrap_or_else(|error| Given::nothing_but(error.to_string()));
    // The worker knows of more than the file; the record of what the file has by now.
    let held = status.map_or(0, |status| told::held(&context.project, status));
    said.extend(told::quarantine(&context.project, held.max(given.held)));
    said.extend(given.notices);
    let said: Vec<String> = said
        .into_iter()
        .filter(|notice| is_news(context, notice))
        .map(|notice| notice.text)
        .collect();
    Answer {
        context: given.text,
        told: said,
    }
    .give(context.event, out);
    marked
}

fn leave_mark(context: &Context<'_>, need: Option<&Need>) -> Result<(), FsError> {
    let Some((session, transcript)) = context.session() else {
        return Ok(());
    };
    let client = context.env.get(name::CLAUDE_PID);
    let mark = Mark {
        v: MARK_VERSION,
        session: session.clone(),
        transcript: transcript.clone(),
        cwd: context.cwd.clone(),
        project: context.project.clone(),
        need: need.cloned(),
        client: client.and_then(|pid| pid.parse().ok()).map(ProcessMark::of),
        at: context.now,
    };
    mark::leave(&context.paths, &mark)
}

/// An error when no job can be put into the spool.
fn can_take_jobs(context: &Context<'_>) -> Result<(), FsError> {
    use rustix::fs::{Access, access};
    let spool = context.paths.spool();
    match access(&spool, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
        Err(why) => Err(std::io::Error::from(why)).context("write to", &spool),
    }
}

/// Why nothing will be learned from this session. It is told without our state, which may be
/// what is broken.
fn not_learned(context: &Context<'_>, unwritable: Option<&FsError>) -> Option<Notice> {
    let project = context.project.display();
    let transcript = context.input.transcript.as_deref();
    let folder = transcript.and_then(Path::parent).filter(|folder| {
        folder.starts_with(context.paths.client_projects()) && !context.is_clients(folder)
    });
    let why = if context.project.to_str().is_none() {
        format!("the path of this project is not UTF-8, rename it: {project}")
    } else if let Some(folder) = folder {
        let folder = folder.display();
        format!("its folder is a symlink that leads out of the client's own: {folder}")
    } else {
        unwritable?.to_string()
    };
    let text = format!("nothing will be learned from this session: {why}");
    Some(Notice::new(&text.clone(), text))
}

/// What the worker said last, unless that is long ago.
fn recent<'a>(context: &Context<'_>, backlog: &'a Backlog) -> Option<&'a Status> {
    let status = backlog.status.as_ref()?;
    (context.now.duration_since(status.written).abs() < LONG).then_some(status)
}

/// What the user should know: from the worker, and what is broken here and now.
fn notices(context: &Context<'_>, backlog: &Backlog, status: Option<&Status>) -> Vec<Notice> {
    let mut notices = match status {
        Some(status) => status.notices.clone(),
        None => left_alone(context, backlog).into_iter().collect(),
    };
    if let Err(error) = &context.config {
        let text = format!("settings cannot be used, jobs wait: {error}");
        notices.push(Notice::new("settings", text));
    }
    if start_worker::program(context).is_none() {
        notices.push(Notice::new("program", start_worker::NOT_FOUND));
    }
    notices
}

/// Jobs that no worker has come to, or none has lived to say so.
fn left_alone(context: &Context<'_>, backlog: &Backlog) -> Option<Notice> {
    let born = backlog.oldest.as_ref()?.time()?;
    (context.now.duration_since(born) > LONG).then(|| {
        let log = context.paths.log(telemetry::LOG);
        let text = format!(
            "jobs have waited for more than a day, and no worker has ended in that time; see {}",
            log.display()
        );
        Notice::new("waiting", text)
    })
}

/// Tells whether the user has not been told of this within a day.
fn is_news(context: &Context<'_>, notice: &Notice) -> bool {
    let file = context.paths.told().join(name_of(notice.topic.as_bytes()));
    notice.account.is_some() || once::is_due(&file, context.now, LONG)
}

#[derive(Debug, Default)]
struct Given {
    text: Option<String>,
    /// How many key points of the file wait for the user.
    held: usize,
    notices: Vec<Notice>,
}

impl Given {
    /// Nothing but a notice, of each project's playbook by itself.
    fn nothing_but(notice: String) -> Self {
        Self {
            notices: vec![Notice::new(&notice.clone(), notice)],
            ..Self::default()
        }
    }
}

fn injected(context: &Context<'_>, need: Option<&Need>) -> Result<Given, FsError> {
    let config = context.config.as_ref().ok();
    let units = config.map_or(Limits::FULL.units, |config| config.injection.max_units);
    let source = context.input.source.as_deref();
    let limits = match source {
        // The conversation holds it.
        Some("resume" | "fork") => return Ok(Given::default()),
        // The best of it: after a compaction the conversation goes on.
        Some("compact") => Limits {
            units: units.min(Limits::COMPACT.units),
            ..Limits::COMPACT
        },
        _ => Limits {
            units,
            ..Limits::FULL
        },
    };
    let file = playbook_file(&context.project);
    let standing = Standing::of(&context.paths, &context.project);
    let link = outside::of(&context.project);
    if let Some(target) = link.as_ref().filter(|_| !standing.is_trusted()) {
        return Ok(Given::nothing_but(outside::refusal(
            &context.project,
            target,
        )));
    }
    let mut given = chosen(context, need, &standing, limits)?;
    given.held = standing.count_of_held();
    let is_first = |session: &String| {
        let file = mark::injection_file(&context.paths, session, source.unwrap_or_default());
        once::is_due(&file, context.now, ONCE_WITHIN)
    };
    given.text = given
        .text
        .filter(|_| context.input.session.as_ref().is_none_or(is_first));
    if let Some(text) = &given.text {
        remember_shown(context, text);
    }
    if let Some(target) = link
        && once::is_due(&told::link_file(context, &target), context.now, EVER)
    {
        let (file, target) = (file.display(), target.display());
        let notice = format!("{file} leads out of the project, to {target}");
        given.notices.push(Notice::new(&notice.clone(), notice));
    }
    Ok(given)
}

/// Remembers what this session is shown; where that fails the transcript still says it.
fn remember_shown(context: &Context<'_>, text: &str) {
    let Some((session, transcript)) = context.session() else {
        return;
    };
    let start = match context.input.source.as_deref() {
        Some("startup" | "clear") => Start::New,
        _ => Start::Later,
    };
    let folder = context.paths.shown_points(&context.project);
    if let Err(error) = shown::add(&folder, session, transcript, start, text) {
        context.log(&error.to_string());
    }
}

/// The key points for a session, within `limits`.
fn chosen(
    context: &Context<'_>,
    need: Option<&Need>,
    standing: &Standing,
    limits: Limits,
) -> Result<Given, FsError> {
    let file = playbook_file(&context.project);
    let own_template = context.paths.template(TEMPLATE);
    let project_state = context.paths.project(&context.project);
    let record = context.paths.trust_record(&context.project);
    let kept = Kept::of(
        &project_state,
        &[&file, &own_template, &record],
        limits,
        context.now,
    )
    .filter(|_| standing.is_trusted());
    if let Some(text) = kept.as_ref().and_then(Kept::read) {
        return Ok(Given {
            text: Some(text),
            ..Given::default()
        });
    }
    let bytes = match Store::of(&context.paths, &context.project).bytes() {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(Given::default()),
        Err(StoreError::Fs(error)) => return Err(error),
        Err(away) => return Ok(Given::nothing_but(format!("{away}; {WAYS_BACK}"))),
    };
    let template = fsx::read_if_there(&own_template, MAX_TEMPLATE)
        .ok()
        .flatten()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let template = template.as_deref().unwrap_or(BUILT_IN);
    let show = |bytes: &[u8]| {
        let admit = |point: &Point<'_>| standing.admits(point.section, point.name, point.text);
        render(bytes, template, limits, context.now, admit)
    };
    Ok(match show(&bytes) {
        Ok(shown) => {
            let is_strict = || context.config.as_ref().is_ok_and(|c| c.trust.strict);
            let notice = told::standing(&context.project, standing, &shown, is_strict);
            if matches!(standing, Standing::Born)
                || (standing.is_trusted() && !shown.unknown.is_empty())
            {
                match request::leave(&context.paths, &context.project) {
                    Ok(()) => start_worker::detached(context, need),
                    Err(error) => context.log(&error.to_string()),
                }
            }
            let odd = shown.odd.filter(|_| standing.is_trusted()).map(|odd| {
                let text = format!("{}: {odd}", file.display());
                Notice::new(&text.clone(), text)
            });
            let notices: Vec<Notice> = notice.into_iter().chain(odd).collect();
            if let (Some(kept), Some(text), []) = (kept, &shown.text, &notices[..]) {
                kept.keep(text);
            }
            Given {
                text: shown.text,
                notices,
                ..Given::default()
            }
        }
        Err(flaw) => {
            let notice = format!("could not read playbook: {}: {flaw}", file.display());
            if !standing.is_trusted() {
                return Ok(Given::nothing_but(notice));
            }
            let last = Snapshots::new(&project_state).last(MAX_PLAYBOOK);
            let last = last.ok().flatten();
            let text = last.and_then(|bytes| show(&bytes).ok()?.text);
            let instead = if text.is_some() {
                "; this session has its last good version"
            } else {
                ""
            };
            Given {
                text,
                ..Given::nothing_but(format!("{notice}{instead}; `playbook restore` mends it"))
            }
        }
    })
}
