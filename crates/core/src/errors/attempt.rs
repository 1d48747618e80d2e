//! What a call tries to do: the commands of its line, and whether another call tries the same.

use std::sync::Arc;

use super::call::Call;
use super::deed::{self, Deed, main, only};
use super::message::{ErrorMessage, shows_usage};
use super::shell::{self, base_name};
use super::words::TASK_RUNNERS;

/// What a task runner prints before the command that it runs.
const ANNOUNCED: &[&str] = &["] $ ", "$ ", "> "];

/// A tool call, with the commands that its line runs.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub call: Arc<Call>,
    /// Its commands in their order; empty for a tool that runs none.
    pub deeds: Vec<Deed>,
}

impl Attempt {
    /// Reads the commands out of a call.
    pub fn of(call: &Arc<Call>) -> Self {
        let deeds = shell::runs_commands(&call.tool).then(|| deed::all_of(&call.input));
        Self {
            call: call.clone(),
            deeds: deeds.unwrap_or_default(),
        }
    }

    /// Tells whether it tries all that `other` tried.
    pub fn is_like(&self, other: &Self) -> bool {
        self.covers(other, Deed::is_like)
    }

    /// Tells whether it shows, by having worked, that what `failed` tried can be done: also
    /// that none of it may have failed unseen.
    pub fn makes_good(&self, failed: &Self) -> bool {
        self.covers(failed, Deed::does)
    }

    fn covers(&self, other: &Self, same: impl Fn(&Deed, &Deed) -> bool) -> bool {
        let is_done = |old: &Deed| self.deeds.iter().any(|new| same(new, old));
        self.call == other.call || (!other.deeds.is_empty() && main(&other.deeds).all(is_done))
    }
}

/// Returns what met an error: the program with its subcommand, for a tool that runs no
/// commands the tool. Of a line with several commands it is the one that the message names.
pub fn subject(tool: &str, input: &str, message: &ErrorMessage, output: &str) -> Option<String> {
    if !shell::runs_commands(tool) {
        return Some(tool.to_owned());
    }
    let mut deeds = deed::all_of(input);
    let is_task = |deed: &Deed| TASK_RUNNERS.has(&deed.program);
    if only(&deeds).is_some_and(is_task) {
        let mut announced = output.lines().filter_map(announced).flat_map(deed::all_of);
        if let Some(real) = announced.rfind(|deed| !is_task(deed)) {
            deeds = vec![real];
        }
    }
    let is_named = |deed: &&Deed| {
        message.parts().take(4).any(|part| part == deed.program)
            || shows_usage(output, &deed.subject())
    };
    if let Some(named) = deeds.iter().find(is_named) {
        return Some(named.subject());
    }
    // What could not be started is not the program behind it.
    let mut starters = deeds.iter().flat_map(|deed| &deed.words);
    if message.text.contains("not found")
        && let Some(word) = starters.find(|word| message.parts().any(|part| part == **word))
    {
        return Some(base_name(word).to_owned());
    }
    only(&deeds).map(Deed::subject)
}

fn announced(line: &str) -> Option<&str> {
    let found = ANNOUNCED.iter().find_map(|mark| {
        let (before, command) = line.split_once(mark)?;
        (before.is_empty() || (before.starts_with('[') && mark.starts_with(']'))).then_some(command)
    });
    // `> name@1.0.0 task` is the headline above the command.
    found.filter(|command| !command.split(' ').take(1).any(|word| word.contains('@')))
}

#[cfg(test)]
#[path = "attempt_tests.rs"]
mod tests;
