//! A job that the user waits for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::QueueError;
use super::context::WorkerContext;
use super::job::JobId;
use super::worker::{self, WorkScope};
use crate::memory::JobRow;

/// How soon is looked again whether it is done or can be done here, at first.
const LOOK: Duration = Duration::from_millis(20);
/// How much later at the most: many who wait take the machine from the one at work.
const LONGEST_LOOK: Duration = Duration::from_millis(160);

/// Sees a job to its end, here or in the worker that runs already.
///
/// `None` when it waits for something, or was not done in time.
pub(crate) async fn see_through(
    context: Arc<WorkerContext>,
    id: &JobId,
    patience: Duration,
) -> Result<Option<JobRow>, QueueError> {
    let deadline = Instant::now() + patience;
    let mut pause = LOOK;
    loop {
        if let Some(row) = context.memory().job(id.as_str())? {
            return Ok(Some(row));
        }
        let scope = WorkScope::One(id.clone());
        if worker::run_if_free(Arc::clone(&context), &scope)
            .await?
            .is_some()
        {
            return Ok(context.memory().job(id.as_str())?);
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_LOOK);
    }
}
