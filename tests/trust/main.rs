//! Promise: nothing enters a session, and nobody writes our files, without the user's trust.
#![allow(clippy::disallowed_methods, reason = "a test makes files as users do")]
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed, and names its line"
)]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod approval;
mod projects;
mod walls;
