//! All that is known of a project, as one page that needs nothing else: no network, no
//! server, no file beside it.
//!
//! [`read`](read::read) is the one place that looks into playbook and memory; what it found
//! is a [`Figures`]; [`page`](page::page) makes the page of that and of nothing else. Texts
//! come from transcripts and from files of strangers: the template escapes them all, and the
//! page's policy runs no script but its own.

mod figures;

pub(crate) mod page;
pub(crate) mod read;

pub(crate) use figures::{Figures, Sum};
