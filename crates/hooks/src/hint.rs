//! post-tool-use-failure: what was learned about a call that failed, once in a session.
//!
//! The texts were masked and made one line each by the worker. A text that is more than a line is
//! not shown.

use std::io::Write;

use super::answer::HookAnswer;
use super::context::HookContext;
use super::throttle;
use crate::clip::units;
use crate::corrections::{Correction, Corrections};
use crate::digest::name_of;
use crate::env::name;
use crate::errors::error_signature;
use crate::fsx::FsError;
use crate::prepared::Notices;

/// The most hints that are given at once.
const MAX_HINTS: usize = 2;
/// The most UTF-16 units of what is given.
const MAX_UNITS: usize = 1_500;
const HEADING: &str =
    "Playbook: learned earlier in this project; name the id in brackets when you act on one.";

/// A key point, or the correction of a note.
struct Hint {
    id: String,
    text: String,
}

impl From<Correction> for Hint {
    fn from(Correction { id, text }: Correction) -> Self {
        Self { id, text }
    }
}

/// Gives what fixed the very error of a failed call before. An interrupt is the user's doing.
pub(super) fn failure(context: &HookContext<'_>, out: &mut dyn Write) -> Result<(), FsError> {
    let settings = context.settings.as_ref();
    let is_wanted = settings.is_none_or(|settings| settings.on_tool_failure);
    let input = &context.input;
    let (Some(tool), Some(error), true, false) =
        (&input.tool, &input.error, is_wanted, input.is_interrupt)
    else {
        return Ok(());
    };
    let command = input.command.as_deref().unwrap_or_default();
    let file = context.paths.corrections(&context.project);
    let corrections = error_signature(tool, command, error)
        .and_then(|error| Some(Corrections::read(&file)?.of(error)));
    let hints = corrections.into_iter().flatten().map(Hint::from);
    give(context, hints, out)
}

/// Gives the first hints that the session, or a subagent in it, was not given before.
fn give(
    context: &HookContext<'_>,
    hints: impl Iterator<Item = Hint>,
    out: &mut dyn Write,
) -> Result<(), FsError> {
    let mut given = HEADING.to_owned();
    let mut news: Vec<Hint> = Vec::new();
    for hint in hints {
        let line = format!("- [{}] {}", hint.id, hint.text);
        let fits = units(&given) + 1 + units(&line) <= MAX_UNITS;
        if news.len() < MAX_HINTS
            && fits
            && !line.contains(char::is_control)
            && is_news(context, &hint.id)?
        {
            given.push('\n');
            given.push_str(&line);
            news.push(hint);
        }
    }
    if news.is_empty() {
        return Ok(());
    }
    HookAnswer {
        context: Some(given),
        reminded: to_user(context, news),
        ..HookAnswer::default()
    }
    .give(context.event, out);
    Ok(())
}

/// Returns `true` if a reader is given `what` for the first time; a session without an id is given
/// nothing.
fn is_news(context: &HookContext<'_>, what: &str) -> Result<bool, FsError> {
    let Some(session) = &context.input.session else {
        return Ok(false);
    };
    let agent = context.input.agent_id.as_deref().unwrap_or_default();
    let name = name_of(format!("{session}\n{agent}\n{what}").as_bytes());
    throttle::is_first(&context.paths.shown().join(name))
}

/// Returns the texts for a person at the terminal.
fn to_user(context: &HookContext<'_>, news: Vec<Hint>) -> Vec<String> {
    let notices = context.settings.as_ref().map(|settings| settings.notices);
    if notices == Some(Notices::Quiet) || !context.env.is_on(name::ATTENDED) {
        return Vec::new();
    }
    news.into_iter().map(|hint| hint.text).collect()
}
