//! All that is known of a project, as one page that needs nothing else: no network, no
//! server, no file beside it.
//!
//! [`read`](read::read) is the one place that looks into playbook and memory; what it found is
//! also the object of `playbook report --json`. [`page`](page::page) makes the page of that and
//! of nothing else. Texts come from transcripts and from files of strangers: the template
//! escapes them all, and the page's policy runs no script but its own.

pub(crate) mod page;
pub(crate) mod read;

use serde::{Deserialize, Serialize};

use crate::memory::Spending;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sum {
    /// Requests, retries included.
    pub(crate) calls: u64,
    pub(crate) tokens_in: u64,
    pub(crate) tokens_out: u64,
}

impl Sum {
    pub(crate) fn add(&mut self, row: &Spending) {
        self.calls += row.attempts;
        self.tokens_in += row.input_tokens;
        self.tokens_out += row.output_tokens;
    }
}
