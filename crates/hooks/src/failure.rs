//! post-tool-use-failure: has this error struck before, and what helped then?

use std::io::Write;

use crate::errors::error_signature;
use crate::fsx::FsError;
use crate::hint::{Hint, SHOWN_FROM};

use super::answer::HookAnswer;
use super::context::HookContext;
use super::hints::{self, MOST};

/// Says what helped against an error that struck before, once for each error and session.
/// An error that says nothing is met with silence.
pub(super) fn run(context: &HookContext<'_>, out: &mut dyn Write) -> Result<(), FsError> {
    let settings = context.settings.as_ref();
    let is_wanted = settings.is_none_or(|settings| settings.on_tool_failure);
    let input = &context.input;
    // An interrupt is the user's doing, not an error.
    let (Some(tool), Some(error), true, false) =
        (&input.tool, &input.error, is_wanted, input.is_interrupt)
    else {
        return Ok(());
    };
    let command = input.command.as_deref().unwrap_or_default();
    let Some(signature) = error_signature(tool, command, error) else {
        return Ok(());
    };
    let Some(index) = hints::open(context) else {
        return Ok(());
    };
    let found = index.for_signature(signature, SHOWN_FROM, MOST);
    let Some(told) = hints::tell(&heading(context, &found), &found) else {
        return Ok(());
    };
    if hints::is_news(context, &signature.to_string())? {
        HookAnswer {
            told: hints::to_user(context, &told),
            context: Some(told),
            ..HookAnswer::default()
        }
        .give(context.event, out);
    }
    Ok(())
}

/// Returns how often and when the lessons were learned.
fn heading(context: &HookContext<'_>, found: &[Hint]) -> String {
    let count = found.iter().map(|hint| hint.occurrences).max().unwrap_or(0);
    let last = found.iter().map(|hint| hint.last_seen).max();
    let times = hints::times(count);
    let ago = last.map_or_else(String::new, |last| hints::ago(last, context.now));
    format!("Playbook: lessons about this error, learned {times}, last {ago}.")
}
