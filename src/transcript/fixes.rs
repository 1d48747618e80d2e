//! Finds the call that made a failed one good.
//!
//! A later success of the same tool counts when it tries the same thing: the same input
//! again, or one that shares at least half of its words (the program, the file name).

use std::collections::VecDeque;
use std::sync::Arc;

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
    words: Vec<u64>,
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
            words: words(&call.input),
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
        let words = words(&call.input);
        let is_change = is_change(call);
        self.open.retain_mut(|open| {
            if are_like(&open.call, &open.words, call, &words) {
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

/// Returns the name that tools for the same job share.
fn family(tool: &str) -> &str {
    match tool {
        "MultiEdit" | "Write" => "Edit",
        "Agent" => "Task",
        _ => tool,
    }
}

/// Tells whether a call may have changed something.
fn is_change(call: &Call) -> bool {
    match call.tool.as_str() {
        "Bash" => !shell::only_looks(&call.input),
        tool => matches!(tool, "Edit" | "MultiEdit" | "Write" | "NotebookEdit"),
    }
}

/// Tells whether a call reads the file that could not be edited: the client wants a file
/// read before it is changed.
fn is_reading_first(failed: &Call, call: &Call) -> bool {
    call.tool == "Read" && family(&failed.tool) == "Edit" && failed.input == call.input
}

/// Tells whether two calls, with the words of their inputs, try the same thing.
pub(crate) fn are_like(a: &Call, a_words: &[u64], b: &Call, b_words: &[u64]) -> bool {
    family(&a.tool) == family(&b.tool) && (a.input == b.input || are_akin(a_words, b_words))
}

/// Returns the hashes of a text's words, sorted, each once.
pub(crate) fn words(text: &str) -> Vec<u64> {
    let mut words: Vec<u64> = text
        .split(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '=' | ';' | '&' | '|'))
        .filter(|word| word.len() > 1 && !word.starts_with('-'))
        .map(fnv)
        .collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Hashes a word (FNV-1a); two words of one hash only make two calls look more akin.
fn fnv(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn are_akin(a: &[u64], b: &[u64]) -> bool {
    let common = a
        .iter()
        .filter(|word| b.binary_search(word).is_ok())
        .count();
    common > 0 && 2 * common >= a.len().max(b.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::tools;
    use rstest::rstest;

    fn call(tool: &str, input: &str) -> Arc<Call> {
        Arc::new(Call {
            tool: tool.to_owned(),
            input: input.to_owned(),
        })
    }

    #[rstest]
    #[case::other_flag("Bash", "cargo test --offlin", "Bash", "cargo test --offline", true)]
    #[case::other_program("Bash", "python run.py", "Bash", "python3 run.py", true)]
    #[case::again("Bash", "cargo test", "Bash", "cargo test", true)]
    #[case::same_name_elsewhere("Read", "/a/main.rs", "Read", "/a/src/main.rs", true)]
    #[case::other_editor("Edit", "/a.rs", "MultiEdit", "/a.rs", true)]
    #[case::unlike("Bash", "cargo test", "Bash", "ls -l", false)]
    #[case::other_tool("Bash", "cat a.rs", "Read", "a.rs", false)]
    fn a_call_of_the_kind_makes_a_failed_one_good(
        #[case] tool: &str,
        #[case] input: &str,
        #[case] later_tool: &str,
        #[case] later_input: &str,
        #[case] good: bool,
    ) {
        let mut fixes = Fixes::default();
        fixes.failed("t", &call(tool, input), &tools::failure("Bash", "x"));
        assert_eq!(
            fixes.worked(&call(later_tool, later_input)).len() == 1,
            good
        );
        assert_eq!(fixes.open(), usize::from(!good));
    }

    #[test]
    fn what_was_changed_in_between_is_remembered() {
        let mut fixes = Fixes::default();
        fixes.failed(
            "t",
            &call("Bash", "cargo test"),
            &tools::failure("Bash", "1 failed"),
        );
        fixes.worked(&call("Read", "/a.rs"));
        fixes.worked(&call("Edit", "/a.rs"));
        let found = fixes.worked(&call("Bash", "cargo test"));
        assert_eq!(found[0].after, [call("Edit", "/a.rs")]);
    }
}
