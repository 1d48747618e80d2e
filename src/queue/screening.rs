//! Screens key points before a session is given them: those a curator asks for, and those
//! that came with the file. What looks like an attack goes into quarantine.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::context::Surroundings;
use super::context::WorkerContext;
use super::edit::PlaybookEdit;
use super::outcome::Stop;
use super::progress::{HeldBack, JobInProgress};
use super::trust_record::PointPart;
use super::{QueueError, status};
use crate::digest::name_of;
use crate::memory::{Held, MemoryError};
use crate::playbook::ops::{named_points, written_text};
use crate::playbook::render::Admission;
use crate::playbook::{Due, DueChange, Id, Playbook, Point, Section};
use crate::redact::Masker;
use crate::reflect::gates::{Proposal, Verdict};
use crate::reflect::tellable::RefusedText;
use crate::screen;
use crate::trust::{TrustMark, TrustStanding, outside};

/// How the key of a point from the file begins in the quarantine; its hash follows.
const FROM_FILE: &str = "file:";
/// What stands in the quarantine in the place of a job where the agent ran a command.
pub(crate) const BY_AGENT: &str = "agent";
pub(crate) const BY_USER: &str = "user";

/// Why a harmless point is held back.
pub(super) const STRICT: &str = "new in the file, and `trust.strict` is set";
/// Why a point is held back that hooks could not mask.
pub(super) const OWN_PATTERN: &str = "one of `secrets.patterns` finds a secret in it";
/// Why a point is held back that was so before, and that nothing speaks against now.
pub(super) const AGAIN: &str = "was held back before";
/// Why an operation waits that nothing speaks against.
pub(crate) const ASKED: &str = "waits for your OK, as `curator.approval` says";
/// How the reasons of all such operations begin.
const WAITS: &str = "waits for your OK";
/// Why something waits that was only proposed.
const PROPOSED: &str = "only proposed; it waits for your word";
/// Why something is held back whatever the screen says of it.
const OTHER_REASONS: [&str; 4] = [STRICT, OWN_PATTERN, AGAIN, PROPOSED];
/// Under this key an operation that waits has the texts of the points that it is about.
const WAS: &str = "was";
/// The numbers of operations that wait begin here, beyond those that look like an attack.
const FIRST_ASKED: u64 = 100;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum What {
    Operation(Value),
    Edit(PlaybookEdit),
    Point {
        name: String,
        text: String,
    },
    /// The cue of a point of the file.
    Cue {
        name: String,
    },
    Memory {
        /// What hooks would have told.
        text: String,
    },
}

impl What {
    /// The point that was changed or removed since an operation about it was asked for.
    pub(crate) fn changed_since(&self, playbook: &Playbook) -> Option<String> {
        let Self::Operation(operation) = self else {
            return None;
        };
        let was = operation.get(WAS)?.as_object()?;
        let is_changed = |(name, text): &(&String, &Value)| {
            let point = playbook.named(name);
            point.is_none_or(|point| point.name != *name || Some(point.text) != text.as_str())
        };
        was.iter().find(is_changed).map(|(name, _)| name.clone())
    }

    /// What the user does by accepting it, with other words for it if there are any.
    ///
    /// `None` when nothing has to be changed: a point of the file stays as it is.
    pub(crate) fn as_edit(&self, words: Option<&str>) -> Option<PlaybookEdit> {
        let due = DueChange::default();
        let edit = match self {
            Self::Point { name, .. } => PlaybookEdit::Change {
                point: name.clone(),
                text: Some(words?.to_owned()),
                section: None,
                due,
            },
            Self::Cue { .. } => return None,
            Self::Edit(edit) => edit.clone(),
            Self::Memory { text } => PlaybookEdit::Add {
                text: text.clone(),
                section: Section::Others,
                due,
            },
            Self::Operation(operation) => PlaybookEdit::of_operation(operation).ok()?,
        };
        Some(edit.with_text(words))
    }
}

