//! Screens key points before a session is given them: those a curator asks for, and those
//! that came with the file. What looks like an attack goes into quarantine.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::apply::PlaybookEdit;
use super::context::Worker;
use super::outcome::{Outcome, Step};
use super::progress::{HeldBack, Job};
use super::{Result, status};
use crate::digest::name_of;
use crate::fsx::FsError;
use crate::memory::Held;
use crate::playbook::ops::{named_points, written_text};
use crate::playbook::render::Admission;
use crate::playbook::{Due, DueChange, Id, Playbook, Point, PointChange, PointState, Section};
use crate::redact::Masker;
use crate::reflect::gates::{Proposal, Verdict};
use crate::reflect::tellable::RefusedText;
use crate::screen;
use crate::store::Store;
use crate::trust::{self, TrustMark, TrustRecord, TrustRequest, TrustStanding, TrustWord, outside};

/// The prefix of the quarantine's key for a point from the file; the point's hash follows.
const FROM_FILE: &str = "file:";
/// The quarantine's value for the job if the agent ran a command.
pub(crate) const BY_AGENT: &str = "agent";
pub(crate) const BY_USER: &str = "user";

pub(super) const STRICT: &str = "new in the file, and `trust.strict` is set";
/// The reason for holding a point back that hooks could not mask.
pub(super) const OWN_PATTERN: &str = "one of `secrets.patterns` finds a secret in it";
pub(super) const AGAIN: &str = "was held back before";
pub(crate) const ASKED: &str = "waits for your OK, as `curator.approval` says";
const WAITS: &str = "waits for your OK";
const PROPOSED: &str = "only proposed; it waits for your word";
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
    Cue {
        name: String,
    },
    Memory {
        /// A text that hooks would have shown.
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

    /// Returns `None` if accepting it changes nothing: a point of the file stays as it is.
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
                brought: None,
            },
            Self::Operation(operation) => PlaybookEdit::of_operation(operation).ok()?,
        };
        Some(edit.with_text(words))
    }
}

/// Returns the operations that look like an attack, or wait for the user's OK.
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

