//! Keeps what another backend answers, for [`Fixtures`] to answer it again.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{
    Ask, Backend, BackendFailure, BackendName, BackendResult, FailureKind, Fixtures, PromptHash,
};

pub(crate) struct Recorder<'a> {
    backend: Box<dyn Backend + 'a>,
    file: PathBuf,
    recorded: Mutex<Vec<PromptHash>>,
}

impl<'a> Recorder<'a> {
    /// Records the replies of `backend` in `file`, which need not exist yet.
    pub(crate) fn new(backend: Box<dyn Backend + 'a>, file: &Path) -> Self {
        Self {
            backend,
            file: file.to_owned(),
            recorded: Mutex::default(),
        }
    }

    /// Returns which prompts have a recorded reply now, in the order they were asked.
    pub(crate) fn recorded(&self) -> Vec<PromptHash> {
        let recorded = self.recorded.lock();
        recorded.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Backend for Recorder<'_> {
    fn name(&self) -> BackendName {
        self.backend.name()
    }

    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> BackendResult<'a> {
        Box::pin(async move {
            let reply = self.backend.answer(ask).await?;
            Fixtures::record(&self.file, ask, &reply.text)
                .map_err(|e| BackendFailure::new(FailureKind::Held, e.to_string()))?;
            let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
            recorded.push(PromptHash::of(ask));
            drop(recorded);
            Ok(reply)
        })
    }
}
