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

    /// Tells whether one waits that may be it.
    pub(crate) fn any(&self, may_be: impl Fn(&str) -> bool) -> bool {
        self.0.iter().any(|(_, what)| may_be(what))
    }

    /// Takes those out that came right; returns the numbers of their items.
    pub(crate) fn mend(&mut self, is_it: impl Fn(&str) -> bool) -> Vec<u64> {
        let mut mended = Vec::new();
        self.0.retain(|(item, what)| {
            let is_mended = is_it(what);
            if is_mended {
                mended.push(*item);
            }
            !is_mended
        });
        mended
    }
}
