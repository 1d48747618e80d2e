//! The failed calls that no later call made good.

use std::collections::VecDeque;
use std::sync::Arc;

use super::attempt::Attempt;
use super::event::Call;
use crate::hint::Signature;

/// How many failed calls wait at a time.
const MAX_OPEN: usize = 32;

#[derive(Debug, Default)]
pub(crate) struct OpenCalls {
    waiting: VecDeque<OpenCall>,
    /// How many were given up while they waited.
    given_up: usize,
}

#[derive(Debug)]
struct OpenCall {
    id: String,
    attempt: Attempt,
    error: Option<Signature>,
}

impl OpenCalls {
    /// Takes a call that failed; returns the ids of those that had failed like it: the same
    /// call, or one like it with the same error.
    pub(crate) fn failed(
        &mut self,
        id: &str,
        call: &Arc<Call>,
        error: Option<Signature>,
    ) -> Vec<String> {
        let attempt = Attempt::of(call);
        let is_again = |open: &&OpenCall| {
            let same_error = error.is_some() && error == open.error;
            open.attempt.call == *call || (same_error && attempt.is_like(&open.attempt))
        };
        let again = self.waiting.iter().filter(is_again);
        let again = again.map(|open| open.id.clone()).collect();
        if self.waiting.len() == MAX_OPEN {
            self.waiting.pop_front();
            self.given_up += 1;
        }
        self.waiting.push_back(OpenCall {
            id: id.into(),
            attempt,
            error,
        });
        again
    }

    /// Takes a call that worked; returns the ids of those that it makes good.
    pub(crate) fn worked(&mut self, call: &Arc<Call>) -> Vec<String> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        let attempt = Attempt::of(call);
        let mut good = Vec::new();
        self.waiting.retain_mut(|open| {
            let is_good = attempt.makes_good(&open.attempt);
            if is_good {
                good.push(std::mem::take(&mut open.id));
            }
            !is_good
        });
        good
    }

    /// Returns how many failed calls were not made good.
    pub(crate) fn count(&self) -> usize {
        self.waiting.len() + self.given_up
    }
}
