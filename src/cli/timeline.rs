//! `playbook timeline`: what happened in a project by day: sessions, what was asked, how each
//! ended, what was learned.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::past::{Became, Past, PastSession};
use super::session::NamedSession;
use super::{answer, args, change_text, evidence};
use crate::memory::{Entry, JobOutcome, JobRow};
use crate::queue::reason::in_words;
use crate::transcript::Range;
use crate::transcript_file::scan;

/// How many sessions and edits are shown where the user does not say.
const MOMENTS: usize = 20;
/// So much of a transcript is read to find what was asked.
const HEAD: u64 = 1 << 20;
/// So many parts of sessions are looked at, the newest.
const PARTS: u64 = 50_000;

pub(super) fn run(session: &NamedSession, args: &args::TimelineArgs) -> anyhow::Result<()> {
    let moments = moments(session, args.limit.map_or(MOMENTS, NonZeroUsize::get))?;
    let told = json!({"project": session.project, "moments": moments});
    answer::give(args.on.json, include_str!("screens/timeline.txt"), told)
}

pub(super) fn moments(session: &NamedSession, most: usize) -> anyhow::Result<Vec<Value>> {
    let past = Past::of(session)?;
    let sessions = past
        .sessions
        .iter()
        .map(|one| (one.ended, Moment::Session(one)));
    let is_edit =
        |row: &&JobRow| row.job.session.is_empty() && row.job.outcome == JobOutcome::Applied;
    let edits = past.jobs.iter().filter(is_edit);
    let edits = edits.map(|row| (row.job.finished, Moment::Edit(row)));
    let mut moments: Vec<(Timestamp, Moment<'_>)> = sessions.chain(edits).collect();
    moments.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    let ended = ends(session, &past)?;
    let mut told = Vec::new();
    for (time, moment) in moments {
        if told.len() == most {
            break;
        }
        match moment {
            Moment::Session(one) => told.push(told_of(session, &past, one, ended.get(&one.id))?),
            Moment::Edit(row) => {
                let changes = past.changes_of(row)?;
                let event = row.job.event.as_str();
                let by = change_text::by_hand(event).unwrap_or(event);
                if !changes.is_empty() {
                    told.push(in_json(time, &changes, &json!({"by": by})));
                }
            }
        }
    }
    Ok(told)
}

enum Moment<'a> {
    Session(&'a PastSession),
    Edit(&'a JobRow),
}

/// How the sessions ended that were judged, as the last word on each has it.
fn ends(session: &NamedSession, past: &Past) -> anyhow::Result<HashMap<String, String>> {
    let Some(memory) = past.memory() else {
        return Ok(HashMap::new());
    };
    let parts = memory.endings(&session.project_name(), PARTS)?.into_iter();
    Ok(parts
        .filter_map(|part| Some((part.session, part.ended?)))
        .collect())
}

fn told_of(
    session: &NamedSession,
    past: &Past,
    one: &PastSession,
    ended: Option<&String>,
) -> anyhow::Result<Value> {
    let (became, reason) = match past.became(one) {
        Became::Waits(row) => ("waits", row.reason.as_str()),
        Became::Learned(_) => ("learned", ""),
        Became::Failed(row) => ("failed", row.job.reason.as_str()),
        Became::PassedOver(row) => ("passed over", row.job.reason.as_str()),
        Became::Nothing => ("not learned", ""),
    };
    let asked = one.transcript.as_deref();
    let more = json!({
        "session": one.id,
        "asked": asked.and_then(|path| asked_in(session, path)),
        "ended": ended,
        "became": became,
        "reason": in_words(reason),
    });
    Ok(in_json(one.ended, &past.changes(one)?, &more))
}

fn in_json(time: Timestamp, changes: &[Entry], more: &Value) -> Value {
    let changes: Vec<Value> = changes
        .iter()
        .map(|entry| change_text::in_json(&entry.change))
        .collect();
    json!({
        "time": time,
        "session": more["session"],
        "by": more["by"],
        "asked": more["asked"],
        "ended": more["ended"],
        "became": more["became"],
        "reason": more["reason"],
        "changes": changes,
    })
}

/// The user's first words in a transcript, masked; `None` where there are none, or it cannot be
/// read.
fn asked_in(session: &NamedSession, transcript: &Path) -> Option<String> {
    let options = evidence::options(session, transcript).ok()?;
    let size = transcript.metadata().ok()?.len();
    let range = Range {
        start: 0,
        end: size.min(HEAD),
    };
    let digest = scan(transcript, range, &options, &mut |_, _| false).ok()?;
    digest.facts.first_request
}
