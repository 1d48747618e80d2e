//! What a session says of the user's own key points, which stand beside the settings and go along
//! into every project.
//!
//! The reflector judges them with those of the project. Its verdicts on them are a job of their
//! own, so that each of the two files has its own lock, its own `applied` and its own history.
//! That job's id follows from the session's job, so that it is made once.

use std::path::Path;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::context::WorkerContext;
use super::edit::{NOBODY, PlaybookEdit};
use super::evidence::SessionEvidence;
use super::job::{JobEvent, JobId, Ticket};
use super::progress::{JobInProgress, Progress};
use super::recurrence::saying;
use super::spool::job_file;
use super::{QueueError, ask, record, shown};
use crate::config::Config;
use crate::fsx;
use crate::playbook::ops::Operation;
use crate::playbook::{Id, Playbook, Skipped, is_own_name};
use crate::shown_record::ShownPoints;
use crate::transcript::Facts;

/// Why sessions in the folder of the settings teach nothing: what is learned there would be given
/// to every project, and only the user brings something there.
pub(super) const NO_PROJECT: &str = "the folder of the settings is no project to learn from";

/// The user's own points that a session was given or cited, without their secrets; none are read
/// where it was given none.
pub(super) fn judged(
    context: &WorkerContext,
    job: &JobInProgress,
    facts: &Facts,
    config: &Config,
) -> Result<Playbook, QueueError> {
    let shown = job.progress.shown.iter().flat_map(ShownPoints::each);
    let mut shown = shown.map(|(name, _)| name.as_str());
    let is_cited = facts.citations.iter().any(Id::is_own);
    if !is_cited && !shown.any(is_own_name) {
        return Ok(Playbook::empty());
    }
    let mut own = known(context, config)?;
    let given = shown::given(job, facts, &own);
    own.keep(|point| given.iter().any(|id| id.as_str() == point.name));
    Ok(own)
}

fn known(context: &WorkerContext, config: &Config) -> Result<Playbook, QueueError> {
    let paths = context.paths();
    ask::known_points(paths, paths.own(), config)
}

/// Puts the job that counts a session's verdicts on the user's own points into the spool, unless
/// it is there, or was done.
pub(super) fn send_votes(
    context: &WorkerContext,
    job: &JobInProgress,
    session: &SessionEvidence,
    config: &Config,
) -> Result<(), QueueError> {
    let own = judged(context, job, &session.facts, config)?;
    if own.is_empty() {
        return Ok(());
    }
    let reflection = job.progress.reflection.as_ref();
    let tags = reflection.map_or(&[][..], |reflection| &reflection.bullet_tags);
    let votes = shown::votes_of(job, &session.facts, tags, &own);
    let ticket = Ticket {
        id: id_of(job),
        need: Some(NOBODY),
        session: job.ticket.session.clone(),
        ..Ticket::new(JobEvent::Edit, context.paths().own(), context.now())
    };
    if context.memory().job(ticket.id.as_str())?.is_some() {
        return Ok(());
    }
    let file = job_file(&context.paths().spool(), &ticket.id);
    let of_votes = JobInProgress {
        ticket,
        edit: Some(PlaybookEdit::Vote {
            tags: votes.tags,
            cited: votes.cited,
        }),
        progress: Progress {
            points: votes.seen,
            root: Some(record::root_of(job)),
            ..Progress::default()
        },
    };
    fsx::create_new(&file, &fsx::to_json(&file, &of_votes)?)?;
    context.note_put_job();
    Ok(())
}

/// The id of the job with a session's verdicts on the user's own points.
fn id_of(job: &JobInProgress) -> JobId {
    let hash = Sha256::digest(format!("own\n{}", job.ticket.id));
    let random = hash
        .first_chunk()
        .map_or(0, |first| u32::from_be_bytes(*first));
    JobId::new(job.ticket.at, random)
}

/// Takes from a curator's operations what a point of the user's own says already.
pub(super) fn without_said(
    context: &WorkerContext,
    project: &Path,
    operations: Vec<Value>,
    config: &Config,
) -> (Vec<Value>, Vec<Skipped>) {
    let nothing = |error: QueueError| {
        context.log("worker", &error.to_string());
        Playbook::empty()
    };
    let is_given = config.injection.own && project != context.paths().own();
    let own = match known(context, config) {
        _ if !is_given => Playbook::empty(),
        known => known.unwrap_or_else(nothing),
    };
    let mut said = Vec::new();
    let mut others = Vec::new();
    for operation in operations {
        let known = match Operation::read(&operation) {
            Ok(Operation::Add { text, .. }) => saying(&own, &text),
            _ => None,
        };
        match known {
            Some(name) => said.push(Skipped {
                what: "operation".to_owned(),
                reason: format!("{name}, the user's own, says so already"),
            }),
            None => others.push(operation),
        }
    }
    (others, said)
}
