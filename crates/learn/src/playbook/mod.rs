//! The playbook: the key points of one project, in five sections.
//!
//! All functions map values to values; the program's module `store` keeps the file.

pub mod change;
pub mod clean;
mod entry;
pub(crate) mod id;
pub(crate) mod model;
pub mod ops;
#[cfg(test)]
mod properties;
pub mod read;
pub mod render;
pub mod three_way;
pub mod votes;

pub use change::{Applied, ChangeKind, PointChange, PointState, Skipped};
pub use id::{Id, Section, is_own_name};
pub use model::{Due, DueChange, Playbook, Point, STALE_DAYS};
pub use read::Defect;
