//! A job that the user waits for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::QueueError;
use super::context::WorkerContext;
use super::job::JobId;
use super::worker::{self, WorkScope};
use crate::memory::JobRow;

const LOOK: Duration = Duration::from_millis(20);

/// Sees a job to its end, here or in the worker that runs already.
///
/// `None` when it waits for something, or was not done in time.
pub(crate) async fn see_through(
    context: Arc<WorkerContext>,
    id: &JobId,
    patience: Duration,
) -> Result<Option<JobRow>, QueueError> {
    let deadline = Instant::now() + patience;
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
        tokio::time::sleep(LOOK).await;
    }
}
