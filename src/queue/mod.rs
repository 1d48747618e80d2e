//! Jobs, the spool they wait in, and the worker that does them: exactly once.
//!
//! Hooks use [`job`], [`spool`], [`mark`], [`status`] and [`worker_lock`]; the rest is the
//! worker's.

pub mod allowance;
mod apply;
pub mod ask;
mod at_work;
pub mod backends;
mod board;
pub mod bootstrap;
pub mod budget;
mod by_hand;
pub mod claim;
pub mod dream;
mod dry_run;
mod due;
pub mod edit;
pub mod evidence;
pub mod files;
pub mod foreground;
mod gate;
mod hand_edit;
pub(crate) mod hint_index;
pub mod job;
mod look;
pub mod mark;
pub mod meter;
mod notices;
pub mod parking;
pub mod progress;
mod record;
pub mod recover;
mod report;
pub mod request;
pub mod screening;
mod settle;
pub mod shop;
pub mod shown;
pub mod spool;
pub mod stages;
pub mod status;
pub mod stop;
mod tidy;
pub mod trust_record;
mod unrecorded;
pub mod waiting;
pub mod worker;
pub mod worker_lock;
