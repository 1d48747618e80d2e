//! `playbook-server`: what was learned, for other programs.
//!
//! It links nothing of Playbook. Each question is put to the program `playbook`, so that masks,
//! screening and trust are the same as on the command line.

mod mcp;
mod program;

use clap::{Parser, Subcommand};
use rmcp::ServiceExt as _;

/// What was learned, for other programs
#[derive(Debug, Parser)]
#[command(name = "playbook-server", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Answer an MCP client on stdin and stdout, for the project of this folder
    Mcp,
}

fn main() -> anyhow::Result<()> {
    let Command::Mcp = Cli::parse().command;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let service = mcp::Memory::new(program::find()?);
        let service = service.serve(rmcp::transport::stdio()).await?;
        service.waiting().await?;
        Ok(())
    })
}
