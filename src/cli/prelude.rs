//! The names that most commands use.

pub(in crate::cli) use std::path::{Path, PathBuf};
pub(in crate::cli) use std::time::{Duration, Instant};

pub(in crate::cli) use anyhow::Context as _;
pub(in crate::cli) use jiff::Timestamp;
pub(in crate::cli) use serde_json::{Value, json};

pub(in crate::cli) use super::output::{Hinted, plain, say};
pub(in crate::cli) use super::session::{NamedSession, runtime};
pub(in crate::cli) use super::{agent, answer, args, change_text, output};
pub(in crate::cli) use crate::env::{Env, name};
pub(in crate::cli) use crate::memory::{JobOutcome, Memory};
pub(in crate::cli) use crate::paths::{Paths, playbook_file};
pub(in crate::cli) use crate::playbook::Playbook;
pub(in crate::cli) use crate::queue::job::JobId;
pub(in crate::cli) use crate::{fsx, sharing, state_guard};
