//! The playbook: the key points of one project, in five sections.
//!
//! Everything here is a function from values to values; the room `store` keeps the file.

pub mod change;
pub mod clean;
pub mod context;
pub mod dedup;
pub mod diff;
pub mod edit;
mod entry;
mod flaw;
pub mod hand;
pub(crate) mod id;
mod json;
pub mod learn;
pub(crate) mod meta;
pub mod migrate;
pub(crate) mod model;
mod numbers;
mod odd;
pub mod ops;
#[cfg(test)]
mod properties;
pub mod prune;
pub mod render;
mod secrets;
pub(crate) mod section;
pub mod shown;
pub mod tags;
mod tree;
pub mod undo;
pub mod votes;
pub mod worth;

pub use change::{Applied, Change, Skipped};
pub use change::{ChangeKind, PointState};
pub use flaw::Flaw;
pub use id::Id;
pub use model::{Playbook, Point};
pub use section::Section;
