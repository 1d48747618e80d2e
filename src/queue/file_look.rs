//! Looks, after the jobs, at the files that the key points of their projects name.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::QueueError;
use super::ask::known_points;
use super::context::WorkerContext;
use crate::freshness;

/// Sees what of the key points the files no longer have; `sessions` has, by project, the folder
/// of the last session that was learned from.
///
/// All jobs are done by now: it may be cut short, and the next worker does it again.
pub(super) async fn after(context: &WorkerContext, sessions: &BTreeMap<PathBuf, PathBuf>) {
    for (project, folder) in sessions {
        let config = context.surroundings.config_for(project);
        let points = config.map_err(QueueError::from);
        let points = points.and_then(|config| known_points(context.paths(), project, &config));
        // What keeps them from being read has been told by the jobs.
        let Ok(playbook) = points else { continue };
        let place = freshness::Place { project, folder };
        match freshness::look(context.paths(), place, &playbook, context.now()).await {
            Ok(true) => context.surroundings.make_ready(project),
            Ok(false) => {}
            Err(error) => context.log("worker", &error.to_string()),
        }
    }
}
