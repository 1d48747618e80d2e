//! The playbook: the key points of one project, in five sections.
//!
//! Everything here is a function from values to values, except the last two rooms:
//! [`lock`] and [`store`] touch the disk.

pub mod change;
pub mod clean;
pub mod context;
mod entry;
mod flaw;
mod glance;
pub mod id;
mod json;
pub mod lock;
pub mod meta;
pub mod model;
pub mod render;
pub mod section;
pub mod store;
pub mod tags;
pub mod worth;

pub use change::{Change, ChangeKind, PointState, Skipped};
pub use flaw::Flaw;
pub use id::Id;
pub use model::{Playbook, Point};
pub use section::Section;
