//! All that is known of a project, as one page that needs nothing else: no network, no
//! server, no file beside it. `page` makes it of what `read` found, which is also the object of
//! `playbook report --json`.

pub(crate) mod page;
pub(crate) mod read;
