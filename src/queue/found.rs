//! The playbook that a job starts from, as it is now.

use std::borrow::Cow;
use std::collections::HashSet;

use super::apply::Work;
use super::context::WorkerContext;
use super::edit::PlaybookEdit;
use super::job::JobId;
use super::progress::JobInProgress;
use super::spool::job_file;
use super::stop::Stop;
use super::surroundings::Surroundings;
use super::{record, screening};
use crate::config::Config;
use crate::fsx;
use crate::playbook::diff::diff;
use crate::playbook::votes::LocalVotes;
use crate::playbook::{Playbook, PointChange};
use crate::store::{Loaded, MAX_FILE_BYTES, Snapshots, Store, StoreError, votes};
use crate::trust::TrustStanding;

/// Why a change of the user's in the file was made.
const REASON: &str = "edited in the file";

pub(super) struct FoundPlaybook {
    pub(super) playbook: Playbook,
    /// The playbook in the file, without `votes`.
    pub(super) file: Playbook,
    pub(super) votes: LocalVotes,
    /// What the file said.
    pub(super) bytes: Option<Vec<u8>>,
    /// The same without secrets, when it is worth keeping.
    pub(super) original: Option<Vec<u8>>,
    pub(super) is_readable: bool,
    /// Whether the file held secrets, which are masked here: neither history nor snapshots
    /// get them, and the file loses them with the next write.
    pub(super) held_secrets: bool,
    /// The names of points that play no part when a session is judged.
    pub(super) unused: HashSet<String>,
}

/// The playbook as it is now. A restore may also replace a file that cannot be read: it
/// starts from what the file was when it last could be.
pub(super) fn read(
    context: &WorkerContext,
    job: &JobInProgress,
    work: &Work<'_>,
    snapshots: &Snapshots,
    config: &Config,
) -> Result<FoundPlaybook, Stop> {
    let masker = config.secrets.secrecy()?.masker;
    let project = &job.ticket.project;
    let paths = context.paths();
    let store = job.store(paths);
    let (loaded, is_readable) = read_as_is(&store, work, snapshots)?;
    let Loaded {
        playbook: mut file,
        bytes,
        is_of_another_age,
    } = loaded;
    let votes = votes::of(paths, project, &file, &mut context.memory())?;
    let standing = TrustStanding::of(paths, project);
    let points = file.points();
    let unused = points.filter(|point| !screening::may_be_used(&standing, point));
    let unused = unused
        .map(|point| masker.mask(point.name).into_owned())
        .collect();
    let original = bytes.as_ref().filter(|_| is_of_another_age || !is_readable);
    let original = original.map(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        match masker.mask_json(&text) {
            Cow::Owned(clean) => clean.into_bytes(),
            Cow::Borrowed(_) => bytes.clone(),
        }
    });
    let held_secrets = file.mask_secrets(&masker);
    Ok(FoundPlaybook {
        playbook: file.clone().with_votes(&votes),
        file,
        votes,
        held_secrets,
        bytes,
        original,
        is_readable,
        unused,
    })
}

/// The playbook, and whether that is what the file says: a restore starts from what we kept
/// last where the file cannot be read or is away.
fn read_as_is(
    store: &Store,
    work: &Work<'_>,
    snapshots: &Snapshots,
) -> Result<(Loaded, bool), Stop> {
    let is_restore = matches!(work, Work::Edit(PlaybookEdit::Restore { .. }));
    match store.read() {
        Err(StoreError::Corrupt { .. } | StoreError::Away { .. }) if is_restore => {
            let last = snapshots.last_playbook()?;
            let last = last.unwrap_or_else(Playbook::empty);
            let loaded = Loaded {
                playbook: last,
                bytes: fsx::read_if_there(store.path(), MAX_FILE_BYTES)?,
                is_of_another_age: false,
            };
            Ok((loaded, false))
        }
        loaded => Ok((loaded?, true)),
    }
}

/// Records what the user changed in the file itself since the last job, before `job` changes more:
/// it is kept, and recorded as a job of its own.
///
/// What is recorded becomes a snapshot, so that it is found once. The name it is recorded
/// under is with the job before, so that a restart records it once.
pub(super) fn note_hand_edit(
    context: &WorkerContext,
    job: &mut JobInProgress,
    found: &FoundPlaybook,
    snapshots: &Snapshots,
) -> Result<(), Stop> {
    let changes = since_last_time(&context.surroundings, found, snapshots)?;
    if changes.is_empty() {
        return Ok(());
    }
    let earlier = match job.progress.hand_edit.take() {
        Some(id) if snapshots.read(id.as_str())?.is_none() => Some(id),
        _ => None,
    };
    let id = earlier.unwrap_or_else(|| JobId::new(context.now(), rand::random()));
    job.progress.hand_edit = Some(id.clone());
    context.save(job)?;
    record::hand_edit(context, job, &id, &found.file, &changes)?;
    snapshots.keep(id.as_str(), &found.file.to_bytes())?;
    Ok(())
}

fn since_last_time(
    surroundings: &Surroundings,
    found: &FoundPlaybook,
    snapshots: &Snapshots,
) -> Result<Vec<PointChange>, Stop> {
    let Some(last) = snapshots.last_playbook()? else {
        return Ok(Vec::new());
    };
    // A job that was stopped between file and snapshot was not the user. One that is not
    // in the spool came with the file: from a colleague, by a checkout.
    let spool = surroundings.paths.spool();
    let mut since = found.file.applied().filter(|job| !last.is_applied(job));
    if since.any(|job| JobId::parse(job).is_some_and(|job| job_file(&spool, &job).exists())) {
        return Ok(Vec::new());
    }
    let last = last.with_votes(&found.votes);
    Ok(diff(&last, &found.playbook, REASON, surroundings.now()))
}