/// Returns the operations that are held back: what reads like an attack, and what waits for the
/// user's OK, with the texts of the points it is about.
pub(super) fn held(proposals: &[Proposal], playbook: &Playbook) -> Vec<HeldBack> {
    let held = (0..).zip(proposals).filter_map(|(seq, one)| {
        let mut operation = one.operation.clone();
        let (seq, reasons) = match &one.verdict {
            Verdict::Quarantine(why) => (seq, why.clone()),
            Verdict::Hold(why) => {
                let named = named_points(&operation).filter_map(|name| playbook.named(name));
                let was: Map<String, Value> = named
                    .map(|point| (point.name.to_owned(), point.text.into()))
                    .collect();
                operation[WAS] = was.into();
                (FIRST_ASKED + seq, why.clone())
            }
            Verdict::Apply | Verdict::Refuse(_) => return None,
        };
        Some(HeldBack {
            seq,
            operation,
            reasons,
        })
    });
    held.collect()
}

pub(super) fn held_of(job: &JobInProgress) -> Vec<Held> {
    let id = job.ticket.id.as_str();
    let held = job.progress.held.iter().map(|held| Held {
        key: format!("{id}:{}", held.seq),
        job: id.to_owned(),
        what: to_json(&What::Operation(held.operation.clone())),
        text: written_text(&held.operation).to_owned(),
        reasons: held.reasons.clone(),
    });
    held.collect()
}

/// What the job `id` did not remember, as the database keeps it.
pub(crate) fn held_memories(id: &str, refused: &[RefusedText]) -> Vec<Held> {
    let held = (0_u64..).zip(refused).map(|(seq, refused)| {
        let text = refused.text.clone();
        Held {
            key: format!("{id}:memory:{seq}"),
            job: id.to_owned(),
            what: to_json(&What::Memory { text: text.clone() }),
            text,
            reasons: refused.why.clone(),
        }
    });
    held.collect()
}

/// Holds something back beside all that is held back already.
pub(super) fn hold_back(
    context: &WorkerContext,
    project: &Path,
    held: &[Held],
) -> Result<(), QueueError> {
    let nothing_left = |_: &str| false;
    let name = project.to_string_lossy();
    context
        .memory()
        .hold_back(&name, held, &nothing_left, context.now())?;
    recount(context, project)
}

/// Keeps for the hooks how much of a project is in quarantine.
pub(crate) fn recount(context: &WorkerContext, project: &Path) -> Result<(), QueueError> {
    let waiting = context
        .memory()
        .quarantine(&project.to_string_lossy())?
        .len();
    Ok(status::tell_quarantine(
        context.paths(),
        project,
        waiting as u64,
        context.now(),
    )?)
}

/// Holds back what was not asked for by the user, if it looks like an attack; returns why.
///
/// A page the agent has read can make it run a command, and a model can be led astray: so the
/// text is screened as one that came with a file. `by` says whose it is.
pub(crate) fn hold_foreign(
    context: &WorkerContext,
    project: &Path,
    edit: &PlaybookEdit,
    by: &str,
) -> Result<Option<String>, QueueError> {
    let objection = edit.text().and_then(screen::objection);
    if let Some(why) = &objection {
        hold_edit(context, project, edit, by, why)?;
    }
    Ok(objection)
}

/// Holds back what was proposed, whatever it says; returns why. `by` says whose it is.
pub(crate) fn propose(
    context: &WorkerContext,
    project: &Path,
    edit: &PlaybookEdit,
    by: &str,
) -> Result<String, QueueError> {
    let objection = edit.text().and_then(screen::objection);
    let why = objection.unwrap_or_else(|| PROPOSED.to_owned());
    hold_edit(context, project, edit, by, &why)?;
    Ok(why)
}

fn hold_edit(
    context: &WorkerContext,
    project: &Path,
    edit: &PlaybookEdit,
    by: &str,
    why: &str,
) -> Result<(), QueueError> {
    let key = to_json(&What::Edit(edit.clone())).to_string();
    let masker = masker(&context.surroundings, project)?;
    let text = edit.text().unwrap_or_default();
    let held = Held {
        key: format!("{by}:{}", name_of(key.as_bytes())),
        job: by.to_owned(),
        what: to_json(&What::Edit(edit.masked(&masker))),
        text: masker.mask(text).into_owned(),
        reasons: why.to_owned(),
    };
    hold_back(context, project, &[held])
}

