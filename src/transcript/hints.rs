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

use std::collections::HashSet;
use std::sync::Arc;

use super::attempt::Attempt;
use super::event::{Call, Failure};
use crate::memory::{Effect, Shown, Signature};

const HEADING: &str = "Playbook: ";
const PREFIXES: [&str; 3] = ["les-", "ref-", "err-"];
const DIGITS: usize = 12;
/// How many ids one attachment may hold.
const MAX_IDS: usize = 8;
/// How many texts with hints count in one range.
const MAX_SHOWN: usize = 100;
/// How many failed calls are remembered for the attachments that follow them.
const MAX_FAILED: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Hints {
    failed: Vec<(Box<str>, Failed)>,
    /// The calls after which something was shown: each counts once.
    shown_for: HashSet<Box<str>>,
    given: Vec<Given>,
}

#[derive(Debug, Clone)]
struct Failed {
    attempt: Attempt,
    error: Option<Signature>,
}

/// The hints of one text, and what they did as far as it is known.
#[derive(Debug)]
struct Given {
    ids: Vec<String>,
    effect: Option<Effect>,
    when: When,
}

/// When hints were given.
#[derive(Debug)]
enum When {
    /// After the call of this id failed; how, once that is known.
    AfterFailure(Box<str>, Option<Failed>),
    /// With a prompt; the value tells whether the assistant has spoken of it.
    WithPrompt(bool),
}

impl Hints {
    /// Takes what a hook told the model after the call `tool_use` failed, or with a prompt.
    pub(crate) fn shown(&mut self, text: &str, tool_use: Option<&str>) {
        let ids = ids(text);
        if ids.is_empty() || self.given.len() == MAX_SHOWN {
            return;
        }
        let when = match tool_use {
            None => When::WithPrompt(false),
            Some(id) if self.shown_for.insert(id.into()) => {
                let failed = self.failed.iter().find(|(known, _)| **known == *id);
                When::AfterFailure(id.into(), failed.map(|(_, failed)| failed.clone()))
            }
            Some(_) => return,
        };
        self.given.push(Given {
            ids,
            effect: None,
            when,
        });
    }

    pub(crate) fn failed(&mut self, id: &str, call: &Arc<Call>, failure: &Failure) {
        let new = Failed {
            attempt: Attempt::of(call),
            error: failure.error,
        };
        for given in &mut self.given {
            match &mut given.when {
                When::AfterFailure(own, failed @ None) if **own == *id => {
                    *failed = Some(new.clone());
                }
                _ => {}
            }
        }
        self.settle(Effect::Failed, |own, old| {
            let same_error = old.error.is_some() && old.error == new.error;
            let again = old.attempt.call == new.attempt.call;
            own != id && (again || (same_error && new.attempt.is_like(&old.attempt)))
        });
        if self.failed.len() == MAX_FAILED {
            self.failed.remove(0);
        }
        self.failed.push((id.into(), new));
    }

    /// Tells whether hints were shown after the call `tool_use` failed.
    pub(crate) fn were_shown_for(&self, tool_use: &str) -> bool {
        self.shown_for.contains(tool_use)
    }

    pub(crate) fn worked(&mut self, call: &Arc<Call>) {
        if !self.given.is_empty() {
            let attempt = Attempt::of(call);
            self.settle(Effect::Helped, |_, old| attempt.makes_good(&old.attempt));
        }
    }

    pub(crate) fn said(&mut self, text: &str) {
        for given in &mut self.given {
            if let When::WithPrompt(is_named) = &mut given.when {
                *is_named |= given.ids.iter().any(|id| text.contains(&format!("[{id}]")));
            }
        }
    }

    /// The user refused a call or stopped the agent.
    pub(crate) fn objected(&mut self) {
        self.end_turn(Effect::Failed);
    }

    /// The user goes on to something else.
    pub(crate) fn prompted(&mut self) {
        self.end_turn(Effect::Helped);
    }

