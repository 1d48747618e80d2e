//! Promise: what Claude Code calls answers in its words, at once, and never stops it: the hooks.
#![allow(clippy::disallowed_methods, reason = "a test makes files as users do")]
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed, and names its line"
)]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;
mod at_prompt;
mod gate;
mod gate_model;
mod hostile_index;
mod jobs;
mod moment_of_need;
mod planted;
mod plugin;
mod recall;
mod session_start;
mod stdin;
mod told;
