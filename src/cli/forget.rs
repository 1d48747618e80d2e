//! `playbook forget`: takes out of the memory what the user wants out.

use std::path::Path;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use serde_json::json;

use super::output::{self, Hinted, plain};
use super::session::NamedSession;
use super::{answer, args, change_text};
use crate::memory::{ForgetWhat, Forgotten, Memory};
use crate::tenant::Tenant;
use crate::usage;

pub(super) fn run(session: &NamedSession, args: &args::ForgetArgs) -> anyhow::Result<()> {
    let now = session.env.clock().now();
    let what = what(session, args, now)?;
    let Some(mut memory) = session.memory()? else {
        return match what {
            ForgetWhat::Id(id) => Err(unknown(&id)),
            _ => show(Forgotten::default(), args.json),
        };
    };
    if !args.yes && !is_agreed(&memory, &what)? {
        return show(Forgotten::default(), args.json);
    }
    let projects = memory.projects()?;
    let gone = memory.forget(&what, now)?;
    if let (ForgetWhat::Id(id), 0) = (&what, gone.total()) {
        return Err(unknown(id));
    }
    refresh(session, &memory, &projects)?;
    show(gone, args.json)
}

fn what(
    session: &NamedSession,
    args: &args::ForgetArgs,
    now: Timestamp,
) -> anyhow::Result<ForgetWhat> {
    if let Some(id) = &args.id {
        return Ok(ForgetWhat::Id(id.trim().to_owned()));
    }
    let project = (!args.all).then(|| session.project_name());
    Ok(match &args.older_than {
        Some(age) => ForgetWhat::OlderThan {
            time: time(age, now)?,
            project,
        },
        None => ForgetWhat::Project(project.unwrap_or_default()),
    })
}

fn time(text: &str, now: Timestamp) -> anyhow::Result<Timestamp> {
    let zone = TimeZone::system();
    if let Ok(date) = text.parse::<Date>() {
        return Ok(date.to_zoned(zone)?.timestamp());
    }
    let age = text.parse::<Span>().ok().filter(|age| !age.is_negative());
    let time = age.and_then(|age| now.to_zoned(zone).checked_sub(age).ok());
    time.map(|time| time.timestamp()).ok_or_else(|| {
        let what = format!("no time: {}", plain(text));
        let hint = "an age such as 90d, 12w, 6mo or 1y, or a date such as 2026-01-31";
        Hinted::error(what, hint)
    })
}

fn unknown(id: &str) -> anyhow::Error {
    let what = format!("nothing is remembered as {}", plain(id));
    let hint = "`playbook recall` shows the ids";
    Hinted::error(what, hint)
}

/// Asks the user; where there is no terminal to ask on, that is an error.
fn is_agreed(memory: &Memory, what: &ForgetWhat) -> anyhow::Result<bool> {
    let wanted = match what {
        ForgetWhat::Id(id) => match memory.find(id)? {
            Some(found) => format!("{}: {}", plain(id), plain(&found.text)),
            None => return Err(unknown(id)),
        },
        ForgetWhat::Project(project) => {
            let place = plain(project);
            format!("the lessons and errors of {place}, whose key points stay")
        }
        ForgetWhat::OlderThan { time, project } => {
            let place = project.as_deref().map_or("all projects".to_owned(), plain);
            let time = change_text::time(*time);
            format!("all that was last learned or shown before {time} in {place}")
        }
    };
    let question = format!("Forget {wanted}? It cannot be undone.");
    output::confirm(&question)?.ok_or_else(|| {
        Hinted::error(
            format!("would forget {wanted}"),
            "there is no terminal to ask on; say --yes",
        )
    })
}

/// Writes what hooks know of these projects anew: what is forgotten stands there no longer.
/// Of other tenants they know nothing.
fn refresh(session: &NamedSession, memory: &Memory, projects: &[String]) -> anyhow::Result<()> {
    if session.tenant != Tenant::User {
        return Ok(());
    }
    let own = session.project_name();
    for name in projects {
        let project = if *name == own {
            &session.project
        } else {
            Path::new(name)
        };
        usage::refresh_corrections(&session.paths, memory, project)?;
    }
    Ok(())
}

fn show(gone: Forgotten, as_json: bool) -> anyhow::Result<()> {
    let told = json!({
        "forgotten": {
            "reflections": gone.reflections,
            "strategies": gone.strategies,
            "lessons": gone.lessons,
            "errors": gone.errors,
            "evaluations": gone.evaluations,
        },
        "total": gone.total(),
    });
    answer::give(as_json, include_str!("screens/forget.txt"), told)
}
