//! The playbook: the key points of one project, in five sections.
//!
//! Everything here is a function from values to values; only what keeps files, such as
//! [`lock`] and [`store`], touches the disk.

pub mod change;
pub mod clean;
pub mod context;
pub mod dedup;
pub mod diff;
mod edit;
mod entry;
mod flaw;
mod glance;
pub mod hand;
pub mod id;
mod json;
pub mod learn;
pub mod lock;
pub mod meta;
pub mod migrate;
pub mod model;
mod numbers;
pub mod ops;
#[cfg(test)]
mod properties;
pub mod prune;
pub mod render;
mod secrets;
pub mod section;
pub mod shown;
pub mod snapshots;
pub mod store;
pub mod tags;
mod tree;
pub mod undo;
pub mod votes;
pub mod worth;

pub use change::{Applied, Change, ChangeKind, PointState, Skipped};
pub use flaw::Flaw;
pub use id::Id;
pub use model::{Playbook, Point};
pub use section::Section;
