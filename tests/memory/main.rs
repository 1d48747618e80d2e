//! Promise: what is remembered beyond the playbook is kept, found again and forgotten when asked.
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
