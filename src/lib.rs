//! Playbook makes Claude Code learn from every session.
//!
//! This package does the input and output. The hooks are `playbook-hooks`, their code shared with
//! the worker is `playbook-core`, and `playbook-learn` turns a session into key points without I/O.
//!
//! - `prepare`: prepares the files that hooks read; also runs a hook without them.
//! - `queue`: job, spool, claim, worker.
//! - `store`: the playbook file, its lock, and copies of it.
//! - [`memory`]: SQLite: cursors, record hashes, history.
//! - [`backend`]: the backends that answer a prompt, one file each, and retry.
//! - `account`: the key or subscription that pays for a job.
//! - [`config`]: the settings: each key once, with its default, bounds and help text.
//! - [`transcript_file`]: opens the files that `transcript` reads.
//! - `freshness`: finds paths and targets in key points that a checkout no longer has.
//! - `at_stop`: the Stop hook.
//! - `trust`: decides which playbooks and key points a session may be given.
//! - [`cli`]: the commands of `playbook`, a file for each or for a group.
//! - `setup`: adds our hooks to the client's settings, and removes them without a trace.
//! - [`service`]: the commands' answers for other programs.
//! - [`sharing`]: the database of `memory.url`, which all machines of a user or a team ask.

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
