//! `playbook-server`: access to the memory for other programs and other machines.
//!
//! MCP calls the program `playbook`; the HTTP server (`http`) uses the memory directly. `send` is for
//! `playbook` itself, which links no client of `PostgreSQL`.

mod http;
mod mcp;
mod postgres;
mod send;
mod tokens;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use deadpool_postgres::Object;
use playbook::service::Service;
use playbook::sharing::Sending;
use rmcp::ServiceExt as _;
use serde_json::json;

use crate::postgres::Address;
use crate::postgres::roles::{self, TenantName};
use crate::tokens::TokenFile;

/// The number of simultaneous queries; each has its own connection with a cache.
const BLOCKING_THREADS: usize = 16;

/// Serves what was learned to other programs and machines
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
    /// Write what waits to the database of `memory.url`; `playbook` does so by itself
    #[command(hide = true)]
    Send,
    /// Answer a question of `playbook`, JSON on stdin, from that database
    #[command(hide = true)]
    Ask,
    /// Make the tables in the database of `memory.url`
    Init,
    /// Make the role of a tenant there, for its machines and the server
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
            let text = format!("{error:#}");
            // The hint is a separate line, as `playbook` prints it.
            eprintln!("error: {}", text.replacen("; hint: ", "\nhint: ", 1));
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
            ServerCommand::Send => send::run().await?,
            ServerCommand::Ask => println!("{}", send::ask().await?),
            ServerCommand::Init => {
                let password = roles::init(&mut owner().await?).await?;
                print_role(roles::SERVER, password.as_deref());
            }
            ServerCommand::Tenant { name } => {
                let name = TenantName::parse(&name)?;
                let password = roles::add_tenant(&mut owner().await?, &name).await?;
                print_role(&name.role(), password.as_deref());
            }
            ServerCommand::Token(action) => token(&action)?,
            ServerCommand::Serve(options) => http::serve(&options).await?,
        }
        Ok(())
    })
}

async fn owner() -> anyhow::Result<Object> {
    let login = Sending::login()?.context(
        "there is no address of a database; hint: set PLAYBOOK_MEMORY_URL for this command to that \
         of a role that may make roles",
    )?;
    postgres::connect(&Address::of(&login)?).await
}

/// The password is shown only once.
fn print_role(role: &str, password: Option<&str>) {
    println!("{}", json!({"role": role, "password": password}));
    eprintln!(
        "{}",
        match password {
            Some(_) => "The password is told this once and stored nowhere.",
            None => "The role was there already; it keeps its password.",
        }
    );
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
                let day = token.created.strftime("%F");
                println!("{}  {day}  {}", token.id, token.tenant);
            }
        }
        TokenAction::Revoke { id } => tokens.revoke(id)?,
    }
    Ok(())
}