    pub(crate) fn finish(mut self) -> Vec<Shown> {
        self.prompted();
        let shown = self.given.into_iter().flat_map(|given| {
            let effect = given.effect.unwrap_or(Effect::Unknown);
            given.ids.into_iter().map(move |id| Shown { id, effect })
        });
        shown.collect()
    }

    fn end_turn(&mut self, effect: Effect) {
        for given in &mut self.given {
            if let When::WithPrompt(is_named) = given.when {
                let seen = if is_named { effect } else { Effect::Unknown };
                given.effect.get_or_insert(seen);
            }
        }
    }

    /// Notes an effect of the hints that were given after such a failed call.
    fn settle(&mut self, effect: Effect, is_it: impl Fn(&str, &Failed) -> bool) {
        for given in &mut self.given {
            if let When::AfterFailure(id, Some(failed)) = &given.when
                && is_it(id, failed)
            {
                given.effect.get_or_insert(effect);
            }
        }
    }
}

/// The ids of the hints in a text of ours, each once: `- [les-…] …` on lines of their own
/// below our heading.
fn ids(text: &str) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    if !text.trim_start().starts_with(HEADING) {
        return ids;
    }
    for line in text.lines() {
        let id = line
            .strip_prefix("- [")
            .and_then(|rest| rest.split_once(']'));
        if let Some((id, _)) = id.filter(|(id, _)| is_id(id))
            && !ids.iter().any(|known| known == id)
            && ids.len() < MAX_IDS
        {
            ids.push(id.to_owned());
        }
    }
    ids
}

fn is_id(text: &str) -> bool {
    let digits = PREFIXES
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix))
        .unwrap_or_default();
    let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    digits.len() == DIGITS && digits.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::failure;
    use rstest::rstest;

    const TOLD: &str =
        "Playbook: this error struck once before.\n- [les-0123456789ab] what helped: x";

    fn call(input: &str) -> Arc<Call> {
        Arc::new(Call {
            tool: "Bash".to_owned(),
            input: input.to_owned(),
        })
    }

    fn fails(hints: &mut Hints, id: &str, input: &str, error: &str) {
        hints.failed(id, &call(input), &failure::read(&call(input), error));
    }

    fn effects(hints: Hints) -> Vec<Effect> {
        hints
            .finish()
            .into_iter()
            .map(|shown| shown.effect)
            .collect()
    }

    const MISSING: &str = "ModuleNotFoundError: No module named 'yaml'";

    #[rstest]
    #[case::it_works(&[("w", "pytest", "")], Effect::Helped)]
    #[case::it_fails_again(&[("a", "pytest", MISSING), ("w", "pytest", "")], Effect::Failed)]
    #[case::it_fails_otherwise(&[("a", "pytest", "AssertionError: 1 != 2")], Effect::Failed)]
    #[case::one_like_it_fails_alike(&[("a", "pytest tests/", MISSING)], Effect::Failed)]
    #[case::one_like_it_fails_otherwise(&[("a", "pytest tests/", "AssertionError: 1 != 2")], Effect::Unknown)]
    #[case::something_else(&[("w", "ls -l", "")], Effect::Unknown)]
    fn what_follows_a_failure_judges_the_hint(
        #[case] then: &[(&str, &str, &str)],
        #[case] effect: Effect,
    ) {
        let mut hints = Hints::default();
        fails(&mut hints, "t1", "pytest", MISSING);
        hints.shown(TOLD, Some("t1"));
        hints.shown(TOLD, Some("t1"));
        for (what, input, error) in then {
            if *what == "w" {
                hints.worked(&call(input));
            } else {
                fails(&mut hints, "t2", input, error);
            }
        }
        assert_eq!(effects(hints), [effect]);
    }

    #[test]
    fn the_attachment_may_stand_before_the_answer_it_is_about() {
        let mut hints = Hints::default();
        hints.shown(TOLD, Some("t1"));
        fails(&mut hints, "t1", "pytest", MISSING);
        hints.worked(&call("pytest"));
        assert_eq!(effects(hints), [Effect::Helped]);
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
            hints.objected();
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
