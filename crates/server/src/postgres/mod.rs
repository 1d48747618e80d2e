//! The shared store in `PostgreSQL`.

mod append;
mod connect;
mod log;
pub(crate) mod roles;
pub(crate) mod search;

pub(crate) use append::{Author, append};
pub(crate) use connect::{Address, connect, pool};
pub(crate) use log::{after, version};
