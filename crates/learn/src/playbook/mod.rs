//! The playbook: the key points of one project, in five sections.
//!
//! Everything here is a function from values to values; the module `store` of the program keeps the file.

pub mod change;
pub mod clean;
pub mod context;
pub mod diff;
pub mod edit;
mod entry;
pub(crate) mod id;
mod job_votes;
mod json;
pub mod learn;
pub mod left_out;
pub mod local_votes;
pub mod manual_edit;
pub(crate) mod meta;
pub mod migrate;
pub(crate) mod model;
pub mod ops;
#[cfg(test)]
mod properties;
pub mod prune;
pub mod ranking;
pub mod render;
pub(crate) mod section;
pub mod shown;
pub mod tags;
pub mod three_way;
pub mod undo;
pub mod usage;
pub mod votes;

pub use change::{Applied, PointChange, Skipped};
pub use change::{ChangeKind, PointState};
pub use id::{Id, is_own_name};
pub use json::Defect;
pub use model::{Playbook, Point};
pub use section::Section;
