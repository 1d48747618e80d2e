//! What nearly every test names.
#![allow(unused_imports, reason = "each test binary uses its own part of this")]

pub(crate) use rstest::rstest;
pub(crate) use serde_json::{Value, json};

pub(crate) use super::api::{Api, Request, Step};
pub(crate) use super::env::{Hook, NOW, TestEnv, includes, set_mode, texts, write, write_program};
pub(crate) use super::run::{DEADLINE, Output, Running, Stdin, wait_for, wait_until};
pub(crate) use super::session::Session;
