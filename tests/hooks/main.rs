//! Promise: the hooks answer Claude Code immediately, in its format, and never stop it.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes files as users do, and names its line where it cannot go on"
)]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;
mod cues;
mod gate;
mod gate_model;
mod guard;
mod hints;
mod jobs;
mod planted;
mod plugin;
mod session_start;
mod stdin;
mod told;
