//! What went wrong and has not come right since, so that it is known as an outcome when it does.

use std::collections::VecDeque;

/// How much waits at a time; the oldest is given up first.
const MOST: usize = 32;

/// Failures that wait, each with the number of its item and what failed: the runner of a
/// check, or a program with its subcommand.
#[derive(Debug, Default)]
pub(crate) struct Unmended(VecDeque<(u64, String)>);

impl Unmended {
    pub(crate) fn push(&mut self, item: u64, what: &str) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back((item, what.to_owned()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes those out that came right; returns the numbers of their items.
    pub(crate) fn mend(&mut self, is_it: impl Fn(&str) -> bool) -> Vec<u64> {
        let all = std::mem::take(&mut self.0);
        let (mended, left): (VecDeque<_>, VecDeque<_>) =
            all.into_iter().partition(|(_, what)| is_it(what));
        self.0 = left;
        mended.into_iter().map(|(item, _)| item).collect()
    }
}
