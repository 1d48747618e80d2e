//! Lets into the playbook what recurs or was said; what one session alone teaches stays a lesson.

use serde_json::Value;

use super::context::WorkerContext;
use super::known;
use super::progress::{JobInProgress, RestOn};
use super::record;
use crate::memory::MemoryError;
use crate::playbook::dedup::{Threshold, Wording};
use crate::playbook::ops::{Operation, written_text};
use crate::playbook::{Playbook, Skipped};
use crate::reflect::accepted::told;
use crate::reflect::grounds::Grounds;
use crate::reflect::recurrence::Recurrence;

/// Why a new key point is none yet.
const WAITS: &str = "waits as a lesson until a second session teaches it";

/// Parts what has a ground into the operations that are applied and the texts that wait as
/// lessons. Only what is new waits: corrections and merges have their key points.
pub(super) fn part(
    context: &WorkerContext,
    job: &JobInProgress,
    playbook: &Playbook,
    grounds: &Grounds<'_>,
    operations: Vec<Value>,
) -> Result<(Vec<Value>, Vec<String>), MemoryError> {
    if job.progress.operations_rest != RestOn::Recurrence {
        return Ok((operations, Vec::new()));
    }
    let reflection = job.progress.reflection.as_ref();
    let recurrence = Recurrence {
        grounds,
        lessons: &job.progress.known_lessons,
        taught: reflection.map_or(&[], |said| &said.lessons),
        importance: reflection.and_then(|said| said.importance),
    };
    let root = record::root_of(job);
    let project = &job.ticket.project;
    let (mut applied, mut waiting) = (Vec::new(), Vec::new());
    for operation in operations {
        let text = written_text(&operation).to_owned();
        let is_new = matches!(Operation::read(&operation), Ok(Operation::Add { .. }));
        if !is_new || is_in(playbook, &text) {
            applied.push(operation);
            continue;
        }
        let found = known::like(&context.memory(), project, &root, &text, context.now())?;
        if recurrence.is_seen(&operation, &found) {
            applied.push(operation);
        } else {
            waiting.push(text);
        }
    }
    Ok((applied, waiting))
}

pub(super) fn told_of(waiting: &[String]) -> impl Iterator<Item = Skipped> {
    waiting
        .iter()
        .map(|text| told("ADD", text, WAITS.to_owned()))
}

pub(super) fn is_in(playbook: &Playbook, text: &str) -> bool {
    let wording = Wording::of(text);
    let mut points = playbook.points();
    points.any(|point| wording.says_as(&Wording::of(point.text), Threshold::default()))
}
