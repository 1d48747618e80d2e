//! Brings Playbook into Claude Code's settings, and out of them without a trace.
//!
//! The settings belong to the user. They are edited in places, as text: what is not ours
//! stays as it is, byte for byte, whatever its layout. What was changed is written down, so
//! that taking it back restores the very text; where the user has changed other things
//! since, those stay and ours leave.
//!
//! [`HookEvent::ALL`](crate::hook::HookEvent::ALL) lists the hooks.

mod document;
mod files;
mod merge;
#[cfg(test)]
mod properties;
mod registration;
mod settings;
pub(crate) mod templates;

pub(crate) use files::{Installed, purge};
pub(crate) use merge::{Earlier, registered};
pub(crate) use registration::{Hooks, Spelling, is_gate, is_of_stand_in, shell_word};
pub(crate) use settings::{ClientSettings, SettingsPlan, SettingsRecord, SetupError, recorded};
