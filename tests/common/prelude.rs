//! The names that nearly every test uses.
#![allow(unused_imports, reason = "each test binary uses its own part of this")]

pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::process::{Command, Stdio};
pub(crate) use std::time::Duration;
pub(crate) use std::{fs, thread};

pub(crate) use jiff::Timestamp;
pub(crate) use rstest::rstest;
pub(crate) use rustix::process::Signal;
pub(crate) use serde_json::{Value, json};

pub(crate) use super::api::{Api, Request, Step};
pub(crate) use super::env::{Hook, NOW, TestEnv, includes, set_mode, texts, write, write_program};
pub(crate) use super::git::{git, try_git};
pub(crate) use super::hook::merge;
pub(crate) use super::learned::*;
pub(crate) use super::processes::signal;
pub(crate) use super::programs;
pub(crate) use super::queue::record_by_hand;
pub(crate) use super::run::{DEADLINE, Output, Running, Stdin, wait_for, wait_until};
pub(crate) use super::session::Session;
pub(crate) use super::story::*;
