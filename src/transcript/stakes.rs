//! What was at stake in a session: signs by which it is judged worth a reflection.
//!
//! Only counts leave this file, no text.

use std::collections::{HashSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::destructive::{commits, destructive};
use super::facts::Facts;
use super::shell::{self, Command};
use crate::clip::head;
use crate::phrases::{LazyPhrases, Phrases};

/// How much of a prompt is looked at; what follows is pasted.
const LOOKED_AT: usize = 2_000;
/// How many prompts make the beginning, and the end, of a session.
const ENDS: usize = 3;
/// Fewer different words at the end say nothing of where a session went.
const FEWEST_WORDS: usize = 10;
/// Shorter words are in every prompt.
const SHORTEST_WORD: usize = 3;

/// Words by which the user calls something critical.
static CRITICAL: LazyPhrases = LazyPhrases::new(|| {
    Phrases::new(&[
        "critical",
        "critically",
        "production",
        "must not",
        "mustn't",
        "must never",
        "irreversible",
        "data loss",
        "outage",
    ])
});

/// Signs that a session matters beyond its size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stakes {
    /// Commands that ran and cannot be taken back.
    pub destructive: u64,
    /// Commits that were made.
    pub commits: u64,
    /// Prompts that call something critical or say how things are always to be done.
    pub critical: u64,
    /// The share of the words of the last three prompts that the first three did not have; 0
    /// while that says nothing.
    pub drift: f64,
}

/// Collects [`Stakes`] from prompts and calls.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    stakes: Stakes,
    prompts: usize,
    /// The first and the last prompts, in lower case.
    first: Vec<String>,
    last: VecDeque<String>,
}

impl Watch {
    /// Takes a prompt; `instructs` when it says how things are to be done from now on.
    pub(crate) fn prompt(&mut self, text: &str, instructs: bool) {
        let text = head(text, LOOKED_AT).to_lowercase();
        self.stakes.critical += u64::from(instructs || CRITICAL.are_said_in(&text));
        if self.prompts < ENDS {
            self.first.push(text.clone());
        }
        self.prompts += 1;
        if self.last.len() == ENDS {
            self.last.pop_front();
        }
        self.last.push_back(text);
    }

    /// Takes a call that ran, and whether it ended without an error.
    pub(crate) fn ran(&mut self, tool: &str, input: &str, went_well: bool) {
        if !shell::runs_commands(tool) {
            return;
        }
        let command = Command::read(input);
        self.stakes.destructive += destructive(&command);
        if went_well {
            self.stakes.commits += commits(&command);
        }
    }

    /// Puts what was seen into the facts.
    pub(crate) fn finish(self, facts: &mut Facts) {
        facts.stakes = Stakes {
            drift: self.drift(),
            ..self.stakes
        };
    }

    // Prompts are a few thousand words: an f64 holds their number exactly.
    #[allow(clippy::cast_precision_loss)]
    fn drift(&self) -> f64 {
        let last: HashSet<&str> = self.last.iter().flat_map(|text| words(text)).collect();
        if self.prompts <= ENDS || last.len() < FEWEST_WORDS {
            return 0.0;
        }
        let first: HashSet<&str> = self.first.iter().flat_map(|text| words(text)).collect();
        last.difference(&first).count() as f64 / last.len() as f64
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= SHORTEST_WORD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn after(tool: &str, command: &str) -> Stakes {
        let mut watch = Watch::default();
        watch.ran(tool, command, true);
        let mut facts = Facts::default();
        watch.finish(&mut facts);
        facts.stakes
    }

    #[test]
    fn only_commands_count() {
        assert_eq!(after("Write", "rm -rf build").destructive, 0);
    }

    #[test]
    fn a_failed_commit_is_none() {
        let mut watch = Watch::default();
        watch.ran("Bash", "git commit -m x", false);
        assert_eq!(watch.stakes.commits, 0);
    }

    #[rstest]
    #[case("This is CRITICAL: keep the ids", false, 1)]
    #[case("it runs in production", false, 1)]
    #[case("the script must not delete users", false, 1)]
    #[case("use tabs", true, 1)]
    #[case("reproduction of the bug", false, 0)]
    #[case("hello", false, 0)]
    fn the_users_words_call_something_critical(
        #[case] text: &str,
        #[case] instructs: bool,
        #[case] count: u64,
    ) {
        let mut watch = Watch::default();
        watch.prompt(text, instructs);
        assert_eq!(watch.stakes.critical, count, "{text}");
    }

    #[rstest]
    #[case::too_short(&["add types to the parser module", "now the tests"], false)]
    #[case::the_same_thing(&[
        "write the parser for the settings file and its errors",
        "the parser should tell the line of errors in the settings file",
        "write tests for the parser and the errors",
        "parser tests: settings file with errors in the first line, write that",
    ], false)]
    #[case::something_else(&[
        "write the parser for the settings file",
        "tell the line of errors",
        "write tests",
        "deploy website onto fresh server with nginx certificates",
        "logo colours look strange inside header, please brighten",
        "book flights from berlin towards lisbon tomorrow morning",
    ], true)]
    #[case::a_few_words(&["write the parser", "and tests", "good", "yes", "go on", "thanks"], false)]
    fn a_session_that_went_elsewhere_has_drifted(#[case] prompts: &[&str], #[case] drifted: bool) {
        let mut watch = Watch::default();
        for prompt in prompts {
            watch.prompt(prompt, false);
        }
        assert_eq!(watch.drift() > 0.9, drifted, "{}", watch.drift());
    }

    proptest::proptest! {
        #[test]
        fn any_command_is_read(line in "[a-z\"'\\\\;|&(){}` \n-]{0,200}") {
            let mut watch = Watch::default();
            watch.ran("Bash", &line, true);
            watch.prompt(&line, false);
        }
    }
}
