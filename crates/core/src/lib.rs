//! What the hooks need, and no more: they start in every session and are gone after
//! milliseconds, so nothing here knows of a database, a network or a pattern.
//!
//! - [`mod@env`], [`paths`], [`project`], [`platform`]: where we are, and where our files lie.
//! - [`fsx`]: the one place that writes files; [`wall`]: who may have written what we read.
//! - [`clip`], [`shown`], [`loose`], [`digest`]: text cut, shown, read leniently, and hashed.
//! - [`logfile`], [`millis`], [`shown_record`]: a line of the log, a time, and what a session was
//!   given, as files hold them.
//! - [`hint`]: what makes two errors the same, and the index in which a hook looks them up.
//! - [`fault`]: where the tests stop a process or fill its disk; nothing in what users build.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "a test makes files as users do")
)]
#![allow(
    missing_docs,
    reason = "a crate of the house: what a name says needs no words"
)]

pub mod clip;
pub mod digest;
#[allow(
    clippy::disallowed_methods,
    reason = "the environment and the clock of all the others"
)]
pub mod env;
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
pub mod hint;
pub mod logfile;
pub mod loose;
pub mod millis;
pub mod paths;
pub mod platform;
pub mod project;
pub mod shown;
pub mod shown_record;
pub mod wall;
