//! What came of the hints that our own hooks gave: pure, from what the session shows.
//!
//! A hint stands in the transcript as an attachment of a hook, under a heading of ours. One
//! that was given after a failed call is judged by the next calls that try the same:
//!
//! | what follows first | effect |
//! |---|---|
//! | the same call, or one like it, works | helped |
//! | the same call fails again, or one like it with the same error | failed |
//! | neither | unknown |
//!
//! A call like it that fails with another error decides nothing: the hint may have helped
//! with the first. One that was given with a prompt is judged when the assistant names its
//! id: it failed when the user refused a call or stopped the agent before the
//! next prompt, else it helped.

use crate::hint::{Effect, EffectWhenShown, is_memory_id};

const HEADING: &str = "Playbook: ";
/// How many ids one attachment may hold.
const MAX_IDS: usize = 8;
/// How many texts with hints count in one range.
const MAX_SHOWN: usize = 100;
/// The hints of one text, and what they did as far as it is known.
#[derive(Debug)]
struct GivenHints {
    ids: Vec<String>,
    effect: Option<Effect>,
    /// The call after whose failure they were given, else they came with a prompt.
    call: Option<String>,
    /// Whether the assistant has spoken of those that came with a prompt.
    is_named: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Hints {
    given: Vec<GivenHints>,
}

impl Hints {
    /// Takes what a hook told the model after the call `tool_use` failed, or with a prompt.
    pub(crate) fn shown(&mut self, text: &str, tool_use: Option<&str>) {
        let ids = ids(text);
        let mut calls = self.given.iter().map(|given| given.call.as_deref());
        let is_known = tool_use.is_some() && calls.any(|call| call == tool_use);
        if ids.is_empty() || is_known || self.given.len() == MAX_SHOWN {
            return;
        }
        self.given.push(GivenHints {
            ids,
            effect: None,
            call: tool_use.map(Into::into),
            is_named: false,
        });
    }

    /// Notes an effect of the hints that were given after one of these calls had failed.
    pub(crate) fn settle(&mut self, calls: &[String], effect: Effect) {
        for given in &mut self.given {
            if given.call.as_ref().is_some_and(|call| calls.contains(call)) {
                given.effect.get_or_insert(effect);
            }
        }
    }

    pub(crate) fn said(&mut self, text: &str) {
        for given in &mut self.given {
            given.is_named |= given.ids.iter().any(|id| text.contains(&format!("[{id}]")));
        }
    }

    /// The user refused a call or stopped the agent (failed), or goes on to something else.
    pub(crate) fn end_turn(&mut self, effect: Effect) {
        for given in self.given.iter_mut().filter(|given| given.call.is_none()) {
            let seen = if given.is_named {
                effect
            } else {
                Effect::Unknown
            };
            given.effect.get_or_insert(seen);
        }
    }

    pub(crate) fn finish(mut self) -> Vec<EffectWhenShown> {
        self.end_turn(Effect::Helped);
        let shown = self.given.into_iter().flat_map(|given| {
            let effect = given.effect.unwrap_or(Effect::Unknown);
            given
                .ids
                .into_iter()
                .map(move |id| EffectWhenShown { id, effect })
        });
        shown.collect()
    }
}

/// The ids of the hints in a text of ours: `- [les-…] …` on lines of their own below our
/// heading, which in the gate's guidance stands after what it found.
fn ids(text: &str) -> Vec<String> {
    let mut below = text.lines().map(str::trim_start);
    if !below.any(|line| line.starts_with(HEADING)) {
        return Vec::new();
    }
    let lines = below.filter_map(|line| line.strip_prefix("- [")?.split_once(']'));
    let ids = lines.map(|(id, _)| id.to_owned());
    let mut ids: Vec<String> = ids.filter(|id| is_memory_id(id)).take(MAX_IDS).collect();
    ids.dedup();
    ids
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::event::Call;
    use crate::transcript::failure;
    use crate::transcript::open_calls::OpenCalls;
    use rstest::rstest;
    use std::sync::Arc;

    const TOLD: &str =
        "Playbook: this error struck once before.\n- [les-0123456789ab] what helped: x";
    const MISSING: &str = "ModuleNotFoundError: No module named 'yaml'";

    fn effects(hints: Hints) -> Vec<Effect> {
        hints.finish().iter().map(|shown| shown.effect).collect()
    }

    #[rstest]
    #[case::it_works("pytest", None, Effect::Helped)]
    #[case::it_fails_again("pytest", Some(MISSING), Effect::Failed)]
    #[case::it_fails_otherwise("pytest", Some("AssertionError: 1 != 2"), Effect::Failed)]
    #[case::one_like_it_fails_alike("pytest tests/", Some(MISSING), Effect::Failed)]
    #[case::one_like_it_fails_otherwise(
        "pytest tests/",
        Some("AssertionError: 1 != 2"),
        Effect::Unknown
    )]
    #[case::something_else("ls -l", None, Effect::Unknown)]
    fn what_follows_a_failure_judges_the_hint(
        #[case] then: &str,
        #[case] error: Option<&str>,
        #[case] effect: Effect,
    ) {
        let call = |input: &str| {
            Arc::new(Call {
                tool: "Bash".to_owned(),
                input: input.to_owned(),
                ..Call::default()
            })
        };
        let mut open = OpenCalls::default();
        let fail = |open: &mut OpenCalls, id: &str, input: &str, error: &str| {
            let error = failure::read(&call(input), error).error;
            open.failed(id, &call(input), error)
        };
        fail(&mut open, "t1", "pytest", MISSING);
        let mut hints = Hints::default();
        hints.shown(TOLD, Some("t1"));
        hints.shown(TOLD, Some("t1"));
        if let Some(error) = error {
            hints.settle(&fail(&mut open, "t2", then, error), Effect::Failed);
        } else {
            hints.settle(&open.worked(&call(then)), Effect::Helped);
        }
        assert_eq!(effects(hints), [effect]);
    }

    #[rstest]
    #[case::not_named("Done.", false, Effect::Unknown)]
    #[case::named("By [les-0123456789ab], done.", false, Effect::Helped)]
    #[case::named_and_refused("By [les-0123456789ab], done.", true, Effect::Failed)]
    fn a_hint_to_a_prompt_counts_when_it_is_named(
        #[case] text: &str,
        #[case] objected: bool,
        #[case] effect: Effect,
    ) {
        let mut hints = Hints::default();
        hints.shown(
            "Playbook: learned earlier:\n- [les-0123456789ab] lesson: x",
            None,
        );
        hints.said(text);
        if objected {
            hints.end_turn(Effect::Failed);
        }
        assert_eq!(effects(hints), [effect]);
    }

    #[rstest]
    #[case::not_ours("Other: x\n- [les-0123456789ab] lesson: x")]
    #[case::within_a_text("Playbook: x\n- lesson [les-0123456789ab]")]
    #[case::no_id("Playbook: x\n- [les-0123456789AB] x\n- [pat-001] x\n- [les-")]
    fn only_ids_of_our_own_lines_count(#[case] text: &str) {
        assert_eq!(ids(text), [""; 0]);
    }
}
