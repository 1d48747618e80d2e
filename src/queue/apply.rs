//! Applies a job to the playbook as it is now: under the lock, one atomic replace.

use std::time::Duration;

use super::evidence::SessionEvidence;
use super::files;
use super::progress::Job;
use super::shop::Shop;
use super::stages::Stop;
use crate::paths::playbook_file;
use crate::playbook::store::Store;
use crate::playbook::tags::apply_bullet_tags;

/// How long worker and CLI wait for the lock of a playbook.
pub(super) const LOCK_WAIT: Duration = Duration::from_secs(60);

/// Applies the reflector's tags.
///
/// The list of changes is stored with the job before the file is replaced; the file then
/// holds the job's id. After a restart the id tells whether that happened.
pub(super) fn apply(shop: &Shop, job: &mut Job, evidence: &SessionEvidence) -> Result<(), Stop> {
    let id = job.ticket.id.as_str().to_owned();
    let tags = job
        .progress
        .reflection
        .as_ref()
        .map(|reflection| reflection.bullet_tags.clone())
        .unwrap_or_default();
    let store = Store::new(playbook_file(&job.ticket.project));
    let locked = store.lock(LOCK_WAIT)?;
    let before = locked.load()?;
    if before.is_applied(&id) {
        return Ok(());
    }
    let mut after = before.clone();
    let applied = apply_bullet_tags(&mut after, &tags);
    for skipped in &applied.skipped {
        shop.log(
            &id,
            &format!("{} skipped: {}", skipped.what, skipped.reason),
        );
    }
    let now = shop.now();
    let cited = evidence
        .facts
        .citations
        .iter()
        .map(crate::playbook::Id::as_str);
    after.mark_used(cited.chain(tags.iter().map(|tag| tag.name.as_str())), now);
    if after.to_bytes() != before.to_bytes() {
        after.mark_applied(&id);
        after.set_last_updated(now);
    }
    job.progress.skipped += applied.skipped.len() as u64;
    job.progress.changes = Some(applied.changes);
    files::save(&shop.paths, job)?;
    locked.save(&before, &after)?;
    Ok(())
}
