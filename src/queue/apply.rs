//! Applies a job to the playbook as it is now: under the lock, one atomic replace.

use std::time::Duration;

use super::edit::{Edit, EditError, Sources};
use super::evidence::SessionEvidence;
use super::files;
use super::job::JobId;
use super::progress::{ByHand, Job};
use super::shop::Shop;
use super::stages::Stop;
use crate::config::Config;
use crate::env::name;
use crate::paths::playbook_file;
use crate::playbook::change::Applied;
use crate::playbook::dedup::Threshold;
use crate::playbook::diff::diff;
use crate::playbook::learn::{Lesson, Policy, learn};
use crate::playbook::prune::Caps;
use crate::playbook::snapshots::Snapshots;
use crate::playbook::store::{Loaded, MAX_FILE_BYTES, Store, StoreError};
use crate::playbook::{Playbook, Skipped};

/// How long worker and CLI wait for the lock of a playbook.
const LOCK_WAIT: Duration = Duration::from_secs(60);

/// What is applied.
pub(super) enum Work<'a> {
    /// What a session taught.
    Lesson(&'a SessionEvidence),
    /// What the user wants.
    Edit(&'a Edit),
}

/// Applies a job.
///
/// The list of changes is stored with the job before the file is replaced; the file then
/// holds the job's id. After a restart the id tells whether that happened.
pub(super) fn apply(
    shop: &Shop,
    job: &mut Job,
    work: &Work<'_>,
    config: &Config,
) -> Result<(), Stop> {
    let id = job.ticket.id.as_str().to_owned();
    let snapshots = Snapshots::new(&shop.paths.project(&job.ticket.project));
    let store = Store::new(playbook_file(&job.ticket.project));
    let locked = store.lock(LOCK_WAIT)?;
    let loaded = read(&store, work, &snapshots, &id)?;
    let before = loaded.playbook;
    if before.is_applied(&id) {
        return Ok(snapshots.keep(&id, &before.to_bytes(), config.playbook.snapshots)?);
    }
    job.progress.by_hand = edited_by_hand(shop, &before, &snapshots)?;
    let mut after = before.clone();
    let project = job.ticket.project.to_string_lossy();
    after.never_below(&shop.memory().highest_numbers(&project)?);
    let applied = change(shop, job, work, &mut after, &snapshots, config)?;
    for skipped in &applied.skipped {
        shop.log(
            &id,
            &format!("{} skipped: {}", skipped.what, skipped.reason),
        );
    }
    let changed = after.to_bytes() != before.to_bytes();
    if changed {
        after.mark_applied(&id);
        after.set_last_updated(shop.now());
    }
    job.progress.skipped += applied.skipped.len() as u64;
    job.progress.changes = Some(applied.changes);
    files::save(&shop.paths, job)?;
    if let (Some(original), true) = (&loaded.original, changed) {
        snapshots.keep_original(&id, original)?;
    }
    if locked.save(&before, &after)? {
        snapshots.keep(&id, &after.to_bytes(), config.playbook.snapshots)?;
    }
    Ok(())
}

/// Computes what a job would change, and changes nothing: no lock, no file.
pub(super) fn rehearse(
    shop: &Shop,
    job: &Job,
    session: &SessionEvidence,
    config: &Config,
) -> Result<Applied, Stop> {
    let snapshots = Snapshots::new(&shop.paths.project(&job.ticket.project));
    let store = Store::new(playbook_file(&job.ticket.project));
    let mut playbook = store.load()?;
    let project = job.ticket.project.to_string_lossy();
    playbook.never_below(&shop.memory().highest_numbers(&project)?);
    let work = Work::Lesson(session);
    change(shop, job, &work, &mut playbook, &snapshots, config)
}

/// The playbook as it is now. A restore may also replace a file that cannot be read: the
/// broken one is kept beside the snapshots.
fn read(store: &Store, work: &Work<'_>, snapshots: &Snapshots, id: &str) -> Result<Loaded, Stop> {
    match (store.read(), work) {
        (Err(StoreError::Corrupt { .. }), Work::Edit(Edit::Restore { .. })) => {
            let broken = crate::fsx::read(store.path(), MAX_FILE_BYTES)?;
            snapshots.keep_original(id, &broken)?;
            let last = snapshots.last(MAX_FILE_BYTES)?;
            let last = last.and_then(|bytes| Playbook::parse(&bytes).ok());
            let mut playbook = last.unwrap_or_else(Playbook::empty);
            // Whatever the file said, it is replaced.
            playbook.take_sections(Playbook::empty());
            Ok(Loaded {
                playbook,
                original: None,
            })
        }
        (loaded, _) => Ok(loaded?),
    }
}

fn change(
    shop: &Shop,
    job: &Job,
    work: &Work<'_>,
    playbook: &mut Playbook,
    snapshots: &Snapshots,
    config: &Config,
) -> Result<Applied, Stop> {
    let now = shop.now();
    let evidence = match work {
        Work::Lesson(evidence) => evidence,
        Work::Edit(edit) => {
            let memory = shop.memory();
            let sources = Sources {
                memory: &memory,
                snapshots,
            };
            return edit
                .apply(playbook, sources, now)
                .map_err(|error| match error {
                    EditError::Refused(why) => Stop::Skips(why.to_string()),
                    EditError::Memory(error) => error.into(),
                    EditError::Snapshot(error) => error.into(),
                });
        }
    };
    let reflection = job.progress.reflection.as_ref();
    let curation = job.progress.curation.as_ref();
    let operations = curation.map_or(&[][..], |c| &c.operations);
    let (operations, surplus) = operations.split_at(operations.len().min(config.budgets.ops));
    let lesson = Lesson {
        tags: reflection.map_or(&[], |r| &r.bullet_tags),
        operations,
        reasoning: curation.map_or("", |c| &c.reasoning),
        cited: &evidence.facts.citations,
    };
    let mut applied = learn(playbook, lesson, policy(shop, config), now);
    applied.skipped.extend(surplus.iter().map(|_| Skipped {
        what: "operation".to_owned(),
        reason: format!("more than `budgets.ops`: {}", config.budgets.ops),
    }));
    Ok(applied)
}

fn policy(shop: &Shop, config: &Config) -> Policy {
    Policy {
        threshold: Threshold::new(
            shop.dedup_threshold
                .unwrap_or(config.playbook.dedup_threshold),
        ),
        caps: Caps {
            points: config.playbook.max_points,
            bytes: config.playbook.max_bytes,
        },
    }
}

/// What changed in the file since our last write, if that was the last job's.
fn edited_by_hand(
    shop: &Shop,
    playbook: &Playbook,
    snapshots: &Snapshots,
) -> Result<Option<ByHand>, Stop> {
    let Some(bytes) = snapshots.last(MAX_FILE_BYTES)? else {
        return Ok(None);
    };
    let Ok(last) = Playbook::parse(&bytes) else {
        return Ok(None);
    };
    // A job whose snapshot is still to come was not the user.
    if last.last_applied() != playbook.last_applied() {
        return Ok(None);
    }
    let changes = diff(&last, playbook, "edited in the file", shop.now());
    Ok((!changes.is_empty()).then(|| ByHand {
        id: JobId::new(shop.now(), rand::random()),
        changes,
    }))
}

/// Reads the threshold that a variable sets, if it does.
pub(super) fn threshold_from(env: &crate::env::Env) -> Option<f64> {
    env.get(name::DEDUP_THRESHOLD)?.trim().parse().ok()
}
