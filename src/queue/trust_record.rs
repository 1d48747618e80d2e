//! Keeps what the trust record of a project says of its key points, and screens those it
//! says nothing of. It is written under the lock of the project's playbook.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use super::QueueError;
use super::context::Surroundings;
use super::context::WorkerContext;
use super::edit::PlaybookEdit;
use super::progress::JobInProgress;
use super::screening::{
    AGAIN, OWN_PATTERN, STRICT, from_file, has_own_secret, key, masker, of_cue, of_file,
};
use super::status;
use crate::fsx::FsError;
use crate::playbook::render::Admission;
use crate::playbook::{Due, Playbook, Point, PointChange, PointState, Section};
use crate::store::Store;
use crate::trust::request::{self, TrustRequest};
use crate::trust::{TrustMark, TrustRecord, TrustStanding, TrustWord};

/// How long the worker waits for a playbook it only wants to screen.
const SHORT_WAIT: Duration = Duration::from_secs(5);
/// The number of key points of one file that are screened at a time, all under the playbook's lock; the
/// rest is not given, and screened the next time.
const AT_ONCE: usize = 10_000;
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Screened {
    pub(crate) known: usize,
    pub(crate) held: usize,
    pub(crate) later: usize,
}

/// Begins the record of a project whose playbook is about to be begun by us.
pub(super) fn birth(surroundings: &Surroundings, project: &Path) -> Result<(), FsError> {
    let standing = TrustStanding::of(&surroundings.paths, project);
    if matches!(standing, TrustStanding::Foreign | TrustStanding::Replaced) {
        let mut record = TrustRecord::new(TrustWord::Trusted);
        record.bind(project);
        record.write(&surroundings.paths.trust_record(project))?;
    }
    Ok(())
}

/// Brings the record up to date with what a job did to the playbook; the caller holds its
/// lock.
pub(super) fn after_job(
    context: &WorkerContext,
    job: &JobInProgress,
    playbook: &Playbook,
) -> Result<(), QueueError> {
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

pub(super) fn requested(context: &WorkerContext) -> Result<(), FsError> {
    for TrustRequest { file, project } in request::all(context.paths())? {
        if context.is_settled(&file) {
            continue;
        }
        context.settle_request(file);
        if let Some(project) = project {
            if let Err(error) = screen(context, &project) {
                context.log("worker", &format!("not screened: {error}"));
            }
            context.surroundings.make_ready(&project);
        }
    }
    Ok(())
}

fn screen(context: &WorkerContext, project: &Path) -> Result<(), QueueError> {
    let store = Store::of(context.paths(), project);
    if !TrustStanding::of(context.paths(), project).is_trusted() || store.bytes()?.is_none() {
        return Ok(());
    }
    let locked = store.lock(SHORT_WAIT)?;
    bring_up_to_date(context, project, &locked.load()?, &[])
}

fn bring_up_to_date(
    context: &WorkerContext,
    project: &Path,
    playbook: &Playbook,
    changes: &[PointChange],
) -> Result<(), QueueError> {
    let (record, arrivals) = match TrustStanding::of(context.paths(), project) {
        TrustStanding::Recorded(record) if context.surroundings.config.trust.strict => {
            (record, Arrivals::Wait)
        }
        TrustStanding::Recorded(record) => (record, Arrivals::Screened),
        TrustStanding::Born => (TrustRecord::new(TrustWord::Trusted), Arrivals::Accepted),
        TrustStanding::Foreign
        | TrustStanding::Replaced
        | TrustStanding::Untrusted
        | TrustStanding::Unreadable(_) => {
            return Ok(());
        }
    };
    let ours = written(changes, &record);
    update(context, project, playbook, record, &ours, arrivals).map(drop)
}

pub(crate) fn trust(context: &WorkerContext, project: &Path) -> Result<Screened, QueueError> {
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
    let ours = HashSet::new();
    let playbook = locked.load()?;
    update(
        context,
        project,
        &playbook,
        record,
        &ours,
        Arrivals::Accepted,
    )
}

/// What becomes of points and cues that came with the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrivals {
    /// All that nothing speaks against are used: the user said so.
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

/// Returns the parts of a key point, each with its mark.
fn parts(point: Point<'_>) -> impl Iterator<Item = (Point<'_>, PointPart, TrustMark)> {
    let text = TrustMark::of(point.section, point.name, point.text);
    let cue = point.due().map(|due| TrustMark::of_cue(point.name, due));
    let cue = cue.map(|mark| (point, PointPart::Cue, mark));
    std::iter::once((point, PointPart::Text, text)).chain(cue)
}

/// Finds the point of the file of which a part is held back under `key`.
///
/// The quarantine has it without its secrets, so that only its hash tells which it is.
pub(crate) fn held_point<'p>(
    playbook: &'p Playbook,
    key_of_row: &str,
) -> Option<(Point<'p>, PointPart)> {
    let mut parts = playbook.points().flat_map(parts);
    let found = parts.find(|(_, _, mark)| key(mark) == key_of_row);
    found.map(|(point, part, _)| (point, part))
}

pub(crate) fn admit(
    surroundings: &Surroundings,
    project: &Path,
    (name, text): (&str, &str),
    part: PointPart,
) -> Result<(), QueueError> {
    let path = surroundings.paths.trust_record(project);
    let store = Store::of(&surroundings.paths, project);
    let locked = store.lock(super::LOCK_WAIT)?;
    // Nothing of another checkout was in the review.
    if let Some(mut record) = TrustRecord::read(&path)?
        && !record.is_of_another(project)
    {
        let playbook = locked.load()?;
        let accepted = playbook
            .points()
            .filter(|point| point.name == name && point.text == text)
            .flat_map(parts)
            .filter_map(|(_, own, mark)| (own == part).then_some(mark));
        record.know(&accepted.collect::<Vec<_>>());
        record.write(&path)?;
    }
    Ok(())
}

/// Makes `record` say all there is to say of a playbook, and writes it.
///
/// `ours` are known; `arrivals` says what becomes of the others that are not known yet.
fn update(
    context: &WorkerContext,
    project: &Path,
    playbook: &Playbook,
    mut record: TrustRecord,
    ours: &HashSet<TrustMark>,
    arrivals: Arrivals,
) -> Result<Screened, QueueError> {
    let name = project.to_string_lossy();
    let waiting: HashSet<String> = context.memory().waiting(&name)?.into_iter().collect();
    let masker = masker(&context.surroundings, project)?;
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
            Admission::Held => Some(AGAIN),
            Admission::Unknown if left == 0 => {
                screened.later += usize::from(is_text);
                continue;
            }
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
