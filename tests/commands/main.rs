//! Promise: each command does what its help and the documents say.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes files as users do, and names its line where it cannot go on"
)]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;
mod cli;
mod demo;
mod diff;
mod doctor;
mod documents;
mod folders;
mod gate;
mod gate_stops;
mod guard;
mod guide;
mod house;
mod install;
mod install_sh;
mod manual;
mod readme;
mod report;
mod report_browser;
mod settings;
mod status;
