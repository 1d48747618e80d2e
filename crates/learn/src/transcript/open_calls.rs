//! The failed calls that no later call made good.

use std::collections::VecDeque;
use std::sync::Arc;

use super::event::Call;
use super::shell;

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
    call: Arc<Call>,
    acts: Vec<Act>,
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
    /// Takes a call that failed.
    pub(crate) fn failed(&mut self, call: &Arc<Call>) {
        if self.waiting.len() == MAX_OPEN {
            self.waiting.pop_front();
            self.given_up += 1;
        }
        self.waiting.push_back(OpenCall {
            call: call.clone(),
            acts: acts(call),
        });
    }

    /// Takes a call that worked, and drops those that it makes good.
    pub(crate) fn worked(&mut self, call: &Arc<Call>) {
        if self.waiting.is_empty() {
            return;
        }
        let mut acts = acts(call);
        acts.retain(|act| act.propagates_failure);
        self.waiting
            .retain(|open| open.call != *call && !cover(&acts, &open.acts));
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
        open.failed(&call(failed));
        open.worked(&call(worked));
        assert_eq!(open.count(), usize::from(!want));
    }
}