/// Stops a job whose playbook lies outside of an untrusted project, behind a symlink.
pub(super) fn may_follow(surroundings: &Surroundings, project: &Path) -> Result<(), Stop> {
    match outside::refused(Some(&surroundings.paths), project) {
        Some(why) => Err(Stop::waits(&why)),
        None => Ok(()),
    }
}

pub(super) fn of_file(name: &str, text: &str) -> Option<String> {
    screen::objection(text).or_else(|| {
        // A name of ours is a word and a number; another may be a sentence.
        let is_sentence = Id::parse(name).is_none();
        is_sentence.then(|| screen::objection(&name.replace(['-', '_', '.'], " ")))?
    })
}

/// Returns why a cue that came with the file is held back; where the user `accepts` them only
/// what speaks against it.
pub(super) fn of_cue(due: &Due, masker: &Masker, accepts: bool) -> Option<String> {
    let told = due.told();
    let has_secret = || masker.own_finds(&told).then(|| OWN_PATTERN.to_owned());
    let waits = || (!accepts).then(|| format!("{WAITS}: its cue came with the file, {told}"));
    let objection = screen::objection_to_cue(&due.when);
    objection.or_else(has_secret).or_else(waits)
}

/// Returns `true` if a point may play a part when a session is judged: one that sessions are
/// given, or one that nothing speaks against but that nobody has decided on it yet. (An old
/// playbook's votes count also before `playbook trust`.)
pub(super) fn may_be_used(standing: &TrustStanding, point: &Point<'_>) -> bool {
    match standing.admits(point.section, point.name, point.text) {
        Admission::Given | Admission::Stale => true,
        Admission::Held => false,
        Admission::Unknown => {
            !matches!(standing, TrustStanding::Untrusted)
                && of_file(point.name, point.text).is_none()
        }
    }
}

/// Returns `true` if a point of the file holds a secret that only the user's own patterns know:
/// hooks have no engine for those.
pub(super) fn has_own_secret(masker: &Masker, point: &Point<'_>) -> bool {
    masker.own_finds(point.text) || masker.own_finds(point.name)
}

/// Judges anew what earlier rules held back: what passes now is offered to the user, and never
/// applied by itself.
pub(super) fn screen_anew(context: &WorkerContext) -> Result<(), MemoryError> {
    let rows = context.memory().held_by_earlier_rules()?;
    if rows.is_empty() {
        return Ok(());
    }
    let passing = rows.iter().filter(|row| passes_now(&row.held));
    let passing: Vec<u64> = passing.map(|row| row.id).collect();
    context.memory().screened_anew(&rows, &passing)
}

/// Returns `true` if something was held back for how it reads, and would not be now.
fn passes_now(held: &Held) -> bool {
    let name = match serde_json::from_value(held.what.clone()) {
        Ok(What::Point { name, .. }) => name,
        _ => String::new(),
    };
    let is_asked = held.reasons.starts_with(WAITS);
    !is_asked
        && !OTHER_REASONS.contains(&held.reasons.as_str())
        && of_file(&name, &held.text).is_none()
}

/// A point of the file as the quarantine keeps it: without its secrets, under a key of what
/// it is in the file.
pub(super) fn from_file(
    mark: &TrustMark,
    point: &Point<'_>,
    part: PointPart,
    reasons: String,
    masker: &Masker,
) -> Held {
    let text = masker.mask(point.text).into_owned();
    let name = masker.mask(point.name).into_owned();
    let what = match part {
        PointPart::Text => What::Point {
            name,
            text: text.clone(),
        },
        PointPart::Cue => What::Cue { name },
    };
    Held {
        key: key(mark),
        job: String::new(),
        what: to_json(&what),
        text,
        reasons,
    }
}

pub(super) fn masker(surroundings: &Surroundings, project: &Path) -> Result<Masker, QueueError> {
    Ok(surroundings.config_for(project)?.secrets.secrecy()?.masker)
}

pub(super) fn key(mark: &TrustMark) -> String {
    format!("{FROM_FILE}{}", mark.hex())
}

fn to_json(what: &What) -> Value {
    // Texts and values of our own: this cannot fail.
    serde_json::to_value(what).unwrap_or_default()
}
