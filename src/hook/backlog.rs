//! What a hook knows of the jobs that wait: the worker's word, or a glance at the spool.

use std::cell::OnceCell;

use crate::queue::job::JobId;
use crate::queue::spool;
use crate::queue::status::Status;

use super::context::Context;

/// How many entries of the spool a hook looks at, when it cannot rely on the status.
const SPOOL_LOOK: usize = 16;

pub(super) struct Backlog<'a> {
    context: &'a Context<'a>,
    status: Option<Status>,
    oldest: OnceCell<Option<JobId>>,
}

impl<'a> Backlog<'a> {
    pub(super) fn of(context: &'a Context<'a>) -> Self {
        Self {
            context,
            status: Status::read(&context.paths),
            oldest: OnceCell::new(),
        }
    }

    pub(super) fn status(&self) -> Option<&Status> {
        self.status.as_ref()
    }

    pub(super) fn oldest(&self) -> Option<&JobId> {
        let look = || spool::oldest_of_first(&self.context.paths.spool(), SPOOL_LOOK);
        self.oldest.get_or_init(look).as_ref()
    }
}
