//! Code that hooks and the worker share. Hooks start in every session and live for milliseconds, so
//! nothing here links a database, a network or a regex engine.
//!
//! - [`mod@env`], [`paths`], [`project`], [`platform`], [`random`]: the surroundings and our files.
//! - [`fsx`]: the only module that writes files; [`state_guard`]: checks who could have written
//!   them.
//! - [`clip`], [`shown`], [`lenient_json`], [`digest`]: cuts, displays, parses and hashes text.
//! - [`logfile`], [`millis`], [`rfc3339`], [`shown_record`]: log lines, times and session records
//!   in files.
//! - [`worded!`]: enums with a word for each variant.
//! - [`tenant`]: separates the memories of one user.
//! - [`job`], [`job_id`], [`spool`]: requests of hooks to the worker; [`account`]: the key or login
//!   that pays.
//! - [`status`], [`worker_lock`], [`open_session`]: the worker's state for hooks, and the open
//!   sessions; [`learned_news`]: news for the user.
//! - [`prepared`]: data prepared for hooks, and its freshness; [`checkout`]: the checkout that it
//!   was prepared for.
//! - [`errors`]: names of failed calls; [`corrections`]: known fixes; [`cue`]: the moments at which
//!   a key point is due.
//! - [`fault`]: stops a process or fills its disk in tests; compiled to nothing in releases.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "a test makes files as users do")
)]

pub mod account;
pub mod checkout;
pub mod clip;
pub mod corrections;
pub mod cue;
pub mod digest;
#[allow(
    clippy::disallowed_methods,
    reason = "the environment and the clock of all the others"
)]
pub mod env;
pub mod errors;
#[allow(
    clippy::disallowed_methods,
    reason = "a fault has no surroundings to be handed"
)]
pub mod fault;
#[allow(
    clippy::disallowed_methods,
    reason = "the writer of files of all the others"
)]
pub mod fsx;
pub mod job;
pub mod job_id;
pub mod learned_news;
pub mod lenient_json;
pub mod logfile;
pub mod millis;
mod no_folders;
pub mod open_session;
pub mod paths;
pub mod place;
pub mod platform;
pub mod prepared;
pub mod project;
pub mod random;
pub mod rfc3339;
pub mod shown;
pub mod shown_record;
pub mod spool;
pub mod state_guard;
pub mod status;
pub mod tenant;
mod worded;
pub mod worker_lock;
