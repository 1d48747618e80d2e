//! Promise: a job waits, is asked about or fails for the right reason, and costs what is allowed.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes files as users do, and names its line where it cannot go on"
)]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;
mod accounts;
mod api_failures;
mod backend_anthropic;
mod backend_claude_cli;
mod backend_openai;
mod backends;
mod branches;
mod budgets;
mod freshness;
mod gate;
mod guard;
mod in_merge;
mod jobs_by_hand;
mod lifecycle;
mod repository;
mod sent;
