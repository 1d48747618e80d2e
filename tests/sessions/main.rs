//! Promise: every session counts, once, and its changes can be explained and undone.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes files as users do, and names its line where it cannot go on"
)]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;
mod away;
mod bootstrap;
mod determinism;
mod exactly_once;
mod home_of_0b44ef9b;
mod litter;
mod odd_transcripts;
mod recovery;
mod stampede;
mod story_by_hand;
mod story_curator;
mod story_history;
mod story_killed;
mod story_many;
mod story_restore;
mod surroundings;
mod under_git;
mod usage;
mod votes;
