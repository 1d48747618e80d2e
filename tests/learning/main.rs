//! Promise: what is read from a session is true, and what is learned from it is neither a secret
//! nor an attack.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes files as users do, and names its line where it cannot go on"
)]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;
mod answers;
mod carriers;
mod fuzzed;
mod generate;
mod local_votes;
mod own_points;
mod points;
mod poison;
mod record;
mod records;
mod reflect_template;
mod secrets;
mod tenants;
mod transcript_budget;
mod transcript_evidence;
mod transcript_facts;
mod transcript_truth;
