//! Promise: without the user's trust nothing enters a session, and no stranger writes our files.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes files as users do, and names its line where it cannot go on"
)]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod approval;
mod projects;
mod quarantine;
mod walls;
