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

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use super::aim::Aim;
use super::event::{Call, Failure};
use crate::memory::{Effect, Shown, Signature};

/// How every text of ours begins that holds hints.
const HEADING: &str = "Playbook: ";
/// What the ids of hints begin with.
const PREFIXES: [&str; 3] = ["les-", "ref-", "err-"];
/// Hexadecimal digits of an id.
const DIGITS: usize = 12;
/// How many ids one attachment may hold.
const MAX_IDS: usize = 8;
/// How many hints are waited on at a time.
const MAX_OPEN: usize = 64;
/// How many hints count in one range.
const MAX_HINTS: usize = 500;
/// How many failed calls are remembered for the attachments that follow them.
const MAX_FAILED: usize = 64;

/// Follows the hints of one range.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    failed: VecDeque<Failed>,
    open: Vec<Open>,
    /// The calls after which something was shown: each counts once.
    shown_for: HashSet<Box<str>>,
    done: Vec<Shown>,
}

/// A call that failed.
#[derive(Debug, Clone)]
struct Failed {
    id: Box<str>,
    call: Arc<Call>,
    aim: Aim,
    error: Signature,
}

/// Hints of which it is not known yet what they did.
#[derive(Debug)]
struct Open {
    ids: Vec<String>,
    given: Given,
}

/// When hints were given.
#[derive(Debug)]
enum Given {
    /// After this call failed, once that is known.
    AfterFailure {
        tool_use: Box<str>,
        failed: Option<Failed>,
    },
    /// With a prompt; `named` once the assistant spoke of it.
    WithPrompt { named: bool },
}

impl Hints {
    /// Takes what a hook told the model after the call `tool_use` failed, or with a prompt.
    pub(crate) fn shown(&mut self, text: &str, tool_use: Option<&str>) {
        let ids = ids(text);
        if ids.is_empty() || self.done.len() + self.waiting() >= MAX_HINTS {
            return;
        }
        let given = match tool_use {
            None => Given::WithPrompt { named: false },
            Some(tool_use) => {
                if !self.shown_for.insert(tool_use.into()) {
                    return;
                }
                let failed = self.failed.iter().find(|f| *f.id == *tool_use).cloned();
                Given::AfterFailure {
                    tool_use: tool_use.into(),
                    failed,
                }
            }
        };
        if self.open.len() == MAX_OPEN {
            let oldest = self.open.remove(0);
            self.settle(oldest.ids, Effect::Unknown);
        }
        self.open.push(Open { ids, given });
    }

    /// Takes a call that failed.
    pub(crate) fn failed(&mut self, id: &str, call: &Arc<Call>, failure: &Failure) {
        let new = Failed {
            id: id.into(),
            call: call.clone(),
            aim: Aim::of(call),
            error: failure.error,
        };
        for open in &mut self.open {
            if let Given::AfterFailure { tool_use, failed } = &mut open.given
                && failed.is_none()
                && **tool_use == *id
            {
                *failed = Some(new.clone());
            }
        }
        self.settle_where(Effect::Failed, |old| {
            let again = old.call == new.call;
            let alike = old.error == new.error && new.aim.is_like(&old.aim);
            old.id != new.id && (again || alike)
        });
        if self.failed.len() == MAX_FAILED {
            self.failed.pop_front();
        }
        self.failed.push_back(new);
    }

    /// Tells whether hints were shown after the call `tool_use` failed.
    pub(crate) fn were_shown_for(&self, tool_use: &str) -> bool {
        self.shown_for.contains(tool_use)
    }

    /// Takes a call that worked.
    pub(crate) fn worked(&mut self, call: &Arc<Call>) {
        if !self.open.is_empty() {
            let aim = Aim::of(call);
            self.settle_where(Effect::Helped, |old| aim.makes_good(&old.aim));
        }
    }

    /// Takes a text of the assistant.
    pub(crate) fn said(&mut self, text: &str) {
        for open in &mut self.open {
            if let Given::WithPrompt { named } = &mut open.given {
                *named |= open.ids.iter().any(|id| text.contains(&format!("[{id}]")));
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

    /// Returns what all hints did.
    pub(crate) fn finish(mut self) -> Vec<Shown> {
        self.prompted();
        for open in std::mem::take(&mut self.open) {
            self.settle(open.ids, Effect::Unknown);
        }
        self.done
    }

    fn end_turn(&mut self, effect: Effect) {
        for open in std::mem::take(&mut self.open) {
            match open.given {
                Given::WithPrompt { named: true } => self.settle(open.ids, effect),
                Given::WithPrompt { named: false } => self.settle(open.ids, Effect::Unknown),
                Given::AfterFailure { .. } => self.open.push(open),
            }
        }
    }

    fn settle_where(&mut self, effect: Effect, is_it: impl Fn(&Failed) -> bool) {
        for open in std::mem::take(&mut self.open) {
            match &open.given {
                Given::AfterFailure {
                    failed: Some(failed),
                    ..
                } if is_it(failed) => self.settle(open.ids, effect),
                _ => self.open.push(open),
            }
        }
    }

    fn settle(&mut self, ids: Vec<String>, effect: Effect) {
        self.done
            .extend(ids.into_iter().map(|id| Shown { id, effect }));
    }

    fn waiting(&self) -> usize {
        self.open.iter().map(|open| open.ids.len()).sum()
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
    #[case::one_like_it_works(&[("w", "pytest tests/", "")], Effect::Helped)]
    #[case::it_fails_again(&[("a", "pytest", MISSING), ("w", "pytest", "")], Effect::Failed)]
    #[case::it_fails_otherwise(&[("a", "pytest", "AssertionError: 1 != 2")], Effect::Failed)]
    #[case::one_like_it_fails_alike(&[("a", "pytest tests/", MISSING)], Effect::Failed)]
    #[case::one_like_it_fails_otherwise(&[("a", "pytest tests/", "AssertionError: 1 != 2")], Effect::Unknown)]
    #[case::otherwise_then_works(&[("a", "pytest tests/", "AssertionError: 1 != 2"), ("w", "pytest", "")], Effect::Helped)]
    #[case::something_else(&[("w", "ls -l", "")], Effect::Unknown)]
    #[case::another_file(&[("w", "pytest --version", "")], Effect::Unknown)]
    #[case::may_have_failed(&[("w", "pytest | tail -3", "")], Effect::Unknown)]
    #[case::nothing(&[], Effect::Unknown)]
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
