//! Settings: typed, strict, each defined once in `keys.rs`.
//!
//! A setting comes from the project's `playbook.toml` (the few keys a project may
//! set), else from the user's `config.toml`, else it has its default. An unknown key is an error
//! that names the file, the line and the nearest key: a typing error must not become a
//! bill.

mod keys;
mod load;
mod value;

pub use keys::{BackendChoice, Config, KEYS, Key, Scope, WorkerMode};
pub use load::{ConfigError, load, load_project};
