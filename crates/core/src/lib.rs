//! What hooks and the worker share, and no more: hooks start in every session and are gone
//! after milliseconds, so nothing here knows of a database, a network or a pattern.
//!
//! - [`mod@env`], [`paths`], [`project`], [`platform`], [`random`]: where we are, and where our
//!   files lie.
//! - [`fsx`]: the one place that writes files; [`state_guard`]: who may have written what we read.
//! - [`clip`], [`shown`], [`lenient_json`], [`digest`]: text cut, shown, read leniently, and hashed.
//! - [`logfile`], [`millis`], [`rfc3339`], [`shown_record`]: a line of the log, a time, and what a
//!   session was given, as files hold them.
//! - [`worded!`]: enums with a word for each variant.
//! - [`tenant`]: whose memory it is, where one user keeps several apart.
//! - [`job`], [`job_id`], [`spool`]: what a hook leaves for the worker; [`account`]: whose key or
//!   subscription it is paid with.
//! - [`status`], [`worker_lock`], [`open_session`]: what the worker has left for hooks, whether one
//!   is at work, and which sessions have begun; [`learned_news`]: what a start tells the user.
//! - [`prepared`]: what lies ready for hooks, and whether it still holds; [`checkout`]: for which
//!   checkout.
//! - [`errors`]: which error a failed call met, and what makes two the same; [`corrections`]: what
//!   fixed them before; [`cue`]: when a key point is due.
//! - [`fault`]: where the tests stop a process or fill its disk; nothing in what users build.

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
