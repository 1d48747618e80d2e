//! Playbook makes Claude Code learn from every session.
//!
//! This package is the outside world of it. The hooks are `playbook-hooks`, what they share
//! with the worker is `playbook-core`, and how a session becomes key points, values in and
//! values out, is `playbook-learn`.
//!
//! - `prepare`: makes what lies ready for hooks; the whole way of a hook.
//! - `queue`: job, spool, claim, worker.
//! - `store`: the playbook file, its lock, and copies of it.
//! - [`memory`]: SQLite: cursors, record hashes, history.
//! - [`backend`]: what answers a prompt, one file each, and retry.
//! - `account`: whose key or subscription a job is paid with.
//! - [`config`]: the settings: each key once, with its default, bounds and words.
//! - [`transcript_file`]: opens the files that `transcript` reads.
//! - `freshness`: which paths and targets in key points a checkout no longer has.
//! - `at_stop`: what becomes of a turn that ends.
//! - `trust`: which playbooks and key points a session may be given.
//! - [`cli`]: the commands of `playbook`, a file for each or for a group.
//! - `setup`: into the client's settings, and out again without a trace.
//! - [`service`]: what other programs may ask, as commands answer it.
//! - [`sharing`]: what is learned together with others.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "a test makes files as users do")
)]

mod account;
mod at_stop;
pub mod backend;
pub mod cli;
pub mod config;
mod freshness;
pub mod memory;
mod news;
mod prepare;
mod queue;
pub mod service;
mod setup;
pub mod sharing;
mod store;
mod telemetry;
pub mod transcript_file;
mod trust;
mod usage;

pub(crate) use playbook_core::{
    checkout, clip, fault, learned_news, logfile, place, prepared, project, shown, shown_record,
    state_guard,
};
pub use playbook_core::{corrections, cue, digest, env, errors, fsx, paths, platform, tenant};
pub use playbook_hooks as hook;
pub(crate) use playbook_learn::freshness as playbook_freshness;
pub use playbook_learn::{gate, playbook, redact, reflect, screen, transcript};
