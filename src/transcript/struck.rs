//! The errors of a session, each counted once, and what made the failed calls good.

use serde::{Deserialize, Serialize};

use super::category::ErrorCategory;
use super::event::{Call, Failure, Fix};
use super::keep::Keeper;
use super::shell;
use crate::memory::Signature;

/// Tools of whose input little is kept: another call of theirs says nothing.
const LONG_INPUT: &[&str] = &[
    "Edit",
    "MultiEdit",
    "Write",
    "NotebookEdit",
    "Task",
    "Agent",
    "TodoWrite",
    "TaskCreate",
    "TaskUpdate",
    "AskUserQuestion",
    "ExitPlanMode",
];
/// How many different errors are kept.
const MAX_ERRORS: usize = 50;
/// How many ways out of one error are kept.
const MAX_WAYS: usize = 3;
/// How much of an error's text is kept, in bytes.
const MAX_EXAMPLE: usize = 600;
/// How much of a call or a message is kept, in bytes.
const MAX_LINE: usize = 240;
/// How much of a name is kept, in bytes.
const MAX_NAME: usize = 120;

/// An error that struck, wherever in the session. Texts are masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Struck {
    /// The error, as hooks and memory know it.
    pub signature: Signature,
    /// The tool that reported it.
    pub tool: String,
    /// What the tool said the first time.
    pub example: String,
    /// The line of it that says what went wrong.
    pub message: String,
    /// What kind of failure it is.
    pub category: ErrorCategory,
    /// The names in it.
    pub names: Vec<String>,
    /// How often it struck.
    pub occurrences: u64,
    /// What made it good.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<Way>,
}

/// A way from a failed call to one that worked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    /// The names in the error it helped against.
    pub names: Vec<String>,
    /// The call that failed.
    pub failed: String,
    /// The call that worked; it may be the same one, made again.
    pub worked: String,
    /// What was called in between and may have changed something.
    pub steps: Vec<String>,
    /// How often it was found without a hint of ours.
    pub times: u64,
}

impl Way {
    /// Tells whether another command worked in place of the failed one, and nothing else had
    /// to be done for it.
    pub fn is_another_command(&self) -> bool {
        self.steps.is_empty() && self.failed != self.worked && self.worked.starts_with('`')
    }
}

impl std::fmt::Display for Way {
    /// Says what to do, in the order in which it was done.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for step in &self.steps {
            write!(f, "{step}, then ")?;
        }
        if self.failed != self.worked {
            write!(f, "{} instead of {}", self.worked, self.failed)
        } else if self.steps.is_empty() {
            write!(f, "{} once more, unchanged", self.worked)
        } else {
            write!(f, "{} again", self.worked)
        }
    }
}

/// Takes note of an error; of more than are kept only those that are known are counted.
pub(crate) fn note(errors: &mut Vec<Struck>, call: &Call, failure: &Failure, keeper: &Keeper) {
    if let Some(known) = find(errors, failure.error) {
        known.occurrences += 1;
    } else if errors.len() < MAX_ERRORS {
        errors.push(Struck {
            signature: failure.error,
            tool: call.tool.clone(),
            example: keeper.text(&failure.text, MAX_EXAMPLE),
            message: keeper.line(&failure.message, MAX_LINE),
            category: failure.category,
            names: names(&failure.names, keeper),
            occurrences: 1,
            ways: Vec::new(),
        });
    }
}

/// Takes note of what made an error good; the same way is kept once, and counted.
pub(crate) fn resolve(errors: &mut [Struck], fix: &Fix, keeper: &Keeper) {
    let Some(error) = find(errors, fix.error).filter(|_| says_something(fix)) else {
        return;
    };
    let mut steps: Vec<String> = Vec::new();
    for call in &fix.after {
        let step = named(call, keeper);
        if !steps.contains(&step) {
            steps.push(step);
        }
    }
    let way = Way {
        names: names(&fix.names, keeper),
        failed: named(&fix.failed, keeper),
        worked: named(&fix.worked, keeper),
        steps,
        times: u64::from(!fix.was_told),
    };
    let text = way.to_string();
    let has_room = error.ways.len() < MAX_WAYS;
    match error.ways.iter_mut().find(|w| w.to_string() == text) {
        Some(known) => {
            known.times += way.times;
            known.names = way.names;
        }
        None if has_room => error.ways.push(way),
        None => {}
    }
}