pub(super) fn held_of(job: &Job) -> Vec<Held> {
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

pub(super) fn hold_back(context: &Worker, project: &Path, held: &[Held]) -> Result {
    let (mut memory, name) = (context.memory(), project.to_string_lossy());
    memory.hold_back(&name, held, &|_: &str| false, context.now())?;
    drop(memory);
    recount(context, project)
}

/// Keeps for the hooks how much of a project is in quarantine.
pub(crate) fn recount(context: &Worker, project: &Path) -> Result {
    let name = project.to_string_lossy();
    let waiting = context.memory().quarantine(&name)?.len() as u64;
    let now = context.now();
    Ok(status::tell_quarantine(
        context.paths(),
        project,
        waiting,
        now,
    )?)
}

/// Returns why it is held. The agent may have read a page that made it run the command, so the text
/// is screened as one that came with a file. `by` says whose it is.
pub(crate) fn hold_foreign(
    context: &Worker,
    project: &Path,
    edit: &PlaybookEdit,
    by: &str,
) -> Result<Option<String>> {
    let objection = edit.text().and_then(screen::objection);
    if let Some(why) = &objection {
        hold_edit(context, project, edit, by, why)?;
    }
    Ok(objection)
}

/// Holds back what was proposed, whatever it says; returns why. `by` says whose it is.
pub(crate) fn propose(
    context: &Worker,
    project: &Path,
    edit: &PlaybookEdit,
    by: &str,
) -> Result<String> {
    let objection = edit.text().and_then(screen::objection);
    let why = objection.unwrap_or_else(|| PROPOSED.to_owned());
    hold_edit(context, project, edit, by, &why)?;
    Ok(why)
}

fn hold_edit(context: &Worker, project: &Path, edit: &PlaybookEdit, by: &str, why: &str) -> Result {
    let key = to_json(&What::Edit(edit.clone())).to_string();
    let masker = masker(context, project)?;
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

/// Ends a job whose playbook is outside of an untrusted project, behind a symlink.
pub(super) fn may_follow(context: &Worker, project: &Path) -> Step {
    match outside::refused(Some(context.paths()), project) {
        Some(why) => Err(Outcome::wait(&why)),
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

/// Returns why a cue of the file is held back; where the user `accepts` it, what speaks against it.
pub(super) fn of_cue(due: &Due, masker: &Masker, accepts: bool) -> Option<String> {
    let told = due.told();
    let has_secret = || masker.own_finds(&told).then(|| OWN_PATTERN.to_owned());
    let waits = || (!accepts).then(|| format!("{WAITS}: its cue came with the file, {told}"));
    let objection = screen::objection_to_cue(&due.when);
    objection.or_else(has_secret).or_else(waits)
}

/// Returns `true` if sessions are given a point, or if no rule objects to it and the user has not
/// decided yet. (An old playbook's votes count also before `playbook trust`.)
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

/// Returns `true` for a secret that only the user's patterns find, which hooks do not have.
pub(super) fn has_own_secret(masker: &Masker, point: &Point<'_>) -> bool {
    masker.own_finds(point.text) || masker.own_finds(point.name)
}

/// Returns a point as the quarantine keeps it: masked, under a key of what it is in the file.
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

pub(super) fn masker(context: &Worker, project: &Path) -> Result<Masker> {
    Ok(context.config_for(project)?.secrets.secrecy()?.masker)
}

pub(super) fn key(mark: &TrustMark) -> String {
    format!("{FROM_FILE}{}", mark.hex())
}

fn to_json(what: &What) -> Value {
    // Texts and values of our own: this cannot fail.
    serde_json::to_value(what).unwrap_or_default()
}

/// The longest wait for a playbook that is only to be screened.
const SHORT_WAIT: Duration = Duration::from_secs(5);
/// The number of key points screened at a time; the rest is screened, and given, the next time.
const AT_ONCE: usize = 10_000;
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Screened {
    pub(crate) known: usize,
    pub(crate) held: usize,
    pub(crate) later: usize,
}

/// Begins the record of a project whose playbook is about to be begun by us.
pub(super) fn birth(context: &Worker, project: &Path) -> Result<(), FsError> {
    let standing = TrustStanding::of(context.paths(), project);
    if matches!(standing, TrustStanding::Foreign | TrustStanding::Replaced) {
        let mut record = TrustRecord::new(TrustWord::Trusted);
        record.bind(project);
        record.write(&context.paths().trust_record(project))?;
    }
    Ok(())
}

/// Brings the record up to date with a job's changes; the caller holds the playbook.
pub(super) fn after_job(context: &Worker, job: &Job, playbook: &Playbook) -> Result {
    let changes = match job.edit {
        // What they bring back may be anybody's.
        Some(PlaybookEdit::Undo { .. } | PlaybookEdit::Restore { .. }) => &[],
        _ => job.progress.changes.as_deref().unwrap_or_default(),
    };
    bring_up_to_date(context, &job.ticket.project, playbook, changes)
}

/// Returns what changes wrote: texts and cues, not those that came of a point whose cue waits.
fn written(changes: &[PointChange], record: &TrustRecord) -> HashSet<TrustMark> {
    let text = |state: &PointState| {
        let section = Section::from_word(&state.section)?;
        Some(TrustMark::of(section, state.name(), state.text()))
    };
    let cue = |state: &PointState| {
        let due = state.due();
        (!due.is_blank()).then(|| TrustMark::of_cue(state.name(), due))
    };
    let befores = changes.iter().filter_map(|change| change.before.as_ref());
    let is_waiting =
        |state: &&PointState| cue(state).is_some_and(|mark| record.says(&mark) != Admission::Given);
    let waiting: Vec<&Due> = befores.filter(is_waiting).map(PointState::due).collect();
    let mut marks = HashSet::new();
    for change in changes {
        let (before, Some(after)) = (change.before.as_ref(), change.after.as_ref()) else {
            continue;
        };
        marks.extend(text(after).filter(|mark| before.and_then(text) != Some(*mark)));
        let is_new = before.is_none_or(|before| before.due() != after.due());
        marks.extend(cue(after).filter(|_| is_new && !waiting.contains(&after.due())));
    }
    marks
}

pub(super) fn requested(context: &Worker) -> Result<(), FsError> {
    for TrustRequest { file, project } in trust::screen_requests(context.paths())? {
        if context.is_settled(&file) {
            continue;
        }
        context.settle_request(file);
        if let Some(project) = project {
            if let Err(error) = screen_project(context, &project) {
                context.log("worker", &format!("not screened: {error}"));
            }
            context.make_ready(&project);
        }
    }
    Ok(())
}

fn screen_project(context: &Worker, project: &Path) -> Result {
    let store = Store::of(context.paths(), project);
    if !TrustStanding::of(context.paths(), project).is_trusted() || store.bytes()?.is_none() {
        return Ok(());
    }
    let locked = store.lock(SHORT_WAIT)?;
    bring_up_to_date(context, project, &locked.load()?, &[])
}

fn bring_up_to_date(
    context: &Worker,
    project: &Path,
    playbook: &Playbook,
    changes: &[PointChange],
) -> Result {
    let arrivals = if context.config.trust.strict {
        Arrivals::Wait
    } else {
        Arrivals::Screened
    };
    let (record, arrivals) = match TrustStanding::of(context.paths(), project) {
        TrustStanding::Recorded(record) => (record, arrivals),
        TrustStanding::Born => (TrustRecord::new(TrustWord::Trusted), Arrivals::Accepted),
        _ => return Ok(()),
    };
    let ours = written(changes, &record);
    update(context, project, playbook, record, &ours, arrivals).map(drop)
}

pub(crate) fn trust(context: &Worker, project: &Path) -> Result<Screened> {
    let path = context.paths().trust_record(project);
    // What was screened before trust was taken back needs no second look.
    let earlier = TrustRecord::read(&path).ok().flatten();
    let mut record = earlier.unwrap_or_else(|| TrustRecord::new(TrustWord::Trusted));
    record.word = TrustWord::Trusted;
    record.bind(project);
    let store = Store::of(context.paths(), project);
    if store.bytes()?.is_none() {
        record.write(&path)?;
        return Ok(Screened::default());
    }
    let locked = store.lock(super::LOCK_WAIT)?;
    let (playbook, arrivals) = (locked.load()?, Arrivals::Accepted);
    update(
        context,
        project,
        &playbook,
        record,
        &HashSet::new(),
        arrivals,
    )
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrivals {
    /// The user said so: those that no rule objects to are used.
    Accepted,
    /// Cues wait for the user.
    Screened,
    /// Points wait as well.
    Wait,
}

/// A part of a key point that is trusted by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PointPart {
    Text,
    Cue,
}

fn parts(point: Point<'_>) -> impl Iterator<Item = (Point<'_>, PointPart, TrustMark)> {
    let text = TrustMark::of(point.section, point.name, point.text);
    let cue = point.due().map(|due| TrustMark::of_cue(point.name, due));
    let cue = cue.map(|mark| (point, PointPart::Cue, mark));
    std::iter::once((point, PointPart::Text, text)).chain(cue)
}

/// The quarantine stores a point without its secrets, so only the hash in its key identifies it.
pub(crate) fn held_point<'p>(
    playbook: &'p Playbook,
    key_of_row: &str,
) -> Option<(Point<'p>, PointPart)> {
    let mut parts = playbook.points().flat_map(parts);
    let found = parts.find(|(_, _, mark)| key(mark) == key_of_row);
    found.map(|(point, part, _)| (point, part))
}

pub(crate) fn admit(
    context: &Worker,
    project: &Path,
    (name, text): (&str, &str),
    part: PointPart,
) -> Result {
    let path = context.paths().trust_record(project);
    let store = Store::of(context.paths(), project);
    let locked = store.lock(super::LOCK_WAIT)?;
    // Nothing of another checkout was in the review.
    if let Some(mut record) = TrustRecord::read(&path)?
        && !record.is_of_another(project)
    {
        let playbook = locked.load()?;
        let points = playbook.points();
        let points = points.filter(|point| point.name == name && point.text == text);
        let parts = points.flat_map(parts).filter(|(_, own, _)| *own == part);
        let accepted = parts.map(|(.., mark)| mark);
        record.know(&accepted.collect::<Vec<_>>());
        record.write(&path)?;
    }
    Ok(())
}

/// Makes `record` say all about a playbook, and writes it. `ours` are known; `arrivals` decides on
/// the others that are not known yet.
fn update(
    context: &Worker,
    project: &Path,
    playbook: &Playbook,
    mut record: TrustRecord,
    ours: &HashSet<TrustMark>,
    arrivals: Arrivals,
) -> Result<Screened> {
    let name = project.to_string_lossy();
    let waiting: HashSet<String> = context.memory().waiting(&name)?.into_iter().collect();
    let masker = masker(context, project)?;
    let present: Vec<_> = playbook.points().flat_map(parts).collect();
    let (mut known, mut held, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    let mut left = AT_ONCE;
    let strict = (arrivals == Arrivals::Wait).then_some(STRICT);
    let mut screened = Screened::default();
    for &(point, part, mark) in &present {
        let is_text = part == PointPart::Text;
        let said = if ours.contains(&mark) {
            Admission::Given
        } else {
            record.says(&mark)
        };
        let otherwise = match said {
            Admission::Given | Admission::Stale => {
                known.push(mark);
                screened.known += usize::from(is_text);
                continue;
            }
            // What is held back waits for the user, also when it was dropped and has come back.
            Admission::Held if left == 0 || waiting.contains(&key(&mark)) => {
                held.push(mark);
                screened.held += usize::from(is_text);
                continue;
            }
            Admission::Unknown if left == 0 => {
                screened.later += usize::from(is_text);
                continue;
            }
            Admission::Held => Some(AGAIN),
            Admission::Unknown => strict,
        };
        left -= 1;
        let reasons = if let Some(due) = point.due().filter(|_| !is_text) {
            of_cue(due, &masker, arrivals == Arrivals::Accepted)
        } else {
            let own = || has_own_secret(&masker, &point).then_some(OWN_PATTERN);
            let otherwise = || own().or(otherwise).map(str::to_owned);
            of_file(point.name, point.text).or_else(otherwise)
        };
        if let Some(reasons) = reasons {
            held.push(mark);
            screened.held += usize::from(is_text);
            rows.push(from_file(&mark, &point, part, reasons, &masker));
        } else {
            known.push(mark);
            screened.known += usize::from(is_text);
        }
    }
    record.know(&known);
    record.hold(&held);
    record.forget_absent(&present.iter().map(|(_, _, mark)| mark).collect());
    record.bind(project);
    let keys: HashSet<String> = held.iter().map(key).collect();
    let has_left = |key: &str| !keys.contains(key);
    context
        .memory()
        .hold_back(&name, &rows, &has_left, context.now())?;
    let now_waiting = context.memory().waiting(&name)?.len();
    // Hooks can do without; no job fails for it.
    if now_waiting != waiting.len()
        && let Err(error) =
            status::tell_quarantine(context.paths(), project, now_waiting as u64, context.now())
    {
        context.log("worker", &error.to_string());
    }
    let path = context.paths().trust_record(project);
    if TrustRecord::read(&path).ok().flatten().as_ref() != Some(&record) {
        record.write(&path)?;
    }
    Ok(screened)
}
