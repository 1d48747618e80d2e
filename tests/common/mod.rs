//! What the tests by promise share: an environment of their own for each, the loopback
//! Messages API, and the transcripts of sessions as the client writes them.
#![allow(dead_code, reason = "each test file uses its own part of this")]
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

pub mod api;
pub(crate) mod env;
pub(crate) mod learned;
pub(crate) mod lived;
pub(crate) mod processes;
pub(crate) mod programs;
pub(crate) mod run;
pub(crate) mod session;
pub(crate) mod story;