/// Tells whether a fix says what to do: of calls whose input is more than what is kept of it,
/// only what was done before they worked does.
fn says_something(fix: &Fix) -> bool {
    let tool = fix.failed.tool.as_str();
    let is_same = fix.failed.input == fix.worked.input;
    !fix.after.is_empty() || shell::runs_commands(tool) || (!LONG_INPUT.contains(&tool) && !is_same)
}

fn find(errors: &mut [Struck], signature: Signature) -> Option<&mut Struck> {
    errors.iter_mut().find(|error| error.signature == signature)
}

fn names(names: &[String], keeper: &Keeper) -> Vec<String> {
    let kept = names.iter().map(|name| keeper.line(name, MAX_NAME));
    kept.collect()
}

/// A call as it is written down: a command as it is, of other tools what they did.
fn named(call: &Call, keeper: &Keeper) -> String {
    let input = keeper.line(&call.input, MAX_LINE);
    if shell::runs_commands(&call.tool) {
        return format!("`{input}`");
    }
    let what = match call.tool.as_str() {
        "Edit" | "MultiEdit" | "NotebookEdit" => "an edit of",
        "Write" => "a new",
        tool => tool,
    };
    format!("{what} `{input}`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn way(failed: &str, worked: &str, steps: &[&str]) -> Way {
        Way {
            names: Vec::new(),
            failed: failed.to_owned(),
            worked: worked.to_owned(),
            steps: steps.iter().map(|step| (*step).to_owned()).collect(),
            times: 1,
        }
    }

    fn call(tool: &str, input: &str) -> std::sync::Arc<Call> {
        std::sync::Arc::new(Call {
            tool: tool.to_owned(),
            input: input.to_owned(),
        })
    }

    #[rstest]
    #[case::a_command_again("Bash", "a", "a", &[], true)]
    #[case::another_file("Read", "a", "b", &[], true)]
    #[case::of_another_agent("postgres", "a", "b", &[], true)]
    #[case::the_same_file("Read", "a", "a", &[], false)]
    #[case::another_text("Edit", "a", "a", &[], false)]
    #[case::read_first("Edit", "a", "a", &["Read"], true)]
    #[case::other_words("Task", "look", "look here", &[], false)]
    fn a_fix_is_kept_when_it_says_what_to_do(
        #[case] tool: &str,
        #[case] failed: &str,
        #[case] worked: &str,
        #[case] after: &[&str],
        #[case] kept: bool,
    ) {
        let failure = crate::transcript::failure::read(&call(tool, failed), "it broke");
        let keeper = Keeper::default();
        let mut errors = Vec::new();
        note(&mut errors, &call(tool, failed), &failure, &keeper);
        let fix = Fix {
            id: "t".into(),
            was_told: false,
            failed: call(tool, failed),
            message: failure.message.clone(),
            signature: failure.signature,
            error: failure.error,
            names: Vec::new(),
            worked: call(tool, worked),
            after: after.iter().map(|tool| call(tool, failed)).collect(),
        };
        resolve(&mut errors, &fix, &keeper);
        resolve(&mut errors, &fix, &keeper);
        let times: Vec<u64> = errors[0].ways.iter().map(|way| way.times).collect();
        assert_eq!(times, if kept { vec![2] } else { vec![] });
    }

    #[rstest]
    #[case::another_call(way("`a`", "`b`", &[]), "`b` instead of `a`")]
    #[case::after_something(way("`a`", "`a`", &["`pip install x`"]), "`pip install x`, then `a` again")]
    #[case::both(way("`a`", "`b`", &["an edit of `f`"]), "an edit of `f`, then `b` instead of `a`")]
    #[case::once_more(way("`a`", "`a`", &[]), "`a` once more, unchanged")]
    fn a_way_says_what_was_done(#[case] way: Way, #[case] want: &str) {
        assert_eq!(way.to_string(), want);
    }
}
