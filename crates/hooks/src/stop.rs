//! stop: what the gate says of a turn that ends. Only the whole program can tell.

use std::io::Write;
use std::path::Path;

use super::answer::HookAnswer;
use super::context::HookContext;
use super::source::{AnswerSource, SourceDoubt};

#[derive(Debug, Clone, Copy)]
pub struct EndedTurn<'a> {
    /// The session's id.
    pub session: &'a str,
    /// The session's transcript, whose last lines may be missing still.
    pub transcript: &'a Path,
    /// The id of the prompt that the turn belongs to, from a client that says it.
    pub prompt: Option<&'a str>,
    /// What the agent said last.
    pub message: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnVerdict {
    /// It ends, and the user is told this.
    Tell(String),
    /// It goes on with this guidance.
    Block(String),
}

impl TurnVerdict {
    /// What the user or the agent is told.
    pub fn text(&self) -> &str {
        match self {
            Self::Tell(text) | Self::Block(text) => text,
        }
    }
}

/// Answers for the session's own turns, unless something still runs in the background: that
/// begins a turn of its own when it is over.
pub(super) fn run(
    context: &HookContext<'_>,
    source: &dyn AnswerSource,
    out: &mut dyn Write,
) -> Result<(), SourceDoubt> {
    let input = &context.input;
    if input.agent_id.is_some() || input.has_background_tasks {
        return Ok(());
    }
    let (Some((session, transcript)), Some(message)) = (context.session(), &input.last_message)
    else {
        return Ok(());
    };
    let stop = EndedTurn {
        session,
        transcript,
        prompt: input.prompt_id.as_deref(),
        message,
    };
    let (block, told) = match source.gate(context, &stop)? {
        None => (None, Vec::new()),
        Some(TurnVerdict::Tell(text)) => (None, vec![text]),
        Some(TurnVerdict::Block(guidance)) => (Some(guidance), Vec::new()),
    };
    HookAnswer {
        told,
        block,
        ..HookAnswer::default()
    }
    .give(context.event, out);
    Ok(())
}
