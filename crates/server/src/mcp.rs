//! The tools for an MCP client: few, with short descriptions, because every session pays for each
//! word. The program `playbook` does the work.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{Implementation, ServerCapabilities, ServerConfig};
use rmcp::schemars::{self, JsonSchema};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use serde::Deserialize;
use tokio::process::Command;

const NAME: &str = "playbook";
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest answer, in bytes: the agent pays for its tokens.
const LONGEST: usize = 16 << 10;
/// The variable that marks an agent's call, as opposed to the user's.
const BY_AGENT: (&str, &str) = ("CLAUDECODE", "1");

#[derive(Debug, Clone)]
pub(crate) struct ProjectMemory {
    program: PathBuf,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct RecallInput {
    /// The subject, in a few words
    query: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct SeenInput {
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
impl ProjectMemory {
    pub(crate) fn new(program: PathBuf) -> Self {
        Self { program }
    }

    #[tool(description = "Search what earlier sessions of this project learned")]
    async fn recall(
        &self,
        Parameters(RecallInput { query }): Parameters<RecallInput>,
    ) -> Result<String, String> {
        self.ask(["recall".into(), "--".into(), query]).await
    }

    #[tool(description = "Ask whether an error came up before, and what was learned about it")]
    async fn seen(
        &self,
        Parameters(SeenInput { error }): Parameters<SeenInput>,
    ) -> Result<String, String> {
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

impl ProjectMemory {
    async fn ask<const N: usize>(&self, command: [String; N]) -> Result<String, String> {
        let answer = self.answer(&command).await;
        answer.map_err(|error| format!("{error:#}"))
    }

    /// Exit status 1 with an output is an answer: `playbook seen` uses it for "not seen".
    async fn answer(&self, command: &[String]) -> anyhow::Result<String> {
        let child = Command::new(&self.program)
            .args(command)
            .env(BY_AGENT.0, BY_AGENT.1)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(PATIENCE, child).await;
        let output = output.context("`playbook` has not answered in 30 s")??;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        let mut answer = text(&output.stdout);
        if answer.is_empty() && !output.status.success() {
            bail!("{}", text(&output.stderr));
        }
        if let Some((cut, _)) = answer.char_indices().find(|(at, _)| *at >= LONGEST) {
            answer.truncate(cut);
            answer.push_str("\n(cut off)");
        }
        Ok(if answer.is_empty() {
            "nothing".to_owned()
        } else {
            answer
        })
    }
}

#[tool_handler]
impl ServerHandler for ProjectMemory {
    fn get_info(&self) -> ServerConfig {
        let offers = ServerCapabilities::builder().enable_tools().build();
        let about = Implementation::new(NAME, env!("CARGO_PKG_VERSION"));
        ServerConfig::new(offers).with_server_info(about)
    }
}

pub(crate) fn find() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("could not find this program")?;
    let neighbour = own.with_file_name(NAME);
    #[expect(
        clippy::disallowed_methods,
        reason = "this crate links nothing of Playbook"
    )]
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join(NAME));
    let found = std::iter::once(neighbour)
        .chain(on_path)
        .find(|file| file.is_file());
    found.context("could not find the program `playbook`; hint: ./install.sh installs both")
}
