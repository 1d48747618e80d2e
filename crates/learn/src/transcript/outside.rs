//! What brings in words of others: tools that read pages or servers, and commands that print
//! what others wrote.

use std::sync::Arc;

use super::event::Call;
use super::shell::{self, SimpleCommand};
use super::words::PRINTS_OTHERS;

/// How the tools of MCP servers are named; those of the editor belong to the client.
const SERVER_TOOL: &str = "mcp__";
const EDITOR_TOOL: &str = "mcp__ide__";

/// Returns `true` for a tool that reads pages, a browser or an MCP server.
pub fn is_outside(tool: &str) -> bool {
    let is_server = tool.starts_with(SERVER_TOOL) && !tool.starts_with(EDITOR_TOOL);
    is_server
        || ["WebFetch", "WebSearch"].contains(&tool)
        || tool.to_ascii_lowercase().contains("browser")
}

/// Returns `true` for a call whose output others may have written: of its errors only the first
/// line is shown.
pub(crate) fn prints_others(call: &Arc<Call>) -> bool {
    let is_listed = || {
        let commands = shell::read(&call.input);
        commands
            .iter()
            .filter_map(SimpleCommand::program)
            .any(|program| PRINTS_OTHERS.has(program.name) || PRINTS_OTHERS.has(&program.subject()))
    };
    call.tool.starts_with(SERVER_TOOL)
        || is_outside(&call.tool)
        || (shell::runs_commands(&call.tool) && is_listed())
}
