//! subagent-start: gives a subagent the playbook if its end is learned from.
//!
//! Its context is separate and does not contain what its session received. The given text is in its
//! transcript, where the worker finds it.

use std::io::Write;

use jiff::SignedDuration;

use super::answer::HookAnswer;
use super::context::HookContext;
use super::source::{AnswerSource, SourceDoubt};
use super::{enqueue, throttle};
use crate::fsx::FsError;
use crate::open_session;
use crate::prepared::StartKind;

/// The time within which a subagent receives its context once, even if two hooks are registered.
const ONCE_WITHIN: SignedDuration = SignedDuration::from_secs(10);

/// Agents without a type are the client's own, such as the one that summarizes a conversation.
pub(super) fn start(
    context: &HookContext<'_>,
    source: &dyn AnswerSource,
    out: &mut dyn Write,
) -> Result<Result<(), FsError>, SourceDoubt> {
    let agent = context.input.agent_id.as_ref();
    let agent = agent.filter(|_| context.input.agent_type.is_some());
    let Some((agent, session)) = agent.zip(context.input.session.as_ref()) else {
        return Ok(Ok(()));
    };
    if !enqueue::learns_from_subagents(context) {
        return Ok(Ok(()));
    }
    let given = source.given(context, context.need().as_ref(), StartKind::Short)?;
    let file = open_session::injection_file(&context.paths, session, agent);
    if let Some(given) = given.injection
        && throttle::is_due(&file, context.now, ONCE_WITHIN)
    {
        HookAnswer {
            context: Some(given.text),
            ..HookAnswer::default()
        }
        .give(context.event, out);
    }
    Ok(Ok(()))
}
