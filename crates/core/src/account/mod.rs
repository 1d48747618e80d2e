//! The account that a job names: enough to find it again, and no secret.
//!
//! A hook writes the job, and a worker works on it later, perhaps started from another project with
//! another key. [`Need`] is the job's description of its surroundings; [`named`] builds it from the
//! process's variables and the settings.

pub mod address;
pub mod client_env;
pub mod login;
pub mod named;
pub mod need;

pub use client_env::ClientEnv;
pub use need::{AccountStep, BackendName, Need};
