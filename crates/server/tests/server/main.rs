//! The promises of `playbook-server`, with real processes and a real `PostgreSQL`.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes files as users do, and its helpers are tests too"
)]

#[path = "../../../../tests/common/api.rs"]
mod api;
mod chance;
mod http;
mod malformed;
mod many;
mod mcp;
mod postgres;
mod served;
#[path = "../../../../tests/common/session.rs"]
#[allow(dead_code, reason = "the tests of the programs use the rest")]
mod session;
mod stores;
mod user;
