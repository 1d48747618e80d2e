//! Promise: what is remembered beyond the playbook is kept, found again and forgotten when asked.
#![allow(clippy::disallowed_methods, reason = "a test makes files as users do")]
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed, and names its line"
)]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;
mod dreaming;
mod folder;
mod index;
mod learning;
mod lessons;
mod recall;
mod record;
