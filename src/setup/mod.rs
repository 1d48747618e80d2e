//! Adds Playbook to Claude Code's settings, and removes it without a trace.
//!
//! The settings are edited in places, as text, so everything else stays the same byte for byte.
//! Each change is recorded, so that undoing it restores the exact text but for later changes.

mod document;
mod files;
mod merge;
#[cfg(test)]
mod properties;
mod registration;
mod settings;
pub(crate) mod templates;

pub(crate) use files::{Installed, purge};
pub(crate) use merge::registered;
pub(crate) use registration::{Hooks, Spelling, is_of_stand_in, shell_word};
pub(crate) use settings::{
    ClientSettings, SettingsPlan, SettingsRecord, SetupError, recorded, switched_on,
};
