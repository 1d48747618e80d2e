//! Settings: typed, strict, each defined once in `keys.rs`.
//!
//! A setting comes from the project's `playbook.toml` (the few keys a project may
//! set), else from the user's `config.toml`, else it has its default. An unknown key is an error
//! that names the file, the line and the nearest key: a typing error must not become a
//! bill.

mod define;
mod edit;
mod keys;
mod load;
mod nearest;
mod reference;
mod value;

pub use define::{Key, Scope};
pub use edit::{SetError, set};
pub use keys::{BackendChoice, Budgets, Config, KEYS, MemoryMode, Secrets, Triggers, WorkerMode};
pub use load::{
    ConfigError, Source, Sourced, for_project, load, load_project, unless_switched_off,
    with_sources,
};
pub use nearest::key as find_key;
pub use reference::reference;
pub use value::Limit;
