//! Promise: the memory keeps what was learned beyond the playbook, finds it again and forgets it
//! when asked.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes files as users do, and names its line where it cannot go on"
)]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;
mod forget;
mod learning;
mod lessons;
mod recall;
mod record;
