//! Playbook makes Claude Code learn from every session.
//!
//! The rooms of the house:
//!
//! - [`hook`]: Claude Code's contract: input, output, what each event does.
//! - `prepared`: what lies ready for hooks, and whether it still holds.
//! - `prepare`: makes that; the whole way of a hook.
//! - [`transcript`]: a session's JSONL file → events, citations, outcome, evidence.
//! - [`playbook`]: the key points: model, rendering, tags, operations; the store.
//! - [`reflect`]: prompts, reflector, curator, JSON extraction, the pipeline.
//! - [`backend`]: what answers a prompt, one file each, and retry.
//! - `queue`: job, spool, claim, worker.
//! - [`memory`]: SQLite: cursors, record hashes, history.
//! - `report`: all that is known of a project, as one page.
//! - [`config`]: the settings: each key once, with its default, bounds and words.
//! - `account`: whose key or subscription a job is paid with.
//! - [`cli`]: one file per subcommand of `playbook`.
//! - [`redact`]: secrets are masked, in one pass by a table of rules.
//! - `setup`: into the client's settings, and out again without a trace.
//! - `trust`: which playbooks and key points a session may be given.
//! - `wall`: who may have written what we read.
//! - [`screen`]: whether a key point's text is an attack.
//! - [`fsx`]: the one place that writes files.
//! - `fault`: where the tests stop a process or fill its disk; nothing in what users build.

mod account;
pub mod backend;
pub mod cli;
mod clip;
pub mod config;
pub mod env;
mod fault;
pub mod fsx;
pub mod hook;
mod logfile;
mod loose;
pub mod memory;
mod millis;
pub mod paths;
pub mod platform;
pub mod playbook;
mod prepare;
mod prepared;
mod project;
mod queue;
pub mod redact;
pub mod reflect;
mod report;
pub mod screen;
mod setup;
mod shown;
mod telemetry;
pub mod transcript;
mod trust;
mod wall;
