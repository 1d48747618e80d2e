//! `playbook-server`: what was learned, for other programs and other machines.
//!
//! MCP puts each question to the program `playbook`; the exchange with others (`sync`) and the
//! HTTP server (`http`) work on the memory itself.

mod http;
mod init;
mod mcp;
mod postgres;
mod sync;
mod tokens;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use playbook::service::Service;
use rmcp::ServiceExt as _;

use crate::postgres::roles::TenantName;
use crate::tokens::TokenFile;

/// So many questions are put to databases of this machine at once: each has a connection of its own,
/// with a cache.
const BLOCKING_THREADS: usize = 16;

/// What was learned, for other programs and other machines
#[derive(Debug, Parser)]
#[command(name = "playbook-server", version)]
struct ServerCli {
    #[command(subcommand)]
    command: ServerCommand,
}

#[derive(Debug, Subcommand)]
enum ServerCommand {
    /// Answer an MCP client on stdin and stdout, about this folder
    Mcp,
    /// Exchange what was learned with the others of `memory.url`
    Sync,
    /// Make the tables in the database of `memory.url`
    Init,
    /// Make the role of a tenant there, for `playbook sync` and the server
    Tenant {
        /// The tenant's name: a-z, 0-9, `-` and `_`
        name: String,
    },
    /// Make, list or revoke the tokens of tenants
    #[command(subcommand)]
    Token(TokenAction),
    /// Serve what was learned over HTTP
    Serve(http::ServerOptions),
}

#[derive(Debug, Subcommand)]
enum TokenAction {
    /// Make a token for a tenant, and print it this once
    New {
        /// The tenant's name: a-z, 0-9, `-` and `_`; `default` is you
        tenant: String,
    },
    /// List the tokens: id, tenant and day, a line each
    List,
    /// Have a token be known no longer
    Revoke {
        /// Its id
        id: String,
    },
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let told = format!("{error:#}");
            // What follows is another line, as `playbook` has it.
            eprintln!("error: {}", told.replacen("; hint: ", "\nhint: ", 1));
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let command = ServerCli::parse().command;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        match command {
            ServerCommand::Mcp => {
                let service = mcp::ProjectMemory::new(mcp::find()?);
                let service = service.serve(rmcp::transport::stdio()).await?;
                service.waiting().await?;
            }
            ServerCommand::Sync => eprintln!("{}", sync::run().await?),
            ServerCommand::Init => init::tables().await?,
            ServerCommand::Tenant { name } => init::tenant(&name).await?,
            ServerCommand::Token(action) => token(&action)?,
            ServerCommand::Serve(options) => http::serve(&options).await?,
        }
        Ok(())
    })
}

fn token(action: &TokenAction) -> anyhow::Result<()> {
    let service = Service::open()?;
    let tokens = TokenFile::new(service.tokens_file());
    match action {
        TokenAction::New { tenant } => {
            let tenant = TenantName::parse(tenant)?;
            println!("{}", tokens.add(&tenant, service.now())?);
        }
        TokenAction::List => {
            for token in tokens.all()? {
                println!(
                    "{}  {}  {}",
                    token.id,
                    token.created.strftime("%F"),
                    token.tenant
                );
            }
        }
        TokenAction::Revoke { id } => tokens.revoke(id)?,
    }
    Ok(())
}
