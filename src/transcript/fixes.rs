//! Finds the call that made a failed one good.
//!
//! A later success of the same tool counts when it tries the same thing ([`Aim`]); what else
//! was called in between and may have changed something are the steps on the way.

use std::collections::VecDeque;
use std::sync::Arc;

use super::aim::{Aim, family};
use super::event::{Call, Failure, Fix};
use super::shell;
use crate::memory::Signature;

/// How many failed calls wait for their fix at a time.
const MAX_OPEN: usize = 32;
/// How many calls between failure and fix are remembered.
const MAX_AFTER: usize = 3;

/// The failed calls that are not yet made good.
#[derive(Debug, Default)]
pub(crate) struct Fixes {
    open: VecDeque<Open>,
}

#[derive(Debug)]
struct Open {
    id: Box<str>,
    call: Arc<Call>,
    aim: Aim,
    message: String,
    signature: u64,
    error: Signature,
    names: Vec<String>,
    after: VecDeque<Arc<Call>>,
}

impl Fixes {
    /// Takes a call that failed, under its id.
    pub(crate) fn failed(&mut self, id: &str, call: &Arc<Call>, failure: &Failure) {
        if self.open.len() == MAX_OPEN {
            self.open.pop_front();
        }
        self.open.push_back(Open {
            id: id.into(),
            call: call.clone(),
            aim: Aim::of(call),
            message: failure.message.clone(),
            signature: failure.signature,
            error: failure.error,
            names: failure.names.clone(),
            after: VecDeque::new(),
        });
    }

    /// Takes a call that worked; returns what it made good.
    pub(crate) fn worked(&mut self, call: &Arc<Call>) -> Vec<Fix> {
        if self.open.is_empty() {
            return Vec::new();
        }
        let mut fixes = Vec::new();
        let aim = Aim::of(call);
        let is_change = is_change(call);
        self.open.retain_mut(|open| {
            if aim.makes_good(&open.aim) {
                fixes.push(Fix {
                    id: std::mem::take(&mut open.id),
                    was_told: false,
                    failed: open.call.clone(),
                    message: std::mem::take(&mut open.message),
                    signature: open.signature,
                    error: open.error,
                    names: std::mem::take(&mut open.names),
                    worked: call.clone(),
                    after: open.after.drain(..).collect(),
                });
                return false;
            }
            if is_change || is_reading_first(&open.call, call) {
                if open.after.len() == MAX_AFTER {
                    open.after.pop_front();
                }
                open.after.push_back(call.clone());
            }
            true
        });
        fixes
    }

    /// Returns how many failed calls were not made good.
    pub(crate) fn open(&self) -> usize {
        self.open.len()
    }
}

/// Tells whether a call may have changed something.
fn is_change(call: &Call) -> bool {
    if shell::runs_commands(&call.tool) {
        return !shell::only_looks(&call.input);
    }
    matches!(family(&call.tool), "Edit" | "NotebookEdit")
}

/// Tells whether a call reads the file that could not be edited: the client wants a file
/// read before it is changed.
fn is_reading_first(failed: &Call, call: &Call) -> bool {
    call.tool == "Read" && family(&failed.tool) == "Edit" && failed.input == call.input
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::failure;
    use rstest::rstest;

    fn call(tool: &str, input: &str) -> Arc<Call> {
        Arc::new(Call {
            tool: tool.to_owned(),
            input: input.to_owned(),
        })
    }

    #[rstest]
    #[case::again("cargo test", "cargo test", true)]
    #[case::other_flag("cargo test --offlin", "cargo test --offline", true)]
    #[case::something_else("git push", "git status", false)]
    fn a_call_of_the_kind_makes_a_failed_one_good(
        #[case] failed: &str,
        #[case] worked: &str,
        #[case] good: bool,
    ) {
        let mut fixes = Fixes::default();
        fixes.failed(
            "t",
            &call("Bash", failed),
            &failure::read(&call("Bash", "x"), "x"),
        );
        assert_eq!(fixes.worked(&call("Bash", worked)).len() == 1, good);
        assert_eq!(fixes.open(), usize::from(!good));
    }

    #[test]
    fn what_was_changed_in_between_is_remembered() {
        let mut fixes = Fixes::default();
        fixes.failed(
            "t",
            &call("Bash", "cargo test"),
            &failure::read(&call("Bash", "x"), "1 failed"),
        );
        fixes.worked(&call("Read", "/a.rs"));
        fixes.worked(&call("Edit", "/a.rs"));
        let found = fixes.worked(&call("Bash", "cargo test"));
        assert_eq!(found[0].after, [call("Edit", "/a.rs")]);
    }

    #[test]
    fn what_only_looks_is_no_step_and_a_failure_stays_open_until_it_is_made_good() {
        let mut fixes = Fixes::default();
        fixes.failed(
            "t",
            &call("Bash", "git push"),
            &failure::read(&call("Bash", "x"), "rejected (fetch first)"),
        );
        assert_eq!(fixes.worked(&call("Bash", "git status")), []);
        assert_eq!(fixes.worked(&call("Bash", "git pull --rebase")), []);
        let found = fixes.worked(&call("Bash", "git push"));
        assert_eq!(found[0].after, [call("Bash", "git pull --rebase")]);
    }
}
