//! Settings: typed, strict, each defined once in `keys.rs`.
//!
//! A setting comes from the project's `playbook.toml` (the few keys a project may
//! set), else from the user's `config.toml`, else it has its default. An unknown key is an error
//! that names the file, the line and the nearest key: a typing error must not become a
//! bill. A setting that is gone is no error: the user is shown it once.

mod choices;
mod define;
mod edit;
mod gone;
mod keys;
mod load;
mod nearest;
mod reference;
mod value;

pub(crate) use choices::{
    Approval, BackendChoice, GateMode, MemoryMode, Notices, VotesIn, WorkerMode,
};
pub use define::SettingKey;
pub(crate) use edit::{SetError, set, unset};
pub(crate) use keys::{Budgets, Triggers};
pub use keys::{Config, KEYS};
pub use load::{ConfigError, load, load_project};
pub(crate) use load::{
    SettingSource, at_key, for_project, gone, load_user, unless_switched_off, with_sources,
};
pub(crate) use nearest::key as find_key;
pub(crate) use reference::reference;
#[cfg(test)]
pub(crate) use value::Limit;
