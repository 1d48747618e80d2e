//! Settings: typed and strict, each defined once in `keys.rs`.
//!
//! A value comes from the project's `playbook.toml` (for the few keys that a project may set), then
//! the user's `config.toml`, then the default. An unknown key is an error, so that a typing error
//! does not become a bill.

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
    Approval, BackendChoice, GateMode, MemoryMode, Trigger, VotesIn, WorkerMode,
};
pub use define::SettingKey;
pub(crate) use edit::{SetError, set, unset};
pub(crate) use keys::Budgets;
pub use keys::{Config, KEYS};
pub use load::{ConfigError, load, load_project};
pub(crate) use load::{
    SettingSource, at_key, for_project, gone, load_user, unless_switched_off, with_sources,
};
pub(crate) use nearest::key as find_key;
pub(crate) use reference::reference;
#[cfg(test)]
pub(crate) use value::Limit;
