//! The failed calls that no later call made good.

use std::collections::VecDeque;
use std::sync::Arc;

use super::event::Call;
use super::shell;
use crate::hint::Signature;

/// How many failed calls wait at a time.
const MAX_OPEN: usize = 32;

#[derive(Debug, Default)]
pub(crate) struct OpenCalls {
    waiting: VecDeque<OpenCall>,
    /// How many were given up while they waited.
    given_up: usize,
}

#[derive(Debug)]
struct OpenCall {
    id: String,
    call: Arc<Call>,
    acts: Vec<Act>,
    error: Option<Signature>,
}

/// A command that does more than to read or to prepare.
#[derive(Debug)]
struct Act {
    subject: String,
    operands: Vec<String>,
    propagates_failure: bool,
}

fn acts(call: &Call) -> Vec<Act> {
    if !shell::runs_commands(&call.tool) {
        return Vec::new();
    }
    let commands = shell::read(&call.input);
    let acts = commands.iter().filter_map(|command| {
        let program = command.program()?;
        let acts = command.writes || !(program.only_reads() || program.prepares());
        acts.then(|| Act {
            subject: program.subject(),
            operands: program.operands(),
            propagates_failure: command.propagates_failure,
        })
    });
    acts.collect()
}

/// Returns `true` where `new` does all that `old` was to do.
fn cover(new: &[Act], old: &[Act]) -> bool {
    let does = |new: &Act, old: &Act| {
        let has = |operand: &String| new.operands.contains(operand);
        new.subject == old.subject && old.operands.iter().all(has)
    };
    let is_done = |old: &Act| new.iter().any(|new| does(new, old));
    !old.is_empty() && old.iter().all(is_done)
}

impl OpenCalls {
    /// Takes a call that failed; returns the ids of those that had failed like it: the same
    /// call, or one like it with the same error.
    pub(crate) fn failed(
        &mut self,
        id: &str,
        call: &Arc<Call>,
        error: Option<Signature>,
    ) -> Vec<String> {
        let acts = acts(call);
        let is_again = |open: &&OpenCall| {
            let same_error = error.is_some() && error == open.error;
            open.call == *call || (same_error && cover(&acts, &open.acts))
        };
        let again = self.waiting.iter().filter(is_again);
        let again = again.map(|open| open.id.clone()).collect();
        if self.waiting.len() == MAX_OPEN {
            self.waiting.pop_front();
            self.given_up += 1;
        }
        self.waiting.push_back(OpenCall {
            id: id.into(),
            call: call.clone(),
            acts,
            error,
        });
        again
    }

    /// Takes a call that worked; returns the ids of those that it makes good.
    pub(crate) fn worked(&mut self, call: &Arc<Call>) -> Vec<String> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        let mut acts = acts(call);
        acts.retain(|act| act.propagates_failure);
        let mut good = Vec::new();
        self.waiting.retain_mut(|open| {
            let is_good = open.call == *call || cover(&acts, &open.acts);
            if is_good {
                good.push(std::mem::take(&mut open.id));
            }
            !is_good
        });
        good
    }

    /// Returns how many failed calls were not made good.
    pub(crate) fn count(&self) -> usize {
        self.waiting.len() + self.given_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::options(
        "git push origin main",
        "cd sub && git push --no-tags origin main",
        true
    )]
    #[case::preparation("git add -A && git commit -m 'a b'", "git commit -m 'c d e'", true)]
    #[case::version("python run.py", "python3 run.py", true)]
    #[case::starter("python3 -m pytest tests/a", "uv run pytest tests/a", true)]
    #[case::inner("sh -c 'cargo build'", "env A=1 timeout 60 cargo build", true)]
    #[case::pipe("set -o pipefail; make 2>&1 | tail", "make && echo done", true)]
    #[case::other_script("npm run build", "npm run lint", false)]
    #[case::other_program("pytest tests/a.py", "black tests/a.py", false)]
    #[case::other_file("python a.py", "python b.py", false)]
    #[case::a_part_of_it("cargo test && cargo clippy", "cargo clippy", false)]
    #[case::may_have_failed("make", "make | tail -5", false)]
    #[case::only_spoken_of("git push", "echo git push", false)]
    fn a_command_makes_one_good_that_it_repeats(
        #[case] failed: &str,
        #[case] worked: &str,
        #[case] want: bool,
    ) {
        let call = |input: &str| {
            Arc::new(Call {
                tool: "Bash".to_owned(),
                input: input.to_owned(),
                ..Call::default()
            })
        };
        let mut open = OpenCalls::default();
        open.failed("t1", &call(failed), None);
        assert_eq!(open.worked(&call(worked)).len(), usize::from(want));
    }
}
