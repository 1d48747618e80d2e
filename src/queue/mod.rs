//! Jobs, the spool they wait in, and the worker that does them: exactly once.
//!
//! Hooks use [`job`], [`spool`], [`mark`], [`status`] and [`worker_lock`]; the rest is the
//! worker's.

mod apply;
pub mod ask;
mod at_work;
mod board;
mod by_hand;
pub mod claim;
mod due;
pub mod edit;
pub mod evidence;
pub mod files;
pub mod foreground;
mod hand_edit;
pub mod job;
pub mod mark;
mod notices;
pub mod parking;
pub mod progress;
mod record;
pub mod recover;
pub mod request;
pub mod shop;
pub mod spool;
pub mod stages;
pub mod status;
mod tidy;
mod unrecorded;
pub mod waiting;
pub mod worker;
pub mod worker_lock;
