//! The tools that an MCP client is offered: few, and described in few words, because each word of
//! a description is paid for in every session.

use std::path::PathBuf;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{ServerCapabilities, ServerConfig};
use rmcp::schemars::{self, JsonSchema};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use serde::Deserialize;

use crate::program::ask;

/// What was learned in the project of this folder.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    program: PathBuf,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Recall {
    /// What it is about, in a few words
    query: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Seen {
    /// The error's text
    error: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Remember {
    /// One sentence that holds in later sessions, too
    text: String,
    /// patterns, mistakes, preferences, context or others
    section: Option<String>,
}

#[tool_router]
impl Memory {
    pub(crate) fn new(program: PathBuf) -> Self {
        Self { program }
    }

    #[tool(description = "Search what earlier sessions of this project learned")]
    async fn recall(
        &self,
        Parameters(Recall { query }): Parameters<Recall>,
    ) -> Result<String, String> {
        self.ask(["recall".into(), "--".into(), query]).await
    }

    #[tool(description = "Ask whether an error came up before, and what fixed it")]
    async fn seen(&self, Parameters(Seen { error }): Parameters<Seen>) -> Result<String, String> {
        self.ask(["seen".into(), "--".into(), error]).await
    }

    #[tool(description = "Show the key points of this project")]
    async fn show(&self) -> Result<String, String> {
        self.ask(["show".into()]).await
    }

    #[tool(description = "Propose a key point; the user decides in `playbook review`")]
    async fn remember(
        &self,
        Parameters(Remember { text, section }): Parameters<Remember>,
    ) -> Result<String, String> {
        let section = format!("--section={}", section.as_deref().unwrap_or("others"));
        self.ask(["add".into(), "--propose".into(), section, "--".into(), text])
            .await
    }
}

impl Memory {
    async fn ask<const N: usize>(&self, command: [String; N]) -> Result<String, String> {
        let told = ask(&self.program, &command).await;
        told.map_err(|error| format!("{error:#}"))
    }
}

#[tool_handler]
impl ServerHandler for Memory {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}
