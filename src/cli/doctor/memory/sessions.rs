//! The sessions of a project that have the words, what became of each, and what was not accepted.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use super::{NAMED, QueryWords, quoted};
use crate::backend::BackendName;
use crate::cli::change_text::{seen_from, short, time};
use crate::cli::doctor::DoctorCheck;
use crate::cli::jobs::{JobState, Row};
use crate::cli::past::{Became, Past, PastSession};
use crate::cli::session::NamedSession;
use crate::memory::FinishedJob;
use crate::queue::reason::in_words;
use crate::shown::counted;

/// So many sessions are looked into, the newest.
const LOOKED_INTO: usize = 500;
const TOPIC: &str = "session";
const RULES: &str = "nothing: rules learn what you say always holds; a model learns more";

pub(super) fn examine(
    session: &NamedSession,
    words: &QueryWords,
) -> anyhow::Result<Vec<DoctorCheck>> {
    let past = Past::of(session)?;
    if past.sessions.is_empty() {
        let todo = "work in this folder with Claude Code, or name another: `--project DIR`";
        return Ok(vec![DoctorCheck::note(
            TOPIC,
            "none of this project is known",
            todo,
        )]);
    }
    let looked_into = past.sessions.iter().take(LOOKED_INTO);
    let found: Vec<&PastSession> = looked_into.clone().filter(|one| has(one, words)).collect();
    let mut checks = Vec::new();
    for one in found.iter().take(NAMED) {
        checks.push(told(session, &past, one)?);
    }
    match found.len() {
        0 => {
            let text = format!("none of the last {} has these words", looked_into.count());
            let todo = "try fewer words, or tell it: `playbook add TEXT`";
            checks.push(DoctorCheck::note(TOPIC, text, todo));
        }
        found if found > NAMED => {
            let more = counted(found - NAMED, "earlier one");
            checks.push(DoctorCheck::good(TOPIC, format!("and {more}")));
        }
        _ => {}
    }
    checks.extend(refused(&past, words));
    Ok(checks)
}

/// Tells whether a record of the user or of the agent has all words.
fn has(session: &PastSession, words: &QueryWords) -> bool {
    words.is_any()
        || session
            .transcript
            .as_deref()
            .is_some_and(|path| is_in(path, words))
}

fn is_in(transcript: &Path, words: &QueryWords) -> bool {
    let Ok(file) = File::open(transcript) else {
        return false;
    };
    let mut lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
    lines.any(|line| {
        let text = String::from_utf8_lossy(&line);
        let is_said = ["user", "assistant"].map(|who| format!("\"type\":\"{who}\""));
        is_said.iter().any(|sign| text.contains(sign)) && words.are_in(&text)
    })
}

fn told(session: &NamedSession, past: &Past, one: &PastSession) -> anyhow::Result<DoctorCheck> {
    let name = format!("{} of {}", short(&one.id), time(one.ended));
    Ok(match past.became(one) {
        Became::Waits(row) => waits(&name, row, session),
        Became::Learned(row) => learned(&name, &row.job, past.changes(one)?.len()),
        Became::Failed(row) => {
            let text = format!(
                "{name}: could not be learned: {}",
                in_words(&row.job.reason)
            );
            DoctorCheck::bad(TOPIC, text, "`playbook jobs retry --all` tries it again")
        }
        Became::PassedOver(row) => {
            let text = format!("{name}: passed over: {}", in_words(&row.job.reason));
            let todo = format!(
                "nothing; or learn it all the same: `playbook reflect {} --apply`",
                one.id
            );
            DoctorCheck::note(TOPIC, text, &todo)
        }
        Became::Nothing => {
            let text = format!("{name}: not learned: it is still open, or no hook saw its end");
            DoctorCheck::note(
                TOPIC,
                text,
                "`playbook bootstrap` learns what was never learned",
            )
        }
    })
}

fn learned(name: &str, job: &FinishedJob, changes: usize) -> DoctorCheck {
    let text = format!("{name}: learned by {}", job.backend);
    match changes {
        0 if job.backend == BackendName::Rules.word() => {
            DoctorCheck::note(TOPIC, format!("{text}, nothing new"), RULES)
        }
        0 => DoctorCheck::note(TOPIC, format!("{text}, nothing new"), &log(job)),
        _ => DoctorCheck::good(
            TOPIC,
            format!("{text}, {}: {}", counted(changes, "change"), log(job)),
        ),
    }
}

fn log(job: &FinishedJob) -> String {
    format!("`playbook log {}`", job.id)
}

fn waits(name: &str, row: &Row, session: &NamedSession) -> DoctorCheck {
    let now = session.env.clock().now();
    let why = in_words(&row.reason);
    match (row.state, row.next) {
        (JobState::Ready, _) => {
            let text = format!("{name}: the next worker learns it");
            DoctorCheck::note(TOPIC, text, "nothing; or now: `playbook worker`")
        }
        (JobState::Waiting, Some(next)) => {
            let text = format!(
                "{name}: waits, is tried again {}: {why}",
                seen_from(next, now)
            );
            DoctorCheck::note(TOPIC, text, "nothing; or now: `playbook jobs retry --all`")
        }
        (JobState::Waiting, None) => {
            let text = format!("{name}: waits: {why}");
            DoctorCheck::bad(TOPIC, text, "`playbook doctor` says what to mend")
        }
        (JobState::Failed | JobState::Unreadable, _) => {
            let text = format!("{name}: could not be learned: {why}");
            DoctorCheck::bad(TOPIC, text, "`playbook jobs retry --all` tries it again")
        }
    }
}

fn refused(past: &Past, words: &QueryWords) -> Vec<DoctorCheck> {
    let dropped = past.jobs.iter().flat_map(|row| {
        let dropped = row.dropped.iter();
        dropped.map(move |dropped| (row, dropped))
    });
    let found = dropped.filter(|(_, dropped)| words.are_in(&dropped.what));
    let told = found.take(NAMED).map(|(row, dropped)| {
        let what = quoted(&dropped.what);
        let text = format!("not accepted: {what}: {}", dropped.reason);
        DoctorCheck::note("reply", text, &log(&row.job))
    });
    told.collect()
}
