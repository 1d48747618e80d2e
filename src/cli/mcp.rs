//! `playbook mcp`: becomes the program that answers MCP clients, so that this one links nothing of it.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::Context as _;

use super::output::Hinted;

const PROGRAM: &str = "playbook-server";

pub(super) fn run() -> anyhow::Result<()> {
    let own = std::env::current_exe().context("could not find this program")?;
    let beside = own.with_file_name(PROGRAM);
    let program = if beside.is_file() {
        beside
    } else {
        PROGRAM.into()
    };
    let error = Command::new(program).arg("mcp").exec();
    Err(Hinted::error(
        format!("could not start `{PROGRAM}`: {error}"),
        "`./install.sh --server` puts it beside `playbook`",
    ))
}
