//! Which account a job names: enough to find it again, and no secret.
//!
//! A job is written by a hook and worked on later, perhaps by a worker that was started
//! from another project with another key. [`Need`] is what the job says of its surroundings;
//! [`named`] makes it from the variables of the process and from what the settings choose.

pub mod address;
pub mod client_env;
pub mod login;
pub mod named;
pub mod need;

pub use client_env::ClientEnv;
pub use need::{AccountStep, BackendName, Need};
