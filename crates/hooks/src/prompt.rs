//! user-prompt-submit: what was learned that this prompt touches.

use std::io::Write;

use crate::fsx::FsError;

use super::answer::Answer;
use super::context::Context;
use super::hints::{self, MOST};

/// The prompt must have this share of a hint's words, rare ones weighing more: less is
/// chance.
const RELEVANT: f64 = 0.15;
/// The worker learns what helped from the ids that the model names.
const HEADING: &str =
    "Playbook: learned earlier in this project; name the id in brackets when you act on one.";
/// What the client sends as a prompt though no user wrote it.
const TASK_NOTIFICATION: &str = "<task-notification>";

/// Gives the best lessons and strategies for a prompt, each once for each session.
pub(super) fn run(context: &Context<'_>, out: &mut dyn Write) -> Result<(), FsError> {
    let is_wanted = context
        .settings
        .as_ref()
        .is_some_and(|settings| settings.on_prompt);
    let Some(prompt) = context.input.prompt.as_deref().filter(|_| is_wanted) else {
        return Ok(());
    };
    if prompt.trim_start().starts_with(TASK_NOTIFICATION) {
        return Ok(());
    }
    let Some(index) = hints::open(context) else {
        return Ok(());
    };
    let mut found = index.for_prompt(prompt, RELEVANT, MOST);
    found.retain(hints::is_tellable);
    let mut news = Vec::new();
    for hint in found {
        if hints::is_news(context, &hint.id)? {
            news.push(hint);
        }
    }
    Answer {
        context: hints::tell(HEADING, &news),
        ..Answer::default()
    }
    .give(context.event, out);
    Ok(())
}
