//! stop: the gate's verdict on a turn that ends. Only the whole program can reach it.

use std::io::Write;
use std::path::Path;

use super::answer::HookAnswer;
use super::context::HookContext;
use super::source::{AnswerSource, SourceDoubt};

#[derive(Debug, Clone, Copy)]
pub struct EndedTurn<'a> {
    pub session: &'a str,
    /// The session's transcript; its last lines may not be written yet.
    pub transcript: &'a Path,
    /// The id of the turn's prompt, if the client reports it.
    pub prompt: Option<&'a str>,
    pub message: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnVerdict {
    /// The turn ends, and the user sees this text.
    Tell(String),
    /// The turn continues with this guidance.
    Block(String),
}

impl TurnVerdict {
    pub fn text(&self) -> &str {
        match self {
            Self::Tell(text) | Self::Block(text) => text,
        }
    }
}

/// Answers for the session's own turns, unless a background task is running: it starts another turn
/// when it ends.
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
