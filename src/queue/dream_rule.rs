//! The rule that a dream finds behind several lessons: it becomes a key point.

use std::path::Path;

use serde_json::Value;

use super::context::WorkerContext;
use super::edit::Edit;
use super::job::{Event, JobId, Ticket};
use super::progress::{Job, Progress};
use super::recurrence::is_in;
use super::screening;
use super::spool::{self, IdEntropy};
use crate::account::Need;
use crate::backend::Name;
use crate::playbook::Playbook;
use crate::playbook::ops::Operation;
use crate::reflect::dream::{JOINED, joined};
use crate::reflect::known::KnownLesson;

/// What a key point of a dream needs to be written: any worker does it.
pub(super) const NOBODY: Need = Need::bare(Name::Rules);

/// A rule that becomes a key point.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rule {
    pub(crate) text: String,
    pub(crate) lessons: Vec<String>,
    /// The job that writes it, in the spool.
    pub(crate) job: JobId,
}

/// The key point that a rule behind several lessons of several sessions becomes, with the ids of
/// the lessons; the error says why it becomes none.
pub(super) fn join(
    context: &WorkerContext,
    project: &Path,
    rule: &Value,
    lessons: &[KnownLesson],
    playbook: &Playbook,
) -> Result<(Vec<String>, Edit), String> {
    let joined = joined(rule, lessons)?;
    let ids: Vec<&str> = joined.iter().map(|lesson| lesson.id.as_str()).collect();
    let sessions = context.memory().sessions_of(&ids);
    let sessions = sessions.map_err(|e| e.to_string())?;
    if sessions < JOINED as u64 {
        return Err("its lessons are of one session".to_owned());
    }
    let Operation::Add { text, section } = Operation::read(rule)? else {
        return Err("it is no new key point".to_owned());
    };
    if is_in(playbook, &text) {
        return Err("a key point says it already".to_owned());
    }
    let why = format!("joins {} lessons of {sessions} sessions", ids.len());
    let edit = Edit::Join { text, section, why };
    let held = screening::hold_foreign(context, project, &edit, screening::BY_DREAM);
    match held.map_err(|e| e.to_string())? {
        Some(why) => Err(format!("held back: {why}")),
        None => Ok((ids.into_iter().map(str::to_owned).collect(), edit)),
    }
}

/// Puts the job that writes a rule into the playbook.
pub(super) fn put(
    context: &WorkerContext,
    project: &Path,
    lessons: Vec<String>,
    edit: &Edit,
) -> Result<Rule, String> {
    let ticket = Ticket {
        need: Some(NOBODY),
        ..Ticket::new(Event::Edit, project, context.now())
    };
    let job = spool::put_as(context.paths(), &IdEntropy::Chance, ticket, |ticket| Job {
        ticket: ticket.clone(),
        edit: Some(edit.clone()),
        progress: Progress::default(),
    });
    Ok(Rule {
        text: edit.text().unwrap_or_default().to_owned(),
        lessons,
        job: job.map_err(|e| e.to_string())?,
    })
}
