//! `reflection.dry_run`: everything is computed and logged, nothing is applied.

use super::apply;
use super::evidence::SessionEvidence;
use super::progress::Job;
use super::shop::Shop;
use super::stop::Stop;
use crate::config::Config;

/// Ends the job of a project with a dry run: what it would change is in the log.
///
/// Nothing is claimed by it, so a real run covers its part. A job that may have changed the
/// playbook already is past this.
pub(super) fn unless_real(
    shop: &Shop,
    job: &mut Job,
    session: &SessionEvidence,
    config: &Config,
) -> Result<(), Stop> {
    if !config.reflection.dry_run || job.progress.changes.is_some() {
        return Ok(());
    }
    let applied = apply::rehearse(shop, job, session, config)?;
    let id = job.ticket.id.as_str();
    for change in &applied.changes {
        let line = format!(
            "would {} {}: {}",
            change.kind.word(),
            change.id,
            change.reason
        );
        shop.log(id, &line);
    }
    for skipped in &applied.skipped {
        shop.log(
            id,
            &format!("would skip {}: {}", skipped.what, skipped.reason),
        );
    }
    let count = applied.changes.len();
    Err(Stop::Skips(format!(
        "dry run: {count} changes, none of them made"
    )))
}
