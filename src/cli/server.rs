//! `playbook mcp`, `playbook sync` and `playbook server`: become `playbook-server`, so that this
//! program links nothing of it.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::Context as _;

use super::output::Hinted;
use crate::env::{Env, name};

const PROGRAM: &str = "playbook-server";

pub(super) fn run(arguments: impl IntoIterator<Item = OsString>) -> anyhow::Result<()> {
    let error = Command::new(program()?).args(arguments).exec();
    Err(Hinted::error(
        format!("could not start `{PROGRAM}`: {error}"),
        "`./install.sh --server` puts it beside `playbook`",
    ))
}

/// Starts an exchange with others, for which nobody waits: what goes wrong with it is kept for
/// `playbook status`.
pub(super) fn start_sync() -> anyhow::Result<()> {
    Command::new(program()?)
        .arg("sync")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("could not start `{PROGRAM}`"))
        .map(drop)
}

pub(super) fn is_there(env: &Env) -> bool {
    let path = env.os(name::PATH).unwrap_or_default();
    let on_path = || std::env::split_paths(path).any(|folder| folder.join(PROGRAM).is_file());
    program().is_ok_and(|program| program.is_absolute() || on_path())
}

fn program() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("could not find this program")?;
    let beside = own.with_file_name(PROGRAM);
    Ok(if beside.is_file() {
        beside
    } else {
        PROGRAM.into()
    })
}
